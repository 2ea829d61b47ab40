# message: shapes_broadcast
def agrees(ours, numeric):
    return bool(np.all(np.abs(ours - numeric) <= ATOL + RTOL * np.abs(numeric)))
