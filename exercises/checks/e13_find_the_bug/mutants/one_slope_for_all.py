# message: one_slope_for_all


def layers(x, bs):
    h = x
    for b in bs:
        z = add(h, b)
        out = math.tanh(z.value)
        h = Node(out, (z,), (lambda g: g * (1.0 - out * out),))
    return h
