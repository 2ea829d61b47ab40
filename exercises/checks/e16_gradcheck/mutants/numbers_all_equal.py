# message: numbers_all_equal
def wrong_rules(ops, rng):
    wrong = []
    for name, forward, rule in ops:
        for _ in range(20):
            x = np.full((2, 3), rng.normal())
            g = rng.normal(size=np.shape(forward(x)))
            if not agrees(rule(g, x), numerical(forward, x, g)):
                wrong.append(name)
                break
    return wrong
