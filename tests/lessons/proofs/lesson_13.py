from typing import Any

import pytest

from tests.lessons.proofs import leaf, name, proves


@proves("13.cut")
def _(torch: Any) -> str:
    def run(recording: bool, x_wants: bool) -> bool:
        w = torch.tensor([2.0, -1.0], requires_grad=True)
        x = torch.tensor([3.0, 4.0], requires_grad=x_wants)
        with torch.set_grad_enabled(recording):
            h = w * x
        loss = (h - 1).pow(2).sum()
        return bool(loss.requires_grad)

    assert not run(False, False) and not run(False, True)
    return "`with torch.no_grad():`" if run(True, False) else ""


@proves("13.twice")
def _(torch: Any) -> str:
    x = leaf(torch, 3.0)
    h = x.exp()
    first, second = h * 2, h + 5
    visited: list[str] = []
    h.grad_fn.register_prehook(lambda g: visited.append("`x.exp()`"))
    first.backward()
    visited.clear()
    second.grad_fn.register_prehook(lambda g: visited.append("`h + 5`"))
    with pytest.raises(RuntimeError, match="a second time"):
        second.backward()
    assert len(visited) == 2
    return visited[-1]


@proves("13.changed")
def _(torch: Any) -> str:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = x.exp()
    y = h * x
    expressions = {"MulBackward0": "`h * x`", "ExpBackward0": "`x.exp()`"}
    visited: list[str] = []
    for node in (y.grad_fn, h.grad_fn):
        node.register_prehook(lambda g, node=node: visited.append(str(name(node))))
    h += 1
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        y.sum().backward()
    return expressions[visited[-1]]


@proves("13.leaf")
def _(torch: Any) -> str:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    (w * w).sum().backward()
    assert not (0.1 * w.grad).requires_grad  # this may be used
    with pytest.raises(RuntimeError, match="in-place operation"):
        w -= 0.1 * w.grad
    with torch.no_grad():
        w -= 0.1 * w.grad
    return "an error: the change would be part of what is recorded"


@proves("13.result")
def _(torch: Any) -> str:
    w = torch.ones(3, requires_grad=True) * 0.5
    with pytest.raises(ValueError, match="non-leaf"):
        torch.optim.SGD([w], lr=0.1)
    torch.optim.SGD([(torch.ones(3) * 0.5).requires_grad_()], lr=0.1)
    assert w.requires_grad
    return "" if w.is_leaf else "`w` is the result of `* 0.5`, and no leaf"


@proves("13.task")
def _(torch: Any) -> str:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    total = (x * 2).sum()
    assert total.requires_grad
    h = torch.tensor([total.item()])
    loss = (h * w).sum()
    loss.backward()
    assert x.grad is None and w.grad is not None
    return "" if h.requires_grad else "at `.item()`"
