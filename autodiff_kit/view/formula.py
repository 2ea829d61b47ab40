"""Numbers, names and rules as a learner reads them.

After reading you can say how ``g * y`` from the op table becomes ``h.grad += y.grad * w`` (with the
learner's names) and ``h.grad += 3. * 2. = 6.`` (with the numbers of this run), and how any value is
shortened to fit a box. Everything here is text made from plain data. Read next: ``frames.py``,
which tells the steps with these words.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import isfinite, prod
from typing import Any

from autodiff_kit.view.written import Written

__all__ = [
    "Names",
    "decided",
    "fill",
    "gradient_of",
    "grid",
    "is_readable",
    "label",
    "number",
    "role",
    "rule_forms",
    "shape_text",
    "short",
    "show",
    "symbol",
    "word",
    "worked_out",
]

Value = Mapping[str, Any]  # VALUE of a recording: shape, dtype, data, perhaps stats

SHORT = 32  # characters a tensor may take inside a sentence or a formula
NAME = 24  # characters an expression may have to be used as a name
TIMES, MINUS = "\N{MULTIPLICATION SIGN}", "\N{MINUS SIGN}"
UNKNOWN = "?"  # the value of a tensor that was made before the recording began
LONG = 140  # a longer formula is left out; what it gives is still shown

# -- numbers and tensors ----------------------------------------------------------------------


def number(value: Any) -> str:
    """Return a number in the shortest clear form: ``8.``, ``0.5``, ``3.1416``, ``1.5e-06``.

    As PyTorch prints it (a float always has its point, four digits are kept), without the zeros
    that PyTorch adds to line up columns.

    Parameters
    ----------
    value : float, int, bool or str
        A string is one of ``"nan"``, ``"inf"``, ``"-inf"``, as JSON has no numbers for them.

    Returns
    -------
    str

    Examples
    --------
    >>> number(8.0), number(0.1 + 0.2), number(3), number(0.0000015)
    ('8.', '0.3', '3', '1.5e-06')
    """
    if not isinstance(value, float):
        return str(value)
    if not isfinite(value):
        return str(value)
    size = abs(value)
    if size < 1e6 and value == int(value):
        return f"{int(value)}."
    if 1 <= size < 1e5:
        return f"{value:.{4 if size < 100 else 2}f}".rstrip("0")
    if 1e-4 <= size < 1:
        text = f"{value:.4g}"
        return text if "." in text else text + "."
    mantissa, exponent = f"{value:.3e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{exponent}"


def shape_text(shape: Sequence[int]) -> str:
    """Return a shape as Python writes it: ``()``, ``(3,)``, ``(2, 3)``."""
    return str(tuple(shape))


def _numbers(value: Value) -> list[str]:
    data = value["data"]
    if not data and prod(value["shape"]):
        return [UNKNOWN]
    if str(value["dtype"]).startswith("float"):
        return [number(v if isinstance(v, str) else float(v)) for v in data]
    if value["dtype"] == "bool":
        return [str(bool(v)) for v in data]
    return [number(v) for v in data]


def _nested(texts: Sequence[str], shape: Sequence[int]) -> str:
    if not shape:
        return texts[0]
    if len(shape) == 1:
        return f"[{', '.join(texts)}]"
    step = len(texts) // shape[0] if shape[0] else 0
    rows = (_nested(texts[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0]))
    return f"[{', '.join(rows)}]"


def short(value: Value, limit: int = SHORT) -> str | None:
    """Return all elements of a value on one line, or None if that takes over ``limit`` characters.

    Examples
    --------
    >>> short({"shape": [3], "dtype": "float32", "data": [1.0, 2.0, 3.5]})
    '[1., 2., 3.5]'
    """
    shape = value["shape"]
    if not shape:
        return _on_a_line((), value["dtype"], tuple(value["data"]))
    if prod(shape) * 3 > limit or "stats" in value or not value["data"]:
        return None if prod(shape) else _nested([], shape)
    text = _on_a_line(tuple(shape), value["dtype"], tuple(value["data"]))
    return text if len(text) <= limit else None


@lru_cache(maxsize=4096)  # the same value is told in the box, in captions and in rules
def _on_a_line(shape: tuple[int, ...], dtype: str, data: tuple[Any, ...]) -> str:
    return _nested(_numbers({"shape": shape, "dtype": dtype, "data": data}), shape)


def show(value: Value, limit: int = SHORT) -> str:
    """Return a value for use in a sentence: its elements if they fit, else ``(2, 3) tensor``."""
    text = short(value, limit)
    return f"{shape_text(value['shape'])} tensor" if text is None else text


def symbol(value: Value) -> str:
    """Return a value for use in a formula: its elements if they fit, else ``Tensor(2, 3)``.

    PyTorch's ``Tensor(2, 3)`` is a tensor of that shape too, so this says just what is meant.
    """
    text = short(value)
    return f"Tensor({', '.join(map(str, value['shape']))})" if text is None else text


def grid(value: Value) -> str:
    """Return a value over as many lines as it has rows, columns aligned; large ones in statistics.

    Examples
    --------
    >>> print(grid({"shape": [2, 2], "dtype": "float32", "data": [1.0, -2.0, 3.5, 4.0]}))
    [[ 1.0, -2.0],
     [ 3.5,  4.0]]
    """
    shape = value["shape"]
    if len(shape) > 1 and value["data"] and "stats" not in value:
        texts = _in_columns(value) or _numbers(value)
    else:
        texts = _numbers(value)
    if "stats" in value:
        stats = {k: number(v) for k, v in value["stats"].items()}
        spread = ", ".join(f"{k} {stats[k]}" for k in ("min", "max", "mean", "std") if k in stats)
        odd = "".join(
            f"\n{stats[k]} {TIMES} {k}" for k in ("nan", "inf") if stats.get(k, "0") != "0"
        )
        return f"[{', '.join(texts)}, ...]\n{spread}{odd}"
    if len(shape) < 2 or len(texts) < prod(shape) or not texts:
        return _nested(texts, shape)
    width = max(map(len, texts))
    texts = [text.rjust(width) for text in texts]
    columns = shape[-1]
    lines = [f"[{', '.join(texts[i : i + columns])}]" for i in range(0, len(texts), columns)]
    for axis in range(len(shape) - 2, -1, -1):  # brackets of the outer dimensions
        size = prod(shape[axis:-1])
        for start in range(0, len(lines), size):
            lines[start] = "[" + lines[start]
            lines[start + size - 1] += "]"
    depth = len(shape)
    padded = [" " * (depth - (len(line) - len(line.lstrip("[")))) + line for line in lines]
    return ",\n".join(padded)


def _in_columns(value: Value) -> list[str] | None:
    """Return floats with as many decimals as the one that needs most; None for unusual sizes."""
    floats = [v for v in value["data"] if isinstance(v, float)]
    sizes = [abs(v) for v in floats if v]
    if len(floats) < len(value["data"]) or not sizes or min(sizes) < 1e-3 or max(sizes) >= 1e4:
        return None
    texts = [f"{v:.4f}" for v in floats]
    spare = min(len(text) - len(text.rstrip("0")) for text in texts)
    return [text[: len(text) - spare] for text in texts]


def parameter(value: Any) -> str:
    """Return a keyword parameter of an op as Python writes it; lists were tuples before JSON."""
    if isinstance(value, list | tuple):
        items = [parameter(item) for item in value]
        return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
    return number(value) if isinstance(value, float) else str(value)


# -- words for operations -----------------------------------------------------------------------

_WORDS = {
    "add": "add",
    "add_scaled": "add",
    "bmm": "matrix multiply",
    "choose": "where",
    "div": "divide",
    "dot": "dot product",
    "eq": "compare",
    "floor_divide": "divide and floor",
    "ge": "compare",
    "gt": "compare",
    "index": "pick",
    "le": "compare",
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
    "to_copy": "convert",
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
    plain = re.sub(r"_(all|dim|elements?)$", "", op)
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
    tree = _parsed(text)
    if tree is None:
        return name
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
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args):
            named = [a.id for a in args if isinstance(a, ast.Name)]
            shown = [
                constants[a] if a in ("shape", "dims", "index") else f"{a}={constants[a]}"
                for a in (*named, *(c for c in constants if c not in named))
                if constants.get(a, "None") not in ("None", "False")
            ]
            return f"{name}({', '.join(shown)})" if shown else name
        case ast.Attribute(attr=name):
            return f".{name}"
        case ast.Subscript(slice=at):
            inside = fill(ast.unparse(at), constants)
            return f"[{inside}]" if constants else "[ ]"
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
    tree = _parsed(text)
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


@lru_cache(maxsize=1024)
def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None


# -- rules with names and numbers filled in -------------------------------------------------------

_MATRIX_PRODUCTS = {"mm", "mv", "bmm", "matmul"}
_OPERATORS = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Attribute, ast.Subscript, ast.BoolOp)
_ATOM = re.compile(r"\d[\d.]*(?:e[+-]\d+)?|[^\W\d][\w.]*(?:\(\))?|\([^()]*\)\.grad")
_DOTTED = re.compile(r"[^\W\d][\w.]*(?:\[[^\[\]]*\])*")
_ATOMS = (ast.Call, ast.Attribute, ast.Subscript, ast.List)
_NEGATIVE = re.compile(r"-(?:\d[\d.]*(?:e[+-]\d+)?|inf)")


class _AsOperators(ast.NodeTransformer):
    """Write ``mm(a, b)`` as ``a @ b``: the rule is shown as mathematics, not as a call."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in _MATRIX_PRODUCTS:
            return ast.BinOp(node.args[0], ast.MatMult(), node.args[1])
        if name == "masked" and len(node.args) == 2:  # where the condition is false: 0
            return ast.BinOp(node.args[0], ast.Mult(), node.args[1])
        if name == "spread" and len(node.args) == 2:
            return ast.Call(ast.Name("expand"), node.args, [])
        return node


# A piece is literal text, or a name with how tightly it is bound: 0 it stands alone, 1 it begins
# a product or sum (so `-2. * y` needs no parentheses), 2 it is bound by an operator.
Piece = tuple[str, int | None]


@lru_cache(maxsize=1024)
def _pieces(text: str) -> tuple[Piece, ...]:
    tree = _parsed(text)
    if tree is None:
        return ((text, None),)
    text = ast.unparse(_AsOperators().visit(ast.parse(text, mode="eval")))
    tree = ast.parse(text, mode="eval").body
    found: list[tuple[int, int, str, int]] = []

    def look(node: ast.AST, parent: ast.AST | None, bound: int) -> None:
        if isinstance(node, ast.Name):
            if not (isinstance(parent, ast.Call) and parent.func is node):
                found.append((node.col_offset, node.end_col_offset or 0, node.id, bound))
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
    for start, stop, name, bound in sorted(found):
        pieces += [(raw[end:start].decode(), None), (name, bound)]
        end = stop
    return (*pieces, (raw[end:].decode(), None))


def fill(text: str, names: Mapping[str, str]) -> str:
    """Replace the names in an expression, with parentheses where they are needed.

    Only whole names are replaced, never attributes or the name of a function that is called.

    Parameters
    ----------
    text : str
        A Python expression, for example the text of a rule.
    names : dict from str to str
        What stands for each name; others stay.

    Examples
    --------
    >>> fill("g * y", {"g": "y.grad", "y": "2 * x"})
    'y.grad * (2 * x)'
    >>> fill("-g * cos(x)", {"g": "-3.", "x": "-1."})
    '-(-3.) * cos(-1.)'
    """
    done = []
    pieces = _pieces(text)
    for place, (piece, bound) in enumerate(pieces):
        new = names.get(piece) if bound is not None else None
        if new is not None and new.endswith(".") and pieces[place + 1][0].startswith("."):
            done.append(f"({new})")  # (1.).expand()
        elif new is None:
            done.append(piece)
        elif not bound or _is_atom(new) or (bound == 1 and _NEGATIVE.fullmatch(new)):
            done.append(new)
        else:
            done.append(f"({new})")
    return "".join(done)


def _is_atom(text: str) -> bool:
    """Tell whether an operator next to it cannot tear a text apart: ``h``, ``2.``, ``f(x + 1)``."""
    return bool(_ATOM.fullmatch(text)) or isinstance(_parsed(text), _ATOMS)


def _knows(text: str, names: Mapping[str, str]) -> bool:
    """Tell whether every name in the expression has something to stand for it."""
    return all(bound is None or piece in names for piece, bound in _pieces(text))


@lru_cache(maxsize=1024)
def decided(rule: str, parameters: tuple[tuple[str, str], ...]) -> str:
    """Return a rule without what its parameters decide: conditions, and factors of 1.

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
    """
    ones = any(text in ("1", "1.") for _, text in parameters)
    if not (ones or " if " in rule) or _parsed(rule) is None:
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
        return node.right if isinstance(node.op, ast.Mult) and self.is_one(node.left) else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        scales = isinstance(node.func, ast.Name) and node.func.id == "_times"
        return node.args[0] if scales and self.is_one(node.args[1]) else node

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
            return ast.literal_eval(self.parameters[test.id])
        return ast.literal_eval(test)


_CALLS = {
    *("abs", "cos", "cosh", "erf", "exp", "expand", "expm1", "log", "log10", "log1p", "log2"),
    *("reshape", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "t", "tan", "tanh"),
    *("transpose",),
}


@lru_cache(maxsize=1024)
def is_readable(rule: str) -> bool:
    """Tell whether a rule is mathematics that a reader knows, and no function of the kit's own."""
    tree = _parsed("".join(piece for piece, _ in _pieces(rule)))
    if tree is None:
        return False
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = [f.id if isinstance(f, ast.Name) else getattr(f, "attr", "") for f in calls]
    return all(name in _CALLS for name in names)


def gradient_of(name: str) -> str:
    """Return the name of a gradient: ``x.grad``, or ``(2 * x).grad`` for an expression."""
    return f"{name}.grad" if _DOTTED.fullmatch(name) else f"({name}).grad"


def rule_forms(
    rule: str,
    *,
    names: Mapping[str, str],
    numbers: Mapping[str, str],
    target: str,
    result: str,
) -> list[str]:
    """Write a rule with the learner's names, and with the numbers of this run.

    Parameters
    ----------
    rule : str
        What the rule returns, ``g * y``.
    names, numbers : dict from str to str
        What stands for ``g``, ``out``, inputs, parameters and shapes.
    target, result : str
        The learner's name of the input that it is for, and what the rule gave.

    Returns
    -------
    list of str - a line in names, if they say something, and one in numbers.

    Examples
    --------
    >>> rule_forms("g * y", names={"g": "z.grad", "y": "w"}, numbers={"g": "3.", "y": "2."},
    ...            target="h", result="6.")
    ['h.grad += z.grad * w', 'h.grad += 3. * 2. = 6.']
    """
    left = gradient_of(target)
    lines = [f"{left} += {worked_out(rule, numbers, result)}"]
    if is_readable(rule) and _knows(rule, names):
        lines.insert(0, f"{left} += {fill(rule, names)}")
    return lines


def worked_out(rule: str, numbers: Mapping[str, str], result: str) -> str:
    """Return ``3. * 2. = 6.``, or only ``6.``.

    That is when the rule just passes on, would be long, or is not known mathematics.
    """
    if not is_readable(rule) or not _knows(rule, numbers) or "None" in numbers.values():
        return result
    text = fill(rule, numbers)
    return result if text == result or len(text) > LONG else f"{text} = {result}"


# -- the learner's names --------------------------------------------------------------------------

_IDENTIFIER = re.compile(r"(?<![\w.])[^\W\d]\w*(?!\w|\s*=[^=])")
_GRAD = re.compile(r"\.grad\d*$")
_MODULE = re.compile(r"(?<![\w.])(?:torch|ak|autodiff_kit)\.(?=\w+\()")
_ITEMS = ("put", "index_put", "copy_slices")
_DEPTH = 20  # an expression short enough to be shown is not nested deeper


def in_short(text: str, limit: int) -> str:
    """Return a text without its middle, if it is too long.

    Examples
    --------
    >>> in_short("self.v * t - 4.9 * t ** 2", 20)
    'self.v * t…9 * t ** 2'
    """
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half].rstrip()}…{text[half - limit :].lstrip()}"


class Names:
    """What each node of a recording is called; worked out when asked for.

    A node that the learner gave a name has that name (``h2`` where ``h`` was bound several times).
    Others are called by their expression, with numbered names filled in - in a loop, ``h * w`` is
    ``h1 * w`` in one round and ``h2 * w`` in the next - and without its middle if it is long.
    Tensors that nothing in the source made are called by their value.

    Parameters
    ----------
    recording : dict
        With ``nodes`` and ``ops``.
    """

    def __init__(self, recording: Mapping[str, Any]) -> None:
        self._nodes: Sequence[Mapping[str, Any]] = recording["nodes"]
        self._ops: Mapping[str, Mapping[str, Any]] = recording["ops"]
        # Nodes whose text is the whole of their consumer's: parts of one call, such as sum(list).
        self._parts = {
            i["node"]
            for node in self._nodes
            for i in node.get("inputs", ())
            if "node" in i
            and node["where"] is not None
            and self._nodes[i["node"]]["where"] == node["where"]
            and self._nodes[i["node"]]["scope"] == node["scope"]  # not of the round before
        }
        self._names: dict[int, str] = {}
        self._texts: dict[int, str] = {}
        self.written = Written(recording)

    def name(self, node: int) -> str:
        """Return ``h1``, ``2 * x`` or ``first * last + …``."""
        found = self._names.get(node)
        if found is None:
            record = self._nodes[node]
            found = record["name"]
            if not found:
                older = record["kind"] == "leaf" and record["grad_fn"]
                found = "" if older else in_short(_MODULE.sub("", self.text(node)), NAME)
                if older:
                    found = f"a tensor from {'before' if record.get('older') else 'elsewhere'}"
                elif not found:
                    found = short(record["value"], 12) or f"a {show(record['value'], 12)}"
            self._names[node] = found
        return found

    def text(self, node: int) -> str:
        """Return the node's expression on one line, ``h1 * w``."""
        found = self._texts.get(node)
        if found is None:
            found = self._texts[node] = self._expression(node)
        return found

    def title(self, node: int) -> str:
        """Return ``h1 = h * w``; for a leaf, its name."""
        record = self._nodes[node]
        name = self.name(node)
        if record["kind"] == "leaf":
            return name
        text = self.text(node)
        if record["op"] in _ITEMS and record["text"]:  # `y[0] = 5.`, or a view changed in place
            if not text.endswith("]"):
                return f"{name}, changed by {text}"
            value = next((i for i in record["inputs"] if i["arg"] == "y"), None)
            change = text if value is None else f"{text} = {self.operand(value)}"
            return f"{name}: {change}" if record["name"] else change
        if in_short(_MODULE.sub("", text), NAME) == name:
            return text
        if text and _GRAD.search(name):  # no line of the learner's has assigned it
            return f"{name}, changed by {text}"
        return f"{name} = {text}" if text else name

    def titles(self, nodes: Sequence[int]) -> str:
        """Return the title of a node by its outputs: ``a, b = x.split(2)``."""
        if len(nodes) == 1:
            return self.title(nodes[0])
        record = self._nodes[nodes[0]]
        text = _MODULE.sub("", " ".join(str(record["text"]).split()))
        if not text:
            text = f"{word(record['op'])}({', '.join(self.operand(i) for i in record['inputs'])})"
        return f"{', '.join(map(self.name, nodes))} = {text}"

    def operand(self, source: Mapping[str, Any]) -> str:
        """Return the name of one input of an op, or its number if it is a constant."""
        return self.name(source["node"]) if "node" in source else parameter(source["value"])

    def operands(self, node: int) -> dict[str, str]:
        """Return what stands in the op's text: names for inputs, values for parameters."""
        record = self._nodes[node]
        found = {i["arg"]: self.operand(i) for i in record["inputs"]}
        several = [i for i in record["inputs"] if "[" in i["arg"]]
        if several:  # a Function of the learner's has one rule for all of its inputs
            names = dict.fromkeys(map(self.operand, several))
            found[several[0]["arg"].split("[")[0]] = " and ".join(names)
        return found | {k: parameter(v) for k, v in record["params"].items()}

    def reads(self, node: int, reads: Sequence[str]) -> dict[str, str]:
        """Return what stands for the names that a rule reads, in the learner's names."""
        record = self._nodes[node]
        names = {"g": gradient_of(self.name(node))}
        sources = {source["arg"]: source for source in record["inputs"]}
        for read in reads:
            source = sources.get(read.removesuffix("_shape"))
            if read == "out":
                names[read] = self.name(node)
            elif source is not None and "node" in source and read.endswith("_shape"):
                name = self.name(source["node"])
                names[read] = f"{name}.shape" if name.isidentifier() else f"({name}).shape"
            elif source is not None:
                names[read] = self.operand(source)
            elif read in record["params"]:
                names[read] = parameter(record["params"][read])
        return names

    def _expression(self, node: int) -> str:
        record = self._nodes[node]
        text = self._own_text(record)
        if record["op"] in _ITEMS and record["text"]:
            text = " ".join(str(record["text"]).split())
        if record["kind"] == "leaf" or len(text) > 4 * NAME:
            return text
        numbered = self._numbered(node, text, 0)
        for name in _bound_in(text):  # `w` of sum(w * w for w in ws) is all of them in turn
            numbered.pop(name, None)
        if text and None not in numbered.values():
            return _IDENTIFIER.sub(lambda m: numbered.get(m[0]) or m[0], text)
        # No expression of its own, or one name for two tensors: write it from the op table.
        inputs = {i["arg"]: self._plain(i) for i in record["inputs"]}
        parameters = {k: parameter(v) for k, v in record["params"].items()}
        text = decided(self._ops[record["op"]]["text"], tuple(sorted(parameters.items())))
        named = inputs | parameters
        if _parsed(text) is None:  # `x with x[positions] = y`
            return _IDENTIFIER.sub(lambda m: named.get(m[0], m[0]), text)
        whole = fill(text, named)
        if record["id"] in self._parts and whole == " ".join(str(record["text"]).split()):
            return f"{word(record['op'])}({', '.join(inputs.values())})"  # of 1 / x: reciprocal(x)
        return whole

    def _own_text(self, record: Mapping[str, Any]) -> str:
        """Return the source on one line; nothing for a part of a call and for ``h *= w``."""
        text = " ".join(str(record["text"]).split())
        return "" if record["id"] in self._parts or _parsed(text) is None else text

    def _plain(self, source: Mapping[str, Any]) -> str:
        """Return an operand's name; those it is made of come first, so that nothing recurses."""
        waiting = [source["node"]] if "node" in source else []
        while waiting:
            record = self._nodes[waiting[-1]]
            inner = [i["node"] for i in record["inputs"] if "node" in i]
            if record["name"] or self._own_text(record) or all(n in self._names for n in inner):
                self.name(waiting.pop())
            else:
                waiting += [n for n in inner if n not in self._names]
        return self.operand(source)

    def _numbered(self, node: int, text: str, depth: int) -> dict[str, str | None]:
        """Return which names in ``text`` stand for a numbered name; None if for more than one.

        Looks at the operands, and through those whose expression is a part of this one.
        """
        found: dict[str, str | None] = {}
        words = set(_IDENTIFIER.findall(text))
        for source in {i["node"]: None for i in self._nodes[node].get("inputs", ()) if "node" in i}:
            record = self._nodes[source]
            name, inner = record["name"], str(record["text"])
            new: dict[str, str | None] = {}
            if name in words:
                new = {name: name}
            elif name:
                new = {w: name for w in words if name.startswith(w) and name[len(w) :].isdigit()}
            elif depth < _DEPTH and 0 < len(inner) < len(text):
                new = self._numbered(source, " ".join(inner.split()), depth + 1)
            for base, to in new.items():
                found[base] = to if found.get(base, to) == to else None
        return found


@lru_cache(maxsize=1024)
def _bound_in(text: str) -> frozenset[str]:
    """Return the names that an expression binds itself: of comprehensions and lambdas."""
    tree = _parsed(text)
    found = set()
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.comprehension | ast.NamedExpr):
            names = ast.walk(node.target)
            found |= {part.id for part in names if isinstance(part, ast.Name)}
        elif isinstance(node, ast.Lambda):
            found |= {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}
    return frozenset(found)
