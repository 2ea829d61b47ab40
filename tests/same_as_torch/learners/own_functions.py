import math

import numpy as np
import torch
from torch.autograd import Function, gradcheck, gradgradcheck
from torch.autograd.function import once_differentiable


class LegendrePolynomial3(Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return 0.5 * (5 * input**3 - 3 * input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        return grad_output * 1.5 * (5 * input**2 - 1)


dtype, device = torch.float, torch.device("cpu")
x = torch.linspace(-math.pi, math.pi, 200, device=device, dtype=dtype)
y = torch.sin(x)
a, b, c, d = (
    torch.full((), v, device=device, dtype=dtype, requires_grad=True) for v in (0.0, -1.0, 0.0, 0.3)
)
learning_rate = 5e-5
for t in range(60):
    P3 = LegendrePolynomial3.apply
    y_pred = a + b * P3(c + d * x)
    loss = (y_pred - y).pow(2).sum()
    if t % 20 == 19:
        print(t, f"{loss.item():.4f}")
    loss.backward()
    with torch.no_grad():
        for p in (a, b, c, d):
            p -= learning_rate * p.grad
            p.grad = None
print(f"Result: {b.item():.3f} * P3({d.item():.3f} x)")


class Sort(Function):
    @staticmethod
    def forward(ctx, x, dim):
        ind = np.argsort(x.numpy(), axis=dim)
        ctx.mark_non_differentiable(torch.tensor(ind))
        ctx.save_for_backward(torch.tensor(ind))
        ctx.dim = dim
        return torch.tensor(np.take_along_axis(x.numpy(), ind, axis=dim))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (ind,) = ctx.saved_tensors
        return torch.zeros_like(g).scatter_(ctx.dim, ind, g), None


x = torch.tensor([3.0, 1.0, 2.0], dtype=torch.double, requires_grad=True)
out = Sort.apply(x, 0)
(out * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
print(out, x.grad, gradcheck(lambda x: Sort.apply(x, 0), x))


class STE(Function):
    @staticmethod
    def forward(x, threshold):
        return (x > threshold).float()

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.threshold = inputs
        ctx.save_for_backward(x)
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, g):
        if g is None:
            return None, None
        (x,) = ctx.saved_tensors
        return torch.where(x.abs() < 1, g, torch.zeros_like(g)), None


x = torch.linspace(-2, 2, 5, requires_grad=True)
STE.apply(x, 0.0).sum().backward()
print(x.grad, STE.apply(x, 0.0).grad_fn.name())


class Exp(Function):
    @staticmethod
    def forward(ctx, i):
        result = i.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, g):
        (result,) = ctx.saved_tensors
        return g * result


x = torch.randn(3, dtype=torch.double, requires_grad=True, generator=None)
print(gradcheck(Exp.apply, (x,), eps=1e-6, atol=1e-4), gradgradcheck(Exp.apply, x))


class Bad(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 3


try:
    gradcheck(Bad.apply, torch.ones(1, dtype=torch.double, requires_grad=True))
except Exception as e:
    print(type(e).__name__, str(e).splitlines()[0])
print(
    gradcheck(
        Bad.apply, torch.ones(1, dtype=torch.double, requires_grad=True), raise_exception=False
    )
)


class MulAdd(Function):
    @staticmethod
    def forward(ctx, x, y, scale=2):
        ctx.save_for_backward(x, y)
        ctx.scale = scale
        return x * y, x + y

    @staticmethod
    def backward(ctx, g1, g2):
        x, y = ctx.saved_tensors
        print(ctx.needs_input_grad)
        gx = g1 * y + g2 if ctx.needs_input_grad[0] else None
        return gx, g1 * x + g2, None


x, y = torch.tensor(3.0), torch.tensor(4.0, requires_grad=True)
p, s = MulAdd.apply(x, y, 5)
(p + 2 * s).backward()
print(y.grad, p.grad_fn is s.grad_fn, p.requires_grad)


class InPlace(Function):
    @staticmethod
    def forward(ctx, x):
        x.add_(1)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g


z = torch.zeros(2, requires_grad=True) * 1
w = InPlace.apply(z)
print(w is z, z, z._version)
for wrong in (
    lambda: Bad.apply(),
    lambda: Bad()(x),
    lambda: Bad.forward(None, y).backward(),
    lambda: MulAdd.apply(y),
):
    try:
        print(wrong())
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[0])
