"""Random numbers in a graph: whatever they were drawn with, nothing flows back through them.

After reading this file you know what PyTorch does with the gradient of a draw: it is 0, and that is
why reparametrization is needed. Read next: ``static.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.ops.elementwise import zeros_like
from autodiff_kit.ops.table import op, vjp

__all__ = ["bernoulli", "bernoulli_drawn", "exponential_drawn", "normal_drawn", "normal_of_mean"]
__all__ += ["normal_of_mean_and_std", "normal_of_std", "random_drawn", "uniform_drawn"]


@op("numbers", tex=r"z \sim \operatorname{B}(x)", layout="rows")
@vjp("x", lambda g: zeros_like(g), tex=r"0")
def bernoulli(x: Value, *, numbers: Any) -> Value:
    """Return what was drawn: 1 with the probability x, else 0."""
    return np.asarray(numbers, x.dtype)[()]


@op("numbers", tex=r"z \sim \operatorname{N}(x, \sigma)", node="NormalBackward1", layout="rows")
@vjp("x", lambda g: zeros_like(g), tex=r"0")
def normal_of_mean(x: Value, *, numbers: Any) -> Value:
    """Return what was drawn around the mean x."""
    return np.asarray(numbers, x.dtype)[()]


@op("numbers", tex=r"z \sim \operatorname{N}(\mu, x)", node="NormalBackward2", layout="rows")
@vjp("x", lambda g: zeros_like(g), tex=r"0")
def normal_of_std(x: Value, *, numbers: Any) -> Value:
    """Return what was drawn with the standard deviation x."""
    return np.asarray(numbers, x.dtype)[()]


@op("numbers", tex=r"z \sim \operatorname{N}(x, y)", node="NormalBackward3", layout="rows")
@vjp("x", lambda g: zeros_like(g), tex=r"0")
@vjp("y", lambda g: zeros_like(g), tex=r"0")
def normal_of_mean_and_std(x: Value, y: Value, *, numbers: Any) -> Value:
    """Return what was drawn around the mean x with the standard deviation y."""
    return np.asarray(numbers, x.dtype)[()]


# -- in place: the old values are gone ------------------------------------------------------------


@op("numbers", tex=r"z \sim \operatorname{N}(\mu, \sigma)", node="NormalBackward0")
@vjp("x", lambda g: zeros_like(g), tex=r"0")
def normal_drawn(x: Value, *, numbers: Any) -> Value:
    """Return what ``x.normal_()`` has drawn."""
    return np.asarray(numbers, x.dtype)[()]


@op("numbers", tex=r"z \sim \operatorname{U}(a, b)", node="UniformBackward0")
@vjp("x", lambda g: zeros_like(g), tex=r"0")
def uniform_drawn(x: Value, *, numbers: Any) -> Value:
    """Return what ``x.uniform_()`` has drawn."""
    return np.asarray(numbers, x.dtype)[()]


@op("numbers", tex=r"z \sim \operatorname{B}(p)", node="BernoulliBackward2")
@vjp("x", lambda g: zeros_like(g), tex=r"0")
def bernoulli_drawn(x: Value, *, numbers: Any) -> Value:
    """Return what ``x.bernoulli_()`` has drawn."""
    return np.asarray(numbers, x.dtype)[()]


@op("numbers", tex=r"z \sim \operatorname{Exp}(\lambda)", node="ExponentialBackward0")
@vjp("x", lambda g: zeros_like(g), tex=r"0")
def exponential_drawn(x: Value, *, numbers: Any) -> Value:
    """Return what ``x.exponential_()`` has drawn."""
    return np.asarray(numbers, x.dtype)[()]


@op("numbers", tex=r"z \sim \operatorname{U}\{a, \dots, b\}", node="RandomBackward2")
@vjp("x", lambda g: zeros_like(g), tex=r"0")
def random_drawn(x: Value, *, numbers: Any) -> Value:
    """Return what ``x.random_()`` has drawn."""
    return np.asarray(numbers, x.dtype)[()]
