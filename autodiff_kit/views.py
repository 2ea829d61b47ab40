"""Views: tensors that look into the memory of another one, their base.

After reading this file you know what happens to ``row = x[0]`` when ``x`` is changed in place. A
view is its base, how to look at it again (offset, sizes and strides: its array has them), the
manner in which it was made, and the latest change that its history knows of. When the base
changes, by whatever view, the view's history is stale; it is made anew when it is asked for. Some
views cannot be given a history like that, and so must not be changed: each of several outputs of
one operation, what was made in ``no_grad`` mode, what a Function of the learner's has returned.
Read next: ``inplace.py``.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from autodiff_kit import ops
from autodiff_kit.core.base import INFERENCE, TensorBase, last_change, wrap
from autodiff_kit.core.hooks import hooks_of, move_retained
from autodiff_kit.core.mode import local, recording
from autodiff_kit.core.node import AccumulateGrad
from autodiff_kit.core.versions import changes_of, memory_of, share
from autodiff_kit.core.view_nodes import DEFAULT, DETACHED, INFERENCE_MODE, NO_GRAD, Nowhere
from autodiff_kit.dtypes import full_name
from autodiff_kit.errors import error
from autodiff_kit.outside import missing_attribute

__all__ = [
    "follow_base",
    "forget_views",
    "has_version",
    "is_stale",
    "keep_hooks",
    "latest_node",
    "look_again",
    "marked",
    "node_of",
    "positions",
    "refusal_of_view",
    "require_grad",
    "seems_leaf",
    "seen_through",
    "set_grad",
]


def has_version(tensor: TensorBase) -> bool:
    """Return whether changes of a tensor are counted: those of inference tensors are not."""
    if tensor._changes is not INFERENCE:
        return True
    if tensor._base is not None and tensor._base._changes is not INFERENCE:
        return True  # its ``.data`` was replaced
    return getattr(tensor, "_kind", "") is DETACHED


def forget_views(base: TensorBase, but: TensorBase | None = None) -> None:
    """Let the views of a base that has changed find their history anew when it is asked for.

    So only views whose base was changed pay for being asked; ``but`` one, whose history is new.
    """
    if but is not None:
        but._latest_change = last_change.number
    for reference in tuple(base._views or ()):
        view = reference()
        if view is not None and view is not but and not is_stale(view):
            own: Any = view._base
            node = view._node
            if own._node is not None or not (node is None or isinstance(node, AccumulateGrad)):
                _empty(view)


def _empty(view: Any) -> None:
    """Leave the slot of a view's node empty; when it is read, its class looks at the view again."""
    view._stale_node = view._node
    if type(view._node) is AccumulateGrad:
        hooks_of(view._node)  # so that the engine looks whether it is a leaf yet
    del view._node
    _set_class(view, _stale_class(view.__class__))


_set_class = vars(object)["__class__"].__set__


@cache
def _stale_class(kind: Any) -> Any:
    """Return a class like ``kind``, and called so, of views whose base has changed.

    It alone has a ``__getattr__``: that makes reading any slot of a tensor many times as dear.
    """

    def look(view: Any, name: str) -> Any:
        if name != "_node":
            raise missing_attribute(view, "torch.Tensor", name)
        return look_again(view) if local.mode.grad_enabled else view._stale_node

    own = {name: getattr(kind, name) for name in ("__doc__", "__module__", "__qualname__")}
    own |= {"__slots__": (), "__getattr__": look, "__class__": property(lambda _: kind)}
    return type(kind)(kind.__name__, (kind,), own)


def require_grad(tensor: TensorBase, value: bool, types: str) -> None:
    """Begin to require grad, or cease to; only leaves can."""
    base = tensor._base
    if not isinstance(value, bool):
        kind = full_name(value)
        is_method = types == "floating point"
        raise error("dtypes.requires_grad_" if is_method else "dtypes.requires_grad", kind=kind)
    if is_stale(tensor):  # it stays so: only its flag changes
        if not value:
            tensor._stale_node = None
        elif tensor._stale_node is None or isinstance(tensor._stale_node, Nowhere):
            tensor._stale_node = AccumulateGrad(tensor)
    elif not value:
        if isinstance(tensor._node, AccumulateGrad) and base is None:
            tensor._accumulator = tensor._node  # with its hooks, if it is to require grad again
        is_of_recorded = base is not None and base._node is not None
        tensor._node = Nowhere(tensor) if is_of_recorded else None
    elif not tensor.is_floating_point():
        raise error("dtypes.requires_grad_of_whole", types=types, dtype=tensor.dtype)
    elif tensor._changes is INFERENCE and not local.mode.inference:
        raise error("autograd.requires_grad_of_inference")
    elif tensor._node is None or isinstance(tensor._node, Nowhere):
        before = getattr(tensor, "_accumulator", None) if base is None else None
        if tensor._changes is INFERENCE:
            tensor._array = marked(share(tensor))
        before = AccumulateGrad(tensor) if before is None else before
        if tensor._node is not None:
            before.hooks = tensor._node.hooks
        tensor._node = before
        if not tensor._array.flags.c_contiguous:
            hooks_of(before)  # so that the engine does not just keep what arrives, row by row
    if tensor._views is not None:
        follow_base(tensor)
    if local.mode.observer is not None:
        local.mode.observer.requirement_set(tensor, value)


def keep_hooks(tensor: TensorBase) -> None:
    """Keep the hooks of a tensor that is detached in place, for when it requires grad again."""
    node = tensor._node
    if isinstance(node, AccumulateGrad):
        tensor._accumulator = node
    elif node is not None and node.whole.hooks is not None:
        hooks = node.whole.hooks.on_gradient.get(node.output_nr)
        if hooks:
            tensor._accumulator = AccumulateGrad(tensor)
            hooks_of(tensor._accumulator).on_gradient[0] = hooks


def set_grad(tensor: TensorBase, grad: TensorBase | None, *, by_backward: bool = False) -> None:
    """Set or clear ``tensor.grad``, which the node of a leaf knows, too.

    An observer sees it, unless it is set ``by_backward``, which tells of more.
    """
    tensor._grad = grad
    node = tensor._node if tensor._base is None else latest_node(tensor)
    if isinstance(node, AccumulateGrad):
        node.grad = grad
    if not by_backward and (observer := local.mode.observer) is not None:
        observer.grad_set(tensor, grad)


def marked(array: Any) -> Any:
    """Return an inference tensor's array with an odd dtype, which no short cut of an op takes.

    So ops ask whether it is to be recorded.
    """
    return array.view(np.dtype(array.dtype, metadata={"inference": True}))


def follow_base(base: TensorBase) -> None:
    """Let the views of a leaf require grad if it does, and if not, no longer."""
    for reference in tuple(base._views or ()):
        view = reference()
        if view is None or view._base is not base:
            continue
        if is_stale(view):
            if base._node is None and isinstance(view._stale_node, Nowhere):
                view._stale_node = None
            continue
        if base._node is None:
            if isinstance(view._node, Nowhere):
                view._node = None
            continue
        changes = changes_of(view._array)
        if changes and changes[-1] > view._latest_change:
            _empty(view)
        elif view._node is None:
            view._node = Nowhere(view)


def is_stale(tensor: TensorBase) -> bool:
    """Return whether a view's base has changed since the view's history was made."""
    if tensor._base is None:
        return False
    try:
        object.__getattribute__(tensor, "_node")  # without looking again if the slot is empty
    except AttributeError:
        return True
    return False


def latest_node(tensor: TensorBase) -> Any:
    """Return the node that a tensor had when it was last asked for: an old one of a stale view."""
    return tensor._stale_node if is_stale(tensor) else tensor._node


def seems_leaf(tensor: TensorBase) -> bool:
    """Return whether a tensor is a leaf; of a view, whether it was one when last asked."""
    node = latest_node(tensor)
    return node is None or isinstance(node, AccumulateGrad)


def node_of(tensor: TensorBase) -> Any:
    """Return the node of a tensor, that of a view made anew where its base has changed.

    RuntimeError, in PyTorch's words, where that cannot be told: for a view made in no_grad mode,
    one of several outputs, or one of a Function.
    """
    return look_again(tensor) if is_stale(tensor) else tensor._node


def look_again(view: TensorBase) -> Any:
    """Give a view the history that follows from its base's; see ``node_of``."""
    base, old = view._base, view._stale_node
    assert base is not None
    if view._kind is not DEFAULT and (base._node is not None or old is not None):
        raise refusal_of_view(view, old, "its base or another view of its base has been")
    view._node = None
    _set_class(view, view.__class__)  # its own again
    if base._node is not None or not (old is None or isinstance(old, AccumulateGrad)):
        with recording():  # wherever it is asked for
            view._node = node = seen_through(base, view)
        view._latest_change = last_change.number
        move_retained(view, old, node)
    elif not isinstance(old, Nowhere):
        view._node = old
    view._stale_node = None
    return view._node


def refusal_of_view(view: TensorBase, node: Any, what: str) -> Exception:
    """Return the error for a view that is, or whose base has been, modified in place."""
    from autodiff_kit.core.messages import operation

    kind = view._kind
    name = "" if node is None or isinstance(node, AccumulateGrad) else node.shown.name()
    output = f"Output {node.output_nr} of {operation(name)} is a view" if name else ""
    if kind in (NO_GRAD, INFERENCE_MODE) or not output:
        of = f"{output} of a view which" if output else "A view"
        mode = "inference mode" if kind is INFERENCE_MODE else "no_grad mode"
        when = "in normal mode" if kind is INFERENCE_MODE else "with grad mode enabled"
        output = f"{of} was created in {mode} and {what} modified inplace {when}."
    else:
        output = f"{output} and {what} modified inplace."
    return error(f"inplace.kind_{kind}", output=output)


def seen_through(base: TensorBase, view: TensorBase, *, is_operand: bool = False) -> Any:
    """Return the node of a view whose base has the history that it has now, or none."""
    whole = wrap(base._array, Nowhere(base) if base._node is None else base._node)
    part = ops.pick(whole, positions=positions(base, view), is_operand=is_operand)
    return part._node


def positions(base: TensorBase, view: TensorBase) -> Any:
    """Return which elements of ``base``, counted row by row, ``view`` has: ints of its shape.

    They are repeated, without copying, where the view repeats elements.
    """
    whole, part = share(base), share(view)
    if part.size == 0:
        return np.zeros(part.shape, int)
    size = whole.itemsize
    start = whole if np.may_share_memory(whole, part) else memory_of(part)  # after x.data = ...
    places = np.full((1,) * part.ndim, (part.ctypes.data - start.ctypes.data) // size)
    for dim, (n, stride) in enumerate(zip(part.shape, part.strides, strict=True)):
        if stride:
            places = places + (np.arange(n) * (stride // size)).reshape(
                (n,) + (1,) * (part.ndim - dim - 1)
            )
    if start is not whole:
        places %= max(whole.size, 1)
    if whole.flags.c_contiguous:
        return np.broadcast_to(places, part.shape)
    # The elements of the base lie in memory in another order than row by row.
    steps = tuple(stride // size * 8 for stride in whole.strides)
    extent = sum((n - 1) * step for n, step in zip(whole.shape, steps, strict=True)) // 8 + 1
    number = np.zeros(extent, "int64")
    as_strided(number, whole.shape, steps)[...] = np.arange(whole.size).reshape(whole.shape)
    return np.broadcast_to(number[places], part.shape)
