"""What stands in the box of an op, and at the arrows that lead to it.

After reading you can say why ``x + 3`` is drawn as ``+ 3``, what a longer formula is called, and
which arrows say what they bring. Read next: ``rules.py``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import lru_cache

from autodiff_kit.view.rules import parsed
from autodiff_kit.view.values import MINUS, TIMES

__all__ = ["LABEL", "label", "role", "word"]

_WORDS = {
    "add": "add",
    "add_scaled": "add",
    "bmm": "matrix multiply",
    "choose": "where",
    "div": "divide",
    "dot": "dot product",
    "eq": "compare",
    "floor_divide": "divide and floor",
    "floor_divide_by_number": "divide and floor",
    "ge": "compare",
    "gt": "compare",
    "index": "pick",
    "le": "compare",
    "linalg_vector_norm": "norm",
    "lt": "compare",
    "matmul": "matrix multiply",
    "mm": "matrix multiply",
    "mul": "multiply",
    "mv": "matrix multiply",
    "copy_from": "copy",
    "copy_slices": "write into a view",
    "index_put": "assign",
    "ne": "compare",
    "neg": "negate",
    "pow_from_number": "power",
    "pow_tensor": "power",
    "pow_to_number": "power",
    "pick": "view again",
    "put": "assign",
    "rsub": "subtract",
    "select": "pick",
    "slice_dim": "slice",
    "split_with_sizes": "split",
    "sub": "subtract",
    "sub_scaled": "subtract",
    "t": "transpose",
    "unsafe_split": "split",
    "to_copy": "convert",
    "to_whole": "convert",
}
_SYMBOLS = {
    ast.Add: "+",
    ast.Sub: MINUS,
    ast.Mult: TIMES,
    ast.Div: "\N{DIVISION SIGN}",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.Mod: "%",
    ast.FloorDiv: "//",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.USub: MINUS,
    ast.Invert: "~",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_MIRRORED: dict[type, type] = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}
_STEPS = (ast.BinOp, ast.Compare, ast.UnaryOp, ast.Call)  # what an op may do
LABEL = 18  # characters an op may take in its box, with its constants


def word(op: str) -> str:
    """Return the verb for an op: ``mul`` is "multiply", ``sum_all`` is "sum"."""
    base, is_rule, _ = op.partition("_backward")
    if is_rule:  # create_graph records what a rule computes
        return f"{word(base)}'s rule"
    plain = re.sub(r"^native_|_(all|dim|elements?|number)$", "", op)
    return _WORDS.get(op) or _WORDS.get(plain) or plain.replace("_", " ")


def label(text: str, constants: Mapping[str, str], name: str = "", *, reverse: bool = False) -> str:
    """Return what stands in the box of an op: its symbol, with the constants beside it.

    Of an op that is a longer formula, that is its name.

    Parameters
    ----------
    text : str
        The operation as the op table has it, ``x * y`` or ``x.sum(dim)``.
    constants : dict from str to str
        Arguments and parameters that are not nodes. They get no box, so they are shown here.
    name : str
        The op, to be shown if the text is not Python, or too long.
    reverse : bool
        Whether the learner wrote the operands the other way round: ``2 * x``, ``3 > x``.

    Examples
    --------
    >>> label("x + y", {"y": "3"}), label("x + y", {}), label("x.sum(dim)", {"dim": "0"})
    ('+ 3', '+', 'sum(dim=0)')
    >>> label("x + y", {"y": "3"}, reverse=True), label("log(1 + exp(x))", {}, "softplus")
    ('3 +', 'softplus')
    """
    tree = parsed(text)
    if tree is None:
        return word(name) if "_backward" in name else name
    steps = sum(isinstance(part, _STEPS) for part in ast.walk(tree))
    if name and steps > 1 + bool(constants):  # `x + 2 * y` can be read in its box
        tree = ast.Call(ast.Name(word(name)), [], [])
    match tree:
        case ast.BinOp(left=left, op=op, right=right) if reverse:
            tree = ast.BinOp(right, op, left)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if reverse:
            tree = ast.Compare(right, [_MIRRORED.get(type(op), type(op))()], [left])
    full = _label(tree, constants)
    return full if len(full) <= LABEL else _label(tree, {}) or name


def _label(tree: ast.expr, constants: Mapping[str, str]) -> str:
    match tree:
        case ast.BinOp(left=left, op=op, right=right):
            parts = (_label(left, constants), _SYMBOLS[type(op)], _label(right, constants))
            return " ".join(filter(None, parts))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            parts = (_label(left, constants), _SYMBOLS[type(op)], _label(right, constants))
            return " ".join(filter(None, parts))
        case ast.UnaryOp(op=op, operand=operand):
            return _SYMBOLS[type(op)] + _label(operand, constants)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=function), attr="apply")):
            return function  # of the learner's
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args):
            named = [a.id for a in args if isinstance(a, ast.Name)]
            arguments = [
                constants[a] if a in ("shape", "dims", "index") else f"{a}={constants[a]}"
                for a in (*named, *(c for c in constants if c not in named))
                if constants.get(a, "None") not in ("None", "False")
            ]
            return f"{name}({', '.join(arguments)})" if arguments else name
        case ast.Attribute(attr=name):
            return f".{name}"
        case ast.Subscript(slice=ast.Name(id=name)):
            return f"[{constants.get(name, ' ')}]"
        case ast.Subscript():
            return "[ ]"
        case ast.Name(id=name):
            return constants.get(name, "")
        case _:
            return ast.unparse(tree)


_ROLES = ("bias", "condition", "index", "mask", "max", "min", "source", "weight")


@lru_cache(maxsize=1024)
def role(text: str, arg: str) -> str:
    """Return what an argument is to its op, for the arrow that leads there; "" if that is plain.

    Examples
    --------
    >>> role("x - y", "y"), role("where(condition, x, y)", "condition"), role("stack(xs)", "xs[1]")
    ('right', 'condition', '[1]')
    """
    if "[" in arg:
        return arg[arg.index("[") :]
    tree = parsed(text)
    for part in ast.walk(tree) if tree is not None else ():
        is_product = isinstance(part, ast.BinOp) and isinstance(part.op, ast.MatMult)
        plain = isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add | ast.Mult)
        if is_product or (part is tree and isinstance(part, ast.BinOp) and not plain):
            for side in ("left", "right"):
                names = {n.id for n in ast.walk(getattr(part, side)) if isinstance(n, ast.Name)}
                if arg in names:
                    return side
    if isinstance(tree, ast.Compare) and arg in ("x", "y"):
        return "left" if arg == "x" else "right"
    return arg if arg in _ROLES else ""
