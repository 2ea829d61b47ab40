# message: one_new_axis_only
def unbroadcast(g, shape):
    if g.ndim > len(shape):
        g = g.sum(axis=0)
    ones = tuple(axis for axis, size in enumerate(shape) if size == 1)
    return g.sum(axis=ones, keepdims=True)
