# message: shapes_not_seen
def wrong_rules(ops, rng):
    wrong = []
    for name, forward, rule in ops:
        for _ in range(20):
            x = rng.normal(size=(2, 3))
            g = rng.normal(size=np.shape(forward(x)))
            if not np.allclose(rule(g, x), numerical(forward, x, g), RTOL, ATOL):
                wrong.append(name)
                break
    return wrong
