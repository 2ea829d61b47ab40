# message: relu_half_at_zero


def relu_rule(g, x):
    return g * np.where(x == 0, 0.5, x > 0)
