# message: first_weight_for_all


def dot(xs, ws):
    value, rules = 0.0, []
    for x, w in zip(xs, ws, strict=True):
        value += x.value * w
        rules.append(lambda g: g * ws[0])
    return Node(value, tuple(xs), tuple(rules))
