"""What an operation is: a row of the op table.

After reading this file you know what an op is. A declaration (``ops/table.py``) is a plain NumPy
function and one rule per input; **what a rule asks for by name is what a node saves**, no more.
That is brought, once, at import, into a positional form, so that reading is by name and running
by position. Read next: ``node.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final, Protocol

__all__ = ["ACCUMULATE", "OPS", "RELEASED", "Op", "OpFunction", "Rule", "Value"]

# A NumPy array, a NumPy scalar (the value of a 0-d tensor), or a Tensor under create_graph.
Value = Any

OPS: dict[str, Op] = {}
RELEASED: Final = "released"  # what stands in ``node.out`` after backward has freed the node
_VARIADIC = 0x04  # inspect.CO_VARARGS; importing inspect takes a tenth of what NumPy takes


class Rule:
    r"""A VJP rule: cotangent of the output -> contribution to one input.

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


class OpFunction(Protocol):
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
        By the input they differentiate by; inputs without a rule get no gradient.
    rule0, rule1, rules_of_more
        The same in positional form: ``(g, out, x, y, rest) -> contribution``.
    rest : list of str
        Names of what rules read besides the output and the first two inputs.
    saves, saves_rest : bool
        Whether any rule reads the values of a tensor; whether one of those is in ``rest``.
    is_whole : bool
        Whether a visit always calls all rules, as those of a Function: they are one ``backward``.

    The further options of a declaration, which the class lists, are explained in ``ops/table.py``.
    """

    is_whole = several = frees = False
    dtypes, layout, keeps_type = "promote", "", 0
    by_products: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()
    whole: Callable[..., None] | None = None
    on_error: Callable[..., str] | None = None
    saved_as: Mapping[str, str] = MappingProxyType({})

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
        self.text, self.tex, self.doc = text, tex or text, forward.__doc__ or ""
        self.is_variadic, self.is_view = bool(code.co_flags & _VARIADIC), view
        self.inputs = (names[count],) if self.is_variadic else names[: code.co_argcount]
        self.params = names[code.co_argcount : count]
        self.defaults: dict[str, Any] = forward.__kwdefaults__ or {}
        if not options.keys() <= _OPTIONS:
            unknown = sorted(options.keys() - _OPTIONS)
            raise TypeError(f"op {self.name!r}: unknown options {unknown}")
        for option, value in options.items():
            setattr(self, option, value)
        self.function: OpFunction  # which declares and applies it; set by ``op``
        self.rules: dict[str, Rule] = {}
        self.rule0 = self.rule1 = _no_rule
        self.rules_of_more: Any = [_no_rule] * (len(self.inputs) - 2)
        self.rest: list[str] = []
        self.saves = self.saves_rest = self.frees

    def add_rule(self, wrt: str, function: Callable[..., Value], tex: str) -> None:
        """Bring a rule into positional form and work out what it makes nodes save.

        Raises
        ------
        TypeError
            At import, if the rule is for no input or reads a name that the op does not have.
        """
        rule = Rule(function, tex)
        shapes = {
            f"{name}_{what}" for name in self.inputs for what in ("shape", "dtype", "strides")
        }
        slots = {"out": "out", **dict(zip(self.inputs, ("x", "y"), strict=False))}
        values = {"out", *self.inputs, *self.by_products}
        if self.is_variadic:
            slots, values = {"index": "rest[-1]"}, set()
        known = {*values, *slots, *shapes, *self.params}
        if wrt not in self.inputs or not set(rule.reads) <= known:
            raise TypeError(
                f"op {self.name!r}: the rule for {wrt!r} reads {rule.reads}; an op's rules are "
                f"for one of {self.inputs} and may read {sorted(known)}"
            )
        self.rules[wrt] = rule
        self.saves = self.saves or not values.isdisjoint(rule.reads)
        self.rest += [n for n in rule.reads if n not in slots and n not in self.rest]
        self.saves_rest = self.saves_rest or not values.isdisjoint(self.rest)
        places = (slots.get(name) or f"rest[{self.rest.index(name)}]" for name in rule.reads)
        arguments, index = ", ".join(["g", *places]), self.inputs.index(wrt)

        def place(by_position: Callable[..., Value]) -> None:
            if self.is_variadic:
                self.rules_of_more = SameForEach(by_position)
            elif index < 2:
                setattr(self, f"rule{index}", by_position)
            else:
                self.rules_of_more[index - 2] = by_position

        def at_first(*saved: Any) -> Value:  # compiling all at import would cost a tenth of it
            place(by_position := caller(arguments)(function))
            return by_position(*saved)

        place(at_first)


_OPTIONS = {name for name in vars(Op) if not name.startswith("_")} - {"is_whole", "add_rule"}


def _no_rule(g: Value, out: Value, x: Value, y: Value, rest: tuple[Any, ...]) -> Value:
    raise NotImplementedError("this operation has no derivative with respect to this input")


@cache
def caller(arguments: str) -> Callable[..., Callable[..., Value]]:
    """Return what brings a rule into positional form.

    One lambda per pattern of arguments, as a namedtuple is made: written by hand it would be
    ``lambda rule: lambda g, out, x, y, rest: rule(g, y)``.
    """
    made: Callable[..., Any] = eval(f"lambda rule: lambda g, out, x, y, rest: rule({arguments})")
    return made


class SameForEach:
    """The rules of a variadic op: one function, told which input it is for."""

    def __init__(self, rule: Callable[..., Value]) -> None:
        self._rule = rule

    def __getitem__(self, index: int) -> Callable[..., Value]:
        return lambda g, out, x, y, rest: self._rule(g, out, x, y, (*rest, index))


# The end of an edge at a leaf. Not an operation, but it stands where nodes have their op.
def _accumulate_grad(x: Value) -> Value:
    return x


ACCUMULATE = Op(_accumulate_grad, "x.grad += g", r"\bar x", node="AccumulateGrad")
