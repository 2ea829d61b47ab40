"""Functions of two or three tensors: angles, remainders, interpolation, bits, truth values.

After reading this file you know which of them take a number in the place of a tensor: those whose
arguments are called ``Operand``. Read next: ``comparing.py``.
"""

from __future__ import annotations

from autodiff_kit import ops
from autodiff_kit.functions import basic
from autodiff_kit.functions.declared import Number, Operand, alias, function, overloaded
from autodiff_kit.ops import pairs
from autodiff_kit.tensor import Tensor

__all__ = ["addcdiv", "addcmul", "arctan2", "atan2", "bitwise_and", "bitwise_left_shift"]
__all__ += ["bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "copysign", "divide"]
__all__ += ["float_power", "fmax", "fmin", "fmod", "gcd", "heaviside", "hypot", "lcm", "ldexp"]
__all__ += ["lerp", "logaddexp", "logaddexp2", "logical_and", "logical_or", "logical_xor"]
__all__ += ["multiply", "rsub", "subtract", "true_divide", "xlogy"]


@function
def atan2(input: Tensor, other: Tensor) -> Tensor:
    """Return the angles of points with the heights ``input`` and the widths ``other``."""
    return pairs.atan2(input, other)


@function
def hypot(input: Tensor, other: Tensor) -> Tensor:
    """Return ``sqrt(input ** 2 + other ** 2)``."""
    return pairs.hypot(input, other)


@function
def logaddexp(input: Tensor, other: Tensor) -> Tensor:
    """Return ``log(exp(input) + exp(other))``, without overflow."""
    return pairs.logaddexp(input, other)


@function
def logaddexp2(input: Tensor, other: Tensor) -> Tensor:
    """Return ``log2(2 ** input + 2 ** other)``, without overflow."""
    return pairs.logaddexp2(input, other)


@overloaded("(Tensor input, Tensor other)", "(Tensor input, Number other)")
def copysign(input: Tensor, other: Operand) -> Tensor:
    """Return ``input`` with the sign of ``other``."""
    if isinstance(other, Tensor):
        return pairs.copysign(input, other)
    return pairs.copysign_number(input, y=other)


@function
def fmax(input: Tensor, other: Tensor) -> Tensor:
    """Return the larger of two elements; a number instead of nan."""
    return pairs.fmax(input, other)


@function
def fmin(input: Tensor, other: Tensor) -> Tensor:
    """Return the smaller of two elements; a number instead of nan."""
    return pairs.fmin(input, other)


@overloaded("(Tensor input, Tensor other)", "(Tensor input, Number other)")
def fmod(input: Tensor, other: Operand) -> Tensor:
    """Return the remainder of a division that is rounded towards 0."""
    if isinstance(other, Tensor):
        return pairs.fmod(input, other)
    return pairs.fmod_by_number(input, y=other)


@function
def heaviside(input: Tensor, values: Tensor) -> Tensor:
    """Return 0 where ``input`` is negative, 1 where it is positive, ``values`` where it is 0."""
    return pairs.heaviside(input, values)


@overloaded(
    "(Tensor input, Tensor other)", "(Number self, Tensor other)", "(Tensor input, Number other)"
)
def xlogy(input: Operand, other: Operand) -> Tensor:
    """Return ``input * log(other)``, and 0 where ``input`` is 0; one of them may be a number."""
    if not isinstance(input, Tensor):
        if not isinstance(other, Tensor):
            raise TypeError  # the words come from ``signatures.py``
        return pairs.xlogy_of_number(other, y=input)
    if not isinstance(other, Tensor):
        return pairs.xlogy_number(input, y=other)
    return pairs.xlogy(input, other)


@overloaded(
    "(Tensor input, Tensor end, Tensor weight)", "(Tensor input, Tensor end, Number weight)"
)
def lerp(input: Tensor, end: Tensor, weight: Operand) -> Tensor:
    """Go a part of the way from ``input`` to ``end``: ``input + weight * (end - input)``."""
    if isinstance(weight, Tensor):
        return pairs.lerp_tensor(input, end, weight)
    return pairs.lerp(input, end, weight=weight)


@function
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    """Return ``input + value * tensor1 * tensor2``."""
    return pairs.addcmul(input, tensor1, tensor2, value=value)


@function
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    """Return ``input + value * tensor1 / tensor2``."""
    return pairs.addcdiv(input, tensor1, tensor2, value=value)


@overloaded(
    "(Tensor input, Tensor exponent)",
    "(Number self, Tensor exponent)",
    "(Tensor input, Number exponent)",
)
def float_power(input: Operand, exponent: Operand) -> Tensor:
    """Raise to a power in float64."""
    from autodiff_kit.functions.basic import pow

    one, other = (v.double() if isinstance(v, Tensor) else float(v) for v in (input, exponent))
    return pow(one, other)


@function
def ldexp(input: Tensor, other: Tensor) -> Tensor:
    """Return ``input * 2 ** other``."""
    return pairs.ldexp(input, other)


@overloaded(
    "(Tensor input, Tensor other, *, Number alpha = 1)",
    "(Tensor input, Number other, Number alpha = 1)",
)
def rsub(input: Tensor, other: Operand, alpha: Number = 1) -> Tensor:
    """Return ``other - alpha * input``."""
    scaled = input if alpha == 1 else input * alpha
    return other - scaled


# -- bits and truth values ------------------------------------------------------------------------

_BITS = (
    "(Tensor input, Tensor other)",
    "(Tensor input, Number other)",
    "(Number self, Tensor other)",
)


def _tensor_first(input: Operand, other: Operand) -> tuple[Tensor, Operand]:
    if isinstance(input, Tensor):
        return input, other
    if isinstance(other, Tensor):
        return other, input
    raise TypeError  # the words come from ``signatures.py``


@overloaded(*_BITS)
def bitwise_and(input: Operand, other: Operand) -> Tensor:
    """Return ``input & other``, bit by bit."""
    return ops.bitwise_and(*_tensor_first(input, other))


@overloaded(*_BITS)
def bitwise_or(input: Operand, other: Operand) -> Tensor:
    """Return ``input | other``, bit by bit."""
    return ops.bitwise_or(*_tensor_first(input, other))


@overloaded(*_BITS)
def bitwise_xor(input: Operand, other: Operand) -> Tensor:
    """Return ``input ^ other``, bit by bit."""
    return ops.bitwise_xor(*_tensor_first(input, other))


@function
def bitwise_not(input: Tensor) -> Tensor:
    """Return ``~input``, bit by bit."""
    return ops.bitwise_not(input)


@overloaded(*_BITS)
def bitwise_left_shift(input: Operand, other: Operand) -> Tensor:
    """Return ``input << other``."""
    return pairs.bitwise_left_shift(input, other)


@overloaded(*_BITS)
def bitwise_right_shift(input: Operand, other: Operand) -> Tensor:
    """Return ``input >> other``."""
    return pairs.bitwise_right_shift(input, other)


@function
def gcd(input: Tensor, other: Tensor) -> Tensor:
    """Return the greatest common divisor."""
    return pairs.gcd(input, other)


@function
def lcm(input: Tensor, other: Tensor) -> Tensor:
    """Return the least common multiple."""
    return pairs.lcm(input, other)


@function
def logical_and(input: Tensor, other: Tensor) -> Tensor:
    """Tell where both elements are not 0."""
    return pairs.logical_and(input, other)


@function
def logical_or(input: Tensor, other: Tensor) -> Tensor:
    """Tell where one element, or both, is not 0."""
    return pairs.logical_or(input, other)


@function
def logical_xor(input: Tensor, other: Tensor) -> Tensor:
    """Tell where one element, but not both, is not 0."""
    return pairs.logical_xor(input, other)


# -- other names ----------------------------------------------------------------------------------


@overloaded("(Operand input, Tensor other)", "(Operand input, Number other)")
def multiply(input: Operand, other: Operand) -> Tensor:
    """Return ``input * other``: ``mul``."""
    return basic.mul(input, other)


@overloaded(
    "(Operand input, Tensor other, *, Number alpha = 1)",
    "(Operand input, Number other, Number alpha = 1)",
)
def subtract(input: Operand, other: Operand, alpha: Number = 1) -> Tensor:
    """Return ``input - alpha * other``: ``sub``."""
    return basic.sub(input, other, alpha=alpha)


@overloaded(
    "(Operand input, Tensor other)",
    "(Operand input, Tensor other, *, str rounding_mode)",
    "(Operand input, Number other)",
    "(Operand input, Number other, *, str rounding_mode)",
)
def divide(input: Operand, other: Operand, *, rounding_mode: str | None = None) -> Tensor:
    """Return ``input / other``: ``div``."""
    if not isinstance(rounding_mode, str | None):
        raise TypeError  # the words come from ``signatures.py``
    return basic.div(input, other, rounding_mode=rounding_mode)


@overloaded("(Operand input, Tensor other)", "(Operand input, Number other)")
def true_divide(input: Operand, other: Operand) -> Tensor:
    """Return ``input / other``: ``div``."""
    return basic.div(input, other)


arctan2 = alias("arctan2", atan2)
