"""The text of a tensor, character by character as PyTorch writes it.

After reading this file you know why ``[1., 1000.]`` prints as it does and ``[1., 1001.]`` in
scientific notation, and where ``...``, line breaks and ``grad_fn=<...>`` come from. Read next:
``dtypes.py``, which has the names written after ``dtype=``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autodiff_kit.core.base import TensorBase
from autodiff_kit.dtypes import from_numpy_dtype, get_default_dtype
from autodiff_kit.free_form import Keywords

__all__ = ["format_tensor", "set_printoptions", "tensor_repr"]


class _Options(NamedTuple):
    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": _Options(),
    "short": _Options(precision=2, edgeitems=2),
    "full": _Options(threshold=math.inf),
}
_options = _PROFILES["default"]


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Choose how tensors are printed; what is left out stays as it is, except ``sci_mode``.

    As in PyTorch nothing is checked here: a precision such as ``-1`` is a ValueError when the
    next tensor of floats is printed, and an unknown profile is no profile.

    Parameters
    ----------
    precision : int, default 4
        Digits after the decimal point.
    threshold : int or float, default 1000
        Tensors with more elements are summarised by ``...``.
    edgeitems : int, default 3
        How many items a summary keeps at each end of each dimension.
    linewidth : int, default 80
        Columns before a line is broken.
    profile : "default", "short" or "full"
        Sets the four above at once: the defaults; precision 2 and 2 edge items; no summaries.
        Given together with one of them, that one wins.
    sci_mode : bool, optional
        True: always scientific; False: never; left out: decided for each tensor, again.
    """
    global _options
    options: Keywords = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    options = {name: value for name, value in options.items() if value is not None}
    _options = _PROFILES.get(profile or "", _options)._replace(sci_mode=sci_mode, **options)


def format_tensor(tensor: TensorBase) -> str:
    """Return ``repr(tensor)``: its elements and its place in the graph."""
    return tensor_repr(
        tensor._array,
        requires_grad=tensor.requires_grad,
        grad_fn=_name_of_grad_fn(tensor),
    )


def _name_of_grad_fn(tensor: TensorBase) -> str | None:
    try:
        node = tensor.grad_fn
    except RuntimeError:  # a view whose history cannot be told: see views.py
        return "Invalid"
    return None if node is None else node.name().split("::")[-1]


def tensor_repr(array: Any, *, requires_grad: bool = False, grad_fn: str | None = None) -> str:
    """Return the text of a tensor with these elements.

    Parameters
    ----------
    array : array of any shape, or NumPy scalar
        Its type must be one that tensors have; TypeError otherwise.
    requires_grad : bool
        Whether a gradient is wanted. Not shown beside ``grad_fn``, which implies it.
    grad_fn : str, optional
        Name of the node that made the tensor, for example ``"AddBackward0"``.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If ``set_printoptions`` was given a precision that is none.

    Examples
    --------
    >>> tensor_repr(np.array([1.0, 2.5], "float32"), requires_grad=True)
    'tensor([1.0000, 2.5000], requires_grad=True)'
    >>> tensor_repr(np.float64(3.0), grad_fn="MulBackward0")
    'tensor(3., dtype=torch.float64, grad_fn=<MulBackward0>)'
    """
    array = np.asarray(array)
    start = "tensor("
    text = start + _elements(array, len(start))

    # Two columns more than the last line has: PyTorch counts so, and breaks lines accordingly.
    column = len(text.rpartition("\n")[2]) + 2
    for suffix in _suffixes(array, requires_grad, grad_fn):
        if column + 2 + len(suffix) > _options.linewidth:
            text += ",\n" + " " * len(start) + suffix
            column = len(start) + len(suffix)
        else:
            text += ", " + suffix
            column += 2 + len(suffix)
    return text + ")"


def _suffixes(array: Any, requires_grad: bool, grad_fn: str | None) -> list[str]:
    """List what is said after the elements: only what they do not show themselves."""
    dtype = from_numpy_dtype(array.dtype)
    empty = array.size == 0
    shows_shape = array.ndim == 1 if empty else _options.edgeitems
    shows_dtype = dtype is get_default_dtype() or (not empty and dtype.name in ("int64", "bool"))
    suffixes = []
    if not shows_shape:
        suffixes.append(f"size={array.shape}")
    if not shows_dtype:
        suffixes.append(f"dtype={dtype}")
    if grad_fn is not None:
        suffixes.append(f"grad_fn=<{grad_fn}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    return suffixes


def _elements(array: Any, indent: int) -> str:
    """Write the elements in nested brackets, from the innermost dimension outwards.

    Parameters
    ----------
    array : array, any shape
    indent : int
        Column in which the text starts; later lines are aligned with it.
    """
    if array.size == 0:
        return "[]"
    edge = _options.edgeitems
    summarised = array.ndim > 0 and array.size > _options.threshold
    if summarised and not edge:
        return "[...]"
    is_cut = [summarised and size > 2 * edge for size in array.shape]
    if any(is_cut):
        ends = [*range(edge), *range(-edge, 0)]
        axes = zip(array.shape, is_cut, strict=True)
        array = array[np.ix_(*(ends if is_cut_here else range(size) for size, is_cut_here in axes))]

    items, width = _numbers(array)
    innermost = array.ndim - 1
    per_line = max(1, math.floor((_options.linewidth - indent - innermost) / (width + 2)))
    for axis in reversed(range(array.ndim)):
        size = array.shape[axis]
        rows = [items[i : i + size] for i in range(0, len(items), size)]
        if is_cut[axis]:
            for row in rows:
                row.insert(edge, " ..." if axis == innermost else "...")
        if axis == innermost:
            rows = [_lines(row, per_line) for row in rows]
        separator = "," + "\n" * max(1, innermost - axis) + " " * (indent + axis + 1)
        items = [f"[{separator.join(row)}]" for row in rows]
    return items[0]


def _lines(words: list[str], per_line: int) -> list[str]:
    return [", ".join(words[i : i + per_line]) for i in range(0, len(words), per_line)]


def _numbers(array: Any) -> tuple[list[str], int]:
    """Write each number in the form that suits all of them; return the texts and their width.

    Zeros, infinities and nan have no say in form and width, and may stick out.
    """
    values = array.ravel().tolist()  # Python numbers: all floats are float64 from here on
    decisive = values
    write: Callable[[Any], str] = str
    if array.dtype.kind == "f":
        decisive = [value for value in values if value and math.isfinite(value)]
        write = _float_form(decisive)
    width = max((len(write(value)) for value in decisive), default=1)
    return [write(value).rjust(width) for value in values], width


def _float_form(values: list[float]) -> Callable[[float], str]:
    """Choose one of ``1.``, ``1.0000`` and ``1.0000e+00`` for finite, non-zero values."""
    if not values:
        return _write_integral
    sizes = list(map(abs, values))
    low, high = min(sizes), max(sizes)
    scientific = _options.sci_mode
    if scientific is None:
        scientific = high / low > 1000 or high > 1e8 or low < 1e-4
    if scientific:
        return f"{{:.{_options.precision}e}}".format
    if all(value.is_integer() for value in values):
        return _write_integral
    return f"{{:.{_options.precision}f}}".format


def _write_integral(value: float) -> str:
    return f"{value:.0f}." if math.isfinite(value) else str(value)
