# Goes through the numbers one by one.
def mul_rule(g, x, y):
    to_x, to_y = np.empty_like(g), np.empty_like(g)
    for i in range(g.size):
        to_x[i] = g[i] * y[i]
        to_y[i] = x[i] * g[i]
    return to_x, to_y


def div_rule(g, x, y):
    to_x, to_y = np.empty_like(g), np.empty_like(g)
    for i in range(g.size):
        to_x[i] = g[i] / y[i]
        to_y[i] = -to_x[i] * x[i] / y[i]
    return to_x, to_y


def exp_rule(g, x, out):
    return np.array([a * b for a, b in zip(g, out)])


def pow_rule(g, x, n):
    return np.array([a * n * (b ** (n - 1) if n > 1 else 1.0) for a, b in zip(g, x)])


def relu_rule(g, x):
    result = g.copy()
    result[x <= 0] = 0.0
    return result
