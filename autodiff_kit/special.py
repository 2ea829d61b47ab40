"""``torch.special``: functions of one or two numbers, some of them under SciPy's names.

After reading this file you know that ``expit`` is the sigmoid, and ``ndtr`` the standard normal
CDF. Read next: ``functions/calculus.py``.
"""

from __future__ import annotations

import math
from typing import Any

from autodiff_kit import ops
from autodiff_kit.functions.basic import expm1, log1p, log_softmax, logsumexp, round, softmax
from autodiff_kit.functions.calculus import (
    digamma,
    erf,
    erfc,
    erfinv,
    exp2,
    lgamma,
    logit,
    polygamma,
    sinc,
)
from autodiff_kit.functions.pairs import xlogy
from autodiff_kit.outside import absent
from autodiff_kit.tensor import Tensor

__all__ = ["digamma", "entr", "erf", "erfc", "erfinv", "exp2", "expit", "expm1", "gammaln", "log1p"]
__all__ += [
    "log_softmax",
    "logit",
    "logsumexp",
    "ndtr",
    "polygamma",
    "psi",
    "round",
    "sinc",
    "softmax",
]
__all__ += ["xlog1py", "xlogy"]


psi, gammaln = digamma, lgamma  # SciPy's names


def expit(input: Tensor) -> Tensor:
    """Return ``1 / (1 + exp(-input))``: ``sigmoid``."""
    return ops.sigmoid(input)


def entr(input: Tensor) -> Tensor:
    """Return ``-input * log(input)``, the contributions to an entropy; 0 at 0, -inf below."""
    return ops.entr(input)


def ndtr(input: Tensor) -> Tensor:
    """Return the standard normal CDF."""
    return (erf(input * math.sqrt(0.5)) + 1) * 0.5


def xlog1py(input: Tensor, other: Tensor) -> Tensor:
    """Return ``input * log1p(other)``, and 0 where ``input`` is 0."""
    return ops.xlog1py(input, other)


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
