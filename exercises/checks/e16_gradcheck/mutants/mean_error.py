# message: mean_error
def agrees(ours, numeric):
    if ours.shape != numeric.shape:
        return False
    return bool(np.mean(np.abs(ours - numeric)) <= ATOL + RTOL * np.mean(np.abs(numeric)))
