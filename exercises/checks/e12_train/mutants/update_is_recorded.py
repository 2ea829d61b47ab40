# message: update_is_recorded


def train_step(parameters, x, y, rate):
    """Move all parameters one step down the slope; return the loss before it, a plain float."""
    for p in parameters:
        p.grad = None
    loss = loss_of(parameters, x, y)
    backward(loss)
    for i, p in enumerate(parameters):
        parameters[i] = p - p.grad * rate
    return float(loss.value)
