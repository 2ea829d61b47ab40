# message: new_axes_only
def unbroadcast(g, shape):
    return g.sum(axis=tuple(range(g.ndim - len(shape))))
