# message: ones_only
def unbroadcast(g, shape):
    ones = tuple(axis - len(shape) for axis, size in enumerate(shape) if size == 1)
    return g.sum(axis=ones, keepdims=True)
