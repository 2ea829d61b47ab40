# message: div_without_g


def div_rule(g, x, y):
    return 1 / y, -x / y**2
