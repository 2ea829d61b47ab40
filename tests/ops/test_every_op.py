"""What holds for every op of the table, whatever it computes.

A new op is tested here by being declared; ``samples.py`` finds inputs for it.
"""

import ast
import re
from typing import Any

import numpy as np
import pytest

import autodiff_kit as torch
from autodiff_kit.autograd.node import Node
from autodiff_kit.ops import OPS, Op
from autodiff_kit.tensor import Tensor, wrap
from tests.ops.gradients import numerical
from tests.ops.samples import Sample, every_sample, samples

SAMPLES = list(every_sample())
EVERY_OP = [pytest.param(op, id=op.name) for op in OPS.values()]
EVERY_RULE = [
    pytest.param(op, wrt, id=f"{op.name} {wrt}") for op in OPS.values() for wrt in op.rules
]
# PyTorch has no derivative of these.
REFUSED = {op.name for op in OPS.values() if op.node_name == "torch::autograd::NotImplemented"}
TO_FLOAT32 = {"to_copy", "promote"}  # too coarse for finite differences


def differentiable(op: Op) -> list[int]:
    """Return which inputs of a sample have a rule."""
    if op.name in REFUSED:
        return []
    if op.is_variadic:
        return [0, 1] if op.rules else []
    return [i for i, name in enumerate(op.inputs) if name in op.rules]


DIFFERENTIABLE = [p for p in SAMPLES if differentiable(p.values[0])]
SMOOTH = [p for p in DIFFERENTIABLE if p.values[0].name not in TO_FLOAT32]


def apply(op: Op, inputs: Any, params: dict[str, Any]) -> Any:
    """Apply an op to tensors or arrays; leave out what it returns besides its output."""
    out = op.function(*inputs, **params)
    return out[0] if op.by_products else out


def leaves(op: Op, sample: Sample, wanted: list[int] | None = None) -> list[Tensor]:
    """Return tensors for the inputs; those wanted, by default all with a rule, require grad."""
    wanted = differentiable(op) if wanted is None else wanted
    tensors = [wrap(np.array(x)[()]) for x in sample.inputs]
    for i in wanted:
        tensors[i].requires_grad_()
    return tensors


def cotangent(out: Tensor, seed: int = 5) -> Tensor:
    """Return fixed numbers of the shape and dtype of ``out``, to weigh its elements."""
    values = np.random.default_rng(seed).uniform(0.5, 1.5, out.shape)
    return wrap(np.asarray(values).astype(out._array.dtype)[()])


def gradients(op: Op, sample: Sample, create_graph: bool = False) -> tuple[Tensor, ...]:
    inputs = leaves(op, sample)
    out = apply(op, inputs, sample.params)
    wanted = [inputs[i] for i in differentiable(op)]
    return torch.autograd.grad(out, wanted, cotangent(out), create_graph=create_graph)


# -- forward ---------------------------------------------------------------------------------------

# An op says in Python what it computes. Read with NumPy's names, that is the expected value; where
# NumPy has no such expression, one is given here.
WITH_NUMPY = {
    "all_elements": "np.all(x, dim, keepdims=keepdim)",
    "any_element": "np.any(x, dim, keepdims=keepdim)",
    "amax": "np.max(x, dim, keepdims=keepdim)",
    "amin": "np.min(x, dim, keepdims=keepdim)",
    "argmax": "np.argmax(x, dim, keepdims=keepdim)",
    "argmin": "np.argmin(x, dim, keepdims=keepdim)",
    "cat": "np.concatenate(tensors, dim)",
    "clamp": "np.clip(x, min, max)",
    "clamp_max": "np.clip(x, None, max)",
    "clamp_min": "np.clip(x, min, None)",
    "clamp_to_tensors": "np.clip(x, min, max)",
    "clone": "np.array(x)",
    "contiguous": "np.array(x)",
    "copy_from": "np.broadcast_to(y, x.shape)",
    "div_rounded": "{'floor': np.floor, 'trunc': np.trunc}[rounding_mode](x / y)",
    "drop_dim": "np.squeeze(x, dim)",
    "expand": "np.broadcast_to(x, shape)",
    "fill": "np.full(x.shape, value)",
    "flip": "np.flip(x, dims)",
    "index_backward": "sum([np.where(np.arange(shape[0])[:, None] == i, row, 0) "
    "for i, row in zip(indices[0], x)], 0)",
    "index_put": "putting(x, y, positions)",
    "mark": "np.arange(size) == x",
    "max_dim": "np.max(x, dim if x.ndim else None, keepdims=keepdim)",
    "min_dim": "np.min(x, dim if x.ndim else None, keepdims=keepdim)",
    "mean_dim": "np.mean(x, dim, keepdims=keepdim)",
    "prod_dim": "np.prod(x, dim if x.ndim else None, keepdims=keepdim)",
    "sum_dim": "np.sum(x, dim, keepdims=keepdim)",
    "permute": "np.transpose(x, dims)",
    "pick": "np.take(x, positions)",
    "promote": "x.astype(dtype)",
    "put": "putting(x, y, positions)",
    "relu": "np.where(x > 0, x, 0)",
    "repeat": "np.tile(x, repeats)",
    "reshape": "np.reshape(x, shape)",
    "rsqrt": "x ** -0.5",
    "select": "np.take(x, index, dim)",
    "select_backward": "np.stack([0 * x, x])",
    "share": "x * winners / np.sum(winners, dim, keepdims=True)",
    "sigmoid": "np.exp(x) / (np.exp(x) + 1)",
    "slice_backward": "np.insert(x, [0, 1, 2], 0, dim)",
    "slice_dim": "np.take(x, range(start, end, step), dim)",
    "squeeze_dim": "x.reshape([n for i, n in enumerate(x.shape) if i != dim or n != 1])",
    "stack": "np.stack(tensors, dim)",
    "sum_to": "np.sum(x, axes_to(x, shape), keepdims=True).reshape(shape)",
    "t": "np.transpose(x)",
    "to_copy": "x.astype(dtype)",
    "to_whole": "x.astype(dtype)",
    "transpose": "np.swapaxes(x, dim0, dim1)",
    "unbind_item": "np.take(x, index, dim)",
    "unsqueeze": "np.expand_dims(x, dim)",
}


def putting(x: Any, y: Any, positions: Any) -> Any:
    out = np.array(x)
    np.put(out, positions, y)
    return out


def axes_to(x: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    padded = (1,) * (x.ndim - len(shape)) + shape
    return tuple(i for i, n in enumerate(padded) if n == 1)


def expected(op: Op, sample: Sample) -> Any:
    names: dict[str, Any] = {name: getattr(np, name) for name in np.__all__}
    names |= {"np": np, "putting": putting, "axes_to": axes_to, **op.defaults, **sample.params}
    if op.is_variadic:
        names[op.inputs[0]] = sample.inputs
    else:
        names |= dict(zip(op.inputs, sample.inputs, strict=True))
    return eval(WITH_NUMPY.get(op.name, op.text), names)


@pytest.mark.parametrize(("op", "sample"), SAMPLES)
def test_forward_is_what_numpy_computes(op: Op, sample: Sample) -> None:
    out = apply(op, [wrap(np.array(x)[()]) for x in sample.inputs], sample.params)

    np.testing.assert_allclose(out.tolist(), np.asarray(expected(op, sample)), rtol=1e-12)


@pytest.mark.parametrize(("op", "sample"), SAMPLES)
def test_float32_stays_float32(op: Op, sample: Sample) -> None:
    inputs = [np.asarray(x) for x in sample.inputs]
    if any(x.dtype == np.float64 for x in inputs):
        low = [x.astype("float32") if x.dtype == np.float64 else x for x in inputs]

        out = apply(op, [wrap(x[()]) for x in low], sample.params)

        assert out._array.dtype != np.float64


# -- gradients -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("op", "sample"), SMOOTH)
def test_rules_agree_with_finite_differences(op: Op, sample: Sample) -> None:
    weights = cotangent(apply(op, leaves(op, sample, []), sample.params)).numpy()

    def weighted(*arrays: Any) -> float:
        return float(np.sum(apply(op, arrays, sample.params) * weights))

    found = gradients(op, sample)

    for wrt, g in zip(differentiable(op), found, strict=True):
        correct = numerical(weighted, sample.inputs, wrt)
        np.testing.assert_allclose(g.numpy(), correct, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(("op", "sample"), SMOOTH)
def test_rules_can_be_differentiated_themselves(op: Op, sample: Sample) -> None:
    """Gradients of gradients, by finite differences of the first ones."""
    wanted = differentiable(op)
    inputs = leaves(op, sample)
    out = apply(op, inputs, sample.params)
    v = cotangent(out).requires_grad_()
    firsts = torch.autograd.grad(out, [inputs[i] for i in wanted], v, create_graph=True)
    total = sum((first * cotangent(first, 6)).sum() for first in firsts)
    if not isinstance(total, Tensor) or not total.requires_grad:
        return  # the gradient is a constant, as that of floor

    by = [inputs[i] for i in wanted] + [v]
    seconds = torch.autograd.grad(total, by, materialize_grads=True)

    def of_firsts(*arrays: Any) -> float:
        *values, weights = arrays
        again = leaves(op, Sample(tuple(values), sample.params))
        result = apply(op, again, sample.params)
        g = torch.autograd.grad(result, [again[i] for i in wanted], wrap(weights))
        return sum(float((first * cotangent(first, 6)).sum().item()) for first in g)

    point = [*sample.inputs, v.detach().numpy()]
    for index, second in zip([*wanted, len(point) - 1], seconds, strict=True):
        correct = numerical(of_firsts, point, index)
        np.testing.assert_allclose(second.numpy(), correct, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("op", "sample"), DIFFERENTIABLE)
def test_rules_give_the_same_for_arrays_and_tensors(op: Op, sample: Sample) -> None:
    on_arrays = gradients(op, sample)
    on_tensors = gradients(op, sample, create_graph=True)

    for a, t in zip(on_arrays, on_tensors, strict=True):
        assert a.dtype is t.dtype
        np.testing.assert_allclose(a.numpy(), t.detach().numpy(), rtol=1e-14)


@pytest.mark.parametrize(("op", "sample"), DIFFERENTIABLE)
def test_gradients_have_the_shape_and_dtype_of_their_input(op: Op, sample: Sample) -> None:
    for dtype in ("float32", "float64"):
        low = tuple(
            x.astype(dtype) if np.asarray(x).dtype == np.float64 else x for x in sample.inputs
        )
        for create_graph in (False, True):
            found = gradients(op, Sample(low, sample.params), create_graph)

            for wrt, g in zip(differentiable(op), found, strict=True):
                assert g.shape == np.shape(low[wrt])
                assert g._array.dtype == dtype


@pytest.mark.parametrize(("op", "sample"), DIFFERENTIABLE)
def test_backward_leaves_inputs_and_output_alone(op: Op, sample: Sample) -> None:
    inputs = leaves(op, sample)
    out = apply(op, inputs, sample.params)
    before = [np.array(t._array) for t in (*inputs, out)]

    out.backward(cotangent(out))

    for tensor, array in zip((*inputs, out), before, strict=True):
        np.testing.assert_array_equal(tensor._array, array)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_an_op_without_derivative_says_so_at_backward(name: str) -> None:
    op = OPS[name]
    sample = samples(op)[0]
    inputs = [wrap(x).requires_grad_() for x in sample.inputs]
    out = op.function(*inputs, **sample.params)

    with pytest.raises(RuntimeError, match=r"^derivative for aten::.* is not implemented\n-> "):
        out.sum().backward()


# -- what is saved ---------------------------------------------------------------------------------


def subsets(indices: list[int]) -> list[list[int]]:
    return [
        [index for bit, index in enumerate(indices) if chosen >> bit & 1]
        for chosen in range(1, 2 ** len(indices))
    ]


def tensors_read(op: Op, wanted: list[int]) -> set[str]:
    names = op.rules if op.is_variadic else [op.inputs[i] for i in wanted]
    read = {name for wrt in names for name in op.rules[wrt].reads}
    return read & {"out", *op.inputs, *op.by_products}


@pytest.mark.parametrize(("op", "sample"), DIFFERENTIABLE)
def test_a_node_saves_what_the_wanted_rules_read_and_no_more(op: Op, sample: Sample) -> None:
    for wanted in subsets(differentiable(op)):
        out = apply(op, leaves(op, sample, wanted), sample.params)

        node = out.grad_fn
        assert isinstance(node, Node)
        assert set(node.saved()) == tensors_read(op, wanted)


@pytest.mark.parametrize(("op", "sample"), DIFFERENTIABLE)
def test_backward_releases_what_was_saved(op: Op, sample: Sample) -> None:
    out = apply(op, leaves(op, sample), sample.params)
    node = out.grad_fn
    assert node is not None
    had_saved = bool(node.saved())

    out.backward(cotangent(out))

    assert node.saved() == {}
    if had_saved:
        with pytest.raises(RuntimeError, match="backward through the graph a second time"):
            out.backward(cotangent(out))
    else:
        out.backward(cotangent(out))


@pytest.mark.parametrize(("op", "sample"), DIFFERENTIABLE)
def test_nothing_is_recorded_under_no_grad(op: Op, sample: Sample) -> None:
    with torch.no_grad():
        out = apply(op, leaves(op, sample), sample.params)

    assert out.grad_fn is None
    assert not out.requires_grad


# -- what is shown ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("op", "wrt"), EVERY_RULE)
def test_the_text_of_a_rule_is_an_expression_of_what_it_reads(op: Op, wrt: str) -> None:
    rule = op.rules[wrt]

    expression = ast.parse(rule.text, mode="eval")

    assert rule.source.lstrip().startswith(("@", "def"))
    assert ast.unparse(expression) == rule.text


def balanced(tex: str) -> bool:
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", tex):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


@pytest.mark.parametrize(("op", "wrt"), EVERY_RULE)
def test_every_rule_has_a_formula(op: Op, wrt: str) -> None:
    tex = op.rules[wrt].tex

    assert tex
    assert balanced(tex)


@pytest.mark.parametrize("op", EVERY_OP)
def test_every_op_says_what_it_does(op: Op) -> None:
    assert op.text
    assert op.tex
    assert balanced(op.tex)
    assert op.doc.strip().endswith(".")


@pytest.mark.parametrize("op", EVERY_OP)
def test_every_op_works_by_its_name_in_the_table(op: Op) -> None:
    assert OPS[op.name] is op
    assert op.function.op is op
