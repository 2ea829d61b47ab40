"""Optimizers from their formulas, the ready-made ones, and schedules."""

import math

import torch
from torch import nn
from torch.optim import lr_scheduler

torch.manual_seed(3)
data = torch.randn(200, 6, dtype=torch.float32)
data[:, -1] = data[:, :5] @ torch.arange(5.0) + 0.1 * torch.randn(200)
data = (data - data.mean(axis=0)) / data.std(axis=0)


def it(bs=20):
    return torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(data[:, :-1], data[:, -1]), bs, shuffle=True
    )


def sgd(params, states, hp):
    for p in params:
        p.data.sub_(hp["lr"] * p.grad)
        p.grad.data.zero_()


def init_none(d):
    return ()


def init_one(d):
    return torch.zeros((d, 1)), torch.zeros(1)


def init_two(d):
    return ((torch.zeros((d, 1)), torch.zeros((d, 1))), (torch.zeros(1), torch.zeros(1)))


def momentum(params, states, hp):
    for p, v in zip(params, states):
        with torch.no_grad():
            v[:] = hp["momentum"] * v + p.grad
            p[:] -= hp["lr"] * v
        p.grad.data.zero_()


def adagrad(params, states, hp):
    for p, s in zip(params, states):
        with torch.no_grad():
            s[:] += torch.square(p.grad)
            p[:] -= hp["lr"] * p.grad / torch.sqrt(s + 1e-6)
        p.grad.data.zero_()


def rmsprop(params, states, hp):
    for p, s in zip(params, states):
        with torch.no_grad():
            s[:] = 0.9 * s + 0.1 * torch.square(p.grad)
            p[:] -= hp["lr"] * p.grad / torch.sqrt(s + 1e-6)
        p.grad.data.zero_()


def adadelta(params, states, hp):
    rho, eps = 0.9, 1e-5
    for p, (s, delta) in zip(params, states):
        with torch.no_grad():
            s[:] = rho * s + (1 - rho) * torch.square(p.grad)
            g = (torch.sqrt(delta + eps) / torch.sqrt(s + eps)) * p.grad
            p[:] -= g
            delta[:] = rho * delta + (1 - rho) * g * g
        p.grad.data.zero_()


def adam(params, states, hp):
    beta1, beta2, eps = 0.9, 0.999, 1e-6
    for p, (v, s) in zip(params, states):
        with torch.no_grad():
            v[:] = beta1 * v + (1 - beta1) * p.grad
            s[:] = beta2 * s + (1 - beta2) * torch.square(p.grad)
            p[:] -= (
                hp["lr"]
                * (v / (1 - beta1 ** hp["t"]))
                / (torch.sqrt(s / (1 - beta2 ** hp["t"])) + eps)
            )
        p.grad.data.zero_()
    hp["t"] += 1


def yogi(params, states, hp):
    for p, (v, s) in zip(params, states):
        with torch.no_grad():
            v[:] = 0.9 * v + 0.1 * p.grad
            s[:] = s + 0.001 * torch.sign(torch.square(p.grad) - s) * torch.square(p.grad)
            p[:] -= (
                hp["lr"]
                * (v / (1 - 0.9 ** hp["t"]))
                / (torch.sqrt(s / (1 - 0.999 ** hp["t"])) + 1e-3)
            )
        p.grad.data.zero_()
    hp["t"] += 1


def train(fn, states, hp):
    w = torch.normal(mean=0.0, std=0.01, size=(5, 1), requires_grad=True)
    b = torch.zeros((1), requires_grad=True)
    for X, y in it():
        l = (torch.matmul(X, w) + b - y.reshape(-1, 1)).pow(2).div(2).mean()
        l.backward()
        fn([w, b], states, hp)
    print(fn.__name__, f"{l.item():.4f}", w.detach().flatten())


train(sgd, init_none(5), {"lr": 0.1})
train(momentum, init_one(5), {"lr": 0.02, "momentum": 0.5})
train(adagrad, init_one(5), {"lr": 0.1})
train(rmsprop, init_one(5), {"lr": 0.01})
train(adadelta, init_two(5), {})
train(adam, init_two(5), {"lr": 0.01, "t": 1})
train(yogi, init_two(5), {"lr": 0.01, "t": 1})


def concise(trainer_fn, hyperparams):
    net = nn.Sequential(nn.Linear(5, 1))

    def init_weights(m):
        if type(m) == nn.Linear:
            torch.nn.init.normal_(m.weight, std=0.01)

    net.apply(init_weights)
    opt = trainer_fn(net.parameters(), **hyperparams)
    loss = nn.MSELoss(reduction="none")
    for X, y in it():
        opt.zero_grad()
        out = net(X)
        y = y.reshape(out.shape)
        l = loss(out, y)
        l.mean().backward()
        opt.step()
    print(trainer_fn.__name__, l.mean(), [f"{p.norm():.5f}" for p in net.parameters()])


for fn, hp in (
    (torch.optim.SGD, dict(lr=0.05, momentum=0.9, nesterov=True)),
    (torch.optim.Adagrad, dict(lr=0.1)),
    (torch.optim.RMSprop, dict(lr=0.01, alpha=0.9, centered=True)),
    (torch.optim.Adadelta, dict(rho=0.9)),
    (torch.optim.Adam, dict(lr=0.01, amsgrad=True)),
    (torch.optim.AdamW, dict(lr=0.01)),
    (torch.optim.NAdam, dict(lr=0.01)),
    (torch.optim.RAdam, dict(lr=0.01)),
    (torch.optim.Adamax, dict()),
    (torch.optim.Rprop, dict(lr=0.01)),
    (torch.optim.ASGD, dict(lr=0.01)),
    (torch.optim.SGD, dict(lr=0.05, maximize=False, foreach=False)),
    (
        torch.optim.Adam,
        dict(lr=torch.tensor(0.01), capturable=False, differentiable=False, fused=None),
    ),
):
    concise(fn, hp)


class SquareRootScheduler:
    def __init__(self, lr=0.1):
        self.lr = lr

    def __call__(self, num_update):
        return self.lr * pow(num_update + 1.0, -0.5)


class FactorScheduler:
    def __init__(self, factor=1, stop=1e-7, base=0.1):
        self.factor, self.stop, self.base_lr = factor, stop, base

    def __call__(self, n):
        self.base_lr = max(self.stop, self.base_lr * self.factor)
        return self.base_lr


class CosineScheduler:
    def __init__(self, max_update, base_lr=0.01, final_lr=0, warmup_steps=0, warmup_begin_lr=0):
        self.base_lr_orig, self.max_update, self.final_lr, self.warmup_steps, self.begin = (
            base_lr,
            max_update,
            final_lr,
            warmup_steps,
            warmup_begin_lr,
        )
        self.max_steps = max_update - warmup_steps
        self.base_lr = base_lr

    def __call__(self, epoch):
        if epoch < self.warmup_steps:
            return self.begin + (self.base_lr_orig - self.begin) * epoch / self.warmup_steps
        if epoch <= self.max_update:
            self.base_lr = (
                self.final_lr
                + (self.base_lr_orig - self.final_lr)
                * (1 + math.cos(math.pi * (epoch - self.warmup_steps) / self.max_steps))
                / 2
            )
        return self.base_lr


net = nn.Linear(2, 1)
trainer = torch.optim.SGD(net.parameters(), lr=0.5)
for sched in (
    SquareRootScheduler(0.1),
    FactorScheduler(0.9, 1e-2, 2.0),
    CosineScheduler(8, 0.3, 0.01, 3),
):
    out = []
    for e in range(9):
        for pg in trainer.param_groups:
            pg["lr"] = sched(e)
        out.append(round(trainer.param_groups[0]["lr"], 4))
    print(out)
for make in (
    lambda o: lr_scheduler.MultiStepLR(o, milestones=[2, 4], gamma=0.5),
    lambda o: lr_scheduler.OneCycleLR(o, 0.1, total_steps=8),
    lambda o: lr_scheduler.LambdaLR(o, lambda e: 0.9**e),
    lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 3, 2),
    lambda o: lr_scheduler.SequentialLR(
        o, [lr_scheduler.LinearLR(o, 0.1, total_iters=3), lr_scheduler.ExponentialLR(o, 0.5)], [3]
    ),
    lambda o: lr_scheduler.CyclicLR(o, 0.01, 0.1, step_size_up=3, mode="triangular2"),
    lambda o: lr_scheduler.PolynomialLR(o, 6, 2.0),
    lambda o: lr_scheduler.ConstantLR(o, 0.3, 3),
    lambda o: lr_scheduler.ChainedScheduler(
        [lr_scheduler.StepLR(o, 2), lr_scheduler.ExponentialLR(o, 0.9)]
    ),
    lambda o: lr_scheduler.MultiplicativeLR(o, lambda e: 0.8),
):
    trainer = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.8)
    s = make(trainer)
    out = []
    for e in range(7):
        trainer.step()
        out.append(round(float(trainer.param_groups[0]["lr"]), 5))
        s.step()
    print(type(s).__name__, out, [round(float(v), 5) for v in s.get_last_lr()])
plateau = lr_scheduler.ReduceLROnPlateau(
    trainer, "min", factor=0.2, patience=1, threshold=1e-3, cooldown=1, min_lr=1e-4
)
out = []
for v in (1.0, 0.9, 0.9, 0.9, 0.95, 0.5, 0.6, 0.6, 0.6):
    plateau.step(v)
    out.append((trainer.param_groups[0]["lr"], plateau.num_bad_epochs))
print(out, plateau.state_dict()["best"])
x1, x2, s1, s2 = -5.0, -2.0, 0, 0


def f_2d_grad(x1, x2):
    return 0.2 * x1, 4 * x2


f = lambda x: torch.cos(torch.tensor(0.15 * math.pi) * x) * x
xs = torch.linspace(-10, 10, 5)
print(f(xs), f(torch.tensor(3.0)), f(2))
x = torch.tensor([-5.0, -2.0], requires_grad=True)
for i in range(5):
    y = 0.1 * x[0] ** 2 + 2 * x[1] ** 2
    y.backward()
    with torch.no_grad():
        x -= 0.1 * (x.grad + 0.0 * torch.normal(0.0, 1, (2,)))
        x.grad.zero_()
print(
    x,
    torch.linalg.eigvalsh(
        torch.autograd.functional.hessian(lambda v: 0.1 * v[0] ** 2 + 2 * v[1] ** 2, x.detach())
    ),
)
lams = torch.tensor([0.1, 1, 10, 19])
print(*[(1 - 0.1 * l) ** torch.arange(4) for l in lams], sep="\n")
A = torch.zeros(16, 16)
B = torch.randn(16, 16)
C = torch.randn(16, 16)
for i in range(16):
    for j in range(16):
        A[i, j] = torch.dot(B[i, :], C[:, j])
print(torch.allclose(A, torch.mm(B, C), atol=1e-4))
for j in range(0, 16, 4):
    A[:, j : j + 4] = torch.mm(B, C[:, j : j + 4])
print(A.sum())
