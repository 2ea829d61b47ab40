# message: absolute_only
def agrees(ours, numeric):
    if ours.shape != numeric.shape:
        return False
    return bool(np.all(np.abs(ours - numeric) <= ATOL))
