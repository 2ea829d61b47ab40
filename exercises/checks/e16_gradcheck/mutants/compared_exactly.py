# message: compared_exactly
def wrong_rules(ops, rng):
    wrong = []
    for name, forward, rule in ops:
        for _ in range(20):
            x = rng.normal(size=(2, 3))
            g = rng.normal(size=np.shape(forward(x)))
            if not np.array_equal(rule(g, x), numerical(forward, x, g)):
                wrong.append(name)
                break
    return wrong
