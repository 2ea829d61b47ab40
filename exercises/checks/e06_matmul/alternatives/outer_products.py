# Adds up outer products of columns and rows.
def matmul_rule(g, a, b):
    to_a = sum(np.outer(g[:, j], b[:, j]) for j in range(g.shape[1]))
    to_b = sum(np.outer(a[i], g[i]) for i in range(g.shape[0]))
    return to_a, to_b


def batch_rule(g, a, b):
    to_a = (g[..., :, None, :] * b[..., None, :, :]).sum(axis=-1)
    to_b = (a[..., :, :, None] * g[..., :, None, :]).sum(axis=-3)
    return unbroadcast(to_a, a.shape), unbroadcast(to_b, b.shape)
