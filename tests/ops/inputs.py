"""What samples of ops are made of: numbers at which no op bends or jumps."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Sample:
    """One call of an op: its inputs, its parameters; which of several outputs is looked at."""

    inputs: tuple[Any, ...]
    params: dict[str, Any] = field(default_factory=dict)
    output: int = 1

    def __str__(self) -> str:
        shapes = ",".join(str(list(np.shape(x))) for x in self.inputs)
        return f"{shapes} {self.params or ''}".strip()


def numbers(*shape: int, seed: int = 0) -> Any:
    """Return different numbers of about [0.55, 1.45], away from 1, where some ops bend.

    A shape of () gives a NumPy scalar, as 0-d tensors hold.
    """
    count = int(np.prod(shape))
    values = np.linspace(0.55, 0.95, count) + 0.013 * seed
    values[1::2] += 0.5
    return np.random.default_rng(seed).permutation(values).reshape(shape)[()]


def signed(*shape: int, seed: int = 0) -> Any:
    """Return such numbers, half of them negative: others for each seed, so that all pairs occur."""
    values = np.array(numbers(*shape, seed=seed))
    flat = values.reshape(-1)
    flat[(np.arange(flat.size) >> seed) % 2 == 0] *= -1
    return values[()]
