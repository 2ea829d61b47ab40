# message: half_of_the_step_forgotten
def numerical(f, x, g):
    h = 1e-6
    result = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[place] += h
        down[place] -= h
        result[place] = np.sum(g * (f(up) - f(down))) / h
    return result
