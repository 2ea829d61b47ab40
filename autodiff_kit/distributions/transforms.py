"""Functions with an inverse, of which the change of a density is known: ``transforms``.

After reading this file you know why a density is divided by the slope of such a function: what a
slope of 2 spreads out is half as dense. All functions here change each element by itself. Read
next: ``transformed_distribution.py``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autodiff_kit import ops
from autodiff_kit.distributions.supports import POSITIVE, REAL, UNIT, Constraint
from autodiff_kit.dtypes import Size
from autodiff_kit.functions import find
from autodiff_kit.outside import absent
from autodiff_kit.tensor import Tensor

__all__ = ["AbsTransform", "AffineTransform", "ComposeTransform", "ExpTransform"]
__all__ += ["SigmoidTransform", "TanhTransform", "Transform", "identity_transform"]


def _softplus(x: Tensor) -> Tensor:
    out: Tensor = ops.softplus(x, beta=1, threshold=20)
    return out


_AROUND_ZERO = Constraint(
    "Interval(lower_bound=-1.0, upper_bound=1.0)", lambda value: value.abs() <= 1
)


class Transform:
    """A function with an inverse, ``.inv``; subclasses define both, and the change of densities.

    With ``cache_size`` 1, the inverse of the last result is its very argument.
    """

    bijective = True
    domain = codomain = REAL
    sign: Any = 1  # of the slope

    def __init__(self, cache_size: int = 0) -> None:
        self._cache_size = cache_size
        self._last: tuple[Any, Any] = (None, None)

    def __call__(self, x: Tensor) -> Tensor:
        """Return the value of the function."""
        if self._cache_size and x is self._last[0]:
            return self._last[1]
        y = self._call(x)
        self._last = (x, y) if self._cache_size else (None, None)
        return y

    def _inv_call(self, y: Tensor) -> Tensor:
        if self._cache_size and y is self._last[1]:
            return self._last[0]
        x = self._inverse(y)
        self._last = (x, y) if self._cache_size else (None, None)
        return x

    @property
    def inv(self) -> Transform:
        """The inverse function."""
        return _Inverse(self)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the logarithm of the size of the slope, where the function maps x to y."""
        raise NotImplementedError

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape of the result for an argument of a shape."""
        return Size(shape)

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _Inverse(Transform):
    """The inverse of another function."""

    def __init__(self, of: Transform) -> None:
        super().__init__()
        self._of = of
        self.domain, self.codomain = of.codomain, of.domain
        self.sign = of.sign

    @property
    def inv(self) -> Transform:
        return self._of

    def __call__(self, x: Tensor) -> Tensor:
        return self._of._inv_call(x)

    def _inv_call(self, y: Tensor) -> Tensor:
        return self._of(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._of.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._of.forward_shape(shape)

    def __repr__(self) -> str:
        return f"_InverseTransform({self._of!r})"


class ComposeTransform(Transform):
    """One function after the other."""

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [*parts]
        if self.parts:
            self.domain, self.codomain = self.parts[0].domain, self.parts[-1].codomain

    @property
    def sign(self) -> Any:
        """The sign of the slope."""
        sign: Any = 1
        for part in self.parts:
            sign = sign * part.sign
        return sign

    def _call(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y: Tensor) -> Tensor:
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the sum of those of the parts."""
        if not self.parts:
            return find("zeros_like")(x)
        total: Any = 0
        for part in self.parts:
            value = part(x) if part is not self.parts[-1] else y
            total = total + part.log_abs_det_jacobian(x, value)
            x = value
        return total

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape of the result for an argument of a shape."""
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def __repr__(self) -> str:
        parts = ",\n    ".join(map(repr, self.parts))
        return f"ComposeTransform(\n    {parts}\n)"


identity_transform = ComposeTransform([])


class ExpTransform(Transform):
    """``exp``."""

    codomain = POSITIVE

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return ``x``."""
        return x


class SigmoidTransform(Transform):
    """``sigmoid``, with results between 0 and 1, neither of which is reached."""

    codomain = UNIT

    def _call(self, x: Tensor) -> Tensor:
        return _within(x.sigmoid())

    def _inverse(self, y: Tensor) -> Tensor:
        y = _within(y)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return ``-softplus(-x) - softplus(x)``."""
        return -_softplus(-x) - _softplus(x)


def _within(y: Tensor) -> Tensor:
    limits = find("finfo")(y.dtype)
    return y.clamp(min=limits.tiny, max=1.0 - limits.eps)


class TanhTransform(Transform):
    """``tanh``, as it keeps the actions of an agent within bounds."""

    codomain = _AROUND_ZERO

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return ``log(1 - tanh(x)^2)``, written so that it does not overflow."""
        return 2.0 * (math.log(2.0) - x - _softplus(-2.0 * x))


class AbsTransform(Transform):
    """``abs``, which has no inverse: of y, it is y."""

    bijective, codomain = False, POSITIVE

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class AffineTransform(Transform):
    """``loc + scale * x``."""

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def sign(self) -> Any:
        """The sign of the slope."""
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Tensor) -> Tensor:
        y: Tensor = self.loc + self.scale * x
        return y

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return ``log(abs(scale))``."""
        if isinstance(self.scale, Tensor):
            out: Tensor = self.scale.abs().log()
        else:
            out = find("full_like")(x, math.log(abs(self.scale)))
        if self._event_dim:
            shape = out.shape[: out.ndim - self._event_dim]
            return out.reshape((*shape, -1)).sum(-1).expand(x.shape[: x.ndim - self._event_dim])
        return out.expand(x.shape)

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape that broadcasting gives."""
        own = (v.shape for v in (self.loc, self.scale) if isinstance(v, Tensor))
        return find("broadcast_shapes")(shape, *own)


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
