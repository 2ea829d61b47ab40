"""Attention: masked softmax, scores, many heads, positions, a transformer by hand, and a ViT."""

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


class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        d = queries.shape[-1]
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(d)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


class MultiHeadAttention(nn.Module):
    def __init__(self, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q, self.W_k, self.W_v, self.W_o = (
            nn.LazyLinear(num_hiddens, bias=bias) for _ in range(4)
        )

    def forward(self, queries, keys, values, valid_lens=None):
        queries, keys, values = (
            self.split(w(x)) for w, x in ((self.W_q, queries), (self.W_k, keys), (self.W_v, values))
        )
        if valid_lens is not None:
            valid_lens = torch.repeat_interleave(valid_lens, repeats=self.num_heads, dim=0)
        output = self.attention(queries, keys, values, valid_lens)
        return self.W_o(self.join(output))

    def split(self, X):
        X = X.reshape(X.shape[0], X.shape[1], self.num_heads, -1).permute(0, 2, 1, 3)
        return X.reshape(-1, X.shape[2], X.shape[3])

    def join(self, X):
        X = X.reshape(-1, self.num_heads, X.shape[1], X.shape[2]).permute(0, 2, 1, 3)
        return X.reshape(X.shape[0], X.shape[1], -1)


class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=100):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.P = torch.zeros((1, max_len, num_hiddens))
        X = torch.arange(max_len, dtype=torch.float32).reshape(-1, 1) / torch.pow(
            10000, torch.arange(0, num_hiddens, 2, dtype=torch.float32) / num_hiddens
        )
        self.P[:, :, 0::2] = torch.sin(X)
        self.P[:, :, 1::2] = torch.cos(X)

    def forward(self, X):
        X = X + self.P[:, : X.shape[1], :].to(X.device)
        return self.dropout(X)


class AddNorm(nn.Module):
    def __init__(self, norm_shape, dropout):
        super().__init__()
        self.dropout, self.ln = nn.Dropout(dropout), nn.LayerNorm(norm_shape)

    def forward(self, X, Y):
        return self.ln(self.dropout(Y) + X)


class Encoder(nn.Module):
    def __init__(self, size=8, hidden=12, heads=2):
        super().__init__()
        self.attention, self.add1, self.add2 = (
            MultiHeadAttention(size, heads, 0.1),
            AddNorm(size, 0.1),
            AddNorm(size, 0.1),
        )
        self.ffn = nn.Sequential(nn.LazyLinear(hidden), nn.ReLU(), nn.LazyLinear(size))

    def forward(self, X, valid_lens):
        Y = self.add1(X, self.attention(X, X, X, valid_lens))
        return self.add2(Y, self.ffn(Y))


class Decoder(nn.Module):
    def __init__(self, size=8, hidden=12, heads=2):
        super().__init__()
        self.attention1, self.add1 = MultiHeadAttention(size, heads, 0.1), AddNorm(size, 0.1)
        self.attention2, self.add2 = MultiHeadAttention(size, heads, 0.1), AddNorm(size, 0.1)
        self.ffn, self.add3 = (
            nn.Sequential(nn.LazyLinear(hidden), nn.ReLU(), nn.LazyLinear(size)),
            AddNorm(size, 0.1),
        )

    def forward(self, X, enc_outputs, enc_valid_lens):
        batch_size, num_steps, _ = X.shape
        dec_valid_lens = (
            torch.arange(1, num_steps + 1, device=X.device).repeat(batch_size, 1)
            if self.training
            else None
        )
        Y = self.add1(X, self.attention1(X, X, X, dec_valid_lens))
        Z = self.add2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
        return self.add3(Z, self.ffn(Z))


class Transformer(nn.Module):
    def __init__(self, vocab=11, size=8):
        super().__init__()
        self.size = size
        self.src, self.tgt, self.pos = (
            nn.Embedding(vocab, size),
            nn.Embedding(vocab, size),
            PositionalEncoding(size, 0.1),
        )
        self.blks = nn.Sequential()
        for i in range(2):
            self.blks.add_module("block" + str(i), Encoder())
        self.decoder, self.dense = Decoder(), nn.LazyLinear(vocab)

    def forward(self, src, tgt, valid_lens):
        X = self.pos(self.src(src) * math.sqrt(self.size))
        self.attention_weights = [None] * len(self.blks)
        for i, blk in enumerate(self.blks):
            X = blk(X, valid_lens)
            self.attention_weights[i] = blk.attention.attention.attention_weights
        return self.dense(
            self.decoder(self.pos(self.tgt(tgt) * math.sqrt(self.size)), X, valid_lens)
        )


model = Transformer()
src, tgt, lens = (
    torch.randint(0, 11, (4, 5)),
    torch.randint(0, 11, (4, 6)),
    torch.tensor([3, 5, 2, 4]),
)
model(src, tgt, lens)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(4):
    optimizer.zero_grad()
    l = F.cross_entropy(model(src, tgt[:, :-1], lens).transpose(1, 2), tgt[:, 1:])
    l.backward()
    optimizer.step()
    print(f"{l.item():.4f}")
print(model.attention_weights[0][0], model.blks)


class PatchEmbedding(nn.Module):
    def __init__(self, img_size=8, patch_size=4, num_hiddens=8):
        super().__init__()
        self.num_patches = (img_size // patch_size) ** 2
        self.conv = nn.LazyConv2d(num_hiddens, kernel_size=patch_size, stride=patch_size)

    def forward(self, X):
        return self.conv(X).flatten(2).transpose(1, 2)


class ViTBlock(nn.Module):
    def __init__(self, num_hiddens=8, mlp=16, heads=2):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(num_hiddens), nn.LayerNorm(num_hiddens)
        self.attention = MultiHeadAttention(num_hiddens, heads, 0.1)
        self.mlp = nn.Sequential(
            nn.LazyLinear(mlp), nn.GELU(), nn.Dropout(0.1), nn.LazyLinear(num_hiddens)
        )

    def forward(self, X, valid_lens=None):
        X = X + self.attention(*([self.ln1(X)] * 3), valid_lens)
        return X + self.mlp(self.ln2(X))


class ViT(nn.Module):
    def __init__(self, size=8):
        super().__init__()
        self.patch_embedding = PatchEmbedding(num_hiddens=size)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, size))
        self.pos_embedding = nn.Parameter(
            torch.randn(1, self.patch_embedding.num_patches + 1, size)
        )
        self.dropout, self.blks = nn.Dropout(0.1), nn.Sequential(ViTBlock(), ViTBlock())
        self.head = nn.Sequential(nn.LayerNorm(size), nn.Linear(size, 10))

    def forward(self, X):
        X = self.patch_embedding(X)
        X = torch.cat((self.cls_token.expand(X.shape[0], -1, -1), X), 1)
        X = self.dropout(X + self.pos_embedding)
        for blk in self.blks:
            X = blk(X)
        return self.head(X[:, 0])


vit = ViT()
images, labels = torch.randn(6, 1, 8, 8), torch.randint(0, 10, (6,))
print(vit(images).shape)
optimizer = torch.optim.AdamW(vit.parameters(), lr=0.01)
for epoch in range(3):
    l = F.cross_entropy(vit(images), labels)
    optimizer.zero_grad(set_to_none=False)
    l.backward()
    optimizer.step()
    print(f"{l.item():.4f}")

n = 30
x_train, _ = torch.sort(torch.rand(n) * 5)
f = lambda x: 2 * torch.sin(x) + x
y_train = f(x_train) + torch.randn(n) * 0.5
x_val = torch.arange(0, 5, 0.5)
dists = x_train.reshape((-1, 1)) - x_val.reshape((1, -1))
for kernel in (
    lambda x: torch.exp(-(x**2) / 2),
    lambda x: torch.abs(x) < 1.0,
    lambda x: torch.max(1.0 - torch.abs(x), torch.zeros_like(x)),
):
    k = kernel(dists).type(torch.float32)
    attention_w = k / k.sum(0)
    print((y_train @ attention_w)[:4])
del f, kernel
