# message: x_left_changed
def numerical(f, x, g):
    h = 1e-6
    result = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        x[place] += h
        up = f(x)
        x[place] -= 2 * h
        result[place] = np.sum(g * (up - f(x))) / (2 * h)
    return result
