"""Distributions of classes and counts.

After reading this file you know what a policy draws from: probabilities, or logits. Read next:
``kl.py``.
"""

from __future__ import annotations

import math
from typing import Any

from autodiff_kit import ops
from autodiff_kit.autograd.grad_mode import enable_grad, no_grad
from autodiff_kit.creation import arange, empty, full, ones, zeros_like
from autodiff_kit.distributions.distribution import Distribution, Sizes, broadcast
from autodiff_kit.distributions.supports import (
    BOOLEAN,
    COUNT,
    ONE_HOT,
    REAL,
    SIMPLEX,
    UNIT,
    VECTOR,
    Constraint,
    below,
)
from autodiff_kit.dtypes import Size
from autodiff_kit.errors import error
from autodiff_kit.functions import find
from autodiff_kit.functions.basic import softmax, where
from autodiff_kit.tensor import Tensor

__all__ = ["Bernoulli", "Categorical", "Geometric"]


class _WithLogits(Distribution):
    """A distribution that is given by ``probs`` or by ``logits``; the other is computed."""

    _is_binary = True

    def _take(self, probs: Any, logits: Any) -> None:
        if (probs is None) == (logits is None):
            raise error("distributions.probs_or_logits")
        self._name = "logits" if probs is None else "probs"
        setattr(self, self._name, logits if probs is None else probs)

    def __getattr__(self, name: str) -> Any:
        if name not in ("probs", "logits") or name == vars(self).get("_name", name):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        with enable_grad():
            value = self._logits() if name == "logits" else self._probs()
        vars(self)[name] = value
        return value

    def _logits(self) -> Tensor:
        eps = find("finfo")(self.probs.dtype).eps
        clamped = self.probs.clamp(min=eps, max=1 - eps)
        return clamped.log() - (-clamped).log1p() if self._is_binary else clamped.log()

    def _probs(self) -> Tensor:
        return self.logits.sigmoid() if self._is_binary else softmax(self.logits, -1)

    @property
    def _param(self) -> Tensor:
        value: Tensor = vars(self)[self._name]
        return value


class _OfAttempts(_WithLogits):
    """A distribution of attempts that succeed with the probability ``probs``."""

    arg_constraints = {"probs": UNIT, "logits": REAL}  # noqa: RUF012

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._take(*(None if v is None else broadcast(v)[0] for v in (probs, logits)))
        super().__init__(self._param.shape, validate_args=validate_args)


class Bernoulli(_OfAttempts):
    """1 with the probability ``probs``, else 0."""

    support = BOOLEAN
    has_enumerate_support = True

    @property
    def param_shape(self) -> Size:
        """The shape of what was given."""
        return Size(self._param.shape)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        mean: Tensor = self.probs
        return mean

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        mode = (self.probs >= 0.5).to(self.probs)
        mode[self.probs == 0.5] = math.nan
        return mode

    @property
    def variance(self) -> Tensor:
        """The variance."""
        variance: Tensor = self.probs * (1 - self.probs)
        return variance

    def sample(self, sample_shape: Sizes = ()) -> Tensor:
        """Draw without a graph."""
        with no_grad():
            sample: Tensor = find("bernoulli")(self.probs.expand(self._shape(sample_shape)))
        return sample

    def _log_prob(self, value: Any) -> Tensor:
        logits, value = broadcast(self.logits, value)
        return -_cross_entropy(logits, value)

    def entropy(self) -> Tensor:
        """Return the entropy, in nats."""
        return _cross_entropy(self.logits, self.probs)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all values, along a new first dimension."""
        return _enumerated(arange(2, dtype=self._param.dtype), self._batch_shape, expand)


class Geometric(_OfAttempts):
    """How often an attempt fails before the first success, whose probability is ``probs``."""

    support = COUNT

    @property
    def mean(self) -> Tensor:
        """The mean."""
        mean: Tensor = 1.0 / self.probs - 1.0
        return mean

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        variance: Tensor = (1.0 / self.probs - 1.0) / self.probs
        return variance

    def sample(self, sample_shape: Sizes = ()) -> Tensor:
        """Draw without a graph."""
        shape, least = self._shape(sample_shape), find("finfo")(self.probs.dtype).tiny
        with no_grad():
            u = empty(shape, dtype=self.probs.dtype).uniform_(least, 1)
            sample: Tensor = (u.log() / (-self.probs).log1p()).floor()
        return sample

    def _log_prob(self, value: Any) -> Tensor:
        value, probs = broadcast(value, self.probs)
        probs = where((probs == 1) & (value == 0), zeros_like(probs), probs)
        logarithm: Tensor = value * (-probs).log1p() + self.probs.log()
        return logarithm

    def entropy(self) -> Tensor:
        """Return the entropy, in nats."""
        return _cross_entropy(self.logits, self.probs) / self.probs


class Categorical(_WithLogits):
    """A class from 0 on, each as likely as ``probs`` says along the last dimension.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> Categorical(torch.tensor([1.0, 3.0])).log_prob(torch.tensor(1)).exp()
    tensor(0.7500)
    """

    arg_constraints = {"probs": SIMPLEX, "logits": VECTOR}  # noqa: RUF012
    has_enumerate_support = True
    _is_binary = False

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        parameter = logits if probs is None else probs
        if (probs is None) != (logits is None) and parameter.ndim < 1:
            raise error("distributions.probs_rank", name="logits" if probs is None else "probs")
        if probs is not None and logits is None:
            probs = probs / probs.sum(-1, keepdim=True)
        elif logits is not None and probs is None:
            logits = logits - logits.logsumexp(-1, keepdim=True)
        self._take(probs, logits)
        self._num_events = self._param.shape[-1]
        super().__init__(self._param.shape[:-1], validate_args=validate_args)

    def _extra_dims(self, name: str) -> int:
        return 1

    @property
    def param_shape(self) -> Size:
        """The shape of what was given."""
        return Size(self._param.shape)

    @property
    def support(self) -> Constraint:
        """The classes."""
        return below(self._num_events)

    @property
    def mean(self) -> Tensor:
        """Not a number: classes have none."""
        return full(self._batch_shape, math.nan, dtype=self.probs.dtype)

    variance = mean

    @property
    def mode(self) -> Tensor:
        """The most likely class."""
        mode: Tensor = self.probs.argmax(-1)
        return mode

    def sample(self, sample_shape: Sizes = ()) -> Tensor:
        """Draw without a graph."""
        rows, count = self.probs.reshape(-1, self._num_events), math.prod(sample_shape)
        sample: Tensor = find("multinomial")(rows, count, True).t()
        return sample.reshape(
            self._shape(sample_shape)[: len(sample_shape) + len(self.batch_shape)]
        )

    def _log_prob(self, value: Any) -> Tensor:
        value, logits = find("broadcast_tensors")(value.long().unsqueeze(-1), self.logits)
        logarithm: Tensor = logits.gather(-1, value[..., :1]).squeeze(-1)
        return logarithm

    def entropy(self) -> Tensor:
        """Return the entropy, in nats."""
        least = find("finfo")(self.logits.dtype).min
        entropy: Tensor = -(self.logits.clamp(min=least) * self.probs).sum(-1)
        return entropy

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all classes, along a new first dimension."""
        return _enumerated(arange(self._num_events), self._batch_shape, expand)


class OneHotCategorical(Categorical):
    """A class as ``Categorical`` has, drawn as zeros with a 1 in its place."""

    support = ONE_HOT

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(probs, logits, validate_args)
        self._event_shape = Size((self._num_events,))

    @property
    def mean(self) -> Tensor:
        """The mean."""
        mean: Tensor = self.probs
        return mean

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return self._one_hot(self.probs.argmax(-1))

    @property
    def variance(self) -> Tensor:
        """The variance."""
        variance: Tensor = self.probs * (1 - self.probs)
        return variance

    def _one_hot(self, classes: Tensor) -> Tensor:
        return (classes.unsqueeze(-1) == arange(self._num_events)).to(self.probs)

    def sample(self, sample_shape: Sizes = ()) -> Tensor:
        """Draw without a graph."""
        return self._one_hot(super().sample(sample_shape))

    def _log_prob(self, value: Any) -> Tensor:
        return super()._log_prob(value.max(-1)[1])

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all values, along a new first dimension."""
        return self._one_hot(super().enumerate_support(expand))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def _cross_entropy(logits: Tensor, probs: Tensor) -> Tensor:
    one = ones((), dtype=logits.dtype)
    loss: Tensor = ops.binary_cross_entropy_with_logits(logits, probs, one, one, reduction="none")
    return loss


def _enumerated(values: Tensor, batch_shape: Size, expand: bool) -> Tensor:
    values = values.view(-1, *(1 for _ in batch_shape))
    return values.expand((-1, *batch_shape)) if expand else values
