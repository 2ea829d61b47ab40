"""Normalization of each channel: over a batch, or of each image for itself.

After reading this file you know what batch normalization remembers of the batches that it has seen,
and why it needs ``eval()``. Read next: ``functional.py``.
"""

from __future__ import annotations

import warnings
from typing import Any

from autodiff_kit.core.observer import installed
from autodiff_kit.creation import empty, tensor
from autodiff_kit.errors import error
from autodiff_kit.free_form import StateDict
from autodiff_kit.inplace import tell_moved
from autodiff_kit.nn import functional as F
from autodiff_kit.nn.weighted import Scaling, Shape
from autodiff_kit.tensor import Tensor

__all__ = ["BatchNorm1d", "BatchNorm2d", "InstanceNorm1d", "InstanceNorm2d"]


class _NormBase(Scaling):
    """What is normalized by channels: dimension 1 of the input has ``num_features`` of them.

    ``eps`` is added to the variance. ``momentum`` says how far the running mean and variance move
    to those of each batch; None: they are the means over all batches. Without ``affine`` there are
    no weight and bias, without ``track_running_stats`` no running mean and variance.
    """

    running_mean: Any
    running_var: Any
    num_batches_tracked: Any
    _ranks: tuple[int, ...]
    _version = 2  # since there is num_batches_tracked

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        with installed(None):
            self._make_buffers(device, dtype)
        self._make_parameters(device, dtype, weight=affine, bias=affine and bias)

    def _shapes(self) -> dict[str, Shape]:
        return {"weight": (self.num_features,), "bias": (self.num_features,)}

    def _make_buffers(self, device: Any, dtype: Any) -> None:
        mean = var = count = None
        if self.track_running_stats:
            mean = empty(self.num_features, device=device, dtype=dtype)
            var = empty(self.num_features, device=device, dtype=dtype)
            count = tensor(0)
        self.register_buffer("running_mean", mean)
        self.register_buffer("running_var", var)
        self.register_buffer("num_batches_tracked", count)

    def reset_running_stats(self) -> None:
        """Forget the batches that were seen."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Start with weight 1 and bias 0, and forget the batches that were seen."""
        self.reset_running_stats()
        super().reset_parameters()

    def _load_from_state_dict(
        self, state_dict: StateDict, prefix: str, local_metadata: StateDict, *lists: Any
    ) -> None:
        key = prefix + "num_batches_tracked"
        if (
            self.track_running_stats
            and local_metadata.get("version", 1) < 2
            and key not in state_dict
        ):
            count = self.num_batches_tracked
            state_dict[key] = tensor(0) if count is None else count
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *lists)

    def _check_rank(self, input: Tensor) -> None:
        if input.ndim not in self._ranks:
            expected = " or ".join(f"{rank}D" for rank in self._ranks)
            raise error("nn.batch_norm_rank", expected=expected, rank=input.ndim)

    def extra_repr(self) -> str:
        """Return the options."""
        options = f"eps={self.eps}, momentum={self.momentum}, affine={self.affine}"
        options += f", bias={self.bias is not None}"
        return f"{self.num_features}, {options}, track_running_stats={self.track_running_stats}"


class _BatchNorm(_NormBase):
    def forward(self, input: Tensor) -> Tensor:
        """Normalise each channel: in training by the batch, else by the running statistics."""
        self._check_rank(input)
        part = 0.0 if self.momentum is None else self.momentum
        is_counted = self.training and self.track_running_stats
        if is_counted:
            with installed(None):  # PyTorch's recordings have none of it, either
                self.num_batches_tracked.add_(1)
            tell_moved(self.num_batches_tracked, "batch_norm")
            if self.momentum is None:
                part = 1 / float(self.num_batches_tracked)
        is_read = is_counted or not self.training
        return F.batch_norm(
            input,
            self.running_mean if is_read else None,
            self.running_var if is_read else None,
            self.weight,
            self.bias,
            self.training or self.running_mean is None,
            part,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """Shift and scale each feature to mean 0 and variance 1 over the batch.

    In evaluation, mean and variance are those of the batches seen in training: ``momentum`` says
    how far the running ones move to those of each batch. Input has shape (n, num_features) or
    (n, num_features, length), else ValueError.
    """

    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """``BatchNorm1d`` for images: input of shape (n, num_features, height, width)."""

    _ranks = (4,)


class _InstanceNorm(_NormBase):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        options = num_features, eps, momentum, affine, track_running_stats, device, dtype
        super().__init__(*options, bias=bias)

    def _load_from_state_dict(
        self, state_dict: StateDict, prefix: str, local_metadata: StateDict, *lists: Any
    ) -> None:
        if "version" not in local_metadata and not self.track_running_stats:
            statistics = [prefix + "running_mean", prefix + "running_var"]
            unexpected = [key for key in statistics if key in state_dict]
            if unexpected:
                names, kind = " and ".join(f'"{key}"' for key in unexpected), type(self).__name__
                lists[-1].append(
                    f"Unexpected running stats buffer(s) {names} for {kind} with "
                    "track_running_stats=False. If state_dict is a checkpoint saved before 0.4.0, "
                    f"this may be expected because {kind} does not track running stats by default "
                    "since 0.4.0. Please remove these keys from state_dict. If the running stats "
                    f"are actually needed, instead set track_running_stats=True in {kind} to "
                    f"enable them. See the documentation of {kind} for details."
                )
            for key in unexpected:
                del state_dict[key]
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *lists)

    def forward(self, input: Tensor) -> Tensor:
        """Normalise each channel of each sample."""
        self._check_rank(input)
        rank = max(self._ranks)
        channels = input.shape[-rank + 1]
        if channels != self.num_features:
            dim = input.ndim - rank + 1
            if self.affine:
                expected = self.num_features
                raise error("nn.instance_channels", dim=dim, expected=expected, actual=channels)
            warnings.warn(
                f"input's size at dim={dim} does not match num_features. You can silence this "
                "warning by not passing in num_features, which is not used because affine=False",
                UserWarning,
                stacklevel=2,
            )
        one = input if input.ndim == rank else input.unsqueeze(0)
        out = F.instance_norm(
            one,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return out if input.ndim == rank else out.squeeze(0)


class InstanceNorm1d(_InstanceNorm):
    """Shift and scale each channel of each sequence to mean 0 and variance 1.

    Input has shape ((n,) num_features, length); in evaluation the same, unless statistics are
    tracked.
    """

    _ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """``InstanceNorm1d`` for images: input of shape ((n,) num_features, height, width)."""

    _ranks = (3, 4)
