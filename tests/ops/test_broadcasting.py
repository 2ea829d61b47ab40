"""Broadcasting is copying: gradients of the copies add up, for every op that broadcasts."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import autodiff_kit as torch
from autodiff_kit.core.base import wrap
from autodiff_kit.core.op import OPS, Op
from autodiff_kit.ops import sum_to
from tests.gate import IN_THE_GATE
from tests.ops.samples import INSTEAD, REFUSED, default, numbers

# Ops with several inputs whose samples are the default ones work elementwise.
ELEMENTWISE = [
    pytest.param(op, id=op.name)
    for op in OPS.values()
    if len(op.inputs) > 1 and op.rules and op.name not in REFUSED
    if op.name not in INSTEAD or op.name in ("where", "clamp_to_tensors")
    if op.name
    not in ("copy_from", "fill_with", "flat_in", "flat_values")  # which keep the first one's shape
]
SHAPES = hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=3, max_side=3, min_side=1)


def arrays_of(op: Op, shapes: Any) -> list[Any]:
    arrays = [numbers(*shape, seed=i) for i, shape in enumerate(shapes[: len(op.inputs)])]
    if op.name == "where":
        arrays[0] = arrays[0] < 1
    return arrays


def gradients(op: Op, arrays: list[Any], create_graph: bool) -> tuple[Any, list[Any]]:
    """Return the output's shape and the gradients of all float inputs."""
    params = {} if op.name in INSTEAD else default(op)[0].params
    inputs = [wrap(np.array(array)[()]) for array in arrays]
    wrt = [x.requires_grad_() for x in inputs if x.is_floating_point()]
    out = op.function(*inputs, **params)
    weights = wrap(numbers(*out.shape, seed=7))
    actual = torch.autograd.grad(out, wrt, weights, create_graph=create_graph)
    return tuple(out.shape), [g.detach().numpy() for g in actual]


@pytest.mark.parametrize("op", ELEMENTWISE)
@settings(deadline=None, max_examples=25 if IN_THE_GATE else 10)
@given(broadcast=SHAPES, create_graph=st.booleans())
def test_gradients_of_broadcast_inputs_are_sums_over_the_copies(
    op: Op, broadcast: Any, create_graph: bool
) -> None:
    arrays = arrays_of(op, broadcast.input_shapes)
    shape, actual = gradients(op, arrays, create_graph)
    copies = [np.array(np.broadcast_to(array, shape)) for array in arrays]

    _, of_copies = gradients(op, copies, create_graph)

    own = [np.shape(array) for array in arrays if array.dtype != bool]
    for g, expanded, own_shape in zip(actual, of_copies, own, strict=True):
        assert g.shape == own_shape
        np.testing.assert_allclose(g, sum_to(expanded, shape=own_shape), rtol=1e-12)


@settings(deadline=None, max_examples=50 if IN_THE_GATE else 20)
@given(broadcast=hnp.mutually_broadcastable_shapes(num_shapes=1, max_dims=4, max_side=3))
def test_sum_to_undoes_what_numpys_broadcast_to_does(broadcast: Any) -> None:
    (shape,), result = broadcast.input_shapes, (2, *broadcast.result_shape)
    array = np.ones(shape)

    copies = np.broadcast_to(array, result)

    count = copies.size // max(array.size, 1)
    summed = sum_to(np.array(copies), shape=shape)
    assert np.shape(summed) == shape
    np.testing.assert_array_equal(summed, array * count)
