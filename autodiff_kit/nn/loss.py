"""Losses: how far predictions are from the targets, as one number.

After reading this file you know which loss fits which targets. ``reduction`` says what becomes of
the losses of the single elements: their "mean", their "sum", or "none" to keep them. Read next:
``functional_losses.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.errors import error
from autodiff_kit.nn import functional as F
from autodiff_kit.nn.module import Module
from autodiff_kit.tensor import Tensor

__all__ = ["BCELoss", "BCEWithLogitsLoss", "CosineEmbeddingLoss", "CrossEntropyLoss"]
__all__ += ["GaussianNLLLoss", "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "MSELoss"]
__all__ += ["MarginRankingLoss", "NLLLoss", "PoissonNLLLoss", "SmoothL1Loss", "TripletMarginLoss"]


# -- of numbers ------------------------------------------------------------------------------------


class MSELoss(Module):
    """The mean of the squared differences."""

    def __init__(self, *, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss."""
        return F.mse_loss(input, target, reduction=self.reduction)


class L1Loss(Module):
    """The mean of the absolute differences."""

    def __init__(self, *, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss."""
        return F.l1_loss(input, target, reduction=self.reduction)


class HuberLoss(Module):
    """Squared differences below delta, absolute differences above."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__()
        self.reduction, self.delta = reduction, delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss."""
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class SmoothL1Loss(Module):
    """``HuberLoss`` divided by its delta, which is called ``beta`` here."""

    def __init__(self, *, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__()
        self.reduction, self.beta = reduction, beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss."""
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class GaussianNLLLoss(Module):
    """How surprised normal distributions are, whose means and variances are predicted."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__()
        self.full, self.eps, self.reduction = full, eps, reduction

    def forward(self, input: Tensor, target: Tensor, var: Any) -> Tensor:
        """Compute the loss."""
        return F.gaussian_nll_loss(input, target, var, self.full, self.eps, self.reduction)


class PoissonNLLLoss(Module):
    """How surprised Poisson distributions are by counts; their (log) means are predicted."""

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        *,
        eps: float = 1e-8,
        reduction: str = "mean",
    ) -> None:
        super().__init__()
        self.log_input, self.full, self.eps, self.reduction = log_input, full, eps, reduction

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss."""
        options = self.log_input, self.full, self.eps
        return F.poisson_nll_loss(log_input, target, *options, reduction=self.reduction)


# -- of classes and probabilities ------------------------------------------------------------------


class CrossEntropyLoss(Module):
    """How surprised the predictions, one number per class, are by the true classes."""

    def __init__(
        self,
        weight: Tensor | None = None,
        *,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__()
        self.register_buffer("weight", weight)
        self.ignore_index, self.reduction = ignore_index, reduction
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss."""
        return F.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class NLLLoss(Module):
    """``CrossEntropyLoss`` for predictions that are logarithms of probabilities already."""

    def __init__(
        self,
        weight: Tensor | None = None,
        *,
        ignore_index: int = -100,
        reduction: str = "mean",
    ) -> None:
        super().__init__()
        self.register_buffer("weight", weight)
        self.ignore_index, self.reduction = ignore_index, reduction

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss."""
        options: dict[str, Any] = {"ignore_index": self.ignore_index, "reduction": self.reduction}
        return F.nll_loss(input, target, self.weight, **options)


class BCELoss(Module):
    """``CrossEntropyLoss`` for yes or no; predictions are probabilities of yes."""

    def __init__(self, weight: Tensor | None = None, *, reduction: str = "mean") -> None:
        super().__init__()
        self.register_buffer("weight", weight)
        self.reduction = reduction

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss."""
        return F.binary_cross_entropy(input, target, self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(Module):
    """``BCELoss`` of the sigmoid of the predictions, without overflow."""

    def __init__(
        self,
        weight: Tensor | None = None,
        *,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)
        self.reduction = reduction

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss."""
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, reduction=self.reduction, pos_weight=self.pos_weight
        )


class KLDivLoss(Module):
    """How far distributions, given by logarithms of probabilities, are from target ones."""

    def __init__(self, *, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__()
        self.reduction, self.log_target = reduction, log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss."""
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


# -- of pairs --------------------------------------------------------------------------------------


class HingeEmbeddingLoss(Module):
    """Distances of what belongs together; what the others lack of a margin."""

    def __init__(self, margin: float = 1.0, *, reduction: str = "mean") -> None:
        super().__init__()
        self.margin, self.reduction = margin, reduction

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss."""
        return F.hinge_embedding_loss(input, target, self.margin, reduction=self.reduction)


class MarginRankingLoss(Module):
    """By how much the first of two numbers is not a margin above the second."""

    def __init__(self, margin: float = 0.0, *, reduction: str = "mean") -> None:
        super().__init__()
        self.margin, self.reduction = margin, reduction

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Compute the loss."""
        return F.margin_ranking_loss(input1, input2, target, self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(Module):
    """How far vectors that belong together differ in direction; how little the others do."""

    def __init__(self, margin: float = 0.0, *, reduction: str = "mean") -> None:
        super().__init__()
        self.margin, self.reduction = margin, reduction

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Compute the loss."""
        inputs = input1, input2, target
        return F.cosine_embedding_loss(*inputs, self.margin, reduction=self.reduction)


class TripletMarginLoss(Module):
    """By how much what does not belong to an anchor is not a margin farther away than what does."""

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        *,
        reduction: str = "mean",
    ) -> None:
        super().__init__()
        if margin <= 0:
            raise error("nn.triplet_margin", margin=margin)
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap
        self.reduction = reduction

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Compute the loss."""
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            self.margin,
            self.p,
            self.eps,
            self.swap,
            reduction=self.reduction,
        )
