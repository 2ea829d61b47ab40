"""Functions at the top of the namespace: ``torch.sum(x)`` beside ``x.sum()``.

After reading this file you know that most of them are the method under another name. Read next:
``methods.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit.dtypes import result_dtype
from autodiff_kit.errors import teach
from autodiff_kit.tensor import Tensor, wrap

_METHODS = """
    abs add all amax amin any argmax argmin bmm ceil clamp clip clone cos div dot eq exp expm1
    flatten flip floor ge gt isfinite isinf isnan le log log1p logical_not lt matmul max maximum
    mean min minimum mm mul mv narrow ne neg numel permute pow prod ravel reciprocal relu remainder
    reshape round rsqrt select sigmoid sign sin sqrt square squeeze sub sum t tan tanh transpose
    trunc unsqueeze
""".split()

__all__ = [
    *_METHODS,
    "allclose",
    "cat",
    "concat",
    "equal",
    "is_tensor",
    "isclose",
    "negative",
    "outer",
    "stack",
    "where",
]


def _from_method(name: str) -> Any:
    def function(input: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(input, Tensor):
            raise TypeError(
                teach(
                    f"{name}(): argument 'input' (position 1) must be Tensor, "
                    f"not {type(input).__name__}",
                    "Make a tensor of it first, for example torch.tensor(3.0).",
                )
            )
        return getattr(input, name)(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = getattr(Tensor, name).__doc__
    return function


globals().update({name: _from_method(name) for name in _METHODS})
negative = globals()["neg"]


def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """Return ``input`` where the condition holds, else ``other``; shapes broadcast.

    With the condition alone, return the indices where it holds, one tensor per dimension.
    """
    if input is None and other is None:
        return tuple(wrap(indices) for indices in np.nonzero(np.asarray(condition._array)))
    arrays = [v._array if isinstance(v, Tensor) else v for v in (input, other)]
    dtype = result_dtype(*arrays)
    both = [v.to(_kit_type(dtype)) if isinstance(v, Tensor) else v for v in (input, other)]
    if not isinstance(both[0], Tensor) and not isinstance(both[1], Tensor):
        both = [wrap(dtype.type(v)) for v in both]
    return ops.where(condition, *both)


def _kit_type(dtype: Any) -> Any:
    from autodiff_kit.dtypes import from_numpy_dtype

    return from_numpy_dtype(dtype)


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors along an existing dimension; all other sizes must agree."""
    if not tensors:
        raise ValueError(teach("expected a non-empty list of Tensors", "There is nothing to join."))
    return ops.cat(*tensors, dim=tensors[0]._dim(dim))  # type: ignore[no-any-return]


concat = cat


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors of one shape along a new dimension."""
    if not tensors:
        raise RuntimeError(
            teach("stack expects a non-empty TensorList", "There is nothing to stack.")
        )
    return ops.stack(*tensors, dim=tensors[0]._dim(dim, extra=1))  # type: ignore[no-any-return]


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Multiply every element of one vector with every element of another."""
    return input.reshape(-1, 1) * vec2


def is_tensor(obj: Any) -> bool:
    """Return whether ``obj`` is a tensor."""
    return isinstance(obj, Tensor)


def equal(input: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same shape and elements."""
    return bool(input.shape == other.shape and np.array_equal(input._array, other._array))


def isclose(
    input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Tell where ``|input - other| <= atol + rtol * |other|``."""
    return wrap(np.isclose(input._array, other._array, rtol, atol, equal_nan))


def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Return whether ``isclose`` holds for all elements."""
    return bool(np.all(isclose(input, other, rtol, atol, equal_nan)._array))
