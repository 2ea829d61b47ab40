"""Assignment to elements: ``x[0] = 2``, ``x[:, 1:] = y``, ``x[mask] = 0``.

After reading this file you know that an assignment is a change in place of a view: numbers, slices
and None in the key make the view, and then the value is copied into it; only if there are index
tensors are single elements of the view put. The order of what is refused is PyTorch's. Read next:
``views.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import dropwhile
from typing import Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit.core.base import TensorBase, next_number, wrap
from autodiff_kit.core.mode import local
from autodiff_kit.core.observer import installed
from autodiff_kit.core.versions import writable
from autodiff_kit.dtypes import number_in, tensor_type
from autodiff_kit.errors import error
from autodiff_kit.inplace import (
    as_it_was,
    finish,
    go_on,
    note,
    refuse,
    refuse_inference,
    store,
    tell,
)
from autodiff_kit.overlap import (
    is_repeated,
    is_same_data,
    refuse_overlap,
    refuse_repeated,
    warn_of_repeated,
)
from autodiff_kit.views import node_of, positions

__all__ = ["assign"]

_HOW = "x[...] = ..."


def assign(tensor: TensorBase, key: Any, value: Any) -> None:
    """Carry out ``tensor[key] = value``.

    An error if the key does not fit the tensor, or the value does not fit the elements it names.
    """
    key = ops.as_key(key, stacklevel=4)
    if not isinstance(value, TensorBase):
        if not isinstance(value, int | float | np.generic):
            kind, own = type(value).__name__, tensor_type(tensor._array.dtype)
            raise error("inplace.assigned_type", kind=kind, own=own)
        value = wrap(number_in(value, tensor._array.dtype))
    if key is False:
        return
    if key is True:
        key = None
    recorded = bool(local.mode.grad_enabled) and (tensor.requires_grad or value.requires_grad)
    if recorded:
        # A view is made for the time of this call: it tells what PyTorch's messages name.
        with installed(None):
            part, gather = ops.sliced(tensor, key, assigned=True)
        if part._base is not None and part is not tensor:
            views = part._base._views  # without this one: it need not follow the change
            views.difference_update([view for view in views if view() is part])
    else:
        memory = writable(tensor)
        view, gather = ops.sliced(memory, key, assigned=True)
        part = tensor
        if view is not memory:
            part = wrap(view)
            part._changes = tensor._changes
    if gather:
        _put(tensor, part, gather, value, recorded)
    else:
        _copy(tensor, part, value, recorded)
    if recorded and tensor._base is not None:
        node_of(tensor)


def _copy(tensor: TensorBase, part: TensorBase, value: TensorBase, recorded: bool) -> None:
    """Copy a value into a view of a tensor, or into the whole: ``part`` is the tensor then."""
    own, read, shape = part._array, value._array, part._array.shape
    is_fill = read.shape == () != shape
    steps = None
    if read.shape != shape and not is_fill:
        _check_history(value, recorded)
        value = _fitting(value, shape, recorded)
        if recorded and value.requires_grad and value.shape != shape:
            value = value.expand(shape)
        read = np.broadcast_to(value._array, shape)
        steps = (0,) * len(shape) if value._array.size == 1 else None
    recorded = recorded and (is_fill or own.dtype.kind == "f")
    refuse(part, _HOW, recorded)
    _check_history(value, recorded)
    if is_fill:
        refuse_repeated(own)
    elif not (value is part or is_same_data(own, read, steps)):
        refuse_repeated(own)
        refuse_overlap(own, read, _HOW, read_steps=steps)
    refuse_inference(part, _HOW)
    number = next_number()
    if part is tensor and (recorded or local.mode.observer is not None):
        fill = ops.fill_with if is_fill else ops.copy_from
        finish(tensor, _HOW, fill(as_it_was(tensor), value), number, recorded)
        return
    _write(
        tensor,
        part,
        value,
        number,
        recorded,
        places=lambda base: positions(base, part),
        write=lambda: store(writable(part), value._array),
    )


def _put(
    tensor: TensorBase, part: TensorBase, gather: Any, value: TensorBase, recorded: bool
) -> None:
    """Put a value to the elements of a view of a tensor that index arrays name."""
    own, read, dtype = part._array, value._array, part._array.dtype
    if read.shape[:1] == (1,):
        _check_history(value, recorded)
        read = read.reshape(_without_ones(read.shape))  # a view, as PyTorch makes one
    elif read is own and value is not part:
        read = read[...]  # a detached tensor: it overlaps only if it has elements
    refuse(part, _HOW, recorded)
    _check_history(value, recorded)
    viewed = recorded and value.shape[:1] == (1,)
    if value._array.size == 1 and [k.dtype for k in gather.values()] == [bool]:
        indices, shape = ops.gathered(own.shape, gather)
        if value._array.dtype != dtype:
            number_in(value._array.item(), dtype)  # a number of any type; it must not overflow
        value = _fitting(value, shape, viewed)
    else:
        warn_of_repeated(own)
        for other in (read, *gather.values()):
            refuse_overlap(own, other, _HOW, strictly=True)
        indices, shape = ops.gathered(own.shape, gather)
        value = _fitting(value, shape, viewed, indexed=True)
        if value._array.dtype != dtype:
            kinds = tensor_type(dtype), tensor_type(value._array.dtype)
            raise error("inplace.assigned_dtype", own=kinds[0], kind=kinds[1])
        ops.check_numbers(indices, own.shape)
    refuse_inference(part, _HOW)
    number = next_number()
    if part is tensor and tensor._base is None and (recorded or local.mode.observer is not None):
        places = np.arange(own.size).reshape(own.shape)[indices]
        places = ops.named_by(places, gather.values())
        result = ops.index_put(as_it_was(tensor), value, positions=places)
        finish(tensor, "__setitem__", result, number, recorded)
        return
    _write(
        tensor,
        part,
        value,
        number,
        recorded,
        places=lambda base: ops.named_by(positions(base, part)[indices], gather.values()),
        write=lambda: writable(part).__setitem__(indices, value._array.astype(dtype)),
    )


def _write(
    tensor: TensorBase,
    part: TensorBase,
    value: TensorBase,
    number: int,
    recorded: bool,
    places: Callable[[Any], Any],
    write: Callable[[], None],
) -> None:
    """Carry out an assignment to elements of a view, ``part``; let the base go on with them.

    ``places`` says which elements of the base they are; computed only when something observes.
    """
    base = tensor if tensor._base is None else tensor._base
    new_base = None
    if recorded or local.mode.observer is not None:
        repeats = is_repeated(part._array)
        new_base = ops.put(as_it_was(base), value, positions=places(base), repeats=repeats)
    write()
    if recorded and new_base is not None:
        go_on(base, new_base._node)
    note(tensor, number)
    tell(base, "__setitem__")


def _check_history(value: TensorBase, recorded: bool) -> None:
    """Raise if a value is a view that lags behind its base and cannot follow."""
    if recorded:
        node_of(value)


def _fitting(value: TensorBase, shape: tuple[int, ...], viewed: bool, indexed: bool = False) -> Any:
    """Return ``value`` without the 1s in front; refuse what does not fit.

    ``viewed`` tells whether PyTorch's graph, if there is one, has a node for that.
    """
    own = _without_ones(value._array.shape)
    fits = len(own) <= len(shape) and all(
        n in (1, m) for n, m in zip(own[::-1], shape[::-1], strict=False)
    )
    is_longer = own != value.shape and not (fits and len(value.shape) <= len(shape))
    if is_longer or (viewed and value.requires_grad):
        value = value.view(own)
    if not fits:
        if not indexed:
            ops.check_expand(value, shape)
        raise error("inplace.assigned_shape", value=list(value.shape), selection=list(shape))
    return value


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape without the 1s in front."""
    return tuple(dropwhile(lambda n: n == 1, shape))
