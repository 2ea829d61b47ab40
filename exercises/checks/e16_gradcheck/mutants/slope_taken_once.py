# message: slope_taken_once
def rule_of_rule(gg, g, x):
    s = sigmoid(x)
    return gg * s, gg * g * s
