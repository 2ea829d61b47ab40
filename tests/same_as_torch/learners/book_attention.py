"""Attention from masked softmax on, to a transformer that translates and one that sees."""

import math

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(4)


def masked_softmax(X, valid_lens):
    def _sequence_mask(X, valid_len, value=0):
        maxlen = X.size(1)
        mask = (
            torch.arange((maxlen), dtype=torch.float32, device=X.device)[None, :]
            < valid_len[:, None]
        )
        X[~mask] = value
        return X

    if valid_lens is None:
        return nn.functional.softmax(X, dim=-1)
    shape = X.shape
    if valid_lens.dim() == 1:
        valid_lens = torch.repeat_interleave(valid_lens, shape[1])
    else:
        valid_lens = valid_lens.reshape(-1)
    X = _sequence_mask(X.reshape(-1, shape[-1]), valid_lens, value=-1e6)
    return nn.functional.softmax(X.reshape(shape), dim=-1)


print(
    masked_softmax(torch.rand(2, 2, 4), torch.tensor([2, 3])),
    masked_softmax(torch.rand(2, 2, 4), torch.tensor([[1, 3], [2, 4]])),
)


def gaussian(x):
    return torch.exp(-(x**2) / 2)


def boxcar(x):
    return torch.abs(x) < 1.0


def constant(x):
    return 1.0 + 0 * x


def epan(x):
    return torch.max(1 - torch.abs(x), torch.zeros_like(x))


x_train, _ = torch.sort(torch.rand(20) * 5)
y_train = 2 * torch.sin(x_train) + x_train + torch.randn(20)
x_val = torch.arange(0, 5, 1.0)


def nw(x_train, y_train, x_val, kernel):
    dists = x_train.reshape((-1, 1)) - x_val.reshape((1, -1))
    k = kernel(dists).type(torch.float32)
    w = k / k.sum(0)
    return y_train @ w, w


for k in (gaussian, boxcar, constant, epan):
    y, w = nw(x_train, y_train, x_val, k)
    print(k.__name__, y, w.shape)


class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, valid_lens=None):
        d = q.shape[-1]
        s = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(d)
        self.attention_weights = masked_softmax(s, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), v)


class AdditiveAttention(nn.Module):
    def __init__(self, n, dropout, **kw):
        super().__init__(**kw)
        self.W_k, self.W_q, self.w_v = (
            nn.LazyLinear(n, bias=False),
            nn.LazyLinear(n, bias=False),
            nn.LazyLinear(1, bias=False),
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, vl):
        q, k = self.W_q(q), self.W_k(k)
        f = torch.tanh(q.unsqueeze(2) + k.unsqueeze(1))
        s = self.w_v(f).squeeze(-1)
        self.attention_weights = masked_softmax(s, vl)
        return torch.bmm(self.dropout(self.attention_weights), v)


q, k, v, vl = (
    torch.normal(0, 1, (2, 1, 20)),
    torch.normal(0, 1, (2, 10, 2)),
    torch.normal(0, 1, (2, 10, 4)),
    torch.tensor([2, 6]),
)
att = AdditiveAttention(8, 0.1)
att.eval()
print(att(q, k, v, vl), att.attention_weights.reshape((1, 1, 2, 10)).shape)


class MultiHeadAttention(nn.Module):
    def __init__(self, n, h, dropout, bias=False, **kw):
        super().__init__()
        self.num_heads = h
        self.attention = DotProductAttention(dropout)
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.LazyLinear(n, bias=bias) for _ in range(4))

    def forward(self, q, k, v, vl):
        q, k, v = self.tq(self.W_q(q)), self.tq(self.W_k(k)), self.tq(self.W_v(v))
        if vl is not None:
            vl = torch.repeat_interleave(vl, repeats=self.num_heads, dim=0)
        return self.W_o(self.to(self.attention(q, k, v, vl)))

    def tq(self, X):
        X = X.reshape(X.shape[0], X.shape[1], self.num_heads, -1)
        X = X.permute(0, 2, 1, 3)
        return X.reshape(-1, X.shape[2], X.shape[3])

    def to(self, X):
        X = X.reshape(-1, self.num_heads, X.shape[1], X.shape[2])
        X = X.permute(0, 2, 1, 3)
        return X.reshape(X.shape[0], X.shape[1], -1)


mha = MultiHeadAttention(20, 4, 0.5)
print(
    mha(
        torch.ones((2, 4, 20)), torch.ones((2, 6, 20)), torch.ones((2, 6, 20)), torch.tensor([3, 2])
    ).shape
)


class PositionalEncoding(nn.Module):
    def __init__(self, n, dropout, max_len=100):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.P = torch.zeros((1, max_len, n))
        X = torch.arange(max_len, dtype=torch.float32).reshape(-1, 1) / torch.pow(
            10000, torch.arange(0, n, 2, dtype=torch.float32) / n
        )
        self.P[:, :, 0::2] = torch.sin(X)
        self.P[:, :, 1::2] = torch.cos(X)

    def forward(self, X):
        X = X + self.P[:, : X.shape[1], :].to(X.device)
        return self.dropout(X)


pe = PositionalEncoding(8, 0)
pe.eval()
print(pe(torch.zeros((1, 6, 8)))[0, :, 2:5])


class AddNorm(nn.Module):
    def __init__(self, s, d):
        super().__init__()
        self.dropout = nn.Dropout(d)
        self.ln = nn.LayerNorm(s)

    def forward(self, X, Y):
        return self.ln(self.dropout(Y) + X)


class FFN(nn.Module):
    def __init__(self, h, o):
        super().__init__()
        self.dense1, self.relu, self.dense2 = nn.LazyLinear(h), nn.ReLU(), nn.LazyLinear(o)

    def forward(self, X):
        return self.dense2(self.relu(self.dense1(X)))


class EncBlock(nn.Module):
    def __init__(self, n, f, h, d, b=False):
        super().__init__()
        self.attention, self.addnorm1, self.ffn, self.addnorm2 = (
            MultiHeadAttention(n, h, d, b),
            AddNorm(n, d),
            FFN(f, n),
            AddNorm(n, d),
        )

    def forward(self, X, vl):
        Y = self.addnorm1(X, self.attention(X, X, X, vl))
        return self.addnorm2(Y, self.ffn(Y))


class DecBlock(nn.Module):
    def __init__(self, n, f, h, d, i):
        super().__init__()
        self.i = i
        self.a1, self.n1, self.a2, self.n2, self.ffn, self.n3 = (
            MultiHeadAttention(n, h, d),
            AddNorm(n, d),
            MultiHeadAttention(n, h, d),
            AddNorm(n, d),
            FFN(f, n),
            AddNorm(n, d),
        )

    def forward(self, X, state):
        eo, evl = state[0], state[1]
        kv = X if state[2][self.i] is None else torch.cat((state[2][self.i], X), dim=1)
        state[2][self.i] = kv
        dvl = (
            torch.arange(1, X.shape[1] + 1, device=X.device).repeat(X.shape[0], 1)
            if self.training
            else None
        )
        Y = self.n1(X, self.a1(X, kv, kv, dvl))
        Z = self.n2(Y, self.a2(Y, eo, eo, evl))
        return self.n3(Z, self.ffn(Z)), state


class Enc(nn.Module):
    def __init__(self, v, n, f, h, L, d):
        super().__init__()
        self.n = n
        self.embedding = nn.Embedding(v, n)
        self.pos = PositionalEncoding(n, d)
        self.blks = nn.Sequential()
        for i in range(L):
            self.blks.add_module("block" + str(i), EncBlock(n, f, h, d))

    def forward(self, X, vl):
        X = self.pos(self.embedding(X) * math.sqrt(self.n))
        self.attention_weights = [None] * len(self.blks)
        for i, blk in enumerate(self.blks):
            X = blk(X, vl)
            self.attention_weights[i] = blk.attention.attention.attention_weights
        return X


class Dec(nn.Module):
    def __init__(self, v, n, f, h, L, d):
        super().__init__()
        self.n, self.L = n, L
        self.embedding, self.pos, self.blks, self.dense = (
            nn.Embedding(v, n),
            PositionalEncoding(n, d),
            nn.Sequential(),
            nn.LazyLinear(v),
        )
        for i in range(L):
            self.blks.add_module("block" + str(i), DecBlock(n, f, h, d, i))

    def forward(self, X, state):
        X = self.pos(self.embedding(X) * math.sqrt(self.n))
        for blk in self.blks:
            X, state = blk(X, state)
        return self.dense(X), state


enc, dec = Enc(20, 16, 24, 4, 2, 0.1), Dec(20, 16, 24, 4, 2, 0.1)
src, tgt, vl = (
    torch.randint(0, 20, (8, 6)),
    torch.randint(3, 20, (8, 7)),
    torch.tensor([6, 5, 4, 3, 6, 2, 6, 1]),
)
dec(tgt[:, :-1], [enc(src, vl), vl, [None] * 2])


def init(m):
    if type(m) == nn.Linear:
        nn.init.xavier_uniform_(m.weight)
    if type(m) == nn.GRU:
        for p in m._flat_weights_names:
            if "weight" in p:
                nn.init.xavier_uniform_(m._parameters[p])


enc.apply(init)
dec.apply(init)
nn.GRU(2, 2).apply(init)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=0.005)
for e in range(3):
    out, _ = dec(tgt[:, :-1], [enc(src, vl), vl, [None] * 2])
    l = F.cross_entropy(out.reshape((-1, 20)), tgt[:, 1:].reshape((-1,)), reduction="none")
    mask = (tgt[:, 1:].reshape(-1) != 3).type(torch.float32)
    loss = (l * mask).sum() / mask.sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"{loss:.5f}", len(enc.attention_weights), enc.attention_weights[0].shape)
enc.eval()
dec.eval()
state = [enc(src[:1], vl[:1]), vl[:1], [None] * 2]
outputs = [tgt[:1, 0].unsqueeze(1)]
aw = []
for _ in range(5):
    Y, state = dec(outputs[-1], state)
    outputs.append(Y.argmax(2))
    aw.append(dec.blks[0].a2.attention.attention_weights)
print(torch.cat(outputs[1:], 1).type(torch.int32), torch.cat(aw, 1).shape, torch.cat(aw, 1)[0, 0])


def bleu(p, l, k):
    s = math.exp(min(0, 1 - len(l) / len(p)))
    return s


print(f"{bleu('a b'.split(), 'a b c'.split(), 2):.3f}")


class PatchEmb(nn.Module):
    def __init__(self, img, patch, n):
        super().__init__()
        self.num_patches = (img // patch) ** 2
        self.conv = nn.LazyConv2d(n, kernel_size=patch, stride=patch)

    def forward(self, X):
        return self.conv(X).flatten(2).transpose(1, 2)


class ViTBlock(nn.Module):
    def __init__(self, n, h):
        super().__init__()
        self.ln1, self.attention, self.ln2, self.mlp = (
            nn.LayerNorm(n),
            MultiHeadAttention(n, h, 0.1),
            nn.LayerNorm(n),
            nn.Sequential(nn.LazyLinear(2 * n), nn.GELU(), nn.LazyLinear(n)),
        )

    def forward(self, X, vl=None):
        X = X + self.attention(*([self.ln1(X)] * 3), vl)
        return X + self.mlp(self.ln2(X))


class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.pe = PatchEmb(8, 4, 8)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, 8))
        self.pos_embedding = nn.Parameter(torch.randn(1, self.pe.num_patches + 1, 8))
        self.blks = nn.Sequential(ViTBlock(8, 2), ViTBlock(8, 2))
        self.head = nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 3))

    def forward(self, X):
        X = self.pe(X)
        X = torch.cat((self.cls_token.expand(X.shape[0], -1, -1), X), 1)
        X = X + self.pos_embedding
        X = self.blks(X)
        return self.head(X[:, 0])


vit = ViT()
print(vit(torch.randn(2, 1, 8, 8)), vit.cls_token.shape)
m = nn.MultiheadAttention(12, 3, dropout=0.1, batch_first=True)
m.eval()
X = torch.randn(2, 5, 12)
o, w = m(
    X,
    X,
    X,
    key_padding_mask=torch.arange(5)[None] >= torch.tensor([[3], [5]]),
    attn_mask=nn.Transformer.generate_square_subsequent_mask(5) != 0,
)
print(o[0], w[0])
layer = nn.TransformerEncoderLayer(12, 3, 24, batch_first=True, norm_first=True)
e = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
print(e(X, mask=nn.Transformer.generate_square_subsequent_mask(5), is_causal=True).sum(-1))
