"""Words and classes as vectors: rows of a table, bags of rows, and rows with a single 1.

After reading this file you know that an embedding is a table whose rows are looked up by integers,
and that only the rows that were looked up get a gradient. Read next: ``functional_bags.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit.autograd.grad_mode import is_grad_enabled, no_grad
from autodiff_kit.core.versions import note_change
from autodiff_kit.creation import ones_like
from autodiff_kit.dtypes import backend_type
from autodiff_kit.errors import error
from autodiff_kit.from_data import from_numpy
from autodiff_kit.nn.functional_bags import bag_of_rows
from autodiff_kit.operands import check_operand, checked_int
from autodiff_kit.tensor import Tensor

__all__ = ["embedding", "embedding_bag", "one_hot"]


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Look up rows of ``weight``, shape (count, n), by integers: shape (*input.shape, n).

    The row ``padding_idx`` gets no gradient. With ``max_norm``, longer rows are shortened to it
    before, in place. IndexError if there is no such row.
    """
    if scale_grad_by_freq or sparse:
        raise error("nn.embedding_gradient", keyword="sparse" if sparse else "scale_grad_by_freq")
    check_operand("embedding", "indices", 2, input, numbers=False)
    check_operand("embedding", "weight", 1, weight, numbers=False)
    # PyTorch asks for the number of rows, for its rule, before it looks whether these are rows.
    if not weight.ndim and (padding_idx or (weight.requires_grad and is_grad_enabled())):
        raise error("shapes.size_of_0d", dim=0)
    count, indices = len(weight) if weight.ndim else 0, input._array
    if padding_idx and not -count <= padding_idx < count:
        raise error("functional.embedding_padding")
    if weight.ndim != 2:
        raise error("functional.embedding_rank")
    if indices.dtype not in ("int64", "int32"):
        raise error("functional.embedding_indices", kind=backend_type(indices.dtype))
    if indices.size and not count:
        raise error("indexing.select_from_nothing")
    if indices.size and not 0 <= indices.min() <= indices.max() < count:
        raise error("functional.embedding_range", last=count - 1)
    if max_norm is not None:
        shorten_rows(weight, indices, max_norm, norm_type)
    row = -1 if padding_idx is None else padding_idx % max(1, count)
    return ops.embedding(weight, indices=indices, padding_idx=row)


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Look up the rows of several words at once, and take their mean, sum or maximum.

    Parameters
    ----------
    input : Tensor, shape (bags, words) or (words,)
    weight : Tensor, shape (count, n)
    offsets : Tensor, shape (bags,)
        Where each bag begins, for input of one dimension; with ``include_last_offset``, its last
        element is where the last bag ends.
    mode : "mean", "sum" or "max"
    per_sample_weights : Tensor, shape of ``input``, optional
        Multiplied with the rows before they are summed.
    padding_idx : int, optional
        A row that does not count.

    Returns
    -------
    Tensor, shape (bags, n); zeros for an empty bag

    For ``max_norm`` see ``embedding``. ValueError or RuntimeError if something does not fit.
    """
    if scale_grad_by_freq or sparse:
        raise error("nn.embedding_gradient", keyword="sparse" if sparse else "scale_grad_by_freq")
    if mode not in ("mean", "sum", "max"):
        raise error("functional.bag_mode")
    if max_norm is not None:
        shorten_rows(weight, input._array, max_norm, norm_type)
    if per_sample_weights is not None and mode != "sum":
        raise error("functional.bag_weights_mode", mode=mode)
    options = mode, per_sample_weights, include_last_offset, padding_idx
    return bag_of_rows(input, weight, offsets, *options)


def shorten_rows(weight: Tensor, indices: Any, max_norm: float, norm_type: float) -> None:
    """Shorten the rows that are looked up to ``max_norm``, in place; the graph does not see it."""
    with no_grad():
        table, places = weight.detach(), from_numpy(np.unique(indices))
        rows = table[places]
        lengths = rows.norm(float(norm_type), -1, keepdim=True)
        shrink = ops.where(lengths > max_norm, max_norm / (lengths + 1e-7), ones_like(lengths))
        table[places] = rows * shrink


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Turn each class into a row of zeros with a 1 in its place: (*tensor.shape, num_classes).

    Classes are int64; -1 stands for one more than the largest.
    """
    check_operand("one_hot", "input", 1, tensor, numbers=False)
    num_classes = checked_int("one_hot", "num_classes", 2, num_classes)
    classes = tensor._array
    if classes.dtype != np.int64:
        raise error("functional.one_hot_type")
    if not classes.size and num_classes <= 0:
        raise error("functional.one_hot_of_nothing")
    if classes.size and classes.min() < 0:
        raise error("functional.one_hot_negative")
    if num_classes == -1:
        num_classes = int(classes.max()) + 1
    elif classes.size and classes.max() >= num_classes:
        raise error("functional.one_hot_large", count=num_classes)
    last = tensor.ndim
    marks = ops.mark(ops.unsqueeze(tensor, dim=last), dim=last, size=num_classes)
    out = ops.to_whole(marks, dtype=np.dtype("int64"))
    if classes.size:  # PyTorch sets zeros, then ones: two changes in place
        note_change(out._array)
        note_change(out._array)
    return out
