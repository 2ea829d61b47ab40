"""Operations of the learner's own: a class with ``forward`` and ``backward``.

After reading this file you know what ``ctx`` is and why ``backward`` runs once for all inputs. A
Function becomes an op of the same table as the kit's, with one rule that calls the learner's
``backward``; the engine does not tell them apart. Read next: ``graph.py``.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.autograd.graph import Packed, current_hooks
from autodiff_kit.core.base import INFERENCE, last_change, next_number, wrap
from autodiff_kit.core.hooks import move_retained
from autodiff_kit.core.memory import refuse_to_save, share
from autodiff_kit.core.messages import released_message, saved_changed
from autodiff_kit.core.mode import local
from autodiff_kit.core.node import AccumulateGrad, Node, WideNode
from autodiff_kit.core.node_hooks import as_tensors, show_as
from autodiff_kit.core.observer import installed
from autodiff_kit.core.op import RELEASED, Op, Rule, Value
from autodiff_kit.core.outputs import OutputNode
from autodiff_kit.core.versions import changes_of, note_change
from autodiff_kit.core.view_nodes import DEFAULT, FUNCTION, SEVERAL, Nowhere, note_view
from autodiff_kit.dtypes import from_numpy_dtype
from autodiff_kit.errors import error
from autodiff_kit.inplace import rebase
from autodiff_kit.ops import sum_to
from autodiff_kit.outside import absent
from autodiff_kit.tensor import Tensor
from autodiff_kit.views import forget_views, is_stale, refusal_of_view

__all__ = ["Function", "FunctionCtx", "once_differentiable"]


class FunctionCtx:
    """What ``forward`` leaves for ``backward``; it also takes attributes of the learner's own.

    Attributes
    ----------
    needs_input_grad : tuple of bool
        Whether a gradient is wanted, for each argument of ``apply``.
    """

    needs_input_grad: tuple[bool, ...] = ()
    _to_save: tuple[Any, ...] = ()
    _dirty: tuple[Tensor, ...] = ()
    _constant: tuple[Tensor, ...] = ()
    _zeros_for_none = True
    _node: Callable[[], FunctionNode | None] = staticmethod(lambda: None)

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for ``saved_tensors``: inputs, outputs or others; freed by backward."""
        self._to_save = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say which inputs ``forward`` changed in place; it must return them."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say which outputs never get a gradient."""
        self._constant = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Let ``backward`` see None, instead of zeros, for outputs that nothing depends on."""
        self._zeros_for_none = value

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """What was given to ``save_for_backward``.

        RuntimeError if backward has freed it, or one of the tensors was changed in place since.
        """
        node = self._node()
        if node is None:
            return self._to_save
        if node.out is RELEASED:
            raise RuntimeError(released_message(node))
        return tuple(None if saved is None else saved.get(node) for saved in node.x or ())


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
        ctx = FunctionCtx()
        separate = cls.setup_context is not Function.setup_context
        if separate:
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
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
        made = tuple(
            None if x is None else _Once.apply(x.detach().requires_grad_()) for x in results
        )
        return made if isinstance(result, tuple) else made[0]

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


class FunctionNode(WideNode):
    """The node of a Function; attributes of ``ctx`` are read through it, as in PyTorch.

    ``x`` holds what was saved, ``more`` an edge for each tensor among the arguments.
    """

    __slots__ = ("__weakref__", "count", "ctx", "outputs", "types")

    ctx: FunctionCtx
    shape: Any  # None if there are several outputs
    outputs: list[Any]  # for each output its (shape, dtype), or None if it is no tensor
    types: list[Any]  # for each argument of ``apply`` its NumPy dtype, or None if it is no tensor

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ctx, name)

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{self.name()} object at {id(self):#x}>"

    def check_saved(self) -> None:
        """Leave the check to ``ctx.saved_tensors``: backward may do without what was saved."""
        self.rest = (weakref.ref(self),)  # the engine drops it along with what was saved

    def saved(self) -> dict[str, Any]:
        """Return the arrays kept by ``save_for_backward``."""
        kept = enumerate(self.x or ())
        arrays = {f"saved_tensors[{i}]": saved and saved.array for i, saved in kept}
        return {name: array for name, array in arrays.items() if array is not None}


class Saved:
    """A tensor that was saved for backward, without holding the node that saved it."""

    __slots__ = ("array", "edge", "output", "packed", "tensor")
    array: Any

    def __init__(self, tensor: Tensor, output: int | None) -> None:
        if tensor._changes is INFERENCE:
            refuse_to_save()
        hooks = current_hooks()
        self.packed = None if hooks is None else Packed(hooks, tensor, output is not None)
        self.array = tensor._array if hooks is None else None
        self.output, self.edge = output, tensor._node if output is None else None
        # The output's own Tensor holds the node, which holds this.
        self.tensor = tensor if hooks is None and output is None else None

    def get(self, node: FunctionNode) -> Tensor:
        """Return the tensor with its history."""
        edge = self.edge if self.output is None else _output_node(node, self.output)
        if self.packed is not None:
            return wrap(self.packed.array(), edge)
        changes = changes_of(self.array)
        if changes and changes[-1] > node.number:
            origin = changes.node_name if self.output is None else node.name()
            keeper = f"{node.name()} ({node.op.text})"
            saved = "a tensor by save_for_backward"
            raise saved_changed(self.array, changes, node.number, origin, keeper, saved)
        if self.tensor is not None and self.tensor._node is edge:
            return self.tensor
        return wrap(self.array, edge)


class _FunctionOp(Op):
    """A Function as a row of the op table."""

    def __init__(self, cls: type[Function]) -> None:
        name = cls.__name__
        formula = rf"\mathrm{{{name}}}(x)".replace("_", r"\_")
        super().__init__(_forward, f"{name}.apply(inputs)", formula, node=f"{name}Backward")
        self.name, self.doc, self.saves = name, cls.__doc__ or "", True
        self.is_whole = True  # backward is called once, and with zeros where nothing arrived
        self.node_class = type(self.node_name, (FunctionNode,), {"__slots__": ()})
        rule = Rule(_backward, r"\mathrm{backward}(\bar z)")
        rule.reads = tuple(f"saved_tensors[{i}]" for i in range(9))
        self.rules = {"inputs": rule}
        self.rules_of_more = _OncePerVisit(cls.backward if cls.vjp is Function.vjp else cls.vjp)


def _forward(*inputs: Any) -> None:
    """Stand for ``forward``, which ``apply`` calls by itself."""


def _backward(g: Value, ctx: FunctionCtx, backward: Callable[..., Any]) -> Any:
    # What is shown of the rule; what is called is in _OncePerVisit.
    return backward(ctx, g)


class _OncePerVisit:
    """The rules for all inputs: the first that is called calls ``backward`` for all of them.

    The engine iterates over this at each visit, so that results are kept no longer than that.
    """

    def __init__(self, backward: Callable[..., Any]) -> None:
        self._backward = backward

    def __iter__(self) -> Iterator[Callable[..., Value]]:
        results: list[Any] = []

        def rule_of(index: int) -> Callable[..., Value]:
            def rule(g: Value, out: Value, x: Value, y: Value, rest: tuple[Any, ...]) -> Value:
                if not results:
                    results.extend(_call_backward(self._backward, rest[0](), g))
                return results[index]

            return rule

        return map(rule_of, itertools.count())


def _op_of(cls: type[Function]) -> _FunctionOp:
    """Return the op of a Function; make it when the Function is first used."""
    op: _FunctionOp | None = cls.__dict__.get("_op")
    if op is None:
        op = _FunctionOp(cls)
        cls._op = op  # type: ignore[attr-defined]
    return op


def _output_node(node: FunctionNode, index: int) -> Node:
    """Return what a tensor that is output ``index`` has as its node."""
    return node if node.count is None else OutputNode(node, index, node.outputs[index][0])


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
    constant, dirty = {id(x) for x in ctx._constant}, {id(x) for x in ctx._dirty}
    own = {id(x) for x in inputs}
    as_they_are = own - dirty | constant  # no history from this Function
    number_of = {id(x): i for i, x in enumerate(results) if id(x) not in as_they_are}
    several = sum(id(x) not in constant for x in results if isinstance(x, Tensor)) > 1
    made: list[Any] = []
    recorded: list[Tensor] = []  # the same, but a value that was written into a view by itself
    for i, x in enumerate(results):
        if not isinstance(x, Tensor):
            made.append(x)
        elif id(x) in constant or not x.is_floating_point():
            made.append(_constant(ctx, inputs, x))
        elif id(x) in dirty:
            number = next_number()
            result = x if x._base is None else wrap(x._array)
            old, result._node, x._grad = x._node, _output_node(node, i), None  # as in PyTorch
            if x._base is not None:
                rebase(x, result, number, node.name())
            else:
                move_retained(x, old, result._node)
                forget_views(x)
            made.append(x)
            recorded.append(result)
        else:
            if id(x) in own:
                x, given = wrap(share(x)), x
                note_view(x, given)
            x._node = _output_node(node, i)
            if x._base is not None:
                x._kind, x._seen = SEVERAL if several else FUNCTION, last_change.number
            made.append(x)
            recorded.append(x)
    node.x = [None if x is None else Saved(x, number_of.get(id(x))) for x in ctx._to_save] or None
    ctx._node, ctx._to_save, ctx._dirty, ctx._constant = weakref.ref(node), (), (), ()
    if local.mode.observer is not None:
        for x in recorded:  # each output is told as an op of its own
            local.mode.observer.applied(op, inputs, {}, x, x._node)
    return tuple(made)


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
    if base is not None:
        if x._kind is not DEFAULT:
            raise refusal_of_view(x, x._old if is_stale(x) else x._node, "is being")
        if base.is_leaf and x.requires_grad:
            raise error("inplace.view_of_leaf", how="forward")
        if count > 1:
            raise error("function.dirty_view")
    if x.requires_grad and x.is_leaf:
        raise error("function.dirty_leaf")


def _constant(ctx: FunctionCtx, inputs: tuple[Tensor, ...], x: Any) -> Any:
    """Return an output of a Function as one that gets no history from it."""
    if not isinstance(x, Tensor):
        return x
    is_input = any(x is given for given in inputs)
    if x.requires_grad and is_input:
        return x.detach()
    if x.requires_grad and x._base is None:
        return x.detach_()
    if is_input and any(x is other for other in ctx._dirty):
        return x
    if is_input:
        x, given = wrap(share(x)), x
        note_view(x, given)
    if x._base is not None:
        x._kind = FUNCTION
    return x


def _call_backward(backward: Callable[..., Any], node: FunctionNode, g: Any) -> list[Any]:
    """Call the learner's ``backward`` and check what it returns.

    Return a contribution, or None, for each tensor among the arguments.
    """
    gradients: list[Any] = list(as_tensors(g, node.count))
    for i, output in enumerate(node.outputs):
        if gradients[i] is None and output is not None and node.ctx._zeros_for_none:
            gradients[i] = wrap(np.zeros(output[0], output[1])[()])
    mode = local.mode
    with installed(mode.observer if mode.grad_enabled else None):  # one op, as in forward
        returned = backward(node.ctx, *gradients)
    returned = returned if isinstance(returned, tuple) else (returned,)
    wanted = len(node.types)
    if all(x is None for x in returned[wanted:]):
        returned = returned[:wanted]
    if len(returned) != wanted:
        name, got = node.name(), len(returned)
        raise error("function.gradient_count", name=name, expected=wanted, got=got)
    for i, (x, dtype) in enumerate(zip(returned, node.types, strict=True)):
        if x is not None and dtype is None:
            raise error("function.gradient_of_constant", name=node.name(), position=i + 1)
        if x is not None and not isinstance(x, Tensor):
            raise error("function.gradient_type", kind=type(x).__name__)
    of_tensors = [pair for pair in zip(returned, node.types, strict=True) if pair[1] is not None]
    return [_contribution(node, i, x, dtype) for i, (x, dtype) in enumerate(of_tensors)]


def _contribution(node: FunctionNode, index: int, x: Tensor | None, dtype: Any) -> Any:
    edge = node.more[index]
    if x is None or edge is None or isinstance(edge, Nowhere):
        return None
    if edge.shape is not None and x.shape != edge.shape:
        shape = tuple(edge.shape)
        padded = (1,) * (x.ndim - len(shape)) + shape
        if x.ndim < len(shape) or any(
            m not in (1, n) for n, m in zip(x.shape, padded, strict=True)
        ):
            name, got = node.name(), list(x.shape)
            raise error(
                "function.gradient_shape", name=name, index=index, got=got, shape=list(shape)
            )
        x = sum_to(x, shape=shape)
    if x._array.dtype != dtype:
        x = x.to(from_numpy_dtype(dtype))
    if local.mode.grad_enabled:
        return x
    if not isinstance(edge, AccumulateGrad):
        return x._array
    copy = x._array.copy()  # the learner may hold it, and a leaf would keep it as its gradient
    show_as(copy, x)
    return copy


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
