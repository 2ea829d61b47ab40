# message: exp_without_g


def exp_rule(g, x, out):
    return out
