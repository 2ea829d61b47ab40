"""How far two distributions differ: ``kl_divergence``.

After reading this file you know for which pairs of distributions there is a formula. Read next:
``functions/draws.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit.creation import full, zeros_like
from autodiff_kit.distributions.continuous import (
    Cauchy,
    Exponential,
    Laplace,
    LogNormal,
    Normal,
    Uniform,
)
from autodiff_kit.distributions.discrete import (
    Bernoulli,
    Categorical,
    Geometric,
    OneHotCategorical,
)
from autodiff_kit.distributions.distribution import Distribution, Independent
from autodiff_kit.distributions.gamma import Beta, Dirichlet, Gamma
from autodiff_kit.distributions.multivariate_normal import (
    MultivariateNormal,
    half_log_det,
    squared_distance,
)
from autodiff_kit.errors import error
from autodiff_kit.functions import find
from autodiff_kit.functions.basic import where
from autodiff_kit.linalg import solve_triangular
from autodiff_kit.outside import absent_in
from autodiff_kit.tensor import Tensor

__all__ = []


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


def _of_cauchys(p: Any, q: Any) -> Tensor:
    divergence = ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log()
    return divergence - (4 * p.scale * q.scale).log()


def _of_gammas(p: Any, q: Any) -> Tensor:
    ratio = q.concentration * (p.rate / q.rate).log()
    orders = ops.lgamma(q.concentration) - ops.lgamma(p.concentration)
    slope = (p.concentration - q.concentration) * ops.digamma(p.concentration)
    return ratio + orders + slope + (q.rate - p.rate) * (p.concentration / p.rate)


def _of_dirichlets(p: Any, q: Any) -> Tensor:
    p, q = p.concentration, q.concentration
    whole = p.sum(-1)
    orders = ops.lgamma(whole) - ops.lgamma(q.sum(-1)) - (ops.lgamma(p) - ops.lgamma(q)).sum(-1)
    slope = ops.digamma(p) - ops.digamma(whole).unsqueeze(-1)
    divergence: Tensor = orders + ((p - q) * slope).sum(-1)
    return divergence


def _of_betas(p: Any, q: Any) -> Tensor:
    return _of_dirichlets(p._dirichlet, q._dirichlet)


def _gamma_exponential(p: Any, q: Any) -> Tensor:
    divergence: Tensor = -p.entropy() - q.rate.log() + q.rate * p.concentration / p.rate
    return divergence


def _exponential_gamma(p: Any, q: Any) -> Tensor:
    ratio, count = q.rate / p.rate, q.concentration
    divergence: Tensor = ratio - count * ratio.log() + ops.lgamma(count) + count * np.euler_gamma
    return divergence - (1 + np.euler_gamma)


def _of_vectors(p: Any, q: Any) -> Tensor:
    if p.event_shape != q.event_shape:
        raise error("distributions.event_shapes")
    matrix = solve_triangular(q._scale, p._scale, upper=False)
    terms = matrix.pow(2).sum((-2, -1)) + squared_distance(q._scale, q.loc - p.loc)
    return half_log_det(q._scale) - half_log_det(p._scale) + 0.5 * (terms - p.event_shape[0])


def _laplace_normal(p: Any, q: Any) -> Tensor:
    variance = q.scale.pow(2)
    ratio = p.scale.pow(2) / variance
    distance = 0.5 * (p.loc - q.loc).pow(2) / variance
    return ratio + distance - 0.5 * (2 * ratio / math.pi).log() - 1


def _exponential_normal(p: Any, q: Any) -> Tensor:
    variance, rate = q.scale.pow(2), p.rate
    distance = (rate.pow(-2) - q.loc / rate + q.loc.pow(2) / 2) / variance
    return 0.5 * (rate.pow(2) * variance * 2 * math.pi).log() - 1 + distance


def _uniform_normal(p: Any, q: Any) -> Tensor:
    width = p.high - p.low
    square = width.pow(2) / 12 + ((p.high + p.low - 2 * q.loc) / 2).pow(2)
    return (math.sqrt(2 * math.pi) * q.scale / width).log() + 0.5 * square / q.scale.pow(2)


def _uniform_exponential(p: Any, q: Any) -> Tensor:
    divergence = q.rate * (p.high + p.low) / 2 - ((p.high - p.low) * q.rate).log()
    return where(p.low < 0, full((), math.inf, dtype=divergence.dtype), divergence)


def _infinite(p: Any, q: Any) -> Tensor:
    """Return infinity: p draws numbers that q never does."""
    return full(find("broadcast_shapes")(p.batch_shape, q.batch_shape), math.inf)


_Kind = type[Distribution]
_Divergence = Callable[[Any, Any], Tensor]
_OF_ONE_KIND: dict[_Kind, _Divergence] = {
    Normal: _of_normals,
    LogNormal: _of_normals,
    Laplace: _of_laplaces,
    Cauchy: _of_cauchys,
    MultivariateNormal: _of_vectors,
    Bernoulli: _of_bernoullis,
    Categorical: _of_categoricals,
    OneHotCategorical: _of_categoricals,
    Exponential: _of_exponentials,
    Uniform: _of_uniforms,
    Geometric: _of_geometrics,
    Gamma: _of_gammas,
    Beta: _of_betas,
    Dirichlet: _of_dirichlets,
}
_DIVERGENCES: dict[tuple[_Kind, _Kind], _Divergence] = {
    **{(kind, kind): divergence for kind, divergence in _OF_ONE_KIND.items()},
    **{(kind, Uniform): _infinite for kind in (Normal, Laplace, Exponential)},
    (Gamma, Exponential): _gamma_exponential,
    (Exponential, Gamma): _exponential_gamma,
    (Laplace, Normal): _laplace_normal,
    (Exponential, Normal): _exponential_normal,
    (Uniform, Normal): _uniform_normal,
    (Uniform, Exponential): _uniform_exponential,
}


def register_kl(type_p: _Kind, type_q: _Kind) -> Callable[[_Divergence], _Divergence]:
    """Declare a divergence of two kinds of your own, by ``@register_kl(P, Q)``."""

    def declare(divergence: _Divergence) -> _Divergence:
        _DIVERGENCES[type_p, type_q] = divergence
        return divergence

    return declare


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """Return the Kullback-Leibler divergence of q from p, in nats.

    NotImplementedError for pairs without a formula.
    """
    if isinstance(p, Independent) and isinstance(q, Independent):
        if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
            raise NotImplementedError
        return p._summed(kl_divergence(p.base_dist, q.base_dist))
    divergence = _DIVERGENCES.get((type(p), type(q)))
    if divergence is None:
        raise error("distributions.no_divergence", p=type(p).__name__, q=type(q).__name__)
    return divergence(p, q)


__getattr__ = absent_in(__name__)
