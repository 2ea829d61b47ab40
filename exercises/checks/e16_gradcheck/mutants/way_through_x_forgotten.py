# message: way_through_x_forgotten
def rule_of_rule(gg, g, x):
    s = sigmoid(x)
    return gg * s, np.zeros(x.shape)
