"""Operations of the learner's own: a class with ``forward`` and ``backward``.

After reading this file you know how a Function becomes an op of the same table as the kit's, with
one rule that calls the learner's ``backward``; the engine does not tell them apart. Read next:
``function_node.py``.
"""

from __future__ import annotations

import functools
import inspect
import warnings
import weakref
from collections.abc import Callable
from copy import copy
from typing import Any

from autodiff_kit.autograd.function_node import (
    FunctionCtx,
    FunctionNode,
    OncePerVisit,
    Saved,
    output_node,
)
from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.core.base import last_change, next_number, wrap
from autodiff_kit.core.hooks import move_retained
from autodiff_kit.core.mode import local
from autodiff_kit.core.node import Node
from autodiff_kit.core.observer import installed
from autodiff_kit.core.op import Op, Rule, Value
from autodiff_kit.core.versions import note_change, note_maker, share
from autodiff_kit.core.view_nodes import DEFAULT, FUNCTION, SEVERAL, note_view
from autodiff_kit.errors import error
from autodiff_kit.free_form import Keywords
from autodiff_kit.inplace import rebase, without_hooks
from autodiff_kit.outside import absent
from autodiff_kit.tensor import Tensor
from autodiff_kit.views import forget_views, latest_node, refusal_of_view, seems_leaf

__all__ = ["Function", "FunctionCtx", "once_differentiable"]


class Function:
    """Base class of operations with a gradient of the learner's own; used by ``Name.apply(...)``.

    Either ``forward(ctx, *inputs)``, or ``forward(*inputs)`` and ``setup_context(ctx, inputs,
    output)``; and ``backward(ctx, *gradients)``, with one gradient for each output, that returns
    one for each input: None where there is none.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> class Cube(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x**3
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return g * 3 * x**2
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> Cube.apply(x).backward()
    >>> x.grad
    tensor(12.)
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself. Instantiating an autograd "
            "function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any) -> None:
        """Refuse to be called: PyTorch's first versions worked like that."""
        raise error("function.called", name=type(self).__name__)

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the output; no graph is built inside."""
        raise error("function.no_forward")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Save what ``backward`` needs, where ``forward`` takes no ``ctx``."""

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Return the gradients of the inputs; grad mode is on under ``create_graph=True``."""
        raise error("function.no_backward")

    vjp = backward

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run ``forward`` and record it as one node of the graph, called ``<Class>Backward``.

        An error if there is no ``forward``, or something is saved or changed that must not be.
        """
        ctx = _op_of(cls).context_class()
        separate = cls.setup_context is not Function.setup_context
        if separate:
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        elif kwargs:
            args, kwargs = _by_position(cls.forward, args, kwargs), {}
        if cls.backward is not Function.backward and cls.vjp is not Function.vjp:
            raise error("function.two_backwards")
        ctx.needs_input_grad = tuple(isinstance(x, Tensor) and x.requires_grad for x in args)
        mode = local.mode
        recorded = mode.grad_enabled and any(ctx.needs_input_grad)
        # As they are now: forward may change an input in place.
        edges = tuple(x._node for x in args if isinstance(x, Tensor)) if recorded else ()
        with no_grad(), installed(None):
            output = cls.forward(*(() if separate else (ctx,)), *args, **kwargs)
            if separate:
                cls.setup_context(ctx, args, output)
        results = output if type(output) is tuple else (output,)
        _check_dirty(ctx, results)
        if recorded:
            outputs = _record(_op_of(cls), ctx, args, edges, results)
        else:
            inputs = tuple(x for x in args if isinstance(x, Tensor))
            outputs = tuple(_constant(ctx, inputs, x) for x in results)
            if mode.observer is not None and isinstance(output, Tensor):
                mode.observer.applied(_op_of(cls), inputs, {}, outputs[0], None)
        return outputs if type(output) is tuple else outputs[0]


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a ``backward`` that computes without a graph: what it returns has no derivative.

    RuntimeError when it is differentiated after all.
    """

    @functools.wraps(function)
    def backward(ctx: FunctionCtx, *gradients: Any) -> Any:
        with no_grad():
            result = function(ctx, *gradients)
        recorded = any(isinstance(g, Tensor) and g.requires_grad for g in gradients)
        if not local.mode.grad_enabled or not recorded:
            return result
        results = result if isinstance(result, tuple) else (result,)
        outputs = tuple(
            None if x is None else _Once.apply(x.detach().requires_grad_()) for x in results
        )
        return outputs if isinstance(result, tuple) else outputs[0]

    return backward


class _Once(Function):
    """Stands between a gradient that has no derivative and the code that asks for it."""

    @staticmethod
    def forward(ctx: FunctionCtx, x: Tensor) -> Tensor:
        return x.detach()

    @staticmethod
    def backward(ctx: FunctionCtx, *gradients: Any) -> Any:
        raise error("function.differentiated_twice")


# -- in the graph ---------------------------------------------------------------------------------


class _FunctionOp(Op):
    """A Function as a row of the op table."""

    def __init__(self, cls: type[Function]) -> None:
        name = cls.__name__
        formula = rf"\mathrm{{{name}}}(x)".replace("_", r"\_")
        node = "torch::autograd::Error" if cls is _Once else f"{name}Backward"  # PyTorch's for that
        super().__init__(_forward, f"{name}.apply(inputs)", formula, node=node)
        self.name, self.doc, self.saves = name, cls.__doc__ or "", True
        # ``backward`` is called once, and with zeros where nothing arrived.
        self.always_calls_rules = True
        self.node_class = type(node.split("::")[-1], (FunctionNode,), {"__slots__": ()})
        place = {"__module__": FunctionCtx.__module__}
        self.context_class = type(self.node_name, (FunctionCtx,), place)
        rule = Rule(_backward, r"\mathrm{backward}(\bar z)")
        rule.reads = tuple(f"saved_tensors[{i}]" for i in range(9))
        self.rules = {"inputs": rule}
        self.rules_of_more = OncePerVisit(cls.backward if cls.vjp is Function.vjp else cls.vjp)


def _forward(*inputs: Any) -> None:
    """Stand for ``forward``, which ``apply`` calls by itself."""


def _backward(g: Value, ctx: FunctionCtx, backward: Callable[..., Any]) -> Any:
    # What is shown of the rule; what is called is in OncePerVisit.
    return backward(ctx, g)


def _by_position(
    forward: Callable[..., Any], args: tuple[Any, ...], kwargs: Keywords
) -> tuple[Any, ...]:
    """Return all arguments of ``forward`` after ``ctx`` by position: each is an input."""
    params = [*inspect.signature(forward).parameters.values()][1:]
    places = [p.name for p in params if p.kind is p.POSITIONAL_OR_KEYWORD]
    for name in kwargs:
        if name not in places:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        if places.index(name) < len(args):
            raise TypeError(f"forward() got multiple values for argument '{name}'")
    rest = places[len(args) : max(map(places.index, kwargs)) + 1]
    for name in rest:
        if name not in kwargs:
            position = places.index(name)
            raise TypeError(f"forward() missing required argument: '{name}' (position {position})")
    return (*args, *(kwargs[name] for name in rest))


def _op_of(cls: type[Function]) -> _FunctionOp:
    """Return the op of a Function; make it when the Function is first used."""
    op: _FunctionOp | None = cls.__dict__.get("_op")
    if op is None:
        op = _FunctionOp(cls)
        cls._op = op  # type: ignore[attr-defined]
    return op


def _as_change(op: _FunctionOp) -> _FunctionOp:
    """Return the op of a Function for a node of one that has changed a view."""
    change = copy(op)
    change.rules_of_more = OncePerVisit(op.rules_of_more.backward, is_change=True)
    return change


def _record(
    op: _FunctionOp,
    ctx: FunctionCtx,
    args: tuple[Any, ...],
    edges: tuple[Node | None, ...],
    results: tuple[Any, ...],
) -> tuple[Any, ...]:
    """Make the node of a Function, and give the outputs their place in the graph."""
    inputs = tuple(x for x in args if isinstance(x, Tensor))
    for i, x in enumerate(ctx._to_save):
        if x is not None and not isinstance(x, Tensor):
            raise error("function.saved_type", index=i, kind=type(x).__name__)
    for x in ctx._dirty:
        _refuse_dirty(x, len(results))
    constant, dirty = {id(x) for x in ctx._constant}, {id(x) for x in ctx._dirty}
    edges = tuple(
        without_hooks(x, edge) if id(x) in dirty else edge
        for x, edge in zip(inputs, edges, strict=True)
    )
    node: FunctionNode = object.__new__(op.node_class)
    node.op, node.number, node.more, node.ctx = op, next_number(), edges, ctx
    node.edge0 = node.edge1 = node.out = node.x = node.y = node.hooks = None
    node.rest = (weakref.ref(node),)
    node.types = [x._array.dtype if isinstance(x, Tensor) else None for x in args]
    node.outputs = [
        (x._array.shape, x._array.dtype) if isinstance(x, Tensor) else None for x in results
    ]
    node.count, node.shape = len(results), None
    if len(results) == 1:
        node.count, node.shape = None, node.outputs[0][0] if node.outputs[0] else ()
    own = {id(x) for x in inputs}
    as_they_are = own - dirty | constant  # no history from this Function
    number_of = {id(x): i for i, x in enumerate(results) if id(x) not in as_they_are}
    several = sum(id(x) not in constant for x in results if isinstance(x, Tensor)) > 1
    outputs: list[Any] = []
    recorded: list[Tensor] = []  # the same, but a value that was written into a view by itself
    for i, x in enumerate(results):
        if not isinstance(x, Tensor):
            outputs.append(x)
        elif id(x) in constant or not x.is_floating_point():
            outputs.append(_constant(ctx, inputs, x))
        elif id(x) in dirty:
            number = next_number()
            result = x if x._base is None else wrap(x._array)
            old, result._node, x._grad = x._node, output_node(node, i), None  # as in PyTorch
            if x._base is not None:
                rebase(x, result, number, node.name())
                node.op = _as_change(op)
            else:
                move_retained(x, old, result._node)
                note_maker(share(x), node.name())
                forget_views(x)
            outputs.append(x)
            recorded.append(result)
        else:
            if id(x) in own:
                x, original = wrap(share(x)), x
                note_view(x, original)
            x._node = output_node(node, i)
            if x._base is not None:
                x._kind, x._latest_change = SEVERAL if several else FUNCTION, last_change.number
            outputs.append(x)
            recorded.append(x)
    node.x = [None if x is None else Saved(x, number_of.get(id(x))) for x in ctx._to_save] or None
    ctx._node, ctx._to_save, ctx._dirty, ctx._constant = weakref.ref(node), (), (), ()
    if local.mode.observer is not None:
        for x in recorded:  # each output is told as an op of its own
            local.mode.observer.applied(op, inputs, {}, x, x._node)
    return tuple(outputs)


def _check_dirty(ctx: FunctionCtx, results: tuple[Any, ...]) -> None:
    """Note what ``forward`` has changed in place; refuse what it does not return."""
    returned = {id(x) for x in results}
    for x in ctx._dirty:
        if id(x) not in returned:
            raise error("function.dirty_not_returned")
        note_change(share(x))
        forget_views(x if x._base is None else x._base)


def _refuse_dirty(x: Tensor, count: int) -> None:
    """Refuse that a recorded Function with so many outputs has changed an input in place."""
    base = x._base
    if x.requires_grad and seems_leaf(x):
        raise error("function.dirty_leaf")
    if base is not None:
        if x._kind is not DEFAULT:
            raise refusal_of_view(x, latest_node(x), "is being")
        if base.is_leaf and x.requires_grad:
            raise error("inplace.view_of_leaf", how="forward")
        if count > 1:
            raise error("function.dirty_view")


def _constant(ctx: FunctionCtx, inputs: tuple[Tensor, ...], x: Any) -> Any:
    """Return an output of a Function as one that gets no history from it."""
    if not isinstance(x, Tensor):
        return x
    is_input = any(x is tensor for tensor in inputs)
    if x.requires_grad and is_input:
        return x.detach()
    if x.requires_grad and x._base is None:
        return x.detach_()
    if is_input and any(x is other for other in ctx._dirty):
        return x
    if is_input:
        x, tensor = wrap(share(x)), x
        note_view(x, tensor)
    if x._base is not None:
        x._kind = FUNCTION
    return x


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
