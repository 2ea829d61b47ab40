"""Gradients asked for in all ways: accumulated, by Functions, hooks, Jacobians, saved tensors."""

import math
import warnings

import torch
from torch.autograd import Function, Variable, grad, gradcheck
from torch.autograd.functional import hessian, jacobian, vjp

x = torch.ones(5)
y = torch.zeros(3)
w = (torch.arange(15.0) * 0.3).sin().reshape(5, 3).requires_grad_()
b = torch.tensor([0.1, -0.2, 0.3], requires_grad=True)
z = torch.matmul(x, w) + b
loss = torch.nn.functional.binary_cross_entropy_with_logits(z, y)
print(f"Gradient function for z = {z.grad_fn.name()}", loss.grad_fn.name())
loss.backward()
print(w.grad, b.grad)
with torch.no_grad():
    z = torch.matmul(x, w) + b
print(z.requires_grad, z.detach() is z)
inp = torch.eye(4, 5, requires_grad=True)
out = (inp + 1).pow(2).t()
out.backward(torch.ones_like(out), retain_graph=True)
print(f"First call\n{inp.grad}")
out.backward(torch.ones_like(out), retain_graph=True)
print(f"\nSecond call\n{inp.grad}")
inp.grad.zero_()
out.backward(torch.ones_like(out))
print(inp.grad)


class Legendre(Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return 0.5 * (5 * input**3 - 3 * input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        return grad_output * 1.5 * (5 * input**2 - 1)


dtype, device = torch.float, torch.device("cpu")
xs = torch.linspace(-math.pi, math.pi, 200, device=device, dtype=dtype)
ys = torch.sin(xs)
a, bb, c, d = (
    torch.full((), v, device=device, dtype=dtype, requires_grad=True) for v in (0.0, -1.0, 0.0, 0.3)
)
for t in range(30):
    P3 = Legendre.apply
    y_pred = a + bb * P3(c + d * xs)
    loss = (y_pred - ys).pow(2).sum()
    if t % 10 == 9:
        print(t, loss.item())
    loss.backward()
    with torch.no_grad():
        for q in (a, bb, c, d):
            q -= 5e-6 * q.grad
            q.grad = None
print(f"Result: y = {a.item():.5f} + {bb.item():.5f} * P3({c.item():.5f} + {d.item():.5f} x)")
print(gradcheck(Legendre.apply, torch.tensor([0.3, -0.5], dtype=torch.double, requires_grad=True)))
p = torch.tensor([1, 2, 3])
xx = xs.unsqueeze(-1).pow(p)
model = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Flatten(0, 1))
with torch.no_grad():
    model[0].weight.copy_(torch.tensor([[0.1, 0.2, -0.1]]))
    model[0].bias.zero_()
loss_fn = torch.nn.MSELoss(reduction="sum")
opt = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for t in range(20):
    loss = loss_fn(model(xx), ys)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.3f}", model[0].bias, model[0].weight[:, 0].item().__round__(5))
v = torch.tensor([1.0, 2.0], requires_grad=True)
h = v.register_hook(lambda g: g * 2)
q = (v**3).sum()
q.backward()
print(v.grad)
h.remove()
print(
    jacobian(lambda t: t.exp() * t.sum(), v.detach()), hessian(lambda t: (t**3).sum(), v.detach())
)
print(vjp(lambda t: t * 2, v.detach(), torch.ones(2)))
(g1,) = grad((v**4).sum(), v, create_graph=True)
(g2,) = grad(g1.sum(), v, create_graph=True)
print(g1, g2, grad(g2.sum(), v))
mid = v * 3
mid.retain_grad()
mid.pow(2).mean().backward()
print(mid.grad, v.grad, mid.is_leaf, mid.grad_fn.next_functions[0][0].name())
try:
    v.add_(1)
except RuntimeError as e:
    print(str(e).splitlines()[0])
try:
    s = v.sigmoid()
    s2 = s * 2
    s.mul_(0)
    s2.sum().backward()
    t = v.exp()
    t.mul_(2)
    t.sum().backward()
except RuntimeError as e:
    print(str(e).splitlines()[0][:90])


class Bad(Function):
    @staticmethod
    def forward(ctx, i):
        return i.clone()

    @staticmethod
    def backward(ctx, g):
        raise RuntimeError("Some error in backward")


warnings.simplefilter("ignore")
try:
    with torch.autograd.detect_anomaly(check_nan=True):
        Bad.apply(v).sum().backward()
except RuntimeError as e:
    print(e)


class DynamicNet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Parameter(torch.tensor(0.5))
        self.e = torch.nn.Parameter(torch.tensor(0.1))

    def forward(self, x, n):
        y = self.a * x
        for exp in range(4, 4 + n):
            y = y + self.e * x**exp
        return y

    def string(self):
        return f"y = {self.a.item()} + {self.e.item()} x^4 ?"


net = DynamicNet()
net(xs[:3], 2).sum().backward()
print(net.string(), net.a.grad, net.e.grad)
saved = []
with torch.autograd.graph.saved_tensors_hooks(lambda t: (saved.append(t.shape), t)[1], lambda t: t):
    r = (v * v).exp()
r.sum().backward()
print(saved, v.grad)
print(Variable(torch.ones(2), requires_grad=True).requires_grad, torch.is_grad_enabled())
