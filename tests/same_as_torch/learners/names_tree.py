"""Layers written as plain classes, which join characters two by two, as a tree does."""

import torch
import torch.nn.functional as F

torch.manual_seed(42)


class Embedding:
    def __init__(self, num_embeddings, embedding_dim):
        self.weight = torch.randn((num_embeddings, embedding_dim))

    def __call__(self, IX):
        self.out = self.weight[IX]
        return self.out

    def parameters(self):
        return [self.weight]


class FlattenConsecutive:
    def __init__(self, n):
        self.n = n

    def __call__(self, x):
        B, T, C = x.shape
        x = x.view(B, T // self.n, C * self.n)
        if x.shape[1] == 1:
            x = x.squeeze(1)
        self.out = x
        return self.out

    def parameters(self):
        return []


class Linear:
    def __init__(self, fan_in, fan_out, bias=True):
        self.weight = torch.randn((fan_in, fan_out)) / fan_in**0.5
        self.bias = torch.zeros(fan_out) if bias else None

    def __call__(self, x):
        self.out = x @ self.weight
        if self.bias is not None:
            self.out += self.bias
        return self.out

    def parameters(self):
        return [self.weight] + ([] if self.bias is None else [self.bias])


class BatchNorm1d:
    def __init__(self, dim, eps=1e-05, momentum=0.1):
        self.eps, self.momentum, self.training = (eps, momentum, True)
        self.gamma, self.beta = (torch.ones(dim), torch.zeros(dim))
        self.running_mean, self.running_var = (torch.zeros(dim), torch.ones(dim))

    def __call__(self, x):
        if self.training:
            if x.ndim == 2:
                dim = 0
            elif x.ndim == 3:
                dim = (0, 1)
            xmean = x.mean(dim, keepdim=True)
            xvar = x.var(dim, keepdim=True)
        else:
            xmean, xvar = (self.running_mean, self.running_var)
        self.out = self.gamma * (x - xmean) / torch.sqrt(xvar + self.eps) + self.beta
        if self.training:
            with torch.no_grad():
                self.running_mean = (1 - self.momentum) * self.running_mean + self.momentum * xmean
                self.running_var = (1 - self.momentum) * self.running_var + self.momentum * xvar
        return self.out

    def parameters(self):
        return [self.gamma, self.beta]


class Tanh:
    def __call__(self, x):
        self.out = torch.tanh(x)
        return self.out

    def parameters(self):
        return []


class Sequential:
    def __init__(self, layers):
        self.layers = layers

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        self.out = x
        return self.out

    def parameters(self):
        return [p for layer in self.layers for p in layer.parameters()]


model = Sequential(
    [
        Embedding(9, 4),
        FlattenConsecutive(2),
        Linear(8, 10, bias=False),
        BatchNorm1d(10),
        Tanh(),
        FlattenConsecutive(2),
        Linear(20, 10, bias=False),
        BatchNorm1d(10),
        Tanh(),
        FlattenConsecutive(2),
        Linear(20, 10, bias=False),
        BatchNorm1d(10),
        Tanh(),
        Linear(10, 9),
    ]
)
with torch.no_grad():
    model.layers[-1].weight *= 0.1
parameters = model.parameters()
for p in parameters:
    p.requires_grad = True
X = torch.randint(0, 9, (60, 8))
Y = torch.randint(0, 9, (60,))
lossi = []
for i in range(40):
    ix = torch.randint(0, X.shape[0], (16,))
    logits = model(X[ix])
    loss = F.cross_entropy(logits, Y[ix])
    for p in parameters:
        p.grad = None
    loss.backward()
    for p in parameters:
        p.data += -0.1 * p.grad
    lossi.append(loss.log10().item())
for layer in model.layers:
    print(layer.__class__.__name__, ":", tuple(layer.out.shape))
print(torch.tensor(lossi).view(-1, 10).mean(1))
for layer in model.layers:
    layer.training = False
print(model(X[:2]).argmax(1), F.softmax(model(X[:1]), dim=1))
