# message: rule_uses_the_result
def softplus_rule(g, x):
    return g * softplus(x)
