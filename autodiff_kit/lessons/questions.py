"""A question asked before the reveal, and how an answer to it is judged.

After reading this file you can say when two answers count as the same, and why typing code as an
answer is safe: it is compared as text, as a literal value, as arithmetic or as a syntax tree, and
never run.
Read next: ``bank/__init__.py``, the lessons' own questions.
"""

from __future__ import annotations

import ast
import html
import math
import operator
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, NamedTuple

__all__ = ["Question", "Verdict", "to_html"]

LONGEST_ANSWER = 200


class Verdict(NamedTuple):
    """What came of an answer.

    Attributes
    ----------
    outcome : str
        ``"right"``, ``"wrong"``, or ``"unclear"`` (it could not be read; no try is counted).
    text : str
        What to tell the learner, in the small markup of :func:`to_html`.
    """

    outcome: Literal["right", "wrong", "unclear"]
    text: str


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question with its answer and an explanation for every wrong answer that was foreseen.

    Parameters
    ----------
    text : str
        The question, in the small markup of :func:`to_html`.
    kind : str
        ``"choice"``, ``"number"`` or ``"code"``.
    answer : str or float
        The right answer: one of the choices, a number, or a short expression.
    key : str, optional
        Name under which the learner's answer is kept, such as ``"03.order"``; ``""``: it is not.
    choices : tuple of str
        What can be chosen, for the kind ``"choice"`` only.
    also : tuple of str
        Other right answers, for the kind ``"code"`` only.
    right : str
        Why the right answer is right.
    why : dict
        Wrong answer -> why it is tempting, and what to look at. Every wrong choice needs one.
    otherwise : str
        What to say to a wrong number or code that ``why`` does not know.
    within : float
        How far a number may be off. One that is rounded to the digits that were typed, at least
        two that count, is right as well: 0.67 for 2/3.

    Raises
    ------
    ValueError
        If the parts do not fit together; the message says which.
    """

    text: str
    kind: Literal["choice", "number", "code"]
    answer: str | float
    key: str = ""
    choices: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    right: str = ""
    why: Mapping[str | float, str] = field(default_factory=dict)
    otherwise: str = "Look again, one step at a time."
    within: float = 1e-4

    def __post_init__(self) -> None:
        name = f"The question {self.key or self.text[:40]!r}"
        if self.kind == "choice":
            if len(set(self.choices)) != len(self.choices) or len(self.choices) < 2:
                raise ValueError(f"{name} needs two or more choices, each of them once.")
            if self.answer not in self.choices:
                raise ValueError(f"{name}: its answer {self.answer!r} is not one of its choices.")
            silent = set(self.choices) - {self.answer} - set(self.why)
            if silent:
                raise ValueError(
                    f"{name} says nothing to the wrong choice {min(silent)!r}.\n"
                    "-> Add it to `why`: a learner who chose it wants to know what is wrong."
                )
            for wrong in self.why:
                if wrong not in self.choices:
                    raise ValueError(f"{name} explains {wrong!r}, which is not one of its choices.")
        elif self.choices:
            raise ValueError(f"{name} has choices, so its kind is 'choice', not {self.kind!r}.")
        for wrong in self.why:
            if self.judge(str(wrong)).outcome == "right":
                raise ValueError(f"{name} explains {wrong!r} as wrong, but it is right.")

    @property
    def kind_of_answer(self) -> str:
        """What an answer that is typed looks like, in words: ``"a name"``, ``"a list"``."""
        if self.kind == "number":
            return "a number"
        text = str(self.answer)
        return (
            "a name" if text.isidentifier() else "a list" if text[:1] == "[" else "a line of code"
        )

    def judge(self, response: str) -> Verdict:
        """Say whether an answer is right, and if not, what is wrong with it.

        Parameters
        ----------
        response : str
            What the learner chose or typed.

        Returns
        -------
        Verdict
        """
        response = response.strip()
        if not response:
            verb = "Choose" if self.kind == "choice" else "Type"
            return Verdict("unclear", f"{verb} an answer first. A guess is fine.")
        if len(response) > LONGEST_ANSWER:
            return Verdict("unclear", "That is too long for an answer: one short line will do.")
        if self.kind == "number":
            number = _to_number(response)
            if number is None:
                return Verdict("unclear", f"Type a number, such as `2.5`: `{response}` is not one.")
        if self.kind == "code":
            response = _in_quotes(response, str(self.answer))
        if any(self._same(response, answer) for answer in (self.answer, *self.also)):
            return Verdict("right", self.right)
        for wrong, text in self.why.items():
            if self._same(response, wrong):
                return Verdict("wrong", text)
        advice = _advice(response, str(self.answer)) if self.kind == "code" else ""
        return Verdict("unclear", advice) if advice else Verdict("wrong", self.otherwise)

    def _same(self, response: str, expected: str | float) -> bool:
        if self.kind == "choice":
            return response == expected
        if self.kind == "number":
            number, target = _to_number(response), float(expected)
            if number is None or math.isnan(target):
                return number is not None and math.isnan(number)
            return number == target or abs(number - target) <= max(self.within, _rounding(response))
        return _meaning(response) == _meaning(str(expected))


_TIMES = re.compile(r"(?<![\w.])(\d+(?:\.\d*)?|\))\s*([A-Za-z_]\w*|\()")


def _advice(response: str, answer: str) -> str:
    """Say how to write an answer that has not the form of the right one; ``""``: it has it."""
    code, right = response.strip("` "), _tree(answer)
    tree = _tree(code)
    if right is None:
        return ""  # itself no Python, such as <AddBackward0>
    calls = [part.func for part in ast.walk(tree) if isinstance(part, ast.Call)] if tree else []
    times = _TIMES.search(code)
    if times and (tree is None or any(isinstance(f, ast.Constant | ast.BinOp) for f in calls)):
        return f"Python needs a sign for a product: write `{times[1]} * {times[2]}`."
    if tree is None and answer.isidentifier():
        return f"Type one name and nothing else: `{code}` is none."
    if tree is None:
        return f"`{code}` is not Python: look at its brackets, quotes and signs."
    if "^" in code and "^" not in answer:
        return "Python writes powers with `**`: `x**2`, not `x^2`."
    is_list = isinstance(getattr(tree.body[0], "value", None), ast.List) if tree.body else False
    return "Type a list, in brackets: `[..., ...]`." if _is_of_texts(right) and not is_list else ""


def _in_quotes(response: str, answer: str) -> str:
    """Write the names in a list as texts: what Python prints of a node has no quotes either."""
    right, tree = _tree(answer), _tree(response.strip("` "))
    if tree is None or not _is_of_texts(right):
        return response
    match tree.body:
        case [ast.Expr(ast.List(parts))]:
            texts = (repr(p.id) if isinstance(p, ast.Name) else ast.unparse(p) for p in parts)
            return f"[{', '.join(texts)}]"
    return response


def _is_of_texts(tree: ast.Module | None) -> bool:
    match tree.body if tree else None:
        case [ast.Expr(ast.List([ast.Constant(str()), *_]))]:
            return True
    return False


def _tree(code: str) -> ast.Module | None:
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")


def _to_number(text: str) -> float | None:
    """Read a number as a learner may type it: ``8``, ``1/3``, ``4**7``, ``40,000``."""
    text = text.replace("\N{MINUS SIGN}", "-").strip("` ")
    text = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), text)
    try:
        return float(text)  # also inf and nan
    except ValueError:
        pass
    inside = re.fullmatch(r"(?:torch\.)?tensor\((.*)\)", text)
    try:
        return float(_value(ast.parse(inside[1].strip() if inside else text, mode="eval").body))
    except _NO_VALUE:
        return None


def _rounding(text: str) -> float:
    """Return how far a decimal number may be off for having been rounded: 0.005 for ``0.67``."""
    typed = re.fullmatch(r"[-+\N{MINUS SIGN}]?(\d*)\.(\d+)", text.strip("` "))
    if typed is None or len((typed[1] + typed[2]).lstrip("0")) < 2:
        return 0.0
    return 0.500001 * 10.0 ** -len(typed[2])


_NO_VALUE = (SyntaxError, ArithmeticError, ValueError, RecursionError, MemoryError)
_MAX_BITS = 4096  # of a power
_OPERATORS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def _value(node: ast.AST, point: int | None = None) -> Fraction:
    """Return the value of arithmetic, exactly; with a `point`, names stand for numbers of its own.

    Nothing but numbers, names, ``+ - * / **`` and parentheses has a value: all else raises one of
    `_NO_VALUE`, and so does what would take long to compute.
    """
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return Fraction(repr(number))
        case ast.Name(id=name) if point is not None:
            return Fraction(zlib.crc32(f"{name} {point}".encode()) % 997 + 2, 7)
        case ast.UnaryOp(op=ast.UAdd() | ast.USub() as sign, operand=operand):
            return _value(operand, point) * (-1 if isinstance(sign, ast.USub) else 1)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_value(left, point), _value(right, point))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, point), _value(right, point))
    raise ValueError("This is no arithmetic.")


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1:
        if base < 0:
            raise ValueError("A root of a negative number is not real.")
        return Fraction(float(base) ** float(exponent))
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if bits * abs(exponent) > _MAX_BITS:
        raise OverflowError("This power has too many digits.")
    return Fraction(base ** int(exponent))


class _Sameness(ast.NodeTransformer):
    """Make trees equal that mean the same: ``2`` and ``2.``, ``x + x`` and ``2 * x``."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if type(node.value) is int and abs(node.value) < 2**53:
            return ast.Constant(float(node.value))
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        try:
            if not any(isinstance(part, ast.Name) for part in ast.walk(node)):
                return ast.Constant(float(_value(node)))
            # Arithmetic that agrees at three points of no special kind is taken for the same.
            return ast.Constant(str([_value(node, point) for point in range(3)]))
        except _NO_VALUE:
            pass
        self.generic_visit(node)
        if isinstance(node.op, ast.Add | ast.Mult):
            node.left, node.right = sorted((node.left, node.right), key=ast.dump)
        return node


def _meaning(text: str) -> str:
    """Return what two answers in code have in common when they mean the same. Nothing is run."""
    text = text.strip("` ")
    tree = _tree(text)
    try:
        if tree is not None:
            return ast.dump(_Sameness().visit(tree))
    except RecursionError:
        pass
    return re.sub(r"\s+", "", text)  # no Python, such as <AddBackward0>


def to_html(text: str) -> str:
    """Turn the questions' small markup into HTML; everything else in the text is escaped.

    Parameters
    ----------
    text : str
        Blank lines part paragraphs; a paragraph whose lines are all indented by four blanks is
        shown as code. In a line, text between backticks is code, between asterisks *emphasis*.

    Returns
    -------
    str

    Examples
    --------
    >>> to_html("Is `a < b`?")
    '<p>Is <code>a &lt; b</code>?</p>'
    """
    parts = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        lines = paragraph.split("\n")
        if all(line.startswith("    ") for line in lines):
            code = html.escape("\n".join(line[4:] for line in lines))
            parts.append(f"<pre><code>{code}</code></pre>")
        else:
            parts.append(f"<p>{inline(' '.join(line.strip() for line in lines))}</p>")
    return "".join(parts)


def inline(text: str) -> str:
    """Do the same for a piece of one line, without a paragraph around it."""
    pieces = html.escape(text).split("`")
    pieces[::2] = [re.sub(r"\*(\w[^*]*)\*", r"<em>\1</em>", piece) for piece in pieces[::2]]
    pieces[1::2] = [f"<code>{piece}</code>" for piece in pieces[1::2]]
    return "".join(pieces)
