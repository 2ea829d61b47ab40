# message: factors_swapped


def matmul_rule(g, a, b):
    return b.T @ g, g @ a.T
