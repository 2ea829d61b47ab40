# message: transpose_of_a_missing


def matmul_rule(g, a, b):
    return g @ b.T, a @ g
