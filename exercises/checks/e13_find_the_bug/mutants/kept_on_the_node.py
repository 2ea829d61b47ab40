# message: kept_on_the_node


def multiply(x, y):
    x.kept, y.kept = x.value, y.value

    def rule_for_x(g):
        return g * y.kept

    def rule_for_y(g):
        return g * x.kept

    return Node(x.value * y.value, (x, y), (rule_for_x, rule_for_y))
