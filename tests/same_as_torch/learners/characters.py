"""A character model: an embedding, one hidden layer, names sampled from what was learnt."""

import torch
import torch.nn.functional as F

words = "emma olivia ava isabella sophia mia charlotte amelia harper evelyn abigail emily".split()
words += "ella elizabeth camila luna sofia avery mila aria scarlett penelope layla chloe".split()
letters = sorted(set("".join(words)))
stoi = {s: i + 1 for i, s in enumerate(letters)}
stoi["."] = 0
itos = {i: s for s, i in stoi.items()}
block_size = 3


def build_dataset(words):
    X, Y = [], []
    for w in words:
        context = [0] * block_size
        for ch in w + ".":
            ix = stoi[ch]
            X.append(context)
            Y.append(ix)
            context = context[1:] + [ix]
    return torch.tensor(X), torch.tensor(Y)


X, Y = build_dataset(words)
print(X.shape, X.dtype, Y.shape, Y.dtype)
print("".join(itos[i.item()] for i in Y[:20]))

g = torch.Generator().manual_seed(2147483647)
vocab_size, n_embd, n_hidden = len(itos), 4, 24
C = torch.randn((vocab_size, n_embd), generator=g)
W1 = torch.randn((n_embd * block_size, n_hidden), generator=g) * (5 / 3) / (12**0.5)
b1 = torch.randn(n_hidden, generator=g) * 0.01
W2 = torch.randn((n_hidden, vocab_size), generator=g) * 0.01
b2 = torch.randn(vocab_size, generator=g) * 0
parameters = [C, W1, b1, W2, b2]
print(sum(p.nelement() for p in parameters))
for p in parameters:
    p.requires_grad = True

lossi = []
for step in range(60):
    ix = torch.randint(0, X.shape[0], (16,), generator=g)
    emb = C[X[ix]]
    h = torch.tanh(emb.view(emb.shape[0], -1) @ W1 + b1)
    logits = h @ W2 + b2
    loss = F.cross_entropy(logits, Y[ix])
    for p in parameters:
        p.grad = None
    loss.backward()
    lr = 0.2 if step < 40 else 0.05
    for p in parameters:
        p.data += -lr * p.grad
    lossi.append(loss.log10().item() if hasattr(loss, "log10") else (loss.log() / 2.302585).item())
    if step % 10 == 0:
        print(f"{step:7d}: {loss.item():.4f}")

with torch.no_grad():
    emb = C[X]
    h = torch.tanh(emb.view(-1, n_embd * block_size) @ W1 + b1)
    logits = h @ W2 + b2
    print("all", f"{F.cross_entropy(logits, Y).item():.4f}")
    counts = logits.exp()
    probs = counts / counts.sum(1, keepdim=True)
    print("by hand", f"{-probs[torch.arange(len(Y)), Y].log().mean().item():.4f}")

for _ in range(4):
    out, context = "", [0] * block_size
    while len(out) < 12:
        with torch.no_grad():
            h = torch.tanh(C[torch.tensor([context])].view(1, -1) @ W1 + b1)
            p = F.softmax(h @ W2 + b2, dim=1)
        ix = int((p.cumsum(1) < torch.rand(1, generator=g)).sum())
        if ix == 0 or ix >= vocab_size:
            break
        context = context[1:] + [ix]
        out += itos[ix]
    print(repr(out))
print(C.grad.shape, C.grad.abs().sum(1) > 0)
print(W2.grad[:2, :4])
