"""``torch.special``: functions of one or two numbers, some of them under SciPy's names.

After reading this file you know that ``expit`` is the sigmoid, and ``ndtr`` the standard normal
CDF. Read next: ``functions/calculus.py``.
"""

from __future__ import annotations

import math
from typing import Any

from autodiff_kit import ops
from autodiff_kit.functions import basic, calculus, pairs
from autodiff_kit.functions.declared import Operand, alias, function_of
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

expm1 = alias("special_expm1", basic.expm1)
log1p = alias("special_log1p", basic.log1p)
log_softmax = alias("special_log_softmax", basic.log_softmax)
logsumexp = alias("special_logsumexp", basic.logsumexp)
round = alias("special_round", basic.round)
softmax = alias("special_softmax", basic.softmax)
digamma = alias("special_digamma", calculus.digamma)
erf = alias("special_erf", calculus.erf)
erfc = alias("special_erfc", calculus.erfc)
erfinv = alias("special_erfinv", calculus.erfinv)
exp2 = alias("special_exp2", calculus.exp2)
logit = alias("special_logit", calculus.logit)
polygamma = alias("special_polygamma", calculus.polygamma)
sinc = alias("special_sinc", calculus.sinc)
xlogy = alias("special_xlogy", pairs.xlogy)
# SciPy's names:
expit = alias("special_expit", basic.sigmoid)
gammaln = alias("special_gammaln", calculus.lgamma)
psi = alias("special_psi", calculus.digamma)

_special = function_of("special")


@_special
def entr(input: Tensor) -> Tensor:
    """Return ``-input * log(input)``, the contributions to an entropy; 0 at 0, -inf below."""
    return ops.entr(input)


@_special
def ndtr(input: Tensor) -> Tensor:
    """Return the standard normal CDF."""
    return (calculus.erf(input * math.sqrt(0.5)) + 1) * 0.5


@function_of(
    "special",
    "(Tensor input, Tensor other)",
    "(Number self, Tensor other)",
    "(Tensor input, Number other)",
)
def xlog1py(input: Operand, other: Operand) -> Tensor:
    """Return ``input * log1p(other)``, and 0 where ``input`` is 0."""
    return ops.xlog1py(input, other)


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
