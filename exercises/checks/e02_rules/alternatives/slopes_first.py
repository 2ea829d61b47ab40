# Works out the slopes, and multiplies by g at the end.
def mul_rule(g, x, y):
    slopes = (y, x)
    return tuple(slope * g for slope in slopes)


def div_rule(g, x, y):
    slopes = (1.0 / y, -x / (y * y))
    return tuple(slope * g for slope in slopes)


def exp_rule(g, x, out):
    return np.exp(x) * g


def pow_rule(g, x, n):
    slope = n * np.power(x, n - 1)
    return slope * g


def relu_rule(g, x):
    slope = (x > 0).astype(float)
    return slope * g
