"""Optimizers: what to do with the gradients once backward has left them in ``.grad``.

After reading this package you know that a step of training is a line of arithmetic per parameter.
Read first: ``algorithms.py``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from autodiff_kit.optim import lr_scheduler as lr_scheduler
from autodiff_kit.optim.algorithms import (
    SGD,
    Adadelta,
    Adagrad,
    Adam,
    Adamax,
    AdamW,
    NAdam,
    RAdam,
    RMSprop,
)
from autodiff_kit.optim.optimizer import Optimizer
from autodiff_kit.outside import absent

__all__ = ["LBFGS", "SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam", "Optimizer"]
__all__ += ["RAdam", "RMSprop", "lr_scheduler"]


def __getattr__(name: str) -> Any:
    if name == "LBFGS":  # loaded when first used
        return import_module("autodiff_kit.optim.lbfgs").LBFGS
    raise absent(__name__, name)
