"""Checkpoints: the same gradients as in PyTorch, and really less memory."""

import gc
import tracemalloc

import pytest

import autodiff_kit as ak
from autodiff_kit.utils.checkpoint import CheckpointError, checkpoint
from tests.autograd.programs import check

pytestmark = pytest.mark.parity

GIVEN = """
from importlib import import_module
checkpoint = import_module(torch.__name__ + ".utils.checkpoint").checkpoint

def curve(x, k=1.0):
    print("start", torch.is_grad_enabled())
    y = x.sin()
    print("middle")
    z = y.exp()
    print("end")
    return z * y, y * k
"""

PROGRAMS = {
    "forward runs again in backward, as far as needed": """
        y, z = checkpoint(curve, a, k=2.0, use_reentrant=False)
        print(y, z)
        (y.sum() + z.sum()).backward(retain_graph=True)
        print(a.grad)
        (y.sum() + z.sum()).backward()
        print(a.grad)
        attempt(lambda: y.sum().backward())
    """,
    "without gradients it is an ordinary call": """
        with torch.no_grad():
            print(checkpoint(curve, a, use_reentrant=False))
        print(checkpoint(curve, a.detach(), use_reentrant=False))
        attempt(lambda: checkpoint(curve, a, use_reentrant=False, nonsense=3))
    """,
    "with grad, and a second derivative": """
        y, z = checkpoint(curve, a, use_reentrant=False)
        (g,) = torch.autograd.grad(y.sum(), a, create_graph=True)
        print(g)
        print(torch.autograd.grad(g.sum(), a))
    """,
    "what the function has captured gets gradients": """
        y = checkpoint(lambda x: (x * b).exp() * x, a, use_reentrant=False)
        y.sum().backward()
        print(a.grad, b.grad)
    """,
    "checkpoints in a row and within each other": """
        def block(x):
            print("block")
            return x.tanh() * x

        def outer(x):
            print("outer")
            return checkpoint(block, x.sin(), use_reentrant=False).exp()

        y = checkpoint(block, checkpoint(block, a, use_reentrant=False), use_reentrant=False)
        y.sum().backward()
        print(a.grad)
        a.grad = None
        y = checkpoint(outer, a, use_reentrant=False)
        print(y)
    """,
    "an argument that was changed in place is refused": """
        x = a * 1
        y = checkpoint(lambda x: x.sin() * 2, x, use_reentrant=False)
        x.add_(1)
        attempt(lambda: y.sum().backward())
        x = torch.ones(2)
        y = checkpoint(lambda x: x.sin() * a, x, use_reentrant=False)
        x.add_(1)
        attempt(lambda: y.sum().backward())
        y = checkpoint(lambda x: x.sin() * a, x=x, use_reentrant=False)
        x.add_(1)
        y.sum().backward()
        print(a.grad)
    """,
    "random numbers are the same when it runs again": """
        def noisy(x):
            noise = torch.rand(2)
            print(noise)
            return (x * noise).exp()

        torch.manual_seed(0)
        y = checkpoint(noisy, a, use_reentrant=False)
        print(torch.rand(1))
        y.sum().backward()
        print(a.grad, torch.rand(1))
    """,
    "the function must not change": """
        calls = []

        def shrinking(x):
            calls.append(1)
            return x.sin().exp() if len(calls) == 1 else x.sin()

        y = checkpoint(shrinking, a, use_reentrant=False)
        attempt(lambda: y.sum().backward())

        def narrowing(x):
            calls.append(1)
            return x.sin() if len(calls) == 3 else x[:1].sin()

        y = checkpoint(narrowing, a, use_reentrant=False)
        attempt(lambda: y.sum().backward())
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_print_the_same(name: str) -> None:
    check(PROGRAMS[name], GIVEN)


def test_nested_checkpoints_have_the_gradient_of_the_plain_call() -> None:
    def inner(x: ak.Tensor) -> ak.Tensor:
        return x.tanh() * x

    def outer(x: ak.Tensor) -> ak.Tensor:
        return checkpoint(inner, x.sin(), use_reentrant=False).exp()

    x = ak.tensor([0.5, -1.0], dtype=ak.float64, requires_grad=True)
    plain = inner(x.sin()).exp().sum()
    (expected,) = ak.autograd.grad(plain, x)

    (gradient,) = ak.autograd.grad(checkpoint(outer, x, use_reentrant=False).sum(), x)

    assert gradient.tolist() == expected.tolist()


def test_a_chain_of_checkpoints_needs_less_memory() -> None:
    size, steps = 20_000, 10  # one float32 array: 80 kB

    def block(x: ak.Tensor) -> ak.Tensor:
        for _ in range(steps):
            x = x.sin()  # saves its input
        return x

    def peak(run: bool) -> int:
        x = ak.ones(size, requires_grad=True)
        gc.collect()
        tracemalloc.start()
        y = x
        for _ in range(5):
            y = checkpoint(block, y, use_reentrant=False) if run else block(y)
        y.sum().backward()
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    # 50 saved arrays, or the 5 inputs and the 10 arrays of one block, and a few at work.
    assert peak(run=False) > 50 * 4 * size
    assert peak(run=True) < 25 * 4 * size


def test_a_checkpoint_leaves_no_garbage() -> None:
    def work() -> None:
        x = ak.ones(2, requires_grad=True)
        y = checkpoint(lambda x: (x.exp() * x).tanh(), x, use_reentrant=False).sum()
        y.backward(retain_graph=True)
        ak.autograd.grad(y, x, create_graph=True)

    work()
    gc.collect()
    gc.disable()
    try:
        work()
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_use_reentrant_must_be_said() -> None:
    x = ak.ones(2, requires_grad=True)

    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint(ak.exp, x)
    with pytest.raises(NotImplementedError, match="use_reentrant=False gives the same"):
        checkpoint(ak.exp, x, use_reentrant=True)


def test_the_error_says_what_to_do() -> None:
    calls: list[int] = []

    def other(x: ak.Tensor) -> ak.Tensor:
        calls.append(1)
        return x.sin() if len(calls) > 1 else x.sin().exp()

    y = checkpoint(other, ak.ones(2, requires_grad=True), use_reentrant=False)

    with pytest.raises(CheckpointError, match="must do the same when it runs again"):
        y.sum().backward()


def test_the_module_is_reached_as_an_attribute() -> None:
    assert ak.utils.checkpoint.checkpoint is checkpoint
