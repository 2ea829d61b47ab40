# Loops over places: what each number of an input moves, and how fast.
def columns_rule(g, shape):
    to_x = np.zeros_like(g, shape=shape)
    numbers = iter(g)
    for column in range(shape[1]):
        for row in range(shape[0]):
            to_x[row, column] = next(numbers)
    return to_x


def scale_rule(g, x, s):
    to_s = [[sum(a * b for a, b in zip(*rows, strict=True))] for rows in zip(g, x, strict=True)]
    return [row * factor for row, factor in zip(g, s, strict=True)], to_s


def outer_rule(g, x, y):
    to_x, to_y = np.zeros_like(x), np.zeros_like(y)
    for i in range(len(x)):
        for j in range(len(y)):
            to_x[i] += g[i, j] * y[j]
            to_y[j] += g[i, j] * x[i]
    return to_x, to_y


def linear_rule(g, x, w):
    to_x, to_w = np.zeros_like(x), np.zeros_like(w)
    for i in range(len(x)):
        for j in range(len(w)):
            to_x[i] += g[i, j] * w[j]
            to_w[j] += g[i, j] * x[i]
    return to_x, to_w


def gather_rule(g, rows, shape):
    to_table = np.zeros(shape)
    for row, part in zip(rows, g, strict=True):
        to_table[row] += part
    return to_table


def cumsum_rule(g):
    return [[sum(row[j:]) for j in range(len(row))] for row in g]


def max_rule(g, x):
    to_x = np.zeros_like(x)
    for i, row in enumerate(x):
        to_x[i, list(row).index(max(row))] = g[i]
    return to_x


def logsumexp_rule(g, x, z):
    return [f * np.exp(row - top) for f, row, top in zip(g, x, z, strict=True)]


def softmax_rule(g, z):
    return [p * (row - sum(row * p)) for row, p in zip(g, z, strict=True)]


def layer_norm_rule(g, z, std):
    m = z.shape[1]
    rows = zip(g, z, std, strict=True)
    return [(row - sum(row) / m - p * (sum(row * p) / m)) / s for row, p, s in rows]
