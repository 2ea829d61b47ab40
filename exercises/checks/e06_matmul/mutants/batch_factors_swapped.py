# message: batch_factors_swapped


def batch_rule(g, a, b):
    return unbroadcast(np.swapaxes(b, -1, -2) @ g, a.shape), unbroadcast(
        g @ np.swapaxes(a, -1, -2), b.shape
    )
