# message: uphill


def train_step(parameters, x, y, rate):
    """Move all parameters one step down the slope; return the loss before it, a plain float."""
    for p in parameters:
        p.grad = None
    loss = loss_of(parameters, x, y)
    backward(loss)
    for p in parameters:
        p.value = p.value + rate * p.grad
    return float(loss.value)
