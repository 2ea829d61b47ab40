# message: stops_at_the_first
def wrong_rules(ops, rng):
    for name, forward, rule in ops:
        for _ in range(20):
            x = rng.normal(size=(2, 3))
            g = rng.normal(size=np.shape(forward(x)))
            if not agrees(rule(g, x), numerical(forward, x, g)):
                return [name]
    return []
