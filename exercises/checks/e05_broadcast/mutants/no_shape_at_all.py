# message: no_shape_at_all
def unbroadcast(g, shape):
    if shape[0] != g.shape[0] or g.ndim > len(shape):
        g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    ones = tuple(axis for axis, size in enumerate(shape) if size == 1)
    return g.sum(axis=ones, keepdims=True)
