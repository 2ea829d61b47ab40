# message: few_images_only


def train(parameters, x, y):
    """Train the parameters on the images x and the digits y."""
    for _ in range(80):
        train_step(parameters, x[:5], y[:5], 1.0)
