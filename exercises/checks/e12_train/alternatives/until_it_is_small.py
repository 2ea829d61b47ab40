# Trains until the loss is small, at most so many steps.
def loss_of(parameters, x, y):
    w1, b1, w2, b2 = parameters
    hidden = relu(b1 + Node(x) @ w1)
    return cross_entropy(b2 + hidden @ w2, y)


def train_step(parameters, x, y, rate):
    leaves = [Node(p.value, requires_grad=True) for p in parameters]
    loss = loss_of(leaves, x, y)
    backward(loss)
    for p, leaf in zip(parameters, leaves):
        p.value = leaf.value - leaf.grad * rate
    return float(loss.value)


def train(parameters, x, y):
    rates, losses = [], [10.0]
    while losses[-1] > 0.2 and len(rates) < 120:
        rates.append(0.9)
        losses.append(train_step(parameters, x, y, 0.9))
    return list(zip(rates, losses[1:]))
