# message: cut_at_every_tanh


def layers(x, bs):
    h = x
    for b in bs:
        h = Node(math.tanh(add(h, b).value))
    return h
