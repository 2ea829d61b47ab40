"""The op table: how an operation is declared, and what happens when it is applied.

After reading this file you can add an op. A declaration is a plain NumPy function and one rule
per input; **what a rule asks for by name is what a node saves**, no more. ``@op`` turns that,
once, at import, into a fast positional form, so that reading is by name and running by position.
Read next: ``arithmetic.py``.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from functools import cache, update_wrapper
from typing import Any, Protocol, cast

import numpy as np

from autodiff_kit.autograd import node as nodes
from autodiff_kit.autograd.grad_mode import local
from autodiff_kit.autograd.node import Node, Value, WideNode, next_number
from autodiff_kit.dtypes import get_default_dtype, result_dtype
from autodiff_kit.ops.messages import not_a_tensor, shape_message
from autodiff_kit.tensor import INFERENCE, Tensor, note_view, share, version_cell, wrap

__all__ = ["OPS", "Op", "OpFunction", "Rule", "op"]

OPS: dict[str, Op] = {}

_FLOAT32, _FLOAT64 = np.dtype("float32"), np.dtype("float64")
_FLOAT_SCALARS = {np.float32, np.float64}  # values of 0-d tensors: their type says the dtype
ARRAYS = (np.ndarray, np.generic)  # a tuple: isinstance takes twice as long with a union
_NO_PARAMS: dict[str, Any] = {}
_NOT_SHOWN = ("_dtype", "tensors_shape")  # saved for rules, but PyTorch has no _saved_ of them
_new: Any = object.__new__


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

    __slots__ = ("function", "reads", "tex")

    def __init__(self, function: Callable[..., Value], tex: str) -> None:
        code = function.__code__
        self.function = function
        self.reads = code.co_varnames[1 : code.co_argcount]
        self.tex = tex

    @property
    def source(self) -> str:
        """The lines of the rule, as they stand in the file."""
        return _source(self.function)

    @property
    def text(self) -> str:
        """The expression that the rule returns, for example ``g * y``."""
        returned = ast.parse(self.source).body[0].body[-1]  # type: ignore[attr-defined]
        return ast.unparse(returned.value)


@cache
def _source(function: Callable[..., Any]) -> str:
    return textwrap.dedent(inspect.getsource(function))


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
        Names of the tensor inputs, and of the keyword parameters.
    rules : dict from str to Rule
        By the input they differentiate by; inputs without a rule get no gradient.
    rule0, rule1, rules_of_more
        The same in positional form: ``(g, out, x, y, rest) -> contribution``.
    """

    __slots__ = (
        "by_products",
        "defaults",
        "doc",
        "dtypes",
        "first_of_more",
        "forward",
        "function",
        "inputs",
        "is_variadic",
        "is_view",
        "keeps_type",
        "name",
        "node_name",
        "on_error",
        "operands",
        "params",
        "plans",
        "rest",
        "rule0",
        "rule1",
        "rules",
        "rules_of_more",
        "saved_as",
        "saves_more",
        "tex",
        "text",
        "whole",
    )

    def __init__(
        self,
        forward: Callable[..., Any],
        text: str,
        tex: str,
        node_name: str,
        options: dict[str, Any],
    ) -> None:
        code = forward.__code__
        self.name = forward.__name__.strip("_")
        self.node_name = node_name or self.name.title().replace("_", "") + "Backward0"
        self.text, self.tex, self.doc = text, tex or text, forward.__doc__ or ""
        self.forward = forward
        self.inputs = code.co_varnames[: code.co_argcount]
        self.params = code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
        self.defaults: dict[str, Any] = forward.__kwdefaults__ or {}
        # `def cat(*tensors, dim)`: any number of inputs under one name, with one rule for all.
        self.is_variadic = bool(code.co_flags & inspect.CO_VARARGS)
        self.first_of_more = 0 if self.is_variadic else 2
        if self.is_variadic:
            self.inputs = (code.co_varnames[code.co_argcount + code.co_kwonlyargcount],)
        self.rules: dict[str, Rule] = {}
        self.function: OpFunction  # what declares and applies it; set by ``op``
        self.is_view: bool = options.pop("view", False)
        self.dtypes: str = options.pop("dtypes", "promote")
        self.by_products: tuple[str, ...] = options.pop("by_products", ())
        self.keeps_type: int = options.pop("keeps_type", 0)
        self.operands: tuple[str, ...] = options.pop("operands", ())
        self.whole: Callable[..., None] | None = options.pop("whole", None)
        self.saved_as: dict[str, str] = {"x": "self", "y": "other", "out": "result"}
        self.saved_as |= {"x_shape": "self_sym_sizes", "y_shape": "other_sym_sizes"}
        self.saved_as |= options.pop("saved_as", {})
        self.on_error: Callable[..., str] | None = options.pop("on_error", None)
        if options:
            raise TypeError(f"op {self.name!r}: unknown options {sorted(options)}")
        self.rule0 = self.rule1 = _no_rule
        self.rules_of_more: Any = [_no_rule] * (len(self.inputs) - 2)
        # What a node keeps - out, x, y - by which inputs want a gradient (bit i: input i).
        self.plans: list[tuple[bool, bool, bool]] = [(False, False, False)] * 2 ** len(self.inputs)
        self.rest: list[str] = []  # names of what goes into ``node.rest``
        self.saves_more = False  # whether that includes values of tensors

    def add_rule(self, wrt: str, function: Callable[..., Value], tex: str) -> None:
        """Compile a rule to positional form and work out what it makes nodes save.

        Raises
        ------
        TypeError
            At import, if the rule is for no input or reads a name that the op does not have.
        """
        rule = Rule(function, tex)
        shapes = {f"{name}_{what}" for name in self.inputs for what in ("shape", "dtype")}
        known = {"out", *self.inputs, *self.params, *self.by_products, *shapes}
        if self.is_variadic:
            known = {"index", *self.params, *shapes}
        if wrt not in self.inputs or not set(rule.reads) <= known:
            raise TypeError(
                f"op {self.name!r}: the rule for {wrt!r} reads {rule.reads}; an op's rules are "
                f"for one of {self.inputs} and may read {sorted(known)}"
            )
        self.rules[wrt] = rule
        fast = {"out": "out", **dict(zip(self.inputs, ("x", "y"), strict=False))}
        if self.is_variadic:
            fast = {"index": "rest[-1]"}
        self.rest += [n for n in rule.reads if n not in fast and n not in self.rest]
        self.saves_more = any(n in self.inputs or n in self.by_products for n in self.rest)
        places = (fast.get(name) or f"rest[{self.rest.index(name)}]" for name in rule.reads)
        by_position = _caller(", ".join(["g", *places]))(function)
        for name in rule.reads:
            if not name.endswith(_NOT_SHOWN):
                nodes.add_saved_attribute(self.saved_as.get(name, name))
        index = self.inputs.index(wrt)
        if self.is_variadic:
            self.rules_of_more = _SameForEach(by_position)
        elif index < 2:
            setattr(self, f"rule{index}", by_position)
        else:
            self.rules_of_more[index - 2] = by_position
        for wanted in range(len(self.plans)):
            if wanted >> index & 1:
                reads = [fast.get(name) for name in rule.reads]
                plan = zip(self.plans[wanted], ("out", "x", "y"), strict=True)
                self.plans[wanted] = tuple(kept or n in reads for kept, n in plan)  # type: ignore[assignment]

    def saved_names(self, node: Node) -> list[str]:
        """Return PyTorch's names of what ``node`` has saved."""
        first_two = (*self.inputs, "", "")[:2]
        named = zip(("out", *first_two), (node.out, node.x, node.y), strict=True)
        kept = [*(name for name, value in named if value is not None), *self.rest]
        return [self.saved_as.get(n, n) for n in kept if not n.endswith(_NOT_SHOWN)]

    def saved_by_name(self, node: Node) -> dict[str, Value]:
        """Return the arrays (and numbers) that ``node`` keeps, by the names in the rules."""
        kept = {}
        for name, value in zip(("out", *self.inputs), (node.out, node.x, node.y), strict=False):
            if value is not None:
                kept[name] = value
        for name, value in zip(self.rest, node.rest, strict=False):
            if value is not None and (name in self.inputs or name in self.by_products):
                kept[name] = value
        return kept

    def saved_attribute(self, node: Node, name: str) -> Any:
        """Return ``grad_fn._saved_<name>``: a tensor for tensor operands, else the value.

        None if this op can save it, but was not asked to: no rule in use reads it.
        """
        out, x, y, rest = self.as_tensors(node)
        values = {"out": out, **dict(zip(self.inputs, (x, y), strict=False))}
        values |= dict(zip(self.rest, rest, strict=False))
        for own, value in values.items():
            if self.saved_as.get(own, own) != name:
                continue
            if own in self.inputs and isinstance(value, int | float):
                value = result_dtype(value).type(value)
            return wrap(value) if isinstance(value, ARRAYS) else _same_leaf(value)
        raise AttributeError(f"'{self.node_name}' object has no attribute '_saved_{name}'")

    def as_tensors(self, node: Node) -> tuple[Value, Value, Value, tuple[Any, ...]]:
        """Rebuild the Tensors that were saved as arrays, for ``create_graph=True``.

        An input is its array and the edge to the node that made it, the output is its array and
        the node itself: nothing extra was saved for this, and nothing made a cycle.
        """
        out, x, y, rest = node.out, node.x, node.y, node.rest
        if isinstance(out, ARRAYS):
            out = wrap(out, node)
        if isinstance(x, ARRAYS):
            x = wrap(x, node.edge0)
        if isinstance(y, ARRAYS):
            y = wrap(y, node.edge1)
        if self.saves_more:
            made_by = dict(zip(self.inputs[2:], node.more, strict=False))
            rest = tuple(
                wrap(value, made_by.get(name)) if _is_array(value) else value
                for name, value in zip(self.rest, rest, strict=True)
            )
        return out, x, y, rest


def op(
    text: str, tex: str = "", *, node: str = "", **options: Any
) -> Callable[[Callable[..., Any]], OpFunction]:
    """Declare an operation: decorate its forward function on NumPy values.

    Parameters
    ----------
    text : str
        The operation as Python, with the names of the inputs.
    tex : str, optional
        The formula; ``text`` if left out.
    node : str, optional
        PyTorch's name of the node; from the function's name if left out.
    **options
        ``view``: the output may share memory with ``x``. ``dtypes``: ``"promote"`` brings the
        inputs to one type, ``"float"`` to one floating type, ``"any"`` leaves them alone.
        ``operands``: parameters that count as inputs for this,
        ``keeps_type``: how many of the first inputs, masks, keep their type all the same.
        ``whole``: checks the arrays when they are not all floats of one type, and raises what
        PyTorch raises.
        ``by_products``: names of further values that forward returns and rules may read.
        ``saved_as``: PyTorch's names of saved values. ``on_error``: makes PyTorch's message from
        the arrays when NumPy refuses their shapes.

    Returns
    -------
    callable
        Takes a function and gives one of the same name that works on Tensors and on arrays; it
        has ``.op`` and ``.vjp(wrt, tex)``.

    Examples
    --------
    >>> @op("x * x * x")
    ... def cube(x):
    ...     return x * x * x
    >>> @cube.vjp("x")
    ... def _(g, x):
    ...     return g * 3 * x * x
    >>> del OPS["cube"]
    >>> float(cube(np.float64(2.0)))
    8.0
    """

    def declare(forward: Callable[..., Any]) -> OpFunction:
        row = Op(forward, text, tex, node, options)
        OPS[row.name] = row
        plain = not row.params and not row.by_products and not row.is_view
        if plain and len(row.inputs) == 1:
            call = _unary(row)
        elif plain and len(row.inputs) == 2:
            call = _binary(row)
        elif len(row.inputs) == 1 and not row.by_products and not row.is_variadic:
            call = _with_params(row)
        else:
            call = _general(row)
        function = cast(OpFunction, update_wrapper(call, forward))
        function.op = row
        row.function = function

        def vjp(wrt: str, tex: str = "") -> Callable[..., Any]:
            def register(rule: Callable[..., Value]) -> Callable[..., Value]:
                row.add_rule(wrt, rule, tex)
                return rule

            return register

        function.vjp = vjp  # type: ignore[method-assign]
        return function

    return declare


@cache
def _caller(arguments: str) -> Callable[..., Callable[..., Value]]:
    # One lambda per pattern of arguments, as a namedtuple is made: written by hand it would be
    # `lambda rule: lambda g, out, x, y, rest: rule(g, y)`.
    made: Callable[..., Any] = eval(f"lambda rule: lambda g, out, x, y, rest: rule({arguments})")
    return made


def _no_rule(g: Value, out: Value, x: Value, y: Value, rest: tuple[Any, ...]) -> Value:
    raise NotImplementedError("this operation has no derivative with respect to this input")


# The end of an edge at a leaf. Not an operation, but it stands where nodes have their op.
def _accumulate_grad(x: Value) -> Value:
    return x


nodes.ACCUMULATE = Op(_accumulate_grad, "x.grad += g", r"\bar x", "AccumulateGrad", {})


class _SameForEach:
    """The rules of a variadic op: one function, told which input it is for."""

    def __init__(self, rule: Callable[..., Value]) -> None:
        self._rule = rule

    def __getitem__(self, index: int) -> Callable[..., Value]:
        return lambda g, out, x, y, rest: self._rule(g, out, x, y, (*rest, index))


# -- applying an op ---------------------------------------------------------------------------
# Four forms of one procedure: take the arrays out, run forward, wrap the result, and make a node
# if an input wants a gradient. The first three are the last one, unrolled: most ops have one or
# two inputs, and the loops of the general form would multiply their time by three to five.


def _unary(row: Op) -> Callable[..., Any]:
    forward, plans, shapes_read = row.forward, row.plans, row.rest

    def apply(x: Any) -> Any:
        if not isinstance(x, Tensor):
            if isinstance(x, ARRAYS):
                return forward(x)  # a rule at work on arrays
            raise TypeError(not_a_tensor(row, 0, x))
        array, edge = x._array, x._node
        dtype = array.dtype
        if dtype is not _FLOAT32 and dtype is not _FLOAT64:
            (array,), (edge,) = _promote(row, (x,))
        mode = local.mode
        result = mode.quiet.run(forward, array)
        out = wrap(result)
        if edge is not None and mode.grad_enabled and row.rules:
            keep_out, keep_x, _ = plans[1]
            out._node = node = _new(Node)
            node.op = row
            node.edge0 = edge
            node.shape = result.shape
            node.number = next_number()
            node.out = result if keep_out else None
            node.x = array if keep_x else None
            node.edge1 = node.y = node.hooks = None
            node.rest = (array.shape,) if shapes_read else ()
            node.cells = ()
            if keep_x:
                node.cells = (x._changes or version_cell(x),)
            if keep_out:
                out._changes = [0]
                node.cells = (out._changes, *node.cells)
        elif mode.inference:
            out._changes = INFERENCE
        if mode.observer is not None:
            mode.observer.applied(row, (x,), _NO_PARAMS, out, out._node)
        return out

    return apply


def _binary(row: Op) -> Callable[..., Any]:
    forward, plans, shapes_read = row.forward, row.plans, row.rest

    def apply(x: Any, y: Any) -> Any:
        x_is_tensor, y_is_tensor = isinstance(x, Tensor), isinstance(y, Tensor)
        if x_is_tensor:
            a, edge0 = x._array, x._node
            if y_is_tensor:
                b, edge1 = y._array, y._node
                if type(a) is not type(b) or type(a) not in _FLOAT_SCALARS:
                    dtype = a.dtype
                    if dtype is not b.dtype or (dtype is not _FLOAT32 and dtype is not _FLOAT64):
                        (a, b), (edge0, edge1) = _promote(row, (x, y))
            else:
                b, edge1 = y if type(y) is float else _number(row, 1, y), None
                dtype = a.dtype
                if dtype is not _FLOAT32 and dtype is not _FLOAT64:
                    (a, b), (edge0, edge1) = _promote(row, (x, y))
        elif y_is_tensor:
            (a, b), (edge0, edge1) = _promote(row, (x, y))
        else:
            return forward(x, y)  # a rule at work on arrays
        mode = local.mode
        try:
            result = mode.quiet.run(forward, a, b)
        except ValueError:
            raise RuntimeError(shape_message(row, (a, b))) from None
        out = _new(Tensor)  # wrap(result), unrolled like the Node below: 12 % of a scalar op
        out._array = result
        out._node = out._grad = out._changes = out._base = None
        if (edge0 is not None or edge1 is not None) and mode.grad_enabled and row.rules:
            keep_out, keep_x, keep_y = plans[(edge0 is not None) + 2 * (edge1 is not None)]
            out._node = node = _new(Node)
            node.op = row
            node.edge0 = edge0
            node.edge1 = edge1
            node.shape = result.shape
            node.number = next_number()
            node.out = result if keep_out else None
            node.x = a if keep_x else None
            node.y = b if keep_y else None
            node.hooks = None
            node.rest = _shapes(row, a, b) if shapes_read else ()
            if keep_x and keep_y and x_is_tensor and y_is_tensor:
                node.cells = (x._changes or version_cell(x), y._changes or version_cell(y))
            elif keep_x and x_is_tensor:
                node.cells = (x._changes or version_cell(x),)
            elif keep_y and y_is_tensor:
                node.cells = (y._changes or version_cell(y),)
            else:
                node.cells = ()
            if keep_out:
                out._changes = [0]
                node.cells = (out._changes, *node.cells)
        elif mode.inference:
            out._changes = INFERENCE
        if mode.observer is not None:
            mode.observer.applied(row, (x, y), _NO_PARAMS, out, out._node)
        return out

    return apply


def _shapes(row: Op, *arrays: Any) -> tuple[Any, ...]:
    of: dict[str, Any] = {}
    for name, array in zip(row.inputs, arrays, strict=True):
        of[f"{name}_shape"], of[f"{name}_dtype"] = np.shape(array), getattr(array, "dtype", None)
    return tuple(of[name] for name in row.rest)


def _with_params(row: Op) -> Callable[..., Any]:
    forward, plans, rest, is_view = row.forward, row.plans, row.rest, row.is_view

    def apply(x: Any, **params: Any) -> Any:
        if not isinstance(x, Tensor):
            if isinstance(x, ARRAYS):
                return forward(x, **params)  # a rule at work on arrays
            raise TypeError(not_a_tensor(row, 0, x))
        array, edge = x._array, x._node
        dtype = array.dtype
        if is_view:
            array = share(x)  # a view of one number needs memory that two can hold
        elif dtype is not _FLOAT32 and dtype is not _FLOAT64:
            (array,), (edge,) = _promote(row, (x,), params)
        if row.defaults:
            params = row.defaults | params
        mode = local.mode
        try:
            result = mode.quiet.run(forward, array, **params)
        except ValueError:
            raise RuntimeError(shape_message(row, (array,), **params)) from None
        out = wrap(result)
        if edge is not None and mode.grad_enabled and row.rules:
            keep_out, keep_x, _ = plans[1]
            out._node = node = _new(Node)
            node.op = row
            node.edge0 = edge
            node.shape = result.shape
            node.number = next_number()
            node.out = result if keep_out else None
            node.x = array if keep_x else None
            node.edge1 = node.y = node.hooks = None
            if rest:
                values = {**params, "x_shape": array.shape, "x_dtype": dtype}
                node.rest = tuple([values[name] for name in rest])
            else:
                node.rest = ()
            node.cells = ()
            if keep_x:
                node.cells = (x._changes or version_cell(x),)
            if keep_out:
                out._changes = [0]
                node.cells = (out._changes, *node.cells)
        elif mode.inference:
            out._changes = INFERENCE
        if is_view:
            note_view(out, x)
        if mode.observer is not None:
            mode.observer.applied(row, (x,), params, out, out._node)
        return out

    return apply


def _general(row: Op) -> Callable[..., Any]:
    forward = row.forward

    def apply(*inputs: Any, **params: Any) -> Any:
        if not any(isinstance(value, Tensor) for value in inputs):
            return forward(*inputs, **params)  # a rule at work on arrays
        arrays, edges = _promote(row, inputs, params)
        params = row.defaults | params
        mode = local.mode
        try:
            result = mode.quiet.run(forward, *arrays, **params)
        except ValueError:
            raise RuntimeError(shape_message(row, arrays, **params)) from None
        by_products: tuple[Any, ...] = ()
        if row.by_products:
            result, *by_products = result
        out = wrap(result)
        if mode.grad_enabled and row.rules and any(edge is not None for edge in edges):
            out._node = _record(row, inputs, arrays, edges, params, by_products, out)
        elif mode.inference:
            out._changes = INFERENCE
        if mode.observer is not None:
            mode.observer.applied(row, inputs, params, out, out._node)
        return (out, *by_products) if row.by_products else out

    return apply


def _record(
    row: Op,
    inputs: tuple[Any, ...],
    arrays: tuple[Any, ...],
    edges: tuple[Node | None, ...],
    params: dict[str, Any],
    by_products: tuple[Any, ...],
    out: Tensor,
) -> Node:
    """Make the node of an op with parameters, by-products or many inputs."""
    named = dict(zip(row.inputs, arrays, strict=False))
    values = {**params, **dict(zip(row.by_products, by_products, strict=True))}
    values |= {f"{name}_shape": array.shape for name, array in named.items() if _is_array(array)}
    values |= {f"{name}_dtype": array.dtype for name, array in named.items() if _is_array(array)}
    if row.is_variadic:
        values[f"{row.inputs[0]}_shape"] = tuple(array.shape for array in arrays)
        edges = (None, None, *edges)
    reads = {
        name
        for wrt, edge in zip(row.inputs, edges, strict=False)
        if edge is not None and wrt in row.rules
        for name in row.rules[wrt].reads
    }
    kept = {name: array for name, array in named.items() if name in reads and not row.is_variadic}
    x, y = (*row.inputs, "", "")[:2]
    node: Node = _new(WideNode if len(edges) > 2 else Node)
    node.op = row
    node.edge0 = edges[0]
    node.edge1 = edges[1] if len(edges) > 1 else None
    node.shape = out._array.shape
    node.number = next_number()
    node.out = out._array if "out" in reads else None
    node.x, node.y, node.hooks = kept.get(x), kept.get(y), None
    node.rest = tuple(kept.get(n) if n in named else values.get(n) for n in row.rest)
    cells = [
        version_cell(value)
        for name, value in zip(row.inputs, inputs, strict=False)
        if name in kept and isinstance(value, Tensor)
    ]
    if "out" in reads:
        cells.insert(0, version_cell(out))
    node.cells = tuple(cells)
    if len(edges) > 2:
        node.more = edges[2:]  # type: ignore[misc]
    return node


def _same_leaf(value: Any) -> Any:
    """Return the learner's own leaf instead of another tensor with its memory."""
    node = value._node if isinstance(value, Tensor) else None
    if isinstance(node, nodes.AccumulateGrad) and node.leaf is not None:
        return node.leaf if node.leaf._array is value._array else value
    return value


def _is_array(value: Any) -> bool:
    return isinstance(value, ARRAYS)


def _number(row: Op, position: int, value: Any) -> Any:
    """Return a Python number as it is, a NumPy number as a Python number."""
    if type(value) in (float, int, bool):
        return value
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(not_a_tensor(row, position, value))


def _promote(
    row: Op, inputs: tuple[Any, ...], params: dict[str, Any] | None = None
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the arrays and edges of the inputs, brought to the dtype in which the op works.

    A conversion is an op of its own, ``promote``, so that its gradient is converted back.
    """
    arrays = tuple(
        value._array if isinstance(value, Tensor) else _number(row, i, value)
        for i, value in enumerate(inputs)
    )
    types = {array.dtype for array in arrays if _is_array(array)}
    if row.whole is not None and (len(types) > 1 or any(d.kind != "f" for d in types)):
        row.whole(*arrays, **(params or {}))
    dtype: Any = None
    if row.dtypes in ("promote", "float"):
        numbers = [params[name] for name in row.operands] if params else []
        dtype = result_dtype(*(array for array in arrays if array is not None), *numbers)
        if row.dtypes == "float" and dtype.kind != "f":
            dtype = get_default_dtype().numpy
    if dtype is not None and types != {dtype}:
        inputs = tuple(
            OPS["promote"].function(value, dtype=dtype)
            if isinstance(value, Tensor) and value._array.dtype != dtype and i >= row.keeps_type
            else value
            for i, value in enumerate(inputs)
        )
        arrays = tuple(
            value._array if isinstance(value, Tensor) else array
            for value, array in zip(inputs, arrays, strict=True)
        )
    return arrays, tuple(value._node if isinstance(value, Tensor) else None for value in inputs)
