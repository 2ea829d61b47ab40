# message: rule_mirrored
def softplus_rule(g, x):
    return g * sigmoid(-x)
