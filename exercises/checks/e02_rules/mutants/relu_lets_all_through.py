# message: relu_lets_all_through


def relu_rule(g, x):
    return g
