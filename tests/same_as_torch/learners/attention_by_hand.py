"""Attention three times: additive, by dot products with heads, and by a kernel."""

import math

import torch
from torch import nn

torch.manual_seed(0)


def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return nn.functional.softmax(X, dim=-1)
    shape = X.shape
    if valid_lens.dim() == 1:
        valid_lens = torch.repeat_interleave(valid_lens, shape[1])
    else:
        valid_lens = valid_lens.reshape(-1)
    X = X.reshape(-1, shape[-1])
    mask = torch.arange(X.size(1), dtype=torch.float32)[None, :] < valid_lens[:, None]
    X[~mask] = -1e6
    return nn.functional.softmax(X.reshape(shape), dim=-1)


print(masked_softmax((torch.arange(16.0) / 7).sin().view(2, 2, 4), torch.tensor([2, 3])))
print(masked_softmax((torch.arange(16.0) / 7).cos().view(2, 2, 4), torch.tensor([[1, 3], [2, 4]])))


class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout, **kwargs):
        super().__init__(**kwargs)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        queries, keys = self.W_q(queries), self.W_k(keys)
        features = torch.tanh(queries.unsqueeze(2) + keys.unsqueeze(1))
        scores = self.w_v(features).squeeze(-1)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


queries, keys = torch.normal(0, 1, (2, 1, 20)), torch.ones((2, 10, 2))
values = torch.arange(40, dtype=torch.float32).reshape(1, 10, 4).repeat(2, 1, 1)
valid_lens = torch.tensor([2, 6])
attention = AdditiveAttention(key_size=2, query_size=20, num_hiddens=8, dropout=0.1)
attention.eval()
print(attention(queries, keys, values, valid_lens), attention.attention_weights[0, 0, :3])


class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        d = queries.shape[-1]
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(d)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


def transpose_qkv(X, num_heads):
    X = X.reshape(X.shape[0], X.shape[1], num_heads, -1).permute(0, 2, 1, 3)
    return X.reshape(-1, X.shape[2], X.shape[3])


def transpose_output(X, num_heads):
    X = X.reshape(-1, num_heads, X.shape[1], X.shape[2]).permute(0, 2, 1, 3)
    return X.reshape(X.shape[0], X.shape[1], -1)


class MultiHeadAttention(nn.Module):
    def __init__(self, hid, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads, self.attention = num_heads, DotProductAttention(dropout)
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(hid, hid, bias=bias) for _ in range(4))

    def forward(self, q, k, v, lens):
        q, k, v = (
            transpose_qkv(W(t), self.num_heads)
            for W, t in ((self.W_q, q), (self.W_k, k), (self.W_v, v))
        )
        if lens is not None:
            lens = torch.repeat_interleave(lens, repeats=self.num_heads, dim=0)
        return self.W_o(transpose_output(self.attention(q, k, v, lens), self.num_heads))


class PositionalEncoding(nn.Module):
    def __init__(self, hid, dropout, max_len=50):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.P = torch.zeros((1, max_len, hid))
        X = torch.arange(max_len, dtype=torch.float32).reshape(-1, 1) / torch.pow(
            10000, torch.arange(0, hid, 2, dtype=torch.float32) / hid
        )
        self.P[:, :, 0::2] = torch.sin(X)
        self.P[:, :, 1::2] = torch.cos(X)

    def forward(self, X):
        return self.dropout(X + self.P[:, : X.shape[1], :].to(X.device))


pe = PositionalEncoding(8, 0)
pe.eval()
print(pe(torch.zeros((1, 4, 8)))[0, 2])


class AddNorm(nn.Module):
    def __init__(self, shape, dropout):
        super().__init__()
        self.dropout, self.ln = nn.Dropout(dropout), nn.LayerNorm(shape)

    def forward(self, X, Y):
        return self.ln(self.dropout(Y) + X)


class EncoderBlock(nn.Module):
    def __init__(self, hid, ffn, heads, dropout, use_bias=False):
        super().__init__()
        self.attention = MultiHeadAttention(hid, heads, dropout, use_bias)
        self.addnorm1, self.addnorm2 = AddNorm([hid], dropout), AddNorm([hid], dropout)
        self.ffn = nn.Sequential(nn.LazyLinear(ffn), nn.ReLU(), nn.LazyLinear(hid))

    def forward(self, X, valid_lens):
        Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))
        return self.addnorm2(Y, self.ffn(Y))


X = torch.ones((2, 6, 24)) * torch.arange(24.0) / 24
blk = EncoderBlock(24, 48, 8, 0.5)
blk.eval()
print(blk(X, torch.tensor([3, 2])).shape)


class TransformerEncoder(nn.Module):
    def __init__(self, vocab, hid, ffn, heads, blks, dropout):
        super().__init__()
        self.hid = hid
        self.embedding, self.pos = nn.Embedding(vocab, hid), PositionalEncoding(hid, dropout)
        self.blks = nn.Sequential()
        for i in range(blks):
            self.blks.add_module("block" + str(i), EncoderBlock(hid, ffn, heads, dropout))
        self.out = nn.Linear(hid, vocab)

    def forward(self, X, valid_lens):
        X = self.pos(self.embedding(X) * math.sqrt(self.hid))
        self.attention_weights = [None] * len(self.blks)
        for i, blk in enumerate(self.blks):
            X = blk(X, valid_lens)
            self.attention_weights[i] = blk.attention.attention.attention_weights
        return self.out(X)


enc = TransformerEncoder(20, 16, 32, 4, 2, 0.1)
tok = torch.randint(0, 20, (4, 7))
lens = torch.tensor([3, 7, 5, 6])
enc(tok, lens)
opt = torch.optim.Adam(enc.parameters(), lr=0.01, betas=(0.9, 0.98), eps=1e-9)
for step in range(6):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(enc(tok, lens).transpose(1, 2), tok)
    loss.backward()
    opt.step()
    print(step, f"{loss:.4f}")
print(
    torch.stack(enc.attention_weights).reshape(2, 4, 4, 7, 7).shape,
    enc.attention_weights[0][0, 0].sum(),
)
print(enc.blks.block0.ffn, len(enc.blks), enc.blks[1].addnorm1.ln.normalized_shape)


class NadarayaWatson(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.tensor([0.7]), requires_grad=True)

    def forward(self, q, k, v):
        q = q.repeat_interleave(k.shape[1]).reshape((-1, k.shape[1]))
        self.a = nn.functional.softmax(-(((q - k) * self.w) ** 2) / 2, dim=1)
        return torch.bmm(self.a.unsqueeze(1), v.unsqueeze(-1)).reshape(-1)


x, _ = torch.sort(torch.linspace(0, 5, 10).sin() * 5)
y = 2 * torch.sin(x) + x.abs() ** 0.8
nw = NadarayaWatson()
keys = x.repeat((10, 1))[(1 - torch.eye(10)).type(torch.bool)].reshape((10, -1))
vals = y.repeat((10, 1))[(1 - torch.eye(10)).bool()].reshape(10, -1)
o = torch.optim.SGD(nw.parameters(), lr=0.5)
for e in range(3):
    o.zero_grad()
    l = nn.MSELoss(reduction="none")(nw(x, keys, vals), y)
    l.sum().backward()
    o.step()
    print(f"{l.sum():.4f}")
