"""Random graphs: expressions that nobody wrote, differentiated by both packages.

A program is drawn step by step: each step applies one expression to tensors that are there. Values,
gradients and gradients of gradients must be PyTorch's, and gradients what moving the inputs shows.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autodiff_kit
from tests.parity import require_torch

torch = require_torch()
pytestmark = pytest.mark.parity

Shape = tuple[int, ...]
SHAPES: list[Shape] = [(), (3,), (2, 3), (2, 1), (3, 3), (2, 2, 3)]

# All are smooth, or have their kinks where no drawn number lies, and none lets numbers grow fast.
ELEMENTWISE = """
    x.sin() x.cos() x.tanh() x.sigmoid() x.tanh().exp() -x x*x*0.5 1-x 2/(x*x+1) (x*x+1).log()
    (x*x+1).sqrt() (x*x+0.5)**1.5 x.abs() x.relu() x.clamp(-0.7,0.9) x.clone() torch.square(x)
    x+y x-y x*y x/(y*y+1) torch.maximum(x,y) torch.minimum(x,y) torch.where(x>0.1,x,y)
    (x*x+1)**y.tanh() x.clone().mul_(y) x.clone().add_(y,alpha=0.5) x.detach()*y
"""
REDUCING = """
    x.sum() x.mean() x.sum(0) x.sum(-1,keepdim=True) x.mean(-1) x.mean(0,keepdim=True) x.prod()
    x.tanh().prod(-1) x.max() x.amin(-1) x.max(-1)[0] x.logsumexp(0) x.softmax(-1) x.log_softmax(0)
    x.cumsum(0) (x*x).sum(-1).add(1).sqrt() x.var(0,False) x.norm(2,-1) x.sort(-1)[0] x.topk(1,0)[0]
"""
MOVING = """
    x.reshape(-1) x.reshape(1,-1) x.T x.t() x.transpose(0,-1) x.unsqueeze(0) x.unsqueeze(-1)
    x.squeeze() x.expand(2,3) x.expand(2,*x.shape) x.flip(0) x.repeat(2,1) x.flatten() x[0] x[-1:]
    x[...,0] x[None] x[:,::2] x[[0,-1]] x.chunk(2,-1)[0] x.unbind(0)[-1] x.narrow(0,0,1)
    torch.cat([x,y]) torch.cat([x,y],-1) torch.stack([x,y]) x@y x@y.T x.T@y torch.einsum('ij,kj->ik',x,y)
"""  # noqa: E501
STEPS = (ELEMENTWISE + REDUCING + MOVING).split()


class Program(NamedTuple):
    """Shapes of the inputs, then steps: an expression, and which of the values are x and y."""

    shapes: list[Shape]
    steps: list[tuple[str, int, int]]
    seed: int


PROGRAMS = st.builds(
    Program,
    st.lists(st.sampled_from(SHAPES), min_size=2, max_size=4),
    st.lists(
        st.tuples(st.sampled_from(STEPS), st.integers(0, 20), st.integers(0, 20)),
        min_size=8,
        max_size=16,
    ),
    st.integers(0, 1000),
)


def numbers(program: Program) -> list[Any]:
    """Return the inputs: different numbers around 0."""
    random = np.random.default_rng(program.seed)
    return [random.uniform(-1.5, 1.5, shape) for shape in program.shapes]


def outcome(package: Any, program: Program, inputs: Sequence[Any]) -> tuple[list[Any], Any, Any]:
    """Return the leaves, the sum of all weighted results, and what became of each step."""
    leaves = [package.tensor(x, requires_grad=True) for x in inputs]
    values, texts = list(leaves), []
    for expression, i, j in program.steps:
        # The latest values first: so steps build on each other.
        names = {"x": values[-1 - i % len(values)], "y": values[-1 - j % len(values)]}
        try:
            value = eval(expression, {"torch": package, **names})
        except (RuntimeError, IndexError) as refused:
            texts.append(type(refused).__name__)
            continue
        texts.append(tuple(value.shape))
        if value.numel() <= 48:
            values.append(value)
    total = package.zeros((), dtype=package.float64)
    for k, value in enumerate(values):
        weights = np.cos(np.arange(value.numel()) + k).reshape(tuple(value.shape))
        total = total + (value * package.tensor(weights)).sum()
    return leaves, total, texts


def derivatives(package: Any, program: Program, inputs: Sequence[Any]) -> tuple[Any, list[Any]]:
    """Return what became of the steps; and the value, its gradients, and gradients of those."""
    leaves, total, texts = outcome(package, program, inputs)
    first = package.autograd.grad(total, leaves, create_graph=True)
    mixed = sum((g * (k + 1)).sum() for k, g in enumerate(first))
    second = [g * 0 for g in first]
    if mixed.requires_grad:
        second = package.autograd.grad(mixed, leaves, materialize_grads=True)
    return texts, [t.numpy(force=True) for t in (total, *first, *second)]


@given(PROGRAMS)
@settings(max_examples=200, deadline=None, derandomize=True)
@pytest.mark.filterwarnings("ignore")  # PyTorch warns of x.T of a vector
def test_a_random_graph_has_pytorchs_derivatives(program: Program) -> None:
    texts, actual = derivatives(autodiff_kit, program, numbers(program))

    expected_told, expected = derivatives(torch, program, numbers(program))
    assert texts == expected_told
    for ours, theirs in zip(actual, expected, strict=True):
        scale = max(1.0, float(np.max(np.abs(theirs), initial=0, where=np.isfinite(theirs))))
        np.testing.assert_allclose(ours / scale, theirs / scale, rtol=1e-8, atol=1e-9)


@given(PROGRAMS)
@settings(max_examples=100, deadline=None, derandomize=True)
@pytest.mark.filterwarnings("ignore")
def test_a_random_gradient_is_what_moving_the_inputs_shows(program: Program) -> None:
    program = program._replace(steps=[s for s in program.steps if "detach" not in s[0]])
    inputs = numbers(program)
    random = np.random.default_rng(program.seed + 1)
    along = [random.uniform(-1, 1, x.shape) for x in inputs]

    leaves, total, _ = outcome(autodiff_kit, program, inputs)
    gradients = autodiff_kit.autograd.grad(total, leaves)
    slope = sum(float(np.sum(g.numpy() * v)) for g, v in zip(gradients, along, strict=True))

    def moved(step: float) -> float:
        there = [x + step * v for x, v in zip(inputs, along, strict=True)]
        return float(outcome(autodiff_kit, program, there)[1].item())

    if np.isfinite(slope):
        step = 1e-6
        measured = (moved(step) - moved(-step)) / (2 * step)
        assert slope == pytest.approx(measured, rel=1e-4, abs=1e-4)
