"""Counts of classes: how often each comes in several draws.

After reading this file you know what ``Categorical`` adds up to. Read next: ``kl.py``.
"""

from __future__ import annotations

import math
from typing import Any

from autodiff_kit import ops
from autodiff_kit.creation import arange, zeros
from autodiff_kit.distributions.discrete import Categorical
from autodiff_kit.distributions.distribution import Distribution, Sizes, broadcast
from autodiff_kit.distributions.supports import SIMPLEX, VECTOR, Constraint, counts_of
from autodiff_kit.dtypes import Size
from autodiff_kit.errors import error
from autodiff_kit.functions import find
from autodiff_kit.tensor import Tensor

__all__ = ["Multinomial"]


class Multinomial(Distribution):
    """How often each class comes in ``total_count`` draws; classes are as likely as ``probs`` says.

    Source: Feller, An introduction to probability theory I (1968), section VI.9.
    """

    arg_constraints = {"probs": SIMPLEX, "logits": VECTOR}  # noqa: RUF012

    def __init__(
        self,
        total_count: int = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise error("distributions.total_count")
        self.total_count = total_count
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args)

    @property
    def probs(self) -> Tensor:
        """The probabilities of the classes."""
        probs: Tensor = self._categorical.probs
        return probs

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        logits: Tensor = self._categorical.logits
        return logits

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._categorical.param_shape

    @property
    def support(self) -> Constraint:
        """The counts that add up to ``total_count``."""
        return counts_of(self.total_count)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.total_count * self.probs * (1 - self.probs)

    def expand(self, batch_shape: Sizes) -> Any:
        """Return the same distribution with its parameters expanded to another shape."""
        new = super().expand(batch_shape)
        new._categorical = self._categorical.expand(batch_shape)
        return new

    def sample(self, sample_shape: Sizes = ()) -> Tensor:
        """Draw without a graph."""
        classes = self._categorical.sample((self.total_count, *sample_shape)).movedim(0, -1)
        counts = zeros(self._shape(sample_shape), dtype=classes.dtype)
        ones = find("full_like")(classes, 1)
        sample: Tensor = counts.scatter_add_(-1, classes, ones).type_as(self.probs)
        return sample

    def _log_prob(self, value: Any) -> Tensor:
        logits, value = broadcast(self.logits, value)
        logits = ops.where(
            (value == 0) & (logits == -math.inf), zeros((), dtype=logits.dtype), logits
        )
        orders = _log_factorial(value.sum(-1)) - _log_factorial(value).sum(-1)
        return orders + (logits * value).sum(-1)

    def entropy(self) -> Tensor:
        """Return the entropy, in nats."""
        count = self.total_count
        whole = _log_factorial(arange(count + 1, dtype=self.probs.dtype))
        k = arange(1, count + 1, dtype=self.probs.dtype).reshape(-1, *[1] * self.probs.ndim)
        orders = whole[-1] - whole[1:].reshape(k.shape) - whole[:-1].flip(0).reshape(k.shape)
        share = (orders + k * self.probs.log() + (count - k) * (-self.probs).log1p()).exp()
        repeats = (share * whole[1:].reshape(k.shape)).sum((0, -1))
        return count * self._categorical.entropy() - whole[-1] + repeats


def _log_factorial(counts: Tensor) -> Tensor:
    out: Tensor = ops.lgamma(counts + 1)
    return out
