# message: sign_of_the_error
def agrees(ours, numeric):
    if ours.shape != numeric.shape:
        return False
    return bool(np.all(ours - numeric <= ATOL + RTOL * np.abs(numeric)))
