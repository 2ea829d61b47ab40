"""Whether memory that is written to lies at one place several times, or is read meanwhile.

After reading this file you know why ``x[1:] = x[:-1]`` is refused: element by element, it would
read what it has just written. As in PyTorch, only what can be told at once is looked for: tensors
are compared if their elements lie side by side, others are let through. Read next: ``inplace.py``.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np

from autodiff_kit.core.versions import memory_of
from autodiff_kit.errors import error

__all__ = ["Place", "is_repeated", "is_same_data", "place_of", "refuse_overlap"]
__all__ += ["refuse_repeated", "room_at", "steps", "storage_of", "warn_of_repeated"]

Ints = tuple[int, ...]


def steps(array: Any) -> Ints:
    """Return how many elements to go in memory for one step along each dimension."""
    array = np.asarray(array)
    if array.base is None and array.flags.c_contiguous:  # where NumPy keeps steps of one entry
        return tuple(math.prod(n or 1 for n in array.shape[d + 1 :]) for d in range(array.ndim))
    strides: list[int] = []
    follows = whole = 1  # the step over all that follows; and without what ``unsqueeze`` put in
    for step, size in zip(array.strides[::-1], array.shape[::-1], strict=True):
        # Where a step leads nowhere NumPy has 0, PyTorch what would lead over all that follows.
        is_put_in = not step and size == 1
        own = follows if is_put_in else step // array.itemsize
        if not step and not is_put_in and not array.size:
            own = whole
        strides.append(own)
        follows = own * size
        whole = whole if is_put_in else own * max(size, 1)
    return tuple(strides[::-1])


def refuse_repeated(written: Any) -> None:
    """Raise if several elements of an array that is written to lie at one place of memory."""
    if is_repeated(written):
        raise error("inplace.repeated_elements")


def warn_of_repeated(written: Any) -> None:
    """Warn, in PyTorch's words, of writing by index to elements that lie at one place."""
    if is_repeated(written):
        warnings.warn(
            "Use of index_put_ on expanded tensors is deprecated. Please clone() the tensor before "
            "performing this operation. This also applies to advanced indexing e.g. "
            "tensor[indices] = tensor",
            UserWarning,
            stacklevel=4,
        )


def is_repeated(array: Any) -> bool:
    """Return whether several elements of an array lie at one place of memory."""
    if 0 not in array.strides or not array.size:
        return False
    pairs = zip(array.strides, array.shape, strict=True)
    return any(stride == 0 and n > 1 for stride, n in pairs)


def refuse_overlap(
    written: Any, read: Any, how: str, *, strictly: bool = False, read_steps: Ints | None = None
) -> None:
    """Raise if an array is read while others, but not the same, of its elements are written.

    Parameters
    ----------
    written, read : numpy.ndarray or NumPy scalar
    how : str
        The name of the operation.
    strictly : bool
        Refuse also to read just what is written.
    read_steps : tuple of int, optional
        The steps of ``read``, if PyTorch has others than ``steps`` can tell.
    """
    if type(written) is not np.ndarray or type(read) is not np.ndarray:
        return  # numbers: each has a storage of its own
    if written is not read:
        if storage_of(written) is not storage_of(read):
            return  # by far the commonest
        if not (written.size and read.size and _is_dense(written) and _is_dense(read)):
            return
        begin, other = _address(written), _address(read)
        if not (begin < other + read.nbytes and other < begin + written.nbytes):
            return
        is_same = begin == other and written.nbytes == read.nbytes
        strictly = strictly or not is_same or steps(written) != (read_steps or steps(read))
    if strictly:
        raise error("inplace.partial_overlap", how=how)


def is_same_data(a: Any, b: Any, b_steps: Ints | None = None) -> bool:
    """Return whether two arrays are the same elements in the same order."""
    if type(a) is not np.ndarray or type(b) is not np.ndarray:
        return False
    if (
        storage_of(a) is not storage_of(b)
        or a.shape != b.shape
        or a.dtype != b.dtype
        or _address(a) != _address(b)
    ):
        return False
    return a is b or steps(a) == (b_steps or steps(b))


def storage_of(array: Any) -> Any:
    """Return what two tensors share that look into one memory, also ``x`` and ``x.data``."""
    memory = memory_of(array)
    while isinstance(memory.base, memoryview):
        memory = memory_of(memory.base.obj)
    return memory


def room_at(array: Any) -> tuple[Any, int]:
    """Return the storage of a tensor, and how many bytes it has from the first element on."""
    storage = storage_of(array)
    return storage, storage.nbytes - (_address(array) - _address(storage))


class Place(NamedTuple):
    """Where the elements of a tensor lie in its storage, in bytes."""

    storage: np.ndarray[Any, Any]  # without gaps
    offset: int
    shape: Ints
    strides: Ints

    def within(self, storage: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the same place in another storage, of one dimension."""
        return np.ndarray(self.shape, storage.dtype, storage, self.offset, self.strides)


def place_of(array: np.ndarray[Any, Any]) -> Place:
    """Return where an array lies. Of a storage with gaps, which NumPy may have, it is a copy."""
    storage = storage_of(array)
    is_whole = storage.flags.c_contiguous or storage.flags.f_contiguous
    if not is_whole or storage.dtype != array.dtype or min(array.strides, default=0) < 0:
        storage = array = array.copy()
    offset = _address(array) - _address(storage) if array.size else 0
    return Place(storage, offset, array.shape, array.strides)


def _address(array: Any) -> int:
    return array.ctypes.data


def _is_dense(array: Any) -> bool:
    """Return whether the elements lie side by side in memory, in whatever order."""
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return True
    step = array.itemsize
    for stride, n in sorted(zip(array.strides, array.shape, strict=True)):
        if n > 1:
            if stride != step:
                return False
            step *= n
    return True
