"""What all distributions share, and ``Independent``, which makes one event of many.

After reading this file you know what ``sample``, ``rsample`` and ``log_prob`` have to do with the
graph, and what shapes a distribution has. Read next: ``continuous.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.creation import tensor
from autodiff_kit.distributions.supports import (
    REAL,
    Constraint,
)
from autodiff_kit.dtypes import Size, get_default_dtype
from autodiff_kit.errors import error
from autodiff_kit.functions import find
from autodiff_kit.outside import absent_in
from autodiff_kit.tensor import Tensor

__all__ = ["Distribution", "Independent", "Sizes", "broadcast"]


Sizes = Any  # a Size, tuple or list of ints


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
    arg_constraints: dict[str, Constraint] = {}  # noqa: RUF012
    support: Any = REAL
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
        parameters = [(n, vars(self)[n]) for n in self.arg_constraints if n in vars(self)]
        parts = [f"{n}: {v if v.numel() == 1 else v.shape}" for n, v in parameters]
        return f"{type(self).__name__}({', '.join(parts)})"


def broadcast(*values: Any) -> tuple[Any, ...]:
    """Return numbers and tensors as tensors of one shape."""
    if not all(isinstance(v, Tensor | int | float) for v in values):
        raise error("distributions.broadcast")
    dtype = next((v.dtype for v in values if isinstance(v, Tensor)), get_default_dtype())
    tensors = [v if isinstance(v, Tensor) else tensor(v, dtype=dtype) for v in values]
    broadcast: tuple[Any, ...] = find("broadcast_tensors")(*tensors)
    return broadcast


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
        batch_ndim = len(shape) - count
        inner = (*shape[batch_ndim:], *base_distribution.event_shape)
        super().__init__(shape[:batch_ndim], inner, validate_args=False)

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
        sample: Tensor = self.base_dist.sample(sample_shape)
        return sample

    def rsample(self, sample_shape: Sizes = ()) -> Tensor:
        """Draw so that gradients flow to the parameters."""
        sample: Tensor = self.base_dist.rsample(sample_shape)
        return sample

    def log_prob(self, value: Any) -> Tensor:
        """Return the logarithm of the probability of a whole draw."""
        return self._summed(self.base_dist.log_prob(value))

    def entropy(self) -> Tensor:
        """Return the entropy of a whole draw, in nats."""
        return self._summed(self.base_dist.entropy())

    def _summed(self, values: Tensor) -> Tensor:
        ndim = values.ndim - self.reinterpreted_batch_ndims
        return values.reshape((*values.shape[:ndim], -1)).sum(-1) if ndim < values.ndim else values

    def expand(self, batch_shape: Sizes) -> Any:
        """Return the same distribution with its parameters expanded to another shape."""
        count = self.reinterpreted_batch_ndims
        base = self.base_dist.expand((*batch_shape, *self.event_shape[:count]))
        return type(self)(base, count)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"


__getattr__ = absent_in(__name__)
