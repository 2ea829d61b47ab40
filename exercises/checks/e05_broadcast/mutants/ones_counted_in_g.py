# message: ones_counted_in_g
def unbroadcast(g, shape):
    ones = tuple(axis for axis, size in enumerate(shape) if size == 1)
    g = g.sum(axis=ones, keepdims=True)
    return g.sum(axis=tuple(range(g.ndim - len(shape))))
