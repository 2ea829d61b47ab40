# message: relu_without_g


def relu_rule(g, x):
    return np.where(x > 0, 1.0, 0.0)
