"""``torch.distributions``: what can be drawn, how likely it was, and how far two of them differ.

After reading this file you know what a policy gradient needs: ``sample`` leaves the graph,
``log_prob`` is differentiable by the parameters; and what a variational autoencoder needs:
``rsample`` draws noise first and then shifts and scales it, so that gradients flow through the
sample. For one seed the numbers are PyTorch's. Read next: ``functions/draws.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from autodiff_kit import ops
from autodiff_kit.autograd.grad_mode import enable_grad, no_grad
from autodiff_kit.creation import arange, empty, full, ones, rand, tensor, zeros_like
from autodiff_kit.dtypes import Size, get_default_dtype
from autodiff_kit.errors import error
from autodiff_kit.functions import find
from autodiff_kit.functions.basic import softmax, where
from autodiff_kit.outside import absent
from autodiff_kit.tensor import Tensor

__all__ = ["Bernoulli", "Categorical", "Cauchy", "Distribution", "Exponential", "Geometric"]
__all__ += ["Independent", "Laplace", "LogNormal", "Normal", "OneHotCategorical", "Uniform"]
__all__ += ["kl_divergence"]

Sizes = Any  # a Size, tuple or list of ints


class _Constraint:
    """What values of a parameter or of a sample must satisfy."""

    def __init__(self, text: str, check: Callable[[Tensor], Tensor]) -> None:
        self._text, self.check = text, check

    def __repr__(self) -> str:
        return self._text


def _of_simplex(value: Tensor) -> Tensor:
    return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


_REAL = _Constraint("Real()", lambda value: value == value)
_VECTOR = _Constraint("IndependentConstraint(Real(), 1)", lambda value: (value == value).all(-1))
_POSITIVE = _Constraint("GreaterThan(lower_bound=0.0)", lambda value: value > 0)
_NOT_NEGATIVE = _Constraint("GreaterThanEq(lower_bound=0.0)", lambda value: value >= 0)
_UNIT = _Constraint(
    "Interval(lower_bound=0.0, upper_bound=1.0)", lambda value: (value >= 0) & (value <= 1)
)
_SIMPLEX = _Constraint("Simplex()", _of_simplex)
_BOOLEAN = _Constraint("Boolean()", lambda value: (value == 0) | (value == 1))
_ONE_HOT = _Constraint(
    "OneHot()", lambda value: ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)
)
_COUNT = _Constraint(
    "IntegerGreaterThan(lower_bound=0)", lambda value: (value % 1 == 0) & (value >= 0)
)


def _below(count: int) -> _Constraint:
    def check(value: Tensor) -> Tensor:
        return (value % 1 == 0) & (value >= 0) & (value <= count - 1)

    return _Constraint(f"IntegerInterval(lower_bound=0, upper_bound={count - 1})", check)


class Distribution:
    """The base class.

    Attributes
    ----------
    batch_shape, event_shape : Size
        Of the parameters, and of one draw for each of them.
    mean, variance, stddev, mode : Tensor

    ValueError if a parameter, or a value given to ``log_prob``, is out of range;
    ``validate_args=False`` leaves that out.
    """

    has_rsample = False
    has_enumerate_support = False
    arg_constraints: dict[str, _Constraint] = {}  # noqa: RUF012
    support: Any = _REAL
    _validate_args = True

    def __init__(
        self,
        batch_shape: Sizes = Size(()),  # noqa: B008 - it cannot be changed
        event_shape: Sizes = Size(()),  # noqa: B008
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        for name, constraint in self.arg_constraints.items() if self._validate_args else ():
            value = vars(self).get(name)
            if value is not None and not constraint.check(value).all():
                kind, shape = type(value).__name__, tuple(value.shape)
                raise error(
                    "distributions.parameter", name=name, kind=kind, shape=shape, of=self,
                    constraint=constraint, value=value,
                )  # fmt: skip

    @property
    def batch_shape(self) -> Size:
        """The shape of the parameters: that of one draw of each."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of a single draw: () for numbers."""
        return self._event_shape

    @property
    def mean(self) -> Tensor:
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Sizes = ()) -> Tensor:
        """Draw without a graph: a tensor of ``sample_shape + batch_shape + event_shape``."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sizes = ()) -> Tensor:
        """Draw so that gradients flow to the parameters, where that is possible."""
        raise NotImplementedError

    def log_prob(self, value: Any) -> Tensor:
        """Return the logarithm of the probability, or of its density, at a value."""
        if self._validate_args:
            self._validate_sample(value)
        return self._log_prob(value)

    def _log_prob(self, value: Any) -> Tensor:
        raise NotImplementedError

    def cdf(self, value: Any) -> Tensor:
        """Return the probability of values up to a value."""
        raise NotImplementedError

    def icdf(self, value: Any) -> Tensor:
        """Return the value up to which the probability is ``value``."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """Return the entropy, in nats."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """Return the exponential of the entropy."""
        return self.entropy().exp()

    def expand(self, batch_shape: Sizes) -> Any:
        """Return the same distribution with its parameters expanded to another shape."""
        new = object.__new__(type(self))
        vars(new).update(vars(self))
        inner = Size(self._event_shape)
        for name in self.arg_constraints:
            if name in vars(self):
                value = getattr(self, name)
                own = value.shape[value.ndim - self._extra_dims(name) :]
                setattr(new, name, value.expand((*batch_shape, *own)))
        new._batch_shape, new._event_shape = Size(batch_shape), inner
        return new

    def _extra_dims(self, name: str) -> int:
        """Count the dimensions of a parameter that are no batch."""
        return len(self._event_shape)

    def _shape(self, sample_shape: Sizes) -> Size:
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _validate_sample(self, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise error("distributions.value_type")
        expected = (*self._batch_shape, *self._event_shape)
        pairs = zip(reversed(value.shape), reversed(expected), strict=False)
        if any(1 not in (i, j) and i != j for i, j in pairs):
            raise error("distributions.value_shape", actual=value.shape, expected=Size(expected))
        if not self.support.check(value).all():
            kind, shape = type(value).__name__, tuple(value.shape)
            raise error(
                "distributions.value", kind=kind, shape=shape, support=self.support, of=self,
                value=value,
            )  # fmt: skip

    def __repr__(self) -> str:
        shown = [(n, vars(self)[n]) for n in self.arg_constraints if n in vars(self)]
        parts = [f"{n}: {v if v.numel() == 1 else v.shape}" for n, v in shown]
        return f"{type(self).__name__}({', '.join(parts)})"


def _broadcast(*values: Any) -> tuple[Any, ...]:
    """Return numbers and tensors as tensors of one shape."""
    if not all(isinstance(v, Tensor | int | float) for v in values):
        raise error("distributions.broadcast")
    dtype = next((v.dtype for v in values if isinstance(v, Tensor)), get_default_dtype())
    tensors = [v if isinstance(v, Tensor) else tensor(v, dtype=dtype) for v in values]
    broadcast: tuple[Any, ...] = find("broadcast_tensors")(*tensors)
    return broadcast


# -- of real numbers -------------------------------------------------------------------------------


class _LocScale(Distribution):
    """A distribution with a location and a scale."""

    arg_constraints = {"loc": _REAL, "scale": _POSITIVE}  # noqa: RUF012
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = _broadcast(loc, scale)
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
            drawn: Tensor = find("normal")(self.loc.expand(shape), self.scale.expand(shape))
        return drawn

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

    support = _POSITIVE

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
        self.low, self.high = low, high = _broadcast(low, high)
        below = _Constraint(f"LessThan(upper_bound={high})", lambda value: value < high)
        above = _Constraint(f"GreaterThan(lower_bound={low})", lambda value: value > low)
        self.arg_constraints = {"low": below, "high": above}
        super().__init__(self.low.shape, validate_args=validate_args)

    @property
    def support(self) -> _Constraint:
        """The numbers that can be drawn."""
        low, high = self.low, self.high
        text = f"Interval(lower_bound={low}, upper_bound={high})"
        return _Constraint(text, lambda value: (value >= low) & (value <= high))

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
        drawn = rand(self._shape(sample_shape), dtype=self.low.dtype)
        return self.low + drawn * (self.high - self.low)

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

    arg_constraints = {"rate": _POSITIVE}  # noqa: RUF012
    support = _NOT_NEGATIVE
    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = _broadcast(rate)
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


# -- of classes and counts -------------------------------------------------------------------------


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


class Bernoulli(_WithLogits):
    """1 with the probability ``probs``, else 0."""

    arg_constraints = {"probs": _UNIT, "logits": _REAL}  # noqa: RUF012
    support = _BOOLEAN
    has_enumerate_support = True

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._take(*(None if v is None else _broadcast(v)[0] for v in (probs, logits)))
        super().__init__(self._param.shape, validate_args=validate_args)

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
            drawn: Tensor = find("bernoulli")(self.probs.expand(self._shape(sample_shape)))
        return drawn

    def _log_prob(self, value: Any) -> Tensor:
        logits, value = _broadcast(self.logits, value)
        return -_cross_entropy(logits, value)

    def entropy(self) -> Tensor:
        """Return the entropy, in nats."""
        return _cross_entropy(self.logits, self.probs)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all values, along a new first dimension."""
        return _enumerated(arange(2, dtype=self._param.dtype), self._batch_shape, expand)


class Geometric(_WithLogits):
    """How often an attempt fails before the first success, whose probability is ``probs``."""

    arg_constraints = {"probs": _UNIT, "logits": _REAL}  # noqa: RUF012
    support = _COUNT

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._take(*(None if v is None else _broadcast(v)[0] for v in (probs, logits)))
        super().__init__(self._param.shape, validate_args=validate_args)

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
            drawn: Tensor = (u.log() / (-self.probs).log1p()).floor()
        return drawn

    def _log_prob(self, value: Any) -> Tensor:
        value, probs = _broadcast(value, self.probs)
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

    arg_constraints = {"probs": _SIMPLEX, "logits": _VECTOR}  # noqa: RUF012
    has_enumerate_support = True
    _is_binary = False

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        given = logits if probs is None else probs
        if (probs is None) != (logits is None) and given.ndim < 1:
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
    def support(self) -> _Constraint:
        """The classes."""
        return _below(self._num_events)

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
        drawn: Tensor = find("multinomial")(rows, count, True).t()
        return drawn.reshape(self._shape(sample_shape)[: len(sample_shape) + len(self.batch_shape)])

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

    support = _ONE_HOT

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


class Independent(Distribution):
    """Another distribution, of whose batches the last dimensions count as one draw."""

    def __init__(
        self, base_distribution: Any, reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        count, shape = reinterpreted_batch_ndims, base_distribution.batch_shape
        if count > len(shape):
            raise error("distributions.too_many_dims", count=count, ndim=len(shape))
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, count
        cut = len(shape) - count
        inner = (*shape[cut:], *base_distribution.event_shape)
        super().__init__(shape[:cut], inner, validate_args=False)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether gradients can flow through draws."""
        has: bool = self.base_dist.has_rsample
        return has

    @property
    def mean(self) -> Tensor:
        """The mean."""
        mean: Tensor = self.base_dist.mean
        return mean

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        mode: Tensor = self.base_dist.mode
        return mode

    @property
    def variance(self) -> Tensor:
        """The variance."""
        variance: Tensor = self.base_dist.variance
        return variance

    def sample(self, sample_shape: Sizes = ()) -> Tensor:
        """Draw without a graph."""
        drawn: Tensor = self.base_dist.sample(sample_shape)
        return drawn

    def rsample(self, sample_shape: Sizes = ()) -> Tensor:
        """Draw so that gradients flow to the parameters."""
        drawn: Tensor = self.base_dist.rsample(sample_shape)
        return drawn

    def log_prob(self, value: Any) -> Tensor:
        """Return the logarithm of the probability of a whole draw."""
        return self._summed(self.base_dist.log_prob(value))

    def entropy(self) -> Tensor:
        """Return the entropy of a whole draw, in nats."""
        return self._summed(self.base_dist.entropy())

    def _summed(self, values: Tensor) -> Tensor:
        kept = values.ndim - self.reinterpreted_batch_ndims
        return values.reshape((*values.shape[:kept], -1)).sum(-1) if kept < values.ndim else values

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"


def _cross_entropy(logits: Tensor, probs: Tensor) -> Tensor:
    one = ones((), dtype=logits.dtype)
    loss: Tensor = ops.binary_cross_entropy_with_logits(logits, probs, one, one, reduction="none")
    return loss


def _enumerated(values: Tensor, batch_shape: Size, expand: bool) -> Tensor:
    values = values.view(-1, *(1 for _ in batch_shape))
    return values.expand((-1, *batch_shape)) if expand else values


# -- differences of two ----------------------------------------------------------------------------


def _of_normals(p: Any, q: Any) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    distance = ((p.loc - q.loc) / q.scale).pow(2)
    divergence: Tensor = 0.5 * (ratio + distance - 1 - ratio.log())
    return divergence


def _of_laplaces(p: Any, q: Any) -> Tensor:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    t1, t2 = -ratio.log(), distance / q.scale
    divergence: Tensor = t1 + t2 + ratio * (-distance / p.scale).exp() - 1
    return divergence


def _softplus(x: Tensor) -> Tensor:
    return ops.softplus(x, beta=1.0, threshold=20.0)


def _of_bernoullis(p: Any, q: Any) -> Tensor:
    t1 = p.probs * (_softplus(-q.logits) - _softplus(-p.logits))
    t2 = (1 - p.probs) * (_softplus(q.logits) - _softplus(p.logits))
    divergence: Tensor = t1 + t2
    return divergence


def _of_categoricals(p: Any, q: Any) -> Tensor:
    t = p.probs * (p.logits - q.logits)
    t = where((q.probs == 0).expand_as(t), full((), math.inf, dtype=t.dtype), t)
    t = where((p.probs == 0).expand_as(t), zeros_like(t), t)
    divergence: Tensor = t.sum(-1)
    return divergence


def _of_exponentials(p: Any, q: Any) -> Tensor:
    ratio = q.rate / p.rate
    divergence: Tensor = -ratio.log() + ratio - 1
    return divergence


def _of_uniforms(p: Any, q: Any) -> Tensor:
    divergence = ((q.high - q.low) / (p.high - p.low)).log()
    outside = (q.low > p.low) | (q.high < p.high)
    return where(outside, full((), math.inf, dtype=divergence.dtype), divergence)


def _of_geometrics(p: Any, q: Any) -> Tensor:
    divergence: Tensor = -p.entropy() - (-q.probs).log1p() / p.probs - q.logits
    return divergence


_DIVERGENCES: dict[type[Distribution], Callable[[Any, Any], Tensor]] = {
    Normal: _of_normals,
    LogNormal: _of_normals,
    Laplace: _of_laplaces,
    Bernoulli: _of_bernoullis,
    Categorical: _of_categoricals,
    OneHotCategorical: _of_categoricals,
    Exponential: _of_exponentials,
    Uniform: _of_uniforms,
    Geometric: _of_geometrics,
}


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """Return the Kullback-Leibler divergence of two distributions of one kind, in nats.

    NotImplementedError for other pairs.
    """
    if isinstance(p, Independent) and isinstance(q, Independent):
        if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
            raise NotImplementedError
        return p._summed(kl_divergence(p.base_dist, q.base_dist))
    if type(p) is not type(q) or type(p) not in _DIVERGENCES:
        raise error("distributions.no_divergence", p=type(p).__name__, q=type(q).__name__)
    return _DIVERGENCES[type(p)](p, q)


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
