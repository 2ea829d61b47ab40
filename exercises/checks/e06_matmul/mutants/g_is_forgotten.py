# message: g_is_forgotten


def matmul_rule(g, a, b):
    return b.T, a.T
