"""Iterations are those of the running code: each program counts its own rounds and compares."""

from __future__ import annotations

import gc
import sys
from typing import Any

import pytest

import autodiff_kit as torch
from autodiff_kit.core.mode import local
from autodiff_kit.record import Recording, record, rounds
from tests.record.cells import cell, run

# ``m(3, 1)`` runs one op in what the program knows to be round 3 of a loop and, in there, round 1
# of another; 0 where it does not count.
NOTED = """
import autodiff_kit as torch
x = torch.tensor(1.0, requires_grad=True)
def m(*rounds):
    number = 1
    for r in rounds:
        number = number * 100 + r
    x * number
    return False
"""
PROGRAMS = {
    "continue": """
n = 0
for i in range(6):
    n += 1
    if i % 2: continue
    m(n)
""",
    "enumerate": """
for i, v in enumerate("abcdef", 1):
    if v in "ace": continue
    m(i)
""",
    "while_continue": """
n = 0; h = 1
while h < 100:
    n += 1
    h = h * 2
    if n % 3: continue
    m(n)
""",
    "while_true_while": """
a = 0
while True:
    a += 1
    b = 0
    d = 0
    while d < 4:
        b += 1
        d += 1
        if d % 2: continue
        m(a, b)
    if a == 3: break
""",
    "while_while_tight": """
a, d = 0, 0
it = iter(range(100))
def more(k):
    return next(it) % k != 0
while a < 4:
    while next(it) % 3:
        if next(it) % 2: continue
        m(a + 1, 0)
    a += 1
""",
    "oneline": """
n = 0
while n < 5: n += 1; n % 2 or m(n)
for k in range(4): k % 2 or m(k + 1)
""",
    "comp": """
[m(i + 1) for i in range(5) if i % 2]
{m(i + 1) for i in range(5) if i % 2}
[m(i + 1, j + 1) for i in range(3) for j in range(4) if j % 2 if i % 2]
[[m(i + 1, j + 1) for j in range(3)] for i in range(3)]
sum(m(i + 1) or 0 for i in range(5) if i % 2)
""",
    "tryfinally": """
for i in range(3):
    try:
        if i == 1: raise ValueError
        m(i + 1)
    except ValueError:
        m(i + 1)
        continue
    finally:
        m(i + 1)
        for j in range(2): m(i + 1, j + 1)
    m(i + 1)
""",
    "forelse": """
for i in range(3):
    if i == 0: continue
    m(i + 1)
    for j in (5, 6):
        if j == 5: continue
        m(i + 1, 2)
else:
    m()
""",
    "func": """
def f(n):
    k = 0
    for _ in range(n):
        k += 1
        if k % 2: continue
        m(k)
    return k
for r in range(3):
    if r == 1: continue
    f(4)
""",
    "gen": """
def g(n):
    k = 0
    while True:
        k += 1
        if k > n: return
        if k % 2: continue
        m(k)
        yield k
c = 0
for v in g(9):
    c += 1
    m(c)
""",
    "recursion": """
def rec(n):
    for i in range(3):
        if i == 0: continue
        m(i + 1)
        if n: rec(n - 1)
rec(2)
""",
    "boolwhile": """
a = b = 0
while a < 5 and (b < 3 or a < 4):
    a += 1
    if a == 2: continue
    b += 1
    m(a)
""",
    "with": """
from contextlib import nullcontext
a = 0
while True:
    a += 1
    with nullcontext():
        if a % 2: continue
        m(a)
    if a > 5: break
""",
    "multiline": """
for i in zip(
    range(5),
    range(
        5),
):
    if i[0] == 0: continue
    m(i[0] + 1)
[
    m(i + 1)
    for i in range(
        3
    )
    if i
]
""",
    "long": "for i in range(4):\n    if i == 1: continue\n"
    + "".join(f"    a{k} = i + {k}\n" for k in range(200))
    + "    m(i + 1)\n",
}


def noted(rec: Recording) -> list[tuple[list[int], list[int]]]:
    """Return, for each op, the rounds that the program gave and those of the recording."""
    rounds = []
    for node in rec.nodes:
        if node["kind"] != "op":
            continue
        number, path = int(node["inputs"][1]["value"]), []
        while number > 1:
            number, r = divmod(number, 100)
            path.insert(0, r)
        scope, recorded = rec.scopes[rec.scopes[node["scope"]]["parent"]], []
        while scope["kind"] in ("iteration", "loop"):
            if scope["kind"] == "iteration":
                recorded.insert(0, scope["index"] + 1)
            scope = rec.scopes[scope["parent"]]
        if 0 in path:
            recorded[path.index(0)] = 0
        rounds.append((path, recorded))
    return rounds


@pytest.mark.parametrize("name", PROGRAMS)
def test_iterations_are_those_that_the_program_counts(name: str) -> None:
    rec = run(NOTED, PROGRAMS[name])

    rounds = noted(rec)
    assert rounds
    assert [recorded for _, recorded in rounds] == [counted for counted, _ in rounds]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="rounds are counted without a tracer")
def test_a_debugger_keeps_its_trace_function() -> None:
    events: list[str] = []

    def tracer(frame: Any, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename.startswith("<cell"):
            events.append(event)
            return tracer
        return None

    sys.settrace(tracer)
    try:
        rec = run(
            "import autodiff_kit as torch\nx = torch.ones(1)", "for i in range(2):\n    y = x * i"
        )
        trace = sys.gettrace()
    finally:
        sys.settrace(None)

    assert trace is tracer
    assert events.count("line") >= 5
    assert "iteration" not in [scope["kind"] for scope in rec.scopes]  # and nothing is guessed


def test_nothing_traces_when_a_recording_is_over() -> None:
    with record():
        for _ in range(2):
            torch.ones(1) * 2

    assert sys.gettrace() is None
    assert rounds.turns_of(sys._getframe()) is None


def test_a_recording_that_was_interrupted_at_its_beginning_stops_no_other() -> None:
    before = local.mode.observer
    lost = record()
    lost.__enter__()  # such as by a time limit that strikes before the block is entered
    local.mode.observer = before
    del lost
    gc.collect()

    with record() as rec:
        for _ in range(2):
            torch.ones(1) * 2

    assert [s["index"] for s in rec.scopes if s["kind"] == "iteration"] == [0, 1]
    assert sys.gettrace() is None


def test_a_recording_in_another_shares_its_rounds() -> None:
    source = (
        "for i in range(4):\n    if i % 2: continue\n    y = x * i\n"
        "    with record() as rec:\n        for j in range(4):\n            if j < 3: continue\n"
        "            z = x * j\n    recs.append(rec)\n"
    )
    recs: list[Recording] = []

    with record() as outer:
        cell(source, {"record": record, "recs": recs, "x": torch.ones(1)})

    rounds_of = [[s["index"] for s in rec.scopes if s["kind"] == "iteration"] for rec in recs]
    assert rounds_of == [[3], [3]]
    assert [s["index"] for s in outer.scopes if s["kind"] == "iteration"] == [0, 3, 2, 3]
