# message: summed_before_the_product
def batch_rule(g, a, b):
    if a.ndim == b.ndim:
        return g @ np.swapaxes(b, -1, -2), np.swapaxes(a, -1, -2) @ g
    if b.ndim < a.ndim:
        return g @ b.T, a.sum(axis=0).T @ g.sum(axis=0)
    return g.sum(axis=0) @ b.sum(axis=0).T, a.T @ g
