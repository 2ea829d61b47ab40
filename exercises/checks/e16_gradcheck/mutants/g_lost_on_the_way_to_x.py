# message: g_lost_on_the_way_to_x
def rule_of_rule(gg, g, x):
    s = sigmoid(x)
    return gg * s, gg * s * (1 - s)
