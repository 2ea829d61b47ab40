"""``torch.amp``, as far as it switches itself off: mixed precision is for GPUs.

After reading this file you know why a training loop that was written for a GPU runs here: without
one, PyTorch's ``autocast`` and ``GradScaler`` do nothing but say so. Read next: ``cuda/amp.py``.
"""

from __future__ import annotations

import warnings
from contextlib import ContextDecorator
from typing import Any

from autodiff_kit.errors import error
from autodiff_kit.free_form import StateDict
from autodiff_kit.outside import absent, modules_below

__all__ = ["GradScaler", "autocast"]


class autocast(ContextDecorator):
    """Compute in the dtypes that tensors have: a context manager or decorator that does nothing.

    On a GPU, products would be computed with fewer digits; on the CPU, PyTorch would do so in
    bfloat16, which the kit does not have: NotImplementedError if that is switched on.
    """

    def __init__(
        self,
        device_type: str,
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise error("arguments.autocast_kind", kind=type(device_type))
        if enabled and device_type == "cpu":
            raise error("arguments.autocast_cpu")
        if enabled and device_type == "cuda":
            words = "CUDA is not available or torch_xla is imported. Disabling autocast."
            warnings.warn(words, UserWarning, stacklevel=2)
        self.device = device_type

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, *exc: object) -> None:
        pass


class GradScaler:
    """Leave losses and gradients as they are: without a GPU, none is too small for its dtype."""

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if enabled:
            words = "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling."
            warnings.warn(words, UserWarning, stacklevel=2)

    def is_enabled(self) -> bool:
        """Return False."""
        return False

    def scale(self, outputs: Any) -> Any:
        """Return the loss."""
        return outputs

    def unscale_(self, optimizer: Any) -> None:
        """Do nothing: gradients are as they should be."""

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Call ``optimizer.step``."""
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """Do nothing: there is no scale to change."""

    def get_scale(self) -> float:
        """Return 1."""
        return 1.0

    def state_dict(self) -> StateDict:
        """Return an empty dictionary."""
        return {}

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Do nothing."""


__path__ = [modules_below(__name__)]  # for imports of what only PyTorch has


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
