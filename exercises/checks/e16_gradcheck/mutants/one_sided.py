# message: one_sided
def numerical(f, x, g):
    h = 1e-6
    result = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[place] += h
        down[place] -= h
        result[place] = np.sum(g * (f(up) - f(x))) / h
    return result
