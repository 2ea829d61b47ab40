# Makes a function of one number for each place; counts the errors that are small enough.
def numerical(f, x, g):
    def along(place):
        def moved(t):
            y = np.array(x)
            y[place] = y[place] + t
            return float((g * f(y)).sum())

        # Two steps of different lengths: the error of the larger one is taken out.
        small, large = ((moved(h) - moved(-h)) / (2 * h) for h in (1e-5, 2e-5))
        return (4 * small - large) / 3

    gradient = np.empty_like(x)
    for place, _ in np.ndenumerate(x):
        gradient[place] = along(place)
    return gradient


def agrees(ours, numeric):
    same_shape = ours.shape == numeric.shape
    return same_shape and np.isclose(ours, numeric, rtol=RTOL, atol=ATOL).sum() == ours.size


def wrong_rules(ops, rng):
    wrong = []
    for name, forward, rule in ops:
        good = 0
        for trial in range(24):
            x = rng.standard_normal((2, 3)) * (1.0 + trial / 24)
            g = rng.standard_normal(np.shape(forward(x)))
            good += bool(agrees(rule(g, x), numerical(forward, x, g)))
        if good < 24:
            wrong.append(name)
    return wrong


def softplus(x):
    return np.maximum(x, 0.0) - np.log(sigmoid(np.abs(x)))


def softplus_rule(g, x):
    return g / 2 + g * np.tanh(x / 2) / 2


def rule_of_rule(gg, g, x):
    t = np.tanh(x / 2)
    return gg * (1 + t) / 2, gg * g * (1 - t * t) / 4
