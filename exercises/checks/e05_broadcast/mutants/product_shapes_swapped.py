# message: product_shapes_swapped
def multiply_rule(g, x, y):
    return unbroadcast(g * y, y.shape), unbroadcast(g * x, x.shape)
