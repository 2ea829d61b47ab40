"""Neural networks: modules, and the functions, losses and initialization that they are made with.

After reading this package you know that a layer is a function together with its parameters. Read
first: ``module.py``.
"""

# ruff: noqa: F403

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from autodiff_kit.late import late
from autodiff_kit.nn import functional as functional
from autodiff_kit.nn import init as init
from autodiff_kit.nn import parameter as parameter
from autodiff_kit.nn import utils as utils
from autodiff_kit.nn.activation import *
from autodiff_kit.nn.activation import __all__ as _activation
from autodiff_kit.nn.batchnorm import *
from autodiff_kit.nn.batchnorm import __all__ as _batchnorm
from autodiff_kit.nn.containers import *
from autodiff_kit.nn.containers import __all__ as _containers
from autodiff_kit.nn.conv import *
from autodiff_kit.nn.conv import __all__ as _conv
from autodiff_kit.nn.distance import *
from autodiff_kit.nn.distance import __all__ as _distance
from autodiff_kit.nn.dropout import *
from autodiff_kit.nn.dropout import __all__ as _dropout
from autodiff_kit.nn.flatten import *
from autodiff_kit.nn.flatten import __all__ as _flatten
from autodiff_kit.nn.linear import *
from autodiff_kit.nn.linear import __all__ as _linear
from autodiff_kit.nn.loss import *
from autodiff_kit.nn.loss import __all__ as _loss
from autodiff_kit.nn.module import Module
from autodiff_kit.nn.normalization import *
from autodiff_kit.nn.normalization import __all__ as _normalization
from autodiff_kit.nn.parameter import Parameter, UninitializedBuffer, UninitializedParameter
from autodiff_kit.nn.pooling import *
from autodiff_kit.nn.pooling import __all__ as _pooling
from autodiff_kit.nn.sparse import *
from autodiff_kit.nn.sparse import __all__ as _sparse
from autodiff_kit.outside import absent, modules_below

if TYPE_CHECKING:
    from autodiff_kit.nn.attention import *
    from autodiff_kit.nn.lazy import *
    from autodiff_kit.nn.padding import *
    from autodiff_kit.nn.rnn import *
    from autodiff_kit.nn.rnn_cells import *
    from autodiff_kit.nn.transformer import *

__all__ = [*_activation, *_batchnorm, *_containers, *_conv, *_distance, *_dropout, *_flatten]
__all__ += [*_linear, *_loss, *_normalization, *_pooling, *_sparse]
__all__ += ["Module", "Parameter", "UninitializedBuffer", "UninitializedParameter"]
__all__ += ["functional", "init", "parameter", "utils"]

_BORDERS = ("Circular", "Constant", "Reflection", "Replication", "Zero")
# Loaded when first used.
_LATER = {
    **dict.fromkeys(("LazyBatchNorm1d", "LazyBatchNorm2d", "LazyConv1d", "LazyConv2d"), "lazy"),
    **dict.fromkeys(("GRU", "LSTM", "RNN", "RNNBase"), "rnn"),
    **dict.fromkeys(("GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"), "rnn_cells"),
    "DataParallel": "parallel",
    "LazyLinear": "lazy",
    "Fold": "padding",
    "Unfold": "padding",
    **{f"{kind}Pad{rank}d": "padding" for kind in _BORDERS for rank in (1, 2)},
    **dict.fromkeys(("PixelShuffle", "PixelUnshuffle"), "padding"),
    "MultiheadAttention": "attention",
    **dict.fromkeys(("Transformer", "TransformerDecoder", "TransformerEncoder"), "transformer"),
    **dict.fromkeys(("TransformerDecoderLayer", "TransformerEncoderLayer"), "transformer"),
}
__all__ += [*_LATER]


__path__.append(modules_below(__name__))  # noqa: F405 - for imports of what only PyTorch has


def __getattr__(name: str) -> Any:
    if name == "modules":
        return late("modules")
    if name == "parallel":
        return import_module("autodiff_kit.nn.parallel")
    if name in _LATER:
        return getattr(import_module(f"autodiff_kit.nn.{_LATER[name]}"), name)
    raise absent(__name__, name)
