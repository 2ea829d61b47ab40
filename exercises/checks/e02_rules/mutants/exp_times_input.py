# message: exp_times_input


def exp_rule(g, x, out):
    return g * x
