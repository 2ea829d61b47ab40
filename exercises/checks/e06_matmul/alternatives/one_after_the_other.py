# Takes the batch apart, and adds where the matrix is one and the same.
def matmul_rule(g, a, b):
    return np.dot(g, b.transpose()), np.dot(a.transpose(), g)


def batch_rule(g, a, b):
    to_a, to_b = np.zeros_like(a), np.zeros_like(b)
    for i in range(len(g)):
        one_a = a[i] if a.ndim == 3 else a
        one_b = b[i] if b.ndim == 3 else b
        ga, gb = matmul_rule(g[i], one_a, one_b)
        if a.ndim == 3:
            to_a[i] = ga
        else:
            to_a += ga
        if b.ndim == 3:
            to_b[i] = gb
        else:
            to_b += gb
    return to_a, to_b
