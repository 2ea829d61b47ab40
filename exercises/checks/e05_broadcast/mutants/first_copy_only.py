# message: first_copy_only
def unbroadcast(g, shape):
    while g.ndim > len(shape):
        g = g[0]
    for axis, size in enumerate(shape):
        if size == 1:
            g = g.take([0], axis=axis)
    return g
