# message: rule_forgets_g
def softplus_rule(g, x):
    return sigmoid(x)
