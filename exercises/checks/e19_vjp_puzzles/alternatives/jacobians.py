# Writes the whole Jacobian where that is easy, and einsum elsewhere.
def columns_rule(g, shape):
    return g.reshape(shape, order="F")


def scale_rule(g, x, s):
    return g * s, np.einsum("ij,ij->i", g, x)[:, None]


def outer_rule(g, x, y):
    return np.einsum("ij,j->i", g, y), np.einsum("ij,i->j", g, x)


def linear_rule(g, x, w):
    return np.einsum("im,mk->ik", g, w), np.einsum("im,ik->mk", g, x)


def gather_rule(g, rows, shape):
    return (rows[:, None] == np.arange(shape[0])).T.astype(float) @ g


def cumsum_rule(g):
    return g @ np.tri(g.shape[1])


def max_rule(g, x):
    return g[:, None] * (np.arange(x.shape[1]) == x.argmax(axis=1)[:, None])


def logsumexp_rule(g, x, z):
    powers = np.exp(x - x.real.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True) * g.reshape(-1, 1)


def softmax_rule(g, z):
    return np.stack([(np.diag(p) - np.outer(p, p)) @ row for row, p in zip(g, z, strict=True)])


def layer_norm_rule(g, z, std):
    m = z.shape[1]
    through_mean = np.eye(m) - np.full((m, m), 1 / m)
    rows = []
    for row, p, s in zip(g, z, std, strict=True):
        rows.append(row @ (np.eye(m) - np.outer(p, p) / m) @ through_mean / s)
    return np.array(rows)
