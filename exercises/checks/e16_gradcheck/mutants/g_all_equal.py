# message: g_all_equal
def wrong_rules(ops, rng):
    wrong = []
    for name, forward, rule in ops:
        for _ in range(20):
            x = rng.normal(size=(2, 3))
            g = np.full(np.shape(forward(x)), rng.normal())
            if not agrees(rule(g, x), numerical(forward, x, g)):
                wrong.append(name)
                break
    return wrong
