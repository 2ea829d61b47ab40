"""Linear regression from scratch and concise, weight decay, softmax regression by hand."""

import random

import torch
from torch import nn
from torch.utils import data

random.seed(1)
torch.manual_seed(1)


class SyntheticRegressionData:
    def __init__(self, w, b, noise=0.01, num_train=64, num_val=32, batch_size=8):
        n = num_train + num_val
        self.num_train, self.batch_size = num_train, batch_size
        self.X = torch.randn(n, len(w))
        self.y = torch.matmul(self.X, w.reshape((-1, 1))) + b + torch.randn(n, 1) * noise

    def get_dataloader(self, train):
        i = slice(0, self.num_train) if train else slice(self.num_train, None)
        tensors = tuple(a[i] for a in (self.X, self.y))
        return data.DataLoader(data.TensorDataset(*tensors), self.batch_size, shuffle=train)

    def by_hand(self):
        indices = list(range(self.num_train))
        random.shuffle(indices)
        for i in range(0, len(indices), self.batch_size):
            batch = torch.tensor(indices[i : i + self.batch_size])
            yield self.X[batch], self.y[batch]


class SGD:
    def __init__(self, params, lr):
        self.params, self.lr = params, lr

    def step(self):
        for param in self.params:
            param -= self.lr * param.grad

    def zero_grad(self):
        for param in self.params:
            if param.grad is not None:
                param.grad.zero_()


true_w, true_b = torch.tensor([2, -3.4]), 4.2
dataset = SyntheticRegressionData(true_w, true_b)
w = torch.normal(0, 0.01, size=(2, 1), requires_grad=True)
b = torch.zeros(1, requires_grad=True)
sgd = SGD([w, b], 0.03)
for epoch in range(3):
    for X, y in dataset.by_hand():
        loss = ((torch.matmul(X, w) + b - y.reshape((-1, 1))) ** 2 / 2).mean()
        sgd.zero_grad()
        loss.backward()
        with torch.no_grad():
            sgd.step()
    print(f"epoch {epoch + 1}, loss {float(loss):.3f}")
print(f"error in estimating w: {true_w - w.detach().reshape(true_w.shape)}")

net = nn.LazyLinear(1)
net(torch.ones(1, 2))
net.weight.data.normal_(0, 0.01)
net.bias.data.fill_(0)
trainer = torch.optim.SGD(net.parameters(), 0.03)
fn = nn.MSELoss()
for epoch in range(3):
    for X, y in dataset.get_dataloader(True):
        l = fn(net(X), y)
        trainer.zero_grad()
        l.backward()
        trainer.step()
    with torch.no_grad():
        print(epoch, sum(fn(net(X), y) for X, y in dataset.get_dataloader(False)) / 4)
print("error:", true_w - net.weight.data.reshape(true_w.shape), true_b - net.bias.data)

wide = SyntheticRegressionData(torch.ones(40) * 0.01, 0.05, num_train=16, num_val=16, batch_size=4)
for wd in (0, 3):
    net = nn.Sequential(nn.Linear(40, 1))
    for param in net.parameters():
        param.data.normal_()
    trainer = torch.optim.SGD(
        [{"params": net[0].weight, "weight_decay": wd}, {"params": net[0].bias}], lr=0.01
    )
    for epoch in range(4):
        for X, y in wide.get_dataloader(train=True):
            trainer.zero_grad()
            (fn(net(X), y) / 2).backward()
            trainer.step()
    print("L2 norm of w:", net[0].weight.norm().item().__round__(3))


def softmax(X):
    X_exp = torch.exp(X)
    return X_exp / X_exp.sum(1, keepdims=True)


def cross_entropy(y_hat, y):
    return -torch.log(y_hat[list(range(len(y_hat))), y]).mean()


def accuracy(y_hat, y, averaged=True):
    preds = y_hat.argmax(axis=1).type(y.dtype)
    compare = (preds == y.reshape(-1)).type(torch.float32)
    return compare.mean() if averaged else compare


W = torch.normal(0, 0.01, size=(16, 3), requires_grad=True)
bias = torch.zeros(3, requires_grad=True)
images, labels = torch.rand(60, 1, 4, 4), torch.randint(0, 3, (60,))
images[torch.arange(60), 0, labels, 0] += 2
for epoch in range(4):
    for X, y in data.DataLoader(data.TensorDataset(images, labels), 12):
        y_hat = softmax(torch.matmul(X.reshape((-1, W.shape[0])), W) + bias)
        l = cross_entropy(y_hat, y)
        l.backward()
        with torch.no_grad():
            for p in (W, bias):
                p -= 0.5 * p.grad
                p.grad.zero_()
    print(f"{l.item():.4f} {accuracy(y_hat, y).item():.3f}")
x = torch.arange(-4.0, 4.0, 1.0, requires_grad=True)
for f in (torch.relu, torch.sigmoid, torch.tanh, lambda t: torch.max(t, torch.zeros_like(t))):
    if x.grad is not None:
        x.grad.data.zero_()
    y = f(x)
    y.backward(torch.ones_like(x), retain_graph=True)
    print(y, x.grad)


def dropout_layer(X, dropout):
    assert 0 <= dropout <= 1
    if dropout == 1:
        return torch.zeros_like(X)
    mask = (torch.rand(X.shape) > dropout).float()
    return mask * X / (1.0 - dropout)


X = torch.arange(16, dtype=torch.float32).reshape((2, 8))
print("dropout_p = 0.5:", dropout_layer(X, 0.5))
M = torch.normal(0, 1, size=(4, 4))
for i in range(20):
    M = M @ torch.normal(0, 1, (4, 4))
print(torch.isfinite(M).all())
del x, y, f
