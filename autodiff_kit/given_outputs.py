"""``torch.mul(x, y, out=z)``: a result is written into a tensor that is there already.

After reading this file you know why PyTorch computes no gradients through ``out=``: the tensor was
there before, with a history of its own. Read next: ``signatures.py``.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.core.base import TensorBase
from autodiff_kit.core.mode import local
from autodiff_kit.core.versions import is_exported, share
from autodiff_kit.dtypes import c_type, category, full_name, tensor_type
from autodiff_kit.errors import error
from autodiff_kit.free_form import Keywords
from autodiff_kit.overlap import refuse_overlap, refuse_repeated, room_at
from autodiff_kit.return_types import written_pair
from autodiff_kit.signatures import wrong_call

__all__ = ["compute_into"]


def compute_into(
    name: str, function: Callable[..., Any], out: Any, args: Any, kwargs: Keywords
) -> Any:
    """Call a function and write what it returns into ``out``: a tensor, or one for each result.

    TypeError if there is not one tensor for each result; RuntimeError if one requires grad, if
    ``out`` lies in part where an input lies, or if a result does not fit into its dtype.
    """
    if name in ("prod", "sum") and len(args) == 1 and "dim" not in kwargs:  # of all elements
        raise wrong_call(name, "function", args, {**kwargs, "out": out}) or TypeError(name)
    outs = tuple(out) if isinstance(out, tuple | list) else (out,)
    flat = [v for a in (*args, *kwargs.values()) for v in (a if type(a) in (list, tuple) else [a])]
    reads = [v for v in flat if isinstance(v, TensorBase)]
    tensors = (*reads, *(v for v in outs if isinstance(v, TensorBase)))
    if local.mode.grad_enabled and any(t.requires_grad for t in tensors):
        raise error("arguments.out_with_grad", name=_COMPUTED_BY.get(name, name))
    for target in outs:
        for read in reads if isinstance(target, TensorBase) else ():
            refuse_overlap(target._array, read._array, f"out= of {name}")
    if name in _IN_DTYPE_OF_OUT and isinstance(out, TensorBase):
        kwargs = {"dtype": out.dtype, **kwargs}
    with no_grad():
        result = function(*args, **kwargs)
        results = (result,) if isinstance(result, TensorBase) else result
        _check_count(name, args, kwargs, out, results)
        for place, (target, value) in enumerate(zip(outs, results, strict=True)):
            _check_type(name if len(outs) == 1 else f"{name}_dim", place, target, value, reads)
            _check_memory(name, target, value, reads)
            _write(target, value)
    if isinstance(out, TensorBase):
        return out
    return written_pair(result, outs)


def _check_count(name: str, args: Any, kwargs: Any, out: Any, results: Any) -> None:
    """Raise TypeError, in PyTorch's words, if ``out`` is not one tensor for each result."""
    if len(results) > 1 and isinstance(out, tuple | list):
        if len(out) != len(results):
            raise TypeError(f"expected tuple of {len(results)} elements but got {len(out)}")
    elif len(results) > 1 or not isinstance(out, TensorBase):
        kind = "tuple of Tensors" if len(results) > 1 else "Tensor"
        words = f"{name}(): argument 'out' must be {kind}, not {full_name(out)}"
        wrong = wrong_call(name, "function", args, {**kwargs, "out": out})
        is_of_many = wrong is not None and "invalid combination" in str(wrong)
        raise wrong if is_of_many and wrong is not None else TypeError(words)


# The op that writes the result, where PyTorch has none of the function's own name.
_COMPUTED_BY = {
    "absolute": "abs",
    "clip": "clamp",
    "cross": "linalg_cross",
    "diff": "sub",
    "divide": "div",
    "inverse": "linalg_inv_ex",
    "msort": "sort",
    "multiply": "mul",
    "nanmean": "nansum",
    "negative": "neg",
    "norm": "linalg_vector_norm",
    "square": "pow",
    "subtract": "sub",
    "take_along_dim": "gather",
    "true_divide": "div",
    **dict.fromkeys(("column_stack", "dstack", "hstack", "vstack"), "cat"),
    **dict.fromkeys(("ger", "kron", "outer"), "mul"),
}

# These compute in the dtype of what they write to: a sum of 0.5 and 0.5 in integers is 0.
_IN_DTYPE_OF_OUT = {"arange", "cumprod", "cumsum", "eye", "full", "linspace", "ones", "prod", "sum"}
_IN_DTYPE_OF_OUT |= {"rand", "randint", "randn", "randperm", "zeros"}

# Of these, PyTorch writes a result into a tensor of its own dtype only; what it says of another.
_IN_OWN_DTYPE = {
    "mm": "addmm addmv aminmax_dim argmax argmin baddbmm bmm cross diag gather index_add "
    "index_copy inverse isin log_softmax max_dim min_dim mm msort norm scatter scatter_add "
    "softmax sort_dim topk_dim tril triu",
    "rounding": "abs ceil clamp clamp_max clamp_min clip floor lerp neg round sign trunc",
    "amax": "amax amin",
    "cummax": "cummax_dim cummin_dim",
    "median": "median_dim nanmedian_dim",
    "index_select": "index_select masked_select",
    "dot": "dot vdot",
    "search": "bucketize searchsorted",
    "question": "all any",
    "kthvalue": "kthvalue_dim",
    "mode": "mode_dim",
    **{name: name for name in ("multinomial", "mv", "nonzero", "take", "where")},
    **{name: name for name in ("heaviside", "nan_to_num", "quantile", "tensordot")},
}
_WORDS = {name: key for key, names in _IN_OWN_DTYPE.items() for name in names.split()}
_OF_INDICES = ("kthvalue", "median")  # other words for the second output
_BY_ELEMENT = {"clamp": 1, "clamp_max": 1, "clamp_min": 1, "clip": 1}  # with more tensors than so


def _check_type(name: str, place: int, target: Any, value: Any, operands: Any) -> None:
    """Raise where PyTorch converts nothing: products of matrices have the dtype of what goes in."""
    own, result = target._array.dtype, value._array.dtype
    kind = _of_matmul(*(operand.ndim for operand in operands)) if name == "matmul" else name
    if kind in ("cat", "stack", "hstack", "vstack") and category(result) > category(own):
        raise error("arguments.out_of_cat", kind=tensor_type(own))
    if len(operands) > _BY_ELEMENT.get(name, 9) or (name == "lerp" and len(operands) < 3):
        return
    if own == result or kind not in _WORDS or (_WORDS[kind] == "question" and own == np.uint8):
        return
    key = _WORDS[kind]
    raise error(
        f"arguments.out_of_{key}{'_indices' if place and key in _OF_INDICES else ''}",
        name=kind,
        kind=tensor_type(own),
        result=tensor_type(result),
        c_kind=c_type(own),
        c_result=c_type(result),
        which=("values", "indices")[place],
        is_int32=result == np.int32,
    )


def _of_matmul(rank: int, other: int) -> str:
    """Return the product that matmul is, for tensors of so many dimensions."""
    if other == 1:
        return "dot" if rank == 1 else "mv"
    return "mm"


# These find their results element by element, or let PyTorch's iterator look at what they write to.
_IN_ELEMENTS = {"index_select", "masked_select", "outer", "take"}
_NOT_IN_ELEMENTS = {"cumprod", "cumsum", "log_softmax", "softmax", "tril", "triu"}


def _check_memory(name: str, target: Any, value: Any, operands: Any) -> None:
    """Raise if elements share a place in memory, or what is read would get another size."""
    if target.shape != value.shape:
        whole = _together(operands)
        if whole == value.shape and any(operand is target for operand in operands):
            raise error("inplace.shape", old=[*target.shape], new=[*value.shape])
        is_alike = whole == value.shape and name not in _NOT_IN_ELEMENTS
        if is_alike or name in _IN_ELEMENTS:
            refuse_repeated(target._array)
        return
    refuse_repeated(target._array)


def _together(operands: Any) -> tuple[int, ...] | None:
    try:
        return np.broadcast_shapes(*(operand.shape for operand in operands))
    except ValueError:
        return None


def _write(target: Any, value: Any) -> None:
    source_type, target_type = value._array.dtype, target._array.dtype
    if category(source_type) > category(target_type):
        kinds = tensor_type(source_type), tensor_type(target_type)
        raise error("arguments.out_dtype", given=kinds[0], wanted=kinds[1])
    if target.shape != value.shape:
        if target.numel():
            warnings.warn(
                "An output with one or more elements was resized since it had shape "
                f"{list(target.shape)}, which does not match the required output shape "
                f"{list(value.shape)}. This behavior is deprecated, and in a future PyTorch "
                "release outputs will not be resized unless they have zero elements. You can "
                "explicitly reuse an out tensor t by resizing it, inplace, to zero elements with "
                "t.resize_(0).",
                UserWarning,
                stacklevel=5,
            )
        target._array = _resized(share(target), value.shape)
    target.copy_(value)


def _resized(array: Any, shape: tuple[int, ...]) -> Any:
    """Return memory of another shape: from where ``array`` begins, if there is room, else new.

    RuntimeError if the memory is NumPy's and too small: as in PyTorch, it does not grow.
    """
    storage, room = room_at(array)
    if math.prod(shape) * array.itemsize <= room:
        strides = np.empty(shape, array.dtype).strides
        return as_strided(array, shape, strides)
    if is_exported(storage):
        raise error("arguments.out_of_numpy")
    return np.empty(shape, array.dtype)
