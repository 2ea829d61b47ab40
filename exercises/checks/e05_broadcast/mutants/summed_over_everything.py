# message: summed_over_everything
def unbroadcast(g, shape):
    return np.full(shape, g.sum())
