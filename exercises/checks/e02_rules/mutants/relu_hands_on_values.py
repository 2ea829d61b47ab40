# message: relu_hands_on_values


def relu_rule(g, x):
    return g * np.maximum(x, 0.0)
