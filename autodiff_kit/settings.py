"""Settings of PyTorch that change nothing here: they are checked, and kept for who asks.

After reading this file you know why a program that asks for fast products of float32 gets exact
ones: NumPy computes them on the CPU, with as many threads as it was started with. Read next:
``dtypes.py``.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

from autodiff_kit import dtypes
from autodiff_kit.errors import error

__all__ = ["are_deterministic_algorithms_enabled", "use_deterministic_algorithms"]
__all__ += ["get_default_device", "get_float32_matmul_precision", "get_num_threads"]
__all__ += ["set_default_device", "set_float32_matmul_precision", "set_num_threads"]
__all__ += ["is_autocast_enabled"]

_set: dict[str, str | int | bool] = {
    "precision": "highest",
    "threads": os.cpu_count() or 1,
    "deterministic": False,
}


def get_default_device() -> dtypes.device:
    """Return the device of new tensors: the CPU."""
    return dtypes.device("cpu")


def set_default_device(device: Any) -> None:
    """Check that the device is the CPU, where all tensors are; None stands for it."""
    dtypes.check_device(device)


def get_float32_matmul_precision() -> str:
    """Return what was set; the kit computes with all digits anyway."""
    return str(_set["precision"])


def set_float32_matmul_precision(precision: str) -> None:
    """Keep the word, ``"highest"``, ``"high"`` or ``"medium"``; all digits are computed anyway."""
    if precision in ("highest", "high", "medium"):
        _set["precision"] = precision
    else:
        words = f"{precision} is not one of 'highest', 'high', or 'medium'; the current"
        words += "setFloat32MatmulPrecision call has no effect."
        warnings.warn(words, UserWarning, stacklevel=2)


def get_num_threads() -> int:
    """Return the number that was set, at first that of cores; NumPy has threads of its own."""
    return int(_set["threads"])


def set_num_threads(num: int) -> None:
    """Keep the number; NumPy has threads of its own. RuntimeError if it is not positive."""
    if not isinstance(num, int):
        raise error("arguments.threads_kind", kind=type(num).__name__)
    if num <= 0:
        raise error("arguments.threads")
    _set["threads"] = num


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Return False: the kit computes in the dtypes that tensors have."""
    return False


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Keep the answer; the kit's algorithms give the same numbers each time anyway."""
    _set["deterministic"] = bool(mode)


def are_deterministic_algorithms_enabled() -> bool:
    """Return what was set."""
    return bool(_set["deterministic"])
