# message: does_nothing


def backward(root):
    pass
