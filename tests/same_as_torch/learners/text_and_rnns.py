"""Text as tokens, and recurrent networks from their formulas."""

import collections
import re

import torch
from torch import nn
from torch.nn import functional as F

text = (
    """time and again the traveller told of his machine and of the time that it took him there
the machine was made of brass and of quartz and the time it showed was not the time of the house"""
    * 2
)
lines = [re.sub("[^A-Za-z]+", " ", l).lower() for l in text.split("\n")]
tokens = list("".join(lines))


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

    def __getitem__(self, tokens):
        if not isinstance(tokens, (list, tuple)):
            return self.token_to_idx.get(tokens, self.unk)
        return [self.__getitem__(t) for t in tokens]

    def to_tokens(self, indices):
        if hasattr(indices, "__len__") and len(indices) > 1:
            return [self.idx_to_token[int(i)] for i in indices]
        return self.idx_to_token[indices]

    @property
    def unk(self):
        return self.token_to_idx["<unk>"]


vocab = Vocab(tokens)
corpus = [vocab[t] for t in tokens]
print(
    len(vocab),
    len(corpus),
    vocab.to_tokens(torch.tensor(corpus[:4])),
    vocab.to_tokens(torch.tensor([3])),
)
num_steps = 8
array = torch.tensor([corpus[i : i + num_steps + 1] for i in range(len(corpus) - num_steps)])
Xs, Ys = array[:, :-1], array[:, 1:]
print(array.shape, Xs[:1], Xs.is_contiguous(), Ys.stride())
torch.manual_seed(0)
loader = torch.utils.data.DataLoader(
    torch.utils.data.TensorDataset(Xs, Ys), 32, shuffle=True, drop_last=True
)


class RNNScratch(nn.Module):
    def __init__(self, num_inputs, num_hiddens, sigma=0.01):
        super().__init__()
        self.num_hiddens = num_hiddens
        self.W_xh = nn.Parameter(torch.randn(num_inputs, num_hiddens) * sigma)
        self.W_hh = nn.Parameter(torch.randn(num_hiddens, num_hiddens) * sigma)
        self.b_h = nn.Parameter(torch.zeros(num_hiddens))

    def forward(self, inputs, state=None):
        if state is None:
            state = torch.zeros((inputs.shape[1], self.num_hiddens), device=inputs.device)
        else:
            (state,) = state if isinstance(state, tuple) else (state,)
        outputs = []
        for X in inputs:
            state = torch.tanh(
                torch.matmul(X, self.W_xh) + torch.matmul(state, self.W_hh) + self.b_h
            )
            outputs.append(state)
        return outputs, state


class LSTMScratch(nn.Module):
    def __init__(self, num_inputs, num_hiddens, sigma=0.01):
        super().__init__()
        self.num_hiddens = num_hiddens
        init_weight = lambda *shape: nn.Parameter(torch.randn(*shape) * sigma)
        triple = lambda: (
            init_weight(num_inputs, num_hiddens),
            init_weight(num_hiddens, num_hiddens),
            nn.Parameter(torch.zeros(num_hiddens)),
        )
        self.W_xi, self.W_hi, self.b_i = triple()
        self.W_xf, self.W_hf, self.b_f = triple()
        self.W_xo, self.W_ho, self.b_o = triple()
        self.W_xc, self.W_hc, self.b_c = triple()

    def forward(self, inputs, H_C=None):
        if H_C is None:
            H = torch.zeros((inputs.shape[1], self.num_hiddens))
            C = torch.zeros((inputs.shape[1], self.num_hiddens))
        else:
            H, C = H_C
        outputs = []
        for X in inputs:
            I = torch.sigmoid(torch.matmul(X, self.W_xi) + torch.matmul(H, self.W_hi) + self.b_i)
            Fg = torch.sigmoid(X @ self.W_xf + H @ self.W_hf + self.b_f)
            O = torch.sigmoid(X @ self.W_xo + H @ self.W_ho + self.b_o)
            C = Fg * C + I * torch.tanh(X @ self.W_xc + H @ self.W_hc + self.b_c)
            H = O * torch.tanh(C)
            outputs.append(H)
        return outputs, (H, C)


class LM(nn.Module):
    def __init__(self, rnn, vocab_size, hidden):
        super().__init__()
        self.rnn, self.vocab_size = rnn, vocab_size
        self.W_hq = nn.Parameter(torch.randn(hidden, vocab_size) * 0.01)
        self.b_q = nn.Parameter(torch.zeros(vocab_size))

    def one_hot(self, X):
        return F.one_hot(X.T, self.vocab_size).type(torch.float32)

    def output_layer(self, hs):
        return torch.stack([torch.matmul(H, self.W_hq) + self.b_q for H in hs], 1)

    def forward(self, X, state=None):
        hs, _ = self.rnn(self.one_hot(X), state)
        return self.output_layer(hs)

    def predict(self, prefix, n, vocab):
        state, outputs = None, [vocab[prefix[0]]]
        for i in range(len(prefix) + n - 1):
            X = torch.tensor([[outputs[-1]]])
            hs, state = self.rnn(self.one_hot(X), state)
            if i < len(prefix) - 1:
                outputs.append(vocab[prefix[i + 1]])
            else:
                outputs.append(int(self.output_layer(hs).argmax(axis=2).reshape(1)))
        return "".join([vocab.idx_to_token[i] for i in outputs])


def train(model, epochs=1, lr=1.0):
    opt = torch.optim.SGD(model.parameters(), lr=lr)
    for _ in range(epochs):
        for X, Y in loader:
            l = F.cross_entropy(model(X).reshape(-1, model.vocab_size), Y.reshape(-1))
            opt.zero_grad()
            l.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), 1)
            opt.step()
    print(type(model.rnn).__name__, f"perplexity {torch.exp(l):.3f}", f"{float(norm):.4f}")


for cls in (RNNScratch, LSTMScratch):
    m = LM(cls(len(vocab), 16), len(vocab), 16)
    train(m)
    print(m.predict("the ", 6, vocab), [n for n, _ in m.named_parameters()][:3])


class Layered(LM):
    def forward(self, X, state=None):
        hs, _ = self.rnn(self.one_hot(X), state)
        return self.output_layer(hs)


for rnn in (
    nn.RNN(len(vocab), 16),
    nn.LSTM(len(vocab), 16),
    nn.GRU(len(vocab), 16, num_layers=2),
    nn.RNN(len(vocab), 8, bidirectional=True, nonlinearity="relu"),
):
    m = Layered(rnn, len(vocab), 16)
    train(m)
    print(m.rnn, [tuple(w.shape) for w in m.rnn.all_weights[-1]], m.rnn(m.one_hot(Xs[:2]))[0].shape)
# counts of words, pairs and triples
words = " ".join(lines).split()
bi = ["--".join(p) for p in zip(words[:-1], words[1:])]
print(
    Vocab(words).token_freqs[:4],
    Vocab(bi).token_freqs[:2],
    Vocab([[w] for w in words], min_freq=4).idx_to_token,
)
# a recurrent network for a series
T = 200
ts = torch.arange(1, T + 1, dtype=torch.float32)
series = torch.sin(0.01 * ts) + torch.randn(T) * 0.2
tau = 4
feats = [series[i : T - tau + i] for i in range(tau)]
feats = torch.stack(feats, 1)
labels = series[tau:].reshape((-1, 1))
print(feats.shape, labels.shape)
net = nn.LazyLinear(1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
net(feats[:1])
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for i in range(20):
    l = ((net(feats) - labels) ** 2).mean()
    opt.zero_grad()
    l.backward()
    opt.step()
ms = torch.zeros(T)
ms[:100] = series[:100]
for i in range(100, T):
    ms[i] = net(ms[i - tau : i].reshape((1, -1)))
print(ms[-3:].round(), ms.requires_grad)
ms = torch.zeros(T)
with torch.no_grad():
    for i in range(100, T):
        ms[i] = net(ms[i - tau : i].reshape((1, -1)))
print(l, f"{ms[-1]:.2f}")
print(
    X := torch.cat([torch.matmul(torch.randn(3, 1), torch.randn(1, 4)), torch.zeros(1, 4)], 0),
    X.shape,
)
print(
    nn.GRUCell(3, 4)(torch.ones(2, 3)).shape,
    nn.LSTMCell(3, 4)(torch.ones(2, 3))[1].shape,
    nn.RNNCell(3, 4, nonlinearity="relu"),
)
