# message: rounded


def loss_of(parameters, x, y):
    w1, b1, w2, b2 = parameters
    hidden = relu(Tensor(x) @ w1 + b1)
    loss = cross_entropy(hidden @ w2 + b2, y)
    loss.value = np.round(loss.value, 1)
    return loss
