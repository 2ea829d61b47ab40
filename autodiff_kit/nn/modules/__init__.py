"""PyTorch's own place for its layers: ``torch.nn.modules.linear.Linear`` is ``torch.nn.Linear``.

After reading this file you know that there is nothing here: programs that import layers by these
longer names find the ones of ``torch.nn``. Read next: ``../__init__.py``.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from autodiff_kit import nn
from autodiff_kit.nn.module import Module
from autodiff_kit.nn.modules import utils
from autodiff_kit.outside import absent

_FILES = {
    "activation": ("activation", "attention"),
    "batchnorm": ("batchnorm", "lazy"),
    "container": ("containers",),
    "conv": ("conv", "lazy"),
    "distance": ("distance",),
    "dropout": ("dropout",),
    "flatten": ("flatten",),
    "instancenorm": ("batchnorm",),
    "linear": ("linear", "lazy"),
    "loss": ("loss",),
    "module": ("module", "hooks"),
    "normalization": ("normalization",),
    "padding": ("padding",),
    "pixelshuffle": ("padding",),
    "fold": ("padding",),
    "pooling": ("pooling",),
    "rnn": ("rnn",),
    "sparse": ("sparse",),
    "transformer": ("transformer",),
    "upsampling": ("pooling",),
}


class _Place(type(sys)):  # type: ignore[misc]
    """A module whose names are those of some of the kit's."""

    def __getattr__(self, name: str) -> Any:
        for file in () if name.startswith("__") else _FILES[self.__name__.rpartition(".")[2]]:
            layer = vars(import_module(f"autodiff_kit.nn.{file}")).get(name)
            is_layer = isinstance(layer, type) and issubclass(layer, Module)
            if is_layer or (layer is not None and name.startswith("register_module")):
                return layer
        raise absent(self.__name__, name)


for _name in _FILES:
    _place = _Place(f"{__name__}.{_name}")
    sys.modules[_place.__name__] = _place
    setattr(sys.modules[__name__], _name, _place)

__all__ = [*_FILES, "utils", *(n for n in nn.__all__ if isinstance(getattr(nn, n), type))]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(nn, name)
    raise absent(__name__, name)
