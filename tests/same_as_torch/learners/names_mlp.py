"""An MLP that writes names from the last three characters, with embeddings made by hand."""

import random

import torch
import torch.nn.functional as F

words = (
    "emma olivia ava isabella sophia charlotte mia amelia harper evelyn abigail emily ella".split()
)
chars = sorted(list(set("".join(words))))
stoi = {s: i + 1 for i, s in enumerate(chars)}
stoi["."] = 0
itos = {i: s for s, i in stoi.items()}
block_size = 3


def build_dataset(words):
    X, Y = ([], [])
    for w in words:
        context = [0] * block_size
        for ch in w + ".":
            ix = stoi[ch]
            X.append(context)
            Y.append(ix)
            context = context[1:] + [ix]
    X = torch.tensor(X)
    Y = torch.tensor(Y)
    print(X.shape, Y.shape)
    return (X, Y)


random.seed(42)
random.shuffle(words)
n1 = int(0.8 * len(words))
Xtr, Ytr = build_dataset(words[:n1])
Xte, Yte = build_dataset(words[n1:])
g = torch.Generator().manual_seed(2147483647)
C = torch.randn((len(stoi), 2), generator=g)
emb = C[Xtr]
print(emb.shape, emb[2, 1], C[5], C[[1, 2, 3]], C[torch.tensor([5, 6, 6])])
print(torch.cat(torch.unbind(emb, 1), 1).shape, emb.view(-1, 6).shape, emb.storage if False else "")
W1 = torch.randn((6, 20), generator=g)
b1 = torch.randn(20, generator=g)
W2 = torch.randn((20, len(stoi)), generator=g)
b2 = torch.randn(len(stoi), generator=g)
parameters = [C, W1, b1, W2, b2]
print(sum((p.nelement() for p in parameters)))
for p in parameters:
    p.requires_grad = True
lre = torch.linspace(-3, 0, 50)
lrs = 10**lre
lri, lossi, stepi = ([], [], [])
for i in range(50):
    ix = torch.randint(0, Xtr.shape[0], (16,), generator=g)
    emb = C[Xtr[ix]]
    h = torch.tanh(emb.view(-1, 6) @ W1 + b1)
    logits = h @ W2 + b2
    loss = F.cross_entropy(logits, Ytr[ix])
    for p in parameters:
        p.grad = None
    loss.backward()
    lr = lrs[i]
    for p in parameters:
        p.data += -lr * p.grad
    lri.append(lre[i])
    stepi.append(i)
    lossi.append(loss.log10().item())
print([round(l, 3) for l in lossi[::10]])
with torch.no_grad():
    emb = C[Xte]
    h = torch.tanh(emb.view(-1, 6) @ W1 + b1)
    print(f"{F.cross_entropy(h @ W2 + b2, Yte).item():.4f}")
context = [0] * block_size
print(C[torch.tensor([context])].shape)
g = torch.Generator().manual_seed(2147483647 + 10)
for _ in range(3):
    out = []
    context = [0] * block_size
    for _ in range(12):
        emb = C[torch.tensor([context])]
        h = torch.tanh(emb.view(1, -1) @ W1 + b1)
        logits = h @ W2 + b2
        probs = F.softmax(logits, dim=1)
        ix = torch.multinomial(probs, num_samples=1, generator=g).item()
        context = context[1:] + [ix]
        out.append(ix)
        if ix == 0:
            break
    print("".join((itos[i] for i in out)))
