# message: either_or
def unbroadcast(g, shape):
    if g.ndim > len(shape):
        return g.sum(axis=tuple(range(g.ndim - len(shape))))
    ones = tuple(axis for axis, size in enumerate(shape) if size == 1)
    return g.sum(axis=ones, keepdims=True)
