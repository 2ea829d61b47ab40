"""Three ways through sequences of different length, as they would be written for PyTorch.

After reading you know all that the batching lab runs; its Stepper shows this very code. Each step
of a sequence has an input, and a target that the sum of the state should come near to. Read next:
``batching.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import autodiff_kit as torch
from autodiff_kit.tensor import Tensor

__all__ = ["one_by_one", "padded", "shrinking", "small_network"]

Step = Callable[[Tensor, Tensor], Tensor]


def small_network(features: int, hidden: int) -> Step:
    """Return one step of a recurrent network, with the same weights every time."""
    random = torch.Generator().manual_seed(1)
    W = torch.randn(features, hidden, generator=random).requires_grad_()
    U = (torch.randn(hidden, hidden, generator=random) * 0.5).requires_grad_()

    def step(x: Tensor, h: Tensor) -> Any:
        return torch.tanh(x @ W + h @ U)

    return step


def one_by_one(step: Step, sequences: Sequence[Sequence[tuple[Tensor, Tensor]]], h: Tensor) -> Any:
    """Go through each sequence by itself: a loop as long as the sequence."""
    start, total, count = h, torch.zeros(()), 0
    for sequence in sequences:
        h = start
        for x, y in sequence:
            h = step(x, h)
            total = total + ((h.sum(dim=1) - y) ** 2).sum()
            count += 1
    return total / count


def padded(
    step: Step, columns: Sequence[tuple[Tensor, Tensor, Tensor]], h: Tensor, count: int
) -> Any:
    """Go through all at once, to the end of the longest; the mask is 0 where one is over."""
    total = torch.zeros(())
    for x, y, mask in columns:
        h = step(x, h)
        total = total + ((h.sum(dim=1) - y) ** 2 * mask).sum()
    return total / count


def shrinking(step: Step, columns: Sequence[tuple[Tensor, Tensor]], h: Tensor) -> Any:
    """Go through all at once, the longest first; those that are over leave the batch."""
    total, count = torch.zeros(()), 0
    for x, y in columns:
        if len(x) < len(h):
            h = h[: len(x)]
        h = step(x, h)
        total = total + ((h.sum(dim=1) - y) ** 2).sum()
        count += len(x)
    return total / count
