# message: div_numerator_forgotten


def div_rule(g, x, y):
    return g / y, -g / y**2
