"""Tensors made under inference_mode: what may be saved, what is recorded, which gradients are."""

import pytest

from tests.autograd.programs import check

pytestmark = pytest.mark.parity

GIVEN = """
with torch.inference_mode():
    i, e = torch.ones(2), torch.ones(2, requires_grad=True)
n = torch.ones(2)
F = torch.nn.functional

def made(function):
    def about():
        out = function()
        return out, out.requires_grad, out.is_inference()
    attempt(about)
"""

SAVED = """
    a * i; a + i; a / i; i / a; a % i; i % a; a // i; a.div(i, rounding_mode="floor")
    i.div(a, rounding_mode="trunc"); torch.where(i > 0, a, i); a.masked_fill(i > 0, 1.)
    a ** i; i ** a; torch.maximum(a, i); a.clamp(min=i); i.clamp(min=a); a.dot(i); torch.outer(i, a)
    torch.cat([a, i]); F.mse_loss(a, i); F.huber_loss(i, a); F.l1_loss(a, i); d * i; a * i.double()
    F.linear(a, i.view(1, 2)); i.view(2, 1) @ a.view(1, 2); (a * 1).mul_(i); (a * 1).add_(i)
    (a * 1).copy_(i); i.index_add(0, torch.tensor([0, 1]), a)
"""
RECORDED = """
    e + e; e * 2; e + 1; e ** 2; -e; 1 / e; e.sum(); e.sin(); n + e; n * e; a + e; a * e
    e.view(1, 2); e[0]; e.t(); torch.cat([e, e]); torch.cat([e, n]); torch.where(n > 0, e, e)
"""
PROGRAMS = {
    "gradients made in inference mode are inference tensors": """
        loss = (a * a).sum()
        with torch.inference_mode():
            g, = torch.autograd.grad(loss, a, create_graph=True)
            print(g.is_inference(), g.requires_grad)
            loss.backward()
        print(a.grad, a.grad.is_inference(), a.grad.requires_grad)
        attempt(lambda: (a * 2).sum().backward())
    """,
    "so are those that grad() returns and hooks see": """
        y = a * b
        y.retain_grad()
        y.register_hook(lambda g: print("hook", g.is_inference()))
        loss = y.sum()
        with torch.inference_mode():
            for g in torch.autograd.grad(loss, [a, d], retain_graph=True, materialize_grads=True):
                print(g, g.is_inference(), g.requires_grad)
            loss.backward()
        print(y.grad.is_inference(), a.grad.is_inference())
    """,
    "they are added to what is there in place": """
        (a * 2).sum().backward()
        before, loss = a.grad, (a * 3).sum()
        with torch.inference_mode():
            loss.backward()
        print(before, before.is_inference(), before._version)
    """,
    "views of inference tensors are no views": """
        with torch.inference_mode():
            x = torch.ones(2, 3)
            y, n = x[0], a.view(1, 2)
        for t in (y, x[1], x.view(-1), x.t(), x.detach(), n):
            print(t._base is None, t.is_inference(), t.requires_grad)
        print(x[0].detach_() is x)
        attempt(lambda: n.add_(1))
        with torch.inference_mode(): x[1].mul_(3)
        print(x, y)
        def assign(key): x[key] = a[0]
        for key in (0, (..., None), x > 0): attempt(lambda: assign(key))
    """,
    "checkpoint saves its arguments": """
        from importlib import import_module
        checkpoint = import_module(torch.__name__ + ".utils.checkpoint").checkpoint
        attempt(lambda: checkpoint(lambda x: x * 2, i, use_reentrant=False))
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_print_the_same(name: str) -> None:
    check(PROGRAMS[name], GIVEN)


@pytest.mark.parametrize(
    "text", [t.strip() for t in (SAVED + RECORDED).replace("\n", ";").split(";")]
)
def test_both_save_and_record_the_same(text: str) -> None:
    if text:
        check(f"made(lambda: {text})", GIVEN)
