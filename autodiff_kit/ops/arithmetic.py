"""Arithmetic: ``+ - * /`` and negation.

After reading this file you know what every op of the kit looks like. A rule gets the cotangent
``g`` (the gradient flowing in, shape of the output), reads what it names, and returns the
contribution to one input. Broadcasting is not its concern: the engine sums it out. Rules are
made of operators and ops only, so that they work on arrays, and on Tensors when the gradient
itself is to be differentiated. Read next: ``core/op.py``.
"""

from __future__ import annotations

from autodiff_kit.core.op import Value
from autodiff_kit.ops.table import op, vjp

__all__ = ["add", "div", "mul", "neg", "reciprocal", "sub"]


@op("x + y", tex=r"x + y")
@vjp("x", lambda g: g, tex=r"\bar z")
@vjp("y", lambda g: g, tex=r"\bar z")
def add(x: Value, y: Value) -> Value:
    """Add elementwise; shapes broadcast."""
    return x + y


@op("x - y", tex=r"x - y")
@vjp("x", lambda g: g, tex=r"\bar z")
@vjp("y", lambda g: -g, tex=r"-\bar z")
def sub(x: Value, y: Value) -> Value:
    """Subtract elementwise; shapes broadcast."""
    return x - y


@op("x * y", tex=r"x \odot y")
@vjp("x", lambda g, y: g * y, tex=r"\bar z \odot y")
@vjp("y", lambda g, x: g * x, tex=r"\bar z \odot x")
def mul(x: Value, y: Value) -> Value:
    """Multiply elementwise; shapes broadcast."""
    return x * y


@op("x / y", tex=r"x / y", dtypes="float")
@vjp("x", lambda g, y: g / y, tex=r"\bar z / y")
@vjp("y", lambda g, x, y: -g * ((x / y) / y), tex=r"-\bar z \odot x / y^2")
def div(x: Value, y: Value) -> Value:
    """Divide elementwise; shapes broadcast; integers divide to floats."""
    return x / y


@op("1 / x", tex=r"1 / x", dtypes="float")
@vjp("x", lambda g, out: -g * (out * out), tex=r"-\bar z \odot z^2")
def reciprocal(x: Value) -> Value:
    """Divide 1 by every element."""
    return 1 / x


@op("-x", tex=r"-x")
@vjp("x", lambda g: -g, tex=r"-\bar z")
def neg(x: Value) -> Value:
    """Change the sign."""
    return -x
