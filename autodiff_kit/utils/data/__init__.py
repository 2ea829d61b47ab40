"""Data for training: sets of samples, in which order to draw them, and how to make batches.

Read ``dataset.py`` first, then ``sampler.py`` and ``dataloader.py``.
"""

# ruff: noqa: F403

from __future__ import annotations

from typing import Any

from autodiff_kit.outside import absent, modules_below
from autodiff_kit.utils.data.dataloader import *
from autodiff_kit.utils.data.dataloader import __all__ as _dataloader
from autodiff_kit.utils.data.dataset import *
from autodiff_kit.utils.data.dataset import __all__ as _dataset
from autodiff_kit.utils.data.sampler import *
from autodiff_kit.utils.data.sampler import __all__ as _sampler

__all__ = [*_dataloader, *_dataset, *_sampler]


__path__.append(modules_below(__name__))  # noqa: F405 - for imports of what only PyTorch has


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
