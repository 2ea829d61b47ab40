"""Names from counts of pairs, then a network that joins neighbours level by level."""

import torch
import torch.nn.functional as F

torch.manual_seed(42)


class Embedding:
    def __init__(self, n, d):
        self.weight = torch.randn((n, d))

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


class Sequential:
    def __init__(self, layers):
        self.layers = layers

    def __call__(self, x):
        for l in self.layers:
            x = l(x)
        self.out = x
        return self.out

    def parameters(self):
        return [p for l in self.layers for p in l.parameters()]


class Lin:
    def __init__(self, i, o, bias=True):
        self.weight = torch.randn((i, o)) / i**0.5
        self.bias = torch.zeros(o) if bias else None

    def __call__(self, x):
        self.out = x @ self.weight
        if self.bias is not None:
            self.out += self.bias
        return self.out

    def parameters(self):
        return [self.weight] + ([] if self.bias is None else [self.bias])


class T:
    def __call__(self, x):
        self.out = torch.tanh(x)
        return self.out

    def parameters(self):
        return []


X = torch.randint(0, 12, (64, 8))
Y = X.sum(1) % 5
model = Sequential(
    [
        Embedding(12, 6),
        FlattenConsecutive(2),
        Lin(12, 10),
        T(),
        FlattenConsecutive(2),
        Lin(20, 10),
        T(),
        FlattenConsecutive(2),
        Lin(20, 10),
        T(),
        Lin(10, 5),
    ]
)
with torch.no_grad():
    model.layers[-1].weight *= 0.1
parameters = model.parameters()
print(sum(p.nelement() for p in parameters))
for p in parameters:
    p.requires_grad = True
lossi = []
for i in range(40):
    ix = torch.randint(0, X.shape[0], (16,))
    loss = F.cross_entropy(model(X[ix]), Y[ix])
    for p in parameters:
        p.grad = None
    loss.backward()
    for p in parameters:
        p.data += -0.1 * p.grad
    lossi.append(loss.log10().item())
print(torch.tensor(lossi).view(-1, 10).mean(1))
for layer in model.layers:
    print(layer.__class__.__name__, ":", tuple(layer.out.shape))
e = torch.randn(4, 8, 10)
explicit = torch.cat([e[:, ::2, :], e[:, 1::2, :]], dim=2)
print((e.view(4, 4, 20) == explicit).all())
print((torch.randn(4, 5, 6, 80) @ torch.randn(80, 200) + torch.randn(200)).shape)
# bigram counts
N = torch.zeros((27, 27), dtype=torch.int32)
for a, b in zip("helloworldhello", "elloworldhellox"):
    N[ord(a) - 96, ord(b) - 96] += 1
P = (N + 1).float()
P /= P.sum(1, keepdim=True)
print(f"{P[0].sum():.4f}", N[8, 5].item(), N.dtype, P.shape)
g = torch.Generator().manual_seed(2147483647)
p = torch.rand(3, generator=g)
p = p / p.sum()
print(p)
print(torch.multinomial(p, num_samples=20, replacement=True, generator=g))
log_likelihood = 0.0
n = 0
for a, b in zip("hello", "ellow"):
    logprob = torch.log(P[ord(a) - 96, ord(b) - 96])
    log_likelihood += logprob
    n += 1
nll = -log_likelihood
print(f"{log_likelihood=}")
print(f"{nll=}")
print(f"{nll / n}")
xs = torch.tensor([8, 5, 12])
xenc = F.one_hot(xs, num_classes=27).float()
print(xenc.shape, xenc.dtype)
W = torch.randn((27, 27), generator=g, requires_grad=True)
for k in range(3):
    logits = xenc @ W
    counts = logits.exp()
    probs = counts / counts.sum(1, keepdims=True)
    loss = -probs[torch.arange(3), torch.tensor([5, 12, 12])].log().mean() + 0.01 * (W**2).mean()
    print(f"{loss.item():.5f}")
    W.grad = None
    loss.backward()
    W.data += -50 * W.grad
u = torch.tensor([1, 2, 3])
print(
    torch.unbind(xenc, 0)[0].shape,
    len(torch.unbind(P, 1)),
    P.storage().size() if False else P.numel(),
)
emb = torch.randn(5, 3, 2)
print(
    torch.cat(torch.unbind(emb, 1), 1).shape,
    emb.view(5, -1).shape,
    emb.view(-1, 6).equal(torch.cat([emb[:, 0], emb[:, 1], emb[:, 2]], 1)),
)
lre = torch.linspace(-3, 0, 7)
print(10**lre)
print(torch.arange(18).view(2, 9), torch.arange(18).view(3, 3, 2)[:, 1].tolist())
print(torch.zeros(3, 3).index_put_((torch.tensor([0, 1]), torch.tensor([1, 2])), torch.tensor(5.0)))
