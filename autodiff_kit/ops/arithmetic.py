"""Arithmetic: ``+ - * /``, powers, negation, and matrix products live next door in ``linalg.py``.

After reading this file you know what every op of the kit looks like. A rule gets the cotangent
``g`` (the gradient flowing in, shape of the output), reads what it names, and returns the
contribution to one input. Broadcasting is not its concern: the engine sums it out. Rules are
made of operators and ops only, so that they work on arrays, and on Tensors when the gradient
itself is to be differentiated. Read next: ``autograd/node.py``, then ``autograd/engine.py``.
"""

from __future__ import annotations

import numpy as np

from autodiff_kit.autograd.node import Value
from autodiff_kit.ops.table import op

__all__ = [
    "add",
    "add_scaled",
    "div",
    "floor_divide",
    "mul",
    "neg",
    "pow_from_number",
    "pow_tensor",
    "pow_to_number",
    "reciprocal",
    "remainder",
    "rsub",
    "sub",
    "sub_scaled",
]


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


@op("x - y", tex=r"x - y")
def sub(x: Value, y: Value) -> Value:
    """Subtract elementwise; shapes broadcast."""
    return x - y


@sub.vjp("x", tex=r"\bar z")
def _(g: Value) -> Value:
    return g


@sub.vjp("y", tex=r"-\bar z")
def _(g: Value) -> Value:
    return -g


@op("y - x", tex=r"y - x", node="RsubBackward1")
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


@op("-x", tex=r"-x")
def neg(x: Value) -> Value:
    """Change the sign."""
    return -x


@neg.vjp("x", tex=r"-\bar z")
def _(g: Value) -> Value:
    return -g


@op("x ** exponent", tex=r"x^n", node="PowBackward0")
def pow_to_number(x: Value, *, exponent: float) -> Value:
    """Raise every element to one power: what ``x ** 2`` calls."""
    return x * x if exponent == 2 else x**exponent  # numpy's ** is 20 times slower for squares


@pow_to_number.vjp("x", tex=r"\bar z \odot n\,x^{n-1}")
def _(g: Value, x: Value, exponent: float) -> Value:
    # PyTorch defines the gradient of x ** 0 as 0, at x = 0 too, where 0 * 0 ** -1 would be nan.
    return g * 0 if exponent == 0 else g * (exponent * x ** (exponent - 1))


@op("base ** x", tex=r"a^x", node="PowBackward2", saved_as={"x": "exponent"})
def pow_from_number(x: Value, *, base: float) -> Value:
    """Raise one number to every power: what ``2 ** x`` calls."""
    return base**x


@pow_from_number.vjp("x", tex=r"\bar z \odot z \ln a")
def _(g: Value, out: Value, base: float) -> Value:
    return g * (out * float(np.log(base))) if base > 0 else g * 0


@op("x ** y", tex=r"x^y", node="PowBackward1", saved_as={"y": "exponent"})
def pow_tensor(x: Value, y: Value) -> Value:
    """Raise elementwise to elementwise powers; shapes broadcast."""
    return x**y


@pow_tensor.vjp("x", tex=r"\bar z \odot y \odot x^{y-1}")
def _(g: Value, x: Value, y: Value) -> Value:
    from autodiff_kit.ops.elementwise import where  # a rule may use any op

    return where(y == 0, g * 0, g * (y * x ** (y - 1)))


@pow_tensor.vjp("y", tex=r"\bar z \odot z \odot \ln x")
def _(g: Value, out: Value, x: Value, y: Value) -> Value:
    from autodiff_kit.ops.elementwise import log, where

    return where((x == 0) & (y >= 0), g * 0, g * (out * log(x)))


@op("x % y", tex=r"x \bmod y")
def remainder(x: Value, y: Value) -> Value:
    """Return what is left after whole divisions; the sign is that of ``y``."""
    return np.remainder(x, y)


@remainder.vjp("x", tex=r"\bar z")
def _(g: Value) -> Value:
    return g


@remainder.vjp("y", tex=r"-\bar z \odot \lfloor x / y \rfloor")
def _(g: Value, x: Value, y: Value) -> Value:
    return -g * floor_divide(x, y)


@op("x // y", tex=r"\lfloor x / y \rfloor")
def floor_divide(x: Value, y: Value) -> Value:
    """Divide and round down; has no derivative."""
    return x // y


@op("x + alpha * y", tex=r"x + \alpha y", node="AddBackward0")
def add_scaled(x: Value, y: Value, *, alpha: float) -> Value:
    """Add a multiple: what ``torch.add(x, y, alpha=...)`` calls."""
    return x + alpha * y


@add_scaled.vjp("x", tex=r"\bar z")
def _(g: Value) -> Value:
    return g


@add_scaled.vjp("y", tex=r"\alpha \bar z")
def _(g: Value, alpha: float) -> Value:
    return g * alpha


@op("x - alpha * y", tex=r"x - \alpha y", node="SubBackward0")
def sub_scaled(x: Value, y: Value, *, alpha: float) -> Value:
    """Subtract a multiple: what ``torch.sub(x, y, alpha=...)`` calls."""
    return x - alpha * y


@sub_scaled.vjp("x", tex=r"\bar z")
def _(g: Value) -> Value:
    return g


@sub_scaled.vjp("y", tex=r"-\alpha \bar z")
def _(g: Value, alpha: float) -> Value:
    return g * -alpha
