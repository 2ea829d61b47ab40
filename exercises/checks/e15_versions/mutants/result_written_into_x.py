# message: result_written_into_x


def add(x, y):
    x.add_(y.data)
    return x, lambda g: (g, g)
