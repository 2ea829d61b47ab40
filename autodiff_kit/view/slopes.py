"""The chain rule on an arrow: a local slope, and the slope times the gradient that came in.

After reading you can say where ``dy/dx = 3.`` on an arrow comes from: the rule of the op, worked
out for a gradient of 1 with the numbers of this run. Read next: ``chips.py``, which finds room
for it.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autodiff_kit.record.events import NodeRecord, Value
from autodiff_kit.view.rules import decided, fill, is_readable, knows, parsed
from autodiff_kit.view.values import TIMES, number, shape_text, short
from autodiff_kit.view.words import fraction

__all__ = [
    "chain",
    "is_contradicted",
    "one_use",
    "other_ways",
    "product_of_shapes",
    "rule_text",
    "slope",
    "slope_text",
]

LONG = 26  # characters of `dy/dx`; what would be longer is called "slope"
_PRODUCT = re.compile(r"(?:mm_like|mm|mv)\((\w+)(\.T)?, (\w+)(\.T)?[,)]")
_HOLE = "__"

_OPERATORS: dict[type[ast.AST], Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_CALLS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "cos": np.cos,
    "cosh": np.cosh,
    "exp": np.exp,
    "log": np.log,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sgn": np.sign,
    "sign": np.sign,
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
}


def slope(rule: str | None, numbers: Mapping[str, float], g: Value, sent: Value) -> float | None:
    """Return the local slope of an op from one number to another.

    It is what the rule gives for a gradient of 1; for a rule that is no plain formula, what it gave
    here over the gradient that came in.

    Parameters
    ----------
    rule : str or None
        As in the table of ops, ``"g * y"``.
    numbers : dict from str to float
        What the rule reads, without ``g``.
    g, sent : Value
        The gradient that came in, and what the rule gave; both without dimensions.

    Returns
    -------
    float or None - None if it is not one number: of tensors, or where nothing finite tells it.
    """
    if g["shape"] or sent["shape"] or not g["data"] or not sent["data"]:
        return None
    came, gave = float(g["data"][0]), float(sent["data"][0])
    dtype = np.dtype(str(sent["dtype"]))
    if rule is not None:
        with np.errstate(all="ignore"):
            try:
                exact = float(_worked_out(ast.parse(rule, mode="eval").body, {**numbers, "g": 1.0}))
            except (KeyError, TypeError, ValueError, ZeroDivisionError, OverflowError, SyntaxError):
                exact = math.nan
        roundoff = 64 * float(np.finfo(dtype).eps)
        if math.isfinite(exact) and math.isclose(exact * came, gave, rel_tol=roundoff):
            return float(dtype.type(exact))
    if came == 0 or not math.isfinite(came) or not math.isfinite(gave):
        return None
    return float(dtype.type(gave / came))


def is_contradicted(rule: str, values: Mapping[str, Value], sent: Value) -> bool:
    """Return whether a rule cannot have given this from these values: it has read others.

    NumPy may have changed them, for example, or what your unpack hook returned was something else.

    Parameters
    ----------
    rule : str
        As in the table of ops, ``"g * y"``.
    values : dict from str to Value
        What the rule reads, with ``g``.
    sent : Value
        What the rule gave.
    """
    arrays = {name: _array(value) for name, value in (*values.items(), ("sent", sent))}
    if any(array is None for array in arrays.values()):
        return False
    try:
        with np.errstate(all="ignore"):
            exact = np.asarray(_worked_out(ast.parse(rule, mode="eval").body, arrays))
    except (KeyError, TypeError, ValueError, ArithmeticError, SyntaxError):
        return False
    gave, g = arrays["sent"], arrays.get("g", arrays["sent"])
    if exact.shape != gave.shape or not gave.size or not np.isfinite([exact, gave]).all():
        return False
    # A recording holds five digits; of a difference, such as 1 - out * out, fewer are left.
    bound = 1e-2 * max(abs(exact).max(), abs(gave).max()) + 1e-3 * abs(g).max()
    return bool(abs(exact - gave).max() > bound)


def _array(value: Value) -> Any:
    """Return what a value holds; None of one that a recording does not hold whole."""
    if not value["dtype"] or len(value["data"]) != math.prod(value["shape"]):
        return None
    return np.asarray(value["data"], float).reshape(value["shape"])


def _worked_out(node: ast.AST, numbers: Mapping[str, float]) -> Any:
    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            return np.float64(value)
        case ast.Name(id=name):
            return np.float64(numbers[name])
        case (
            ast.BinOp(left=left, op=op, right=right)
            | ast.Compare(left=left, ops=[op], comparators=[right])
        ):
            return _OPERATORS[type(op)](_worked_out(left, numbers), _worked_out(right, numbers))
        case ast.UnaryOp(op=op, operand=operand):
            return _OPERATORS[type(op)](_worked_out(operand, numbers))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _worked_out(body if _worked_out(test, numbers) else orelse, numbers)
        case ast.Call(func=ast.Name(id="pow_to_number"), args=[base], keywords=[exponent]):
            return _worked_out(base, numbers) ** _worked_out(exponent.value, numbers)
        case ast.Call(func=ast.Name(id="masked" | "zero_filled"), args=[kept, mask]):
            return _worked_out(kept, numbers) * _worked_out(mask, numbers)
        case ast.Call(func=ast.Name(id=name), args=[operand], keywords=[]):
            return _CALLS[name](_worked_out(operand, numbers))
    raise ValueError(ast.dump(node))


def slope_text(of: str | None, to: str) -> str:
    """Return ``dy/dx``; "slope" where that would be long, or nothing says what of.

    Examples
    --------
    >>> slope_text("y", "x"), slope_text("y", "w * x"), slope_text("6. + w", "w")
    ('dy/dx', 'dy/d(w * x)', 'd(6. + w)/dw')
    """
    if of is None:
        return "slope"
    text = fraction(of, to)
    return text if len(text) <= LONG else "slope"


def one_use(
    formula: str, names: Mapping[str, str], constants: Mapping[str, str | None]
) -> str | None:
    """Return an expression with numbers for arguments that another way leads through.

    Parameters
    ----------
    formula : str
        Of the op, ``"x * y"``.
    names : dict from str to str
        The learner's name of each argument.
    constants : dict from str to str or None
        Of the arguments that are held at their value here, the value; None if it is no number.

    Returns
    -------
    str or None - None if an expression cannot say it.

    Examples
    --------
    >>> one_use("x * y", {"x": "a", "y": "a"}, {"y": "3."})
    'a * 3.'
    """
    if parsed(formula) is None or None in constants.values():
        return None
    texts = {
        name: f"({value})" if str(value).startswith("-") else str(value)
        for name, value in constants.items()
    }
    holes = {name: f"{_HOLE}{k}{_HOLE}" for k, name in enumerate(texts)}
    text = fill(formula, {**names, **holes})
    for name, hole in holes.items():
        text = text.replace(hole, texts[name])
    return text


def other_ways(nodes: Sequence[NodeRecord], node: int, arg: str, to: int) -> dict[str, int]:
    """Return the other operands through which a change of a tensor reaches an op.

    The slope along one arrow is that of the op with these held at their values: dy/dx is the sum
    over all ways from x to y, and the arrow is one of them.

    Parameters
    ----------
    nodes : sequence of NodeRecord
        Of the recording.
    node : int
        The op.
    arg : str
        The operand that the arrow comes from.
    to : int
        What the tensor of that operand is.

    Returns
    -------
    dict from str to int - the node of each such operand, by the op's name for it.
    """
    operands = _operands(nodes[node])
    return {a: i for i, a in operands if a != arg and _uses(nodes, i, to)}


def _operands(record: NodeRecord) -> list[tuple[int, str]]:
    return [(i["node"], i["arg"]) for i in record["inputs"] if "node" in i]


def _uses(nodes: Sequence[NodeRecord], node: int, leaf: int) -> bool:
    """Return whether a gradient can flow from a node to another one, or it is that one."""
    ways, visited = [node], {node}
    while ways:
        node = ways.pop()
        if node == leaf:
            return True
        operands = _operands(nodes[node]) if nodes[node]["recorded"] else []
        older = {n for n, _ in operands if n >= leaf and n not in visited}
        visited |= older
        ways += older
    return False


def rule_text(rule: str, names: Mapping[str, str], params: Mapping[str, str]) -> str | None:
    """Return a backward rule for an arrow, ``gradient`` for the gradient that comes in.

    None for a rule that passes the gradient on as it is, and for one that would be long.

    Examples
    --------
    >>> rule_text("mm_like(g, y.T, x_strides)", {"y": "w"}, {}), rule_text("g", {}, {})
    ('gradient @ w.T', None)
    """
    names, rule = {**names, "g": "gradient"}, decided(rule, tuple(sorted(params.items())))
    if rule == "g" or not is_readable(rule) or not knows(rule, names):
        return None
    text = fill(rule, names, TIMES)
    return text if len(text) <= LONG + len("gradient") else None


def product_of_shapes(
    rule: str, shapes: Mapping[str, Sequence[int]], result: Sequence[int]
) -> str | None:
    """Return how the shapes of a matrix product fit; None for any other rule.

    Examples
    --------
    >>> product_of_shapes("mm_like(g, y.T, x_strides)", {"g": (4, 3), "y": (2, 3)}, (4, 2))
    '(4, 3) @ (3, 2) = (4, 2)'
    """
    match = _PRODUCT.match(rule)
    if match is None or match[1] not in shapes or match[3] not in shapes:
        return None
    left, right = (
        shape_text(shapes[name][::-1] if is_turned else shapes[name])
        for name, is_turned in ((match[1], match[2]), (match[3], match[4]))
    )
    return f"{left} @ {right} = {shape_text(result)}"


def chain(g: Value, factor: float, sent: Value) -> str:
    """Return ``1. * 3. = 3.``, with a cross: the gradient that came in, the slope, what goes on."""
    came, gave = short(g), short(sent)
    by = number(factor)
    return f"{came} {TIMES} {f'({by})' if by.startswith('-') else by} = {gave}"
