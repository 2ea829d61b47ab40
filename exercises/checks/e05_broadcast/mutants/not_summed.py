# message: not_summed
def unbroadcast(g, shape):
    return g
