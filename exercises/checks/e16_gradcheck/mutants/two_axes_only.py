# message: two_axes_only
def numerical(f, x, g):
    h = 1e-6
    result = np.zeros(x.shape)
    rows, columns = x.shape
    for i in range(rows):
        for j in range(columns):
            step = np.zeros(x.shape)
            step[i, j] = h
            result[i, j] = np.sum(g * (f(x + step) - f(x - step))) / (2 * h)
    return result
