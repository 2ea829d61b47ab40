# message: g_with_the_shape_of_x
def wrong_rules(ops, rng):
    wrong = []
    for name, forward, rule in ops:
        for _ in range(20):
            x = rng.normal(size=(2, 3))
            g = rng.normal(size=x.shape)
            if not agrees(rule(g, x), numerical(forward, x, g)):
                wrong.append(name)
                break
    return wrong
