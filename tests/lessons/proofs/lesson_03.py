from typing import Any

from tests.lessons.proofs import leaf, proves


@proves("03.order")
def _(torch: Any) -> str:
    visited: list[str] = []
    x = leaf(torch, 5.0)
    twice = 2 * x
    y = twice + 3
    four = 4 * y
    z = four - 1
    steps = {"`2 * x`": twice, "`2 * x + 3`": y, "`4 * y`": four, "`4 * y - 1`": z}
    for step, tensor in steps.items():
        tensor.register_hook(lambda g, step=step: visited.append(step))
    z.backward()
    assert visited == list(reversed(steps))
    return visited[0]


@proves("03.adds")
def _(torch: Any) -> str:
    w, x = leaf(torch, 3.0), leaf(torch, 4.0)
    (w * x + w).backward()
    return str(w.grad)


@proves("03.again")
def _(torch: Any) -> str:
    w = leaf(torch, 2.0)
    for _ in range(2):
        (3 * w).backward()
    return str(w.grad)


@proves("03.source_claim")
def _(torch: Any) -> str:
    x = torch.randn([3, 3], requires_grad=True)
    y = 2 * x + 3
    y = torch.randn([3, 3], requires_grad=True)
    z = 4 * y - 1
    z.sum().backward()
    assert (y.grad == 4).all()
    if x.grad is None:
        return "`None`: no gradient came to `x`"
    return {
        8.0: "eights: 4 times 2, by the chain rule",
        4.0: "fours: the slope of `4 * y - 1`",
        0.0: "zeros: `z` does not change when `x` does",
    }[x.grad.mean().item()]


@proves("03.mend")
def _(torch: Any) -> str:
    x = torch.randn([3, 3], requires_grad=True)
    z = 4 * (2 * x + 3) - 1
    z.sum().backward()
    assert (x.grad == 8).all()
    return "4 * (2 * x + 3) - 1"


@proves("03.task")
def _(torch: Any) -> str:
    a = leaf(torch, 2.0)
    b = a * a
    (b * a).backward()
    return str(a.grad)
