"""An RNN by hand, and RNN, GRU and LSTM layers, with gradients that are clipped."""

import collections
import math
import random

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(3)
random.seed(3)
text = "the time traveller for so it will be convenient to speak of him was expounding to us " * 4
chars = ["<unk>"] + [
    c for c, _ in sorted(collections.Counter(text).items(), key=lambda x: x[1], reverse=True)
]
vocab = {c: i for i, c in enumerate(chars)}
corpus = [vocab[c] for c in text]


def seq_data_iter_random(corpus, batch_size, num_steps):
    corpus = corpus[random.randint(0, num_steps - 1) :]
    num_subseqs = (len(corpus) - 1) // num_steps
    initial_indices = list(range(0, num_subseqs * num_steps, num_steps))
    random.shuffle(initial_indices)
    num_batches = num_subseqs // batch_size
    for i in range(0, batch_size * num_batches, batch_size):
        idx = initial_indices[i : i + batch_size]
        yield (
            torch.tensor([corpus[j : j + num_steps] for j in idx]),
            torch.tensor([corpus[j + 1 : j + 1 + num_steps] for j in idx]),
        )


V = len(vocab)


def get_params(vocab_size, num_hiddens):

    def normal(shape):
        return torch.randn(size=shape) * 0.01

    W_xh = normal((vocab_size, num_hiddens))
    W_hh = normal((num_hiddens, num_hiddens))
    b_h = torch.zeros(num_hiddens)
    W_hq = normal((num_hiddens, vocab_size))
    b_q = torch.zeros(vocab_size)
    params = [W_xh, W_hh, b_h, W_hq, b_q]
    for param in params:
        param.requires_grad_(True)
    return params


def rnn(inputs, state, params):
    W_xh, W_hh, b_h, W_hq, b_q = params
    (H,) = state
    outputs = []
    for X in inputs:
        H = torch.tanh(torch.mm(X, W_xh) + torch.mm(H, W_hh) + b_h)
        Y = torch.mm(H, W_hq) + b_q
        outputs.append(Y)
    return (torch.cat(outputs, dim=0), (H,))


def gru(inputs, state, params):
    W_xz, W_hz, b_z, W_xr, W_hr, b_r, W_xh, W_hh, b_h, W_hq, b_q = params
    (H,) = state
    outputs = []
    for X in inputs:
        Z = torch.sigmoid(X @ W_xz + H @ W_hz + b_z)
        R = torch.sigmoid(X @ W_xr + H @ W_hr + b_r)
        H_tilda = torch.tanh(X @ W_xh + R * H @ W_hh + b_h)
        H = Z * H + (1 - Z) * H_tilda
        outputs.append(H @ W_hq + b_q)
    return (torch.cat(outputs, dim=0), (H,))


def grad_clipping(net, theta):
    if isinstance(net, nn.Module):
        params = [p for p in net.parameters() if p.requires_grad]
    else:
        params = net.params
    norm = torch.sqrt(sum((torch.sum(p.grad**2) for p in params)))
    if norm > theta:
        for param in params:
            param.grad[:] *= theta / norm


class Scratch:
    def __init__(self, V, H):
        self.params, self.V, self.H = (get_params(V, H), V, H)

    def __call__(self, X, state):
        X = F.one_hot(X.T, self.V).type(torch.float32)
        return rnn(X, state, self.params)


net = Scratch(V, 16)
loss = nn.CrossEntropyLoss()
for epoch in range(3):
    tot = n = 0
    state = None
    for X, Y in seq_data_iter_random(corpus, 4, 8):
        state = (torch.zeros((4, 16)),)
        y = Y.T.reshape(-1)
        y_hat, state = net(X, state)
        l = loss(y_hat, y.long()).mean()
        for p in net.params:
            if p.grad is not None:
                p.grad.zero_()
        l.backward()
        grad_clipping(net, 1)
        with torch.no_grad():
            for p in net.params:
                p -= 1.0 * p.grad
        tot += l * y.numel()
        n += y.numel()
    print(f"perplexity {math.exp(tot / n):.2f}")


class RNNModel(nn.Module):
    def __init__(self, rnn_layer, vocab_size, **kwargs):
        super(RNNModel, self).__init__(**kwargs)
        self.rnn = rnn_layer
        self.vocab_size = vocab_size
        self.num_hiddens = self.rnn.hidden_size
        if not self.rnn.bidirectional:
            self.num_directions = 1
            self.linear = nn.Linear(self.num_hiddens, self.vocab_size)
        else:
            self.num_directions = 2
            self.linear = nn.Linear(self.num_hiddens * 2, self.vocab_size)

    def forward(self, inputs, state):
        X = F.one_hot(inputs.T.long(), self.vocab_size)
        X = X.to(torch.float32)
        Y, state = self.rnn(X, state)
        return (self.linear(Y.reshape((-1, Y.shape[-1]))), state)

    def begin_state(self, device, batch_size=1):
        if not isinstance(self.rnn, nn.LSTM):
            return torch.zeros(
                (self.num_directions * self.rnn.num_layers, batch_size, self.num_hiddens),
                device=device,
            )
        return (
            torch.zeros(
                (self.num_directions * self.rnn.num_layers, batch_size, self.num_hiddens),
                device=device,
            ),
            torch.zeros(
                (self.num_directions * self.rnn.num_layers, batch_size, self.num_hiddens),
                device=device,
            ),
        )


for layer in (
    nn.RNN(V, 12),
    nn.GRU(V, 12, num_layers=2),
    nn.LSTM(V, 12, 2, bidirectional=True, dropout=0.1),
):
    net = RNNModel(layer, V)
    opt = torch.optim.SGD(net.parameters(), 0.5)
    print(net)
    for epoch in range(2):
        state = None
        ls = []
        for X, Y in seq_data_iter_random(corpus, 4, 8):
            if state is None:
                state = net.begin_state(batch_size=4, device="cpu")
            elif not isinstance(state, tuple):
                state.detach_()
            else:
                for s in state:
                    s.detach_()
            y_hat, state = net(X, state)
            l = loss(y_hat, Y.T.reshape(-1).long()).mean()
            opt.zero_grad()
            l.backward()
            grad_clipping(net, 1)
            opt.step()
            ls.append(l.item())
        print(f"{sum(ls) / len(ls):.3f}")
