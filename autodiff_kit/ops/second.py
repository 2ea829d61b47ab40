"""Backward rules that are ops themselves: under ``create_graph`` each is one node, as in PyTorch.

The rule of ``sigmoid`` is ``g * (out * (1 - out))``: on arrays that is all. Recorded, it would be
three nodes; PyTorch has a function of its own for it, whose node is ``SigmoidBackwardBackward0``.
Here such an op is made of the rule as it stands, and gets the rules that differentiate it. Loaded
when the first pass with ``create_graph`` meets one. Read next: ``../autograd/engine.py``.
"""

# mypy: disable-error-code="has-type"
# A rule may name the op that it belongs to.

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType

from autodiff_kit import ops
from autodiff_kit.core.op import OPS, Op, OpFunction, Value
from autodiff_kit.core.positions import positional
from autodiff_kit.ops.elementwise import abs, exp, masked, sigmoid, zeros_like
from autodiff_kit.ops.indexing import plain
from autodiff_kit.ops.reduction import sum_dim
from autodiff_kit.ops.shape import reshape
from autodiff_kit.ops.table import op

__all__ = ["recorded_rule"]

_RECORDED: dict[tuple[str, str], Callable[..., Value]] = {}  # by op and input, by position


def recorded_rule(row: Op, rule: Callable[..., Value]) -> Callable[..., Value]:
    """Return what computes a rule of Tensors: the rule itself, or the op that it is."""
    rules = (row.rule0, row.rule1, *(() if row.is_variadic else row.rules_of_more))
    for wrt, own in zip(row.inputs, rules, strict=False):
        if rule is own:
            return _RECORDED.get((row.name, wrt), rule)
    return rule


def _declare(function: OpFunction, node: str = "", **rules: Callable[..., Value]) -> OpFunction:
    """Make an op of the rule for ``x``; ``rules`` are for ``g`` and for what the rule reads.

    The op's inputs are called as the rule's arguments, but ``out``, which is ``result``; what
    follows these is a parameter, by its name.
    """
    row, rule = function.op, function.op.rules["x"]
    code = rule.function.__code__
    names = ["result" if name == "out" else name for name in ("g", *rule.reads)]
    count = sum(name in ("g", "result", *row.inputs) for name in names)
    code = code.replace(
        co_name=f"{row.name}_backward",
        co_varnames=(*names, *code.co_varnames[len(names) :]),
        co_argcount=count,
        co_kwonlyargcount=len(names) - count,
    )
    forward = FunctionType(code, rule.function.__globals__, closure=rule.function.__closure__)
    forward.__doc__ = f"Compute what the rule of {row.name} sends to x."
    text = f"{code.co_name}({', '.join(names[:count])})"
    second: OpFunction = op(text, rule.tex, node=node)(forward)
    del OPS[code.co_name]  # no row of the table: it has no name to be called by
    for wrt, own in rules.items():
        second.vjp(wrt, r"\bar w\,\partial")(own)
    _record(function, second, "x", names)
    return second


def _record(function: OpFunction, second: OpFunction, wrt: str, names: list[str]) -> None:
    """Let an op compute the rule for ``wrt``, whose arguments are its own of these names."""
    inputs, params = (
        [names.index(n) for n in part] for part in (second.op.inputs, second.op.params)
    )

    def rule(*values: Value) -> Value:
        options = {names[i]: plain(values[i]) for i in params}
        return second(*(values[i] for i in inputs), **options)

    reads = function.op.rules[wrt].reads
    _RECORDED[function.op.name, wrt] = positional(function.op, reads, rule)


def _flat(c: Value) -> Value:
    return zeros_like(c)


# -- activations -----------------------------------------------------------------------------------

_sigmoid = _declare(
    ops.sigmoid,
    g=lambda c, result: _sigmoid(c, result),
    result=lambda c, g, result: c * g * (-2 * result + 1),
)
_tanh = _declare(
    ops.tanh,
    g=lambda c, result: _tanh(c, result),
    result=lambda c, g, result: c * (-2 * result * g),
)
_softplus = _declare(
    ops.softplus,
    g=lambda c, x, beta, threshold: _softplus(c, x, beta=beta, threshold=threshold),
    x=lambda c, g, x, beta, threshold: masked(
        c * g * _bell(x * beta) * beta, ~(x * beta > threshold)
    ),
)
_elu = _declare(
    ops.elu,
    g=lambda c, x, alpha, scale: _elu(c, x, alpha=alpha, scale=scale),
    x=lambda c, g, x, alpha, scale: masked(c * g * exp(x) * (alpha * scale), x <= 0),
)
_celu = _declare(
    ops.celu,
    "EluBackwardBackward0",
    g=lambda c, x, alpha: _celu(c, x, alpha=alpha),
    x=lambda c, g, x, alpha: masked(c * g * exp(x / alpha) / alpha, x <= 0),
)
_hardswish = _declare(
    ops.hardswish,
    g=lambda c, x: _hardswish(c, x),
    x=lambda c, g, x: masked(c * g / 3, (x > -3) & (x < 3)),
)
_hardtanh = _declare(
    ops.hardtanh, g=lambda c, x, low, high: _hardtanh(c, x, low=low, high=high), x=_flat
)
_hardshrink = _declare(
    ops.hardshrink, g=lambda c, x, lambd: _hardshrink(c, x, lambd=lambd), x=_flat
)
_softshrink = _declare(
    ops.softshrink, g=lambda c, x, lambd: _softshrink(c, x, lambd=lambd), x=_flat
)
_threshold = _declare(
    ops.threshold, g=lambda c, x, threshold: _threshold(c, x, threshold=threshold), x=_flat
)
_log_sigmoid = _declare(
    ops.log_sigmoid,
    g=lambda c, x, buffer: _log_sigmoid(c, x, buffer=plain(buffer)),
    x=lambda c, g, x: -c * g * _bell(x),
)


def _bell(x: Value) -> Value:
    """Return the slope of the sigmoid."""
    share = sigmoid(x)
    return share * (1 - share)


def _share(total: Value, dim: int) -> Value:
    return sum_dim(total, dim=(dim,) if total.shape else (), keepdim=True)


_softmax = _declare(
    ops.softmax,
    "SoftmaxBackwardDataBackward0",
    g=lambda c, result, dim: _softmax(c, result, dim=dim),
    result=lambda c, g, result, dim: (
        c * g - _share(result * g, dim) * c - g * _share(result * c, dim)
    ),
)
_log_softmax = _declare(
    ops.log_softmax,
    "LogSoftmaxBackwardDataBackward0",
    g=lambda c, result, dim: c - _share(c * exp(result), dim),
    result=lambda c, g, result, dim: -_share(g, dim) * exp(result) * c,
)

# The other one of two: not the same with the condition turned round.
_RECORDED["where", "y"] = positional(
    ops.where.op, ("condition",), lambda g, condition: ops.where(condition, 0, g)
)
_RECORDED["mv", "x"] = positional(  # an outer product
    ops.mv.op, ("y",), lambda g, y: reshape(g, shape=(-1, 1)) * y
)

# -- losses: the rule for the target is that for the prediction, with both exchanged ---------------


def _among(c: Value, x: Value, reduction: str) -> Value:
    return c / max(1, x.numel() if hasattr(x, "numel") else x.size) if reduction == "mean" else c


_mse = _declare(
    ops.mse_loss,
    g=lambda c, x, y, reduction: _mse(c, x, y, reduction=reduction),
    x=lambda c, g, x, reduction: _among(c * g, x, reduction) * 2,
    y=lambda c, g, x, reduction: _among(c * g, x, reduction) * -2,
)
_huber = _declare(
    ops.huber_loss,
    g=lambda c, x, y, x_dtype, y_dtype, delta, reduction: _huber(
        c, x, y, x_dtype=x_dtype, y_dtype=y_dtype, delta=delta, reduction=reduction
    ),
    x=lambda c, g, x, y, delta, reduction: masked(_among(c * g, x, reduction), abs(x - y) < delta),
    y=lambda c, g, x, y, delta, reduction: masked(_among(-c * g, x, reduction), abs(x - y) < delta),
)
_smooth_l1 = _declare(
    ops.smooth_l1_loss,
    g=lambda c, x, y, beta, reduction: _smooth_l1(c, x, y, beta=beta, reduction=reduction),
    x=lambda c, g, x, y, beta, reduction: masked(
        _among(c * g, x, reduction) / beta, abs(x - y) < beta
    ),
    y=lambda c, g, x, y, beta, reduction: masked(
        _among(c * g, x, reduction) / -beta, abs(x - y) < beta
    ),
)
_exchanged = {"x": "y", "y": "x", "x_dtype": "y_dtype", "y_dtype": "x_dtype"}
for _loss, _second in (
    (ops.mse_loss, _mse),
    (ops.huber_loss, _huber),
    (ops.smooth_l1_loss, _smooth_l1),
):
    _reads = _loss.op.rules["y"].reads
    _record(_loss, _second, "y", ["g", *(_exchanged.get(name, name) for name in _reads)])

for _nll in (ops.nll_loss, ops.nll_loss2d):
    _declare(
        _nll,
        g=lambda c, target, weight, ignore_index, reduction: ops.nll_loss(
            c, target=target, weight=weight, ignore_index=ignore_index, reduction=reduction
        ),
        x=_flat,
    )

# -- pooling ---------------------------------------------------------------------------------------

_declare(
    ops.max_pool2d,
    "MaxPool2DWithIndicesBackwardBackward0",
    g=lambda c, positions: _at(c, positions),
    x=_flat,
)
_declare(
    ops.adaptive_max_pool2d,
    "AdaptiveMaxPool2DBackwardBackward0",
    g=lambda c, positions: _at(c, positions),
    x=_flat,
)
_declare(
    ops.avg_pool2d,
    "AvgPool2DBackwardBackward0",
    g=lambda c, grid, divisor: ops.avg_pool2d(c, grid=grid, divisor=divisor),
    x=_flat,
)
_declare(
    ops.adaptive_avg_pool2d,
    "AdaptiveAvgPool2DBackwardBackward0",
    g=lambda c, rows, columns: ops.resample(c, rows=rows, columns=columns),
    x=_flat,
)
_declare(
    ops.upsample_nearest2d,
    "UpsampleNearest2DBackwardBackward0",
    g=lambda c, rows, columns: ops.resample(c, rows=rows, columns=columns),
)
_declare(
    ops.upsample_bilinear2d,
    "UpsampleBilinear2DBackwardBackward0",
    g=lambda c, rows, columns: ops.resample(c, rows=rows, columns=columns),
)


def _at(c: Value, positions: Value) -> Value:
    return ops.index(reshape(c, shape=(-1,)), indices=(plain(positions),))
