"""Softmax regression and an MLP by hand, dropout, weight decay, modules of modules."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(1)


def softmax(X):
    X_exp = torch.exp(X)
    partition = X_exp.sum(1, keepdim=True)
    return X_exp / partition


X = torch.normal(0, 1, (2, 5))
X_prob = softmax(X)
print(X_prob)
y = torch.tensor([0, 2])
y_hat = torch.tensor([[0.1, 0.3, 0.6], [0.3, 0.2, 0.5]])
print(y_hat[[0, 1], y])


def cross_entropy(y_hat, y):
    return -torch.log(y_hat[range(len(y_hat)), y])


print(cross_entropy(y_hat, y))


def accuracy(y_hat, y):
    if len(y_hat.shape) > 1 and y_hat.shape[1] > 1:
        y_hat = y_hat.argmax(axis=1)
    cmp = y_hat.type(y.dtype) == y
    return float(cmp.type(y.dtype).sum())


print(accuracy(y_hat, y) / len(y))


class Accumulator:
    def __init__(self, n):
        self.data = [0.0] * n

    def add(self, *args):
        self.data = [a + float(b) for a, b in zip(self.data, args)]

    def __getitem__(self, idx):
        return self.data[idx]


W1 = nn.Parameter(torch.randn(6, 8, requires_grad=True) * 0.01)
b1 = nn.Parameter(torch.zeros(8, requires_grad=True))
W2 = nn.Parameter(torch.randn(8, 3, requires_grad=True) * 0.01)
b2 = nn.Parameter(torch.zeros(3, requires_grad=True))
params = [W1, b1, W2, b2]


def relu(X):
    a = torch.zeros_like(X)
    return torch.max(X, a)


def net(X):
    X = X.reshape((-1, 6))
    H = relu(X @ W1 + b1)
    return H @ W2 + b2


feats = torch.randn(40, 1, 2, 3)
labs = (feats.sum(dim=(1, 2, 3)) > 0).long() + (feats[:, 0, 0, 0] > 1).long()
it = torch.utils.data.DataLoader(
    torch.utils.data.TensorDataset(feats, labs), batch_size=8, shuffle=True
)
loss = nn.CrossEntropyLoss(reduction="none")
updater = torch.optim.SGD(params, lr=0.1)


def train_epoch(net, it, loss, updater):
    if isinstance(net, torch.nn.Module):
        net.train()
    metric = Accumulator(3)
    for X, y in it:
        y_hat = net(X)
        l = loss(y_hat, y)
        if isinstance(updater, torch.optim.Optimizer):
            updater.zero_grad()
            l.mean().backward()
            updater.step()
        metric.add(float(l.sum()), accuracy(y_hat, y), y.numel())
    return (metric[0] / metric[2], metric[1] / metric[2])


for _ in range(3):
    print("%.4f %.3f" % train_epoch(net, it, loss, updater))


def init_weights(m):
    if type(m) == nn.Linear:
        nn.init.normal_(m.weight, std=0.01)


net = nn.Sequential(nn.Flatten(), nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 3))
net.apply(init_weights)
print(net)


def dropout_layer(X, dropout):
    assert 0 <= dropout <= 1
    if dropout == 1:
        return torch.zeros_like(X)
    if dropout == 0:
        return X
    mask = (torch.rand(X.shape) > dropout).float()
    return mask * X / (1.0 - dropout)


X = torch.arange(16, dtype=torch.float32).reshape((2, 8))
print(dropout_layer(X, 0.0), dropout_layer(X, 0.5), dropout_layer(X, 1.0))
trainer = torch.optim.SGD(
    [
        {"params": net[1].weight, "weight_decay": 0.01},
        {"params": net[1].bias},
        {"params": net[4].parameters()},
    ],
    lr=0.1,
)
for _ in range(2):
    print("%.4f %.3f" % train_epoch(net, it, loss, trainer))
print(
    "L2 norm of w:",
    net[1].weight.norm().item() > 0,
    [g["weight_decay"] for g in trainer.param_groups],
)


class MySequential(nn.Module):
    def __init__(self, *args):
        super().__init__()
        for idx, module in enumerate(args):
            self._modules[str(idx)] = module

    def forward(self, X):
        for block in self._modules.values():
            X = block(X)
        return X


class FixedHiddenMLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.rand_weight = torch.rand((20, 20), requires_grad=False)
        self.linear = nn.Linear(20, 20)

    def forward(self, X):
        X = self.linear(X)
        X = F.relu(torch.mm(X, self.rand_weight) + 1)
        X = self.linear(X)
        while X.abs().sum() > 1:
            X /= 2
        return X.sum()


chimera = MySequential(nn.Linear(16, 20), FixedHiddenMLP())
print(chimera(torch.rand(2, 16)))


def block1():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4), nn.ReLU())


def block2():
    net = nn.Sequential()
    for i in range(2):
        net.add_module(f"block {i}", block1())
    return net


rgnet = nn.Sequential(block2(), nn.Linear(4, 1))
print(
    rgnet,
    rgnet[0][1][0].bias.data,
    rgnet.state_dict()["1.bias"].data,
    type(rgnet[1].bias).__name__,
    rgnet[1].weight.grad == None,
)
print(*[(name, param.shape) for name, param in rgnet[0][0].named_parameters()])


def my_init(m):
    if type(m) == nn.Linear:
        print("Init", *[(name, param.shape) for name, param in m.named_parameters()][0])
        nn.init.uniform_(m.weight, -10, 10)
        m.weight.data *= m.weight.data.abs() >= 5


rgnet.apply(my_init)
print(rgnet[1].weight[:2])
shared = nn.Linear(8, 8)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), shared, nn.ReLU(), shared)
print(net[2].weight.data[0] == net[4].weight.data[0])


class CenteredLayer(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, X):
        return X - X.mean()


print(CenteredLayer()(torch.FloatTensor([1, 2, 3, 4, 5])))


class MyLinear(nn.Module):
    def __init__(self, in_units, units):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(in_units, units))
        self.bias = nn.Parameter(torch.randn(units))

    def forward(self, X):
        return F.relu(torch.matmul(X, self.weight.data) + self.bias.data)


print(MyLinear(5, 3).weight, MyLinear(5, 3)(torch.rand(2, 5)))
lz = nn.Sequential(nn.LazyLinear(8), nn.ReLU(), nn.LazyLinear(2))
print(lz)
lz(torch.rand(2, 20))
print(lz, lz[0].weight.shape)
