# message: g_is_not_used


def square(x):
    saved = Saved(x)
    return Array(x.data * x.data), lambda g: 2 * saved.get()


def exp(x):
    out = Array(np.exp(x.data))
    saved = Saved(out)
    return out, lambda g: saved.get()


def add(x, y):
    return Array(x.data + y.data), lambda g: (np.ones_like(g), np.ones_like(g))
