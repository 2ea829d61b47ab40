"""Counts of pairs of letters, then the same model by gradient descent; samples from both."""

import torch
import torch.nn.functional as F

words = "emma olivia ava isabella sophia mia amelia harper evelyn ella luna nora".split()
letters = sorted(set("".join(words)))
stoi = {s: i + 1 for i, s in enumerate(letters)}
stoi["."] = 0
itos = {i: s for s, i in stoi.items()}
V = len(stoi)

N = torch.zeros((V, V), dtype=torch.int32)
for w in words:
    chs = ["."] + list(w) + ["."]
    for a, b in zip(chs, chs[1:]):
        N[stoi[a], stoi[b]] += 1
print(N[0], N.sum().item(), N.dtype)
g = torch.Generator().manual_seed(2147483647)
P = (N + 1).float()
P /= P.sum(1, keepdims=True)
print(P[0].sum(), P.shape)
for _ in range(4):
    out, ix = [], 0
    while True:
        ix = torch.multinomial(P[ix], num_samples=1, replacement=True, generator=g).item()
        out.append(itos[ix])
        if ix == 0:
            break
    print("".join(out))

log_likelihood, n = 0.0, 0
for w in words:
    chs = ["."] + list(w) + ["."]
    for a, b in zip(chs, chs[1:]):
        logprob = torch.log(P[stoi[a], stoi[b]])
        log_likelihood += logprob
        n += 1
print(f"{log_likelihood=}", f"{-log_likelihood / n:.4f}")

xs, ys = [], []
for w in words:
    chs = ["."] + list(w) + ["."]
    for a, b in zip(chs, chs[1:]):
        xs.append(stoi[a])
        ys.append(stoi[b])
xs, ys = torch.tensor(xs), torch.tensor(ys)
num = xs.nelement()
W = torch.randn((V, V), generator=g, requires_grad=True)
for k in range(20):
    xenc = F.one_hot(xs, num_classes=V).float()
    logits = xenc @ W
    counts = logits.exp()
    probs = counts / counts.sum(1, keepdims=True)
    loss = -probs[torch.arange(num), ys].log().mean() + 0.01 * (W**2).mean()
    W.grad = None
    loss.backward()
    W.data += -10 * W.grad
    if k % 5 == 0:
        print(k, loss.item().__round__(4))
for _ in range(3):
    out, ix = [], 0
    while len(out) < 15:
        row = F.one_hot(torch.tensor([ix]), num_classes=V).float() @ W
        p = row.exp() / row.exp().sum(1, keepdims=True)
        ix = torch.multinomial(p, num_samples=1, replacement=True, generator=g).item()
        out.append(itos[ix])
        if ix == 0:
            break
    print("".join(out))
