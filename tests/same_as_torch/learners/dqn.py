"""Deep Q-learning on a corridor: replay memory, epsilon-greedy, a target network that follows."""

import math
import random
from collections import deque, namedtuple
from itertools import count

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

random.seed(0)
torch.manual_seed(0)
Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))


class Corridor:
    def reset(self):
        self.place, self.time = 2, 0
        return [self.place / 4.0, 1.0], {}

    def step(self, action):
        self.place += 1 if action == 1 else -1
        self.time += 1
        done = self.place in (0, 4)
        return [self.place / 4.0, 1.0], float(self.place == 4), done, self.time > 12, {}


class ReplayMemory:
    def __init__(self, capacity):
        self.memory = deque([], maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, batch_size):
        return random.sample(self.memory, batch_size)

    def __len__(self):
        return len(self.memory)


class DQN(nn.Module):
    def __init__(self, n_observations, n_actions):
        super().__init__()
        self.layer1 = nn.Linear(n_observations, 16)
        self.layer2 = nn.Linear(16, n_actions)

    def forward(self, x):
        return self.layer2(F.relu(self.layer1(x)))


policy_net, target_net = DQN(2, 2), DQN(2, 2)
target_net.load_state_dict(policy_net.state_dict())
optimizer = optim.AdamW(policy_net.parameters(), lr=1e-2, amsgrad=True)
memory, steps_done, env, TAU, GAMMA, BATCH = ReplayMemory(100), 0, Corridor(), 0.05, 0.9, 16


def select_action(state):
    global steps_done
    eps = 0.05 + 0.85 * math.exp(-1.0 * steps_done / 30)
    steps_done += 1
    if random.random() > eps:
        with torch.no_grad():
            return policy_net(state).max(1).indices.view(1, 1)
    return torch.tensor([[random.randrange(2)]], dtype=torch.long)


def optimize_model():
    if len(memory) < BATCH:
        return None
    batch = Transition(*zip(*memory.sample(BATCH)))
    mask = torch.tensor(tuple(map(lambda s: s is not None, batch.next_state)), dtype=torch.bool)
    following = torch.cat([s for s in batch.next_state if s is not None])
    state_batch, action_batch, reward_batch = (
        torch.cat(batch.state),
        torch.cat(batch.action),
        torch.cat(batch.reward),
    )
    values = policy_net(state_batch).gather(1, action_batch)
    next_values = torch.zeros(BATCH)
    with torch.no_grad():
        next_values[mask] = target_net(following).max(1).values
    loss = nn.SmoothL1Loss()(values, (next_values * GAMMA + reward_batch).unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
    return loss


durations = []
for episode in range(20):
    state, info = env.reset()
    state = torch.tensor(state, dtype=torch.float32).unsqueeze(0)
    for t in count():
        action = select_action(state)
        observation, reward, terminated, truncated, _ = env.step(action.item())
        reward = torch.tensor([reward])
        next_state = (
            None if terminated else torch.tensor(observation, dtype=torch.float32).unsqueeze(0)
        )
        memory.push(state, action, next_state, reward)
        state = next_state
        loss = optimize_model()
        target, policy = target_net.state_dict(), policy_net.state_dict()
        for key in policy:
            target[key] = policy[key] * TAU + target[key] * (1 - TAU)
        target_net.load_state_dict(target)
        if terminated or truncated:
            durations.append(t + 1)
            break
print(durations, f"{loss.item():.5f}")
d = torch.tensor(durations, dtype=torch.float)
print(d.unfold(0, 10, 1).mean(1).view(-1))
print(policy_net(torch.tensor([[0.25, 1.0], [0.75, 1.0]])))
memory.memory.clear()
del state, next_state, action, reward
