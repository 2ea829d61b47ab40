# message: rule_has_slope_of_slope
def softplus_rule(g, x):
    return g * sigmoid(x) * (1 - sigmoid(x))
