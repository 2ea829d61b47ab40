"""Call a backward rule so that floating-point differences lose the points.

After reading this file you can say why `(f(x + h) - f(x - h)) / (2 * h)` and the complex step, in
floats of any length, earn nothing where a backward rule is asked for: twelve digits have to be
right, also for inputs at which the operation itself overflows; the same formula has to hold for
complex inputs, whose imaginary part is not free for a step; and an infinite number reaches only
what the rule multiplies with it, while a difference of two infinite numbers is none. A difference
that leaves those out on purpose is as right as a rule: values alone do not tell the two apart.
Exercises 02 and 06 ask for all of it; where the digits alone tell a rule from a difference, `exact`
is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autodiff_kit.grading.checks import as_array, same

__all__ = [
    "contributions",
    "exact",
    "inexact",
    "mistake",
    "right_to_twelve_digits",
    "with_complex",
]

Inputs = dict[str, Any]  # of a check, by the names that its driver reads
DIGITS = 1e-12
ZERO = 1e-50  # how far from 0 a number may be that is 0
ROUGH = 1e-3  # how near a difference comes, at least


def exact(data: Any, value: Any, expected: Any) -> bool:
    """Tell whether an answer is right to twelve digits (`Check.compare`)."""
    return same(value, expected, rtol=DIGITS, atol=DIGITS)


def inexact(data: Any, value: Any, expected: Any) -> str:
    """Return the id of an answer that is right to a few digits only (`Check.diagnose`)."""
    return "differences" if same(value, expected, rtol=ROUGH, atol=ROUGH) else ""


def with_complex(rng: np.random.Generator, data: Inputs, names: str) -> Inputs:
    """Add complex inputs for a rule: those in `data`, with imaginary parts of about the same size.

    Parameters
    ----------
    rng : numpy.random.Generator
    data : dict of str to array or number
    names : str
        The inputs that get one: ``"gxy"``.

    Returns
    -------
    dict - `data`, and under ``"complex"`` the real and imaginary parts by name.
    """
    parts = {n: [data[n].copy(), data[n] * rng.uniform(0.3, 0.8, data[n].shape)] for n in names}
    return {**data, "complex": parts}


def contributions(rule, data, names, count):  # type: ignore[no-untyped-def]
    """Return what a rule contributes: for real inputs, and for complex ones if there are any.

    Its source travels with a driver, so it uses nothing of this file.

    Parameters
    ----------
    rule : callable
    data : dict of str to array
    names : str
        The rule's arguments, in their order.
    count : int
        How many contributions the rule returns.

    Returns
    -------
    what the rule returns; or three lists of arrays: for real inputs, and for complex ones the real
    and the imaginary parts
    """
    with np.errstate(all="ignore"):  # infinite numbers are asked about on purpose
        real = rule(*[data[name] for name in names])
        if "complex" not in data:
            return real
        parts = data["complex"]
        turned = rule(*[parts[n][0] + 1j * parts[n][1] if n in parts else data[n] for n in names])
    real, turned = (list(answer) if count > 1 else [answer] for answer in (real, turned))
    turned = [np.asarray(part) for part in turned]
    return [real, [part.real for part in turned], [part.imag for part in turned]]


def right_to_twelve_digits(data: Any, value: Any, expected: Any) -> bool:
    """Tell whether contributions are right in shape and to twelve digits (`Check.compare`)."""
    pairs = _pairs(data, value, expected)
    return pairs is not None and all(_near(mine, best) for mine, best in pairs)


def mistake(data: Any, value: Any, expected: Any) -> str:
    """Return the id of what is not a rule: a difference, a complex step (`Check.diagnose`)."""
    pairs = _pairs(data, value, expected)
    if pairs is None or any(mine.dtype.itemsize < best.dtype.itemsize for mine, best in pairs):
        return ""
    if broken := _broken(data, pairs):
        return broken
    count = len(pairs) // 2 if "complex" in data else len(pairs)
    real, turned = pairs[:count], pairs[count:]
    # Of what is never a number, nothing can be told.
    if not all(any(np.isfinite(mine).any() for mine, _ in pairs[i::count]) for i in range(count)):
        return ""
    if turned and all(_near(mine.real, best.real) and not mine.imag.any() for mine, best in turned):
        return "real_numbers_only"
    is_rough = all(_is_rough(mine, best) for mine, best in pairs)
    if is_rough and not all(_near(mine, best) for mine, best in real):
        return "differences"
    if turned and not is_rough and all(_is_rough(mine, best) for mine, best in real):
        return "complex_steps"
    return ""


def _broken(data: Any, pairs: Sequence[tuple[Any, Any]]) -> str:
    """Return for which kind of input no number came out, if all the others are right."""
    broken = [~(np.isfinite(mine) | (mine == best)) for mine, best in pairs]
    others = (np.where(b, best, mine) for b, (mine, best) in zip(broken, pairs, strict=True))
    are_right = all(_near(mine, best) for mine, (_, best) in zip(others, pairs, strict=True))
    if not any(b.any() for b in broken) or any(b.all() for b in broken) or not are_right:
        return ""
    for inputs in data.values():
        at = [b for b in broken if np.shape(inputs) == b.shape and b.any()]
        values = np.concatenate([inputs[b] for b in at]) if at else np.ones(1)
        values = values[np.isfinite(values)]  # what has no logarithm has none of inf either
        if values.size and (values <= 0).all():
            return "nan_for_zero" if (values == 0).all() else "nan_for_negative"
    return "nan_for_some"


def _is_rough(mine: Any, best: Any) -> bool:
    """Tell whether numbers are right to a few digits, or not finite where the operation is not."""
    finite = np.isfinite(mine) & np.isfinite(best)
    near = np.isclose(mine, best, rtol=ROUGH, atol=ROUGH * np.abs(best[finite]).max(initial=0))
    return bool(near[finite].all())


def _pairs(data: Any, value: Any, expected: Any) -> list[tuple[Any, Any]] | None:
    """Return each contribution beside the right one; None if they are not of the same shapes."""
    if "complex" in data:
        value = _complex(value)
        expected = _complex(expected)
    else:
        value = list(value) if isinstance(expected, tuple) else [value]
        expected = list(expected) if isinstance(expected, tuple) else [expected]
    arrays = [as_array(part) if isinstance(part, list | tuple) else part for part in value]
    is_alike = len(arrays) == len(expected) and all(
        isinstance(mine, np.ndarray) and mine.dtype.kind != "b" and mine.shape == best.shape
        for mine, best in zip(arrays, expected, strict=True)
    )
    return list(zip(arrays, expected, strict=True)) if is_alike else None


def _complex(lists: Sequence[Sequence[Any]]) -> list[Any]:
    real, turned, imaginary = lists
    return [*real, *(a + 1j * b for a, b in zip(turned, imaginary, strict=True))]


def _near(mine: Any, best: Any) -> bool:
    """Compare number by number; in a matrix, whose sums may cancel, by the largest of them."""
    finite = np.isfinite(best)
    if not np.array_equal(mine[~finite], best[~finite]):
        return False
    sizes = np.abs(best[finite])
    size = sizes.max(initial=0.0) if best.ndim > 1 else sizes
    mine, best = mine[finite], best[finite]
    return bool(np.isfinite(mine).all() and (np.abs(mine - best) <= DIGITS * size + ZERO).all())
