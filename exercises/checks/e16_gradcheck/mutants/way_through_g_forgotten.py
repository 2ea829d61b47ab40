# message: way_through_g_forgotten
def rule_of_rule(gg, g, x):
    s = sigmoid(x)
    return np.zeros(g.shape), gg * g * s * (1 - s)
