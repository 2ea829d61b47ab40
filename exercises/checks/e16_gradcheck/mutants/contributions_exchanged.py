# message: contributions_exchanged
def rule_of_rule(gg, g, x):
    s = sigmoid(x)
    return gg * g * s * (1 - s), gg * s
