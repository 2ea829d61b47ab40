"""Distributions of real numbers.

After reading this file you know how a sample shifts and scales noise, so that gradients flow
through it. Read next: ``discrete.py``.
"""

from __future__ import annotations

import math
from typing import Any

from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.creation import empty, full, rand, zeros_like
from autodiff_kit.distributions.distribution import Distribution, Sizes, broadcast
from autodiff_kit.distributions.supports import (
    NOT_NEGATIVE,
    POSITIVE,
    REAL,
    Constraint,
)
from autodiff_kit.functions import find
from autodiff_kit.tensor import Tensor

__all__ = ["Cauchy", "Exponential"]


class _LocScale(Distribution):
    """A distribution with a location and a scale."""

    arg_constraints = {"loc": REAL, "scale": POSITIVE}  # noqa: RUF012
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return self.loc


class Normal(_LocScale):
    """The normal distribution with mean ``loc`` and standard deviation ``scale``.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> Normal(torch.tensor([0.0, 1.0]), 1.0).log_prob(torch.tensor(0.0))
    tensor([-0.9189, -1.4189])
    """

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.scale

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.stddev.pow(2)

    def sample(self, sample_shape: Sizes = ()) -> Tensor:
        """Draw without a graph."""
        shape = self._shape(sample_shape)
        with no_grad():
            sample: Tensor = find("normal")(self.loc.expand(shape), self.scale.expand(shape))
        return sample

    def rsample(self, sample_shape: Sizes = ()) -> Tensor:
        """Draw so that gradients flow to the parameters."""
        noise = empty(self._shape(sample_shape), dtype=self.loc.dtype).normal_()
        return self.loc + noise * self.scale

    def _log_prob(self, value: Any) -> Tensor:
        distance = -((value - self.loc) ** 2) / (2 * self.scale**2)
        return distance - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Any) -> Tensor:
        """Return the probability of values up to a value."""
        return 0.5 * (1 + ((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)).erf())

    def icdf(self, value: Any) -> Tensor:
        """Return the value up to which the probability is ``value``."""
        return self.loc + self.scale * (2 * value - 1).erfinv() * math.sqrt(2)

    def entropy(self) -> Tensor:
        """Return the entropy, in nats."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()


class LogNormal(Normal):
    """The distribution of numbers whose logarithm is normal, with mean ``loc``."""

    support = POSITIVE

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Tensor:
        """The variance."""
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Sizes = ()) -> Tensor:
        """Draw without a graph."""
        return super().sample(sample_shape).exp()

    def rsample(self, sample_shape: Sizes = ()) -> Tensor:
        """Draw so that gradients flow to the parameters."""
        return super().rsample(sample_shape).exp()

    def _log_prob(self, value: Any) -> Tensor:
        logarithm = value.log()
        return super()._log_prob(logarithm) - logarithm

    def cdf(self, value: Any) -> Tensor:
        """Return the probability of values up to a value."""
        return super().cdf(value.log())

    def icdf(self, value: Any) -> Tensor:
        """Return the value up to which the probability is ``value``."""
        return super().icdf(value).exp()

    def entropy(self) -> Tensor:
        """Return the entropy, in nats."""
        return super().entropy() + self.loc

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Laplace(_LocScale):
    """The Laplace distribution: exponential on both sides of ``loc``."""

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return 2**0.5 * self.scale

    def rsample(self, sample_shape: Sizes = ()) -> Tensor:
        """Draw so that gradients flow to the parameters."""
        least = find("finfo")(self.loc.dtype).eps - 1
        u = empty(self._shape(sample_shape), dtype=self.loc.dtype).uniform_(least, 1)
        return self.loc - self.scale * u.sign() * (-u.abs()).log1p()

    def _log_prob(self, value: Any) -> Tensor:
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Any) -> Tensor:
        """Return the probability of values up to a value."""
        away = value - self.loc
        return 0.5 - 0.5 * away.sign() * (-away.abs() / self.scale).expm1()

    def icdf(self, value: Any) -> Tensor:
        """Return the value up to which the probability is ``value``."""
        term = value - 0.5
        return self.loc - self.scale * term.sign() * (-2 * term.abs()).log1p()

    def entropy(self) -> Tensor:
        """Return the entropy, in nats."""
        return 1 + (2 * self.scale).log()


class Cauchy(_LocScale):
    """The Cauchy distribution, which has neither mean nor variance."""

    @property
    def mean(self) -> Tensor:
        """Not a number: there is none."""
        return full(self._shape(()), math.nan, dtype=self.loc.dtype)

    @property
    def variance(self) -> Tensor:
        """Infinite."""
        return full(self._shape(()), math.inf, dtype=self.loc.dtype)

    def rsample(self, sample_shape: Sizes = ()) -> Tensor:
        """Draw so that gradients flow to the parameters."""
        noise = empty(self._shape(sample_shape), dtype=self.loc.dtype).cauchy_()
        return self.loc + noise * self.scale

    def _log_prob(self, value: Any) -> Tensor:
        relative = (value - self.loc) / self.scale
        return -math.log(math.pi) - self.scale.log() - (relative**2).log1p()

    def cdf(self, value: Any) -> Tensor:
        """Return the probability of values up to a value."""
        return ((value - self.loc) / self.scale).atan() / math.pi + 0.5

    def icdf(self, value: Any) -> Tensor:
        """Return the value up to which the probability is ``value``."""
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Tensor:
        """Return the entropy, in nats."""
        return math.log(4 * math.pi) + self.scale.log()


class Uniform(Distribution):
    """Numbers from ``low`` to ``high``, all equally likely."""

    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = low, high = broadcast(low, high)
        below = Constraint(f"LessThan(upper_bound={high})", lambda value: value < high)
        above = Constraint(f"GreaterThan(lower_bound={low})", lambda value: value > low)
        self.arg_constraints = {"low": below, "high": above}
        super().__init__(self.low.shape, validate_args=validate_args)

    @property
    def support(self) -> Constraint:
        """The numbers that can be drawn."""
        low, high = self.low, self.high
        text = f"Interval(lower_bound={low}, upper_bound={high})"
        return Constraint(text, lambda value: (value >= low) & (value <= high))

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        """Not a number: none is more likely than others."""
        return math.nan * self.high

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Sizes = ()) -> Tensor:
        """Draw so that gradients flow to the parameters."""
        sample = rand(self._shape(sample_shape), dtype=self.low.dtype)
        return self.low + sample * (self.high - self.low)

    def _log_prob(self, value: Any) -> Tensor:
        inside = (self.low <= value).type_as(self.low) * (self.high > value).type_as(self.low)
        return inside.log() - (self.high - self.low).log()

    def cdf(self, value: Any) -> Tensor:
        """Return the probability of values up to a value."""
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Any) -> Tensor:
        """Return the value up to which the probability is ``value``."""
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        """Return the entropy, in nats."""
        return (self.high - self.low).log()


class Exponential(Distribution):
    """How long one waits for an event that comes ``rate`` times per unit of time."""

    arg_constraints = {"rate": POSITIVE}  # noqa: RUF012
    support = NOT_NEGATIVE
    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.rate.reciprocal()

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return zeros_like(self.rate)

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Sizes = ()) -> Tensor:
        """Draw so that gradients flow to the parameters."""
        shape = self._shape(sample_shape)
        return empty(shape, dtype=self.rate.dtype).exponential_() / self.rate

    def _log_prob(self, value: Any) -> Tensor:
        return self.rate.log() - self.rate * value

    def cdf(self, value: Any) -> Tensor:
        """Return the probability of values up to a value."""
        return 1 - (-self.rate * value).exp()

    def icdf(self, value: Any) -> Tensor:
        """Return the value up to which the probability is ``value``."""
        return -(-value).log1p() / self.rate

    def entropy(self) -> Tensor:
        """Return the entropy, in nats."""
        return 1.0 - self.rate.log()
