"""Convolutional blocks, from cross-correlation on; language models with every recurrent layer."""

import collections
import math
import random
import re

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
random.seed(2)


def corr2d(X, K):
    h, w = K.shape
    Y = torch.zeros((X.shape[0] - h + 1, X.shape[1] - w + 1))
    for i in range(Y.shape[0]):
        for j in range(Y.shape[1]):
            Y[i, j] = (X[i : i + h, j : j + w] * K).sum()
    return Y


X = torch.ones((6, 8))
X[:, 2:6] = 0
K = torch.tensor([[1.0, -1.0]])
Y = corr2d(X, K)
print(Y, corr2d(X.t(), K))
conv2d = nn.LazyConv2d(1, kernel_size=(1, 2), bias=False)
X, Y = X.reshape((1, 1, 6, 8)), Y.reshape((1, 1, 6, 7))
lr = 3e-2
for i in range(10):
    l = (conv2d(X) - Y) ** 2
    conv2d.zero_grad()
    l.sum().backward()
    conv2d.weight.data[:] -= lr * conv2d.weight.grad
    if (i + 1) % 2 == 0:
        print(f"epoch {i + 1}, loss {l.sum():.3f}")
print(conv2d.weight.data.reshape((1, 2)))


def comp_conv2d(c, X):
    X = X.reshape((1, 1) + X.shape)
    Y = c(X)
    return Y.reshape(Y.shape[2:])


X = torch.rand(size=(8, 8))
print(
    comp_conv2d(nn.LazyConv2d(1, kernel_size=(3, 5), padding=(0, 1), stride=(3, 4)), X).shape,
    comp_conv2d(nn.LazyConv2d(1, kernel_size=(5, 3), padding=(2, 1)), X).shape,
)


def corr2d_multi_in(X, K):
    return sum(corr2d(x, k) for x, k in zip(X, K))


def corr2d_mio(X, K):
    return torch.stack([corr2d_multi_in(X, k) for k in K], 0)


X = torch.tensor([[[0.0, 1, 2], [3, 4, 5], [6, 7, 8]], [[1, 2, 3], [4, 5, 6], [7, 8, 9]]])
K = torch.tensor([[[0.0, 1], [2, 3]], [[1, 2], [3, 4]]])
K = torch.stack((K, K + 1, K + 2), 0)
print(K.shape, corr2d_mio(X, K))
X = torch.normal(0, 1, (3, 3, 3))
K = torch.normal(0, 1, (2, 3, 1, 1))
Y1 = torch.matmul(K.reshape(2, 3), X.reshape(3, 9)).reshape(2, 3, 3)
print(float(torch.abs(Y1 - corr2d_mio(X, K)).sum()) < 1e-5)
X = torch.arange(16, dtype=torch.float32).reshape((1, 1, 4, 4))
print(
    nn.MaxPool2d(3)(X),
    nn.MaxPool2d((2, 3), stride=(2, 3), padding=(0, 1))(X),
    nn.AvgPool2d(2)(torch.cat((X, X + 1), 1)),
)


def init_cnn(m):
    if type(m) == nn.Linear or type(m) == nn.Conv2d:
        nn.init.xavier_uniform_(m.weight)


def vgg_block(n, c):
    layers = []
    for _ in range(n):
        layers += [nn.LazyConv2d(c, kernel_size=3, padding=1), nn.ReLU()]
    layers.append(nn.MaxPool2d(kernel_size=2, stride=2))
    return nn.Sequential(*layers)


def nin_block(c, k, s, p):
    return nn.Sequential(
        nn.LazyConv2d(c, k, s, p),
        nn.ReLU(),
        nn.LazyConv2d(c, kernel_size=1),
        nn.ReLU(),
        nn.LazyConv2d(c, kernel_size=1),
        nn.ReLU(),
    )


class Inception(nn.Module):
    def __init__(self, c1, c2, c3, c4, **kw):
        super().__init__(**kw)
        self.b1_1 = nn.LazyConv2d(c1, kernel_size=1)
        self.b2_1, self.b2_2 = nn.LazyConv2d(c2[0], 1), nn.LazyConv2d(c2[1], 3, padding=1)
        self.b3_1, self.b3_2 = nn.LazyConv2d(c3[0], 1), nn.LazyConv2d(c3[1], 5, padding=2)
        self.b4_1, self.b4_2 = nn.MaxPool2d(3, stride=1, padding=1), nn.LazyConv2d(c4, 1)

    def forward(self, x):
        return torch.cat(
            (
                F.relu(self.b1_1(x)),
                F.relu(self.b2_2(F.relu(self.b2_1(x)))),
                F.relu(self.b3_2(F.relu(self.b3_1(x)))),
                F.relu(self.b4_2(self.b4_1(x))),
            ),
            dim=1,
        )


class Residual(nn.Module):
    def __init__(self, c, use_1x1conv=False, strides=1):
        super().__init__()
        self.conv1 = nn.LazyConv2d(c, kernel_size=3, padding=1, stride=strides)
        self.conv2 = nn.LazyConv2d(c, kernel_size=3, padding=1)
        self.conv3 = nn.LazyConv2d(c, kernel_size=1, stride=strides) if use_1x1conv else None
        self.bn1, self.bn2 = nn.LazyBatchNorm2d(), nn.LazyBatchNorm2d()

    def forward(self, X):
        Y = F.relu(self.bn1(self.conv1(X)))
        Y = self.bn2(self.conv2(Y))
        if self.conv3:
            X = self.conv3(X)
        Y += X
        return F.relu(Y)


class ResNeXt(nn.Module):
    def __init__(self, c, g, m):
        super().__init__()
        b = int(round(c * m))
        self.c1, self.c2, self.c3 = (
            nn.LazyConv2d(b, 1),
            nn.LazyConv2d(b, 3, padding=1, groups=b // g),
            nn.LazyConv2d(c, 1),
        )

    def forward(self, X):
        return F.relu(self.c3(F.relu(self.c2(F.relu(self.c1(X))))) + X)


class Dense(nn.Module):
    def __init__(self, n, c):
        super().__init__()
        self.net = nn.Sequential(
            *[
                nn.Sequential(
                    nn.LazyBatchNorm2d(), nn.ReLU(), nn.LazyConv2d(c, kernel_size=3, padding=1)
                )
                for i in range(n)
            ]
        )

    def forward(self, X):
        for blk in self.net:
            Y = blk(X)
            X = torch.cat((X, Y), dim=1)
        return X


net = nn.Sequential(
    vgg_block(1, 4),
    nin_block(6, 3, 1, 1),
    Inception(2, (2, 3), (2, 3), 2),
    Residual(8, True, 2),
    ResNeXt(8, 2, 1),
    Dense(2, 3),
    nn.AdaptiveAvgPool2d((1, 1)),
    nn.Flatten(),
    nn.LazyLinear(3),
)
inp = torch.randn(4, 1, 16, 16)


def layer_summary(net, X):
    for layer in net:
        X = layer(X)
        print(layer.__class__.__name__, "output shape:\t", X.shape)


layer_summary(net, inp)
net.apply(init_cnn)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for e in range(3):
    opt.zero_grad()
    l = F.cross_entropy(net(inp), torch.tensor([0, 1, 2, 0]))
    l.backward()
    opt.step()
    print(f"{l:.4f}")
lenet = nn.Sequential(
    nn.LazyConv2d(6, kernel_size=5, padding=2),
    nn.Sigmoid(),
    nn.AvgPool2d(kernel_size=2, stride=2),
    nn.LazyConv2d(16, kernel_size=5),
    nn.Sigmoid(),
    nn.AvgPool2d(2, 2),
    nn.Flatten(),
    nn.LazyLinear(12),
    nn.Sigmoid(),
    nn.LazyLinear(10),
)
print(lenet(torch.ones(1, 1, 16, 16)).shape, lenet)


def batch_norm(X, gamma, beta, moving_mean, moving_var, eps, momentum):
    if not torch.is_grad_enabled():
        X_hat = (X - moving_mean) / torch.sqrt(moving_var + eps)
    else:
        mean, var = (
            (X.mean(dim=0), ((X - X.mean(dim=0)) ** 2).mean(dim=0))
            if len(X.shape) == 2
            else (
                X.mean(dim=(0, 2, 3), keepdim=True),
                ((X - X.mean(dim=(0, 2, 3), keepdim=True)) ** 2).mean(dim=(0, 2, 3), keepdim=True),
            )
        )
        X_hat = (X - mean) / torch.sqrt(var + eps)
        moving_mean = (1.0 - momentum) * moving_mean + momentum * mean
        moving_var = (1.0 - momentum) * moving_var + momentum * var
    return gamma * X_hat + beta, moving_mean.data, moving_var.data


a, b, c = batch_norm(
    torch.randn(3, 2, 2, 2),
    torch.ones(1, 2, 1, 1),
    torch.zeros(1, 2, 1, 1),
    torch.zeros(1, 2, 1, 1),
    torch.ones(1, 2, 1, 1),
    1e-5,
    0.1,
)
print(a.mean().abs() < 1e-6, b.flatten(), c.flatten())
# sequences
T, tau = 100, 4
time = torch.arange(1, T + 1, dtype=torch.float32)
x = torch.sin(0.01 * time) + torch.randn(T) * 0.2
feats = torch.stack([x[i : T - tau + i] for i in range(tau)], 1)
labels = x[tau:].reshape((-1, 1))
print(feats.shape, labels.shape)
raw = (
    "the time machine by h g wells the time traveller for so it will be convenient to speak of him "
    * 3
)


class Vocab:
    def __init__(self, tokens=[], min_freq=0, reserved_tokens=[]):
        if tokens and isinstance(tokens[0], list):
            tokens = [t for line in tokens for t in line]
        counter = collections.Counter(tokens)
        self.token_freqs = sorted(counter.items(), key=lambda x: x[1], reverse=True)
        self.idx_to_token = list(
            sorted(
                set(["<unk>"] + reserved_tokens + [t for t, f in self.token_freqs if f >= min_freq])
            )
        )
        self.token_to_idx = {t: i for i, t in enumerate(self.idx_to_token)}

    def __len__(self):
        return len(self.idx_to_token)

    def __getitem__(self, t):
        return (
            self.token_to_idx.get(t, 0)
            if not isinstance(t, (list, tuple))
            else [self[k] for k in t]
        )

    def to_tokens(self, i):
        return (
            [self.idx_to_token[int(k)] for k in i]
            if hasattr(i, "__len__") and len(i) > 1
            else self.idx_to_token[i]
        )


tokens = list(re.sub("[^A-Za-z]+", " ", raw).lower())
vocab = Vocab(tokens)
corpus = [vocab[t] for t in tokens]
arr = torch.tensor([corpus[i : i + 9] for i in range(len(corpus) - 8)])
Xs, Ys = arr[:, :-1], arr[:, 1:]
print(len(vocab), arr.shape, vocab.to_tokens(arr[0]))


class RNNScratch(nn.Module):
    def __init__(self, i, h, sigma=0.01):
        super().__init__()
        self.h = h
        self.W_xh = nn.Parameter(torch.randn(i, h) * sigma)
        self.W_hh = nn.Parameter(torch.randn(h, h) * sigma)
        self.b_h = nn.Parameter(torch.zeros(h))

    def forward(self, inputs, state=None):
        if state is None:
            state = torch.zeros((inputs.shape[1], self.h), device=inputs.device)
        else:
            (state,) = state
        outputs = []
        for X in inputs:
            state = torch.tanh(
                torch.matmul(X, self.W_xh) + torch.matmul(state, self.W_hh) + self.b_h
            )
            outputs.append(state)
        return outputs, state


class LSTMScratch(nn.Module):
    def __init__(self, i, h, sigma=0.1):
        super().__init__()
        self.h = h
        iw = lambda *s: nn.Parameter(torch.randn(*s) * sigma)
        tr = lambda: (iw(i, h), iw(h, h), nn.Parameter(torch.zeros(h)))
        self.W_xi, self.W_hi, self.b_i = tr()
        self.W_xf, self.W_hf, self.b_f = tr()
        self.W_xo, self.W_ho, self.b_o = tr()
        self.W_xc, self.W_hc, self.b_c = tr()

    def forward(self, inputs, H_C=None):
        H, C = (
            (torch.zeros((inputs.shape[1], self.h)), torch.zeros((inputs.shape[1], self.h)))
            if H_C is None
            else H_C
        )
        outputs = []
        for X in inputs:
            I, Fg, O = (
                torch.sigmoid(X @ a + H @ b + c)
                for a, b, c in (
                    (self.W_xi, self.W_hi, self.b_i),
                    (self.W_xf, self.W_hf, self.b_f),
                    (self.W_xo, self.W_ho, self.b_o),
                )
            )
            Ct = torch.tanh(torch.matmul(X, self.W_xc) + torch.matmul(H, self.W_hc) + self.b_c)
            C = Fg * C + I * Ct
            H = O * torch.tanh(C)
            outputs.append(H)
        return outputs, (H, C)


class LM(nn.Module):
    def __init__(self, rnn, h, v):
        super().__init__()
        self.rnn, self.v = rnn, v
        self.linear = nn.LazyLinear(v)

    def forward(self, X, state=None):
        out, state = self.rnn(F.one_hot(X.T, self.v).type(torch.float32), state)
        out = torch.stack(out, 0) if isinstance(out, list) else out
        return self.linear(out).swapaxes(0, 1), state


for rnn in (
    RNNScratch(len(vocab), 8),
    LSTMScratch(len(vocab), 8),
    nn.RNN(len(vocab), 8),
    nn.GRU(len(vocab), 8, 2, dropout=0.1),
    nn.LSTM(len(vocab), 8),
):
    lm = LM(rnn, 8, len(vocab))
    lm(Xs[:2])
    opt = torch.optim.SGD(lm.parameters(), lr=1)
    for k in range(3):
        ix = torch.randperm(len(Xs))[:32]
        out, _ = lm(Xs[ix])
        l = F.cross_entropy(out.reshape(-1, len(vocab)), Ys[ix].reshape(-1))
        opt.zero_grad()
        l.backward()
        torch.nn.utils.clip_grad_norm_(lm.parameters(), 1)
        opt.step()
    print(
        type(rnn).__name__,
        f"perplexity {math.exp(l.item()):.4f}",
        lm(Xs[:1])[0].argmax(2).flatten().tolist(),
    )
    for p in lm.parameters():
        p.grad = None


def predict(prefix, n, lm):
    state, outputs = None, [vocab[prefix[0]]]
    for i in range(len(prefix) + n - 1):
        X = torch.tensor([[outputs[-1]]])
        o, state = lm(X, state)
        if i < len(prefix) - 1:
            outputs.append(vocab[prefix[i + 1]])
        else:
            Y = o
            outputs.append(int(Y.argmax(axis=2).reshape(1)))
    return "".join([vocab.idx_to_token[i] for i in outputs])


print(predict("it has", 8, lm))
bi = nn.GRU(5, 6, num_layers=2, bidirectional=True)
o, h = bi(torch.randn(7, 3, 5))
print(o.shape, h.shape, o[0, 0, :3], o.grad_fn is not None)
