"""Multi-head attention: several attentions side by side, each to its own part of the features.

After reading this file you know that the heads are a matter of shapes: features are split into
heads, heads are treated as further samples, and joined at the end. Read next:
``functional_attention.py``.

Source: Vaswani et al., Attention is all you need (2017).
"""

from __future__ import annotations

import math
import warnings
from typing import Any

from autodiff_kit.core.observer import installed
from autodiff_kit.creation import empty
from autodiff_kit.errors import error
from autodiff_kit.nn import functional as F
from autodiff_kit.nn import init
from autodiff_kit.nn.functional_attention import added_mask
from autodiff_kit.nn.linear import Linear
from autodiff_kit.nn.module import Module
from autodiff_kit.nn.parameter import Parameter
from autodiff_kit.outside import absent, modules_below, only_default
from autodiff_kit.tensor import Tensor

__all__ = ["MultiheadAttention"]


class NonDynamicallyQuantizableLinear(Linear):
    """``Linear`` under the name that PyTorch prints here."""


class MultiheadAttention(Module):
    """Attention of several heads, with linear layers before and after it.

    Parameters
    ----------
    embed_dim, num_heads : int
        Features, and the number of heads that share them.
    dropout : float
        Probability with which weights become 0, in training.
    bias : bool
        Of the linear layers.
    kdim, vdim : int, optional
        Features of keys and values; default: ``embed_dim``.
    batch_first : bool
        Whether inputs have shape (n, length, features), else (length, n, features).

    ValueError or AssertionError if the features cannot be shared. PyTorch can also append learned
    keys and values, and zeros.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        options = {"add_bias_kv": add_bias_kv, "add_zero_attn": add_zero_attn}
        only_default("nn.MultiheadAttention", **options)
        if embed_dim <= 0 or num_heads <= 0:
            raise error("nn.attention_sizes", features=embed_dim, heads=num_heads)
        if embed_dim % num_heads:
            raise error("nn.attention_heads")
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.batch_first, self.head_dim = batch_first, embed_dim // num_heads
        is_packed = self.kdim == self.vdim == embed_dim
        shapes: dict[str, tuple[int, ...]] = {
            "q_proj_weight": (embed_dim, embed_dim),
            "k_proj_weight": (embed_dim, self.kdim),
            "v_proj_weight": (embed_dim, self.vdim),
            "in_proj_weight": (3 * embed_dim, embed_dim),
        }
        if is_packed:
            shapes = dict(reversed(shapes.items()))
        with installed(None):
            for name, shape in shapes.items():
                parameter = None
                if (name == "in_proj_weight") == is_packed:
                    parameter = Parameter(empty(shape, device=device, dtype=dtype))
                self.register_parameter(name, parameter)
            parameter = (
                Parameter(empty(3 * embed_dim, device=device, dtype=dtype)) if bias else None
            )
            self.register_parameter("in_proj_bias", parameter)
            kind = {"device": device, "dtype": dtype}
            self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, **kind)
            self._reset_parameters()

    def _reset_parameters(self) -> None:
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            if getattr(self, name) is not None:
                init.xavier_uniform_(getattr(self, name))
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Mix values, for each query, by how well its key fits.

        Parameters
        ----------
        query, key, value : Tensor
            Shape (length, n, features), see ``batch_first``, or (length, features).
        key_padding_mask : Tensor, shape (n, keys), optional
            True, or -inf: this key is padding, and not seen.
        need_weights, average_attn_weights : bool
            Whether to return the weights, and whether averaged over the heads.
        attn_mask : Tensor, shape (queries, keys) or (n * num_heads, queries, keys), optional
            True: this query does not see this key; floats are added to the scores.
        is_causal : bool
            Says that ``attn_mask`` hides what comes later, and nothing else.

        Returns
        -------
        (output, weights) - the second is None unless ``need_weights``.

        Raises
        ------
        RuntimeError, AssertionError
            If shapes do not fit.
        """
        is_batched, swaps = query.ndim == 3, self.batch_first and query.ndim == 3
        padding = _mask("key_padding_mask", key_padding_mask, query, attn_mask)
        mask = _mask("attn_mask", attn_mask, query)
        self._check_ranks(query, key, value, mask)
        if swaps:  # what is one tensor stays one
            by_id = {id(x): x.transpose(0, 1) for x in (query, key, value)}
            query, key, value = (by_id[id(x)] for x in (query, key, value))
        elif not is_batched:
            query, key, value = (x.unsqueeze(1) for x in (query, key, value))
            padding = None if padding is None else padding.unsqueeze(0)
        length, count, features = query.shape
        if is_causal and mask is None:
            raise error("nn.attention_causal")
        makes_mask = is_causal and padding is None and not need_weights
        mask = None if makes_mask else mask
        if features != self.embed_dim:
            raise error("nn.attention_features", expected=self.embed_dim, got=features)
        if self.in_proj_weight is not None and key.shape != value.shape:
            raise error("nn.attention_keys", keys=key.shape, values=value.shape)
        heads = [self._heads(x) for x in self._projected(query, key, value)]
        mask = self._joined_mask(mask, padding, length, count, len(key))
        dropout = self.dropout if self.training else 0.0
        if need_weights:
            scaled = heads[0] * math.sqrt(1 / self.head_dim)
            keys = heads[1].transpose(-2, -1)
            scores = scaled.bmm(keys) if mask is None else mask.baddbmm(scaled, keys)
            weights = F.dropout(scores.softmax(-1), dropout)
            mixed = weights.bmm(heads[2])
            rows = mixed.transpose(0, 1).reshape(length * count, features)
        else:
            shape = count, self.num_heads, -1, self.head_dim
            if mask is not None:
                is_shared = len(mask) == 1
                mask = mask.unsqueeze(0) if is_shared else mask.view(*shape[:2], -1, len(key))
            q, k, v = (head.view(*shape) for head in heads)
            mixed = F.scaled_dot_product_attention(q, k, v, mask, dropout, makes_mask)
            rows = mixed.permute(2, 0, 1, 3).reshape(length * count, features)
        out = self._out(rows).view(length, count, features)
        out = out.transpose(0, 1) if swaps else out if is_batched else out.squeeze(1)
        if not need_weights:
            return out, None
        weights = weights.view(count, self.num_heads, length, len(key))
        weights = weights.mean(1) if average_attn_weights else weights
        return out, weights if is_batched else weights.squeeze(0)

    def _check_ranks(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> None:
        if query.ndim not in (2, 3):
            raise error("nn.attention_rank", rank=query.ndim)
        words = "batched (3-D)" if query.ndim == 3 else "unbatched (2-D)"
        if mask is not None and mask.ndim not in (2, 3):
            raise error("nn.mask_rank", query=words, rank=mask.ndim)
        if not query.ndim == key.ndim == value.ndim:
            raise error(
                "nn.attention_ranks", query=words, ranks=[x.ndim for x in (query, key, value)]
            )

    def _out(self, rows: Tensor) -> Tensor:
        return F.linear(rows, self.out_proj.weight, self.out_proj.bias)

    def _projected(self, query: Tensor, key: Tensor, value: Tensor) -> list[Tensor]:
        """Apply the three linear layers before the attention."""
        inputs, size = (query, key, value), self.embed_dim
        if self.in_proj_weight is None:
            weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        elif key is value:
            return self._projected_at_once(query, key)
        else:
            weights = self.in_proj_weight.split(size)
        biases = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.split(size)
        return [F.linear(*each) for each in zip(inputs, weights, biases, strict=True)]

    def _projected_at_once(self, query: Tensor, key: Tensor) -> list[Tensor]:
        """Do so with one product for all inputs that are one tensor."""
        size, weight, bias = self.embed_dim, self.in_proj_weight, self.in_proj_bias
        count, projected = 3, []
        if query is not key:
            count = 2
            own, weight = weight.split([size, 2 * size])
            own_bias, bias = (None, None) if bias is None else bias.split([size, 2 * size])
            projected = [F.linear(query, own, own_bias)]
        together = F.linear(key, weight, bias).unflatten(-1, (count, size))
        together = together.unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
        return [*projected, *(together[i] for i in range(count))]

    def _heads(self, x: Tensor) -> Tensor:
        """Return heads as samples: shape (n * heads, length, features / heads)."""
        length, count, _ = x.shape
        rows = x.contiguous().view(length, count * self.num_heads, self.head_dim)
        return rows.transpose(0, 1)

    def _joined_mask(
        self, mask: Tensor | None, padding: Tensor | None, length: int, count: int, keys: int
    ) -> Tensor | None:
        """Return what to add to the scores: shape (1 or n * heads, queries or 1, keys)."""
        if mask is not None:
            rank, samples = mask.ndim, count * self.num_heads
            expected: tuple[int, ...] = (length, keys) if rank == 2 else (samples, length, keys)
            if mask.shape != expected:
                raise error("nn.mask_shape", rank=rank, shape=mask.shape, expected=expected)
            mask = mask.unsqueeze(0) if rank == 2 else mask
        if padding is None:
            return mask
        if padding.shape != (count, keys):
            place = int(padding.shape[0] == count)
            size, actual = (count, keys)[place], padding.shape[place]
            raise error("nn.padding_mask", expected=size, dim=place, actual=actual)
        padding = padding.view(count, 1, 1, keys).expand(-1, self.num_heads, -1, -1)
        padding = padding.reshape(count * self.num_heads, 1, keys)
        return padding if mask is None else mask + padding


def _mask(
    name: str, mask: Tensor | None, like: Tensor, other: Tensor | None = None
) -> Tensor | None:
    """Return a mask as floats that are added to the scores."""
    if mask is None:
        return None
    if mask._array.dtype.kind not in "fb":
        raise error("nn.mask_type", name=name)
    if other is not None and mask.dtype is not other.dtype:
        warnings.warn(
            f"Support for mismatched {name} and attn_mask is deprecated. Use same type for both "
            "instead.",
            UserWarning,
            stacklevel=3,
        )
    return mask if mask.is_floating_point() else added_mask(mask, like)


__path__ = [modules_below(__name__)]  # for imports of what only PyTorch has


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
