# message: one_point
def wrong_rules(ops, rng):
    wrong = []
    for name, forward, rule in ops:
        for _ in range(1):
            x = rng.normal(size=(2, 3))
            g = rng.normal(size=np.shape(forward(x)))
            if not agrees(rule(g, x), numerical(forward, x, g)):
                wrong.append(name)
                break
    return wrong
