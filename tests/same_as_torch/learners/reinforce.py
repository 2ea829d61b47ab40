"""Policy gradients: REINFORCE, an actor and a critic, and what distributions offer for them."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import (
    Bernoulli,
    Categorical,
    Multinomial,
    MultivariateNormal,
    Normal,
    Uniform,
    kl_divergence,
)

torch.manual_seed(31)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1, self.dropout = nn.Linear(2, 12), nn.Dropout(p=0.3)
        self.action_head, self.value_head = nn.Linear(12, 2), nn.Linear(12, 1)
        self.saved_actions, self.rewards = [], []

    def forward(self, x):
        x = F.relu(self.dropout(self.affine1(x)))
        return F.softmax(self.action_head(x), dim=-1), self.value_head(x)


model = Policy()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
eps = torch.finfo(torch.float32).eps
for episode in range(4):
    state = 2
    for t in range(8):
        probs, state_value = model(torch.tensor([state / 4, 1.0]).float())
        m = Categorical(probs)
        action = m.sample()
        model.saved_actions.append((m.log_prob(action), state_value))
        state += 1 if action.item() else -1
        model.rewards.append(float(state == 4))
        if state in (0, 4):
            break
    R, returns, policy_losses, value_losses = 0, [], [], []
    for r in model.rewards[::-1]:
        R = r + 0.99 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + eps)
    for (log_prob, value), R in zip(model.saved_actions, returns):
        advantage = R - value.item()
        policy_losses.append(-log_prob * advantage)
        value_losses.append(F.smooth_l1_loss(value, torch.tensor([R])))
    optimizer.zero_grad()
    loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum() - 0.01 * m.entropy()
    loss.backward()
    optimizer.step()
    del model.rewards[:]
    del model.saved_actions[:]
    print(f"{episode}: {loss.item():.4f} after {t + 1}")
mu, log_std = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(2))
policy = Normal(mu, log_std.exp())
a = policy.sample((5,))
ratio = (policy.log_prob(a).sum(-1) - policy.log_prob(a).sum(-1).detach()).exp()
surrogate = torch.min(ratio * a[:, 0], torch.clamp(ratio, 0.8, 1.2) * a[:, 0]).mean()
(-surrogate - 0.01 * policy.entropy().sum()).backward()
print(mu.grad, log_std.grad)
full = MultivariateNormal(mu, torch.diag(log_std.exp()))
action = full.rsample()
print(full.log_prob(action), full.entropy(), full, full.expand((3,)).batch_shape)
dice = Multinomial(10, torch.ones(6))
counts = dice.sample((3,))
print(counts, dice.log_prob(counts), dice.mean, dice.variance, dice)
print(
    Multinomial(5, logits=torch.zeros(2, 3)).sample().sum(-1),
    Multinomial(4, torch.tensor([0.2, 0.3, 0.5])).entropy(),
)
print(
    kl_divergence(Bernoulli(0.3), Bernoulli(0.6)),
    kl_divergence(Uniform(0.0, 1.0), Normal(0.0, 1.0)),
    kl_divergence(Normal(0.0, 1.0), Uniform(0.0, 1.0)),
)
del m, policy, full, dice
