"""Lazy layers: they learn the size of their input from the first one that they see.

After reading this file you know that such a layer is an ordinary one whose parameters have no
shape yet. Before the first call of ``forward`` the input's size is read, parameters are made and
drawn, and from then on the layer is of the ordinary class. Read next: ``weighted.py``.
"""

from __future__ import annotations

from typing import Any, ClassVar

from autodiff_kit.core.observer import installed
from autodiff_kit.creation import tensor
from autodiff_kit.errors import error
from autodiff_kit.nn.batchnorm import BatchNorm1d, BatchNorm2d
from autodiff_kit.nn.conv import Conv1d, Conv2d
from autodiff_kit.nn.linear import Linear
from autodiff_kit.nn.parameter import UninitializedBuffer, UninitializedParameter, is_lazy
from autodiff_kit.nn.weighted import Shape, Weighted
from autodiff_kit.tensor import Tensor

__all__ = ["LazyBatchNorm1d", "LazyBatchNorm2d", "LazyConv1d", "LazyConv2d", "LazyLinear"]


class LazyModuleMixin(Weighted):
    """Makes parameters without a shape, and gives them one before the first ``forward``."""

    cls_to_become: ClassVar[Any] = None

    def _read_size(self, input: Tensor) -> None:
        """Set the attribute that ``_shapes`` waits for."""
        raise NotImplementedError

    def _make_parameters(self, device: Any, dtype: Any, **is_wanted: bool) -> None:
        with installed(None):
            for name in self._shapes():
                parameter = None
                if is_wanted.get(name, True):
                    parameter = UninitializedParameter(device=device, dtype=dtype)
                self.register_parameter(name, parameter)
        self._initialize_hook = self.register_forward_pre_hook(type(self)._infer_parameters)

    def has_uninitialized_params(self) -> bool:
        """Return whether some parameters or buffers have no shape yet."""
        return any(map(is_lazy, [*self._parameters.values(), *self._buffers.values()]))

    def initialize_parameters(self, input: Tensor) -> None:
        """Give parameters and buffers their shapes, and initialize the parameters."""
        if not self.has_uninitialized_params():
            return
        self._read_size(input)
        with installed(None):
            for name, shape in self._lazy_shapes().items():
                value = getattr(self, name)
                if is_lazy(value):
                    value.materialize(shape)
            self.reset_parameters()

    def _lazy_shapes(self) -> dict[str, Shape]:
        return self._shapes()

    def _infer_parameters(self, args: tuple[Any, ...]) -> None:
        self.initialize_parameters(*args)
        self._initialize_hook.remove()
        del self._initialize_hook
        self.__class__ = self.cls_to_become


class LazyLinear(LazyModuleMixin, Linear):
    """``Linear`` whose ``in_features`` are those of the first input."""

    cls_to_become = Linear

    def __init__(
        self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(0, out_features, bias, device, dtype)

    def _read_size(self, input: Tensor) -> None:
        self.in_features = input.shape[-1]


class _LazyConvNd(LazyModuleMixin):
    _rank: int

    def _read_size(self, input: Tensor) -> None:
        rank = self._rank
        if input.ndim not in (rank + 1, rank + 2):
            raise error(
                "nn.lazy_conv_rank",
                kind=type(self).__name__,
                unbatched=rank + 1,
                batched=rank + 2,
                shape=input.shape,
            )
        self.in_channels = input.shape[-rank - 1]
        if self.in_channels % self.groups:
            raise error("nn.conv_channels", name="in")


class LazyConv1d(_LazyConvNd, Conv1d):
    """``Conv1d`` whose ``in_channels`` are those of the first input."""

    cls_to_become = Conv1d

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        numbers = kernel_size, stride, padding, dilation, groups
        super().__init__(0, out_channels, *numbers, bias, padding_mode, device, dtype)


class LazyConv2d(_LazyConvNd, Conv2d):
    """``Conv2d`` whose ``in_channels`` are those of the first input."""

    cls_to_become = Conv2d

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        numbers = kernel_size, stride, padding, dilation, groups
        super().__init__(0, out_channels, *numbers, bias, padding_mode, device, dtype)


class _LazyBatchNorm(LazyModuleMixin):
    def _read_size(self, input: Tensor) -> None:
        self.num_features = input.shape[1]

    def _make_buffers(self, device: Any, dtype: Any) -> None:
        mean = var = count = None
        if self.track_running_stats:
            mean = UninitializedBuffer(device=device, dtype=dtype)
            var = UninitializedBuffer(device=device, dtype=dtype)
            count = tensor(0)
        self.register_buffer("running_mean", mean)
        self.register_buffer("running_var", var)
        self.register_buffer("num_batches_tracked", count)

    def _lazy_shapes(self) -> dict[str, Shape]:
        shape = (self.num_features,)
        return {**self._shapes(), "running_mean": shape, "running_var": shape}


class LazyBatchNorm1d(_LazyBatchNorm, BatchNorm1d):
    """``BatchNorm1d`` whose ``num_features`` are the channels of the first input."""

    cls_to_become = BatchNorm1d

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        options = eps, momentum, affine, track_running_stats, device, dtype
        super().__init__(0, *options, bias=bias)


class LazyBatchNorm2d(_LazyBatchNorm, BatchNorm2d):
    """``BatchNorm2d`` whose ``num_features`` are the channels of the first input."""

    cls_to_become = BatchNorm2d

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        options = eps, momentum, affine, track_running_stats, device, dtype
        super().__init__(0, *options, bias=bias)
