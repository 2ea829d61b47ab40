# Sums while there are too many axes, then where sizes differ.
def unbroadcast(g, shape):
    while g.ndim > len(shape):
        g = np.add.reduce(g, axis=0)
    for axis, (have, want) in enumerate(zip(g.shape, shape)):
        if have != want:
            g = np.add.reduce(g, axis=axis, keepdims=True)
    return np.asarray(g)


def multiply_rule(g, x, y):
    return [unbroadcast(g * b, a.shape) for a, b in ((x, y), (y, x))]
