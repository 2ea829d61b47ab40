"""The node of a learner's Function: its ``ctx``, what it saves, and how backward is called.

After reading this file you know what ``ctx`` is, why ``backward`` runs once for all inputs, and
what is checked of the gradients that it returns. Read next: ``graph.py``.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autodiff_kit.autograd.graph import Packed, current_hooks
from autodiff_kit.core.base import INFERENCE, wrap
from autodiff_kit.core.messages import released_message, saved_changed
from autodiff_kit.core.mode import local
from autodiff_kit.core.node import AccumulateGrad, Node, WideNode
from autodiff_kit.core.node_hooks import as_tensors, show_as
from autodiff_kit.core.observer import installed
from autodiff_kit.core.op import RELEASED, Value
from autodiff_kit.core.outputs import OutputNode
from autodiff_kit.core.versions import changes_of
from autodiff_kit.core.view_nodes import Nowhere
from autodiff_kit.dtypes import from_numpy_dtype
from autodiff_kit.errors import error
from autodiff_kit.ops import sum_to
from autodiff_kit.tensor import Tensor

__all__ = ["FunctionCtx", "FunctionNode", "OncePerVisit", "Saved", "output_node"]


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

    def check_saved(self, is_reached: bool = True) -> None:
        """Leave the check to ``ctx.saved_tensors``: backward may do without what was saved."""
        self.rest = (weakref.ref(self),)  # the engine drops it along with what was saved

    def saved(self) -> dict[str, Value]:
        """Return the arrays kept by ``save_for_backward``."""
        entries = enumerate(self.x or ())
        arrays = {f"saved_tensors[{i}]": saved and saved.array for i, saved in entries}
        return {name: array for name, array in arrays.items() if array is not None}


class Saved:
    """A tensor that was saved for backward, without holding the node that saved it."""

    __slots__ = ("array", "edge", "output", "packed", "tensor")
    array: Any

    def __init__(self, tensor: Tensor, output: int | None) -> None:
        if tensor._changes is INFERENCE:
            raise error("autograd.inference_saved")
        hooks = current_hooks()
        self.packed = None if hooks is None else Packed(hooks, tensor, output is not None)
        self.array = tensor._array if hooks is None else None
        self.output, self.edge = output, tensor._node if output is None else None
        # The output's own Tensor holds the node, which holds this.
        self.tensor = tensor if hooks is None and output is None else None

    def get(self, node: FunctionNode) -> Tensor:
        """Return the tensor with its history."""
        edge = self.edge if self.output is None else output_node(node, self.output)
        if self.packed is not None:
            return wrap(self.packed.array(), edge)
        changes = changes_of(self.array)
        if changes and changes[-1] > node.number:
            has_maker = edge is not None and not isinstance(edge, AccumulateGrad)
            origin = changes.node_name or (edge.name() if has_maker and edge else "")
            origin = node.name() if self.output is not None else origin
            keeper = f"{node.name()} ({node.op.text})"
            saved = "a tensor by save_for_backward"
            raise saved_changed(self.array, changes, node.number, origin, keeper, saved)
        was_leaf = self.output is None and (edge is None or isinstance(edge, AccumulateGrad))
        if self.tensor is not None and (was_leaf or self.tensor._node is edge):
            return self.tensor  # a leaf is what has become of it: detach_() cuts it out, too
        return wrap(self.array, edge)


class OncePerVisit:
    """The rules for all inputs: the first that is called calls ``backward`` for all of them.

    The engine iterates over this at each visit, so that results are kept no longer than that.
    ``is_change``: of a view, which PyTorch's CopySlices does not run where no gradient has arrived.
    """

    def __init__(self, backward: Callable[..., Any], *, is_change: bool = False) -> None:
        self.backward, self._is_change = backward, is_change

    def __iter__(self) -> Iterator[Callable[..., Value]]:
        results: list[Any] = []

        def rule_of(index: int) -> Callable[..., Value]:
            def rule(g: Value, out: Value, x: Value, y: Value, rest: tuple[Any, ...]) -> Value:
                if g is None and self._is_change:
                    return None
                if not results:
                    results.extend(call_backward(self.backward, rest[0](), g))
                return results[index]

            return rule

        return map(rule_of, itertools.count())


def output_node(node: FunctionNode, index: int) -> Node:
    """Return what a tensor that is output ``index`` has as its node."""
    return node if node.count is None else OutputNode(node, index, node.outputs[index][0])


def call_backward(backward: Callable[..., Any], node: FunctionNode, g: Any) -> list[Any]:
    """Call the learner's ``backward`` and check what it returns.

    Return a contribution, or None, for each tensor among the arguments.
    """
    gradients: list[Any] = list(as_tensors(g, node.count))
    for i, output in enumerate(node.outputs):
        if gradients[i] is None and output is not None and node.ctx._zeros_for_none:
            gradients[i] = wrap(np.zeros(output[0], output[1])[()])
    mode = local.mode
    mode.inside = False  # what follows is the learner's own
    with installed(mode.observer if mode.grad_enabled else None):  # one op, as in forward
        returned = backward(node.ctx, *gradients)
    returned = returned if isinstance(returned, tuple) else (returned,)
    count = len(node.types)
    if all(x is None for x in returned[count:]):
        returned = returned[:count]
    if len(returned) != count:
        name, returned_count = node.name(), len(returned)
        raise error("function.gradient_count", name=name, expected=count, got=returned_count)
    for i, (x, dtype) in enumerate(zip(returned, node.types, strict=True)):
        if x is not None and dtype is None:
            raise error("function.gradient_of_constant", name=node.name(), position=i + 1)
        if x is not None and not isinstance(x, Tensor):
            raise error("function.gradient_type", kind=type(x).__name__)
    of_tensors = [pair for pair in zip(returned, node.types, strict=True) if pair[1] is not None]
    return [_contribution(node, i, x, dtype) for i, (x, dtype) in enumerate(of_tensors)]


def _contribution(node: FunctionNode, index: int, x: Tensor | None, dtype: Any) -> Any:
    edge = node.more[index]
    if x is None:
        return None
    if edge is None or isinstance(edge, Nowhere):  # for hooks of the node alone
        return x if local.mode.grad_enabled else x._array
    if edge.shape is not None and x.shape != edge.shape:
        shape = tuple(edge.shape)
        padded = (1,) * (x.ndim - len(shape)) + shape
        if x.ndim < len(shape) or any(
            m not in (1, n) for n, m in zip(x.shape, padded, strict=True)
        ):
            name, x_shape = node.name(), list(x.shape)
            raise error(
                "function.gradient_shape", name=name, index=index, got=x_shape, shape=list(shape)
            )
        x = sum_to(x, shape=shape)
    if x._array.dtype != dtype:
        x = x.to(from_numpy_dtype(dtype))
    if local.mode.grad_enabled:
        return x
    if isinstance(edge, AccumulateGrad):
        show_as(x._array, x)
    return x._array
