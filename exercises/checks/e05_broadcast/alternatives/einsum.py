# Writes the sum as an einsum over the axes that stay.
def unbroadcast(g, shape):
    new = g.ndim - len(shape)
    stay = [new + axis for axis, size in enumerate(shape) if size != 1]
    return np.einsum(g, list(range(g.ndim)), stay).reshape(shape)


def multiply_rule(g, x, y):
    z = [g * y, g * x]
    return tuple(unbroadcast(part, like.shape) for part, like in zip(z, (x, y)))
