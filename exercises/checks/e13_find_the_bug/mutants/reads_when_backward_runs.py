# message: reads_when_backward_runs


def multiply(x, y):
    return broken_multiply(x, y)
