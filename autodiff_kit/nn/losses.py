"""The losses: one number for how far predictions are from the targets.

After reading this file you know which losses there are; what they compute is in
``functional.py``, which is to be read next.
"""

from __future__ import annotations

from autodiff_kit.nn import functional as F
from autodiff_kit.nn.layers import FunctionLayer

__all__ = ["BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss", "HuberLoss", "L1Loss", "MSELoss"]
__all__ += ["NLLLoss"]


class MSELoss(FunctionLayer, calls=F.mse_loss, size_average=None, reduce=None, reduction="mean"):
    """The mean of the squared differences."""


class L1Loss(FunctionLayer, calls=F.l1_loss, size_average=None, reduce=None, reduction="mean"):
    """The mean of the sizes of the differences."""


class HuberLoss(FunctionLayer, calls=F.huber_loss, reduction="mean", delta=1.0):
    """Squared differences below delta, sizes of differences above."""


class CrossEntropyLoss(
    FunctionLayer, calls=F.cross_entropy, weight=None, size_average=None, ignore_index=-100,
    reduce=None, reduction="mean", label_smoothing=0.0,
):  # fmt: skip
    """How surprised the predictions, one number per class, are by the true classes."""


class NLLLoss(
    FunctionLayer, calls=F.nll_loss, weight=None, size_average=None, ignore_index=-100,
    reduce=None, reduction="mean",
):  # fmt: skip
    """``CrossEntropyLoss`` for predictions that are logarithms of probabilities already."""


class BCELoss(
    FunctionLayer, calls=F.binary_cross_entropy, weight=None, size_average=None, reduce=None,
    reduction="mean",
):  # fmt: skip
    """``CrossEntropyLoss`` for yes or no; predictions are probabilities of yes."""


class BCEWithLogitsLoss(
    FunctionLayer, calls=F.binary_cross_entropy_with_logits, weight=None, size_average=None,
    reduce=None, reduction="mean", pos_weight=None,
):  # fmt: skip
    """``BCELoss`` of the sigmoid of the predictions, without overflow."""
