# message: errors_cancel
def agrees(ours, numeric):
    if ours.shape != numeric.shape:
        return False
    return bool(np.abs(np.sum(ours - numeric)) <= ATOL + RTOL * np.sum(np.abs(numeric)))
