"""A form derived from a plain function answers as that does, and has no idle branches."""

from __future__ import annotations

import inspect
import itertools
import linecache
import traceback
from functools import partial
from typing import Any

import pytest

from autodiff_kit.core.specialise import specialise, text_of
from tests.rows import for_each

LIMIT = 3


def walk(start: int, *, log: list[Any] | None, visited: Any, doubles: bool = False) -> list[Any]:
    """Walk down, noting what happens; odd and even numbers go on differently."""
    queue: list[int] = []
    numbers: list[Any] = []
    unbounded = visited is None

    def push(value: int, weight: int) -> None:
        total = value * weight
        if total > 40 and not unbounded:
            return
        if total % 7 == 0:
            numbers.append("seven")
            return
        queue.append(total)
        if log is not None:
            log.append(("push", total, weight))

    def shifted(value: int) -> int:
        total = value - 1
        if doubles:
            total = total - 1
        return total

    for number in (start, start + LIMIT):
        push(number, 1)
    while queue:
        total = queue.pop()
        if visited is not None and total in visited:
            continue
        if log is not None:
            log.append(("pop", total))
        numbers.append(total if not doubles else (total, total))
        smaller = shifted(total)
        if smaller > 0:
            push(smaller // 2, 2 if doubles and smaller < 5 else 1)
        elif log is None:
            numbers.append("end")
    return numbers


SWITCHES = {"log": None, "visited": None, "doubles": False}


@for_each("names", [set(c) for n in range(4) for c in itertools.combinations(SWITCHES, n)])
@for_each("start", range(1, 12))
def test_every_form_answers_as_the_plain_function(names: set[str], start: int) -> None:
    fixed = {name: value for name, value in SWITCHES.items() if name not in names}
    arguments = {"log": [], "visited": {4, 9}, "doubles": True}
    free = {name: value for name, value in arguments.items() if name in names}
    form = specialise(walk, **fixed)  # type: ignore[arg-type]

    actual = form(start, **free)
    log, arguments["log"] = arguments["log"], []

    free = {name: value for name, value in arguments.items() if name in names}
    assert actual == partial(walk, **fixed)(start, **free)  # type: ignore[arg-type]
    assert log == arguments["log"]


def test_what_cannot_happen_is_gone_and_inner_functions_stand_where_they_are_called() -> None:
    text = text_of(specialise(walk, log=None, visited=None, doubles=False))

    assert "log" not in text and "visited" not in text and "doubles" not in text
    assert "def push" not in text and "push(" not in text and "shifted(" not in text
    assert "unbounded" not in text  # bound once, to what is known
    assert text_of(walk) == inspect.getsource(walk)


def test_names_of_an_inner_function_do_not_meet_those_outside() -> None:
    def outer(total: int, *, add: bool) -> int:
        def twice(value: int) -> int:
            total = value * 2
            return total

        other = twice(total + 1)
        if add:
            other = other + total
        return other

    form = specialise(outer, add=True)

    assert [form(n) for n in (0, 1, 5)] == [2 * (n + 1) + n for n in (0, 1, 5)]


def test_arguments_that_do_something_are_worked_out_once_and_in_order() -> None:
    def outer(values: list[int], *, quiet: bool) -> list[int]:
        calls: list[int] = []

        def note(first: int, second: int) -> None:
            calls.append(second)
            calls.append(first)

        note(values.pop(), values.pop())
        if not quiet:
            calls.append(-1)
        return calls

    assert specialise(outer, quiet=True)([1, 2, 3]) == [2, 3]


def test_a_traceback_shows_the_lines_of_the_plain_text() -> None:
    form = specialise(walk, log=None, visited=None, doubles=False)

    with pytest.raises(TypeError) as caught:
        form("a")

    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    lines, first = inspect.getsourcelines(walk)
    assert last.filename == __file__
    assert last.line == "for number in (start, start + LIMIT):"
    assert lines[last.lineno - first].strip() == last.line


def test_without_source_it_is_a_partial() -> None:
    names: dict[str, Any] = {}
    exec("def f(x, *, more):\n    return x + 1 if more else x", names)

    form = specialise(names["f"], more=True)

    assert isinstance(form, partial)
    assert form(1) == 2


def test_with_the_source_of_other_code_it_is_a_partial(monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, Any] = {}
    exec(compile("def f(x, *, more):\n    return x + 1 if more else x", "<other>", "exec"), names)
    lines = ["import sys\n", "print(sys.path)\n"]  # of a process started with -c, say
    monkeypatch.setitem(linecache.cache, "<other>", (1, None, lines, "<other>"))

    assert specialise(names["f"], more=True)(1) == 2


def test_try_stays_where_it_catches_and_goes_where_it_only_raises_again() -> None:
    def read(table: dict[str, int], name: str, *, default: int | None) -> int | None:
        try:
            value = table[name]
        except KeyError:
            if default is not None:
                return default
            raise
        return value

    assert specialise(read, default=3)({}, "x") == 3
    bare = specialise(read, default=None)
    assert bare({"x": 1}, "x") == 1
    with pytest.raises(KeyError):
        bare({}, "x")
    assert "try" not in text_of(bare)
