# message: product_own_factor
def multiply_rule(g, x, y):
    return unbroadcast(g * x, x.shape), unbroadcast(g * y, y.shape)
