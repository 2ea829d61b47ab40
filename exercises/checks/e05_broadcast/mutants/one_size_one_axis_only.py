# message: one_size_one_axis_only
def unbroadcast(g, shape):
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    if 1 in shape:
        g = g.sum(axis=shape.index(1), keepdims=True)
    return g
