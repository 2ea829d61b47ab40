"""What holds for every op of the table, whatever it computes.

A new op is tested here by being declared; ``samples.py`` finds inputs for it.
"""

import ast
import math
import re
from typing import Any

import numpy as np
import pytest

import autodiff_kit as torch
from autodiff_kit.core.base import wrap
from autodiff_kit.core.node import Node
from autodiff_kit.core.observer import Observer, installed
from autodiff_kit.core.op import OPS, Op
from autodiff_kit.ops.apply import apply as applied
from autodiff_kit.ops.words import expression_of, source_of
from autodiff_kit.tensor import Tensor
from tests.gate import IN_THE_GATE
from tests.ops.gradients import numerical, numerical_along
from tests.ops.samples import Sample, every_sample, samples
from tests.ops.samples_of_functions import WITH_NUMPY as OF_FUNCTIONS
from tests.ops.samples_of_functions import plainly  # noqa: F401 (WITH_NUMPY names it)
from tests.rows import for_each

SAMPLES = list(every_sample())
EVERY_OP = [pytest.param(op, id=op.name) for op in OPS.values()]
EVERY_RULE = [
    pytest.param(op, wrt, id=f"{op.name} {wrt}") for op in OPS.values() for wrt in op.rules
]
# PyTorch has no derivative of these.
REFUSED = {
    op.name for op in OPS.values() for rule in op.rules.values() if rule.tex == r"\text{none}"
}
ONCE = {
    "cdist",
    "embedding_bag",
    "embedding_bag_max",
    "hardsigmoid",
}  # nor of the derivatives of these
TO_FLOAT32 = {"to_copy", "promote"}  # too coarse for finite differences
APART = {
    "ctc_loss",  # probabilities cannot change alone: tests/nn/test_sequence_loss.py
    "dirichlet",  # a draw is differentiated, which is a constant here: tests/test_distributions.py
    "linalg_cholesky_ex",  # an element cannot change alone: tests/test_decompositions.py
    "standard_gamma",  # as dirichlet
}


def differentiable(op: Op) -> list[int]:
    """Return which inputs of a sample have a rule."""
    if op.name in REFUSED:
        return []
    if op.is_variadic:
        return [0, 1] if op.rules else []
    return [i for i, name in enumerate(op.inputs) if name in op.rules]


DIFFERENTIABLE = [p for p in SAMPLES if differentiable(p.values[0])]
SMOOTH = [p for p in DIFFERENTIABLE if p.values[0].name not in TO_FLOAT32 | APART]
TWICE = [p for p in SMOOTH if p.values[0].name not in ONCE]
DIRECTIONS = range(3)  # of second derivatives; the gate looks at each element


def apply(op: Op, inputs: Any, sample: Sample) -> Any:
    """Apply an op to tensors or arrays; return its output, of several that of the sample."""
    out = op.function(*inputs, **sample.params)
    return out[sample.output] if op.several else out[0] if op.by_products else out


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
    out = apply(op, inputs, sample)
    wanted = [inputs[i] for i in differentiable(op)]
    return torch.autograd.grad(out, wanted, cotangent(out), create_graph=create_graph)


# -- forward ---------------------------------------------------------------------------------------

# An op says in Python what it computes. Read with NumPy's names, that is the expected value; where
# NumPy has no such expression, one is given here.
WITH_NUMPY = {
    "all_elements": "np.all(x, dim, keepdims=keepdim)",
    "any_element": "np.any(x, dim, keepdims=keepdim)",
    "addmm": "beta * input + alpha * (mat1 @ mat2)",
    "amax": "np.max(x, dim, keepdims=keepdim)",
    "amin": "np.min(x, dim, keepdims=keepdim)",
    "argmax": "np.argmax(x, dim, keepdims=keepdim)",
    "argmin": "np.argmin(x, dim, keepdims=keepdim)",
    "cat": "np.concatenate(tensors, dim)",
    "clamp": "np.clip(x, min, max)",
    "clamp_max": "np.clip(x, None, max)",
    "clamp_min": "np.clip(x, min, None)",
    "clamp_to_tensors": "np.clip(x, min, max)",
    "clamp_max_tensor": "np.clip(x, None, max)",
    "clamp_min_tensor": "np.clip(x, min, None)",
    "clone": "np.array(x)",
    "contiguous": "np.array(x)",
    "copy_from": "np.broadcast_to(y, x.shape)",
    "fill_with": "np.broadcast_to(y, x.shape)",
    "cumsum": "np.cumsum(x, dim).reshape(x.shape) if x.ndim < 2 else np.cumsum(x, dim)",
    "div_rounded": "{'floor': np.floor, 'trunc': np.trunc}[rounding_mode](x / y)",
    "drop_dim": "np.squeeze(x, dim)",
    "expand": "np.broadcast_to(x, shape)",
    "fill": "np.full(x.shape, value)",
    "flip": "np.flip(x, dims)",
    "gather": "gathered(x, index, dim)",
    "index_add": "x + alpha * adjoint("
    "lambda e: np.take(e, index, dim) if x.ndim else e, source, x.shape)",
    "index_select": "np.take(x, index, dim) if x.ndim else x",
    "index_backward": "sum([np.where(np.arange(shape[0])[:, None] == i, row, 0) "
    "for i, row in zip(indices[0], x)], 0)",
    "index_put": "putting(x, y, positions)",
    "linalg_vector_norm": "np.linalg.norm(x, ord, *dim, keepdims=keepdim) if len(dim) == 1 "
    "else np.sum(np.abs(x) ** ord, dim, keepdims=keepdim) ** (1 / ord)",
    "masked_fill": "np.where(mask, value, x)",
    "masked_fill_tensor": "np.where(mask, value, x)",
    "masked_scatter": "adjoint(lambda e: e[mask], x, shape)",
    "masked_select": "np.stack(np.broadcast_arrays(x, mask))[0][np.broadcast_arrays(x, mask)[1]]",
    "mark": "np.arange(size) == x",
    "max_dim": "np.max(x, dim if x.ndim else None, keepdims=keepdim)",
    "min_dim": "np.min(x, dim if x.ndim else None, keepdims=keepdim)",
    "mean_dim": "np.mean(x, dim, keepdims=keepdim)",
    "prod_dim": "np.prod(x, dim if x.ndim else None, keepdims=keepdim)",
    "sum_dim": "np.sum(x, dim, keepdims=keepdim)",
    "parts_backward": "np.stack([parts[0], 0 * parts[0], parts[1]], 1)",
    "permute": "np.transpose(x, dims)",
    "pick": "np.take(x, positions)",
    "promote": "x.astype(dtype)",
    "put": "putting(x, y, positions)",
    "relu": "np.where(x > 0, x, 0)",
    "repeat": "np.tile(x, repeats)",
    "reshape": "np.reshape(x, shape)",
    "rsqrt": "x ** -0.5",
    "scatter": "scattered(x, index, source, dim)",
    "scatter_add": "x + adjoint(lambda e: gathered(e, index, dim), source, np.shape(x))",
    "scatter_value": "scattered(x, index, np.full(index.shape, value), dim)",
    "select": "np.take(x, index, dim)",
    "select_backward": "np.stack([0 * x, x])",
    "share": "x * winners / np.sum(winners, dim, keepdims=True)",
    "sigmoid": "np.exp(x) / (np.exp(x) + 1)",
    "slice_backward": "np.insert(x, [0, 1, 2], 0, dim)",
    "slice_dim": "np.take(x, range(start, end, step), dim)",
    "sort": "ordered(x, dim, descending)",
    "split": "np.split(x, range(split_size, x.shape[dim], split_size), dim)[1]",
    "split_with_sizes": "np.split(x, np.cumsum(split_sizes)[:-1], dim)[1]",
    "squeeze_dims": "x.reshape([n for i, n in enumerate(x.shape) if i not in dims or n != 1])",
    "squeeze_dim": "x.reshape([n for i, n in enumerate(x.shape) if i != dim or n != 1])",
    "stack": "np.stack(tensors, dim)",
    "std": "(np.var(x, dim, keepdims=keepdim) * freedom(x, dim, correction)) ** 0.5",
    "sum_to": "np.sum(x, axes_to(x, shape), keepdims=True).reshape(shape)",
    "t": "np.transpose(x)",
    "to_copy": "x.astype(dtype)",
    "to_whole": "x.astype(dtype)",
    "topk": "np.take(ordered(x, dim, largest), range(k), dim) if x.ndim else x",
    "transpose": "np.swapaxes(x, dim0, dim1)",
    "unbind": "np.take(x, 1, dim)",
    "unsqueeze": "np.expand_dims(x, dim)",
    "var": "np.var(x, dim, keepdims=keepdim) * freedom(x, dim, correction)",
}

WITH_NUMPY |= {
    "adaptive_max_pool2d": "np.stack([np.stack([x[..., a:b, c:d].max((-1, -2)) "
    "for c, d in bounds[1]], -1) for a, b in bounds[0]], -2)",
    "attention": "attended(query, key, value, mask, scale)",
    "avg_pool2d": "pooled(x, grid, np.nansum) / divisor",
    "avg_pool2d_backward": "adjoint(lambda e: pooled(e, grid, np.nansum) / divisor, x, shape)",
    "batch_norm": "standard(x, (0, 2), eps, *(() if training else (column(mean), column(var))))"
    " * column(weight) + column(bias)",
    "leaky_relu_backward": "np.where(x > 0, g, negative_slope * g)",
    "binary_cross_entropy_backward": "g * (x - y) / (x * (1 - x))",
    "binary_cross_entropy": "reduced("
    "-weight * (y * np.log(x) + (1 - y) * np.log(1 - x)), reduction)",
    "binary_cross_entropy_with_logits": "reduced(weight * (pos_weight * y * np.log1p(np.exp(-x)) "
    "+ (1 - y) * np.log1p(np.exp(x))), reduction)",
    **{
        f"{name}_pad{rank}d": f"bordered(x, pad, '{mode}')"
        for name, mode in (("reflection", "reflect"), ("replication", "edge"))
        for rank in (1, 2, 3)
    },
    "constant_pad_nd": "np.pad(x[:, :-1], [(0, 2), (1, 0)], constant_values=value)",
    "conv_transpose": "adjoint(lambda e: correlated(e, weight, grid, groups), x, shape) "
    "+ column(bias, 4)",
    "convolution": "correlated(x, weight, grid, groups) + column(bias, x.ndim)",
    "convolution_input": "adjoint(lambda e: correlated(e, weight, grid, groups), x, shape)",
    "convolution_weight": "adjoint(lambda e: correlated(image, e, grid, groups), x, shape)",
    "embedding": "np.take(x, indices, 0)",
    "embedding_backward": "adjoint(lambda e: e[indices], x, shape) "
    "* (np.arange(3) != padding_idx)[:, None]",
    "erf": "error_function(x)",
    "gelu": "x / 2 * (1 + (error_function(x / 2**0.5) if approximate == 'none' "
    "else np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x**3))))",
    "glu": "np.split(x, 2, dim)[0] / (1 + np.exp(-np.split(x, 2, dim)[1]))",
    "group_norm": "standard(x.reshape(2, groups, -1), 2, eps).reshape(x.shape) * column(weight) "
    "+ column(bias)",
    "smooth_l1_loss": "reduced(np.where(abs(x - y) < beta, (x - y) ** 2 / 2 / beta, "
    "abs(x - y) - beta / 2), reduction)",
    "huber_loss": "reduced(np.where(abs(x - y) < delta, (x - y) ** 2 / 2, "
    "delta * (abs(x - y) - delta / 2)), reduction)",
    "layer_norm": "standard(x, tuple(range(-count, 0)), eps) * weight + bias",
    "log_softmax": "x - np.log(np.sum(np.exp(x), dim if x.ndim else None, keepdims=True))",
    "logsumexp": "np.log(np.sum(np.exp(x), dim, keepdims=keepdim))",
    "max_pool2d": "pooled(x, grid, np.nanmax)",
    "mse_loss": "reduced((x - y) ** 2, reduction)",
    "soft_margin_loss": "reduced(np.log1p(np.exp(-y * x)), reduction)",
    "nll_loss": "picked(x, target, weight, ignore_index, reduction)",
    "nll_loss2d": "picked(x, target, weight, ignore_index, reduction)",
    "nll_loss_backward": "adjoint("
    "lambda e: picked(e, target, weight, ignore_index, reduction), x, shape)",
    "softmax": "np.exp(x) / np.sum(np.exp(x), dim if x.ndim else None, keepdims=True)",
    "softplus": "np.where(beta * x > threshold, x, np.log1p(np.exp(beta * x)) / beta)",
}
WITH_NUMPY |= OF_FUNCTIONS


def reduced(values: Any, reduction: str) -> Any:
    return {"mean": np.mean, "sum": np.sum, "none": np.array}[reduction](values)


def error_function(x: Any) -> Any:
    return np.vectorize(math.erf)(x)


def column(vector: Any, rank: int = 3) -> Any:
    return vector.reshape(-1, *[1] * (rank - 2))


def standard(x: Any, axes: Any, eps: float, mean: Any = None, var: Any = None) -> Any:
    mean = x.mean(axes, keepdims=True) if mean is None else mean
    var = ((x - mean) ** 2).mean(axes, keepdims=True) if var is None else var
    return (x - mean) / (var + eps) ** 0.5


def attended(query: Any, key: Any, value: Any, mask: Any, scale: float) -> Any:
    out = np.zeros((*query.shape[:-1], value.shape[-1]))
    for i in np.ndindex(query.shape[:-1]):
        scores = scale * key[i[:2]] @ query[i] + (0 if mask is None else mask[i[2]])
        weights = np.exp(scores)
        out[i] = weights @ value[i[:2]] / (weights.sum() or 1)  # no key seen: 0
    return out


def picked(x: Any, target: Any, weight: Any, ignored: int, reduction: str) -> Any:
    scores, target = np.moveaxis(x, min(1, x.ndim - 1), -1), np.asarray(target)
    kept = [i for i in np.ndindex(target.shape) if target[i] != ignored]
    losses = np.zeros(target.shape)
    for i in kept:
        losses[i] = -scores[i][target[i]] * weight[target[i]]
    total = sum(weight[target[i]] for i in kept)
    return losses if reduction == "none" else losses.sum() / total


def view(x: Any, grid: Any) -> Any:
    """Return all windows, one by one: (..., *counts, *kernel), with nan on the border."""
    rank = len(grid.kernel)
    far = [(p, p + s + k * d) for k, s, p, d in zip(*grid[:4], strict=True)]
    padded = np.pad(x, [(0, 0)] * (x.ndim - rank) + far, constant_values=np.nan)
    out = np.empty((*x.shape[:-rank], *grid.counts(x.shape[-rank:]), *grid.kernel))
    for i in np.ndindex(*out.shape[-2 * rank :]):
        at = np.array(i[:rank]) * grid.stride + np.array(i[rank:]) * grid.dilation
        out[(..., *i)] = padded[(..., *at)]
    return out


def pooled(x: Any, grid: Any, function: Any) -> Any:
    return function(view(x, grid), axis=(-1, -2))


def correlated(x: Any, weight: Any, grid: Any, groups: int) -> Any:
    parts = np.split(np.nan_to_num(view(x, grid)), groups, axis=1)
    kernels, letters = np.split(weight, groups), "uv"[: weight.ndim - 2]
    rule = f"nc{letters.upper()}{letters},oc{letters}->no{letters.upper()}"
    pairs = zip(parts, kernels, strict=True)
    return np.concatenate([np.einsum(rule, part, kernel) for part, kernel in pairs], 1)


def adjoint(function: Any, g: Any, shape: tuple[int, ...]) -> Any:
    """Return the gradient of sum(g * function(x)), for a linear function, element by element."""
    out = np.zeros(shape)
    for i in np.ndindex(*shape):
        unit = np.zeros(shape)
        unit[i] = 1
        out[i] = np.sum(g * function(unit))
    return out


def gathered(x: Any, index: Any, dim: int) -> Any:
    out = np.zeros(np.shape(index))
    for i in np.ndindex(*out.shape):
        out[i] = x[(*i[:dim], index[i], *i[dim + 1 :])] if out.ndim else x
    return out


def scattered(x: Any, index: Any, source: Any, dim: int) -> Any:
    out = np.array(x)
    for i in np.ndindex(*np.shape(index)):
        out[(*i[:dim], index[i], *i[dim + 1 :]) if out.ndim else ()] = source[i]
    return out


def bordered(x: Any, pad: tuple[int, ...], mode: str) -> Any:
    for i, (before, after) in enumerate(zip(pad[::2], pad[1::2], strict=True)):
        dim = x.ndim - 1 - i
        widths = [(0, 0)] * x.ndim
        widths[dim] = max(before, 0), max(after, 0)
        wide = np.pad(x, widths, mode=mode)  # type: ignore[call-overload]
        x = np.take(wide, range(max(-before, 0), wide.shape[dim] + min(after, 0)), dim)
    return x


def ordered(x: Any, dim: int, descending: bool) -> Any:
    return x if not x.ndim else -np.sort(-x, dim) if descending else np.sort(x, dim)


def freedom(x: Any, dim: Any, correction: float) -> float:
    count = np.prod([x.shape[d] for d in dim])
    return float(count / (count - correction))


def putting(x: Any, y: Any, positions: Any) -> Any:
    out = np.array(x)
    np.put(out, positions, y)
    return out


def axes_to(x: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    padded = (1,) * (x.ndim - len(shape)) + shape
    return tuple(i for i, n in enumerate(padded) if n == 1)


def expected(op: Op, sample: Sample) -> Any:
    names: dict[str, Any] = {name: getattr(np, name) for name in np.__all__}
    names |= {**globals(), **op.defaults, **sample.params, "output": sample.output}
    if op.is_variadic:
        names[op.inputs[0]] = sample.inputs
    else:
        names |= dict(zip(op.inputs, sample.inputs, strict=True))
    return eval(WITH_NUMPY.get(op.name, op.text), names)


@for_each(("op", "sample"), SAMPLES)
def test_forward_is_what_numpy_computes(op: Op, sample: Sample) -> None:
    out = apply(op, [wrap(np.array(x)[()]) for x in sample.inputs], sample)

    np.testing.assert_allclose(out.tolist(), np.asarray(expected(op, sample)), rtol=1e-12)


@for_each(("op", "sample"), SAMPLES)
def test_float32_stays_float32(op: Op, sample: Sample) -> None:
    inputs = [np.asarray(x) for x in sample.inputs]
    if any(x.dtype == np.float64 for x in inputs):
        low = [x.astype("float32") if x.dtype == np.float64 else x for x in inputs]

        out = apply(op, [wrap(x[()]) for x in low], sample)

        assert out._array.dtype != np.float64


# -- gradients -------------------------------------------------------------------------------------


@for_each(("op", "sample"), SMOOTH)
def test_rules_agree_with_finite_differences(op: Op, sample: Sample) -> None:
    weights = cotangent(apply(op, leaves(op, sample, []), sample)).numpy()

    def weighted(*arrays: Any) -> float:
        return float(np.sum(apply(op, arrays, sample) * weights))

    found = gradients(op, sample)

    for wrt, g in zip(differentiable(op), found, strict=True):
        correct = numerical(weighted, sample.inputs, wrt)
        np.testing.assert_allclose(g.numpy(), correct, rtol=1e-7, atol=1e-8)


@for_each(("op", "sample"), TWICE)
def test_rules_can_be_differentiated_themselves(op: Op, sample: Sample) -> None:
    """Gradients of gradients, by finite differences of the first ones."""
    wanted = differentiable(op)
    inputs = leaves(op, sample)
    out = apply(op, inputs, sample)
    v = cotangent(out).requires_grad_()
    firsts = torch.autograd.grad(out, [inputs[i] for i in wanted], v, create_graph=True)
    total = sum((first * cotangent(first, 6)).sum() for first in firsts)
    if not isinstance(total, Tensor) or not total.requires_grad:
        return  # the gradient is a constant, as that of floor

    by = [inputs[i] for i in wanted] + [v]
    seconds = torch.autograd.grad(total, by, materialize_grads=True)
    weights_of_firsts = [cotangent(first, 6).numpy() for first in firsts]

    def of_firsts(*arrays: Any) -> float:
        *values, weights = arrays
        again = leaves(op, Sample(tuple(values), sample.params))
        result = apply(op, again, sample)
        g = torch.autograd.grad(result, [again[i] for i in wanted], wrap(weights))
        pairs = zip(g, weights_of_firsts, strict=True)
        return sum(float(np.sum(first.numpy() * weight)) for first, weight in pairs)

    point = [*sample.inputs, v.detach().numpy()]
    for index, second in zip([*wanted, len(point) - 1], seconds, strict=True):
        if IN_THE_GATE or second.numel() <= 2 * len(DIRECTIONS):
            correct = numerical(of_firsts, point, index)
            np.testing.assert_allclose(second.numpy(), correct, rtol=1e-6, atol=1e-7)
            continue
        for seed in DIRECTIONS:
            along = np.random.default_rng(seed).normal(size=second.shape)
            along /= np.linalg.norm(along)
            slope = numerical_along(of_firsts, point, index, along)
            np.testing.assert_allclose(np.sum(second.numpy() * along), slope, rtol=1e-6, atol=1e-7)


@for_each(("op", "sample"), DIFFERENTIABLE)
def test_rules_give_the_same_for_arrays_and_tensors(op: Op, sample: Sample) -> None:
    on_arrays = gradients(op, sample)
    on_tensors = gradients(op, sample, create_graph=True)

    for a, t in zip(on_arrays, on_tensors, strict=True):
        assert a.dtype is t.dtype
        np.testing.assert_allclose(a.numpy(), t.detach().numpy(), rtol=1e-14)


@for_each(("op", "sample"), DIFFERENTIABLE)
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


@for_each(("op", "sample"), DIFFERENTIABLE)
def test_backward_leaves_inputs_and_output_alone(op: Op, sample: Sample) -> None:
    inputs = leaves(op, sample)
    out = apply(op, inputs, sample)
    before = [np.array(t._array) for t in (*inputs, out)]

    out.backward(cotangent(out))

    for tensor, array in zip((*inputs, out), before, strict=True):
        np.testing.assert_array_equal(tensor._array, array)


@for_each(("op", "sample"), DIFFERENTIABLE)
def test_backward_gives_the_same_whether_somebody_watches_or_not(op: Op, sample: Sample) -> None:
    found: list[list[Any]] = []
    for observer in (None, Observer()):  # two forms of the engine
        inputs = leaves(op, sample)
        out = apply(op, inputs, sample)
        with installed(observer):
            out.backward(cotangent(out))
        found.append([t.grad._array for t in inputs if t.grad is not None])

    assert len(found[0]) == len(found[1])
    for plain, watched in zip(*found, strict=True):
        np.testing.assert_array_equal(plain, watched)


def node_of(out: Any) -> Any:
    """Return what a node has: where its edges lead to, and what it saved for rules in use."""
    node = (out[0] if isinstance(out, tuple) else out)._node
    if node is None:
        return None
    edges = [edge and id(edge.variable) for edge in (node.edge0, node.edge1, *node.more)]
    op, wanted = node.op, [name for name, edge in node.edges() if edge is not None]
    reads = {name for wrt in wanted if wrt in op.rules for name in op.rules[wrt].reads}
    slots = zip(("out", *op.inputs[:2]), (node.out, node.x, node.y), strict=False)
    saved = {name: repr(v) for name, v in (*slots, *zip(op.rest, node.rest, strict=False))}
    return type(node), op, node.shape, edges, {n: v for n, v in saved.items() if n in reads}


# An op with several outputs has a function of its own, made from neither text.
@for_each(("op", "sample"), [param for param in SAMPLES if not param.values[0].several])
def test_the_function_of_an_op_does_what_the_plain_text_does(op: Op, sample: Sample) -> None:
    floats = [i for i, x in enumerate(sample.inputs) if np.asarray(x).dtype.kind == "f"]
    for wanted in [differentiable(op), *([i] for i in floats), floats, []]:
        inputs = tuple(leaves(op, sample, wanted))

        fast, plain = op.function(*inputs, **sample.params), applied(op, inputs, sample.params)

        assert str(fast) == str(plain)
        assert node_of(fast) == node_of(plain)


@for_each("name", sorted(REFUSED))
def test_an_op_without_derivative_says_so_at_backward(name: str) -> None:
    op = OPS[name]
    sample = samples(op)[0]
    inputs = [wrap(x).requires_grad_() for x in sample.inputs]
    out = apply(op, inputs, sample)

    with pytest.raises(RuntimeError, match=r"(is not implemented\.?|@once_differentiable)\n-> "):
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


@for_each(("op", "sample"), DIFFERENTIABLE)
def test_a_node_saves_what_the_wanted_rules_read_and_no_more(op: Op, sample: Sample) -> None:
    for wanted in subsets(differentiable(op)):
        out = apply(op, leaves(op, sample, wanted), sample)

        node = out.grad_fn
        assert isinstance(node, Node)
        assert set(node.saved()) == tensors_read(op, wanted)


@for_each(("op", "sample"), DIFFERENTIABLE)
def test_backward_releases_what_was_saved(op: Op, sample: Sample) -> None:
    out = apply(op, leaves(op, sample), sample)
    node = out.grad_fn
    assert node is not None
    had_saved = bool(node.saved()) or op.saves_rest  # indices are freed, as tensors are

    out.backward(cotangent(out))

    assert node.saved() == {}
    if had_saved:
        with pytest.raises(RuntimeError, match="backward through the graph a second time"):
            out.backward(cotangent(out))
    else:
        out.backward(cotangent(out))


@for_each(("op", "sample"), DIFFERENTIABLE)
def test_nothing_is_recorded_under_no_grad(op: Op, sample: Sample) -> None:
    with torch.no_grad():
        out = apply(op, leaves(op, sample), sample)

    assert out.grad_fn is None
    assert out.requires_grad == bool(op.is_view)  # PyTorch's views do, though nothing flows there


# -- what is shown ---------------------------------------------------------------------------------


@for_each(("op", "wrt"), EVERY_RULE)
def test_the_text_of_a_rule_is_an_expression_of_what_it_reads(op: Op, wrt: str) -> None:
    rule = op.rules[wrt]

    expression = ast.parse(expression_of(rule), mode="eval")

    assert source_of(rule).lstrip().startswith(("@", "def"))
    assert ast.unparse(expression) == expression_of(rule)


def balanced(tex: str) -> bool:
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", tex):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


@for_each(("op", "wrt"), EVERY_RULE)
def test_every_rule_has_a_formula(op: Op, wrt: str) -> None:
    tex = op.rules[wrt].tex

    assert tex
    assert balanced(tex)


@for_each("op", EVERY_OP)
def test_every_op_says_what_it_does(op: Op) -> None:
    assert op.text
    assert op.tex
    assert balanced(op.tex)
    assert op.doc.strip().endswith(".")


@for_each("op", EVERY_OP)
def test_every_op_works_by_its_name_in_the_table(op: Op) -> None:
    assert OPS[op.name] is op
    assert op.function.op is op


def test_ops_that_are_loaded_late_are_tested_too() -> None:
    assert {"add", "convolution", "gather", "linalg_vector_norm", "topk"} <= {
        p.id for p in EVERY_OP
    }
    assert len(EVERY_OP) > 150
