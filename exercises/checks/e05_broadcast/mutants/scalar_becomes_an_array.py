# message: scalar_becomes_an_array
def unbroadcast(g, shape):
    if shape == ():
        return g.sum(keepdims=True)
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    ones = tuple(axis for axis, size in enumerate(shape) if size == 1)
    return g.sum(axis=ones, keepdims=True)
