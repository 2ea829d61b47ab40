"""Embeddings: tables of vectors that are learned.

After reading this file you know how words become vectors: their numbers are looked up. Read next:
``functional.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.errors import error
from autodiff_kit.nn import functional as F
from autodiff_kit.nn import init
from autodiff_kit.nn.parameter import Parameter
from autodiff_kit.nn.weighted import Shape, Weighted
from autodiff_kit.tensor import Tensor

__all__ = ["Embedding"]


class Embedding(Weighted):
    """A table of vectors, looked up by number: input of shape (*), output (*, embedding_dim).

    The row ``padding_idx`` is zeros at first and gets no gradient; AssertionError if there is none.
    With ``max_norm``, rows that are looked up are first shortened to it, measured by the norm of
    order ``norm_type``.
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
    ) -> Embedding:
        """Make an embedding of a table; with ``freeze``, one that is not trained."""
        if embeddings.ndim != 2:
            raise error("nn.embeddings_rank")
        rows, size = embeddings.shape
        options: dict[str, Any] = {"_weight": embeddings, "_freeze": freeze}
        return cls(rows, size, padding_idx, max_norm, norm_type, **options)

    def reset_parameters(self) -> None:
        """Draw the table from the normal distribution."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    def forward(self, input: Tensor) -> Tensor:
        """Look up the rows."""
        options = self.norm_type, self.scale_grad_by_freq, self.sparse
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, *options)

    def extra_repr(self) -> str:
        """Return the sizes."""
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        usual = {"padding_idx": None, "max_norm": None, "norm_type": 2}
        changed = {n: getattr(self, n) for n in usual if getattr(self, n) != usual[n]}
        return "".join([text, *(f", {name}={value}" for name, value in changed.items())])
