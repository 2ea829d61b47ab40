"""How far two distributions differ: ``kl_divergence``.

After reading this file you know for which pairs of distributions there is a formula. Read next:
``functions/draws.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from autodiff_kit import ops
from autodiff_kit.creation import full, zeros_like
from autodiff_kit.distributions.continuous import Exponential, Laplace, LogNormal, Normal, Uniform
from autodiff_kit.distributions.discrete import (
    Bernoulli,
    Categorical,
    Geometric,
    OneHotCategorical,
)
from autodiff_kit.distributions.distribution import Distribution, Independent
from autodiff_kit.errors import error
from autodiff_kit.functions.basic import where
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
