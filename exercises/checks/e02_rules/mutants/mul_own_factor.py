# message: mul_own_factor


def mul_rule(g, x, y):
    return g * x, g * y
