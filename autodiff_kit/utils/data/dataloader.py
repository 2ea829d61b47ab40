"""The loader: it draws samples of a dataset and makes batches of them.

After reading this file you know that a loader is a loop: indices from a sampler, samples from the
dataset, and a function that puts samples together. Read next: ``../../optim/optimizer.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Generic, TypeVar

import numpy as np

from autodiff_kit.creation import tensor
from autodiff_kit.dtypes import float64
from autodiff_kit.errors import error
from autodiff_kit.from_data import from_numpy
from autodiff_kit.functions import stack
from autodiff_kit.outside import absent_in
from autodiff_kit.random import Generator
from autodiff_kit.tensor import Tensor
from autodiff_kit.utils.data.dataset import IterableDataset
from autodiff_kit.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    SequentialSampler,
    draw_seed,
)

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

Batch = TypeVar("Batch", covariant=True)


def default_collate(batch: Any) -> Any:
    """Put samples together: tensors are stacked, numbers become a tensor, texts a list.

    Tuples, lists and dictionaries are put together element by element. TypeError for other things,
    RuntimeError if sequences differ in length.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(batch, 0)
    if isinstance(first, np.ndarray):
        return stack([from_numpy(array) for array in batch], 0)
    if isinstance(first, np.generic):
        return from_numpy(np.array(batch))
    if isinstance(first, float):
        return tensor(batch, dtype=float64)
    if isinstance(first, int):
        return tensor(batch)
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        return type(first)({key: default_collate([d[key] for d in batch]) for key in first})  # type: ignore[call-arg]
    if isinstance(first, tuple | list):
        if any(len(sample) != len(first) for sample in batch):
            raise error("loading.sample_lengths")
        columns = [default_collate(column) for column in zip(*batch, strict=True)]
        return type(first)(*columns) if hasattr(first, "_fields") else columns
    raise error("loading.collate", kind=type(first))


def default_convert(data: Any) -> Any:
    """Return a sample that is no batch with its arrays as tensors, also within lists and dicts."""
    if isinstance(data, np.ndarray):
        return data if data.dtype.kind in "SUO" else from_numpy(data)
    if isinstance(data, np.generic) and data.dtype.kind not in "SUO":
        return from_numpy(np.asarray(data))
    if isinstance(data, Mapping):
        return type(data)({key: default_convert(data[key]) for key in data})  # type: ignore[call-arg]
    if isinstance(data, tuple | list):
        values = [default_convert(value) for value in data]
        return type(data)(*values) if hasattr(data, "_fields") else values
    return data


def get_worker_info() -> None:
    """Return None: samples are loaded in the main process."""


class DataLoader(Generic[Batch]):
    """Batches of a dataset, to be looped over.

    Parameters
    ----------
    dataset : anything with a length that can be indexed, or an ``IterableDataset``
    batch_size : int or None
        Samples in a batch; None: single samples.
    shuffle : bool
        Whether each pass has an order of its own; for one seed, PyTorch's.
    sampler, batch_sampler : iterable of int, of lists of int, optional
        The indices, instead of ``shuffle``.
    num_workers : int
        Samples are loaded in this process in any case; batches are the same.
    collate_fn : function, optional
        Makes a batch of a list of samples; default: ``default_collate``.
    drop_last : bool
        Whether to leave out a last batch that is smaller.
    generator : Generator, optional
        Where random orders come from.

    ``pin_memory``, ``timeout``, ``worker_init_fn``, ``multiprocessing_context``,
    ``prefetch_factor``, ``persistent_workers``, ``pin_memory_device`` and ``in_order``, which are
    about other processes and speed, change nothing. ValueError if arguments exclude each other.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        if num_workers < 0:
            raise error("loading.num_workers")
        if persistent_workers and num_workers == 0:
            raise error("loading.persistent_workers")
        self.dataset, self.num_workers, self.generator = dataset, num_workers, generator
        self.pin_memory, self.drop_last = pin_memory, drop_last
        self._is_stream = isinstance(dataset, IterableDataset)
        if self._is_stream and shuffle:
            raise error("loading.stream_shuffle", shuffle=shuffle)
        if sampler is not None and shuffle:
            raise error("loading.sampler_shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise error("loading.batch_sampler")
            batch_size = None
        elif batch_size is None and drop_last:
            raise error("loading.no_batches")
        if sampler is None and not self._is_stream:
            if shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None and sampler is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.sampler, self.batch_sampler = batch_size, sampler, batch_sampler
        makes_batches = batch_sampler is not None or batch_size is not None
        self.collate_fn = collate_fn or (default_collate if makes_batches else default_convert)

    def __iter__(self) -> Iterator[Any]:
        draw_seed(self.generator)  # PyTorch's workers get seeds of their own from it
        return self._batches()

    def _batches(self) -> Iterator[Any]:
        if self._is_stream:
            yield from self._of_stream()
        elif self.batch_sampler is None:
            for index in self.sampler or ():
                yield self.collate_fn(self.dataset[index])
        else:
            for indices in self.batch_sampler:
                yield self.collate_fn([self.dataset[index] for index in indices])

    def _of_stream(self) -> Iterator[Any]:
        samples = iter(self.dataset)
        if self.batch_size is None:
            yield from map(self.collate_fn, samples)
            return
        while batch := list(islice(samples, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield self.collate_fn(batch)

    def __len__(self) -> int:
        if self._is_stream:
            count, size = len(self.dataset), self.batch_size or 1
            return count // size if self.drop_last else -(-count // size)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)  # type: ignore[arg-type]


__getattr__ = absent_in(__name__)
