"""Hooks: when they are called, with what, and what their results do."""

from typing import Any

import pytest

import autodiff_kit as torch
from autodiff_kit.tensor import Tensor


def leaf() -> Tensor:
    return torch.tensor([1.0, 2.0], requires_grad=True)


def test_a_hook_sees_the_whole_gradient() -> None:
    x, gradients = leaf(), []
    y = x * 1
    y.register_hook(lambda g: gradients.append(g.tolist()))

    (y * 3 + y * 4).sum().backward()

    assert gradients == [[7.0, 7.0]]


def test_what_a_hook_returns_flows_on() -> None:
    x = leaf()
    y = x * 2
    y.register_hook(lambda g: g * 10)

    y.sum().backward()

    assert x.grad is not None
    assert x.grad.tolist() == [20.0, 20.0]


def test_hooks_run_in_the_order_of_registration() -> None:
    x, order = leaf(), []
    for name in "abc":
        x.register_hook(lambda g, name=name: order.append(name))

    x.sum().backward()

    assert order == ["a", "b", "c"]


def test_retain_grad_keeps_what_the_hooks_have_made() -> None:
    x = leaf()
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 10)

    y.sum().backward()

    assert y.grad is not None
    assert y.grad.tolist() == [10.0, 10.0]


def test_a_removed_hook_is_not_called_and_may_be_removed_again() -> None:
    x, gradients = leaf(), []
    handle = x.register_hook(lambda g: gradients.append(g))
    handle.remove()
    handle.remove()

    x.sum().backward()

    assert gradients == []


def test_a_hook_may_remove_itself_while_it_runs() -> None:
    x, gradients = leaf(), []

    def once(g: Tensor) -> None:
        gradients.append(g)
        handle.remove()

    handle = x.register_hook(once)
    for _ in range(2):
        x.sum().backward()

    assert len(gradients) == 1


def test_post_accumulate_hooks_see_the_sum() -> None:
    x, gradients = leaf(), []
    x.grad = torch.tensor([5.0, 5.0])
    x.register_post_accumulate_grad_hook(lambda t: gradients.append(t.grad.tolist()))

    (x * 2).sum().backward()

    assert gradients == [[7.0, 7.0]]


def test_hooks_are_not_recorded() -> None:
    x = leaf()
    y = x * 2
    y.register_hook(lambda g: g * g)

    (g,) = torch.autograd.grad(y.sum(), x)

    assert not g.requires_grad


def test_hooks_are_recorded_under_create_graph() -> None:
    x = leaf()
    y = x * x
    handle = y.register_hook(lambda g: g * g)

    (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    handle.remove()

    # dy = (2 x^2)^2, so g = 4 x^4 * 2 x = 8 x^5 and its derivative is 40 x^4
    assert torch.autograd.grad(g.sum(), x)[0].tolist() == [40.0, 640.0]


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (3, "expected Variable, but hook returned 'int'"),
        (torch.ones(3), "hook 'wrong' has changed the size of value"),
        (torch.ones(2).double(), "hook 'wrong' has changed the type of value"),
    ],
)
def test_a_hook_that_returns_something_else_is_refused(returned: Any, words: str) -> None:
    x = leaf()

    def wrong(g: Tensor) -> Any:
        return returned

    x.register_hook(wrong)

    with pytest.raises((TypeError, RuntimeError), match=f"^{words}"):
        x.sum().backward()


def test_a_leaf_changed_by_its_hook_is_noticed_by_those_who_saved_it() -> None:
    v = torch.tensor([1.0, 2.0])
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    product = v * w  # saves v
    v.requires_grad_()

    def step(t: Tensor) -> None:
        with torch.no_grad():
            t.add_(1)

    v.register_post_accumulate_grad_hook(step)

    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        (v.sum() + product.sum()).backward()


@pytest.mark.parametrize("is_leaf", [True, False])
def test_hooks_outlive_detach_in_place_and_are_called_when_it_requires_grad_again(
    is_leaf: bool,
) -> None:
    """PyTorch 2.13.0 calls the hook in the later pass; `remove` ends that."""
    gradients: list[list[float]] = []
    x = leaf() if is_leaf else leaf() * 1
    handle = x.register_hook(lambda g: gradients.append(g.tolist()))

    x.detach_().requires_grad_()
    (x * 2).sum().backward()
    handle.remove()
    (x * 2).sum().backward()

    assert gradients == [[2.0, 2.0]]
