"""Backward rules with names and numbers filled in.

After reading you can say how ``g * y`` from the op table becomes ``to h: (gradient of y) * w``
(with the learner's names) and ``to h: 3. * 2. = 6.`` (with the numbers of this run). Read next:
``names.py``.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from autodiff_kit.view.values import TIMES

__all__ = ["LONG", "attribute_of", "decided", "fill", "is_atom", "is_readable", "knows", "parsed"]
__all__ += ["rule_forms", "without", "worked_out"]

LONG = 140  # a longer formula is left out; what it gives is still shown
_MATRIX_PRODUCTS = {"mm", "mm_like", "mv", "bmm", "matmul"}
_OPERATORS = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Attribute, ast.Subscript, ast.BoolOp)
_ATOM = re.compile(r"\d[\d.]*(?:e[+-]\d+)?|[^\W\d][\w.]*(?:\(\))?")
_PATH = re.compile(r"[^\W\d]\w*(?:\.\w+)*(?:'s output|\.\d+(?:\.\w+)*)")  # of a module
_DOTTED = re.compile(r"[^\W\d][\w.]*(?:\[[^\[\]]*\])*")
_ATOMS = (ast.Call, ast.Attribute, ast.Subscript, ast.List)
_CLAMP = "clamp(x, min, max)"
_TURNED = re.compile(r"\.T\b")
_NUMBER = re.compile(r"-?\d[\d.]*")
_NEGATIVE = re.compile(r"-(?:\d[\d.]*(?:e[+-]\d+)?|inf)")


class _AsOperators(ast.NodeTransformer):
    """Write ``mm(a, b)`` as ``a @ b``: the rule is shown as mathematics, not as a call."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in _MATRIX_PRODUCTS:
            return ast.BinOp(node.args[0], ast.MatMult(), node.args[1])
        if name == "pow_to_number":
            return ast.BinOp(node.args[0], ast.Pow(), node.keywords[0].value)
        if (
            name in ("masked", "zero_filled") and len(node.args) == 2
        ):  # where the condition is false: 0
            return ast.BinOp(node.args[0], ast.Mult(), node.args[1])
        if name == "spread" and len(node.args) == 2:
            return ast.Call(ast.Name("expand"), node.args, [])
        return node


@lru_cache(maxsize=1024)
def parsed(text: str) -> ast.expr | None:
    """Return the syntax tree of an expression, to be read only; None for what is no Python."""
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None


# A piece is literal text, or a name with how tightly it is bound: 0 it stands alone, 1 it begins
# a product or sum (so `-2. * y` needs no parentheses), 2 it is bound by an operator; and what binds
# the sums and products that may stand there as they are: `a + b` on the left of a sum.
Piece = tuple[str, int | None, tuple[type[ast.operator], ...]]

_SUMS, _PRODUCTS = (ast.Add, ast.Sub), (ast.Mult, ast.Div)


@lru_cache(maxsize=1024)
def _pieces(text: str) -> tuple[Piece, ...]:
    tree = parsed(text)
    if tree is None:
        return ((text, None, ()),)
    text = ast.unparse(_AsOperators().visit(ast.parse(text, mode="eval")))
    tree = ast.parse(text, mode="eval").body
    places: list[tuple[int, int, str, int, tuple[type[ast.operator], ...]]] = []

    def look(node: ast.AST, parent: ast.AST | None, bound: int) -> None:
        if isinstance(node, ast.Name):
            if not (isinstance(parent, ast.Call) and parent.func is node):
                end = node.end_col_offset or 0
                places.append((node.col_offset, end, node.id, bound, _free_in(parent, node)))
            return
        for child in ast.iter_child_nodes(node):
            inner = 0
            if isinstance(node, _OPERATORS):
                free = isinstance(node, ast.Compare) or (
                    isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Pow)
                )
                begins = free and child is next(ast.iter_child_nodes(node))
                inner = 1 if begins and bound < 2 else 2
            look(child, node, inner)

    look(tree, None, 0)
    raw = text.encode()  # offsets of ast are in bytes
    pieces: list[Piece] = []
    end = 0
    for start, stop, name, bound, free in sorted(places, key=lambda place: place[0]):
        pieces += [(raw[end:start].decode(), None, ()), (name, bound, free)]
        end = stop
    return (*pieces, (raw[end:].decode(), None, ()))


def _free_in(parent: ast.AST | None, child: ast.AST) -> tuple[type[ast.operator], ...]:
    """Return which sums and products need no parentheses as this operand of an operator."""
    match parent:
        case ast.Compare():
            return (*_SUMS, *_PRODUCTS)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub()):
            return (*_SUMS, *_PRODUCTS) if child is left else _PRODUCTS
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div()) if child is left:
            return _PRODUCTS
    return ()


def fill(text: str, names: Mapping[str, str], times: str = "*") -> str:
    """Replace the names in an expression, with parentheses where they are needed.

    Only whole names are replaced, never attributes or the name of a function that is called.

    Parameters
    ----------
    text : str
        A Python expression, for example the text of a rule.
    names : dict from str to str
        What stands for each name; others stay.
    times : str
        The sign of a product in the expression; those in names stay.

    Examples
    --------
    >>> fill("g * y", {"g": "y.grad", "y": "2 * x"})
    'y.grad * (2 * x)'
    >>> fill("x + y", {"x": "2 * a + b", "y": "c * d"})
    '2 * a + b + c * d'
    >>> fill("g * (n * pow_to_number(x, exponent=n - 1))", {"g": "3.", "n": "2", "x": "-4."})
    '3. * (2 * (-4.) ** (2 - 1))'
    >>> fill("-g * cos(x)", {"g": "-3.", "x": "-1."})
    '-(-3.) * cos(-1.)'
    >>> fill("g @ y.T", {"g": "gradient", "y": "K.T"})
    'gradient @ K'
    """
    parts: list[str] = []
    pieces = _pieces(text)
    for place, (piece, bound, free) in enumerate(pieces):
        if bound is None and parts and _TURNED.match(piece) and parts[-1].endswith(".T"):
            piece = piece[2:]  # K.T.T is K
            parts[-1] = parts[-1].removesuffix(".T")
        new = names.get(piece) if bound is not None else None
        if new is not None and new.endswith(".") and pieces[place + 1][0].startswith("."):
            parts.append(f"({new})")  # (1.).expand()
        elif new is None:
            parts.append(piece if bound is not None else piece.replace(" * ", f" {times} "))
        elif (
            not bound
            or is_atom(new)
            or (bound == 1 and _NEGATIVE.fullmatch(new))
            or isinstance(getattr(parsed(_PATH.sub("_", new).replace("…", "_")), "op", None), free)
        ):
            parts.append(new)
        else:
            parts.append(f"({new})")
    return "".join(parts)


def is_atom(text: str) -> bool:
    """Tell whether an operator next to it cannot tear a text apart: ``h``, ``2.``, ``f(x + 1)``."""
    return bool(_ATOM.fullmatch(text)) or isinstance(parsed(_PATH.sub("_", text)), _ATOMS)


def knows(text: str, names: Mapping[str, str]) -> bool:
    """Tell whether every name in the expression has something to stand for it."""
    return all(bound is None or piece in names for piece, bound, _ in _pieces(text))


@lru_cache(maxsize=1024)
def without(text: str, left_out: frozenset[str]) -> str:
    """Return a call without those of its arguments that were left out.

    Examples
    --------
    >>> without("nll_loss(x, target, weight)", frozenset({"weight"}))
    'nll_loss(x, target)'
    >>> without("clamp(x, min, max)", frozenset({"min"}))
    'clamp(x, max=max)'
    """
    tree = parsed(text) if left_out else None
    if not isinstance(tree, ast.Call):
        return text
    args = [a for a in tree.args if not (isinstance(a, ast.Name) and a.id in left_out)]
    keywords = [*tree.keywords]
    if text == _CLAMP and len(args) < len(tree.args):
        bounds = zip(("min", "max"), tree.args[1:], strict=True)
        keywords = [ast.keyword(name, bound) for name, bound in bounds if bound in args]
        args = args[:1]
    return ast.unparse(ast.Call(tree.func, args, keywords))


@lru_cache(maxsize=1024)
def decided(rule: str, parameters: tuple[tuple[str, str], ...]) -> str:
    """Return a rule without what its parameters decide: conditions, factors of 1, ``2 - 1``.

    Parameters
    ----------
    rule : str
    parameters : tuple of (name, text)
        Sorted, so that equal ones are looked up and not worked out again.

    Examples
    --------
    >>> decided("g * 0 if exponent == 0 else g * exponent", (("exponent", "2"),))
    'g * exponent'
    >>> decided("beta * x + alpha * y @ z", (("alpha", "2"), ("beta", "1")))
    'x + alpha * y @ z'
    >>> power = "g if exponent == 0 else g * (exponent * pow_to_number(x, exponent=exponent - 1))"
    >>> decided(power, (("exponent", "2"),)), decided(power, (("exponent", "3"),))
    ('g * (exponent * x)', 'g * (exponent * pow_to_number(x, exponent=2))')
    """
    ones = any(text in ("1", "1.") for _, text in parameters)
    if not (ones or " if " in rule or " - 1" in rule) or parsed(rule) is None:
        return rule
    tree = _Decided(dict(parameters)).visit(ast.parse(rule, mode="eval"))
    return ast.unparse(tree)


_TESTS = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


class _Decided(ast.NodeTransformer):
    def __init__(self, parameters: Mapping[str, str]) -> None:
        self.parameters = parameters

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        try:
            test = self.value(node.test)
        except (ValueError, TypeError, SyntaxError):
            return node  # depends on a tensor
        return node.body if test else node.orelse

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.Mult) and self.is_one(node.left):
            return node.right
        match node:
            case ast.BinOp(ast.Name(id=name), ast.Sub(), ast.Constant(less)) if self.is_number(
                name
            ):
                less = ast.literal_eval(self.parameters[name]) - less
                return ast.Constant(int(less) if less == int(less) else less)
            case ast.BinOp(x, ast.Pow(), ast.Constant(1)):
                return x
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(
                ast.Name("pow_to_number"), [x], [ast.keyword("exponent", ast.Constant(1))]
            ):
                return x
        scales = isinstance(node.func, ast.Name) and node.func.id == "times"
        return node.args[0] if scales and self.is_one(node.args[1]) else node

    def is_number(self, name: str) -> bool:
        return _NUMBER.fullmatch(self.parameters.get(name, "")) is not None

    def is_one(self, factor: ast.expr) -> bool:
        name = factor.id if isinstance(factor, ast.Name) else ""
        return self.parameters.get(name) in ("1", "1.")

    def value(self, test: ast.expr) -> Any:
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _TESTS:
            left, right = self.value(test.left), self.value(test.comparators[0])
            return _TESTS[type(test.ops[0])](left, right)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return not self.value(test.operand)
        if isinstance(test, ast.Name) and test.id in self.parameters:
            text = self.parameters[test.id]
            is_word = text.isidentifier() and text not in ("None", "True", "False")
            return text if is_word else ast.literal_eval(text)
        return ast.literal_eval(test)


_CALLS = {
    *("abs", "cos", "cosh", "erf", "exp", "expand", "expm1", "log", "log10", "log1p", "log2"),
    *("outer", "reshape", "rsqrt", "sgn", "sigmoid", "sign", "sin", "sinh", "sqrt", "sum", "t"),
    *("tan", "tanh", "transpose"),
}


@lru_cache(maxsize=1024)
def is_readable(rule: str) -> bool:
    """Tell whether a rule is mathematics that a reader knows, and no function of the kit's own."""
    tree = parsed("".join(piece for piece, *_ in _pieces(rule)))
    if tree is None:
        return False
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = [f.id if isinstance(f, ast.Name) else getattr(f, "attr", "") for f in calls]
    return all(name in _CALLS for name in names)


def attribute_of(name: str, attribute: str) -> str:
    """Return an attribute of a name or an expression: ``x.grad``, or ``(2 * x).shape``."""
    is_one = _DOTTED.fullmatch(name) or isinstance(parsed(name), ast.Call | ast.Subscript)
    return f"{name}.{attribute}" if is_one else f"({name}).{attribute}"


def rule_forms(
    rule: str,
    *,
    names: Mapping[str, str],
    numbers: Mapping[str, str],
    target: str,
    result: str,
    words: str | None = None,
) -> list[str]:
    """Write a rule with the learner's names, and with the numbers of this run.

    Parameters
    ----------
    rule : str
        What the rule returns, ``g * y``.
    names, numbers : dict from str to str
        What stands for ``g``, ``out``, inputs, parameters and shapes.
    target, result : str
        What the input is called that it is for, and what the rule gave.
    words : str, optional
        What the rule gives, where it is no formula.

    Returns
    -------
    list of str - a line in names, if they say something, and one in numbers.

    Examples
    --------
    >>> names = {"g": "gradient of z", "y": "w"}
    >>> rule_forms("g * y", names=names, numbers={"g": "3.", "y": "2."}, target="h", result="6.")
    ['to h: (gradient of z) × w', 'to h: 3. × 2. = 6.']
    """
    lines = [f"to {target}: {worked_out(rule, numbers, result)}"]
    if is_readable(rule) and knows(rule, names):
        lines.insert(0, f"to {target}: {fill(rule, names, TIMES)}")
    elif words is not None:
        lines.insert(0, f"to {target}: {words}")
    return lines


def worked_out(rule: str, numbers: Mapping[str, str], result: str) -> str:
    """Return ``3. * 2. = 6.``, or only ``6.``.

    That is when the rule just passes on, would be long, or is not known mathematics.
    """
    if not is_readable(rule) or not knows(rule, numbers) or "None" in numbers.values():
        return result
    text = fill(rule, numbers, TIMES)
    return result if text == result or len(text) > LONG else f"{text} = {result}"
