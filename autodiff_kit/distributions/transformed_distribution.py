"""Distributions of what functions make of draws: ``TransformedDistribution``, and two of them.

After reading this file you know how a density changes: that of a value is the density of what the
function made it from, divided by the slope there. Read next: ``mixture_same_family.py``.
"""

from __future__ import annotations

import math
from typing import Any

from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.distributions.continuous import Normal, Uniform
from autodiff_kit.distributions.distribution import Distribution, Sizes, broadcast
from autodiff_kit.distributions.supports import NOT_NEGATIVE, POSITIVE, REAL, Constraint
from autodiff_kit.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    Transform,
)
from autodiff_kit.errors import error
from autodiff_kit.functions import find
from autodiff_kit.functions.basic import where
from autodiff_kit.tensor import Tensor

__all__ = ["Gumbel", "HalfNormal", "TransformedDistribution"]


class TransformedDistribution(Distribution):
    """What one or several ``transforms`` make of the draws of another distribution."""

    def __init__(
        self, base_distribution: Any, transforms: Any, validate_args: bool | None = None
    ) -> None:
        parts = transforms if isinstance(transforms, list) else [transforms]
        if not all(isinstance(part, Transform) for part in parts):
            if isinstance(transforms, list):
                raise error("distributions.transforms")
            raise error("distributions.transform", value=transforms)
        self.transforms = parts
        inner = base_distribution.event_shape
        shape = (*base_distribution.batch_shape, *inner)
        whole = ComposeTransform(self.transforms).forward_shape(shape)
        outer = whole[: len(whole) - len(inner)]
        has_shape = outer == base_distribution.batch_shape
        self.base_dist = base_distribution if has_shape else base_distribution.expand(outer)
        super().__init__(outer, inner, validate_args=validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether gradients can flow through draws."""
        has: bool = self.base_dist.has_rsample
        return has

    @property
    def support(self) -> Constraint:
        """The numbers that can be drawn."""
        last = self.transforms[-1].codomain if self.transforms else self.base_dist.support
        support: Constraint = last
        return support

    def sample(self, sample_shape: Sizes = ()) -> Tensor:
        """Draw without a graph."""
        with no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sizes = ()) -> Tensor:
        """Draw so that gradients flow to the parameters."""
        return self._transformed(self.base_dist.rsample(sample_shape))

    def _transformed(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x

    def _log_prob(self, value: Any) -> Tensor:
        change: Any = 0.0
        for transform in reversed(self.transforms):
            x = transform.inv(value)
            slope = transform.log_abs_det_jacobian(x, value)
            for _ in self.event_shape:
                slope = slope.sum(-1)
            change, value = change - slope, x
        out: Tensor = change + self.base_dist.log_prob(value)
        return out

    def cdf(self, value: Any) -> Tensor:
        """Return the probability of values up to a value."""
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        return self._signed(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Tensor:
        """Return the value up to which the probability is ``value``."""
        return self._transformed(self.base_dist.icdf(self._signed(value)))

    def _signed(self, value: Tensor) -> Tensor:
        """Return the probability that is meant where the functions fall."""
        sign = ComposeTransform(self.transforms).sign
        if isinstance(sign, int) and sign == 1:
            return value
        out: Tensor = sign * (value - 0.5) + 0.5
        return out


class HalfNormal(TransformedDistribution):
    """The size of normal numbers with mean 0 and standard deviation ``scale``."""

    arg_constraints = {"scale": POSITIVE}  # noqa: RUF012
    support = NOT_NEGATIVE

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args)

    @property
    def scale(self) -> Tensor:
        """The standard deviation of the normal numbers."""
        scale: Tensor = self.base_dist.scale
        return scale

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return self.scale * 0

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.scale.pow(2) * (1 - 2 / math.pi)

    def _log_prob(self, value: Any) -> Tensor:
        log_prob = self.base_dist.log_prob(value) + math.log(2)
        return where(value >= 0, log_prob, -math.inf)

    def cdf(self, value: Any) -> Tensor:
        """Return the probability of values up to a value."""
        out: Tensor = 2 * self.base_dist.cdf(value) - 1
        return out

    def icdf(self, value: Any) -> Tensor:
        """Return the value up to which the probability is ``value``."""
        out: Tensor = self.base_dist.icdf((value + 1) / 2)
        return out

    def entropy(self) -> Tensor:
        """Return the entropy, in nats."""
        out: Tensor = self.base_dist.entropy() - math.log(2)
        return out


class Gumbel(TransformedDistribution):
    """The Gumbel distribution: of the largest of many numbers."""

    arg_constraints = {"loc": REAL, "scale": POSITIVE}  # noqa: RUF012
    support = REAL

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast(loc, scale)
        limits = find("finfo")(self.loc.dtype)
        shape = self.loc.shape
        low = find("full_like")(self.loc.detach(), limits.tiny).expand(shape)
        high = find("full_like")(self.loc.detach(), 1 - limits.eps).expand(shape)
        ones = find("full_like")(self.loc.detach(), -1.0)
        transforms = [
            ExpTransform().inv,
            AffineTransform(0, ones),
            ExpTransform().inv,
            AffineTransform(self.loc, -self.scale),
        ]
        super().__init__(Uniform(low, high, validate_args=False), transforms, validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean: ``loc``, and Euler's constant times ``scale``."""
        return self.loc + self.scale * 0.57721566490153286060

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return self.loc

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.stddev.pow(2)

    def _log_prob(self, value: Any) -> Tensor:
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    def entropy(self) -> Tensor:
        """Return the entropy, in nats."""
        return self.scale.log() + (1 + 0.57721566490153286060)
