"""Say what an exercise asks: checks with inputs of their own, and how two answers are compared.

After reading this file you can write a check of your own. A check never sees the learner's
objects: its driver runs beside the learner's code and brings back plain data, which is compared
here. Read next: ``marking.py``, which turns answers into points.
"""

from __future__ import annotations

import inspect
import itertools
import math
import re
import textwrap
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["Check", "Performed", "Program", "alike", "as_array", "check", "same", "show"]


_MOST = 24  # numbers of an array that are shown
Program = Callable[[np.random.Generator], str]  # draws the source of a program


@dataclass(frozen=True)
class Performed:
    """What a check needs of the performance.

    Attributes
    ----------
    program : callable (numpy Generator) -> str
        The program that is performed, drawn anew for each attempt: source that uses ``torch``.
    only : tuple of str
        Parts of the performance: ``"build"``, ``"backward"``, ``"state"``.
    about : tuple of str
        The questions that the check is about, by their ``about`` (``view/perform/script.py``).
    """

    program: Program
    only: tuple[str, ...]
    about: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Check:
    """One question put to a learner's code.

    Attributes
    ----------
    name : str
        Name of the class it was made from; also seeds its random inputs.
    step : str
        The step of the exercise whose points it decides about.
    points : float
        Given if the example and all random cases come out right.
    concept : str
        What is tested, in a few words.
    example : plain data
        The small case that learners may see, with its right value.
    caption : str
        That case in words: ``"y = x * x + x at x = 3 (.grad of x)"``.
    generate : callable (numpy Generator) -> plain data
        With `kinds`, it gets one of them, too.
    driver : str
        Source of ``def drive(step, data)``, which runs beside the learner's code.
    cases : int
        How many random cases.
    kinds : tuple, optional
        The kinds of cases that have to be asked in each attempt, one case of each: what is drawn is
        their order, and the numbers in them. A mistake then costs the same, whatever is drawn.
    expected : callable (data) -> plain data, optional
        The right value. Without it the exercise's own solution is asked.
    compare : callable (data, value, expected) -> bool
    slow : bool
        Whether it takes long; then twenty neighbouring seeds share their random cases.
    diagnose : callable (data, value, expected) -> str, optional
        Id of the mistake that a wrong value shows, or ``""``; asked if no mutant answers the same.
    many : bool
        Whether there are several right values, so that the shown one is an example.
    picture : callable (data, value, expected) -> str, optional
        SVG text for the example: the learner's answer beside the right one.
    in_words : callable (value) -> str, optional
        An answer to the example in words, such as ``"x * x has the inputs x and x"``; of a list, it
        may be a tuple instead: what its parts are. Without it, answers are shown as they are.
    public : callable (data) -> plain data, optional
        What the driver gets of an input. Without it, all of it: then nothing in it may be the
        answer, because code in the same process can read it, in raw memory if not otherwise.
    reply : callable (data, question) -> plain data, optional
        What ``ask(question)`` in the driver returns: computed here, where the whole input is.
    explain : callable (data, value) -> str, optional
        What is said of a wrong value, instead of the value beside the right one.
    performed : Performed, optional
        Of an exercise of ``kind = "perform"``: what is performed.
    needs : tuple of Check
        Other checks, of which one at least has to be passed for this one to be.
    """

    name: str
    step: str
    points: float
    concept: str
    example: Any
    caption: str
    generate: Callable[..., Any]
    driver: str
    cases: int = 3
    kinds: tuple[Any, ...] = ()
    expected: Callable[[Any], Any] | None = None
    compare: Callable[[Any, Any, Any], bool] = field(default=lambda data, value, expected: False)
    slow: bool = False
    diagnose: Callable[[Any, Any, Any], str] | None = None
    many: bool = False
    picture: Callable[[Any, Any, Any], str] | None = None
    in_words: Callable[[Any], str] | tuple[str, ...] | None = None
    public: Callable[[Any], Any] | None = None
    reply: Callable[[Any, Any], Any] | None = None
    explain: Callable[[Any, Any], str] | None = None
    performed: Performed | None = None
    needs: tuple[Check, ...] = ()

    def first_seed(self, seed: int) -> int:
        """Return the smallest seed with the same inputs: slow checks draw for twenty at once."""
        return seed - seed % 20 if self.slow else seed

    def show(self, value: Any) -> str:
        """Return an answer to the example as text: in words, if the check has some for it."""
        text = show(value)
        if self.in_words is None or text.endswith("..."):
            return text
        if isinstance(self.in_words, tuple):
            if not isinstance(value, list | tuple) or len(value) != len(self.in_words):
                return text
            parts = zip(self.in_words, value, strict=True)
            return ", ".join(f"{name} {show(part)}" for name, part in parts)
        try:
            return self.in_words(value)
        except Exception:  # an answer of another kind
            return text

    def inputs(self, seed: int) -> list[Any]:
        """Return the example and the random cases of a seed: the same for the same seed."""
        return [self.example, *self.draws(seed)]

    def draws(self, seed: int) -> Iterator[Any]:
        """Yield the random cases of a seed; each is made when it is asked for."""
        seed = self.first_seed(seed)
        # A performance is of one graph, whatever it is asked about.
        name = self.step if self.performed else self.name
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        if self.kinds:
            for i in rng.permutation(len(self.kinds)):
                yield self.generate(rng, self.kinds[i])
        else:
            for _ in range(self.cases):
                yield self.generate(rng)


def check(
    *,
    step: str,
    points: float,
    concept: str,
    cases: int = 3,
    slow: bool = False,
    using: Sequence[Callable[..., Any]] = (),
) -> Callable[[type], Check]:
    """Make a check of a class that is only a bag of functions.

    The class has ``caption``, ``example``, ``generate(rng)`` and ``drive(step, data)``, and may
    have ``kinds`` (then it is ``generate(rng, kind)``, one case of each), ``expected(data)``,
    ``compare``, ``diagnose`` and ``picture`` of ``(data, value, expected)``,
    ``many``, ``in_words``, ``public(data)`` and ``reply(data, question)``; none of them takes
    ``self``.

    Parameters
    ----------
    step, points, concept, cases, slow
        As in :class:`Check`.
    using : sequence of functions
        Functions that ``drive`` calls; their sources travel with it, so they may use nothing else.

    Returns
    -------
    callable (class) -> Check
    """

    def make(cls: type) -> Check:
        kinds = tuple(getattr(cls, "kinds", ()))
        sources = [textwrap.dedent(inspect.getsource(part)) for part in (*using, cls.drive)]  # type: ignore[attr-defined]
        return Check(
            name=cls.__name__,
            step=step,
            points=points,
            concept=concept,
            example=cls.example,  # type: ignore[attr-defined]
            caption=cls.caption,  # type: ignore[attr-defined]
            generate=cls.generate,  # type: ignore[attr-defined]
            driver="\n".join(sources),
            cases=len(kinds) or cases,
            kinds=kinds,
            slow=slow,
            expected=getattr(cls, "expected", None),
            compare=getattr(cls, "compare", _compare),
            diagnose=getattr(cls, "diagnose", None),
            many=getattr(cls, "many", False),
            picture=getattr(cls, "picture", None),
            in_words=getattr(cls, "in_words", None),
            public=getattr(cls, "public", None),
            reply=getattr(cls, "reply", None),
        )

    return make


def same(value: Any, expected: Any, *, rtol: float = 1e-6, atol: float = 1e-8) -> bool:
    """Tell whether an answer is the expected one: kind, shape and numbers.

    A Python number, a NumPy scalar and an array of shape () count as the same kind; integers
    do where the expected one is whole, too. A list may stand for a tuple, and lists of numbers for
    an array, or the other way round: NumPy's own comparisons see no difference. NaN and inf are
    wrong.

    Parameters
    ----------
    value, expected : plain data
    rtol, atol : float
        How far numbers may be off.

    Returns
    -------
    bool
    """
    if type(value) is type(expected) and isinstance(expected, bool | str | None):
        return bool(value == expected)
    if _is_number(expected) and _is_number(value):
        number = float(value)
        return math.isfinite(number) and math.isclose(number, expected, rel_tol=rtol, abs_tol=atol)
    if isinstance(expected, np.ndarray):
        value = as_array(value)
        if value is None or value.shape != expected.shape or _sort(value) != _sort(expected):
            return False
        mine, best = value.astype(float), expected.astype(float)
        # As np.allclose, which takes five times as long for small arrays.
        near = np.abs(mine - best) <= atol + rtol * np.abs(best)
        return bool(near.all() and np.isfinite(mine).all() and np.isfinite(best).all())
    if isinstance(expected, list | tuple) and isinstance(value, np.ndarray) and value.ndim:
        value = list(value)
    if isinstance(expected, list | tuple) and isinstance(value, list | tuple):
        return len(value) == len(expected) and all(
            same(v, w, rtol=rtol, atol=atol) for v, w in zip(value, expected, strict=True)
        )
    if isinstance(expected, dict) and isinstance(value, dict):
        return value.keys() == expected.keys() and all(
            same(value[k], w, rtol=rtol, atol=atol) for k, w in expected.items()
        )
    return False


def as_array(value: Any) -> Any:
    """Return an array, or lists of numbers, as an array; None for anything else."""
    if isinstance(value, list | tuple):
        try:
            value = np.array(value)
        except (ValueError, OverflowError):  # rows of different lengths
            return None
    return value if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" else None


def _sort(array: Any) -> str:
    return "truth values" if array.dtype.kind == "b" else "numbers"


def alike(a: Any, b: Any) -> bool:
    """Tell whether two answers, right or wrong, are the same one (NaN equals NaN here)."""
    if a is b:
        return True
    if isinstance(a, np.ndarray | np.generic) and isinstance(b, np.ndarray | np.generic):
        if a.shape != b.shape or a.dtype.kind != b.dtype.kind:
            return False
        return bool(np.allclose(a, b, rtol=1e-6, atol=1e-8, equal_nan=a.dtype.kind in "fc"))
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(alike(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(alike(a[k], b[k]) for k in a)
    if (
        isinstance(a, float)
        and isinstance(b, float)
        and not (math.isfinite(a) and math.isfinite(b))
    ):
        return a == b or (math.isnan(a) and math.isnan(b))
    return same(a, b)


def show(value: Any, limit: int = 160, digits: int = 4) -> str:
    """Return an answer as short text: small arrays whole, large ones by their shape.

    However large or deep the answer is, no more of it is looked at than is shown.
    """
    text = _show(value, limit, digits)
    return text if len(text) <= limit else text[: limit - 4] + " ..."


def _show(value: Any, room: int, digits: int) -> str:
    if isinstance(value, np.ndarray) and value.ndim:
        if value.ndim > 4 and value.size > _MOST:
            return f"an array of shape {value.shape}"
        # Beside numbers of ordinary size, what is nearly 0 is shown as 0.
        ordinary = bool(value.size) and value.dtype.kind == "f" and np.abs(value).max() > 0.01

        def number(x: Any) -> str:
            return f"{round(float(x), digits) + 0.0 if ordinary else float(x):.{digits + 2}g}"

        numbers = np.array2string(
            value, separator=", ", threshold=_MOST, formatter={"float_kind": number}
        )
        text = re.sub(r"\s+", " ", numbers).replace("[ ", "[")
        # The brackets of a small one say which shape it has.
        return text if 0 < value.size <= _MOST else f"{text} of shape {value.shape}"
    if isinstance(value, np.ndarray | np.generic):
        return _show(value.item(), room, digits)
    if isinstance(value, str):
        return repr(value[: room + 1])
    if isinstance(value, float):
        return f"{value:.{digits + 2}g}"
    if isinstance(value, list | tuple):
        parts = _parts(((("", item)) for item in value), len(value), room, digits)
        comma = "," if isinstance(value, tuple) and len(value) == 1 else ""
        return f"[{parts}]" if isinstance(value, list) else f"({parts}{comma})"
    if isinstance(value, dict):
        keys = ((key[: room + 1], item) for key, item in value.items())
        pairs = ((f"{k if k.isprintable() else repr(k)}: ", item) for k, item in keys)
        return _parts(pairs, 0, room, digits)
    return repr(value)


def _parts(items: Iterable[tuple[str, Any]], count: int, room: int, digits: int) -> str:
    """Return up to twelve parts, as long as there is room."""
    parts: list[str] = []
    for label, item in itertools.islice(items, 12):
        if room <= 0:
            break
        parts.append(label + _show(item, room, digits))
        room -= len(parts[-1]) + 2
    return ", ".join(parts) + (", ..." if count > len(parts) else "")


def _compare(data: Any, value: Any, expected: Any) -> bool:
    return same(value, expected)


def _is_number(value: Any) -> bool:
    if isinstance(value, np.ndarray | np.generic):
        return value.shape == () and value.dtype.kind in "iuf"
    return isinstance(value, int | float) and not isinstance(value, bool)
