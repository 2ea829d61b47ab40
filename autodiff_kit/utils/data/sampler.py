"""In which order samples are drawn: a sampler yields indices, or lists of them.

After reading this file you know where the shuffling of a ``DataLoader`` comes from: for one seed,
the order is PyTorch's. Read next: ``dataloader.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import islice
from typing import Any, Generic, TypeVar

from autodiff_kit.dtypes import float64
from autodiff_kit.errors import error
from autodiff_kit.functions import find
from autodiff_kit.outside import absent_in
from autodiff_kit.random import Generator, default_generator

__all__ = ["BatchSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler"]
__all__ += ["WeightedRandomSampler"]

Index = TypeVar("Index", covariant=True)


def draw_seed(generator: Generator | None = None) -> int:
    """Draw a seed of 63 bits, as PyTorch does for each pass over the data."""
    return int((generator or default_generator).integers(0, 2**63, 1)[0])


class Sampler(Generic[Index]):
    """The base class: a subclass has ``__iter__``, which yields indices, and ``__len__``."""

    def __init__(self, data_source: Any = None) -> None:
        pass

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """Yields indices in order."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Yields indices in random order, or, with replacement, any index at any time.

    ``num_samples`` says how many; default: the length of the data.
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source, self.replacement = data_source, replacement
        self._num_samples, self.generator = num_samples, generator
        if not isinstance(replacement, bool):
            raise error("loading.replacement", value=replacement)
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise error("loading.num_samples", value=self.num_samples)

    @property
    def num_samples(self) -> int:
        """How many indices there are in one pass."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        n, generator = len(self.data_source), self.generator
        if generator is None:
            generator = Generator().manual_seed(draw_seed())
        if self.replacement:
            for _ in range(self.num_samples // 32):
                yield from generator.integers(0, n, 32).tolist()
            yield from generator.integers(0, n, self.num_samples % 32).tolist()
            return
        for _ in range(self.num_samples // n):
            yield from generator.permutation(n).tolist()
        yield from generator.permutation(n).tolist()[: self.num_samples % n]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Yields some given indices, in random order."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        generator = self.generator or default_generator
        for i in generator.permutation(len(self.indices)).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Yields indices, each as likely as its weight is large; weights need not add up to 1.

    ValueError if arguments are of other types, or the weights are no row of numbers.
    """

    def __init__(
        self,
        weights: Any,
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise error("loading.num_samples", value=num_samples)
        if not isinstance(replacement, bool):
            raise error("loading.weighted_replacement", value=replacement)
        self.weights = find("as_tensor")(weights, dtype=float64)
        if self.weights.ndim != 1:
            raise error("loading.weights", shape=tuple(self.weights.shape))
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        options = {"generator": self.generator}
        places = find("multinomial")(self.weights, self.num_samples, self.replacement, **options)
        yield from places.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Yields lists of indices; with ``drop_last``, no list that is shorter than the others."""

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise error("loading.batch_size", value=batch_size)
        if not isinstance(drop_last, bool):
            raise error("loading.drop_last", value=drop_last)
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(islice(indices, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield batch

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


__getattr__ = absent_in(__name__)
