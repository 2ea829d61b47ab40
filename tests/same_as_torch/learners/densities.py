"""A mixture density network, and a policy whose actions stay between -1 and 1."""

import math

import torch
from torch import nn
from torch.distributions import (
    Categorical,
    Independent,
    MixtureSameFamily,
    Normal,
    TransformedDistribution,
)
from torch.distributions.transforms import AffineTransform, TanhTransform

torch.manual_seed(0)


class MDN(nn.Module):
    def __init__(self, n_hidden, n_gaussians):
        super().__init__()
        self.z_h = nn.Sequential(nn.Linear(1, n_hidden), nn.Tanh())
        self.z_pi = nn.Linear(n_hidden, n_gaussians)
        self.z_mu = nn.Linear(n_hidden, n_gaussians)
        self.z_sigma = nn.Linear(n_hidden, n_gaussians)

    def forward(self, x):
        h = self.z_h(x)
        return self.z_pi(h), self.z_mu(h), torch.exp(self.z_sigma(h))


def by_hand(pi, mu, sigma, y):
    scaled = (y.expand_as(mu) - mu) * torch.reciprocal(sigma)
    density = torch.exp(-0.5 * scaled**2) * torch.reciprocal(sigma) / math.sqrt(2 * math.pi)
    return -torch.log((density * pi.softmax(-1)).sum(1)).mean()


y = torch.linspace(-5, 5, 60).view(-1, 1)
x = 7 * torch.sin(0.75 * y) + 0.5 * y + torch.randn(60, 1)
net = MDN(10, 3)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(20):
    pi, mu, sigma = net(x)
    mixture = MixtureSameFamily(Categorical(logits=pi), Normal(mu, sigma))
    loss = -mixture.log_prob(y.squeeze(-1)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"{step:2d} {loss.item():.3f} {by_hand(pi, mu, sigma, y).item():.3f}")
with torch.no_grad():
    mixture = MixtureSameFamily(Categorical(logits=pi), Normal(mu, sigma))
    mean, spread, below = mixture.mean, mixture.stddev, mixture.cdf(torch.zeros(60))
    print(f"{mean.mean():.3f} {spread.mean():.3f} {below.mean():.3f}", mixture.batch_shape)
    draws = mixture.sample((5,))

centers = torch.tensor([[-2.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
clusters = MixtureSameFamily(Categorical(torch.ones(3)), Independent(Normal(centers, 0.3), 1))
points = clusters.sample((6,))
print(clusters)
print(points.round(decimals=2), clusters.log_prob(points).sum().round(decimals=2))

mean = torch.zeros(2, requires_grad=True)
log_std = torch.full((2,), -0.5, requires_grad=True)
ascent = torch.optim.SGD([mean, log_std], lr=0.05)
for _ in range(10):
    noise = Normal(mean, log_std.exp())
    policy = TransformedDistribution(
        noise, [TanhTransform(cache_size=1), AffineTransform(0.0, 2.0)]
    )
    action = policy.rsample((8,))
    reward = -(action - torch.tensor([0.5, -1.0])).pow(2).sum(-1)
    loss = (0.1 * policy.log_prob(action).sum(-1) - reward).mean()
    ascent.zero_grad()
    loss.backward()
    ascent.step()
print(f"{loss.item():.3f}", mean.data.numpy().round(2), (2 * mean.tanh()).tolist()[0] > 0)
