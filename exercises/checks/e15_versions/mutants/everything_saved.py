# message: everything_saved


def square(x):
    out = Array(x.data * x.data)
    kept = Saved(x), Saved(out)
    return out, lambda g: g * 2 * [one.get() for one in kept][0]


def exp(x):
    out = Array(np.exp(x.data))
    kept = Saved(x), Saved(out)
    return out, lambda g: g * [one.get() for one in kept][1]


def add(x, y):
    out = Array(x.data + y.data)
    kept = Saved(x), Saved(y), Saved(out)
    return out, lambda g: [g + 0 * one.get() for one in kept][:2]
