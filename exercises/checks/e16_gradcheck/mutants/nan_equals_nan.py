# message: nan_equals_nan
def agrees(ours, numeric):
    if ours.shape != numeric.shape:
        return False
    return np.allclose(ours, numeric, rtol=RTOL, atol=ATOL, equal_nan=True)
