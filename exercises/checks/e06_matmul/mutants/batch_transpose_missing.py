# message: batch_transpose_missing


def batch_rule(g, a, b):
    return unbroadcast(g @ b, a.shape), unbroadcast(a @ g, b.shape)
