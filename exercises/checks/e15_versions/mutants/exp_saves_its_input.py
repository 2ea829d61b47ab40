# message: exp_saves_its_input


def exp(x):
    saved = Saved(x)
    return Array(np.exp(x.data)), lambda g: g * np.exp(saved.get())
