"""A generative adversarial network on points of a circle."""

import math

import torch
from torch import nn

torch.manual_seed(1)


def real_points(n):
    angle = 2 * math.pi * torch.rand(n)
    return torch.stack([torch.cos(angle), torch.sin(angle)], dim=1) + 0.02 * torch.randn(n, 2)


G = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
print(G, D, sep="\n")
opt_g = torch.optim.Adam(G.parameters(), lr=0.01, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=0.01, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()

history = []
for step in range(40):
    real = real_points(32)
    fake = G(torch.randn(32, 2))

    opt_d.zero_grad()
    loss_d = bce(D(real), torch.ones(32, 1)) + bce(D(fake.detach()), torch.zeros(32, 1))
    loss_d.backward()
    assert all(p.grad is None or step for p in G.parameters())
    opt_d.step()

    opt_g.zero_grad()
    loss_g = bce(D(fake), torch.ones(32, 1))
    loss_g.backward()
    opt_g.step()

    history.append((loss_d.item(), loss_g.item()))
    if step % 8 == 0:
        with torch.no_grad():
            radius = fake.norm(dim=1)
        print(
            f"{step:3d}  D {loss_d.item():.3f}  G {loss_g.item():.3f}"
            f"  radius {radius.mean().item():.3f} ± {radius.std().item():.3f}"
        )

D.eval()
for p in D.parameters():
    p.requires_grad_(False)
z = torch.randn(3, 2, requires_grad=True)
score = D(G(z)).sum()
score.backward()
print(z.grad.shape, [tuple(p.shape) for p in D.parameters() if p.grad is not None])
print(score)

# A penalty on the norm of the critic's gradient (the gradient is differentiated again).
for p in D.parameters():
    p.requires_grad_(True)
x = real_points(4).requires_grad_()
(g,) = torch.autograd.grad(D(x).sum(), x, create_graph=True)
penalty = ((g.norm(2, dim=1) - 1) ** 2).mean()
opt_d.zero_grad()
penalty.backward()
print(f"{penalty.item():.4f}", [None if p.grad is None else p.grad.shape for p in D.parameters()])
print({k: len(v) for k, v in opt_d.state_dict()["param_groups"][0].items() if k == "params"})
