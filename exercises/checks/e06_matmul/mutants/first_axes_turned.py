# message: first_axes_turned


def batch_rule(g, a, b):
    return unbroadcast(g @ np.swapaxes(b, 0, 1), a.shape), unbroadcast(
        np.swapaxes(a, 0, 1) @ g, b.shape
    )
