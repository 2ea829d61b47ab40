# message: contributions_swapped


def matmul_rule(g, a, b):
    return a.T @ g, g @ b.T
