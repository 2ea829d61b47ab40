# message: add_saves_its_inputs


def add(x, y):
    kept = Saved(x), Saved(y)

    def rule(g):
        for one in kept:
            one.get()
        return g, g

    return Array(x.data + y.data), rule
