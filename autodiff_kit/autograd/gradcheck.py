"""Compare a gradient with finite differences.

After reading this file you know the check that every rule of the kit has to pass: (f(x + eps) -
f(x - eps)) / 2 eps, element by element, must be what backward returns, up to rounding. Use float64:
with float32, rounding alone is larger than that. Read next: ``ops/arithmetic.py``.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from autodiff_kit.autograd.backward import grad
from autodiff_kit.autograd.grad_mode import enable_grad
from autodiff_kit.core.base import wrap
from autodiff_kit.core.versions import share
from autodiff_kit.creation import rand, zeros_like
from autodiff_kit.errors import error
from autodiff_kit.tensor import Tensor

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]

Tensors = Tensor | Sequence[Any]
Function = Callable[..., Any]


class GradcheckError(RuntimeError):
    """A gradient is not what finite differences say."""


def gradcheck(
    func: Function,
    inputs: Tensors,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Check the gradients of ``func`` by finite differences; return True if all are right.

    Parameters
    ----------
    func : callable
        Takes the inputs, returns a tensor or a tuple of tensors.
    inputs : Tensor or sequence
        Gradients are checked for those that require grad; ValueError if none does.
    eps : float
        How far the inputs are moved.
    atol, rtol : float
        Tolerances: ``|backward - differences| <= atol + rtol * |differences|``.
    raise_exception : bool
        Raise GradcheckError, which shows both Jacobians, or return False.
    fast_mode : bool
        Changes nothing: the whole Jacobian is checked, where PyTorch takes one random direction.
    nondet_tol, check_undefined_grad, masked
        PyTorch's further checks, which are left out.
    check_grad_dtypes, check_batched_grad, check_batched_forward_grad, check_forward_ad
        NotImplementedError if one is True.
    check_backward_ad : bool
        NotImplementedError if it is False: nothing else is checked.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    >>> gradcheck(lambda x: x.exp() * x, x)
    True
    """
    further = {
        "check_grad_dtypes": check_grad_dtypes,
        "check_batched_grad": check_batched_grad,
        "check_batched_forward_grad": check_batched_forward_grad,
        "check_forward_ad": check_forward_ad,
    }
    for name in filter(further.__getitem__, further):
        raise error("gradcheck.further", call=f"{name}=True")
    if not check_backward_ad:
        raise error("gradcheck.further", call="check_backward_ad=False")
    values = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    xs = _recorded(values)
    if not xs:
        raise error("gradcheck.no_input")
    for i, x in enumerate(values):
        if isinstance(x, Tensor) and x.requires_grad:
            if x._array.dtype != np.float64:
                warnings.warn(
                    f"Input #{i} requires gradient and is not a double precision floating point "
                    "or complex. This check will likely fail if all the inputs are not of double "
                    "precision floating point or complex. ",
                    UserWarning,
                    stacklevel=2,
                )
            if 0 in share(x).strides and x.numel() > 1:
                raise error("gradcheck.overlapping", index=i)
    try:
        _check(func, values, xs, eps, rtol=rtol, atol=atol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Function, inputs: Tensors, grad_outputs: Tensors | None = None, **options: Any
) -> bool:
    """Check the gradients of the gradients: that rules can be differentiated, and are right then.

    As ``gradcheck``; ``grad_outputs`` is what flows into the outputs, by default random numbers
    from -1 to 1.
    """
    for name in ("gen_non_contig_grad_outputs", "check_fwd_over_rev"):
        if options.pop(name, False):
            raise error("gradcheck.further", call=f"{name}=True")
    if not options.pop("check_rev_over_rev", True):
        raise error("gradcheck.further", call="check_rev_over_rev=False")
    values = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    with enable_grad():
        outs = _recorded(_as_tuple(func(*values)))
    if grad_outputs is None:
        gs = tuple((rand(o.shape, dtype=o.dtype) * 2 - 1).requires_grad_() for o in outs)
    else:
        gs = (grad_outputs,) if isinstance(grad_outputs, Tensor) else tuple(grad_outputs)

    def gradients(*args: Any) -> tuple[Tensor, ...]:
        own, flowing = args[: len(values)], args[len(values) :]
        outs = _recorded(_as_tuple(func(*own)))
        results = grad(outs, _recorded(own), flowing, create_graph=True, allow_unused=True)
        return tuple(g for g in results if g is not None)

    return gradcheck(gradients, values + gs, **options)


def _as_tuple(outputs: Any) -> tuple[Any, ...]:
    return tuple(outputs) if isinstance(outputs, tuple | list) else (outputs,)


def _recorded(values: tuple[Any, ...]) -> tuple[Tensor, ...]:
    return tuple(x for x in values if isinstance(x, Tensor) and x.requires_grad)


def _check(
    func: Function, values: tuple[Any, ...], xs: tuple[Tensor, ...], eps: float, **close: Any
) -> None:
    with enable_grad():
        outs = _as_tuple(func(*values))
    numbers = [i for i, out in enumerate(outs) if out.requires_grad]
    indices = numbers or list(range(len(outs)))
    differences = [_differences(func, values, x, eps, indices) for x in xs]
    if not numbers:
        sizes = (np.abs(block).max(initial=0) for blocks in differences for block in blocks)
        if any(size > close["atol"] for size in sizes):
            raise _failure("gradcheck.not_zero")
        return
    positions = [i for i, x in enumerate(values) if any(x is y for y in xs)]
    for number, i in enumerate(numbers):
        pairs = zip(positions, differences, _by_backward(outs[i], xs), strict=True)
        for position, blocks, analytical in pairs:
            if not np.allclose(analytical, blocks[number], **close):
                both = {"numerical": wrap(blocks[number]), "analytical": wrap(analytical)}
                raise _failure("gradcheck.mismatch", output=i, input=position, **both)


def _differences(
    func: Function, values: tuple[Any, ...], x: Tensor, eps: float, indices: list[int]
) -> list[Any]:
    """Return for each output the array of its derivatives by x, shape (elements of x, of it)."""
    memory = share(x)
    rows: list[list[Any]] = [[] for _ in indices]

    def moved(place: tuple[int, ...], value: Any) -> list[Any]:
        memory[place] = value
        with enable_grad():  # the function may itself call grad
            outs = _as_tuple(func(*values))
        return [np.array(outs[i]._array).reshape(-1) for i in indices]

    for place in np.ndindex(memory.shape):
        here = memory[place].copy()
        try:
            right, left = moved(place, here + eps), moved(place, here - eps)
        finally:
            memory[place] = here
        for row, b, a in zip(rows, right, left, strict=True):
            row.append((b - a) / (2 * eps))
    return [np.array(row, dtype=memory.dtype).reshape(memory.size, -1) for row in rows]


def _by_backward(out: Tensor, xs: tuple[Tensor, ...]) -> list[Any]:
    """Return the same by backward, for each of ``xs``: a column for each element of ``out``."""
    columns: list[list[Any]] = [[] for _ in xs]
    for k in range(out.numel()):
        one = zeros_like(out).reshape(-1)
        one[k] = 1
        gradients = grad(out, xs, one.reshape(out.shape), retain_graph=True, allow_unused=True)
        for column, x, g in zip(columns, xs, gradients, strict=True):
            column.append((zeros_like(x) if g is None else g)._array.reshape(-1))
    pairs = zip(columns, xs, strict=True)
    return [np.array(c, dtype=x._array.dtype).reshape(-1, x.numel()).T for c, x in pairs]


def _failure(key: str, **values: Any) -> GradcheckError:
    return GradcheckError(str(error(key, **values)))


class _Callable(ModuleType):
    # PyTorch has a function of this name where Python puts the module.
    def __call__(self, *args: Any, **kwargs: Any) -> bool:
        return gradcheck(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
