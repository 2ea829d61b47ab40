# message: exp_saves_another_array


def exp(x):
    saved = Saved(Array(np.exp(x.data)))
    return Array(np.exp(x.data)), lambda g: g * saved.get()
