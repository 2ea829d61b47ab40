# message: positive_x_only
def wrong_rules(ops, rng):
    wrong = []
    for name, forward, rule in ops:
        for _ in range(20):
            x = rng.uniform(0.1, 3.0, size=(2, 3))
            g = rng.normal(size=np.shape(forward(x)))
            if not agrees(rule(g, x), numerical(forward, x, g)):
                wrong.append(name)
                break
    return wrong
