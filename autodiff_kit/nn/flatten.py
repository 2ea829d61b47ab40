"""Layers that change the shape only.

After reading this file you know how images become rows between convolutions and linear layers.
Read next: ``module.py``.
"""

from __future__ import annotations

import math
from typing import Any

from autodiff_kit.errors import error
from autodiff_kit.nn.module import Module
from autodiff_kit.tensor import Tensor

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """Join dimensions into one: all but the first, which counts the samples."""

    _repr_names = ("start_dim", "end_dim")

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Join the dimensions."""
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(Module):
    """Split one dimension into several, whose sizes are ``unflattened_size``; -1 fits one."""

    _repr_names = ("dim", "unflattened_size")

    def __init__(self, dim: int, unflattened_size: tuple[int, ...]) -> None:
        super().__init__()
        if not isinstance(unflattened_size, tuple | list):
            raise error("nn.unflatten_size", kind=type(unflattened_size).__name__)
        for position, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise error("nn.unflatten_sizes", kind=type(size).__name__, position=position)
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        """Split the dimension."""
        return unflatten(input, self.dim, self.unflattened_size)


def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """Split one dimension of a tensor into several."""
    place = input._dim(dim)
    shape = input.shape
    if not sizes:
        raise error("nn.unflatten_nothing")
    if not shape:
        raise error("functions.unflatten_0d")
    product = math.prod(size for size in sizes if size != -1)
    if product != shape[place] and (-1 not in sizes or not product or shape[place] % product):
        raise error("nn.unflatten", sizes=list(sizes), dim=dim, size=shape[place])
    return input.view(*shape[:place], *sizes, *shape[place + 1 :])
