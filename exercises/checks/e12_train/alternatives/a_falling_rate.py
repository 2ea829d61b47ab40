# Lowers the rate with every step; puts new leaves into the list.
def loss_of(parameters, x, y):
    before = Node(x) @ parameters[0] + parameters[1]
    return cross_entropy(relu(before) @ parameters[2] + parameters[3], y)


def train_step(parameters, x, y, rate):
    parameters[:] = [Node(p.value, requires_grad=True) for p in parameters]
    loss = loss_of(parameters, x, y)
    backward(loss)
    for i, p in enumerate(parameters):
        parameters[i] = Node(p.value - rate * p.grad, requires_grad=True)
    return loss.value.item()


def train(parameters, x, y):
    history = []
    while len(history) < 120:
        rate = 0.99 ** len(history)
        history += [[rate, train_step(parameters, x, y, rate)]]
    return history
