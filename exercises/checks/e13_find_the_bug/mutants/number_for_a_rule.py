# message: number_for_a_rule


def dot(xs, ws):
    value, rules = 0.0, []
    for x, w in zip(xs, ws, strict=True):
        value += x.value * w
        rules.append(1.0 * w)
    return Node(value, tuple(xs), tuple(rules))
