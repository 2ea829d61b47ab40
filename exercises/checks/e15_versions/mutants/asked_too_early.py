# message: asked_too_early


def square(x):
    saved = Saved(x).get()
    return Array(x.data * x.data), lambda g: g * 2 * saved


def exp(x):
    out = Array(np.exp(x.data))
    saved = Saved(out).get()
    return out, lambda g: g * saved
