# message: x_nearly_restored
def numerical(f, x, g):
    h = 1e-6
    result = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        x[place] += h
        up = f(x)
        x[place] -= 2 * h
        result[place] = np.sum(g * (up - f(x))) / (2 * h)
        x[place] += h
    return result
