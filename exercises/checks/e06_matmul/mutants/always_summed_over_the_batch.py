# message: always_summed_over_the_batch
def batch_rule(g, a, b):
    to_a = g @ np.swapaxes(b, -1, -2)
    to_b = np.swapaxes(a, -1, -2) @ g
    if a.ndim == b.ndim:
        to_a, to_b = to_a.sum(axis=0), to_b.sum(axis=0)
    return unbroadcast(to_a, a.shape[-to_a.ndim :]), unbroadcast(to_b, b.shape[-to_b.ndim :])
