# message: pow_without_g


def pow_rule(g, x, n):
    return n * x ** (n - 1)
