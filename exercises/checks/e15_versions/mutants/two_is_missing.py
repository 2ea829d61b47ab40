# message: two_is_missing


def square(x):
    saved = Saved(x)
    return Array(x.data * x.data), lambda g: g * saved.get()
