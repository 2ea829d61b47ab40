"""Distributions of positive numbers and of shares: ``Gamma``, ``Beta`` and ``Dirichlet``.

After reading this file you know that shares with a Dirichlet distribution are numbers with gamma
distributions, divided by their sum. Read next: ``../ops/gamma.py``, which differentiates draws.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit.creation import arange
from autodiff_kit.distributions.distribution import Distribution, Sizes, broadcast
from autodiff_kit.distributions.supports import (
    NOT_NEGATIVE,
    POSITIVE,
    POSITIVE_VECTOR,
    SIMPLEX,
    UNIT,
)
from autodiff_kit.dtypes import Size
from autodiff_kit.errors import error
from autodiff_kit.functions import find, stack
from autodiff_kit.functions.basic import where
from autodiff_kit.random import default_generator
from autodiff_kit.tensor import Tensor

__all__ = ["Beta", "Chi2", "Dirichlet", "Gamma"]


class Gamma(Distribution):
    """How long one waits for ``concentration`` events that come ``rate`` times per unit of time."""

    arg_constraints = {"concentration": POSITIVE, "rate": POSITIVE}  # noqa: RUF012
    support = NOT_NEGATIVE
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Sizes = ()) -> Tensor:
        """Draw so that gradients flow to the parameters."""
        shape = self._shape(sample_shape)
        concentration = self.concentration.expand(shape)
        numbers = default_generator.gamma(np.asarray(concentration._array))
        value = ops.standard_gamma(concentration, numbers=numbers) / self.rate.expand(shape)
        value.detach().clamp_(min=find("finfo")(value.dtype).tiny)
        return value

    def log_prob(self, value: Any) -> Tensor:
        """Return the logarithm of the density at a value."""
        return super().log_prob(find("as_tensor")(value, dtype=self.rate.dtype))

    def _log_prob(self, value: Any) -> Tensor:
        logarithms = ops.xlogy(self.concentration, self.rate)
        logarithms = logarithms + ops.xlogy(self.concentration - 1, value)
        return logarithms - self.rate * value - ops.lgamma(self.concentration)

    def entropy(self) -> Tensor:
        """Return the entropy, in nats."""
        count = self.concentration
        entropy: Tensor = count - self.rate.log() + ops.lgamma(count)
        return entropy + (1.0 - count) * ops.digamma(count)


class Chi2(Gamma):
    """The distribution of the sum of ``df`` squares of standard normal numbers."""

    arg_constraints = {"df": POSITIVE}  # noqa: RUF012

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        (df,) = broadcast(df)
        super().__init__(0.5 * df, 0.5, validate_args)

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self.concentration * 2

    def expand(self, batch_shape: Sizes) -> Any:
        """Return the same distribution with its parameter expanded to another shape."""
        return Chi2(self.df.expand(Size(batch_shape)), self._validate_args)


class Dirichlet(Distribution):
    """The distribution of shares that add up to 1, in proportion to ``concentration``: (*, n).

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> Dirichlet(torch.tensor([1.0, 3.0])).mean
    tensor([0.2500, 0.7500])
    """

    arg_constraints = {"concentration": POSITIVE_VECTOR}  # noqa: RUF012
    support = SIMPLEX
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.ndim < 1:
            raise error("distributions.probs_rank", name="concentration")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        """The most likely value; where all concentrations are small, the largest of them is all."""
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        corner = arange(mode.shape[-1]) == mode.argmax(-1, keepdim=True)
        is_small = (self.concentration < 1).all(-1, keepdim=True)
        return where(is_small, corner.to(mode.dtype), mode)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        whole = self.concentration.sum(-1, True)
        share = self.concentration * (whole - self.concentration)
        variance: Tensor = share / (whole.pow(2) * (whole + 1))
        return variance

    def rsample(self, sample_shape: Sizes = ()) -> Tensor:
        """Draw so that gradients flow to the parameters."""
        concentration = self.concentration.expand(self._shape(sample_shape))
        kind = concentration._array.dtype
        numbers = default_generator.gamma(np.asarray(concentration._array, "float64"))
        shares = (numbers / numbers.sum(-1, keepdims=True)).astype(kind)
        shares = np.clip(shares, np.finfo(kind).tiny, 1 - np.finfo(kind).epsneg)
        sample: Tensor = ops.dirichlet(concentration, numbers=shares)
        return sample

    def _log_prob(self, value: Any) -> Tensor:
        logarithms = ops.xlogy(self.concentration - 1.0, value).sum(-1)
        whole = ops.lgamma(self.concentration.sum(-1))
        log_prob: Tensor = logarithms + whole - ops.lgamma(self.concentration).sum(-1)
        return log_prob

    def entropy(self) -> Tensor:
        """Return the entropy, in nats."""
        count, each = self._event_shape[0], self.concentration
        whole = each.sum(-1)
        entropy = ops.lgamma(each).sum(-1) - ops.lgamma(whole)
        entropy = entropy - (count - whole) * ops.digamma(whole)
        difference: Tensor = entropy - ((each - 1.0) * ops.digamma(each)).sum(-1)
        return difference


class Beta(Distribution):
    """The distribution of a share, in the proportion ``concentration1`` to ``concentration0``."""

    arg_constraints = {"concentration1": POSITIVE, "concentration0": POSITIVE}  # noqa: RUF012
    support = UNIT
    has_rsample = True

    def __init__(
        self, concentration1: Any, concentration0: Any, validate_args: bool | None = None
    ) -> None:
        both = broadcast(concentration1, concentration0)
        self._dirichlet = Dirichlet(stack(both, -1), validate_args)
        super().__init__(both[0].shape, validate_args=validate_args)

    @property
    def concentration1(self) -> Tensor:
        """The weight of what is drawn."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Tensor:
        """The weight of the rest."""
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Tensor:
        """The variance."""
        whole = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (whole.pow(2) * (whole + 1))

    def expand(self, batch_shape: Sizes) -> Any:
        """Return the same distribution with its parameters expanded to another shape."""
        new = super().expand(batch_shape)
        new._dirichlet = self._dirichlet.expand(batch_shape)
        return new

    def rsample(self, sample_shape: Sizes = ()) -> Tensor:
        """Draw so that gradients flow to the parameters."""
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def _log_prob(self, value: Any) -> Tensor:
        return self._dirichlet.log_prob(stack([value, 1.0 - value], -1))

    def entropy(self) -> Tensor:
        """Return the entropy, in nats."""
        return self._dirichlet.entropy()
