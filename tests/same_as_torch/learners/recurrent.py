"""A recurrent network by hand that predicts the next point of a sine wave."""

import math

import torch
from torch import nn

torch.manual_seed(7)
steps = torch.linspace(0, 8 * math.pi, 81)
wave = torch.sin(steps)
print(wave[:5], wave.dtype)


class RNNCell(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.i2h = nn.Linear(input_size, hidden_size)
        self.h2h = nn.Linear(hidden_size, hidden_size, bias=False)
        nn.init.eye_(self.h2h.weight)
        with torch.no_grad():
            self.h2h.weight *= 0.9

    def forward(self, x, h):
        return torch.tanh(self.i2h(x) + self.h2h(h))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = RNNCell(1, 8)
        self.readout = nn.Linear(8, 1)

    def forward(self, sequence):
        h = torch.zeros(1, self.cell.hidden_size)
        outputs = []
        for x in sequence:
            h = self.cell(x.view(1, 1), h)
            outputs.append(self.readout(h))
        return torch.cat(outputs).squeeze(1), h


model = Model()
print(model)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
norms = []
for epoch in range(6):
    hidden_norm = 0.0
    for start in range(0, 80, 20):
        sequence, target = wave[start : start + 20], wave[start + 1 : start + 21]
        prediction, h = model(sequence)
        loss = criterion(prediction, target)
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        norms.append(float(norm))
        optimizer.step()
        hidden_norm += h.norm().item()
    print(f"epoch {epoch}: loss {loss.item():.4f}, norm {norms[-1]:.3f}, hidden {hidden_norm:.2f}")

h = torch.zeros(1, 8)
x = wave[0]
generated = []
with torch.no_grad():
    for _ in range(10):
        h = model.cell(x.view(1, 1), h)
        x = model.readout(h)[0, 0]
        generated.append(round(x.item(), 2))
print(generated)
print(h.requires_grad, h.grad_fn, type(loss.grad_fn).__name__)

# Truncated: the hidden state is carried over, its history is not.
h = torch.zeros(1, 8)
for start in range(0, 40, 10):
    h = h.detach()
    outputs = []
    for x in wave[start : start + 10]:
        h = model.cell(x.reshape(1, 1), h)
        outputs.append(h)
    loss = torch.stack(outputs).pow(2).mean()
    model.zero_grad()
    loss.backward()
print(f"{loss.item():.4f}", f"{model.cell.h2h.weight.grad.abs().max().item():.4f}")
print(model.readout.weight.grad)
