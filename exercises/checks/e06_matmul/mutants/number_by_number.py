# message: number_by_number


def matmul_rule(g, a, b):
    return g * b, g * a
