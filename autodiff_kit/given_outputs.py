"""``torch.mul(x, y, out=z)``: a result is written into a tensor that is there already.

After reading this file you know why PyTorch computes no gradients through ``out=``: the tensor was
there before, with a history of its own. Read next: ``signatures.py``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.core.base import TensorBase
from autodiff_kit.core.mode import local
from autodiff_kit.dtypes import c_type, category, tensor_type
from autodiff_kit.errors import error
from autodiff_kit.overlap import refuse_overlap, refuse_repeated
from autodiff_kit.signatures import wrong_call

__all__ = ["compute_into"]


def compute_into(
    name: str, function: Callable[..., Any], out: Any, args: Any, kwargs: dict[str, Any]
) -> Any:
    """Call a function and write what it returns into ``out``: a tensor, or one for each result.

    RuntimeError if a gradient is wanted, if ``out`` lies in part where an input lies, or if a
    result does not fit into the dtype of ``out``.
    """
    if name in ("prod", "sum") and len(args) == 1 and "dim" not in kwargs:  # of all elements
        raise wrong_call(name, "function", args, {**kwargs, "out": out}) or TypeError(name)
    outs = (out,) if isinstance(out, TensorBase) else tuple(out)
    flat = [v for a in (*args, *kwargs.values()) for v in (a if type(a) in (list, tuple) else [a])]
    reads = [v for v in flat if isinstance(v, TensorBase)]
    tensors = (*reads, *(v for v in outs if isinstance(v, TensorBase)))
    if local.mode.grad_enabled and any(t.requires_grad for t in tensors):
        raise error("arguments.out_with_grad", name=name)
    for target in outs:
        for read in reads if isinstance(target, TensorBase) else ():
            refuse_overlap(target._array, read._array, f"out= of {name}")
    if name in _IN_DTYPE_OF_OUT and isinstance(out, TensorBase):
        kwargs = {"dtype": out.dtype, **kwargs}
    with no_grad():
        result = function(*args, **kwargs)
        results = (result,) if isinstance(result, TensorBase) else result
        for target, value in zip(outs, results, strict=True):
            _check_type(name if len(outs) == 1 else f"{name}_dim", target, value, reads)
            _check_memory(target, value, reads)
            _write(target, value)
    return out


# These compute in the dtype of what they write to: a sum of 0.5 and 0.5 in integers is 0.
_IN_DTYPE_OF_OUT = {"arange", "cumprod", "cumsum", "eye", "full", "linspace", "ones", "prod", "sum"}
_IN_DTYPE_OF_OUT |= {"rand", "randint", "randn", "randperm", "zeros"}

# Of these, PyTorch writes a result into a tensor of its own dtype only; what it says of another.
_IN_OWN_DTYPE = {
    "mm": "addmm addmv argmax argmin baddbmm bmm cross diag gather index_add index_copy isin "
    "log_softmax max_dim min_dim mm msort norm scatter scatter_add softmax tril triu",
    "rounding": "abs ceil clamp floor lerp neg round sign trunc",
    "amax": "amax amin",
    "index_select": "index_select masked_select",
    "dot": "dot vdot",
    **{name: name for name in ("multinomial", "mv", "nonzero", "take", "where")},
}
_WORDS = {name: key for key, names in _IN_OWN_DTYPE.items() for name in names.split()}


def _check_type(name: str, target: Any, value: Any, operands: Any) -> None:
    """Raise where PyTorch converts nothing: products of matrices have the dtype of what goes in."""
    own, result = target._array.dtype, value._array.dtype
    kind = _of_matmul(*(operand.ndim for operand in operands)) if name == "matmul" else name
    if kind in ("cat", "stack", "hstack", "vstack") and category(result) > category(own):
        raise error("arguments.out_of_cat", kind=tensor_type(own))
    if own != result and kind in _WORDS:
        raise error(
            f"arguments.out_of_{_WORDS[kind]}",
            name=kind,
            kind=tensor_type(own),
            result=tensor_type(result),
            c_kind=c_type(own),
            c_result=c_type(result),
        )


def _of_matmul(rank: int, other: int) -> str:
    """Return the product that matmul is, for tensors of so many dimensions."""
    if other == 1:
        return "dot" if rank == 1 else "mv"
    return "mm"


def _check_memory(target: Any, value: Any, operands: Any) -> None:
    """Raise if elements share a place in memory, or what is read would get another size."""
    if target.shape != value.shape:
        whole = _together(operands)
        if whole == value.shape and any(operand is target for operand in operands):
            raise error("inplace.shape", old=[*target.shape], new=[*value.shape])
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
        target._array = np.empty(value.shape, target_type)
    target.copy_(value)
