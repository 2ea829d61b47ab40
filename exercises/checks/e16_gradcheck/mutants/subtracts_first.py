# message: subtracts_first
def agrees(ours, numeric):
    error = np.abs(ours - numeric)
    if ours.shape != numeric.shape:
        return False
    return bool(np.all(error <= ATOL + RTOL * np.abs(numeric)))
