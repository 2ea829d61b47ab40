# message: mean_instead_of_sum
def unbroadcast(g, shape):
    g = g.mean(axis=tuple(range(g.ndim - len(shape))))
    ones = tuple(axis for axis, size in enumerate(shape) if size == 1)
    return g.mean(axis=ones, keepdims=True)
