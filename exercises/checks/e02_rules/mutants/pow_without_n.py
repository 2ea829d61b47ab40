# message: pow_without_n


def pow_rule(g, x, n):
    return g * x ** (n - 1)
