"""The op table: how an operation is declared.

After reading this file you can add an op. A declaration is a plain NumPy function and one rule
per input; **what a rule asks for by name is what a node saves**, no more. ``@op`` brings that,
once, at import, into a positional form, so that reading is by name and running by position.
Read next: ``apply.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Protocol, cast

from autodiff_kit.autograd import node as nodes
from autodiff_kit.autograd.node import Value
from autodiff_kit.autograd.shown import add_saved_attribute
from autodiff_kit.ops import fast

if TYPE_CHECKING:
    from autodiff_kit.tensor import Tensor

__all__ = ["OPS", "Op", "OpFunction", "Rule", "op", "vjp"]

OPS: dict[str, Op] = {}
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
    """What ``@op`` makes of a declaration: a function, with ``.vjp`` to add a rule."""

    op: Op
    __name__: str

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        """Apply the op: to Tensors, or inside of a rule to arrays."""

    def vjp(
        self, wrt: str, tex: str = ""
    ) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
        """Declare the rule for the input ``wrt``: decorate a function ``(g, names ...)``."""


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
    """

    is_whole = several = False  # here: an Op of 30 attributes takes four times the memory

    def __init__(self, forward: Callable[..., Any], text: str, tex: str, **options: Any) -> None:
        code = forward.__code__
        names, count = code.co_varnames, code.co_argcount + code.co_kwonlyargcount
        self.forward, self.name = forward, forward.__name__.strip("_")
        self.node_name = options.pop("node") or f"{self.name.title().replace('_', '')}Backward0"
        self.text, self.tex, self.doc = text, tex or text, forward.__doc__ or ""
        self.is_variadic = bool(code.co_flags & _VARIADIC)
        self.inputs = (names[count],) if self.is_variadic else names[: code.co_argcount]
        self.params = names[code.co_argcount : count]
        self.defaults: dict[str, Any] = forward.__kwdefaults__ or {}
        self.is_view: bool = options.pop("view", False)
        if options.pop("several", False):
            self.several = True
        frees: bool = options.pop("frees", False)
        self.dtypes: str = options.pop("dtypes", "promote")
        self.layout: str = options.pop("layout", "")
        self.by_products: tuple[str, ...] = options.pop("by_products", ())
        self.keeps_type: int = options.pop("keeps_type", 0)
        self.operands: tuple[str, ...] = options.pop("operands", ())
        self.whole: Callable[..., None] | None = options.pop("whole", None)
        self.on_error: Callable[..., str] | None = options.pop("on_error", None)
        self.saved_as: dict[str, str] = {"x": "self", "y": "other", "out": "result"}
        self.saved_as |= {"x_shape": "self_sym_sizes", "y_shape": "other_sym_sizes"}
        self.saved_as |= options.pop("saved_as", {})
        if options:
            raise TypeError(f"op {self.name!r}: unknown options {sorted(options)}")
        self.function: OpFunction  # which declares and applies it; set by ``op``
        self.rules: dict[str, Rule] = {}
        self.rule0 = self.rule1 = _no_rule
        self.rules_of_more: Any = [_no_rule] * (len(self.inputs) - 2)
        self.rest: list[str] = []
        self.saves = self.saves_rest = frees

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
                self.rules_of_more = fast.SameForEach(by_position)
            elif index < 2:
                setattr(self, f"rule{index}", by_position)
            else:
                self.rules_of_more[index - 2] = by_position

        def at_first(*saved: Any) -> Value:  # compiling all at import would cost a tenth of it
            place(by_position := fast.caller(arguments)(function))
            return by_position(*saved)

        place(at_first)
        for name in rule.reads:
            add_saved_attribute(self.saved_as.get(name, name))


def op(
    text: str, tex: str = "", *, node: str = "", **options: Any
) -> Callable[[Callable[..., Any]], OpFunction]:
    """Declare an operation: decorate its forward function on NumPy values.

    The function that comes of it works on Tensors and on arrays; it has ``.op``, and
    ``.vjp(wrt, tex)`` to declare its rules.

    Parameters
    ----------
    text : str
        The operation as Python, with the names of the inputs.
    tex : str, optional
        The formula; ``text`` if left out.
    node : str, optional
        PyTorch's name of the node; from the function's name if left out.
    **options
        ``view``: the output may share memory with ``x``. ``several``: forward returns a tuple of
        outputs, and rules get a dict of the cotangents that have arrived, by number. ``frees``:
        parameters that rules read are freed by backward as if they were tensors, as PyTorch does
        with indices. ``layout``: ``"rows"`` for an output that always lies row by row, ``"own"``
        where forward sees to it; else it lies as the inputs do (see ``layouts.py``). ``dtypes``:
        ``"promote"`` brings the inputs to one type, ``"float"`` to one floating type, ``"any"``
        leaves them alone. ``operands``: parameters that count as inputs for this; ``keeps_type``:
        how many of the first inputs, masks, keep their type. ``whole``: checks arrays that are not
        all floats of one type; raises what PyTorch raises. ``by_products``: names of further values
        that forward returns and rules may read. ``saved_as``: PyTorch's names of saved values.
        ``on_error``: makes PyTorch's message from the arrays when NumPy refuses their shapes.

    Examples
    --------
    >>> @op("x * x * x")
    ... def cube(x):
    ...     return x * x * x
    >>> @cube.vjp("x")
    ... def _(g, x):
    ...     return g * 3 * x * x
    >>> del OPS["cube"]
    >>> cube(2.0)
    8.0
    """

    def declare(forward: Callable[..., Any]) -> OpFunction:
        rules = forward.__dict__.pop("rules", ())
        row = Op(forward, text, tex, node=node, **options)
        OPS[row.name] = row
        function = cast(OpFunction, update_wrapper(fast.function_of(row), forward))
        function.op = row
        row.function = function

        def vjp(wrt: str, tex: str = "") -> Callable[..., Any]:
            def register(rule: Callable[..., Value]) -> Callable[..., Value]:
                row.add_rule(wrt, rule, tex)
                return rule

            return register

        function.vjp = vjp  # type: ignore[method-assign]
        for wrt, rule, formula in rules:
            row.add_rule(wrt, rule, formula)
        return function

    return declare


def vjp(
    wrt: str, rule: Callable[..., Value], tex: str = ""
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Write a rule of one line below ``@op``: what ``.vjp`` does for those that take more."""

    def note(forward: Callable[..., Any]) -> Callable[..., Any]:
        # Decorators are carried out from below: the last one is noted first.
        forward.__dict__.setdefault("rules", []).insert(0, (wrt, rule, tex))
        return forward

    return note


def _no_rule(g: Value, out: Value, x: Value, y: Value, rest: tuple[Any, ...]) -> Value:
    raise NotImplementedError("this operation has no derivative with respect to this input")


# The end of an edge at a leaf. Not an operation, but it stands where nodes have their op.
def _accumulate_grad(x: Value) -> Value:
    return x


nodes.ACCUMULATE = Op(_accumulate_grad, "x.grad += g", r"\bar x", node="AccumulateGrad")
