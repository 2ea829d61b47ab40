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


def _declare(
    function: OpFunction, node: str = "", text: str = "", **rules: Callable[..., Value]
) -> OpFunction:
    """Make an op of the rule for ``x``; ``rules`` are for ``grad_output`` and what the rule reads.

    The op's inputs are called as PyTorch calls them: ``grad_output`` is ``g``, ``result`` is
    ``out``. What follows these is a parameter, by its name.
    """
    row, rule = function.op, function.op.rules["x"]
    code = rule.function.__code__
    names = ["result" if name == "out" else name for name in ("grad_output", *rule.reads)]
    count = sum(name in ("grad_output", "result", *row.inputs) for name in names)
    code = code.replace(
        co_name=f"{row.name}_backward",
        co_varnames=(*names, *code.co_varnames[len(names) :]),
        co_argcount=count,
        co_kwonlyargcount=len(names) - count,
    )
    row_before = OPS.get(code.co_name)
    forward = FunctionType(code, rule.function.__globals__, closure=rule.function.__closure__)
    forward.__doc__ = f"Compute what the rule of {row.name} sends to x."
    name = row.name.replace("_", " ")
    second: OpFunction = op(text or f"the gradient through {name}", rule.tex, node=node)(forward)
    if row_before is None:  # no row of the table: it has no name to be called by
        del OPS[code.co_name]
    else:
        OPS[code.co_name] = row_before
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


def _flat(g: Value) -> Value:
    return zeros_like(g)


# -- activations -----------------------------------------------------------------------------------

_sigmoid = _declare(
    ops.sigmoid,
    text="grad_output * (result * (1 - result))",
    grad_output=lambda g, result: _sigmoid(g, result),
    result=lambda g, grad_output, result: g * grad_output * (-2 * result + 1),
)
_tanh = _declare(
    ops.tanh,
    text="grad_output * (1 - result * result)",
    grad_output=lambda g, result: _tanh(g, result),
    result=lambda g, grad_output, result: g * (-2 * result * grad_output),
)
_softplus = _declare(
    ops.softplus,
    grad_output=lambda g, x, beta, threshold: _softplus(g, x, beta=beta, threshold=threshold),
    x=lambda g, grad_output, x, beta, threshold: masked(
        g * grad_output * _bell(x * beta) * beta, ~(x * beta > threshold)
    ),
)
_elu = _declare(
    ops.elu,
    grad_output=lambda g, x, alpha, scale: _elu(g, x, alpha=alpha, scale=scale),
    x=lambda g, grad_output, x, alpha, scale: masked(
        g * grad_output * exp(x) * (alpha * scale), x <= 0
    ),
)
_celu = _declare(
    ops.celu,
    "EluBackwardBackward0",
    grad_output=lambda g, x, alpha: _celu(g, x, alpha=alpha),
    x=lambda g, grad_output, x, alpha: masked(g * grad_output * exp(x / alpha) / alpha, x <= 0),
)
_hardswish = _declare(
    ops.hardswish,
    grad_output=lambda g, x: _hardswish(g, x),
    x=lambda g, grad_output, x: masked(g * grad_output / 3, (x > -3) & (x < 3)),
)
_hardtanh = _declare(
    ops.hardtanh, grad_output=lambda g, x, low, high: _hardtanh(g, x, low=low, high=high), x=_flat
)
_hardshrink = _declare(
    ops.hardshrink, grad_output=lambda g, x, lambd: _hardshrink(g, x, lambd=lambd), x=_flat
)
_softshrink = _declare(
    ops.softshrink, grad_output=lambda g, x, lambd: _softshrink(g, x, lambd=lambd), x=_flat
)
_threshold = _declare(
    ops.threshold,
    grad_output=lambda g, x, threshold: _threshold(g, x, threshold=threshold),
    x=_flat,
)
_log_sigmoid = _declare(
    ops.log_sigmoid,
    grad_output=lambda g, x, buffer: _log_sigmoid(g, x, buffer=plain(buffer)),
    x=lambda g, grad_output, x, buffer: -g * grad_output * _bell(x),
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
    grad_output=lambda g, result, dim: _softmax(g, result, dim=dim),
    result=lambda g, grad_output, result, dim: (
        g * grad_output
        - _share(result * grad_output, dim) * g
        - grad_output * _share(result * g, dim)
    ),
)
_log_softmax = _declare(
    ops.log_softmax,
    "LogSoftmaxBackwardDataBackward0",
    grad_output=lambda g, result, dim: g - _share(g * exp(result), dim),
    result=lambda g, grad_output, result, dim: -_share(grad_output, dim) * exp(result) * g,
)

# The other one of two: not the same with the condition turned round.
_RECORDED["where", "y"] = positional(
    ops.where.op, ("condition",), lambda g, condition: ops.where(condition, 0, g)
)
_RECORDED["mv", "x"] = positional(  # an outer product
    ops.mv.op, ("y",), lambda g, y: reshape(g, shape=(-1, 1)) * y
)

# -- losses: the rule for the target is that for the prediction, with both exchanged ---------------


def _among(g: Value, x: Value, reduction: str) -> Value:
    return g / max(1, x.numel() if hasattr(x, "numel") else x.size) if reduction == "mean" else g


_mse = _declare(
    ops.mse_loss,
    grad_output=lambda g, x, y, reduction: _mse(g, x, y, reduction=reduction),
    x=lambda g, grad_output, x, reduction: _among(g * grad_output, x, reduction) * 2,
    y=lambda g, grad_output, x, reduction: _among(g * grad_output, x, reduction) * -2,
)
_huber = _declare(
    ops.huber_loss,
    grad_output=lambda g, x, y, x_dtype, y_dtype, delta, reduction: _huber(
        g, x, y, x_dtype=x_dtype, y_dtype=y_dtype, delta=delta, reduction=reduction
    ),
    x=lambda g, grad_output, x, y, delta, reduction: masked(
        _among(g * grad_output, x, reduction), abs(x - y) < delta
    ),
    y=lambda g, grad_output, x, y, delta, reduction: masked(
        _among(-g * grad_output, x, reduction), abs(x - y) < delta
    ),
)
_smooth_l1 = _declare(
    ops.smooth_l1_loss,
    grad_output=lambda g, x, y, beta, reduction: _smooth_l1(
        g, x, y, beta=beta, reduction=reduction
    ),
    x=lambda g, grad_output, x, y, beta, reduction: masked(
        _among(g * grad_output, x, reduction) / beta, abs(x - y) < beta
    ),
    y=lambda g, grad_output, x, y, beta, reduction: masked(
        _among(g * grad_output, x, reduction) / -beta, abs(x - y) < beta
    ),
)
_exchanged = {"x": "y", "y": "x", "x_dtype": "y_dtype", "y_dtype": "x_dtype"}
for _loss, _second in (
    (ops.mse_loss, _mse),
    (ops.huber_loss, _huber),
    (ops.smooth_l1_loss, _smooth_l1),
):
    _reads = _loss.op.rules["y"].reads
    _record(_loss, _second, "y", ["grad_output", *(_exchanged.get(name, name) for name in _reads)])

for _nll in (ops.nll_loss, ops.nll_loss2d):
    _declare(
        _nll,
        text="-grad_output * one_hot(target) / len(target) if reduction == 'mean' "
        "else -grad_output * one_hot(target)",
        grad_output=lambda g, target, weight, ignore_index, reduction: ops.nll_loss(
            g, target=target, weight=weight, ignore_index=ignore_index, reduction=reduction
        ),
        x=lambda g, target: zeros_like(g),
    )

# -- pooling ---------------------------------------------------------------------------------------

_declare(
    ops.max_pool2d,
    "MaxPool2DWithIndicesBackwardBackward0",
    grad_output=lambda g, positions: _at(g, positions),
    x=lambda g, positions: zeros_like(g),
)
_declare(
    ops.adaptive_max_pool2d,
    "AdaptiveMaxPool2DBackwardBackward0",
    grad_output=lambda g, positions: _at(g, positions),
    x=lambda g, positions: zeros_like(g),
)
_declare(
    ops.avg_pool2d,
    "AvgPool2DBackwardBackward0",
    grad_output=lambda g, grid, divisor: ops.avg_pool2d(g, grid=grid, divisor=divisor),
    x=lambda g, grid, divisor: zeros_like(g),
)
_declare(
    ops.adaptive_avg_pool2d,
    "AdaptiveAvgPool2DBackwardBackward0",
    grad_output=lambda g, rows, columns: ops.resample(g, rows=rows, columns=columns),
    x=lambda g, rows, columns: zeros_like(g),
)
_declare(
    ops.upsample_nearest2d,
    "UpsampleNearest2DBackwardBackward0",
    grad_output=lambda g, rows, columns: ops.resample(g, rows=rows, columns=columns),
)
_declare(
    ops.upsample_bilinear2d,
    "UpsampleBilinear2DBackwardBackward0",
    grad_output=lambda g, rows, columns: ops.resample(g, rows=rows, columns=columns),
)


def _at(g: Value, positions: Value) -> Value:
    return ops.index(reshape(g, shape=(-1,)), indices=(plain(positions),))
