# message: one_step_only


def train(parameters, x, y):
    """Train the parameters on the images x and the digits y."""
    if True:
        train_step(parameters, x, y, 1.0)
