# message: new_axes_kept
def unbroadcast(g, shape):
    new = g.ndim - len(shape)
    ones = tuple(new + axis for axis, size in enumerate(shape) if size == 1)
    return g.sum(axis=(*range(new), *ones), keepdims=True)
