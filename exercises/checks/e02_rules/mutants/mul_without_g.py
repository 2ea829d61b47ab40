# message: mul_without_g


def mul_rule(g, x, y):
    return y, x
