"""What a graph holds, and for how long: no cycles, no leftovers, no shared gradients.

Python frees what nobody refers to at once; only cycles wait for the garbage collector. So these
tests switch it off and look whether things are gone.
"""

import gc
import subprocess
import sys
import tracemalloc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autodiff_kit as torch
from autodiff_kit.core.op import OPS
from autodiff_kit.tensor import Tensor


@pytest.fixture(autouse=True)
def no_garbage_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def leaf(*shape: int) -> Tensor:
    return torch.ones(shape, requires_grad=True)


def watch(tensor: Tensor) -> "weakref.ref[Tensor]":
    return weakref.ref(tensor)


# -- tensors and graphs go with their last reference -----------------------------------------------


def test_a_graph_goes_with_its_output() -> None:
    x = leaf(3)
    hidden = (x * 2).exp()
    inside = watch(hidden)
    y = hidden.sin().sum()
    assert hidden.grad_fn is not None
    node = hidden.grad_fn
    held_by = sys.getrefcount(node)

    del hidden
    assert inside() is None  # a tensor in between is not needed by the graph
    del y

    assert sys.getrefcount(node) == held_by - 2  # neither the tensor nor the next node holds it


def test_a_leaf_goes_although_its_graph_lives() -> None:
    x = leaf(3)
    reference = watch(x)
    y = (x * 2).sum()

    del x

    assert reference() is None
    y.backward()


@pytest.mark.parametrize("retain_graph", [False, True])
def test_outputs_go_after_backward(retain_graph: bool) -> None:
    x = leaf(3)
    y = (x * x).sum()
    reference = watch(y)

    y.backward(retain_graph=retain_graph)
    del y

    assert reference() is None


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph")
def test_gradients_with_a_graph_make_no_cycle() -> None:
    x = leaf(3)
    y = (x * x * x).sum()
    y.backward(create_graph=True)
    assert x.grad is not None
    assert x.grad.grad_fn is not None
    references = [watch(x), watch(x.grad), watch(y)]

    del x, y

    assert [reference() for reference in references] == [None, None, None]


def test_gradients_of_gradients_make_no_cycle() -> None:
    x = leaf(3)
    (g,) = torch.autograd.grad((x.exp() * x).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x, create_graph=True)
    references = [watch(t) for t in (x, g, h)]

    del x, g, h

    assert [reference() for reference in references] == [None, None, None]


def test_hooks_make_no_cycle() -> None:
    x = leaf(3)
    y = x * 2
    y.register_hook(lambda g: g * 2)
    x.register_hook(lambda g: None)
    x.register_post_accumulate_grad_hook(lambda tensor: None)
    y.retain_grad()
    y.sum().backward()
    assert y.grad is not None
    references = [watch(t) for t in (x, y, y.grad)]

    del x, y

    assert [reference() for reference in references] == [None, None, None]


def test_a_handle_keeps_no_tensor_alive() -> None:
    x = leaf(3)
    handle = x.register_hook(lambda g: None)
    reference = watch(x)

    del x

    assert reference() is None
    handle.remove()


def test_views_and_changes_in_place_make_no_cycle() -> None:
    x = leaf(3)
    y = x * 1
    view = y[1:]
    view *= 2
    y += 1
    references = [watch(t) for t in (x, y, view)]

    del y
    assert references[1]() is not None  # a view needs its base
    del x, view

    assert [reference() for reference in references] == [None, None, None]


def test_views_that_are_gone_leave_nothing_at_their_base() -> None:
    x = torch.zeros(10)

    for i in range(1000):
        x[i % 10].add_(1)

    assert len(x._views) == 0


@pytest.mark.parametrize("name", ["block_diag", "cat", "stack"])
def test_joining_tensors_makes_no_cycle(name: str) -> None:
    parts = [leaf(2) * k for k in range(5)]
    joined = getattr(torch, name)(*[parts] if name != "block_diag" else parts)
    references = [watch(t) for t in (*parts, joined)]

    del parts, joined

    assert [reference() for reference in references] == [None] * 6


def test_an_error_in_backward_leaves_nothing_behind() -> None:
    x = leaf(3)
    y = x * x
    y.register_hook(lambda g: 1 / 0)
    reference = watch(y)

    with pytest.raises(ZeroDivisionError):
        y.sum().backward()
    del y

    assert reference() is None


def test_a_training_loop_makes_no_garbage() -> None:
    w = leaf(4, 3)
    x = torch.randn(8, 4)
    for _ in range(20):
        loss = torch.relu(x @ w).pow(2).mean()
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
    del loss

    assert gc.collect() == 0


# -- saved values ----------------------------------------------------------------------------------


def saved_arrays(y: Tensor) -> Any:
    """Return weak references to the arrays that the node of ``y`` has saved."""
    assert y.grad_fn is not None
    return [weakref.ref(a) for a in y.grad_fn.saved().values() if isinstance(a, np.ndarray)]


@pytest.mark.parametrize("form", ["x.exp()", "(x * 2) * (x * 3)", "(x + 1) ** 3", "(x * 1).sin()"])
def test_saved_arrays_are_freed_by_backward(form: str) -> None:
    y = eval(form, {"x": leaf(1000)})
    node = y.grad_fn
    total = y.sum()
    saved = saved_arrays(y)
    assert saved
    del y

    total.backward()

    assert [reference() for reference in saved] == [None] * len(saved)
    assert node.saved() == {}


def test_retain_graph_keeps_saved_arrays() -> None:
    x = leaf(1000)
    y = x.exp()
    saved = saved_arrays(y)
    total = y.sum()
    del y

    total.backward(retain_graph=True)

    assert all(reference() is not None for reference in saved)


def test_nothing_is_kept_without_a_graph() -> None:
    x = leaf(100_000)
    tracemalloc.start()

    with torch.no_grad():
        y = x
        for _ in range(20):
            y = (y * 1.5).tanh()

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * x.nbytes  # the values of two or three steps, not of forty


def test_adding_keeps_no_values_for_backward() -> None:
    x = leaf(100_000)
    tracemalloc.start()

    y = x
    for _ in range(20):
        y = y + 1.5

    now, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert now < 2 * x.nbytes  # y itself


def test_backward_frees_the_graph_as_it_goes() -> None:
    x = leaf(100_000)
    y = x
    tracemalloc.start()
    for _ in range(20):
        y = y.tanh()
    total = y.sum()
    del y
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()

    total.backward()

    now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert before > 19 * x.nbytes
    assert now < 2 * x.nbytes  # the gradient
    assert peak < before + 5 * x.nbytes


def test_an_old_sum_of_contributions_is_freed_at_once() -> None:
    h = torch.ones(100_000, requires_grad=True).exp()
    loss = (h * h).sum()
    one = h.numpy(force=True).nbytes

    tracemalloc.start()
    loss.backward()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    # Both contributions and their sum; then the sum, what exp makes of it, and no old one.
    assert peak < 3.5 * one


def test_a_released_graph_is_small() -> None:
    """Ten thousand nodes whose values are released take less than 400 bytes each."""
    x = leaf()
    tracemalloc.start()
    y = x
    for _ in range(10_000):
        y = y * 0.99
    y.backward()

    now, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert now < 10_000 * 400


# -- gradients belong to their tensor --------------------------------------------------------------

PAIRS = ["a + b", "a - b", "(a + b) + (a + b)", "a.view(3, 1) + b.view(3, 1)", "torch.cat([a, b])"]
PAIRS += [
    "torch.stack([a, b])",
    "torch.where(a > 0, a, b)",
    "torch.maximum(a, b)",
    "a * 1 + b.clone()",
]


@pytest.mark.parametrize("form", PAIRS)
def test_gradients_of_two_leaves_share_no_memory(form: str) -> None:
    a, b = leaf(3), leaf(3)
    y = eval(form)
    seed = torch.ones(*y.shape)

    y.backward(seed)

    assert a.grad is not None
    assert b.grad is not None
    arrays = [a.grad.numpy(), b.grad.numpy(), seed.numpy()]
    assert not any(
        np.shares_memory(arrays[i], arrays[j]) for i in range(3) for j in range(3) if i != j
    )


def test_a_gradient_shares_no_memory_with_values() -> None:
    a, b = leaf(3), leaf(3)
    (a * b).sum().backward()
    assert a.grad is not None

    a.grad.zero_()

    assert b.tolist() == [1.0, 1.0, 1.0]


def test_a_retained_gradient_is_its_own() -> None:
    a = leaf(3)
    y = a + 1
    z = y + 1
    y.retain_grad()
    z.retain_grad()
    z.sum().backward()
    assert y.grad is not None
    assert z.grad is not None
    assert a.grad is not None

    z.grad.zero_()
    y.grad.mul_(5)

    assert (y.grad.tolist(), a.grad.tolist()) == ([5.0] * 3, [1.0] * 3)


def test_gradients_can_be_written_to() -> None:
    a = leaf(2, 3)
    for form in (
        "a.sum()",
        "a.t().sum()",
        "a.expand(2, 2, 3).sum()",
        "a.mean(0).sum()",
        "a[0].sum()",
    ):
        a.grad = None
        eval(form).backward()
        assert a.grad is not None

        a.grad.add_(1)
        a.grad[0, 0] = 7.0

        assert a.grad[0, 0].item() == 7.0


# -- depth -----------------------------------------------------------------------------------------

CHAIN = """
import sys, time
import autodiff_kit as torch
assert sys.getrecursionlimit() == 1000
x = torch.tensor(1.0, requires_grad=True)
y = x
for _ in range({half}):
    y = y * 0.999999
    y = y + 0.000001
y.backward()
print(round(y.item(), 3), x.grad is not None)
del y
print("gone")
"""


def run(code: str) -> str:
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60
    )
    assert process.returncode == 0, process.stderr[-2000:]
    return process.stdout


@pytest.mark.parametrize("operations", [100_000, pytest.param(1_000_000, marks=pytest.mark.gate)])
def test_a_long_chain_is_built_differentiated_and_dropped(operations: int) -> None:
    assert run(CHAIN.format(half=operations // 2)) == "1.0 True\ngone\n"


@pytest.mark.parametrize("half", [20_000, pytest.param(100_000, marks=pytest.mark.gate)])
def test_a_long_chain_is_dropped_without_having_been_used(half: int) -> None:
    code = CHAIN.format(half=half).replace("y.backward()", "y.backward(retain_graph=True)")

    assert run(code) == "1.0 True\ngone\n"


@pytest.mark.parametrize("rounds", [5_000, pytest.param(20_000, marks=pytest.mark.gate)])
def test_a_long_chain_can_be_differentiated_twice(rounds: int) -> None:
    code = f"""
import autodiff_kit as torch
x = torch.tensor(0.5, requires_grad=True)
y = x
for _ in range({rounds}):
    y = y * 0.9999 + y.sin() * 0.0001
(g,) = torch.autograd.grad(y, x, create_graph=True)
(h,) = torch.autograd.grad(g, x)
del y, g
print(h.item() != 0)
"""
    assert run(code) == "True\n"


def test_the_tests_above_know_all_ops_that_join() -> None:
    joining = {"block_diag", "cat", "parts_backward", "stack"}
    assert {op.name for op in OPS.values() if op.is_variadic} == joining


def test_saved_numbers_that_were_changed_are_forgotten_with_their_graphs() -> None:
    from autodiff_kit.core import versions

    before = len(versions._changes)
    for _ in range(20):
        x = leaf(2).sum()
        x /= x  # the node has saved the number that was there
        del x

    assert len(versions._changes) <= before + 1
