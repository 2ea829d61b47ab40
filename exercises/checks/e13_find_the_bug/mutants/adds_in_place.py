# message: adds_in_place


def add_gradients(root):
    return broken_add_gradients(root)
