"""Breakpoints: at which steps a condition such as ``abs(grad) > 1e3`` holds.

After reading you can say what a condition may be made of, and why it can do no harm: it is read
as a syntax tree and worked out here, node by node; nothing of it is ever run as Python. Read next:
``frames.py``, which says what each step is about.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import cache
from math import prod, sqrt
from typing import Any, NotRequired, TypedDict, cast

import numpy as np

from autodiff_kit.record.events import NodeRecord, Value

__all__ = ["ConditionError", "find_steps", "subject_of"]


class Subject(TypedDict):
    """What one step is about."""

    kind: str
    name: str
    op: str
    shape: tuple[int, ...]
    dtype: str
    requires_grad: bool
    value: Value
    grad: Value | None
    sent: Value | None
    step: NotRequired[int]  # from 1, as they are counted in words


def subject_of(
    node: NodeRecord, name: str, kind: str, value: Value, grad: Value | None, sent: Value | None
) -> Subject:
    """Return what conditions may ask about a step of this kind at a node."""
    return {
        "kind": kind,
        "name": name,
        "op": node["op"] or "",
        "shape": tuple(value["shape"]),
        "dtype": value["dtype"],
        "requires_grad": node["requires_grad"],
        "value": value,
        "grad": grad,
        "sent": sent,
    }


NAMES = {
    "value": "the value of the node, as it is at that step",
    "grad": "its gradient when it is complete, and a leaf's .grad",
    "sent": "what one rule contributes to one input",
    "name": "what the node is called, such as 'h1'",
    "op": "its operation, such as 'mul'; '' for a leaf",
    "shape": "the shape of its value",
    "dtype": "for example 'float32'",
    "kind": "of the step: 'leaf', 'op', 'branch', 'modified', 'backward', 'visit', 'contribution', "
    "'accumulate', 'release' or 'error'",
    "step": "the number of the step, as the Stepper counts",
    "requires_grad": "whether the node requires a gradient",
}
_COMING = {"value": ("leaf", "op", "modified"), "grad": (), "sent": ()}
LONG = 200  # characters that are enough for a condition


class ConditionError(ValueError):
    """A condition that cannot be understood; the message is for the person who typed it."""


def find_steps(condition: str, subjects: Sequence[Sequence[Subject]]) -> list[tuple[int, str]]:
    """Return the steps at which a condition holds, each with the node for which it does.

    Parameters
    ----------
    condition : str
        A Python expression over what ``NAMES`` lists. An array counts as true if it is true for
        any of its elements.
    subjects : sequence of sequence of dict
        By step, what it is about: several nodes for a folded box.

    Returns
    -------
    list of (step, name) - steps count from 0.

    Raises
    ------
    ConditionError
        If the condition cannot be understood, or can be worked out at no step.

    Examples
    --------
    >>> value = {"shape": [2], "dtype": "float32", "data": [1.0, "nan"]}
    >>> find_steps("value.isnan().any()", [[{"kind": "op", "name": "h", "value": value}]])
    [(0, 'h')]
    """
    tree = _parsed(condition)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} & NAMES.keys()
    hits = []
    trouble: ConditionError | None = None
    worked = False
    for step, step_subjects in enumerate(subjects):
        for subject in step_subjects:
            if not _is_about(subject, names):
                continue
            try:
                holds = _truth(_work_out(tree, {**subject, "step": step + 1}))
            except ConditionError as error:
                trouble = trouble or error
                continue
            worked = True
            if holds:
                hits.append((step, str(subject.get("name", ""))))
                break
    if trouble is not None and not worked:
        raise trouble
    return hits


def _is_about(subject: Subject, names: set[str]) -> bool:
    """Tell whether a step brings anything new that a condition asks for.

    A value is asked about where it is made or changed, and not again when backward comes by.
    """
    moving = names & _COMING.keys()
    if moving == {"value"}:
        return subject["kind"] in _COMING["value"]
    return all(subject.get(name) is not None for name in moving)


def _parsed(condition: str) -> ast.expr:
    text = condition.strip()
    if not text:
        raise ConditionError("Type a condition, for example: abs(grad) > 1e3")
    if len(text) > LONG:
        raise ConditionError(f"That is longer than {LONG} characters: shorten it.")
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        if _assigns(text):
            raise ConditionError("One = gives a value; to compare, write ==") from None
        at = text[max(0, (error.offset or 1) - 1) :].split("\n")[0]
        where = f" It goes wrong at: {at[:20]}" if at else " Something is missing at its end."
        raise ConditionError(f"That is no whole expression.{where}") from None
    except (ValueError, RecursionError, MemoryError):
        raise ConditionError("That cannot be read as an expression.") from None
    return tree


def _assigns(text: str) -> bool:
    try:
        return isinstance(ast.parse(text).body[0], ast.Assign)
    except (SyntaxError, IndexError):
        return False


# -- values -------------------------------------------------------------------------------------


class _Large:
    """A tensor of which a recording has only statistics: other questions are refused."""

    def __init__(self, value: Value, size_of: bool = False) -> None:
        self.value, self.size_of = value, size_of
        self.stats = {name: float(cast(float, number)) for name, number in value["stats"].items()}
        if size_of:  # abs(x)
            self.stats["max"] = max(abs(self.stats["min"]), abs(self.stats["max"]))

    def ask(self, name: str) -> Any:
        stats, size = self.stats, prod(self.value["shape"])
        count = size - stats["nan"] - stats["inf"]
        if name in ("max", "mean", "min", "std") and not (
            self.size_of and name in ("mean", "min", "std")
        ):
            return stats[name]
        if name == "sum" and not self.size_of:
            return stats["mean"] * count
        if name == "norm":
            return sqrt(count * (stats["std"] ** 2 + stats["mean"] ** 2))
        if name == "abs":
            return _Large(self.value, size_of=True)
        if name in ("isnan", "isinf"):
            return np.array([stats[name[2:]] > 0, stats[name[2:]] == size])
        if name == "isfinite":
            return np.array([count == size, count > 0])
        raise ConditionError(
            f"Of a tensor with {size:,} elements a recording holds statistics only: "
            "ask for max(), min(), mean(), std(), sum(), norm(), isnan() or isinf()."
        )

    def compare(self, test: Callable[[Any, Any], Any], other: Any) -> Any:
        """Answer for any element what its extremes can answer."""
        if test in (operator.gt, operator.ge):
            return np.array([test(self.stats["max"], other)])
        if test in (operator.lt, operator.le) and not self.size_of:
            return np.array([test(self.stats["min"], other)])
        return self.ask("")


def _number(text: Any) -> Any:
    return float(text) if isinstance(text, str) else text


def _array(value: Value) -> Any:
    """Return a recorded value as something that can be asked."""
    if not value["dtype"]:
        raise ConditionError("The value of a node from before the recording is not known.")
    if "stats" in value:
        return _Large(value)
    return np.array([_number(x) for x in value["data"]]).reshape(value["shape"])


def _truth(result: Any) -> bool:
    if isinstance(result, _Large):
        return bool(result.stats["max"] or result.stats["min"])
    if isinstance(result, np.ndarray):
        return bool(result.any())
    return bool(result)


# -- the evaluator ------------------------------------------------------------------------------

_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda x, y: x in y,
    ast.NotIn: lambda x, y: x not in y,
    ast.Is: lambda x, y: x is y,
    ast.IsNot: lambda x, y: x is not y,
}
_ASKED: dict[str, Callable[[Any], Any]] = {
    "abs": np.abs,
    "all": np.all,
    "any": np.any,
    "isfinite": np.isfinite,
    "isinf": np.isinf,
    "isnan": np.isnan,
    "max": np.max,
    "mean": np.mean,
    "min": np.min,
    "norm": lambda x: np.sqrt(np.sum(np.square(x))),
    "numel": np.size,
    "std": np.std,
    "sum": np.sum,
}
_TEXTS = ("endswith", "startswith")


def _work_out(node: ast.expr, subject: Subject) -> Any:
    """Work out one part of a condition for one node at one step."""
    try:
        with np.errstate(all="ignore"):
            return _result(node, subject)
    except ConditionError:
        raise
    except RecursionError:
        raise ConditionError("That is nested too deeply.") from None
    except TypeError:  # such as 'a' < 3
        raise ConditionError(f"{_said(node)}: numbers and text do not go together.") from None
    except Exception as error:  # such as the maximum of nothing
        raise ConditionError(f"{_said(node)} cannot be worked out: {error}.") from None


def _result(node: ast.expr, subject: Subject) -> Any:
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None as constant):
            return constant
        case ast.Name(id=name):
            return _named(name, subject)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return tuple(_work_out(part, subject) for part in parts)
        case ast.BoolOp(op=op, values=parts):
            decides = isinstance(op, ast.Or)
            return any(_truth(_work_out(part, subject)) == decides for part in parts) == decides
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _truth(_work_out(operand, subject))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_small(_work_out(operand, subject)))
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int() | float() as power)):
            if abs(power) > 10:
                raise ConditionError("Powers up to 10 will do.")
            return _small(_work_out(left, subject)) ** float(power)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            first, second = (_small(_work_out(x, subject)) for x in (left, right))
            if isinstance(first, str | tuple) or isinstance(second, str | tuple):
                raise ConditionError("Only numbers can be added or multiplied here.")
            return _OPERATORS[type(op)](first, second)
        case ast.Compare(left=left, ops=tests, comparators=others):
            return _compared(left, tests, others, subject)
        case ast.Attribute(value=ast.Name(id=of), attr="grad") if of not in NAMES:
            raise ConditionError(
                f"A condition reads no variables, so no {of}.grad. Ask for a step of {of} and its "
                f'gradient: name == "{of}" and grad > 5.'
            )
        case ast.Attribute(value=of, attr=name):
            return _attribute(_work_out(of, subject), name)
        case ast.Subscript(value=of, slice=at):
            return _work_out(of, subject)[_work_out(at, subject)]
        case ast.Call():
            return _called(node, subject)
    raise ConditionError(f"{_said(node)} is of a kind that a condition cannot have.")


def _named(name: str, subject: Subject) -> Any:
    if name not in NAMES:
        near = get_close_matches(name, [*NAMES, *_ASKED], 1)
        hint = f"Did you mean {near[0]}?" if near else f"There are {', '.join(NAMES)}."
        raise ConditionError(f"There is nothing called {name} here. {hint}")
    value: Any = subject.get(name)
    if name in ("value", "grad", "sent"):
        return _array(value) if value is not None else None
    return value


def _compared(
    left: ast.expr, tests: Sequence[ast.cmpop], others: Sequence[ast.expr], subject: Subject
) -> Any:
    first = _work_out(left, subject)
    result: Any = True
    for test, other in zip(tests, others, strict=True):
        second = _work_out(other, subject)
        if len(tests) > 1:  # 1 < x < 2 is about the same element, and extremes are two
            first, second = _small(first), _small(second)
        apply = _OPERATORS[type(test)]
        if isinstance(second, _Large) and not isinstance(first, _Large):
            turned = {">": operator.lt, "<": operator.gt}
            sign = {operator.gt: ">", operator.ge: ">", operator.lt: "<", operator.le: "<"}
            apply = turned.get(sign.get(apply, ""), apply)
            first, second = second, first
        holds = first.compare(apply, second) if isinstance(first, _Large) else apply(first, second)
        result = holds if result is True else np.logical_and(result, holds)
        first = second
    return result


def _small(value: Any) -> Any:
    return value.ask("") if isinstance(value, _Large) else value


def _attribute(value: Any, name: str) -> Any:
    if name in ("shape", "ndim") and isinstance(value, np.ndarray | _Large):
        shape = tuple(value.shape if isinstance(value, np.ndarray) else value.value["shape"])
        return shape if name == "shape" else len(shape)
    raise ConditionError(f"There is no .{name} here. {_methods()}")


def _called(node: ast.Call, subject: Subject) -> Any:
    """Return ``x.max()``, ``torch.isnan(x)``, ``max(x)`` or ``name.startswith('h')``."""
    if node.keywords or len(node.args) > 1:
        raise ConditionError(f"{_said(node)}: give no arguments; the whole tensor is meant.")
    arguments = [_work_out(argument, subject) for argument in node.args]
    match node.func:
        case ast.Name(id="len") if arguments:
            return len(arguments[0])
        case ast.Name(id=name):
            pass
        case ast.Attribute(value=ast.Name(id="torch" | "np" | "ak" | "math"), attr=name):
            pass
        case ast.Attribute(value=of, attr=name):
            value = _work_out(of, subject)
            if isinstance(value, str) and name in _TEXTS and isinstance(arguments[0], str):
                return getattr(value, name)(arguments[0])
            if arguments:
                raise ConditionError(f"{_said(node)}: .{name}() takes nothing here.")
            arguments = [value]
        case _:
            raise ConditionError(f"{_said(node)} cannot be called.")
    if name == "item":
        return arguments[0]
    if name not in _ASKED or not arguments:
        near = get_close_matches(name, _ASKED, 1)
        raise ConditionError(
            f"There is no {name}() here. " + (f"Did you mean {near[0]}()?" if near else _methods())
        )
    if isinstance(arguments[0], _Large):
        return arguments[0].ask(name)
    if arguments[0] is None:
        raise ConditionError(f"{_said(node)}: there is none at this step.")
    return _ASKED[name](arguments[0])


@cache
def _methods() -> str:
    return f"A tensor can be asked for {', '.join(f'{name}()' for name in _ASKED)}, shape, ndim."


def _said(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 40 else text[:39] + "…"
