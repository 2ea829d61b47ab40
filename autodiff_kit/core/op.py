"""What an operation is: a row of the op table, declared as in ``ops/table.py``.

After reading this file you know what an op is: a plain NumPy function, and one rule per input.
**What a rule asks for by name is what a node saves**, no more. Read next: ``node.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from autodiff_kit.core.positions import place_rule

__all__ = ["ACCUMULATE", "OPS", "RELEASED", "Op", "OpFunction", "Params", "Rule", "Value"]

Value = Any  # a NumPy array, a NumPy scalar (of a 0-d tensor), or a Tensor under create_graph
Params = dict[str, Any]  # of an op, by the names in its declaration

OPS: dict[str, Op] = {}
RELEASED: Final = "released"  # what stands in ``node.out`` after backward has freed the node
_VARIADIC = 0x04  # inspect.CO_VARARGS; importing inspect takes a tenth of what NumPy takes


class Rule:
    r"""A backward rule: cotangent of the output -> contribution to one input (a VJP).

    Attributes
    ----------
    function : callable
        As it was written: ``(g, name, name, ...) -> Value``.
    reads : tuple of str
        The names after ``g``.
    tex : str
        The formula, with ``\bar z`` for the cotangent.
    """

    def __init__(self, function: Callable[..., Value], tex: str) -> None:
        self.function, self.tex = function, tex
        self.reads = function.__code__.co_varnames[1 : function.__code__.co_argcount]


class OpFunction:
    """What ``@op`` makes of a declaration: a function, with ``.vjp(wrt, tex)`` to add a rule."""

    op: Op
    vjp: Callable[..., Callable[..., Callable[..., Value]]]
    __name__: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Apply the op: to Tensors, or inside of a rule to arrays."""


class Op:
    """One row of the table.

    Attributes
    ----------
    name, node_name : str
        ``mul`` and PyTorch's ``MulBackward0``.
    text, tex, doc : str
        The operation in Python, as a formula, and in words.
    inputs, params : tuple of str
        Names of the tensor inputs, and of the keyword parameters. ``def cat(*tensors, dim)`` is
        variadic: any number of inputs under one name, with one rule for all.
    rules : dict from str to Rule
        By the input they differentiate by; an input without one counts as a constant.
    rule0, rule1, rules_of_more
        The same as the engine calls them, by position: ``(g, out, x, y, rest) -> contribution``.
    rest : list of str
        Names of what rules read besides the output and the first two inputs.
    is_refused, always_calls_rules : bool
        Whether PyTorch has no derivative; whether rules run also where no result is wanted.
    saves, saves_rest : bool
        Whether backward frees what was saved; whether tensors' values are in ``rest``.
    """

    # What else a declaration may say:
    several = False  # forward returns several outputs; a rule gets their cotangents by number
    frees = False  # whether backward frees what was saved, also if no rule reads a tensor's values
    dtypes = "promote"  # inputs get one type; "float": of floats; "any": none; or that of an input
    layout = ""  # order in memory: "": as the inputs; "rows": row by row; "own": as forward made it
    keeps_type = 0  # how many of the first inputs, masks, keep their type
    operands: tuple[str, ...] = ()  # parameters that count as inputs for the type
    by_products: tuple[str, ...] = ()  # names of what else forward returns; of several outputs, all
    saved_as: Mapping[str, str] = MappingProxyType({})  # PyTorch's names of what nodes save
    type_check: Callable[..., None] | None = None  # for arrays not all of one floating type
    on_error: Callable[..., str] | None = None  # says why NumPy refuses the shapes of the arrays
    made_of: Callable[..., Value] | None = None  # what computes it of Tensors: ops with other nodes

    def __init__(
        self,
        forward: Callable[..., Any],
        text: str,
        tex: str,
        *,
        node: str = "",
        view: bool = False,
        **options: Any,
    ) -> None:
        code = forward.__code__
        names, count = code.co_varnames, code.co_argcount + code.co_kwonlyargcount
        self.forward, self.name = forward, forward.__name__.strip("_")
        self.node_name = node or f"{self.name.title().replace('_', '')}Backward0"
        self.always_calls_rules = self.is_refused = self.node_name.endswith("::NotImplemented")
        self.text, self.tex, self.doc = text, tex or text, forward.__doc__ or ""
        self.is_variadic, self.is_view = bool(code.co_flags & _VARIADIC), view
        self.inputs = (names[count],) if self.is_variadic else names[: code.co_argcount]
        self.params = names[code.co_argcount : count]
        self.defaults: Params = forward.__kwdefaults__ or {}
        if unknown := sorted(options.keys() - _OPTIONS):
            raise TypeError(f"op {self.name!r}: unknown options {unknown}")
        for option, value in options.items():
            setattr(self, option, value)
        self.results = self.by_products if self.several else ("out", *self.by_products)
        self.function: OpFunction  # which declares and applies it; set by ``op``
        self.rules: dict[str, Rule] = {}
        self.rule0 = self.rule1 = _no_rule
        self.rules_of_more: Any = [_no_rule] * (len(self.inputs) - 2)
        self.rest: list[str] = []
        self.saves = self.saves_rest = self.frees

    def add_rule(self, wrt: str, function: Callable[..., Value], tex: str) -> Callable[..., Value]:
        """Add the rule for the input ``wrt``, work out what it makes nodes save, and return it.

        Raises
        ------
        TypeError
            At import, if the rule is for no input or reads a name that the op does not have.
        """
        rule = Rule(function, tex)
        slots = {"out", *self.inputs[:2]}  # what has a place of its own in a node
        values = {"out", *self.inputs, *self.by_products}
        if self.is_variadic:
            slots, values = {"index"}, set()
        readable = {*values, *slots, *_aspects_of(self.inputs), *self.params}
        if wrt not in self.inputs or not set(rule.reads) <= readable:
            raise TypeError(
                f"op {self.name!r}: the rule for {wrt!r} reads {rule.reads}; an op's rules are "
                f"for one of {self.inputs} and may read {sorted(readable)}"
            )
        self.rules[wrt] = rule
        self.rest += [n for n in rule.reads if n not in slots and n not in self.rest]
        self.saves = self.saves or not values.isdisjoint(rule.reads)
        self.saves_rest = self.saves_rest or not values.isdisjoint(self.rest)
        place_rule(self, wrt)
        return function


@cache
def _aspects_of(inputs: tuple[str, ...]) -> list[str]:
    return [f"{x}_{aspect}" for x in inputs for aspect in ("shape", "dtype", "strides")]


_OPTIONS = {name for name in vars(Op) if not name.startswith("_")} - {"add_rule"}


def _no_rule(g: Value, out: Value, x: Value, y: Value, rest: tuple[Any, ...]) -> Value:
    raise NotImplementedError("this operation has no derivative with respect to this input")


# The end of an edge at a leaf. Not an operation, but it stands where nodes have their op.
def _accumulate_grad(x: Value) -> Value:
    return x


ACCUMULATE = Op(_accumulate_grad, "x.grad += g", r"\bar x", node="AccumulateGrad")
