# message: exp_as_a_power


def exp_rule(g, x, out):
    return g * x * np.exp(x - 1)
