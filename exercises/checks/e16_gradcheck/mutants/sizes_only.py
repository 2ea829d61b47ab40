# message: sizes_only
def agrees(ours, numeric):
    if ours.size != numeric.size:
        return False
    a, b = ours.ravel(), numeric.ravel()
    return bool(np.all(np.abs(a - b) <= ATOL + RTOL * np.abs(b)))
