"""Lines of code that a lab runs as a learner would write them, so that a recording can show them.

After reading you know where an operation is said to happen if its own lines cannot be read, as in
a function of a library, or one made by ``exec``: in the line that calls it. Read next:
``arguments.py``, ``step_through.py``.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Collection
from functools import partial
from inspect import unwrap
from typing import Any

from autodiff_kit.free_form import Namespace
from autodiff_kit.record.source_files import is_foreign, read_lines
from autodiff_kit.widgets.value_controls import inner_function

__all__ = ["call_name", "called", "is_readable", "run_line"]


def run_line(text: str, file: str, space: Namespace) -> None:
    """Run one line of code, under a file name that stands for it, in a space of names."""
    linecache.cache[file] = len(text), None, [text + "\n"], file
    exec(compile(text, file, "exec"), space)


def call_name(function: Callable[..., Any], other_names: Collection[str]) -> str:
    """Return what a function is called in a line of code beside names that are taken."""
    name = getattr(_innermost(function), "__name__", "model")
    names = (name, "f", "function", "the_function")
    return next(n for n in names if n.isidentifier() and n not in other_names)


def is_readable(function: Callable[..., Any]) -> bool:
    """Return whether the lines of a function are the learner's own and can be shown."""
    code = getattr(unwrap(inner_function(_innermost(function))), "__code__", None)
    return (
        code is not None and not is_foreign(code.co_filename) and bool(read_lines(code.co_filename))
    )


def called(function: Callable[..., Any], by_place: Namespace, by_name: Namespace) -> Any:
    """Call a function whose lines cannot be read, in a line of code that can be."""
    values = {**by_place, **by_name}
    name = call_name(function, values)
    texts = [*by_place, *(f"{n}={n}" for n in by_name)]
    space = {**values, name: function}
    result = next(n for n in ("y", "result", "the_result") if n not in space)
    run_line(f"{result} = {name}({', '.join(texts)})", "the call", space)
    return space[result]


def _innermost(function: Any) -> Any:
    while isinstance(function, partial):
        function = function.func
    return function
