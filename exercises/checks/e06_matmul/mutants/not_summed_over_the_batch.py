# message: not_summed_over_the_batch


def batch_rule(g, a, b):
    return g @ np.swapaxes(b, -1, -2), np.swapaxes(a, -1, -2) @ g
