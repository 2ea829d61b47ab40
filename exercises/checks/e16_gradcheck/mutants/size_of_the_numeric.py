# message: size_of_the_numeric
def agrees(ours, numeric):
    if ours.shape != numeric.shape:
        return False
    return bool(np.all(np.abs(ours - numeric) <= ATOL + RTOL * numeric))
