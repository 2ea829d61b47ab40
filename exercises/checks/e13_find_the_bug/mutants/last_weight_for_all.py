# message: last_weight_for_all


def dot(xs, ws):
    return broken_dot(xs, ws)
