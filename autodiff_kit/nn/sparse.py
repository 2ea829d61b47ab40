"""Embeddings: tables of vectors that are learned.

After reading this file you know how words become vectors: their numbers are looked up. Read next:
``functional.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.errors import error
from autodiff_kit.free_form import Keywords
from autodiff_kit.nn import functional as F
from autodiff_kit.nn import init
from autodiff_kit.nn.parameter import Parameter
from autodiff_kit.nn.weighted import Shape, Weighted
from autodiff_kit.tensor import Tensor

__all__ = ["Embedding", "EmbeddingBag"]


class Embedding(Weighted):
    """A table of vectors, looked up by number: input of shape (*), output (*, embedding_dim).

    The row ``padding_idx`` is zeros at first and gets no gradient; AssertionError if there is none.
    With ``max_norm``, rows that are looked up are first shortened to it, measured by the norm of
    order ``norm_type``. ``scale_grad_by_freq`` and ``sparse`` are refused when rows are looked up.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise error("nn.padding_idx")
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        if _weight is None:
            self._make_parameters(device, dtype)
            self.weight.requires_grad_(not _freeze)
        else:
            self.weight = Parameter(_weight, requires_grad=not _freeze)

    def _shapes(self) -> dict[str, Shape]:
        return {"weight": (self.num_embeddings, self.embedding_dim)}

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """Make an embedding of a table; with ``freeze``, one that is not trained."""
        if embeddings.ndim != 2:
            raise error("nn.embeddings_rank")
        rows, size = embeddings.shape
        options: Keywords = {"_weight": embeddings, "_freeze": freeze}
        numbers = padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse
        return cls(rows, size, *numbers, **options)

    def reset_parameters(self) -> None:
        """Draw the table from the normal distribution."""
        _draw_table(self.weight, self.padding_idx)

    def forward(self, input: Tensor) -> Tensor:
        """Look up the rows."""
        options = self.norm_type, self.scale_grad_by_freq, self.sparse
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, *options)

    def extra_repr(self) -> str:
        """Return the sizes."""
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        usual = {"padding_idx": None, "max_norm": None, "norm_type": 2}
        usual |= {"scale_grad_by_freq": False, "sparse": False}
        changed = {n: getattr(self, n) for n in usual if getattr(self, n) != usual[n]}
        return "".join([text, *(f", {name}={value}" for name, value in changed.items())])


class EmbeddingBag(Weighted):
    """Look up the rows of several words at once, and take their mean, sum or maximum.

    Input of shape (bags, words) to (bags, embedding_dim); or (words,) with ``offsets``, which say
    where each bag begins. The row ``padding_idx`` does not count; for ``max_norm`` see
    ``Embedding``.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise error("nn.bag_padding_idx")
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.mode, self.sparse, self.include_last_offset = mode, sparse, include_last_offset
        if _weight is None:
            self._make_parameters(device, dtype)
        else:
            self.weight = Parameter(_weight)

    def _shapes(self) -> dict[str, Shape]:
        return {"weight": (self.num_embeddings, self.embedding_dim)}

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """Make one of a table; with ``freeze``, one that is not trained."""
        if embeddings.ndim != 2:
            raise error("nn.embeddings_rank")
        rows, size = embeddings.shape
        options: Any = {"max_norm": max_norm, "norm_type": norm_type, "mode": mode}
        options |= {"scale_grad_by_freq": scale_grad_by_freq, "sparse": sparse}
        options |= {"include_last_offset": include_last_offset, "padding_idx": padding_idx}
        bag = cls(rows, size, _weight=embeddings, **options)
        bag.weight.requires_grad_(not freeze)
        return bag

    def reset_parameters(self) -> None:
        """Draw the table from the normal distribution."""
        _draw_table(self.weight, self.padding_idx)

    def forward(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor:
        """Apply ``embedding_bag``."""
        options = self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse
        last = per_sample_weights, self.include_last_offset, self.padding_idx
        return F.embedding_bag(input, self.weight, offsets, *options, *last)

    def extra_repr(self) -> str:
        """Return the sizes and the mode."""
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        usual = {"max_norm": None, "norm_type": 2, "scale_grad_by_freq": False}
        usual |= {"mode": None, "padding_idx": None}
        changed = {n: getattr(self, n) for n in usual if getattr(self, n) != usual[n]}
        return "".join([text, *(f", {name}={value!r}" for name, value in changed.items())])


def _draw_table(weight: Any, padding_idx: int | None) -> None:
    init.normal_(weight)
    if padding_idx is not None:
        with no_grad():
            weight[padding_idx].fill_(0)
