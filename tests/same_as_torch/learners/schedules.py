"""Learning rates over the epochs, momentum schedules, weight averaging, and more optimizers."""

import torch
import torch.nn as nn
from torch.optim import lr_scheduler

torch.manual_seed(9)
X, y = torch.randn(32, 4), torch.randn(32, 1)


def make():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))


def train(optimizer, model, scheduler=None, steps=6):
    rates = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(X), y)
        loss.backward()
        optimizer.step()
        rates.append(round(optimizer.param_groups[0]["lr"], 5))
        if scheduler:
            scheduler.step(loss) if isinstance(
                scheduler, lr_scheduler.ReduceLROnPlateau
            ) else scheduler.step()
    return rates, f"{loss.item():.4f}"


schedulers = {
    "step": lambda o: lr_scheduler.StepLR(o, 2, 0.5),
    "multi": lambda o: lr_scheduler.MultiStepLR(o, [1, 3], 0.1),
    "exp": lambda o: lr_scheduler.ExponentialLR(o, gamma=0.9),
    "cos": lambda o: lr_scheduler.CosineAnnealingLR(o, T_max=4, eta_min=0.01),
    "warm": lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 2, 2),
    "lambda": lambda o: lr_scheduler.LambdaLR(o, lambda e: 1 / (e + 1)),
    "linear": lambda o: lr_scheduler.LinearLR(o, 0.5, total_iters=3),
    "poly": lambda o: lr_scheduler.PolynomialLR(o, 4, 2),
    "cycle": lambda o: lr_scheduler.CyclicLR(o, 0.01, 0.1, 2),
    "one": lambda o: lr_scheduler.OneCycleLR(o, 0.2, total_steps=7),
    "plateau": lambda o: lr_scheduler.ReduceLROnPlateau(o, "min", patience=0, threshold=0.5),
    "seq": lambda o: lr_scheduler.SequentialLR(
        o, [lr_scheduler.ConstantLR(o, 0.1, 2), lr_scheduler.ExponentialLR(o, 0.9)], [2]
    ),
    "chain": lambda o: lr_scheduler.ChainedScheduler(
        [lr_scheduler.ConstantLR(o, 0.5, 2), lr_scheduler.ExponentialLR(o, 0.9)]
    ),
}
for name, schedule in schedulers.items():
    model = make()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    print(name, *train(optimizer, model, schedule(optimizer)))
for cls in ("Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "SGD"):
    model = make()
    optimizer = getattr(torch.optim, cls)(model.parameters(), lr=0.05)
    print(cls, train(optimizer, model)[1], f"{model[0].weight.abs().sum():.3f}")
    print(optimizer)
model = make()
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, history_size=4, max_iter=4)


def closure():
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(X), y)
    loss.backward()
    return loss


for _ in range(3):
    print(f"{optimizer.step(closure).item():.4f}")
