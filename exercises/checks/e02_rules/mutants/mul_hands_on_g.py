# message: mul_hands_on_g


def mul_rule(g, x, y):
    return g, g
