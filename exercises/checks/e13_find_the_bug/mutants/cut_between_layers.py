# message: cut_between_layers


def layers(x, bs):
    return broken_layers(x, bs)
