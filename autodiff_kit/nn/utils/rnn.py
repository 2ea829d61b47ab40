"""Sequences of different lengths as one batch: padded to one length, or packed without padding.

After reading this file you know what a packed sequence is: all first elements, then all second
ones, and so on, with how many there are each time. Sequences are sorted by length, so that the
first ones are there at any time. Read next: ``../rnn.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autodiff_kit.core.base import wrap
from autodiff_kit.creation import full, tensor
from autodiff_kit.errors import error
from autodiff_kit.functions import cat, stack
from autodiff_kit.outside import absent
from autodiff_kit.tensor import Tensor

__all__ = ["PackedSequence", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence"]
__all__ += ["pad_sequence"]


class PackedSequence(NamedTuple):
    """Sequences of different lengths, without padding.

    Attributes
    ----------
    data : Tensor, shape (all elements, *)
        Time by time, the longest sequence first.
    batch_sizes : Tensor of int64
        How many sequences there still are at each time.
    sorted_indices, unsorted_indices : Tensor of int64, or None
        How the sequences were sorted, and how to undo that.
    """

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None


def pad_sequence(
    sequences: Sequence[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Stack sequences of shape (length, *), after padding them to the length of the longest.

    Returns a tensor of shape (length, n, *), or (n, length, *) if ``batch_first``.
    """
    if isinstance(sequences, Tensor):
        sequences = sequences.unbind(0)
    longest = max(len(sequence) for sequence in sequences)
    padded = []
    for sequence in sequences:
        shape = (longest - len(sequence), *sequence.shape[1:])
        rest = full(shape, padding_value, dtype=sequence.dtype)
        parts = [sequence, rest] if padding_side == "right" else [rest, sequence]
        padded.append(cat(parts) if shape[0] else sequence)
    return stack(padded, 0 if batch_first else 1)


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack padded sequences: input of shape (length, n, *), or (n, length, *) if ``batch_first``.

    ``lengths`` are those without padding. Unless ``enforce_sorted``, sequences are sorted here;
    RuntimeError if they are not, or are empty.
    """
    lengths = lengths if isinstance(lengths, Tensor) else tensor(lengths)
    counts, order = lengths._array.astype(np.int64), None
    if not enforce_sorted:
        order = np.argsort(-counts, kind="stable")
        counts = counts[order]
        input = input.index_select(0 if batch_first else 1, wrap(order))
    if np.any(np.diff(counts) > 0):
        raise error("nn.lengths_unsorted")
    if counts[-1] <= 0:
        raise error("nn.lengths_empty")
    if batch_first:
        input = input.transpose(0, 1)
    sizes = (counts > np.arange(counts[0])[:, None]).sum(1)
    times = np.repeat(np.arange(counts[0]), sizes)
    places = np.concatenate([np.arange(size) for size in sizes])
    data = input[wrap(times), wrap(places)]
    if order is None:
        return PackedSequence(data, wrap(sizes))
    return PackedSequence(data, wrap(sizes), wrap(order), wrap(np.argsort(order)))


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences of shape (length, *)."""
    lengths = [len(sequence) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Return packed sequences padded to one length, and their lengths.

    ``total_length`` may be longer than the longest; ValueError if it is shorter.
    """
    sizes = sequence.batch_sizes._array
    longest = len(sizes) if total_length is None else total_length
    if longest < len(sizes):
        raise error("nn.total_length", total=longest, longest=len(sizes))
    firsts = np.cumsum(sizes) - sizes
    rows = np.full((longest, sizes[0]), len(sequence.data))  # padding: the row behind the last
    for time, (first, size) in enumerate(zip(firsts, sizes, strict=True)):
        rows[time, :size] = np.arange(first, first + size)
    padding = full((1, *sequence.data.shape[1:]), padding_value, dtype=sequence.data.dtype)
    padded = cat([sequence.data, padding])[wrap(rows.T if batch_first else rows)]
    lengths = wrap((sizes[:, None] > np.arange(sizes[0])).sum(0))
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(0 if batch_first else 1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices]
    return padded, lengths


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
