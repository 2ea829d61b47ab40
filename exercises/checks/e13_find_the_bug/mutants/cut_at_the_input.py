# message: cut_at_the_input


def layers(x, bs):
    h = Node(x.value)
    for b in bs:
        h = tanh(add(h, b))
    return h
