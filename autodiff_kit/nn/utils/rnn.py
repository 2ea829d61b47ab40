"""Sequences of different lengths as one batch: padded to one length, or packed without padding.

After reading this file you know what a packed sequence is: all first elements, then all second
ones, and so on, with how many there are each time. Sequences are sorted by length, so that the
first ones are there at any time. Read next: ``../rnn.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autodiff_kit import ops
from autodiff_kit.core.base import wrap
from autodiff_kit.creation import arange, full, tensor
from autodiff_kit.dtypes import float32, float64
from autodiff_kit.errors import error
from autodiff_kit.functions.basic import check_list
from autodiff_kit.outside import absent
from autodiff_kit.tensor import Tensor

__all__ = ["PackedSequence", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence"]
__all__ += ["pad_sequence", "unpack_sequence", "unpad_sequence"]


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

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Convert the data; arguments are those of ``Tensor.to``."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else self._replace(data=data)

    def cpu(self) -> PackedSequence:
        """Return the sequences themselves: there is nothing but the CPU."""
        return self

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Refuse, as PyTorch without CUDA does: the kit uses no GPU."""
        return self.to(device="cuda")

    def double(self) -> PackedSequence:
        """Convert the data to float64."""
        return self.to(float64)

    def float(self) -> PackedSequence:
        """Convert the data to float32."""
        return self.to(float32)

    @property
    def is_cuda(self) -> bool:
        """False: the kit uses no GPU."""
        return self.data.is_cuda


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
    if padding_side not in ("left", "right"):
        raise error("nn.padding_side", side=padding_side)
    if not sequences:
        raise error("nn.no_sequences")
    check_list("pad_sequence", sequences)
    longest, first = max(len(sequence) for sequence in sequences), sequences[0]
    sizes = (len(sequences), longest) if batch_first else (longest, len(sequences))
    padded = full((*sizes, *first.shape[1:]), padding_value, dtype=first.dtype)
    for i, sequence in enumerate(sequences):
        start = longest - len(sequence) if padding_side == "left" else 0
        times = slice(start, start + len(sequence))
        padded[(i, times) if batch_first else (times, i)] = sequence
    return padded


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack padded sequences: input of shape (length, n, *), or (n, length, *) if ``batch_first``.

    ``lengths`` are those without padding. Unless ``enforce_sorted``, sequences are sorted here;
    RuntimeError if they are not, or are empty.
    """
    lengths = lengths if isinstance(lengths, Tensor) else tensor(lengths)
    counts, order = lengths._array.astype(np.int64), None
    size = input.shape[0 if batch_first else 1]
    if len(counts) != size:
        raise error("nn.lengths_count", count=len(counts), size=size)
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
    data = ops.pack_padded_sequence(input, indices=(times, places))
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
    data = sequence.data
    padded = full((longest, int(sizes[0]), *data.shape[1:]), padding_value, dtype=data.dtype)
    ends = [*np.flatnonzero(np.diff(sizes)) + 1, len(sizes)]  # of times with as many sequences
    start = first = 0
    for end in map(int, ends):
        size, count = int(sizes[start]), int(sizes[start:end].sum())
        part = data[first : first + count].view(end - start, size, *data.shape[1:])
        padded[start:end, :size] = part
        start, first = end, first + count
    if batch_first:
        padded = padded.transpose(0, 1)
    lengths = wrap((sizes[:, None] > np.arange(sizes[0])).sum(0))
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(0 if batch_first else 1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices]
    return padded, lengths


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """Return padded sequences as a list of tensors of their own lengths.

    As in PyTorch, sequences that are not ``batch_first`` are transposed in place.
    """
    if not batch_first:
        padded_sequences.transpose_(0, 1)
    places = arange(padded_sequences.shape[1])
    pairs = zip(padded_sequences, lengths, strict=True)
    return [sequence[places < length] for sequence, length in pairs]


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Return packed sequences as a list of tensors of their own lengths."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences, True), batch_first=True)


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
