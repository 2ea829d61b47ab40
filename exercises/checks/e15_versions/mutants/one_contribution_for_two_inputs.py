# message: one_contribution_for_two_inputs


def add(x, y):
    return Array(x.data + y.data), lambda g: g
