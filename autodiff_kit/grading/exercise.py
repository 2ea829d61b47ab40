"""Turn what a learner's code answers into points, and into words that help.

After reading this file you can say how a wrong answer gets its message: every known wrong answer
(a *mutant*, in ``mutants.toml``) is run on the same inputs, and a learner whose code answers as
the mutant does has made the mutant's mistake. Read next: ``verify.py``, which tests the checks.
"""

from __future__ import annotations

import ast
import json
import re
import runpy
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

from autodiff_kit.grading.checks import Check, alike, as_array, show
from autodiff_kit.grading.child import Missing, kind_of, value_of
from autodiff_kit.grading.child import Step as Namespace
from autodiff_kit.grading.notebook import Unreadable, defined
from autodiff_kit.grading.wire import WireError, decode, encode
from autodiff_kit.grading.worker import Call, Limits, Runner, Work

__all__ = [
    "Answer",
    "Exercise",
    "ExerciseError",
    "Hint",
    "Namespace",
    "Result",
    "Row",
    "Step",
    "Unreadable",
    "Variant",
    "ask",
    "call_of",
    "check_inputs",
    "defined",
    "grade_code",
    "is_right",
    "load",
    "right_answers",
    "run_trusted",
]

NOT_ATTEMPTED = "not attempted"
STUB = "NotImplementedError"
_VAGUE = ("AttributeError", "TypeError")


class ExerciseError(Exception):
    """An exercise that is not there, or whose files do not fit together; says what to do."""


@dataclass(frozen=True)
class Step:
    """A part of an exercise with points of its own: the names that the learner defines."""

    id: str
    points: float
    names: tuple[str, ...]


@dataclass(frozen=True)
class Hint:
    """One rung of the ladder; without a step it is for the whole exercise."""

    step: str
    text: str


@dataclass(frozen=True)
class Variant:
    """Code that takes the place of (parts of) the solution: a mutant or an alternative.

    Attributes
    ----------
    name : str
        Name of the mutant, or of the alternative's file without its ending.
    message : str
        Id of the message that a mutant must get; ``""`` for an alternative.
    code : str
    """

    name: str
    message: str
    code: str


_SOLUTION = Variant("solution", "", "")


@dataclass(frozen=True, eq=False)
class Exercise:
    """One exercise: what is asked, by which checks it is judged, and what is said.

    Attributes
    ----------
    id, title, lesson, version, minutes
        ``"04.accumulate"``, its heading, the file name of its lesson, integers.
    name : str
        Its folder's name, ``"e04_accumulate"``.
    steps, checks, hints, mutants, alternatives
    messages : dict of str to str
        Message id, or name of a check -> text.
    given : str
        Code that the notebook brings along; it runs ahead of the learner's.
    solution : str
        The solution, as it stands in the source notebook.
    seconds, memory : float, int
        Limits for one call (seconds) and for the process (MiB).
    allowed : tuple of str
        Packages besides the standard library.
    reviewed : dict of str to str
        Automatic mutant -> why it is right to survive.
    """

    id: str
    title: str
    lesson: str
    version: int
    minutes: int
    name: str
    steps: tuple[Step, ...]
    checks: tuple[Check, ...]
    hints: tuple[Hint, ...]
    messages: dict[str, str]
    mutants: tuple[Variant, ...]
    alternatives: tuple[Variant, ...]
    given: str
    solution: str
    seconds: float
    memory: int
    allowed: tuple[str, ...]
    reviewed: dict[str, str]

    @property
    def points(self) -> float:
        """All points of the exercise."""
        return sum(step.points for step in self.steps)

    @cached_property
    def limits(self) -> Limits:
        """Limits for the learner's process."""
        return Limits(seconds=self.seconds, memory=self.memory)


@dataclass(frozen=True)
class Answer:
    """What came of one call: a value, or the class of the error that came instead."""

    status: str
    value: Any = None
    error: str = ""
    kind: str = ""
    place: str = ""
    loading: bool = False
    absent: str = ""

    def is_like(self, other: Answer) -> bool:
        """Tell whether both are the same answer."""
        if self.status != other.status or self.loading:
            return False
        return alike(self.value, other.value) if self.status == "ok" else self.kind == other.kind


@dataclass(frozen=True)
class Row:
    """The result of one step.

    Attributes
    ----------
    exercise, step : str
    points, max : float
    status : str
        right, wrong, not attempted, error, timeout, memory, missing or fault.
    message : str
        Id of the message: a misconception's, or the name of the first check that failed.
    text : str
        What to say to the learner; never holds the right value of a random case.
    failed : tuple of str
        Names of the checks that failed.
    """

    exercise: str
    step: str
    points: float
    max: float
    status: str
    message: str
    text: str
    failed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Result:
    """All rows of one submission to one exercise.

    Attributes
    ----------
    rows : tuple of Row
    example : dict of str to Answer
        Name of each check -> what the learner's code answered to its example; for pictures.
    wanted : dict of str to Answer
        Name of each check -> the right answer to its example, which learners may see.
    """

    exercise: str
    rows: tuple[Row, ...]
    example: dict[str, Answer]
    wanted: dict[str, Answer]

    @property
    def points(self) -> float:
        """Points reached."""
        return sum(row.points for row in self.rows)

    @property
    def max(self) -> float:
        """Points that could be reached."""
        return sum(row.max for row in self.rows)


def load(folder: Path, name: str) -> Exercise:
    """Read an exercise from its files.

    Parameters
    ----------
    folder : Path
        The folder of the course.
    name : str
        Folder name of the exercise.

    Returns
    -------
    Exercise

    Raises
    ------
    ExerciseError
        If a file is missing or damaged, or if checks, steps and messages do not fit together.
    """
    home = folder / "checks" / name
    try:
        facts = tomllib.loads((home / "exercise.toml").read_text(encoding="utf-8"))
        messages = tomllib.loads((home / "messages.toml").read_text(encoding="utf-8"))
        found = runpy.run_path(str(home / "checks.py"), run_name=f"checks.{name}")
        notebook = json.loads((folder / "source" / name / f"{name}.ipynb").read_text("utf-8"))
        solution = "\n\n".join(_cells(notebook, "solution"))
        exercise = Exercise(
            id=facts["id"],
            title=facts["title"],
            lesson=facts["lesson"],
            version=facts["version"],
            minutes=facts["minutes"],
            name=name,
            steps=tuple(Step(s["id"], s["points"], tuple(s["names"])) for s in facts["steps"]),
            checks=tuple(value for value in found.values() if isinstance(value, Check)),
            hints=tuple(Hint(h.get("step", ""), h["text"]) for h in facts["hints"]),
            messages={key: " ".join(text.split()) for key, text in messages.items()},
            mutants=_mutants(home / "mutants.toml", solution),
            alternatives=_alternatives(home / "alternatives"),
            given="\n\n".join(_cells(notebook, "given")),
            solution=solution,
            seconds=facts["limits"]["seconds"],
            memory=facts["limits"]["memory"],
            allowed=tuple(facts["allowed"]),
            reviewed=facts.get("reviewed", {}),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        problem = f"no {error}" if isinstance(error, KeyError) else error
        raise ExerciseError(f"Cannot read the exercise {name} in {folder}: {problem}") from error
    _fits(exercise)
    return exercise


def grade_code(
    exercise: Exercise,
    code: str | Work,
    runner: Runner,
    seed: int,
    limits: Limits | None = None,
) -> Result:
    """Run a learner's code on the inputs of a seed, and judge it.

    Parameters
    ----------
    exercise : Exercise
    code : str or Work
        The learner's source, or the file that was handed in; the teacher's code that the notebook
        brings along runs ahead of it.
    runner : Runner
    seed : int
        The same seed gives the same inputs.
    limits : Limits, optional
        Others than the exercise's own.

    Returns
    -------
    Result - also for code that cannot be run at all.

    Raises
    ------
    Unreadable
        If there is no code in the file.
    """
    calls = _calls(exercise, seed)
    names = tuple(dict.fromkeys(name for step in exercise.steps for name in step.names))
    work = replace(Work.of(code), names=names, given=exercise.given)
    replies = runner.run_calls(work, calls, limits or exercise.limits)
    for reply in replies:
        if reply.status == "unreadable":
            raise Unreadable(reply.error)
    answers = [
        Answer(r.status, r.value, r.error, r.kind, r.place, r.loading, r.absent) for r in replies
    ]
    answers += [Answer("died", error="The process ended.")] * (len(calls) - len(answers))
    asked = _by_check(exercise, answers)
    rows: list[Row] = []
    for step in exercise.steps:
        said = {row.message for row in rows}
        rows.append(_row(exercise, step, asked, seed, said))
    example = {name: given[0] for name, given in asked.items()}
    wanted = {name: given[0] for name, given in _right(exercise, seed).items()}
    return Result(exercise.id, tuple(rows), example, wanted)


def run_trusted(code: str, calls: Iterable[Call]) -> list[Answer]:
    """Run code of the exercise itself (solution, mutant, alternative) in this process.

    Parameters
    ----------
    code : str
    calls : iterable of Call

    Returns
    -------
    list of Answer - as a process of its own would give them.
    """
    space = Namespace("trusted")
    with np.errstate(all="ignore"):  # a mutant may well divide by 0: no reason to warn
        exec(_compiled(code), space.__dict__)
        return ask(space, calls)


def ask(space: Namespace, calls: Iterable[Call]) -> list[Answer]:
    """Put calls to names that are defined in this process already.

    Parameters
    ----------
    space : Namespace
    calls : iterable of Call

    Returns
    -------
    list of Answer
    """
    answers = []
    for call in calls:
        try:
            # As through a pipe: what runs there cannot change our data, nor answer with anything.
            drive = _driver(call.driver)
            drive.__globals__["ask"] = _asked(call)
            answers.append(Answer("ok", _piped(drive(space, _copied(call.sent)))))
        except Missing as problem:
            answers.append(Answer("missing", error=str(problem)))
        except WireError as problem:
            answers.append(Answer("refused", error=str(problem)))
        except Exception as problem:
            text = f"{type(problem).__name__}: {problem}"
            answers.append(Answer("raised", error=text, kind=kind_of(problem)))
    return answers


def _row(
    exercise: Exercise, step: Step, asked: dict[str, list[Answer]], seed: int, said: set[str]
) -> Row:
    """Judge one step; ``said`` are the messages of those before it."""
    checks = [check for check in exercise.checks if check.step == step.id]
    inputs, right = _inputs(exercise, seed), _right(exercise, seed)
    failed = [
        check
        for check in checks
        if not all(
            is_right(check, data, answer, wanted)
            for data, answer, wanted in zip(
                inputs[check.name], asked[check.name], right[check.name], strict=True
            )
        )
    ]
    points = sum(check.points for check in checks if check not in failed)
    answers = [answer for check in checks for answer in asked[check.name]]

    def row(status: str, message: str, text: str) -> Row:
        names = tuple(check.name for check in failed)
        return Row(exercise.id, step.id, points, step.points, status, message, text, names)

    if any(answer.status == "fault" for answer in answers):
        points = 0
        return row("fault", "fault", "The grader itself had a problem; this costs you nothing.")
    if not failed:
        return row("right", "right", "Right.")
    if all(answer.status == "raised" and answer.kind == STUB for answer in answers):
        return row(NOT_ATTEMPTED, NOT_ATTEMPTED, "Not attempted yet.")
    if all(answer.status == "missing" for answer in answers):
        names = " and ".join(f"`{name}`" for name in step.names)
        return row("missing", "missing", f"Not found: {names}. Is its cell still there?")
    first = failed[0]
    trouble = next((answer for answer in asked[first.name] if answer.status != "ok"), Answer("ok"))
    if trouble.loading:
        status = "timeout" if trouble.status == "timeout" else "error"
        return row(status, "does_not_run", _not_run(step, trouble))
    statuses = {"ok": "wrong", "refused": "wrong", "timeout": "timeout", "memory": "memory"}
    status = statuses.get(trouble.status, "error")
    message = _diagnosis(exercise, step, checks, first, asked, seed, said)
    message = message or _recognised(
        first, inputs[first.name], asked[first.name], right[first.name]
    )
    message = message or first.name
    evidence = _evidence(first, inputs[first.name], asked[first.name], right[first.name])
    # Of what gave no answer, it is unknown whether it is right: then why there is none comes first.
    if trouble.status in ("timeout", "memory", "died", "missing") and message == first.name:
        return row(status, message, evidence)
    if trouble.status == "raised" and message == first.name:
        return row(status, message, f"{evidence}\n{exercise.messages[message]}")
    return row(status, message, f"{exercise.messages[message]}\n{evidence}")


def _not_run(step: Step, answer: Answer) -> str:
    """Say at which line the cells stop; and which names are missing after that."""
    names = " and ".join(f"`{name}`" for name in step.names)
    missing = f"{names} is not" if len(step.names) == 1 else f"not all of {names} are"
    missing += " defined"
    if answer.absent:
        missing = f"`{answer.absent}` is not defined, which your code for {names} needs"
    after = "After this error" if answer.status == "raised" else "Without this line"
    return f"{_error(answer)}\n{after}, {missing}."


def _error(answer: Answer) -> str:
    return "\n".join(filter(None, (answer.error.strip(), answer.place)))


def is_right(check: Check, data: Any, answer: Answer, wanted: Answer) -> bool:
    """Tell whether an answer to one input is right."""
    try:
        with np.errstate(all="ignore"):
            return answer.status == "ok" and check.compare(data, answer.value, wanted.value) is True
    except Exception:  # `compare` was written for answers of the right kind; this is none
        return False


def _diagnosis(
    exercise: Exercise,
    step: Step,
    checks: list[Check],
    first: Check,
    asked: dict[str, list[Answer]],
    seed: int,
    said: set[str],
) -> str:
    """Return the id of the known mistake that answers as the learner does, or nothing.

    A mutant that agrees on the whole step says most, and most of all one that agrees elsewhere,
    too: it may be one of those named in earlier steps, which shows in this one. Else the learner
    may have made two mistakes: then one that agrees on the first failed check, and has as few other
    faults as possible.
    """
    right = _right(exercise, seed)

    def agrees(mutant: Variant, check: Check) -> bool:
        return _all_alike(asked[check.name], _answers_of(exercise, mutant, check, seed))

    def is_of_this_step(mutant: Variant) -> bool:
        return bool(defined(mutant.code) & set(step.names))

    def is_wrong(mutant: Variant, check: Check) -> bool:
        return not _all_alike(_answers_of(exercise, mutant, check, seed), right[check.name])

    def agrees_on_example(mutant: Variant) -> bool:
        # The same for all learners, and so known already for most: the others are few.
        mine, theirs = asked[first.name][0], _example_of(exercise, mutant, first)
        # Of errors that anything can lead to, only the words tell whether it is the same thing.
        return mine.is_like(theirs) and (mine.kind not in _VAGUE or mine.error == theirs.error)

    known = [m for m in exercise.mutants if is_of_this_step(m) or m.message in said]
    known = [m for m in known if agrees_on_example(m)]
    known = [m for m in known if is_wrong(m, first) and agrees(m, first)]
    known = [m for m in known if is_of_this_step(m) or all(agrees(m, c) for c in exercise.checks)]
    whole = [m for m in known if all(agrees(m, check) for check in checks)]
    if len(whole) > 1:
        # Few are asked about all checks, as that takes long.
        everywhere = {m: sum(agrees(m, check) for check in exercise.checks) for m in whole}
        whole.sort(key=lambda m: (-everywhere[m], not is_of_this_step(m), m.message))
    if whole:
        return whole[0].message
    # Who has made a mistake fails wherever it shows: a check passed here rules it out.
    passed = [check for check in checks if _all_alike(asked[check.name], right[check.name])]
    half = [m for m in known if not any(is_wrong(m, check) for check in passed)]
    faults = [(sum(is_wrong(m, check) for check in checks), m.message) for m in half]
    return min(faults)[1] if faults else ""


def _recognised(check: Check, inputs: list[Any], answers: list[Answer], right: list[Answer]) -> str:
    """Return the id of the mistake that a wrong value itself shows, or nothing."""
    for data, answer, wanted in zip(inputs, answers, right, strict=True):
        wrong = answer.status == "ok" and not is_right(check, data, answer, wanted)
        if wrong and check.diagnose:
            try:
                return check.diagnose(data, answer.value, wanted.value)
            except Exception:  # it was written for values of the right kind; this is none
                return ""
    return ""


def _evidence(check: Check, inputs: list[Any], answers: list[Answer], right: list[Answer]) -> str:
    """Say where it can be seen: on the example, else that it is another input.

    Of other inputs, and of what the learner's code made of them, nothing is said that could carry
    them out: who knows the inputs of one try has nothing for the next, but may try.
    """
    for number, (given, answer, best) in enumerate(zip(inputs, answers, right, strict=True)):
        if is_right(check, given, answer, best):
            continue
        if number == 0:
            wanted, shown = show(best.value), show(answer.value)
            if answer.status == "ok" and shown == wanted:  # they differ further on
                shown, wanted = (show(value, digits=12) for value in (answer.value, best.value))
            yours = f"your code gives {shown}" if answer.status == "ok" else _trouble(answer)
            word = "right is, for example," if check.many else "right is"
            best_of = "" if best.status != "ok" else f"\n{word} {wanted}"
            return f"For {check.shown}:\n{yours}{best_of}"
        yours = _difference(answer.value, best.value) if answer.status == "ok" else _trouble(answer)
        return f"For {check.shown}: right. With other inputs of that kind it is not: there {yours}."
    return ""


def _trouble(answer: Answer) -> str:
    if answer.status == "raised":
        return f"your code stops with {_error(answer) or 'an error'}"
    if answer.status == "missing":
        return answer.error
    if answer.status == "timeout":
        return "your code was not ready in time"
    if answer.status == "memory":
        return "your code needs more memory than there is"
    if answer.status == "refused":
        return f"the grader cannot read your answer: {answer.error}"
    return f"your code gave no answer ({answer.error or answer.status})"


def _difference(value: Any, wanted: Any) -> str:
    """Say in which way an answer is wrong, with no number of it."""
    if isinstance(wanted, np.ndarray) and isinstance(value, list | tuple):
        array = as_array(value)
        value = value if array is None else array
    mine, best = _sort(value), _sort(wanted)
    if mine != best:
        return f"your answer is {mine}, and not {best}"
    if isinstance(value, np.ndarray) and isinstance(wanted, np.ndarray):
        if value.shape != wanted.shape:
            return "your answer has another shape than it should have"
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            return "your answer has numbers that are not finite"
    return "your answer is another one"


def _sort(value: Any) -> str:
    for kinds, words in (
        (type(None), "None"),
        (bool | np.bool_, "a truth value"),
        (int | float | np.number, "a number"),
        (np.ndarray, "an array"),
        (str, "text"),
        (list | tuple, "a list or tuple"),
    ):
        if isinstance(value, kinds):
            return words
    return "a dict"


def _inputs(exercise: Exercise, seed: int) -> dict[str, list[Any]]:
    return {c.name: check_inputs(c, seed) for c in exercise.checks}


def check_inputs(check: Check, seed: int) -> list[Any]:
    """Return the example and the random cases of a seed; drawn once."""
    seed = check.first_seed(seed)
    return _large_inputs(check, seed) if check.slow else _small_inputs(check, seed)


@lru_cache(maxsize=64)
def _small_inputs(check: Check, seed: int) -> list[Any]:
    return check.inputs(seed)


@lru_cache(maxsize=8)
def _large_inputs(check: Check, seed: int) -> list[Any]:
    return check.inputs(seed)


def _calls(exercise: Exercise, seed: int) -> list[Call]:
    """Return all questions: first the examples, and then all that learners may not see."""
    inputs = _inputs(exercise, seed)
    examples = [call_of(c, inputs[c.name][0], is_example=True) for c in exercise.checks]
    return examples + [call_of(c, x) for c in exercise.checks for x in inputs[c.name][1:]]


def call_of(check: Check, data: Any, is_example: bool = False) -> Call:
    """Return the question that a check puts to the learner's code with one input."""
    return Call(check.driver, data, is_example, check.public, check.reply)


def _by_check(exercise: Exercise, answers: list[Answer]) -> dict[str, list[Answer]]:
    """Deal out a flat list of answers to the checks they belong to."""
    rest = iter(answers)
    dealt = {check.name: [next(rest)] for check in exercise.checks}
    for check in exercise.checks:
        dealt[check.name] += [next(rest) for _ in range(check.cases)]
    return dealt


@lru_cache(maxsize=16)
def _right(exercise: Exercise, seed: int) -> dict[str, list[Answer]]:
    """Return the right answers: what the check expects, else what the solution answers."""
    return {check.name: right_answers(exercise, check, seed) for check in exercise.checks}


def right_answers(exercise: Exercise, check: Check, seed: int) -> list[Answer]:
    """Return the right answers to one check's example and random cases."""
    if check.expected is None:
        return _answers_of(exercise, _SOLUTION, check, seed)
    return _expected(check, check.first_seed(seed))


@lru_cache(maxsize=64)
def _expected(check: Check, seed: int) -> list[Answer]:
    assert check.expected is not None
    return [Answer("ok", check.expected(data)) for data in check_inputs(check, seed)]


def _answers_of(exercise: Exercise, variant: Variant, check: Check, seed: int) -> list[Answer]:
    """Return what a variant of the solution answers to one check."""
    code = f"{exercise.given}\n\n{exercise.solution}\n\n{variant.code}"
    return _answers(code, check, check.first_seed(seed))


@lru_cache(maxsize=4096)
def _example_of(exercise: Exercise, variant: Variant, check: Check) -> Answer:
    """Return what a variant of the solution answers to the example of one check."""
    code = f"{exercise.given}\n\n{exercise.solution}\n\n{variant.code}"
    (answer,) = run_trusted(code, [call_of(check, check.example)])
    return answer


@lru_cache(maxsize=1024)
def _answers(code: str, check: Check, seed: int) -> list[Answer]:
    return run_trusted(code, [call_of(check, data) for data in check_inputs(check, seed)])


def _all_alike(some: list[Answer], others: list[Answer]) -> bool:
    return all(a.is_like(b) for a, b in zip(some, others, strict=True))


_WHOLE = frozenset({bool, int, float, str, bytes, type(None)})


def _copied(data: Any) -> Any:
    """Return a copy of plain data in which nothing is shared, as after its way through a pipe."""
    kind = type(data)
    if kind is list or kind is tuple:
        return kind([x if type(x) in _WHOLE else _copied(x) for x in data])
    if kind is dict:
        return {key: x if type(x) in _WHOLE else _copied(x) for key, x in data.items()}
    return data.copy() if isinstance(data, np.ndarray) else data


def _asked(call: Call) -> Callable[[Any], Any]:
    """Return what a driver asks the grader with, where both are in one process."""
    return lambda question: value_of(call.answer_to(_copied(question)))


def _piped(value: Any) -> Any:
    data = encode(value)
    return decode(data, len(data))


@lru_cache(maxsize=1024)
def _compiled(code: str) -> CodeType:
    return compile(code, "<trusted>", "exec")


@lru_cache(maxsize=256)
def _driver(source: str) -> Callable[[Any, Any], Any]:
    beside: dict[str, Any] = {"__name__": "driver", "np": np}
    exec(compile(source, "<driver>", "exec"), beside)
    drive: Callable[[Any, Any], Any] = beside["drive"]
    return drive


def _cells(notebook: dict[str, Any], role: str) -> list[str]:
    """Return the sources of the cells that are given, or of those that hold solutions."""
    sources = []
    for cell in notebook["cells"]:
        grading = cell["metadata"].get("nbgrader", {})
        is_given = str(grading.get("grade_id", "")).endswith("-given")
        if is_given if role == "given" else grading.get("solution"):
            source = "".join(cell["source"])
            sources.append(re.sub(r"(?m)^\s*### (BEGIN|END) SOLUTION\n?", "", source))
    return sources


def _mutants(path: Path, solution: str) -> tuple[Variant, ...]:
    """Return the wrong answers: each changes the solution, or brings code of its own."""
    mutants = []
    solution += "\n"
    for name, mutant in sorted(tomllib.loads(path.read_text(encoding="utf-8")).items()):
        if "code" in mutant:
            code = mutant["code"]
        elif mutant["old"] in solution:
            code = _changed(solution, solution.replace(mutant["old"], mutant["new"]))
        else:
            raise ValueError(f"the solution has no code as `old` of the mutant {name}")
        mutants.append(Variant(name, name, code))
    return tuple(mutants)


def _changed(old: str, new: str) -> str:
    """Return what `new` defines and `old` does not define in the same words."""
    before, after = _definitions(old), _definitions(new)
    return "\n\n\n".join(source for source in after if source not in before)


def _definitions(code: str) -> list[str]:
    """Return the sources of the statements, with their decorators."""
    try:
        statements = ast.parse(code).body
    except SyntaxError:  # `verify` says that it does not run
        return [code]
    lines = code.splitlines()
    sources = []
    for statement in statements:
        decorators = getattr(statement, "decorator_list", [])
        first = min(part.lineno for part in (statement, *decorators))
        sources.append("\n".join(lines[first - 1 : statement.end_lineno]))
    return sources


def _alternatives(folder: Path) -> tuple[Variant, ...]:
    paths = sorted(folder.glob("*.py"))
    return tuple(Variant(path.stem, "", path.read_text(encoding="utf-8")) for path in paths)


def _fits(exercise: Exercise) -> None:
    """Raise for an exercise whose parts do not fit together."""
    problems = []
    given = Counter[str]()
    for check in exercise.checks:
        given[check.step] += check.points  # type: ignore[assignment]
        if check.name not in exercise.messages:
            problems.append(f"the check {check.name} has no text in messages.toml")
    for step in exercise.steps:
        if given[step.id] != step.points:
            problems.append(f"the checks of step {step.id} give {given[step.id]} points")
        if not set(step.names) <= defined(exercise.solution):
            problems.append(f"the solution of step {step.id} does not define {step.names}")
    for mutant in exercise.mutants:
        if mutant.message not in exercise.messages:
            problems.append(f"the mutant {mutant.name} has no text in messages.toml")
    if problems:
        raise ExerciseError(f"The exercise {exercise.id} does not fit together: {problems}")
