# message: gg_forgotten
def rule_of_rule(gg, g, x):
    s = sigmoid(x)
    return s, g * s * (1 - s)
