"""Transformers: stacks of attention and small networks, with normalization and shortcuts.

After reading this file you know the parts of a transformer: an encoder reads one sequence, a
decoder writes another one and attends to what was read. Read next: ``attention.py``.

Source: Vaswani et al., Attention is all you need (2017); Xiong et al., On layer normalization in
the transformer architecture (2020), for ``norm_first``.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_kit.core.mode import local
from autodiff_kit.creation import tensor
from autodiff_kit.errors import error
from autodiff_kit.nn import functional as F
from autodiff_kit.nn import init
from autodiff_kit.nn.activation import GELU, ReLU
from autodiff_kit.nn.attention import MultiheadAttention
from autodiff_kit.nn.containers import ModuleList
from autodiff_kit.nn.dropout import Dropout
from autodiff_kit.nn.linear import Linear
from autodiff_kit.nn.module import Module
from autodiff_kit.nn.normalization import LayerNorm
from autodiff_kit.tensor import Tensor

__all__ = ["Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder"]
__all__ += ["TransformerEncoderLayer"]

Activation = str | Callable[[Tensor], Tensor]


class _Layer(Module):
    """What the layers of encoder and decoder have in common.

    Parameters
    ----------
    d_model, nhead : int
        Features, and heads of the attention.
    dim_feedforward : int
        Features between the two linear layers.
    dropout : float
        Probability for all parts.
    activation : {"relu", "gelu"} or function
    layer_norm_eps : float
    batch_first : bool
        Whether inputs have shape (n, length, features), else (length, n, features).
    norm_first : bool
        Whether normalization comes before each part, else after it.
    bias : bool
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        kind = {"device": device, "dtype": dtype}
        attention = {"bias": bias, "batch_first": batch_first, **kind}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, **attention)
        if self._attends_to_memory:
            self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, **attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias, **kind)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **kind)
        self.norm_first = norm_first
        parts = 3 if self._attends_to_memory else 2
        for i in range(parts):
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias, **kind)
            self.add_module(f"norm{i + 1}", norm)
        for i in range(parts):
            self.add_module(f"dropout{i + 1}", Dropout(dropout))
        if isinstance(activation, str):
            if activation not in ("relu", "gelu"):
                raise error("nn.transformer_activation", name=activation)
            activation = F.relu if activation == "relu" else F.gelu
        self.activation = activation

    _attends_to_memory: bool

    def _added(self, x: Tensor, number: int, part: Callable[[Tensor], Tensor]) -> Tensor:
        """Add what a part makes of x, and normalize before or after that."""
        norm, dropout = getattr(self, f"norm{number}"), getattr(self, f"dropout{number}")
        if self.norm_first:
            return x + dropout(part(norm(x)))
        return norm(x + dropout(part(x)))

    def _feed(self, x: Tensor) -> Tensor:
        x = self.dropout(self.activation(self.linear1(x)))
        return self.linear2(x)


class TransformerEncoderLayer(_Layer):
    """Attention of a sequence to itself, then two linear layers; each is added to its input.

    For the parameters see ``TransformerDecoderLayer``, which has the same.
    """

    _attends_to_memory = False

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Compute the layer; for the masks see ``MultiheadAttention``."""
        masks = {"key_padding_mask": src_key_padding_mask, "attn_mask": src_mask}

        def attend(x: Tensor) -> Tensor:
            return self.self_attn(x, x, x, **masks, need_weights=False, is_causal=is_causal)[0]

        return self._added(self._added(src, 1, attend), 2, self._feed)


class TransformerDecoderLayer(_Layer):
    """Attention of a sequence to itself and to another one, then two linear layers.

    Parameters
    ----------
    d_model, nhead : int
        Features, and heads of the attention.
    dim_feedforward : int
        Features between the two linear layers.
    dropout : float
    activation : {"relu", "gelu"} or function
    layer_norm_eps : float
    batch_first, norm_first, bias : bool
        See ``MultiheadAttention``; whether normalization comes before each part, else after it.
    """

    _attends_to_memory = True

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Compute the layer; for the masks see ``MultiheadAttention``."""
        own = {"key_padding_mask": tgt_key_padding_mask, "attn_mask": tgt_mask}
        others = {"key_padding_mask": memory_key_padding_mask, "attn_mask": memory_mask}

        def attend(x: Tensor) -> Tensor:
            return self.self_attn(x, x, x, **own, need_weights=False, is_causal=tgt_is_causal)[0]

        def read(x: Tensor) -> Tensor:
            options = {"need_weights": False, "is_causal": memory_is_causal}
            return self.multihead_attn(x, memory, memory, **others, **options)[0]

        x = self._added(self._added(tgt, 1, attend), 2, read)
        return self._added(x, 3, self._feed)


def _copies(layer: Module, count: int) -> ModuleList:
    return ModuleList(copy.deepcopy(layer) for _ in range(count))


class TransformerEncoder(Module):
    """Copies of a ``TransformerEncoderLayer``, one after the other, and a last normalization.

    ``enable_nested_tensor`` and ``mask_check`` say how PyTorch computes the same faster.
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check
        reason = _why_not_nested(encoder_layer)
        self.use_nested_tensor = enable_nested_tensor and reason is None
        if enable_nested_tensor and reason is not None:
            warnings.warn(
                "enable_nested_tensor is True, but self.use_nested_tensor is False because "
                f"{reason}",
                UserWarning,
                stacklevel=2,
            )

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """Compute all layers; for the masks see ``MultiheadAttention``."""
        causal = _is_causal(mask, is_causal, src, self.layers[0].self_attn.batch_first)
        leaves_padding_out = self._leaves_padding_out(src, mask, src_key_padding_mask)
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, causal)
        if leaves_padding_out:
            src = src.masked_fill(src_key_padding_mask.unsqueeze(-1), 0)  # type: ignore[union-attr]
        return src if self.norm is None else self.norm(src)

    def _leaves_padding_out(self, src: Tensor, mask: Any, padding: Tensor | None) -> bool:
        """Return whether PyTorch leaves padding out in evaluation; its output there is 0 then."""
        if not self.use_nested_tensor or self.layers[0].training or src.ndim != 3:
            return False
        if mask is not None or padding is None or padding._array.dtype != bool:
            return False
        if local.mode.grad_enabled and any(p.requires_grad for p in self.layers[0].parameters()):
            return False
        return not self.mask_check or bool(np.all(np.diff(padding._array.astype(int), axis=1) >= 0))


def _why_not_nested(layer: Module) -> str | None:
    """Return why PyTorch would not pack sequences of different lengths, in its words."""
    if not isinstance(layer, TransformerEncoderLayer):
        return "encoder_layer was not TransformerEncoderLayer"
    attention = layer.self_attn
    if layer.norm_first:
        return "encoder_layer.norm_first was True"
    if not attention.batch_first:
        words = "encoder_layer.self_attn.batch_first was not True"
        return f"{words}(use batch_first for better inference performance)"
    if attention.in_proj_bias is None:
        return "encoder_layer.self_attn was passed bias=False"
    if not _is_relu_or_gelu(layer.activation):
        return "encoder_layer.activation_relu_or_gelu was not True"
    if attention.num_heads % 2:
        return "encoder_layer.self_attn.num_heads is odd"
    return None


def _is_relu_or_gelu(activation: Any) -> bool:
    return activation in (F.relu, F.gelu) or isinstance(activation, ReLU | GELU)


def _is_causal(mask: Tensor | None, is_causal: bool | None, x: Tensor, batch_first: bool) -> bool:
    """Return whether a mask hides what comes later, and nothing else."""
    if is_causal is not None or mask is None or not mask.is_floating_point():
        return is_causal is True
    length = x.shape[1 if batch_first and x.ndim == 3 else 0]
    later = np.triu(np.full((length, length), -math.inf), 1)
    return bool(np.array_equal(mask._array, later))


class TransformerDecoder(Module):
    """Copies of a ``TransformerDecoderLayer``, one after the other, and a last normalization."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Compute all layers; for the masks see ``MultiheadAttention``."""
        causal = _is_causal(tgt_mask, tgt_is_causal, tgt, self.layers[0].self_attn.batch_first)
        masks = tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask
        for layer in self.layers:
            tgt = layer(tgt, memory, *masks, causal, memory_is_causal)
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder and a decoder; for the parameters see ``TransformerDecoderLayer``."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        options: tuple[Any, ...] = (dim_feedforward, dropout, activation, layer_norm_eps)
        options += (batch_first, norm_first, bias, device, dtype)
        norm = (layer_norm_eps, True, bias, device, dtype)
        if custom_encoder is None:
            encoder_layer = TransformerEncoderLayer(d_model, nhead, *options)
            last = LayerNorm(d_model, *norm)
            custom_encoder = TransformerEncoder(encoder_layer, num_encoder_layers, last)
        self.encoder = custom_encoder
        if custom_decoder is None:
            decoder_layer = TransformerDecoderLayer(d_model, nhead, *options)
            last = LayerNorm(d_model, *norm)
            custom_decoder = TransformerDecoder(decoder_layer, num_decoder_layers, last)
        self.decoder = custom_decoder
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Encode ``src``, and decode ``tgt`` with it; for the masks see ``MultiheadAttention``."""
        batch = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[batch] != tgt.shape[batch]:
            raise error("nn.transformer_batch")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise error("nn.transformer_features")
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        padding = tgt_key_padding_mask, memory_key_padding_mask
        causal = tgt_is_causal, memory_is_causal
        return self.decoder(tgt, memory, tgt_mask, memory_mask, *padding, *causal)

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """Return a mask that hides what comes later: 0, and -inf above the diagonal."""
        hidden = np.triu(np.full((sz, sz), -math.inf), 1)
        return tensor(hidden.tolist(), device=device, dtype=dtype)
