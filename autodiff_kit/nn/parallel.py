"""``nn.DataParallel``: on a CPU, a model that is called as it is.

After reading this file you know that a program written for several GPUs runs here, too. Read next:
``module.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.nn.module import Module
from autodiff_kit.outside import absent

__all__ = ["DataParallel"]


class DataParallel(Module):
    """Call ``module``: what PyTorch spreads over GPUs, if there are any."""

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[int] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Call the model."""
        return self.module(*inputs, **kwargs)


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
