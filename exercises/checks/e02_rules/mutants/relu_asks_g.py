# message: relu_asks_g


def relu_rule(g, x):
    return np.where(g > 0, g, 0.0)
