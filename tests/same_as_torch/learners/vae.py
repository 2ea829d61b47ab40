"""A variational autoencoder: reparameterization, its divergence by hand and by distributions."""

import torch
import torch.utils.data
from torch import nn, optim
from torch.distributions import Independent, MultivariateNormal, Normal, kl_divergence
from torch.nn import functional as F

torch.manual_seed(1)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(16, 12)
        self.fc21, self.fc22 = nn.Linear(12, 2), nn.Linear(12, 2)
        self.fc3, self.fc4 = nn.Linear(2, 12), nn.Linear(12, 16)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + torch.randn_like(std) * std

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, 16))
        z = self.reparameterize(mu, logvar)
        return self.decode(z), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    BCE = F.binary_cross_entropy(recon_x, x.view(-1, 16), reduction="sum")
    return BCE + -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())


images = (torch.rand(40, 1, 4, 4) > 0.6).float()
loader = torch.utils.data.DataLoader(images, batch_size=10, shuffle=True)
model = VAE()
optimizer = optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(1, 4):
    model.train()
    train_loss = 0
    for data in loader:
        optimizer.zero_grad()
        recon_batch, mu, logvar = model(data)
        loss = loss_function(recon_batch, data, mu, logvar)
        loss.backward()
        train_loss += loss.item()
        optimizer.step()
    print("====> Epoch: {} Average loss: {:.4f}".format(epoch, train_loss / len(loader.dataset)))
mu, logvar = model.encode(images[:10].view(-1, 16))
posterior = Independent(Normal(mu, (0.5 * logvar).exp()), 1)
prior = Independent(Normal(torch.zeros(2), torch.ones(2)).expand((10, 2)), 1)
by_hand = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
print(
    torch.allclose(kl_divergence(posterior, prior).sum(), by_hand, rtol=1e-4),
    posterior,
    prior.batch_shape,
)
p = MultivariateNormal(mu, torch.diag_embed(logvar.exp()))
q = MultivariateNormal(torch.zeros(2), torch.eye(2))
print(kl_divergence(p, q), p)
z = p.rsample()
elbo = (q.log_prob(z) - p.log_prob(z)).mean()
elbo.backward()
print(f"{elbo.item():.4f}", p.entropy()[:3], model.fc22.bias.grad)
full = MultivariateNormal(
    torch.tensor([1.0, -1.0]), covariance_matrix=torch.tensor([[2.0, 0.5], [0.5, 1.0]])
)
print(
    full.sample((2,)),
    full.mean,
    full.variance,
    full.log_prob(torch.zeros(3, 2)),
    full.scale_tril,
    full.precision_matrix,
)
model.eval()
with torch.no_grad():
    print(model.decode(torch.randn(3, 2)).mean(1))
