"""Whether one run of a learner's function stands for all: run it twice, and look around.

After reading you know how a lab notices random numbers and side effects before it compares
anything: the function runs twice with the same arguments, and all that it can reach by a name of
its own (globals, variables of outer functions, its arguments, ``self``) is looked at before the
runs, between them and after. Read next: ``lab.py``, or a lab that compares, ``compare.py``.
"""

from __future__ import annotations

import inspect
import random
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from time import perf_counter
from types import CellType, CodeType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any, Generic, TypeVar
from zlib import crc32

import numpy as np

from autodiff_kit.core.observer import installed
from autodiff_kit.core.op import Op
from autodiff_kit.free_form import Namespace
from autodiff_kit.random import Generator, default_generator
from autodiff_kit.record.recording import Recording
from autodiff_kit.record.source_files import is_foreign
from autodiff_kit.record.values import summary
from autodiff_kit.tensor import Tensor
from autodiff_kit.view.values import number, show
from autodiff_kit.view.words import listed, spoken
from autodiff_kit.widgets.running import Refused, name_of

__all__ = [
    "Examined",
    "contents",
    "copy_of",
    "examined",
    "names_in",
    "pair_of",
    "reachable_functions",
    "subject_of",
]

LONG = 1.5  # seconds; what takes longer is not run a second time
DEEP, MANY = 4, 500  # how deep and how far a container is looked into
BYTES = 4_000_000  # of an array that are looked at

T = TypeVar("T")

Given = Mapping[str, Any]  # what arguments are called with, by name


@dataclass(frozen=True, slots=True)
class Examined(Generic[T]):
    """What came of two runs with the same arguments.

    Attributes
    ----------
    first : anything
        What the first run gave.
    doubt : str
        What speaks against taking it for all runs, in sentences; ``""`` if nothing does.
    differs : bool
        Whether the two runs gave different results, or ran different operations.
    has_effects : bool
        Whether the function changes something outside of itself.
    """

    first: T
    doubt: str = ""
    differs: bool = False
    has_effects: bool = False


def examined(
    function: Callable[..., Any],
    once: Callable[[], T],
    outcome: Callable[[T], Any],
    *,
    recording: Callable[[T], Recording] | None = None,
    changed_arguments: Callable[[T], Sequence[str]] | None = None,
    arguments: Given | None = None,
) -> Examined[T]:
    """Run a function twice, and say what speaks against taking the first run for all.

    Parameters
    ----------
    function : callable
        The learner's.
    once : callable
        Runs it, with the same arguments each time.
    outcome, recording, changed_arguments : callable
        Of what ``once`` gave: the result; what ran; the arguments that the function changed.

    arguments : mapping from str to anything, optional
        Of the arguments, what both runs are given itself and not a copy of.

    Raises
    ------
    Exception
        Whatever the first run raises.

    Examples
    --------
    >>> log = []
    >>> def f(x):
    ...     log.append(x)
    ...     return len(log)
    >>> examined(f, lambda: f(2.0), lambda value: value).doubt
    'f returns a different result each time with the same arguments: 1, then 2. It changes log.'
    """
    name = subject_of(function)  # each sentence begins with it
    before = _State(function, arguments)
    start = perf_counter()
    first = once()
    took = perf_counter() - start
    between = _State(function, arguments)
    changed = changed_arguments(first) if changed_arguments else ()
    effects = [
        *dict.fromkeys([*(f"its argument {n}".rstrip() for n in changed), *between.since(before)])
    ]
    if took > LONG:
        doubt = f"{name} took {took:.1f} seconds, so this lab has not run it a second time."
        return Examined(first, doubt, False, bool(effects))
    try:
        second = once()
    except Refused:
        raise
    except Exception as error:
        words = f"{type(error).__name__}: {error}".rstrip(": ")
        doubt = f"{name} runs once, and fails the second time with the same arguments ({words})."
        return Examined(first, doubt + _cause(effects, False), True, bool(effects))
    after = _State(function, arguments)
    effects = [*dict.fromkeys([*effects, *after.since(between)])]
    one, two = outcome(first), outcome(second)
    if contents(one) != contents(two):
        doubt = f"{name} returns a different result each time with the same arguments"
        doubt += f": {pair_of(one, two)}.{_cause(effects, after.drew_since(between), True)}"
    elif recording and _ran(recording(first)) != _ran(recording(second)):
        doubt = f"{name} runs other operations the second time, with the same arguments."
        doubt += _cause(effects, after.drew_since(between), True)
    elif after.drew_since(between):
        doubt = f"{name} draws random numbers: another run may give another result."
    elif effects:
        doubt = f"{name} changes {listed(effects)} each time, and this lab runs it more than once."
        return Examined(first, doubt, False, True)
    else:
        return Examined(first)
    return Examined(first, doubt, True, bool(effects))


def subject_of(function: Callable[..., Any]) -> str:
    """Return the name of a function as a sentence begins with it."""
    name = name_of(function)
    return "The lambda" if name == "the lambda" else name


def copy_of(value: Any) -> Any:
    """Return a copy of a tensor, unseen by any recorder, or the items of a tuple or list so."""
    if isinstance(value, tuple | list):
        return [copy_of(item) for item in value]
    if not isinstance(value, Tensor):
        return value
    with installed(None):
        return value.detach().clone()


def _cause(effects: Sequence[str], draws: bool, must: bool = False) -> str:
    """Return what explains it, as far as it can be seen."""
    causes = ["draws random numbers"] * draws
    if effects:
        causes.append(f"changes {listed(effects)}")
    if causes:
        return f" It {' and '.join(causes)}."
    cannot_be_seen = "the time, a file or a random generator made inside"
    return f" Something besides its arguments decides, such as {cannot_be_seen}." * must


def pair_of(one: Any, two: Any) -> str:
    """Return two results that differ, as in "1.0, then 2.0"."""
    if isinstance(one, list | tuple) and isinstance(two, list | tuple) and len(one) == len(two):
        pairs = zip(one, two, strict=True)
        one, two = next((a, b) for a, b in pairs if contents(a) != contents(b))
    first, second = _shown(one), _shown(two)
    if first == second:
        return f"twice {first}, and yet not the same number to the last digit"
    return f"{first}, then {second}"


def _shown(value: Any) -> str:
    if isinstance(value, Tensor):
        return spoken(show(summary(value._array)))
    text = spoken(number(value)) if isinstance(value, float) else repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


def _ran(recording: Recording) -> list[Any]:
    return [
        (node["op"], node["text"], node["recorded"], node["where"])
        for node in recording.nodes
        if node["kind"] == "op"
    ]


# -- what a function can reach --------------------------------------------------------------------


class _State:
    """All that a function can reach by a name, and the state of the random generators."""

    def __init__(self, function: Callable[..., Any], arguments: Given | None) -> None:
        reached = [*_reached(function)]
        ids = {id(value) for _, value in reached}
        reached += [
            (f"its argument {n}", v) for n, v in (arguments or {}).items() if id(v) not in ids
        ]
        self._named = {name: contents(value) for name, value in reached}
        numpy_random = sys.modules.get("numpy.random")  # else nothing has been drawn from it
        self._random = (
            hash(random.getstate()),
            contents(numpy_random.get_state()) if numpy_random else None,
            contents(default_generator),
        )

    def since(self, before: _State) -> list[str]:
        """Return the names of what has changed."""
        old, new = before._named, self._named
        return [name for name in new if name in old and old[name] != new[name]] + [
            name for name in new if name not in old
        ]

    def drew_since(self, before: _State) -> bool:
        """Return whether random numbers were drawn from one of the common generators."""
        return self._random != before._random


def reachable_functions(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """Yield the learner's functions and objects that a call can run: itself, and by name others."""
    waiting: list[tuple[str, Any]] = [("", function)]
    ids: set[int] = set()
    while waiting:
        name, value = waiting.pop()
        if id(value) in ids:
            continue
        ids.add(id(value))
        yield name, value
        if hasattr(value, "__wrapped__") and not isinstance(value, type):
            waiting.append((name, value.__wrapped__))
        if isinstance(value, partial):
            waiting.append((name, value.func))
        elif isinstance(value, MethodType):
            waiting += [("self", value.__self__), (name, value.__func__)]
        elif isinstance(value, FunctionType):
            if not is_foreign(value.__code__.co_filename):
                waiting += _variables(value)
        elif not name or name == "self":  # an object that is called, or whose method is
            methods = vars(type(value)).values() if not _is_builtin(type(value)) else ()
            waiting += [("", method) for method in methods if isinstance(method, FunctionType)]


def _is_builtin(kind: type) -> bool:
    module = sys.modules.get(kind.__module__)
    return module is None or is_foreign(getattr(module, "__file__", None) or "<frozen ")


def names_in(function: FunctionType) -> list[str]:
    """Return the names that a function, or one that stands inside of it, looks up."""
    codes = [function.__code__]
    for code in codes:
        codes += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
    return [*dict.fromkeys(name for code in codes for name in code.co_names)]


def _variables(function: FunctionType) -> list[tuple[str, Any]]:
    """Return what a function finds outside of itself, by name."""
    names = names_in(function)
    space = function.__globals__
    variables = [(name, space[name]) for name in names if name in space]
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    # A cell without contents belongs to a function that is defined further down.
    variables += [(name, cell.cell_contents) for name, cell in cells if cell != CellType()]
    return variables


def _reached(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """Yield what a function can change: variables, default values, attributes."""
    for name, value in reachable_functions(function):
        if isinstance(value, FunctionType):
            if is_foreign(value.__code__.co_filename):
                continue
            for argument, default in _defaults(value):
                yield f"the default value of {argument}", default
            for attribute, inner in vars(value).items():
                if attribute != "__wrapped__":
                    yield f"{value.__name__}.{attribute}", inner
        elif isinstance(value, ModuleType):
            file = getattr(value, "__file__", None)
            if file and not is_foreign(file):
                for attribute, inner in list(vars(value).items()):
                    if not attribute.startswith("__") and not callable(inner):
                        yield f"{name}.{attribute}", inner
        elif isinstance(value, type):
            if not _is_builtin(value):
                for attribute, inner in list(vars(value).items()):
                    if not attribute.startswith("__") and not callable(inner):
                        if isinstance(inner, Op):  # a Function gets its own at the first call
                            continue
                        yield f"{value.__name__}.{attribute}", inner
        elif isinstance(value, MethodType | partial):
            continue
        elif hasattr(value, "cache_info"):
            yield f"the cache of {name or name_of(value)}", value.cache_info()
        elif hasattr(value, "named_parameters") and hasattr(value, "named_buffers"):
            label = name or type(value).__name__
            for inner_name, tensor in [*value.named_parameters(), *value.named_buffers()]:
                yield f"{label}.{inner_name}", tensor
            yield from _attributes(label, value, skip=("_parameters", "_buffers", "_modules"))
        elif hasattr(value, "__dict__") and not isinstance(value, Tensor):
            yield from _attributes(name or type(value).__name__, value)
        else:
            yield name, value


def _attributes(name: str, value: Any, skip: Sequence[str] = ()) -> Iterator[tuple[str, Any]]:
    attributes: Namespace = getattr(value, "__dict__", {})
    if not attributes and name:
        yield name, value
    for attribute, inner in list(attributes.items()):
        if attribute not in skip:
            yield f"{name}.{attribute}", inner


def _defaults(function: FunctionType) -> Iterator[tuple[str, Any]]:
    for name, parameter in inspect.signature(function, follow_wrapped=False).parameters.items():
        if not isinstance(parameter.default, _UNCHANGING):
            yield name, parameter.default


_UNCHANGING = (bool, int, float, complex, str, bytes, type, ModuleType, type(None))


def contents(value: Any, depth: int = DEEP) -> Any:
    """Return something that is equal for equal contents, and another if they have changed."""
    kind = type(value).__name__
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return kind, repr(value) if isinstance(value, float | complex) else value
    if isinstance(value, Tensor):
        return "Tensor", tuple(value.shape), contents(value.detach()._array)
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        if array.dtype.hasobject:
            return kind, array.shape
        data = np.ascontiguousarray(array).view(np.uint8) if array.ndim else array.tobytes()
        if isinstance(data, np.ndarray):
            data = data.reshape(-1)[:BYTES].tobytes()
        return kind, str(array.dtype), array.shape, crc32(data)
    if depth == 0:
        return kind
    if isinstance(value, random.Random):
        return kind, hash(value.getstate())
    if isinstance(value, Generator):
        stream = value._stream
        return kind, value._seed, value._spare, stream and contents(stream.get_state())
    if isinstance(value, Mapping):
        items = [(contents(k, depth - 1), contents(v, depth - 1)) for k, v in _some(value.items())]
        return kind, len(value), tuple(items)
    if isinstance(value, list | tuple | deque):
        return kind, len(value), tuple(contents(item, depth - 1) for item in _some(value))
    if isinstance(value, set | frozenset):
        return kind, len(value), frozenset(map(repr, _some(value)))
    bits = getattr(value, "bit_generator", None)
    if bits is not None:
        return kind, repr(bits.state)
    if callable(value) or isinstance(value, type | ModuleType):
        return kind
    if isinstance(value, GeneratorType):
        return kind, value.gi_frame and value.gi_frame.f_lasti
    if hasattr(value, "__next__"):
        text = repr(value)  # ``count(2)`` says how far it has come, as pickling would
        if " at 0x" not in text:
            return kind, text
        try:
            return kind, repr(value.__reduce__())
        except Exception:
            return kind
    inner = getattr(value, "__dict__", None)
    if inner:
        return kind, contents(dict(inner), depth - 1)
    return kind


def _some(items: Any) -> list[Any]:
    """Return the first and, of something that grows, the last items."""
    first_items = list(islice(items, MANY))
    is_all = len(items) <= MANY or isinstance(items, set)
    return first_items if is_all else [*first_items, *list(items)[-9:]]
