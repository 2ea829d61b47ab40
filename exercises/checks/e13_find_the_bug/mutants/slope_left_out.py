# message: slope_left_out


def layers(x, bs):
    h = x
    for b in bs:
        z = add(h, b)
        h = Node(math.tanh(z.value), (z,), (lambda g: g,))
    return h
