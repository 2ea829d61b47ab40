# message: array_of_answers
def agrees(ours, numeric):
    if ours.shape != numeric.shape:
        return False
    return np.abs(ours - numeric) <= ATOL + RTOL * np.abs(numeric)
