# Steps over parts of the images, in a random order; puts new leaves into the list.
def loss_of(parameters, x, y):
    before = Tensor(x) @ parameters[0] + parameters[1]
    return cross_entropy(relu(before) @ parameters[2] + parameters[3], y)


def train_step(parameters, x, y, rate):
    parameters[:] = [Tensor(p.value) for p in parameters]
    loss = loss_of(parameters, x, y)
    backward(loss)
    for i, p in enumerate(parameters):
        parameters[i] = Tensor(p.value - rate * p.grad)
    return loss.value.item()


def train(parameters, x, y):
    rng = np.random.default_rng(7)
    for _ in range(15):
        places = rng.permutation(len(x))
        for start in range(0, len(x), 30):
            part = places[start : start + 30]
            train_step(parameters, x[part], y[part], 0.3)
