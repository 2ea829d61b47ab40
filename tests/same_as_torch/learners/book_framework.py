"""A small framework with modules, data and a trainer, and models that it trains."""

import inspect
import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


def add_to_class(Class):
    def wrapper(obj):
        setattr(Class, obj.__name__, obj)

    return wrapper


class HyperParameters:
    def save_hyperparameters(self, ignore=[]):
        frame = inspect.currentframe().f_back
        _, _, _, lv = inspect.getargvalues(frame)
        for k, v in lv.items():
            if k not in set(ignore + ["self", "__class__"]) and not k.startswith("_"):
                setattr(self, k, v)


class Module(nn.Module, HyperParameters):
    def __init__(self, plot_train_per_epoch=2):
        super().__init__()
        self.save_hyperparameters()

    def loss(self, y_hat, y):
        raise NotImplementedError

    def forward(self, X):
        assert hasattr(self, "net")
        return self.net(X)

    def training_step(self, batch):
        l = self.loss(self(*batch[:-1]), batch[-1])
        return l

    def validation_step(self, batch):
        return self.loss(self(*batch[:-1]), batch[-1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.lr)

    def apply_init(self, inputs, init=None):
        self.forward(*inputs)
        if init is not None:
            self.net.apply(init)


class DataModule(HyperParameters):
    def get_tensorloader(self, tensors, train, indices=slice(0, None)):
        tensors = tuple(a[indices] for a in tensors)
        return torch.utils.data.DataLoader(
            torch.utils.data.TensorDataset(*tensors), self.batch_size, shuffle=train
        )

    def train_dataloader(self):
        return self.get_dataloader(True)

    def val_dataloader(self):
        return self.get_dataloader(False)


class Synthetic(DataModule):
    def __init__(self, w, b, noise=0.01, num_train=64, num_val=64, batch_size=16):
        self.save_hyperparameters()
        n = num_train + num_val
        self.X = torch.randn(n, len(w))
        self.y = torch.matmul(self.X, w.reshape((-1, 1))) + b + torch.randn(n, 1) * noise

    def get_dataloader(self, train):
        i = slice(0, self.num_train) if train else slice(self.num_train, None)
        return self.get_tensorloader((self.X, self.y), train, i)


class Trainer(HyperParameters):
    def __init__(self, max_epochs, num_gpus=0, gradient_clip_val=0):
        self.save_hyperparameters()
        self.gpus = [
            torch.device(f"cuda:{i}") for i in range(min(num_gpus, torch.cuda.device_count()))
        ]

    def fit(self, model, data):
        self.opt = model.configure_optimizers()
        tl, vl = data.train_dataloader(), data.val_dataloader()
        print(len(tl), len(vl))
        for e in range(self.max_epochs):
            model.train()
            s = 0
            for b in tl:
                loss = model.training_step(b)
                self.opt.zero_grad()
                with torch.no_grad():
                    loss.backward()
                    if self.gradient_clip_val > 0:
                        self.clip(self.gradient_clip_val, model)
                    self.opt.step()
                s += loss.detach()
            model.eval()
            v = [model.validation_step(b) for b in vl if not torch.is_grad_enabled() or True]
            print(f"epoch {e} {float(s) / len(tl):.5f} {sum(v).item() / len(v):.5f}")

    def clip(self, val, model):
        params = [p for p in model.parameters() if p.requires_grad]
        norm = torch.sqrt(sum(torch.sum((p.grad**2)) for p in params))
        if norm > val:
            for param in params:
                param.grad[:] *= val / norm


torch.manual_seed(10)


class SGD(HyperParameters):
    def __init__(self, params, lr):
        self.save_hyperparameters()

    def step(self):
        for p in self.params:
            p -= self.lr * p.grad

    def zero_grad(self):
        for p in self.params:
            if p.grad is not None:
                p.grad.zero_()


class LinScratch(Module):
    def __init__(self, n, lr, sigma=0.01):
        super().__init__()
        self.save_hyperparameters()
        self.w = torch.normal(0, sigma, (n, 1), requires_grad=True)
        self.b = torch.zeros(1, requires_grad=True)


@add_to_class(LinScratch)
def forward(self, X):
    return torch.matmul(X, self.w) + self.b


@add_to_class(LinScratch)
def loss(self, y_hat, y):
    l = (y_hat - y) ** 2 / 2
    return l.mean()


@add_to_class(LinScratch)
def configure_optimizers(self):
    return SGD([self.w, self.b], self.lr)


model = LinScratch(2, lr=0.1)
data = Synthetic(w=torch.tensor([2, -3.4]), b=4.2)
trainer = Trainer(max_epochs=3)
trainer.fit(model, data)
with torch.no_grad():
    print(f"error in estimating w: {data.w - model.w.reshape(data.w.shape)}")
    print(f"error in estimating b: {data.b - model.b}")


class Lin(Module):
    def __init__(self, lr, wd=0):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.LazyLinear(1)
        self.net.weight.data.normal_(0, 0.01)
        self.net.bias.data.fill_(0)

    def loss(self, y_hat, y):
        return nn.MSELoss()(y_hat, y)

    def configure_optimizers(self):
        return torch.optim.SGD(
            [{"params": self.net.weight, "weight_decay": self.wd}, {"params": self.net.bias}],
            lr=self.lr,
        )


m2 = Lin(0.03, 0.1)
Trainer(2).fit(m2, data)

# softmax from scratch, dropout, mlp
X = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
print(X.sum(0, keepdims=True), X.sum(1, keepdims=True))


def softmax(X):
    X_exp = torch.exp(X)
    return X_exp / X_exp.sum(1, keepdims=True)


Xp = softmax(torch.rand((2, 5)))
print(Xp, torch.allclose(Xp.sum(1), torch.ones(2)))
y = torch.tensor([0, 2])
y_hat = torch.tensor([[0.1, 0.3, 0.6], [0.3, 0.2, 0.5]])
print(y_hat[[0, 1], y], -torch.log(y_hat[list(range(len(y_hat))), y]).mean())


def accuracy(Y_hat, Y, averaged=True):
    Y_hat = Y_hat.reshape((-1, Y_hat.shape[-1]))
    preds = Y_hat.argmax(axis=1).type(Y.dtype)
    c = (preds == Y.reshape(-1)).type(torch.float32)
    return c.mean() if averaged else c


print(accuracy(y_hat, y), accuracy(y_hat, y, False))


def dropout_layer(X, dropout):
    assert 0 <= dropout <= 1
    if dropout == 1:
        return torch.zeros_like(X)
    return (torch.rand(X.shape) > dropout).float() * X / (1.0 - dropout)


X = torch.arange(16, dtype=torch.float32).reshape((2, 8))
print(dropout_layer(X, 0), dropout_layer(X, 0.5), dropout_layer(X, 1))


def relu(X):
    a = torch.zeros_like(X)
    return torch.max(X, a)


class MLP(Module):
    def __init__(self, lr):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(
            nn.Flatten(), nn.LazyLinear(16), nn.ReLU(), nn.Dropout(0.3), nn.LazyLinear(4)
        )

    def loss(self, Y_hat, Y, averaged=True):
        return F.cross_entropy(
            Y_hat.reshape((-1, Y_hat.shape[-1])),
            Y.reshape((-1,)),
            reduction="mean" if averaged else "none",
        )


class Cls(DataModule):
    def __init__(self):
        self.batch_size = 16
        self.X = torch.randn(96, 1, 4, 4)
        self.y = (self.X.sum((1, 2, 3)) > 0).long() + 2 * (self.X[:, 0, 0, 0] > 0)

    def get_dataloader(self, train):
        return self.get_tensorloader(
            (self.X, self.y), train, slice(0, 64) if train else slice(64, None)
        )


mlp = MLP(0.2)
Trainer(3, gradient_clip_val=1).fit(mlp, Cls())
print(mlp)
x = torch.arange(-8.0, 8.0, 4.0, requires_grad=True)
y = torch.relu(x)
y.backward(torch.ones_like(x), retain_graph=True)
print(x.grad)
y = torch.sigmoid(x)
x.grad.data.zero_()
y.backward(torch.ones_like(x), retain_graph=True)
print(x.grad)
y = F.prelu(x, torch.tensor([0.25]))
print(y)
M = torch.normal(0, 1, size=(4, 4))
print("a single matrix \n", M)
for i in range(10):
    M = M @ torch.normal(0, 1, size=(4, 4))
print("after multiplying\n", M.round(decimals=1))
true_w = torch.tensor([1.0, 2])
poly = np.power(np.random.RandomState(0).normal(size=(5, 1)), np.arange(4).reshape(1, -1))
print(torch.tensor(poly, dtype=torch.float32)[:2], [math.gamma(i + 1) for i in range(4)])


# builders guide
class NestMLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.LazyLinear(8), nn.ReLU(), nn.LazyLinear(4), nn.ReLU())
        self.linear = nn.LazyLinear(3)

    def forward(self, X):
        return self.linear(self.net(X))


chimera = nn.Sequential(NestMLP(), nn.LazyLinear(2), nn.Linear(2, 2))
print(chimera[1].weight)
chimera(torch.rand(2, 6))
print(chimera)
print([(n, p.shape) for n, p in chimera.named_parameters()])
shared = nn.LazyLinear(8)
net = nn.Sequential(
    nn.LazyLinear(8), nn.ReLU(), shared, nn.ReLU(), shared, nn.ReLU(), nn.LazyLinear(1)
)
net(torch.rand(2, 4))
net[2].weight.data[0, 0] = 100
print(net[2].weight.data[0] == net[4].weight.data[0])


def init_xavier(module):
    if type(module) == nn.Linear:
        nn.init.xavier_uniform_(module.weight)


def init_42(module):
    if type(module) == nn.Linear:
        nn.init.constant_(module.weight, 42)


def my_init(module):
    if type(module) == nn.Linear:
        print("Init", *[(n, p.shape) for n, p in module.named_parameters()][0])
        nn.init.uniform_(module.weight, -10, 10)
        module.weight.data *= module.weight.data.abs() >= 5


net[0].apply(init_xavier)
net[6].apply(init_42)
print(net[0].weight.data[0], net[6].weight.data)
net.apply(my_init)
print(net[0].weight[:2])
net[0].weight.data[:] += 1
net[0].weight.data[0, 0] = 42
print(net[0].weight.data[0])


class CenteredLayer(nn.Module):
    def forward(self, X):
        return X - X.mean()


print(
    CenteredLayer()(torch.tensor([1.0, 2, 3, 4, 5])),
    nn.Sequential(nn.LazyLinear(6), CenteredLayer())(torch.rand(4, 8)).mean().abs() < 1e-6,
)


def cpu():
    return torch.device("cpu")


def gpu(i=0):
    return torch.device(f"cuda:{i}")


def try_gpu(i=0):
    return gpu(i) if torch.cuda.device_count() >= i + 1 else cpu()


print(
    cpu(),
    gpu(),
    gpu(1),
    try_gpu(),
    torch.tensor([1]).device,
    torch.ones(2, 3, device=try_gpu()).device,
)
