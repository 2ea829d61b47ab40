"""Mixtures: a class is drawn first, and then a number from the distribution of that class.

After reading this file you know what a mixture density network learns: with probabilities, means
and scales as its outputs, the loss is ``-mixture.log_prob(y)``. Read next: ``kl.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.distributions.discrete import Categorical
from autodiff_kit.distributions.distribution import Distribution, Sizes
from autodiff_kit.distributions.supports import Constraint
from autodiff_kit.errors import error
from autodiff_kit.functions.basic import log_softmax
from autodiff_kit.tensor import Tensor

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """Draws of the distributions in the last batch dimension, one of which a Categorical chooses.

    ValueError if the two do not fit.
    """

    has_rsample = False

    def __init__(
        self,
        mixture_distribution: Any,
        component_distribution: Any,
        validate_args: bool | None = None,
    ) -> None:
        mixture, component = mixture_distribution, component_distribution
        if not isinstance(mixture, Categorical):
            raise error("distributions.mixture_of_others")
        if not isinstance(component, Distribution):
            raise error("distributions.components_of_others")
        outer = component.batch_shape[:-1]
        pairs = zip(reversed(mixture.batch_shape), reversed(outer), strict=False)
        if any(1 not in (i, j) and i != j for i, j in pairs):
            raise error("distributions.mixture_shape", mixture=mixture.batch_shape, own=outer)
        own, count = mixture.logits.shape[-1], component.batch_shape[-1]
        if own != count:
            raise error("distributions.mixture_count", mixture=own, own=count)
        self._mixture_distribution, self._component_distribution = mixture, component
        super().__init__(outer, component.event_shape, validate_args=validate_args)

    @property
    def mixture_distribution(self) -> Any:
        """The distribution of the classes."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The distributions of the classes' numbers."""
        return self._component_distribution

    @property
    def support(self) -> Constraint:
        """The numbers that can be drawn."""
        support: Constraint = self._component_distribution.support
        return support

    def _padded(self, x: Tensor) -> Tensor:
        """Return values with a dimension for the classes."""
        return x.unsqueeze(-1 - len(self.event_shape))

    def _averaged(self, x: Tensor) -> Tensor:
        """Return the mean over the classes, by their probabilities."""
        probs = self._mixture_distribution.probs
        weights = probs.reshape((*probs.shape, *(1 for _ in self.event_shape)))
        return (weights * x).sum(-1 - len(self.event_shape))

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self._averaged(self._component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        """The variance: the mean of the variances, and the variance of the means."""
        within = self._averaged(self._component_distribution.variance)
        away = self._component_distribution.mean - self._padded(self.mean)
        return within + self._averaged(away.pow(2.0))

    def cdf(self, value: Any) -> Tensor:
        """Return the probability of values up to a value."""
        shares: Tensor = self._component_distribution.cdf(self._padded(value))
        return (shares * self._mixture_distribution.probs).sum(-1)

    def _log_prob(self, value: Any) -> Tensor:
        of_each = self._component_distribution.log_prob(self._padded(value))
        of_classes = log_softmax(self._mixture_distribution.logits, -1)
        out: Tensor = (of_each + of_classes).logsumexp(-1)
        return out

    def sample(self, sample_shape: Sizes = ()) -> Tensor:
        """Draw without a graph."""
        with no_grad():
            classes = self._mixture_distribution.sample(sample_shape)
            of_each = self._component_distribution.sample(sample_shape)
            shape = (*classes.shape, 1, *(1 for _ in self.event_shape))
            times = (*(1 for _ in classes.shape), 1, *self.event_shape)
            dim = len(sample_shape) + len(self.batch_shape)
            chosen: Tensor = of_each.gather(dim, classes.reshape(shape).repeat(times))
            return chosen.squeeze(dim)

    def expand(self, batch_shape: Sizes) -> Any:
        """Return the same distribution with its parameters expanded to another shape."""
        inner = (*batch_shape, self._component_distribution.batch_shape[-1])
        component = self._component_distribution.expand(inner)
        return type(self)(self._mixture_distribution.expand(batch_shape), component, False)

    def __repr__(self) -> str:
        parts = f"\n  {self._mixture_distribution},\n  {self._component_distribution}"
        return f"MixtureSameFamily({parts})"
