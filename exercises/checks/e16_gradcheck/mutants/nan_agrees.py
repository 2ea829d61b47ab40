# message: nan_agrees
def agrees(ours, numeric):
    if ours.shape != numeric.shape:
        return False
    return not np.any(np.abs(ours - numeric) > ATOL + RTOL * np.abs(numeric))
