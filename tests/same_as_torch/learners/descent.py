"""Gradient descent by hand: a line, a logistic curve, and Rosenbrock's valley."""

import torch

torch.manual_seed(0)

# A line through points.
x = torch.linspace(-1, 1, 21)
y = 3 * x - 0.5 + 0.1 * torch.randn(21)
w = torch.zeros(1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for epoch in range(30):
    loss = ((w * x + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.3 * w.grad
        b -= 0.3 * b.grad
    w.grad.zero_()
    b.grad.zero_()
    if epoch % 10 == 0:
        print(epoch, round(loss.item(), 4), w, b)
print(loss)

# Logistic regression with one matrix of weights, momentum, and gradients from grad().
data = torch.randn(40, 3)
target = (data @ torch.tensor([1.0, -2.0, 0.5]) > 0).float()
weight = torch.randn(3, requires_grad=True)
velocity = torch.zeros_like(weight)
for i in range(25):
    p = torch.sigmoid(data @ weight)
    nll = -(target * torch.log(p + 1e-7) + (1 - target) * torch.log(1 - p + 1e-7)).mean()
    (g,) = torch.autograd.grad(nll, weight)
    velocity = 0.9 * velocity - 0.1 * g
    weight = (weight + velocity).detach().requires_grad_()
print(f"{nll.item():.4f}", weight)
print(((p > 0.5) == target.bool()).float().mean())


# Rosenbrock's function, by descent and by Newton's method.
def rosenbrock(v):
    return (1 - v[0]) ** 2 + 100 * (v[1] - v[0] ** 2) ** 2


v = torch.tensor([-1.2, 1.0], dtype=torch.float64, requires_grad=True)
path = [v.detach().clone()]
for _ in range(50):
    f = rosenbrock(v)
    f.backward()
    v.data.sub_(1e-3 * v.grad)
    v.grad = None
    path.append(v.detach().clone())
print(torch.stack(path)[::10])

v = torch.tensor([-1.2, 1.0], dtype=torch.float64, requires_grad=True)
for i in range(4):
    (g,) = torch.autograd.grad(rosenbrock(v), v, create_graph=True)
    rows = [torch.autograd.grad(part, v, retain_graph=True)[0] for part in g]
    H = torch.stack(rows)
    det = H[0, 0] * H[1, 1] - H[0, 1] * H[1, 0]
    inverse = (
        torch.stack([torch.stack([H[1, 1], -H[0, 1]]), torch.stack([-H[1, 0], H[0, 0]])]) / det
    )
    v = (v - inverse @ g).detach().requires_grad_(True)
    print(i, v, f"{rosenbrock(v).item():.6f}")

# What goes wrong, and how it says so.
try:
    w -= 0.1 * w.grad
except RuntimeError as error:
    print(str(error).split("\n")[0])
try:
    loss.backward()
except RuntimeError as error:
    print(str(error).split("\n")[0])
try:
    (w * x).backward()
except RuntimeError as error:
    print(str(error).split("\n")[0])
print(w.grad, (w * x).detach().requires_grad, x.grad)
