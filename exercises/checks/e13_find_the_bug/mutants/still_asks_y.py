# message: still_asks_y


def multiply(x, y):
    kept = x.value

    def rule_for_x(g):
        return g * y.value

    def rule_for_y(g):
        return g * kept

    return Node(x.value * y.value, (x, y), (rule_for_x, rule_for_y))
