# message: transpose_of_b_missing


def matmul_rule(g, a, b):
    return g @ b, a.T @ g
