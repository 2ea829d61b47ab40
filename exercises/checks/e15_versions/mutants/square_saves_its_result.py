# message: square_saves_its_result


def square(x):
    out = Array(x.data * x.data)
    saved = Saved(out)
    return out, lambda g: g * 2 * np.sqrt(saved.get())
