# message: trains_a_copy


def train(parameters, x, y):
    """Train the parameters on the images x and the digits y."""
    parameters = [Tensor(p.value) for p in parameters]
    for _ in range(80):
        train_step(parameters, x, y, 1.0)
