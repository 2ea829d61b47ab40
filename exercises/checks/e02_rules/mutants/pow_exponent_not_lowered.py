# message: pow_exponent_not_lowered


def pow_rule(g, x, n):
    return g * n * x**n
