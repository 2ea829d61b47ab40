# message: summed_before_multiplied
def multiply_rule(g, x, y):
    return unbroadcast(g, x.shape) * unbroadcast(y, x.shape), unbroadcast(g, y.shape) * x
