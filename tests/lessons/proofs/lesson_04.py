import warnings
from itertools import product
from typing import Any

from tests.lessons.proofs import proves


@proves("04.slopes")
def _(torch: Any) -> str:
    x = torch.ones(10, requires_grad=True)
    y = torch.ones(10, 10) @ x
    rows = [torch.autograd.grad(y[i], x, retain_graph=True)[0] for i in range(10)]
    entries = torch.stack(rows).numel()
    assert entries == len(y) * len(x)
    return str(entries * 100 * 100)  # 100 times as many results and as many inputs


@proves("04.vjp")
def _(torch: Any) -> str:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = torch.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]]) @ x
    y.backward(torch.tensor([1.0, 10.0]))
    return str(x.grad[-1].item())


@proves("04.row")
def _(torch: Any) -> str:
    x, b = torch.ones(2, 3), torch.zeros(3, requires_grad=True)
    (x + b).backward(torch.tensor([[1.0, 1.0, 1.0], [0.0, 0.0, 5.0]]))
    return str(b.grad.tolist())


@proves("04.column")
def _(torch: Any) -> str:
    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    g = torch.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, 7.0]])
    c = torch.ones(2, 1, requires_grad=True)
    (x * c).backward(g)
    (answer,) = (
        name
        for name, there in {
            "`(g * x).sum(1, keepdim=True)`": (g * x).sum(1, keepdim=True),
            "`(g * x).sum(1)`": (g * x).sum(1),
            "`(g * x).sum(0)`": (g * x).sum(0),
            "`(g * x).mean(1, keepdim=True)`": (g * x).mean(1, keepdim=True),
        }.items()
        if there.shape == c.grad.shape and torch.allclose(there, c.grad)
    )
    return answer


def the_product(torch: Any, name: str, other: str) -> str:
    """Find the one product of g and the other factor, transposed or not, that is the gradient."""
    torch.manual_seed(0)
    values = {"x": torch.randn(4, 3), "w": torch.randn(3, 2), "g": torch.randn(4, 2)}
    leaf = values[name].requires_grad_()
    (values["x"] @ values["w"]).backward(values["g"])
    answers = []
    for a, b in (("g", other), (other, "g")):
        for left, right in product(("", ".T"), repeat=2):
            one = values[a].T if left else values[a]
            two = values[b].T if right else values[b]
            if one.shape[1] == two.shape[0] and (one @ two).shape == leaf.shape:
                assert torch.allclose(one @ two, leaf.grad)
                answers.append(f"{a}{left} @ {b}{right}")
    (answer,) = answers  # the shapes leave one product alone
    return answer


@proves("04.weight")
def _(torch: Any) -> str:
    return the_product(torch, "w", "x")


@proves("04.input")
def _(torch: Any) -> str:
    return the_product(torch, "x", "w")


@proves("04.passes")
def _(torch: Any) -> str:
    w, passes = torch.linspace(0.0, 0.1, 200), 0
    for i, direction in enumerate(torch.eye(200)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch's own, about torch.jit.script
            _, change = torch.func.jvp(lambda w: (w * w).sum(), (w,), (direction,))
        assert torch.allclose(change, 2 * w[i])
        passes += 1
    return str(passes)


@proves("04.task")
def _(torch: Any) -> str:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    w = torch.tensor([[1.0], [-1.0]], requires_grad=True)
    b = torch.tensor([2.0], requires_grad=True)
    (x @ w + b).sum().backward()
    return str(w.grad.tolist())
