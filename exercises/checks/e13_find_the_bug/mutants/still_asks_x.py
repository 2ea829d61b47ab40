# message: still_asks_x


def multiply(x, y):
    kept = y.value

    def rule_for_x(g):
        return g * kept

    def rule_for_y(g):
        return g * x.value

    return Node(x.value * y.value, (x, y), (rule_for_x, rule_for_y))
