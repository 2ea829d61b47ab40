# message: all_at_once
def numerical(f, x, g):
    h = 1e-6
    return np.full(x.shape, np.sum(g * (f(x + h) - f(x - h))) / (2 * h))
