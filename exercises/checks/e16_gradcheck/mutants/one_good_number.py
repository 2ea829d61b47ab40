# message: one_good_number
def agrees(ours, numeric):
    if ours.shape != numeric.shape:
        return False
    return bool(np.any(np.abs(ours - numeric) <= ATOL + RTOL * np.abs(numeric)))
