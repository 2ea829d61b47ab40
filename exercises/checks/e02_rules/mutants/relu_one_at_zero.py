# message: relu_one_at_zero


def relu_rule(g, x):
    return np.where(x >= 0, g, 0.0)
