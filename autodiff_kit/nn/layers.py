"""The layers and losses: a function of ``functional.py`` together with what it needs.

After reading this file you know that a layer holds its parameters and options and hands them on,
nothing more. Read next: ``functional.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

from autodiff_kit.autograd.observer import installed
from autodiff_kit.creation import empty, tensor
from autodiff_kit.errors import error
from autodiff_kit.nn import functional as F
from autodiff_kit.nn import init
from autodiff_kit.nn.module import Module
from autodiff_kit.nn.options import reader
from autodiff_kit.nn.parameter import Parameter
from autodiff_kit.tensor import Tensor

__all__ = ["GELU", "BCELoss", "BCEWithLogitsLoss", "BatchNorm1d", "Conv2d", "CrossEntropyLoss"]
__all__ += ["Dropout", "Embedding", "Flatten", "HuberLoss", "Identity", "L1Loss", "LayerNorm"]
__all__ += ["Linear", "LogSoftmax", "MSELoss", "MaxPool2d", "NLLLoss", "ReLU", "Sigmoid", "Softmax"]
__all__ += ["Tanh"]

# -- functions with options -----------------------------------------------------------------------

_NO_OPTIONS = ("self", "input", "target", "training")  # arguments that come with each call


class FunctionLayer(Module):
    """A layer that is one function with fixed options.

    The class statement of such a layer names the function, whose options it has, too; those that
    are printed (``inplace`` is, where it is true); and options whose default value is another, or
    which PyTorch's layer, not its function, takes by place.
    """

    _calls: Callable[..., Any]
    _read: Callable[..., dict[str, Any]]
    _options: tuple[str, ...]
    _shows: tuple[str, ...]

    def __init_subclass__(cls, calls: Any = None, shows: str = "", **options: Any) -> None:
        super().__init_subclass__()
        if calls is None:
            return
        own = {n: p for n, p in signature(calls).parameters.items() if n not in _NO_OPTIONS}
        only = [n for n, p in own.items() if p.kind is p.KEYWORD_ONLY and n not in options]
        by_name = {n: own.pop(n).default for n in only}
        options = {n: p.default for n, p in own.items()} | options
        cls._calls, cls._shows = staticmethod(calls), (*shows.split(),)
        cls._options, cls._read = (*options, *by_name), reader(cls, options, by_name)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        for name, value in self._read(*args, **kwargs).items():
            if name in ("weight", "pos_weight"):
                self.register_buffer(name, value)
            else:
                setattr(self, name, value)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        options = {name: getattr(self, name) for name in self._options}
        return self._calls(*args, **kwargs, **options)

    def extra_repr(self) -> str:
        """Return the options."""
        shows = self._shows
        if "inplace" in self._options and "inplace" not in shows and self.inplace:
            shows = (*shows, "inplace")
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in shows)


class ReLU(FunctionLayer, calls=F.relu):
    """Keep what is positive; the rest becomes 0."""


class Tanh(FunctionLayer, calls=F.tanh):
    """Squeeze into the range from -1 to 1."""


class Sigmoid(FunctionLayer, calls=F.sigmoid):
    """Squeeze into the range from 0 to 1."""


class GELU(FunctionLayer, calls=F.gelu, shows="approximate", approximate="none"):
    """Multiply by the share of a normal distribution below."""


class Softmax(FunctionLayer, calls=F.softmax, shows="dim"):
    """Turn numbers along a dimension into shares that add up to 1."""


class LogSoftmax(FunctionLayer, calls=F.log_softmax, shows="dim"):
    """The logarithm of ``Softmax``."""


class Flatten(FunctionLayer, calls=Tensor.flatten, shows="start_dim end_dim", start_dim=1):
    """Join dimensions into one: all but the first, which counts the samples."""


class MaxPool2d(
    FunctionLayer, calls=F.max_pool2d, shows="kernel_size stride padding dilation ceil_mode"
):
    """Take the largest element of every window of an image."""

    kernel_size: Any
    stride: Any
    ceil_mode = False  # PyTorch can let the last windows reach over the border, too

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.stride = self.kernel_size if self.stride is None else self.stride


class Identity(Module):
    """Return the input; takes any arguments and ignores them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """Return the input."""
        return input


class Dropout(FunctionLayer, calls=F.dropout, shows="p inplace"):
    """In training, set elements to 0 with probability p and divide the others by ``1 - p``."""

    p: float
    inplace: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not 0 <= self.p <= 1:
            raise error("functional.dropout_probability", p=self.p)

    def forward(self, input: Tensor) -> Tensor:
        """Drop elements; not in evaluation."""
        return F.dropout(input, self.p, self.training, self.inplace)


# -- losses: how far predictions are from the targets, as one number -------------------------------


class MSELoss(FunctionLayer, calls=F.mse_loss):
    """The mean of the squared differences."""


class L1Loss(FunctionLayer, calls=F.l1_loss):
    """The mean of the sizes of the differences."""


class HuberLoss(FunctionLayer, calls=F.huber_loss):
    """Squared differences below delta, sizes of differences above."""


class CrossEntropyLoss(FunctionLayer, calls=F.cross_entropy):
    """How surprised the predictions, one number per class, are by the true classes."""


class NLLLoss(FunctionLayer, calls=F.nll_loss):
    """``CrossEntropyLoss`` for predictions that are logarithms of probabilities already."""


class BCELoss(FunctionLayer, calls=F.binary_cross_entropy):
    """``CrossEntropyLoss`` for yes or no; predictions are probabilities of yes."""


class BCEWithLogitsLoss(FunctionLayer, calls=F.binary_cross_entropy_with_logits):
    """``BCELoss`` of the sigmoid of the predictions, without overflow."""


# -- layers with parameters -----------------------------------------------------------------------


class _Weighted(Module):
    """A layer with parameters called ``weight`` and ``bias``; there may be none of either."""

    weight: Any
    bias: Any

    def _add(self, kind: dict[str, Any], **shapes: tuple[int, ...] | None) -> None:
        """Make parameters, of a ``dtype`` in ``kind``, and give them their first values."""
        for unknown in kind.keys() - {"device", "dtype"}:
            words = f"{type(self).__name__}.__init__() got an unexpected keyword argument"
            raise TypeError(f"{words} '{unknown}'")
        with installed(None):  # whoever watches the learner's code sees the finished layer only
            for name, shape in shapes.items():
                made = None if shape is None else Parameter(empty(shape, **kind))
                self.register_parameter(name, made)
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw first values that keep the scatter of what passes through."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        inputs = init.fans(self.weight)[0]
        if self.bias is not None and inputs:
            init.uniform_(self.bias, -1 / math.sqrt(inputs), 1 / math.sqrt(inputs))


class Linear(_Weighted):
    """Return ``input @ weight.T + bias``.

    Parameters
    ----------
    in_features, out_features : int
        n and m: weight has shape (m, n), bias (m,).
    bias : bool
        Whether there is one.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> torch.nn.Linear(3, 2)(torch.ones(5, 3)).shape
    torch.Size([5, 2])
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True, **kind: Any) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        shape = out_features, in_features
        self._add(kind, weight=shape, bias=shape[:1] if bias else None)

    def forward(self, input: Tensor) -> Tensor:
        """Return ``input @ weight.T + bias``, shape (*, out_features)."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the sizes."""
        sizes = f"in_features={self.in_features}, out_features={self.out_features}"
        return f"{sizes}, bias={self.bias is not None}"


class Conv2d(_Weighted):
    """Slide kernels over an image: input of shape ((n,) in_channels, height, width).

    ``kernel_size``, ``stride``, ``padding`` (pixels around the image, or "same" or "valid") and
    ``dilation`` are ints or pairs; ``groups`` is the number of parts into which the channels are
    split, so weight has shape (out_channels, in_channels / groups, *kernel_size). ValueError if
    they cannot be.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        **kind: Any,
    ) -> None:
        super().__init__()
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.dilation = map(_pair, (kernel_size, stride, dilation))
        self.padding = padding if isinstance(padding, str) else _pair(padding)
        for name, channels in (("in", in_channels), ("out", out_channels)):
            if channels % groups:
                raise error("nn.conv_channels", name=name)
        shape = out_channels, in_channels // groups, *self.kernel_size
        self._add(kind, weight=shape, bias=shape[:1] if bias else None)

    def forward(self, input: Tensor) -> Tensor:
        """Slide the kernels over the input."""
        options = self.stride, self.padding, self.dilation, self.groups
        return F.conv2d(input, self.weight, self.bias, *options)

    def extra_repr(self) -> str:
        """Return the sizes, and what differs from the default."""
        own = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}"
        own += f", stride={self.stride}"
        for name, usual in (("padding", (0, 0)), ("dilation", (1, 1)), ("groups", 1)):
            if getattr(self, name) != usual:
                own += f", {name}={getattr(self, name)}"
        return own if self.bias is not None else own + ", bias=False"


def _pair(value: Any) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else tuple(value)


class Embedding(_Weighted):
    """A table of vectors, looked up by number: input of shape (*), output (*, embedding_dim).

    The row ``padding_idx`` is zeros at first and gets no gradient; AssertionError if there is none.
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, **kind: Any
    ) -> None:
        super().__init__()
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise error("nn.padding_idx")
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self._add(kind, weight=(num_embeddings, embedding_dim))

    def reset_parameters(self) -> None:
        """Draw the table from the normal distribution."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight.data[self.padding_idx] = 0

    def forward(self, input: Tensor) -> Tensor:
        """Look up the rows."""
        return F.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        """Return the sizes."""
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"


class _Scaling(_Weighted):
    """A layer that multiplies by its weight and adds its bias."""

    def reset_parameters(self) -> None:
        """Start with weight 1 and bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


class LayerNorm(_Scaling):
    """Shift and scale each sample to mean 0 and variance 1, then by weight and bias.

    ``normalized_shape`` says which are the last dimensions, over which to average; ``eps`` is added
    to the variance; without ``elementwise_affine`` there are no weight and bias.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        **kind: Any,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
        self.normalized_shape, self.eps = tuple(shape), eps
        self.elementwise_affine = elementwise_affine
        own = self.normalized_shape if elementwise_affine else None
        self._add(kind, weight=own, bias=own if bias else None)

    def forward(self, input: Tensor) -> Tensor:
        """Normalise each sample."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return the options."""
        options = f"eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        return f"{self.normalized_shape}, {options}, bias={self.bias is not None}"


class BatchNorm1d(_Scaling):
    """Shift and scale each feature to mean 0 and variance 1 over the batch.

    In evaluation, mean and variance are those of the batches seen in training: ``momentum`` says
    how far the running ones move to those of each batch. Input has shape (n, num_features) or
    (n, num_features, length), else ValueError.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        **kind: Any,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine = affine
        own = (num_features,) if affine else None
        self._add(kind, weight=own, bias=own)
        with installed(None):
            self.register_buffer("running_mean", empty(num_features, **kind))
            self.register_buffer("running_var", empty(num_features, **kind).fill_(1.0))
            self.register_buffer("num_batches_tracked", tensor(0))

    def forward(self, input: Tensor) -> Tensor:
        """Normalise each feature."""
        if input.ndim not in (2, 3):
            raise error("nn.batch_norm_rank", wanted="2D or 3D", rank=input.ndim)
        if self.training:
            self.num_batches_tracked.add_(1)
        return F.batch_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias,
            self.training, self.momentum, self.eps,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Return the options."""
        options = f"eps={self.eps}, momentum={self.momentum}, affine={self.affine}"
        return f"{self.num_features}, {options}, bias={self.affine}, track_running_stats=True"
