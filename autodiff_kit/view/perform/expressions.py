"""Reads typed values for ``judging.py``, which grades; the oracle of expressions.mjs.

What a learner types is a number, an expression or a matrix; it is read and never run.

After reading you can say which answers can be typed: numbers, the learner's names, ``+ - * / **``,
``@``, ``.T``, ``.sum()``, functions, and lists for matrices. ``static/kit/expressions.mjs``
reads the same; one table of cases holds for both. Read next: ``judging.py``.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_kit.view.perform.formulas import Numbers

__all__ = ["LONGEST", "Unclear", "evaluate", "names_in", "read", "rounding"]

LONGEST = 200
_SIGNS = str.maketrans("\u2212\u00d7\u00b7", "-**")
_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "exp": np.exp,
    "log": np.log,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "relu": lambda x: np.maximum(x, 0),
}
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
    ast.MatMult: np.matmul,
}
_TIMES = re.compile(r"(?<![\w.])(\d+(?:\.\d*)?|\))\s*([A-Za-z_]\w*|\()")
_EXPONENT = re.compile(r"^[eE]\d*$")


class Unclear(ValueError):
    """An answer that cannot be read; its message says how to write it."""


def read(text: str) -> ast.expr:
    """Return the syntax tree of an answer.

    Raises
    ------
    Unclear
        If it is none; the message says how to write it.
    """
    text = text.strip().strip("`").strip()
    if not text:
        raise Unclear("Type an answer first. A guess is fine.")
    if len(text) > LONGEST:
        raise Unclear("That is too long: one short line is enough.")
    text = text.translate(_SIGNS)
    inner = re.fullmatch(r"(?:torch\.|ak\.)?tensor\((.*)\)", text)
    text = inner[1] if inner else text
    if "^" in text:
        raise Unclear("Write powers with `**`: `x ** 2`, not `x^2`.")
    times = _TIMES.search(text)
    if times and not _EXPONENT.match(times[2]):
        raise Unclear(f"A product needs its sign: `{times[1]} * {times[2]}`.")
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Unclear(f"`{text}` cannot be read: look at its brackets and signs.") from None


def names_in(tree: ast.expr) -> set[str]:
    """Return the names in an answer, without those of functions; a number has none."""
    calls = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node not in calls
    } - {"torch", "ak"}


def evaluate(tree: ast.expr, names: Numbers) -> Any:
    """Return the value of an answer, an array.

    Raises
    ------
    Unclear
        If it holds something that has no value here, or shapes that do not fit.
    """
    with np.errstate(all="ignore"):
        try:
            return np.asarray(_value(tree, names), dtype=float)
        except Unclear:
            raise
        except (ValueError, TypeError, ArithmeticError, RecursionError):
            raise Unclear("The shapes in this answer do not fit together.") from None


def _value(tree: ast.expr, names: Numbers) -> Any:
    match tree:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return np.float64(number)
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            rows = [np.asarray(_value(part, names)) for part in parts]
            if any(row.shape != rows[0].shape for row in rows):
                raise Unclear("The rows of this matrix have different lengths.")
            return np.stack(rows) if rows else np.zeros(0)
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Name(id=name):
            known = ", ".join(f"`{known}`" for known in names)
            known = f" Names here: {known}." if known else " Type a number."
            raise Unclear(f"`{name}` is not known here.{known}")
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return np.negative(_value(operand, names))
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand, names)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, names), _value(right, names))
        case ast.Attribute(value=inner, attr="T"):
            return np.transpose(_value(inner, names))
        case ast.Call(func=ast.Attribute(value=inner, attr="t"), args=[], keywords=[]):
            return np.transpose(_value(inner, names))
        case ast.Call(func=ast.Attribute(value=inner, attr="sum"), args=args, keywords=[]):
            axes = [int(_value(axis, names)) for axis in args]
            return np.sum(_value(inner, names), axis=tuple(axes) or None)
        case ast.Call(func=ast.Attribute(value=inner, attr=name), args=[], keywords=[]):
            if (name in _FUNCTIONS and not isinstance(inner, ast.Name | ast.Call)) or (
                name in _FUNCTIONS and getattr(inner, "id", "") in names
            ):
                return _FUNCTIONS[name](_value(inner, names))
        case ast.Call(func=ast.Name(id=name), args=[operand], keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](_value(operand, names))
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="torch" | "ak"), attr=name), args=[operand]
        ) if name in _FUNCTIONS:
            return _FUNCTIONS[name](_value(operand, names))
    raise Unclear("Type a number, an expression such as `2 * x`, or a matrix such as `[[1, 2]]`.")


_DECIMALS = re.compile(r"(?<![\w.])(\d*)\.(\d+)(?![\w.])")


def rounding(text: str) -> float:
    """Return how far a typed number may be off for having been rounded: 0.005 for ``0.67``.

    Of a matrix, that of its number with the fewest decimals.
    """
    if re.search(r"[*/@A-Za-z]", text):
        return 0.0
    units = [
        0.500001 * 10.0 ** -len(decimals)
        for before, decimals in _DECIMALS.findall(text)
        if len((before + decimals).lstrip("0")) >= 2
    ]
    return max(units) if units and math.isfinite(max(units)) else 0.0
