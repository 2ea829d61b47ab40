"""What NumPy computes for an op: what the ops are tested against."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_kit.core.op import Op
from tests.ops.inputs import Sample
from tests.ops.samples_of_functions import WITH_NUMPY as OF_FUNCTIONS
from tests.ops.samples_of_functions import plainly  # noqa: F401 (WITH_NUMPY names it)

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
    "unsafe_split": "np.split(x, range(split_size, x.shape[dim], split_size), dim)[1]",
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
    "entr": "np.where(x > 0, -x * np.log(x), np.where(x < 0, -np.inf, 0))",
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
    "gelu_backward": "g * ((1 + error_function(x / 2**0.5)) / 2 "
    "+ x * np.exp(-x * x / 2) / (2 * np.pi) ** 0.5 if approximate == 'none' else slope(lambda z: "
    "z / 2 * (1 + np.tanh((2 / np.pi) ** 0.5 * (z + 0.044715 * z**3))), x))",
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


def slope(function: Callable[[Any], Any], x: Any) -> Any:
    """Return the slope of an analytic function, by a step along the imaginary axis."""
    return np.imag(function(x + 1e-30j)) / 1e-30


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
    places = [i for i in np.ndindex(target.shape) if target[i] != ignored]
    losses = np.zeros(target.shape)
    for i in places:
        losses[i] = -scores[i][target[i]] * weight[target[i]]
    total = sum(weight[target[i]] for i in places)
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
