"""Agents that learn by rewards, then networks that generate images."""

import math
import random
from collections import deque, namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Bernoulli, Categorical, Normal, kl_divergence

random.seed(1)
torch.manual_seed(1)
Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))


class ReplayMemory(object):
    def __init__(self, capacity):
        self.memory = deque([], maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, b):
        return random.sample(self.memory, b)

    def __len__(self):
        return len(self.memory)


class DQN(nn.Module):
    def __init__(self, o, a):
        super(DQN, self).__init__()
        self.layer1, self.layer2, self.layer3 = (
            nn.Linear(o, 24),
            nn.Linear(24, 24),
            nn.Linear(24, a),
        )

    def forward(self, x):
        return self.layer3(F.relu(self.layer2(F.relu(self.layer1(x)))))


policy_net, target_net = DQN(4, 2), DQN(4, 2)
target_net.load_state_dict(policy_net.state_dict())
optimizer = optim.AdamW(policy_net.parameters(), lr=1e-3, amsgrad=True)
memory = ReplayMemory(100)
steps = 0
device = torch.device(
    "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
)
print(device)


def select_action(state):
    global steps
    sample = random.random()
    eps = 0.05 + 0.85 * math.exp(-1.0 * steps / 1000)
    steps += 1
    if sample > eps:
        with torch.no_grad():
            return policy_net(state).max(1).indices.view(1, 1)
    return torch.tensor([[random.randrange(2)]], device=device, dtype=torch.long)


state = torch.tensor([0.1, 0.2, -0.1, 0.0], dtype=torch.float32, device=device).unsqueeze(0)
for t in range(60):
    a = select_action(state)
    nxt = (
        None if t % 11 == 10 else state + (a.float() - 0.5) * torch.tensor([[0.1, 0.0, 0.05, 0.0]])
    )
    memory.push(state, a, nxt, torch.tensor([1.0 - abs(state[0, 0].item())]))
    state = torch.zeros(1, 4) if nxt is None else nxt
    if len(memory) < 16:
        continue
    batch = Transition(*zip(*memory.sample(16)))
    mask = torch.tensor(
        tuple(map(lambda s: s is not None, batch.next_state)), device=device, dtype=torch.bool
    )
    nn_states = torch.cat([s for s in batch.next_state if s is not None])
    sb, ab, rb = torch.cat(batch.state), torch.cat(batch.action), torch.cat(batch.reward)
    q = policy_net(sb).gather(1, ab)
    nv = torch.zeros(16, device=device)
    with torch.no_grad():
        nv[mask] = target_net(nn_states).max(1).values
    loss = nn.SmoothL1Loss()(q, ((nv * 0.99) + rb).unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
    tsd, psd = target_net.state_dict(), policy_net.state_dict()
    for key in psd:
        tsd[key] = psd[key] * 0.005 + tsd[key] * (1 - 0.005)
    target_net.load_state_dict(tsd)
    if t % 15 == 0:
        print(t, f"{loss.item():.5f} {q.mean().item():.5f}")
scores = torch.tensor([float(i) for i in range(12)])
means = scores.unfold(0, 5, 1).mean(1).view(-1)
print(torch.cat((torch.zeros(4), means)))


# REINFORCE and actor critic
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 16)
        self.dropout = nn.Dropout(p=0.6)
        self.affine2 = nn.Linear(16, 2)
        self.value_head = nn.Linear(16, 1)
        self.saved = []
        self.rewards = []

    def forward(self, x):
        x = F.relu(self.dropout(self.affine1(x)))
        return F.softmax(self.affine2(x), dim=-1), self.value_head(x)


pol = Policy()
opt = optim.Adam(pol.parameters(), lr=3e-2)
eps = torch.finfo(torch.float32).eps
print(eps)
for ep in range(4):
    s = torch.zeros(4)
    tot = 0
    for t in range(8):
        probs, v = pol(s)
        m = Categorical(probs)
        action = m.sample()
        pol.saved.append((m.log_prob(action), v))
        pol.rewards.append(float(action.item()))
        s = s + 0.1 * (action - 0.5) * torch.ones(4)
    R, returns = 0, deque()
    for r in pol.rewards[::-1]:
        R = r + 0.99 * R
        returns.appendleft(R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + eps)
    pl, vl = [], []
    for (lp, value), R in zip(pol.saved, returns):
        adv = R - value.item()
        pl.append(-lp * adv)
        vl.append(F.smooth_l1_loss(value, torch.tensor([R])))
    opt.zero_grad()
    loss = torch.stack(pl).sum() + torch.stack(vl).sum()
    loss.backward()
    opt.step()
    print(ep, sum(pol.rewards), f"{loss.item():.4f}")
    del pol.rewards[:]
    del pol.saved[:]
# continuous policy, PPO ratio
mu = nn.Linear(3, 2)
log_std = nn.Parameter(torch.full((2,), -0.5))
obs = torch.randn(6, 3)
dist = Normal(mu(obs), log_std.exp())
act = dist.sample()
old = dist.log_prob(act).sum(-1).detach()
with torch.no_grad():
    mu.weight.add_(0.01 * torch.randn_like(mu.weight))
new = Normal(mu(obs), log_std.exp())
ratio = (new.log_prob(act).sum(-1) - old).exp()
adv = torch.randn(6)
surr = (
    -torch.min(ratio * adv, torch.clamp(ratio, 0.8, 1.2) * adv).mean()
    - 0.01 * new.entropy().sum(-1).mean()
)
surr.backward()
print(f"{surr.item():.5f}", log_std.grad, dist)


# VAE
class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc21, self.fc22, self.fc3, self.fc4 = (
            nn.Linear(16, 12),
            nn.Linear(12, 3),
            nn.Linear(12, 3),
            nn.Linear(3, 12),
            nn.Linear(12, 16),
        )

    def encode(self, x):
        h = F.relu(self.fc1(x))
        return self.fc21(h), self.fc22(h)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + torch.randn_like(std) * std

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x):
        mu, lv = self.encode(x.view(-1, 16))
        return self.decode(self.reparameterize(mu, lv)), mu, lv


vae = VAE()
opt = optim.Adam(vae.parameters(), lr=1e-2)
xs = torch.bernoulli(torch.rand(20, 4, 4))
for e in range(4):
    opt.zero_grad()
    r, mu_, lv = vae(xs)
    BCE = F.binary_cross_entropy(r, xs.view(-1, 16), reduction="sum")
    KLD = -0.5 * torch.sum(1 + lv - mu_.pow(2) - lv.exp())
    (BCE + KLD).backward()
    opt.step()
    print("Train Epoch: {} \tLoss: {:.3f}".format(e, (BCE + KLD).item() / len(xs)))
print(
    torch.allclose(
        kl_divergence(Normal(mu_, (0.5 * lv).exp()), Normal(0.0, 1.0)).sum(), KLD, rtol=1e-4
    ),
    Bernoulli(logits=torch.zeros(3)).log_prob(torch.tensor([0.0, 1.0, 1.0])),
)


# DCGAN
def weights_init(m):
    classname = m.__class__.__name__
    if classname.find("Conv") != -1:
        nn.init.normal_(m.weight.data, 0.0, 0.02)
    elif classname.find("BatchNorm") != -1:
        nn.init.normal_(m.weight.data, 1.0, 0.02)
        nn.init.constant_(m.bias.data, 0)


G = nn.Sequential(
    nn.ConvTranspose2d(6, 8, 4, 1, 0, bias=False),
    nn.BatchNorm2d(8),
    nn.ReLU(True),
    nn.ConvTranspose2d(8, 1, 4, 2, 1, bias=False),
    nn.Tanh(),
)
D = nn.Sequential(
    nn.Conv2d(1, 8, 4, 2, 1, bias=False),
    nn.LeakyReLU(0.2, inplace=True),
    nn.Conv2d(8, 1, 4, 1, 0, bias=False),
    nn.Sigmoid(),
)
G.apply(weights_init)
D.apply(weights_init)
print(G)
criterion = nn.BCELoss()
fixed = torch.randn(4, 6, 1, 1)
oD, oG = (
    optim.Adam(D.parameters(), lr=2e-3, betas=(0.5, 0.999)),
    optim.Adam(G.parameters(), lr=2e-3, betas=(0.5, 0.999)),
)
real = torch.rand(4, 1, 8, 8) * 2 - 1
for i in range(3):
    D.zero_grad()
    label = torch.full((4,), 1.0, dtype=torch.float)
    out = D(real).view(-1)
    eD = criterion(out, label)
    eD.backward()
    Dx = out.mean().item()
    fake = G(torch.randn(4, 6, 1, 1))
    label.fill_(0.0)
    out = D(fake.detach()).view(-1)
    eF = criterion(out, label)
    eF.backward()
    oD.step()
    G.zero_grad()
    label.fill_(1.0)
    out = D(fake).view(-1)
    eG = criterion(out, label)
    eG.backward()
    oG.step()
    print(
        "[%d/%d]\tLoss_D: %.4f\tLoss_G: %.4f\tD(x): %.4f\tD(G(z)): %.4f"
        % (i, 3, (eD + eF).item(), eG.item(), Dx, out.mean().item())
    )
with torch.no_grad():
    print(G(fixed).detach().cpu().shape, G(fixed).std())
# WGAN-GP
eps_ = torch.rand(4, 1, 1, 1)
inter = (eps_ * real + (1 - eps_) * fake.detach()).requires_grad_(True)
crit = nn.Sequential(nn.Flatten(), nn.Linear(64, 16), nn.Softplus(), nn.Linear(16, 1))
sc = crit(inter)
gr = torch.autograd.grad(
    outputs=sc,
    inputs=inter,
    grad_outputs=torch.ones_like(sc),
    create_graph=True,
    retain_graph=True,
    only_inputs=True,
)[0].view(4, -1)
gp = ((gr.norm(2, dim=1) - 1) ** 2).mean()
gp.backward()
print(gp, crit[1].weight.grad.abs().sum())


# style: gram and FGSM
def gram(x):
    a, b, c, d = x.size()
    f = x.view(a * b, c * d)
    return torch.mm(f, f.t()).div(a * b * c * d)


print(gram(torch.randn(1, 3, 4, 4)))
im = torch.rand(2, 1, 8, 8, requires_grad=True)
clf = nn.Sequential(
    nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3)
)
F.nll_loss(F.log_softmax(clf(im), 1), torch.tensor([0, 2])).backward()
print(torch.clamp(im + 0.1 * im.grad.data.sign(), 0, 1).mean())
