# message: names_of_the_right
def wrong_rules(ops, rng):
    names = []
    for name, forward, rule in ops:
        fine = True
        for _ in range(20):
            x = rng.normal(size=(2, 3))
            g = rng.normal(size=np.shape(forward(x)))
            fine = fine and agrees(rule(g, x), numerical(forward, x, g))
        if fine:
            names.append(name)
    return names
