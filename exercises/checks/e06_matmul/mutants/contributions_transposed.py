# message: contributions_transposed


def matmul_rule(g, a, b):
    return b @ g.T, g.T @ a
