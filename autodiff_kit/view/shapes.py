"""Which shape a backward rule gives, before broadcasting is undone.

After reading you can say why the rule for the bias of ``x + b`` is shown as ``to b: y.grad,
summed over dimension 0``: what a rule computes elementwise has the shape of its operands together,
and where the input had fewer elements, the engine sums over the dimensions that were copied. Read
next: ``text.py``.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from autodiff_kit.view.rules import parsed
from autodiff_kit.view.words import dimensions

__all__ = ["summed"]

Shape = tuple[int, ...]

_ELEMENTWISE = {
    *("abs", "cos", "cosh", "erf", "exp", "expm1", "log", "log10", "log1p", "log2", "masked"),
    *("pow_to_number", "rsqrt", "sgn", "sigmoid", "sign", "sin", "sinh", "sqrt", "tan", "tanh"),
    "zero_filled",
}


def summed(rule: str, shapes: Mapping[str, Sequence[int]], target: Sequence[int]) -> str:
    """Return over which dimensions the engine sums what a rule gives; "" for none, or unknown.

    Parameters
    ----------
    rule : str
        What the rule returns, ``g * y``.
    shapes : dict from str to shape
        Of ``g``, ``out`` and the inputs; all other names are numbers.
    target : shape
        Of the input that the rule is for.

    Examples
    --------
    >>> summed("g * y", {"g": (3, 2), "y": (3, 2)}, (2,))
    ', summed over dimension 0'
    >>> summed("t(g)", {"g": (3, 2)}, (2, 3))
    ''
    """
    tree = parsed(rule)
    shape = None if tree is None else _shape(tree, shapes)
    if shape is None or shape == tuple(target) or len(shape) < len(target):
        return ""
    return f", summed over {dimensions(shape, target)}"


def _shape(node: ast.AST, shapes: Mapping[str, Sequence[int]]) -> Shape | None:
    """Return the shape of an expression that is computed elementwise; None for any other."""
    match node:
        case ast.Name(id=name):
            return tuple(shapes.get(name, ()))
        case ast.Constant():
            return ()
        case ast.BinOp(op=ast.MatMult()):
            return None
        case ast.BinOp(left=left, right=right):
            return _together(_shape(left, shapes), _shape(right, shapes))
        case ast.Compare(left=left, comparators=[right]):
            return _together(_shape(left, shapes), _shape(right, shapes))
        case ast.UnaryOp(operand=operand):
            return _shape(operand, shapes)
        case ast.Attribute(value=ast.Name(id="math")):
            return ()
        case ast.Call(func=ast.Attribute(value=ast.Name(id="math"))):
            return ()
        case ast.Call(func=ast.Name(id=name), args=[first, *rest]) if name in _ELEMENTWISE:
            shape = _shape(first, shapes)
            for argument in rest:
                shape = _together(shape, _shape(argument, shapes))
            return shape
    return None


def _together(x: Shape | None, y: Shape | None) -> Shape | None:
    """Return the shape to which two shapes broadcast; None if they do not."""
    if x is None or y is None:
        return None
    size = max(len(x), len(y))
    pairs = list(zip((1,) * (size - len(x)) + x, (1,) * (size - len(y)) + y, strict=True))
    if any(m != n and 1 not in (m, n) for m, n in pairs):
        return None
    return tuple(n if m == 1 else m for m, n in pairs)
