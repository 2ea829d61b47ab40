# message: mean_over_the_batch
def batch_rule(g, a, b):
    to_a = g @ np.swapaxes(b, -1, -2)
    to_b = np.swapaxes(a, -1, -2) @ g
    return (
        to_a.mean(axis=0) if to_a.ndim > a.ndim else to_a,
        to_b.mean(axis=0) if to_b.ndim > b.ndim else to_b,
    )
