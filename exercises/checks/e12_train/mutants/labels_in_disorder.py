# message: labels_in_disorder


def train(parameters, x, y):
    """Train the parameters on the images x and the digits y."""
    for _ in range(80):
        train_step(parameters, x, y[::-1], 1.0)
