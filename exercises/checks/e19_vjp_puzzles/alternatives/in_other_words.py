# Other functions of NumPy for the same sums.
def columns_rule(g, shape):
    n, m = shape
    return np.stack(np.split(g, m), axis=1)


def scale_rule(g, x, s):
    return np.multiply(s, g), np.sum(x * g, axis=-1)[..., np.newaxis]


def outer_rule(g, x, y):
    return (g * y).sum(axis=1), (g.T * x).sum(axis=1)


def linear_rule(g, x, w):
    return np.dot(g, w), np.dot(x.T, g).T


def gather_rule(g, rows, shape):
    to_table = np.zeros(shape)
    for row in set(rows.tolist()):
        to_table[row] = g[rows == row].sum(axis=0)
    return to_table


def cumsum_rule(g):
    return g.sum(axis=1, keepdims=True) - np.cumsum(g, axis=1) + g


def max_rule(g, x):
    to_x = np.zeros(x.shape)
    np.put_along_axis(to_x, x.argmax(axis=1)[:, None], g[:, None], axis=1)
    return to_x


def logsumexp_rule(g, x, z):
    return (g * np.exp(x.T - z)).T


def softmax_rule(g, z):
    flow = g * z
    return flow - z * flow.sum(axis=1)[:, None]


def layer_norm_rule(g, z, std):
    flow = g / std
    flow = flow - flow.mean(axis=-1)[:, None]
    return flow - z * (flow * z).mean(axis=-1)[:, None]
