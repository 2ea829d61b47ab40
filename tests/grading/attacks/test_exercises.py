"""Code that gets at the answers of the course's own exercises without their work."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from autodiff_kit.grading.course import open_course
from autodiff_kit.grading.exercise import grade_code
from autodiff_kit.grading.judging import runner_for
from autodiff_kit.grading.sandbox import best_walls
from autodiff_kit.grading.worker import Runner

COURSE = open_course(Path(__file__).resolve().parents[3] / "exercises")
FRAMES = """
import sys

def up(name):
    frame = sys._getframe(1)
    while frame is not None:
        for space in (frame.f_locals, frame.f_globals):
            if name in space:
                return space[name]
        frame = frame.f_back
"""
# Exercise, step, code that takes the solution's place, and checks that it passes by honest means.
ATTACKS = {
    "flaws read in the caller's frame": (
        "e16_gradcheck",
        "wrong_rules",
        FRAMES
        + """
def wrong_rules(ops, rng):
    return [name for name, _, flaw in up("data")["operations"] if flaw]
""",
    ),
    "flaws known by the names of functions": (
        "e16_gradcheck",
        "wrong_rules",
        """
def wrong_rules(ops, rng):
    names = [(name, rule.__qualname__ + repr(rule.__code__)) for name, _, rule in ops]
    return [n for n, words in names if "rule_of" in words or "branch" in words]
""",
    ),
    "flaws known by the lines of errors": (
        "e16_gradcheck",
        "wrong_rules",
        """
def wrong_rules(ops, rng):
    lines = {}
    for name, _, rule in ops:
        try:
            rule("g", "x")
        except Exception as error:
            trace = error.__traceback__
            while trace.tb_next:
                trace = trace.tb_next
            lines[name] = trace.tb_lineno
    return [name for name, line in lines.items() if line > min(lines.values())]
""",
    ),
    "program read in a closure": (
        "e11_static_graph",
        "trace",
        """
def trace(f, values):
    program = f.__closure__[0].cell_contents["program"]
    made = f.__globals__["run"](program, values)
    tape = [[*s, bool(v)] if s[0] == "guard" else s for s, v in zip(program, made)]
    return tape, ["result", len(tape) - 1]
""",
    ),
    "driver exchanged": (
        "e07_grad_mode",
        "decorator",
        """
import sys
frame = sys._getframe()
while frame:
    frame.f_globals["_driver"] = lambda source: compile(
        "def drive(step, data):\\n"
        "    if isinstance(data, int): return [False] * (data + 1) + [True]\\n", "", "exec")
    frame = frame.f_back
no_grad = None
""",
    ),
    "chain read in the caller's frame": (
        "e03_order",
        "order",
        FRAMES
        + """
class Named:
    def __init__(self, name): self.name = name
def order(root):
    data = up("data")
    first, count = data["first"], data["count"]
    return [Named(first + n) for n in reversed(range(count))]
""",
    ),
}


@pytest.fixture(scope="module", params=["plain process", "walls"])
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    walls = best_walls()
    if request.param == "walls" and walls is None:
        pytest.skip("no walls stand on this machine, see `autodiff-kit doctor`")
    if request.param == "plain process":
        yield runner_for(None)
    else:
        with runner_for(walls) as made:  # type: ignore[union-attr]
            yield made


@pytest.mark.parametrize("name", ATTACKS)
def test_answers_are_not_found_where_the_code_runs(name: str, runner: Runner) -> None:
    folder, step, code = ATTACKS[name]
    exercise = COURSE.exercise(folder)

    result = grade_code(exercise, f"{exercise.solution}\n\n{code}", runner, seed=3)

    (row,) = [row for row in result.rows if row.step == step]
    assert row.points == 0, row.text


def test_what_code_of_learners_does_for_itself_still_works(runner: Runner) -> None:
    code = """
import collections, dataclasses, enum, inspect, logging, traceback, warnings

@dataclasses.dataclass
class Pair:
    a: int = 1

def double(x):
    try:
        {}[1]
    except KeyError:
        traceback.print_exc()
    warnings.warn("a warning")
    logging.warning("a line")
    inspect.signature(double)
    collections.namedtuple("N", "a b")(1, Pair())
    enum.Enum("E", "a b")
    return bool(locals()) and bool(globals())

EXTRA = double(1)
"""
    exercise = COURSE.exercise("e03_order")

    result = grade_code(
        exercise,
        f"{code}\n\nif EXTRA:\n"
        + "\n".join(f"    {line}" for line in exercise.solution.splitlines()),
        runner,
        seed=3,
    )

    assert result.points == result.max, result.rows
