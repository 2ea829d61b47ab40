"""Arithmetic: ``+ - * /`` and negation; powers and matrix products live next door.

After reading this file you know what every op of the kit looks like. A rule gets the cotangent
``g`` (the gradient flowing in, shape of the output), reads what it names, and returns the
contribution to one input. Broadcasting is not its concern: the engine sums it out. Rules are
made of operators and ops only, so that they work on arrays, and on Tensors when the gradient
itself is to be differentiated. Read next: ``autograd/node.py``, then ``autograd/engine.py``.
"""

from __future__ import annotations

from autodiff_kit.autograd.node import Value
from autodiff_kit.ops import checks
from autodiff_kit.ops.table import op

__all__ = ["add", "div", "mul", "neg", "reciprocal", "rsub", "sub"]


@op("x + y", tex=r"x + y")
def add(x: Value, y: Value) -> Value:
    """Add elementwise; shapes broadcast."""
    return x + y


@add.vjp("x", tex=r"\bar z")
def _(g: Value) -> Value:
    return g


@add.vjp("y", tex=r"\bar z")
def _(g: Value) -> Value:
    return g


@op("x - y", tex=r"x - y", whole=checks.refuse_bool_difference)
def sub(x: Value, y: Value) -> Value:
    """Subtract elementwise; shapes broadcast."""
    return x - y


@sub.vjp("x", tex=r"\bar z")
def _(g: Value) -> Value:
    return g


@sub.vjp("y", tex=r"-\bar z")
def _(g: Value) -> Value:
    return -g


@op(
    "y - x",
    tex=r"y - x",
    node="RsubBackward1",
    operands=("y",),
    whole=checks.refuse_bool_difference,
)
def rsub(x: Value, *, y: float) -> Value:
    """Subtract a tensor from a number: what ``1 - x`` calls."""
    return y - x


@rsub.vjp("x", tex=r"-\bar z")
def _(g: Value) -> Value:
    return -g


@op("x * y", tex=r"x \odot y")
def mul(x: Value, y: Value) -> Value:
    """Multiply elementwise; shapes broadcast."""
    return x * y


@mul.vjp("x", tex=r"\bar z \odot y")
def _(g: Value, y: Value) -> Value:
    return g * y


@mul.vjp("y", tex=r"\bar z \odot x")
def _(g: Value, x: Value) -> Value:
    return g * x


@op("x / y", tex=r"x / y", dtypes="float")
def div(x: Value, y: Value) -> Value:
    """Divide elementwise; shapes broadcast; integers divide to floats."""
    return x / y


@div.vjp("x", tex=r"\bar z / y")
def _(g: Value, y: Value) -> Value:
    return g / y


@div.vjp("y", tex=r"-\bar z \odot x / y^2")
def _(g: Value, x: Value, y: Value) -> Value:
    return -g * ((x / y) / y)


@op("1 / x", tex=r"1 / x", dtypes="float")
def reciprocal(x: Value) -> Value:
    """Divide 1 by every element."""
    return 1 / x


@reciprocal.vjp("x", tex=r"-\bar z \odot z^2")
def _(g: Value, out: Value) -> Value:
    return -g * (out * out)


@op("-x", tex=r"-x", whole=checks.refuse_bool("dtypes.bool_negation"))
def neg(x: Value) -> Value:
    """Change the sign."""
    return -x


@neg.vjp("x", tex=r"-\bar z")
def _(g: Value) -> Value:
    return -g
