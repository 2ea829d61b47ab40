"""Random numbers: for one seed, the numbers that PyTorch draws.

After reading this file you know how one stream of 32-bit integers (the Mersenne Twister) becomes
uniform and normal numbers. PyTorch's CPU generator turns them in this very way, so that
``manual_seed(0); randn(3)`` prints here what it prints there. Read next: ``creation.py``.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from autodiff_kit import dtypes
from autodiff_kit.core.setting import Setting
from autodiff_kit.from_data import from_numpy
from autodiff_kit.outside import absent

__all__ = ["Generator", "default_generator", "draws_observed", "fork_rng", "get_rng_state"]
__all__ += ["initial_seed", "manual_seed", "scaled", "seed", "set_rng_state"]

Array = np.ndarray[Any, Any]


class _Drawing(threading.local):
    observers: tuple[Callable[[Generator], None], ...] = ()


_drawing = _Drawing()


def draws_observed(observer: Callable[[Generator], None]) -> Setting:
    """Call ``observer`` with the generator before each draw of this thread, in a ``with``."""
    return Setting(_drawing, "observers", (*_drawing.observers, observer))


class Generator:
    """A source of random numbers of its own."""

    def __init__(self, device: Any = "cpu") -> None:
        dtypes.check_device(device)
        self.manual_seed(67280421310721)  # PyTorch's default seed

    def manual_seed(self, seed: int) -> Generator:
        """Start the sequence that belongs to ``seed``."""
        self._seed = int(seed)
        self._stream: Any = None  # made when first drawn from: loading numpy.random takes 20 ms
        self._spare: float | None = None  # normal numbers are made in pairs
        return self

    def initial_seed(self) -> int:
        """Return the seed of the sequence."""
        return self._seed

    def seed(self) -> int:
        """Start the sequence of a new seed; return that."""
        from secrets import randbits

        return self.manual_seed(randbits(63)).initial_seed()

    def get_state(self) -> Any:
        """Return how far the sequence has come, as a uint8 tensor."""
        from pickle import dumps

        state = dumps((self._seed, self._stream, self._spare))
        return from_numpy(np.frombuffer(state, "uint8").copy())

    def set_state(self, new_state: Any) -> Generator:
        """Go on where the sequence was when its state was taken."""
        from pickle import loads

        self._seed, self._stream, self._spare = loads(new_state.numpy().tobytes())
        return self

    def _integers(self, count: int) -> Array:
        """Draw integers of 32 bits."""
        for note in _drawing.observers:
            note(self)
        if self._stream is None:
            self._stream = np.random.RandomState(self._seed & 0xFFFFFFFF)
        integers: Array = self._stream.randint(0, 2**32, size=count, dtype=np.uint32)
        return integers

    def uniform(self, count: int, dtype: Any) -> Array:
        """Draw from [0, 1): 53 random bits for float64, 24 for float32 (11 for float16)."""
        if dtype == np.float64:
            pairs = self._integers(2 * count).astype(np.uint64)
            bits = (pairs[0::2] << np.uint64(32) | pairs[1::2]) & np.uint64(2**53 - 1)
            return bits.astype(np.float64) * 2.0**-53
        digits = np.finfo(dtype).nmant + 1
        integers = self._integers(count) & np.uint32(2**digits - 1)
        return (integers.astype(np.float32) * np.float32(2.0**-digits)).astype(dtype)

    def normal(self, count: int, dtype: Any, *, in_blocks: bool = True) -> Array:
        """Draw from the normal distribution with mean 0 and variance 1.

        From 16 numbers on, PyTorch draws in blocks, where elements lie row by row in memory.

        Source: Box and Muller, A note on the generation of random normal deviates (1958).
        """
        if count < 16 or not in_blocks:
            return np.array([self._one_normal() for _ in range(count)]).astype(dtype)
        work = np.float64 if dtype == np.float64 else np.float32
        out = self.uniform(count, work)
        whole = count // 16 * 16
        out[:whole] = _pairs(out[:whole].reshape(-1, 16)).ravel()
        if whole < count:  # the last 16 are drawn anew, to be a full block
            out[-16:] = _pairs(self.uniform(16, work).reshape(1, 16)).ravel()
        return out.astype(dtype)

    def _one_normal(self) -> float:
        if self._spare is not None:
            for note in _drawing.observers:
                note(self)
            number, self._spare = self._spare, None
            return number
        turn, distance = self.uniform(2, np.float64).tolist()
        radius, angle = math.sqrt(-2 * math.log1p(-distance)), 2 * math.pi * turn
        self._spare = radius * math.sin(angle)
        return radius * math.cos(angle)

    def exponential(self, count: int) -> Array:
        """Draw from the exponential distribution with rate 1: how long one waits for an event."""
        waits: Array = -np.log1p(-self.uniform(count, np.float64))
        return waits

    def gamma(self, concentrations: Array) -> Array:
        """Draw from the gamma distribution with rate 1, one number for each concentration.

        Source: Marsaglia and Tsang, A simple method for generating gamma variables (2000).
        """
        numbers = [self._one_gamma(concentration) for concentration in concentrations.flat]
        gammas = np.array(numbers, np.float64).reshape(concentrations.shape)
        return np.maximum(gammas, np.finfo(concentrations.dtype).tiny).astype(concentrations.dtype)

    def _one_gamma(self, concentration: Any) -> float:
        scale, third = 1.0, np.float32(1) / np.float32(3)  # so exact is PyTorch's third
        if concentration < 1:  # a power of a uniform number makes up for 1 more
            if concentration == 0:
                return 0.0
            scale = (1 - self.uniform(1, np.float64).item()) ** float(1 / concentration)
            concentration = concentration + concentration.dtype.type(1)
        shape = float(concentration - third)
        width = 1 / math.sqrt(9 * shape)
        while True:
            while (root := 1 + width * (noise := self._one_normal())) <= 0:
                pass
            cube, accepted = root**3, 1 - self.uniform(1, np.float64).item()
            square = noise * noise
            if accepted < 1 - 0.0331 * square * square or (
                math.log(accepted) < square / 2 + shape * (1 - cube + math.log(cube))
            ):
                return scale * shape * cube

    def integers(self, low: int, high: int, count: int, *, is_long: bool | None = None) -> Array:
        """Draw integers from ``low`` to ``high - 1``; a long draw takes 64 bits for each."""
        span = high - low
        # Where there are many numbers, 32 bits would favour small ones.
        if not (span >= 2**28 if is_long is None else is_long):
            return (self._integers(count) % np.uint64(span)).astype(np.int64) + low
        pairs = self._integers(2 * count).astype(np.uint64)
        wide = (pairs[0::2] << np.uint64(32) | pairs[1::2]) % np.uint64(span)
        return wide.astype(np.int64) + low

    def permutation(self, count: int) -> Array:
        """Put the integers below ``count`` in a random order.

        Source: Fisher and Yates, Statistical tables (1938): each place takes one of those left.
        """
        order = list(range(count))
        remaining = np.arange(count, 1, -1, dtype=np.uint32)
        for i, ahead in enumerate((self._integers(len(remaining)) % remaining).tolist()):
            order[i], order[i + ahead] = order[i + ahead], order[i]
        return np.array(order, np.int64)


def scaled(numbers: Array, factor: Any, shift: Any) -> Array:
    """Multiply and add, rounding only once: so do the processors that PyTorch is built for."""
    wide: Any = np.float64 if numbers.dtype.itemsize < 8 else np.longdouble
    out: Array = (numbers.astype(wide) * wide(factor) + wide(shift)).astype(numbers.dtype)
    return out


def _pairs(block: Array) -> Array:
    """Turn rows of 16 uniform numbers into normal ones: 8 distances, 8 turns."""
    distance, turn = 1 - block[:, :8], block[:, 8:]
    radius = np.sqrt(-2 * np.log(distance))
    angle = block.dtype.type(2 * np.pi) * turn
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Start the kit's random numbers anew; NumPy's own are not touched."""
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Start the kit's random numbers anew, with a seed that is new, too; return that."""
    return default_generator.seed()


def initial_seed() -> int:
    """Return the seed with which the kit's random numbers have started."""
    return default_generator.initial_seed()


def get_rng_state() -> Any:
    """Return how far the kit's random numbers have come, as a uint8 tensor."""
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Go on where the kit's random numbers were when a state was taken."""
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(devices: Any = None, enabled: bool = True) -> Iterator[None]:
    """Draw inside of a ``with`` without moving the kit's random numbers on."""
    state = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
