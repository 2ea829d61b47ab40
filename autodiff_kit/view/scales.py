"""Scales of plots: from values to pixels, and the round numbers beside an axis.

After reading you can say which ticks an axis has, and why. Read next: ``charts.py``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["MINUS", "RAISED", "Pair", "Scale", "label", "seen_range", "text_width"]

Pair = tuple[float, float]

HUGE = 1e290  # beyond, differences of two numbers are no numbers any more
CHARACTER = 6.9  # px, 12.5 px proportional font, generous
MINUS = "\N{MINUS SIGN}"
RAISED = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"


def label(value: float, step: float = 0.0) -> str:
    """Return a number as it stands at an axis: as many decimals as the step between ticks has.

    Examples
    --------
    >>> label(0.30000000000000004, 0.1), label(2.0, 0.5), label(2500000.0, 500000.0)
    ('0.3', '2.0', '2.5e6')
    """
    if value and not 1e-4 <= abs(value) < (1e5 if step else 99995):
        digits = max(0, math.floor(math.log10(abs(value))) - _power(step)) if step else 2
        text = f"{value:.{min(digits, 15)}e}"
        if not step:
            text = re.sub(r"\.?0*e", "e", text)
        text = re.sub(r"e([+-])0*(\d+)$", _exponent, text)
    elif step:
        text = f"{value:.{min(max(0, -_power(step)), 15)}f}"
    else:
        text = f"{value:.4g}"
    return "0" if not text.strip("-0.") else text.replace("-", MINUS)


def _exponent(match: re.Match[str]) -> str:
    return f"e{match[1].replace('+', '')}{match[2]}"


def _raised(power: int) -> str:
    return str(power).translate(str.maketrans("-0123456789", RAISED))


def _power(step: float) -> int:
    return math.floor(math.log10(step) + 1e-9)


def text_width(text: str) -> float:
    """Return the width of 12.5 px text in pixels, generously."""
    return len(text) * CHARACTER


def seen_range(values: Iterable[float], *also: float) -> Pair:
    """Return from where to where an axis should go for these values to be seen.

    A few values far out, such as those of ``1 / x`` near 0, would press all others flat: they are
    left out of sight. Values that are no finite number are passed over.

    Parameters
    ----------
    values : iterable of float
    *also : float
        Values that must be in sight all the same.

    Returns
    -------
    (float, float) - the second is larger.

    Examples
    --------
    >>> seen_range([0.0, 1.0, 2.0])
    (-0.12, 2.12)
    >>> seen_range([])
    (-1.0, 1.0)
    """
    finite = sorted(v for v in values if abs(v) < HUGE)
    if finite:
        low, high = finite[0], finite[-1]
        most, fifth = len(finite) - 1, len(finite) // 20
        a, b = finite[fifth], finite[most - fifth]
        if high - low > 4 * (b - a) > 0:
            low, high = max(low, a - (b - a) / 2), min(high, b + (b - a) / 2)
    else:
        low, high = (min(also), max(also)) if also else (0.0, 0.0)
    low, high = min(low, *also, low), max(high, *also, high)
    room = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    return low - room, high + room


@dataclass(frozen=True)
class Scale:
    """From data to pixels along one axis.

    Attributes
    ----------
    low, high : float
        The ends in data; on a logarithmic scale both are positive.
    start, end : float
        The pixels where they lie.
    log : bool
        Equal steps are equal factors.
    whole : bool
        There is nothing between integers: these are counts or steps.

    Examples
    --------
    >>> scale = Scale(0.0, 10.0, 50.0, 250.0)
    >>> scale(5.0), [text for _, text in scale.ticks(3)]
    (150.0, ['0', '5', '10'])
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False
    whole: bool = False

    def __call__(self, value: float) -> float:
        """Return the pixel of a value; far outside of the scale, one a little outside."""
        low, high = self.low, self.high
        if self.log:
            if value <= 0:
                return self.start - (self.end - self.start)
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        part = min(max((value - low) / (high - low), -20.0), 20.0)
        return self.start + part * (self.end - self.start)

    def holds(self, value: float) -> bool:
        """Say if this value is between the ends."""
        return self.low <= value <= self.high

    @property
    def step(self) -> float:
        """A round number, about a four-hundredth of the range: what one press of a key moves."""
        return _round_up((self.high - self.low) / 400)

    def ticks(self, about: int = 6) -> list[tuple[float, str]]:
        """Return round values on this scale and their words: three, or `about` of them."""
        if self.log:
            first = math.ceil(math.log10(self.low) - 1e-9)
            last = math.floor(math.log10(self.high) + 1e-9)
            each = max(1, math.ceil((last - first) / about))
            powers = range(first + -first % each, last + 1, each)
            return [(10.0**power, f"10{_raised(power)}") for power in powers]
        if self.whole:
            step = max(1.0, _round_up((self.high - self.low) / about))
            every = range(math.ceil(self.low / step), math.floor(self.high / step) + 1)
            return [(k * step, label(k * step, step)) for k in every]
        first = last = 0
        while last - first < 2:  # one or two ticks would leave the scale open
            step = _round_up((self.high - self.low) / about)
            first = math.ceil(self.low / step - 1e-9)
            last = math.floor(self.high / step + 1e-9)
            about += 1
        return [(k * step, label(k * step, step)) for k in range(first, last + 1)]


def _round_up(least: float) -> float:
    """Return the next 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(digit * power for digit in (1, 2, 5, 10) if digit * power >= least * (1 - 1e-9))
