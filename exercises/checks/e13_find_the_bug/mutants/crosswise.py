# message: crosswise


def multiply(x, y):
    kept_x, kept_y = x.value, y.value

    def rule_for_x(g):
        return g * kept_x

    def rule_for_y(g):
        return g * kept_y

    return Node(kept_x * kept_y, (x, y), (rule_for_x, rule_for_y))
