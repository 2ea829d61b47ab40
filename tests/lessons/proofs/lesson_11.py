from typing import Any

from tests.lessons.proofs import leaf, nodes_of_operations, proves


def is_ordinary(tensor: Any) -> bool:
    return bool((tensor.abs() < 1e38).all())


@proves("11.first")
def _(torch: Any) -> str:
    x = torch.tensor([1.0, 2.0, 3.0])
    w = torch.tensor([10.0, 20.0, 30.0], requires_grad=True)
    h = w * x
    e = h.exp()
    p = e / e.sum()
    assert h.tolist() == [10.0, 40.0, 90.0]
    assert e[2] > 3.4e38 and p.isnan().any() and not e.isnan().any()
    steps = {"`w * x`": h, "`h.exp()`": e, "`e.sum()`": e.sum(), "`e / e.sum()`": p}
    return next(step for step, tensor in steps.items() if not is_ordinary(tensor))


@proves("11.grad")
def _(torch: Any) -> str:
    x = torch.zeros(2, requires_grad=True)
    y = (x * x).sum().sqrt()
    y.backward()
    assert y.item() == 0
    return "`nan`, twice" if x.grad.isnan().all() else str(x.grad)


@proves("11.hook")
def _(torch: Any) -> str:
    x = torch.zeros(2, requires_grad=True)
    s = (x * x).sum()
    s.register_hook(lambda g: g.clamp(max=1000.0))
    s.sqrt().backward()
    assert x.grad[0] == x.grad[1]
    return str(x.grad[0].item())


@proves("11.alter")
def _(torch: Any) -> str:
    x = leaf(torch, 5.0)
    result = x
    for layer in (torch.exp, torch.exp, torch.tanh):
        y = layer(result)
        if y > 1e6:
            continue
        result = y
    return str(len(nodes_of_operations(result)))


@proves("11.task")
def _(torch: Any) -> str:
    x = leaf(torch, 0.0)
    torch.where(x > 0, x.sqrt(), x).backward()
    return "`nan`" if x.grad.isnan() else str(x.grad.item())
