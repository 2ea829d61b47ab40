# message: cotangent_left_out


def dot(xs, ws):
    value, rules = 0.0, []
    for x, w in zip(xs, ws, strict=True):
        value += x.value * w
        rules.append(lambda g, w=w: w)
    return Node(value, tuple(xs), tuple(rules))
