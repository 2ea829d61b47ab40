# message: rate_too_large


def train(parameters, x, y):
    """Train the parameters on the images x and the digits y."""
    for _ in range(80):
        train_step(parameters, x, y, 50.0)
