"""What one of PyTorch's tensors holds, of whatever kind it is.

After reading this file you know which tensors have values that a recording can show - dense ones,
and what is sparse, quantized or wrapped by a transform of ``torch.func`` - and which have none: on
the device "meta", complex ones, nested ones, and classes of tensors that are not one array. Of
these a recording tells the shape. Read next: ``torch_backward.py``.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

__all__ = ["array_of", "detached", "extent", "is_transformed", "memory_of", "shape_of"]
__all__ += ["unwrapped"]

_DENSE = 1 << 20  # a sparse tensor of more elements is not made dense to be looked at


def is_transformed(tensor: Any) -> bool:
    """Return whether a tensor is what a transform, such as ``vmap``, passes to its function."""
    torch = sys.modules["torch"]
    is_tensor = isinstance(tensor, torch.Tensor)
    return is_tensor and bool(torch._C._functorch.is_functorch_wrapped_tensor(tensor))


def unwrapped(tensor: Any) -> Any:
    """Return the tensor that the transforms of ``torch.func`` have wrapped."""
    functorch = sys.modules["torch"]._C._functorch
    while functorch.is_functorch_wrapped_tensor(tensor):
        tensor = functorch.get_unwrapped(tensor)
    return tensor


def array_of(tensor: Any) -> Any:
    """Return the numbers of a tensor as an array; None if it has none that can be shown."""
    torch = sys.modules["torch"]
    # A class with operations of its own is not one array: FakeTensor, or a masked tensor.
    if type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        return None
    if not torch._C._len_torch_dispatch_stack():  # as nearly always in the forward pass
        return _numbers(tensor, torch)
    with torch._C._DisableTorchDispatch():  # no mode, of the learner's or ours, is to see this
        return _numbers(tensor, torch)


def _numbers(tensor: Any, torch: Any) -> Any:
    try:
        array = tensor.numpy()  # of nearly all, which need nothing of what follows
    except Exception:  # each kind refuses with an error of its own
        try:
            array = _read(tensor, torch)
        except Exception:
            return None
    return None if array is None or array.dtype.kind == "c" else array


def _read(tensor: Any, torch: Any) -> Any:
    if type(tensor) in (torch.Tensor, torch.nn.Parameter) and not is_transformed(tensor):
        try:
            return tensor.detach().numpy()  # of nearly all, which are leaves
        except Exception:
            pass
    with torch._C._DisableFuncTorch(), torch.no_grad():  # nor is a transform that is running
        tensor = unwrapped(tensor)
        if tensor.is_complex() or tensor.is_meta or tensor.is_nested:
            return None
        if tensor.layout is not torch.strided:
            if tensor.numel() > _DENSE:
                return None
            tensor = tensor.to_dense()
        if tensor.is_quantized:
            tensor = tensor.dequantize()
        tensor = tensor.detach().cpu().resolve_neg()
        try:
            return np.asarray(tensor.numpy())
        except TypeError:  # NumPy has no bfloat16
            return np.asarray(tensor.float().numpy())


def shape_of(tensor: Any) -> list[int]:
    """Return the shape of a tensor, as far as it has one: a nested tensor has not."""
    try:
        shape = list(tensor.shape)
    except Exception:  # each kind refuses with an error of its own
        return []
    return shape if all(type(size) is int for size in shape) else []


def memory_of(tensor: Any) -> int:
    """Return where the memory of a tensor begins; 0 if it has none."""
    try:
        start = 0 if tensor.storage_offset() else tensor.data_ptr()  # no object is made for that
        return int(start or tensor.untyped_storage().data_ptr())  # a tensor of no elements says 0
    except Exception:  # such as a sparse one; each kind refuses with an error of its own
        return 0


def extent(tensor: Any) -> tuple[int, int]:
    """Return where the elements of a tensor begin, and how many bytes they take."""
    try:
        return tensor.data_ptr(), tensor.nbytes
    except Exception:
        pass
    try:
        tensor = unwrapped(tensor)
        if tensor.is_sparse:
            return id(tensor), tensor._indices().nbytes + tensor._values().nbytes
        return tensor.data_ptr(), tensor.nbytes
    except Exception:
        return id(tensor), 0


def detached(tensor: Any) -> Any:
    """Return a tensor without its history; the tensor itself where PyTorch cannot."""
    torch = sys.modules["torch"]
    try:
        if type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
            return tensor.detach()
        with torch._C._DisableTorchDispatch():  # no mode is to see this
            return tensor.detach()
    except RuntimeError:  # of a batch of gradients (is_grads_batched) it is not implemented
        return tensor
