# message: no_rule_for_the_input


def layers(x, bs):
    h = x
    for b in bs:
        z = add(h, b)
        h = Node(math.tanh(z.value), (z,))
    return h
