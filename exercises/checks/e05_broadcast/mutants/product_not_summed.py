# message: product_not_summed
def multiply_rule(g, x, y):
    return g * y, g * x
