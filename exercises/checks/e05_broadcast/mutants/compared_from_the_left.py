# message: compared_from_the_left
def unbroadcast(g, shape):
    ones = tuple(axis for axis, size in enumerate(shape) if size == 1)
    return g.sum(axis=ones, keepdims=True).sum(axis=tuple(range(len(shape), g.ndim)))
