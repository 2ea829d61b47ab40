from typing import Any

from tests.lessons.proofs import leaf, proves

RULES = {
    "`3 * x ** 2`": lambda g, x: 3 * x**2,
    "`g * 3 * x ** 2`": lambda g, x: g * 3 * x**2,
    "`g * x ** 3`": lambda g, x: g * x**3,
    "`g + 3 * x ** 2`": lambda g, x: g + 3 * x**2,
}


def cube(torch: Any, rule: Any) -> Any:
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return rule(g, x)

    return Cube.apply


def passes(torch: Any, function: Any) -> bool:
    """Tell whether gradcheck finds the rule right behind an operation that multiplies by 5."""
    x = torch.tensor([2.0, -1.0], dtype=torch.float64, requires_grad=True)
    return bool(torch.autograd.gradcheck(lambda x: 5 * function(x), (x,), raise_exception=False))


@proves("14.rule")
def _(torch: Any) -> str:
    (right,) = [text for text, rule in RULES.items() if passes(torch, cube(torch, rule))]
    return right


@proves("14.check")
def _(torch: Any) -> str:
    moved: list[float] = []

    def watched(x: Any) -> Any:
        moved.append(x.detach().sum().item())
        return x**3

    assert passes(torch, watched)
    assert any(0 < abs(total - moved[0]) < 1e-3 for total in moved)
    return "with how the result moves when the input is moved a little"


@proves("14.second")
def _(torch: Any) -> str:
    x = leaf(torch, 3.0)
    (first,) = torch.autograd.grad(x**3, x, create_graph=True)
    assert first.item() == 27
    (second,) = torch.autograd.grad(first, x)
    return str(second.item())


@proves("14.without")
def _(torch: Any) -> str:
    x = leaf(torch, 3.0)
    (first,) = torch.autograd.grad(x**3, x)
    try:
        (second,) = torch.autograd.grad(first, x)
    except RuntimeError:
        return "it is an error"
    return f"it gives {second}"


@proves("14.task")
def _(torch: Any) -> str:
    x = leaf(torch, 1.0)
    g = x**4
    for _ in range(3):
        (g,) = torch.autograd.grad(g, x, create_graph=True)
    return str(g.item())
