"""Optimizers: what to do with the gradients once backward has left them in ``.grad``.

After reading this package you know that a step of training is a line of arithmetic per parameter.
Read first: ``sgd.py``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from autodiff_kit.optim import lr_scheduler as lr_scheduler
from autodiff_kit.optim.adam import Adam, Adamax, AdamW, NAdam, RAdam
from autodiff_kit.optim.optimizer import Optimizer
from autodiff_kit.optim.rmsprop import Adadelta, Adagrad, RMSprop
from autodiff_kit.optim.sgd import SGD
from autodiff_kit.outside import absent, modules_below

if TYPE_CHECKING:
    from autodiff_kit.optim import swa_utils as swa_utils
    from autodiff_kit.optim.asgd import ASGD, Rprop
    from autodiff_kit.optim.lbfgs import LBFGS

__all__ = ["ASGD", "LBFGS", "SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam"]
__all__ += ["Optimizer", "RAdam", "RMSprop", "Rprop", "lr_scheduler"]

_LATER = {"ASGD": "asgd", "LBFGS": "lbfgs", "Rprop": "asgd"}  # loaded when first used


__path__.append(modules_below(__name__))  # for imports of what only PyTorch has


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"autodiff_kit.optim.{_LATER[name]}"), name)
    if name == "swa_utils":
        return import_module("autodiff_kit.optim.swa_utils")
    raise absent(__name__, name)
