"""The backward rules of the op table, worked out with arrays.

After reading you know which rules can be asked for other inputs than the recorded ones. What is
not understood here is not guessed: such a task has the recorded value alone. Read next:
``replay.py``.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["Numbers", "UnknownFormula", "unbroadcast", "worked_out"]


class UnknownFormula(ValueError):
    """A formula that is not worked out here."""


Numbers = dict[str, Any]  # arrays, shapes and parameters, by the names in a formula


def unbroadcast(array: Any, shape: tuple[int, ...]) -> Any:
    """Sum an array down to a shape that broadcasts to its own."""
    array = np.asarray(array)
    extra = array.ndim - len(shape)
    if extra < 0:
        raise UnknownFormula("shapes do not fit")
    array = array.sum(axis=tuple(range(extra)))
    axes = tuple(i for i, n in enumerate(shape) if n == 1 and array.shape[i] != 1)
    array = array.sum(axis=axes, keepdims=True)
    if array.shape != shape:
        raise UnknownFormula("shapes do not fit")
    return array


_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
    ast.MatMult: np.matmul,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
    ast.USub: np.negative,
    ast.Invert: np.logical_not,
    ast.BitOr: np.logical_or,
}


def _keep(g: Any, shape: Any, dim: Any, keepdim: bool) -> Any:
    axes = _axes(dim, len(shape))
    return g if keepdim else np.expand_dims(g, axes)


def _axes(dim: Any, count: int) -> tuple[int, ...]:
    dims = [dim] if isinstance(dim, int) else list(range(count)) if dim is None else dim
    return tuple(sorted(d % count for d in dims))


_CALLS: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "cos": np.cos,
    "exp": np.exp,
    "log": np.log,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sign": np.sign,
    "sin": np.sin,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "maximum": np.maximum,
    "minimum": np.minimum,
    "where": np.where,
    "masked": lambda x, condition: np.where(condition, x, 0),
    "zero_filled": lambda x, condition: np.where(condition, x, 0),
    "relu_backward": lambda g, out: np.where(out > 0, g, 0),
    "pow_to_number": lambda x, exponent: np.power(x, exponent),
    "mm": np.matmul,
    "mv": np.matmul,
    "mm_like": lambda x, y, _: np.matmul(x, y),
    "t": np.transpose,
    "repeated": np.broadcast_to,
    "keep": _keep,
    "shared_out": lambda g, shape, count: np.broadcast_to(g, shape) / count,
    "_count": lambda shape, dim: math.prod(shape[d] for d in _axes(dim, len(shape))),
    "math.prod": math.prod,
    "unsqueeze": lambda g, dim: np.expand_dims(g, dim),
    "squeeze_dim": lambda g, dim: np.squeeze(g, dim),
    "reshape": lambda g, shape: np.reshape(g, shape),
    "_summed": unbroadcast,
    "times": np.multiply,
}


def worked_out(formula: str, names: Numbers) -> Any:
    """Return the value of a formula as the op table writes it.

    Raises
    ------
    UnknownFormula
        If it holds anything else than arithmetic and the functions known here.
    """
    try:
        with np.errstate(all="ignore"):
            return _value(ast.parse(formula, mode="eval").body, names)
    except UnknownFormula:
        raise
    except Exception as error:
        raise UnknownFormula(formula) from error


def _value(tree: ast.AST, names: Numbers) -> Any:
    match tree:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, names), _value(right, names))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(operand, names))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, names), _value(right, names))
        case ast.Attribute(value=inner, attr="T"):
            return np.transpose(_value(inner, names))
        case ast.Call(func=func, args=args, keywords=keywords):
            name = ast.unparse(func)
            if name in _CALLS:
                values = [_value(arg, names) for arg in args]
                return _CALLS[name](
                    *values, **{str(k.arg): _value(k.value, names) for k in keywords}
                )
    raise UnknownFormula(ast.unparse(tree))
