# message: div_denominator_constant


def div_rule(g, x, y):
    return g / y, 0 * g
