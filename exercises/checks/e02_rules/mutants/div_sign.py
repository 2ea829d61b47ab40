# message: div_sign


def div_rule(g, x, y):
    return g / y, g * x / y**2
