# message: own_value_as_slope


def dot(xs, ws):
    value, rules = 0.0, []
    for x, w in zip(xs, ws, strict=True):
        value += x.value * w
        rules.append(lambda g, x=x: g * x.value)
    return Node(value, tuple(xs), tuple(rules))
