# message: reshaped
def unbroadcast(g, shape):
    return g.ravel()[: int(np.prod(shape))].reshape(shape)
