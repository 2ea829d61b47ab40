# message: all_axes_turned


def batch_rule(g, a, b):
    return unbroadcast(g @ b.T, a.shape), unbroadcast(a.T @ g, b.shape)
