# message: mul_sum_of_both


def mul_rule(g, x, y):
    return g * (x + y), g * (x + y)
