"""``torch.distributions``: what can be drawn, how likely it was, and how far two of them differ.

After reading this package you know what a policy gradient needs: ``sample`` leaves the graph,
``log_prob`` is differentiable by the parameters; and what a variational autoencoder needs:
``rsample`` draws noise first and then shifts and scales it, so that gradients flow through the
sample. For one seed the numbers are PyTorch's. Read first: ``distribution.py``.
"""

from __future__ import annotations

from typing import Any

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
from autodiff_kit.distributions.gamma import Beta, Chi2, Dirichlet, Gamma
from autodiff_kit.distributions.kl import kl_divergence, register_kl
from autodiff_kit.distributions.mixture_same_family import MixtureSameFamily
from autodiff_kit.distributions.multinomial import Multinomial
from autodiff_kit.distributions.multivariate_normal import MultivariateNormal
from autodiff_kit.distributions.transformed_distribution import (
    Gumbel,
    HalfNormal,
    TransformedDistribution,
)
from autodiff_kit.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    SigmoidTransform,
    TanhTransform,
    Transform,
    identity_transform,
)
from autodiff_kit.outside import absent, modules_below

__all__ = ["Bernoulli", "Beta", "Categorical", "Cauchy", "Chi2", "Dirichlet", "Distribution"]
__all__ += [
    "Exponential",
    "Gamma",
    "Geometric",
    "Independent",
    "Laplace",
    "LogNormal",
    "Multinomial",
    "MultivariateNormal",
    "Normal",
]
__all__ += ["OneHotCategorical", "Uniform", "kl_divergence", "register_kl"]
__all__ += ["AbsTransform", "AffineTransform", "ComposeTransform", "ExpTransform", "Gumbel"]
__all__ += ["HalfNormal", "MixtureSameFamily", "SigmoidTransform", "TanhTransform", "Transform"]
__all__ += ["TransformedDistribution", "identity_transform"]


__path__.append(modules_below(__name__))  # for imports of what only PyTorch has


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
