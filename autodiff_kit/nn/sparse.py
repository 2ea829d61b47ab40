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
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        *,
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
        if _weight is None:
            self._make_parameters(device, dtype)
            self.weight.requires_grad_(not _freeze)
        else:
            self.weight = Parameter(_weight, requires_grad=not _freeze)

    def _shapes(self) -> dict[str, Shape]:
        return {"weight": (self.num_embeddings, self.embedding_dim)}

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None
    ) -> Embedding:
        """Make an embedding of a table; with ``freeze``, one that is not trained."""
        if embeddings.ndim != 2:
            raise error("nn.embeddings_rank")
        rows, size = embeddings.shape
        return cls(rows, size, padding_idx, _weight=embeddings, _freeze=freeze)

    def reset_parameters(self) -> None:
        """Draw the table from the normal distribution."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    def forward(self, input: Tensor) -> Tensor:
        """Look up the rows."""
        return F.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        """Return the sizes."""
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"
