"""Test the checks themselves: known wrong answers must fail, right ones must pass.

After reading this file you can say what a good set of checks is, in numbers: every mutant loses
points, as many under each of 20 seeds, and gets its own message, every alternative has
full points under 200 seeds, the untouched notebook reads "not attempted", every check catches
something that no other catches, wrong answers to other exercises change nothing, and no small
change of the solution stays unnoticed unless a reason is written down why it is right. Read next:
``no_work.py``, then ``feedback.py``.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from autodiff_kit.grading.answers import run_trusted
from autodiff_kit.grading.course import Course
from autodiff_kit.grading.engine_parts import statements
from autodiff_kit.grading.exercise import Exercise, Variant
from autodiff_kit.grading.marking import NOT_ATTEMPTED, Result, grade_code
from autodiff_kit.grading.mutate import changes
from autodiff_kit.grading.no_work import points_for_no_work
from autodiff_kit.grading.notebook import defined
from autodiff_kit.grading.release import build
from autodiff_kit.grading.trusted import BUDGET, Trusted, is_passed

__all__ = ["SEEDS", "Verdict", "stated_points", "table", "verify", "verify_exercise"]

SEEDS = 200
CHANGES = 0.05  # times as many seeds under which a small change of a right answer has equal points
MUTANTS = 0.1  # times as many seeds under which a mutant must have the same points
FEWEST = 3  # seeds, at least, under which a mutant is tried
_STATED = re.compile(r"(?mi)^.*?\bstep (\d+)\b.*?\((\d+(?:\.\d+)?) points?\)")
NO_WORK = 5  # times as many seeds under which no work must have no points


@dataclass
class Verdict:
    """What came of testing one exercise's checks.

    Attributes
    ----------
    exercise : str
    points : float
    mutants, alternatives, checks, seeds, changed : int
        How many of each; `changed` counts the automatic changes of the solution.
    survivors : list of str
        Automatic changes that no check notices and that have not been reviewed.
    reviewed : int
        Automatic changes that no check notices, for a reason that is written down.
    problems : list of str
        Whatever else is not as it has to be.
    """

    exercise: str
    points: float
    mutants: int = 0
    alternatives: int = 0
    checks: int = 0
    seeds: int = 0
    changed: int = 0
    reviewed: int = 0
    survivors: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether everything holds."""
        return not self.problems and not self.survivors


def verify(course: Course, seeds: int = SEEDS, keys: Sequence[str] = ()) -> list[Verdict]:
    """Test the checks of a course's exercises.

    Parameters
    ----------
    course : Course
    seeds : int
        Under how many seeds the alternatives are run; the mutants under a tenth of them.
    keys : sequence of str
        Ids of the exercises to test; else all.

    Returns
    -------
    list of Verdict
    """
    exercises = course.exercises()
    return [
        verify_exercise(exercise, course, [e for e in exercises if e is not exercise], seeds)
        for exercise in (map(course.exercise, keys) if keys else exercises)
    ]


def verify_exercise(
    exercise: Exercise, course: Course, others: Iterable[Exercise] = (), seeds: int = SEEDS
) -> Verdict:
    """Test the checks of one exercise.

    Parameters
    ----------
    exercise : Exercise
    course : Course
        Where its notebook lies.
    others : iterable of Exercise
        Their wrong answers must change nothing here.
    seeds : int

    Returns
    -------
    Verdict
    """
    verdict = Verdict(exercise.id, exercise.points, checks=len(exercise.checks), seeds=seeds)
    exercise = _runnable(exercise, verdict)
    runner = Trusted()
    _mutants(exercise, verdict, runner, range(1, 1 + max(FEWEST, round(MUTANTS * seeds))))
    _right_answers(exercise, verdict, runner, seeds)
    _stub(exercise, course, verdict)
    stated_points(exercise, course, verdict)
    _strangers(exercise, others, verdict)
    handed_out = _stub_of(exercise, course)
    verdict.problems += points_for_no_work(exercise, handed_out, NO_WORK * seeds)
    _changes(exercise, verdict)
    _draws(exercise, verdict, range(1, 1 + round(CHANGES * seeds)))
    return verdict


def table(verdicts: Iterable[Verdict]) -> str:
    """Return the verdicts as text: one line per exercise, then what has to be fixed."""
    lines = [
        "exercise              points  checks  mutants  alternatives  seeds  changes  reviewed  "
        "survivors  ",
    ]
    notes = []
    for v in verdicts:
        lines.append(
            f"{v.exercise:<22}{v.points:>6g}{v.checks:>8}{v.mutants:>9}{v.alternatives:>14}"
            f"{v.seeds:>7}{v.changed:>9}{v.reviewed:>10}{len(v.survivors):>11}  "
            f"{'ok' if v.ok else 'FIX'}"
        )
        notes += [f"{v.exercise}: {problem}" for problem in v.problems]
        notes += [f"{v.exercise}: no check notices: {change}" for change in v.survivors]
    return "\n".join(lines + notes)


def _runnable(exercise: Exercise, verdict: Verdict) -> Exercise:
    """Return the exercise without the answers that stop before anything is asked of them."""
    runnable: dict[str, list[Variant]] = {}
    for kind, name_of in (("mutants", "the mutant {}"), ("alternatives", "alternatives/{}.py")):
        runnable[kind] = []
        for variant in getattr(exercise, kind):
            fault = _fault("\n\n".join([exercise.given, exercise.solution, variant.code]))
            if fault:
                verdict.problems.append(
                    f"{name_of.format(variant.name)} stops when it is run: {fault}"
                )
            else:
                runnable[kind].append(variant)
    return dataclasses.replace(
        exercise, mutants=tuple(runnable["mutants"]), alternatives=tuple(runnable["alternatives"])
    )


def _fault(code: str) -> str:
    try:
        run_trusted(code, [])
    except Exception as error:  # whatever the author of an exercise may have written
        return f"{type(error).__name__}: {error}"
    return ""


def _mutants(exercise: Exercise, verdict: Verdict, runner: Trusted, seeds: Sequence[int]) -> None:
    """Every mutant loses points, the same under these seeds, and its message is its own.

    Every check is needed.
    """
    verdict.mutants = len(exercise.mutants)
    if len(exercise.mutants) < 8:
        verdict.problems.append(f"has {len(exercise.mutants)} mutants; 8 are the least")
    shared = [m for m, n in Counter(m.message for m in exercise.mutants).items() if n > 1]
    texts = Counter(exercise.messages.values())
    shared += [text for text, number in texts.items() if number > 1]
    verdict.problems += [f"more than one mistake has the message {message}" for message in shared]
    needed: set[str] = set()
    for mutant in exercise.mutants:
        names = defined(mutant.code)
        earned: dict[float, int] = {}  # points, and the first seed with them
        for seed in seeds:
            result = _graded(exercise, mutant.code, seed, runner)
            earned.setdefault(result.points, seed)
            failed = {name for row in result.rows for name in row.failed}
            failed -= {
                check.name
                for check in exercise.checks
                if check.needs and failed.issuperset(other.name for other in check.needs)
            }
            messages = {
                row.message for row in result.rows if set(_names(exercise, row.step)) & names
            }
            if result.points >= result.max:
                verdict.problems.append(f"mutant {mutant.name} keeps all points (seed {seed})")
            if mutant.message not in messages:
                verdict.problems.append(f"mutant {mutant.name} is told {messages} (seed {seed})")
            if len(failed) == 1:
                needed.update(failed)
        if len(earned) > 1:
            points = ", ".join(f"{p:g} (seed {seed})" for p, seed in earned.items())
            verdict.problems.append(f"the mutant {mutant.name} has different points: {points}")
    for check in exercise.checks:
        if check.name not in needed:
            verdict.problems.append(
                f"check {check.name} catches nothing that no other catches: add a mutant that "
                f"fails this check alone, or leave the check out"
            )


def _right_answers(exercise: Exercise, verdict: Verdict, runner: Trusted, seeds: int) -> None:
    """Demand full points for the solution and every alternative, whatever the inputs are."""
    verdict.alternatives = len(exercise.alternatives)
    if len(exercise.alternatives) < 3:
        verdict.problems.append(f"has {verdict.alternatives} alternatives; 3 are the least")
    variants = (Variant("solution", "", ""), *exercise.alternatives)
    losses: dict[str, list[tuple[int, list[tuple[str, ...]]]]] = {v.name: [] for v in variants}
    for seed in range(seeds):
        for variant in variants:
            result = _graded(exercise, variant.code, seed, runner)
            if result.points != result.max:
                failed = [row.failed for row in result.rows if row.failed]
                losses[variant.name].append((seed, failed))
    for name, hits in losses.items():
        if hits:
            verdict.problems.append(
                f"the right answer {name} loses points under {len(hits)} of {seeds} "
                f"seeds, first under {hits[0]}"
            )


def _stub(exercise: Exercise, course: Course, verdict: Verdict) -> None:
    """Demand "not attempted" for the notebook as learners get it, and "missing" for no cells."""
    for code, status in ((_stub_of(exercise, course), NOT_ATTEMPTED), ("", "missing")):
        result = grade_code(exercise, code, Trusted(), 1)
        if any(row.status != status or row.points for row in result.rows):
            verdict.problems.append(f"{status}: {[(r.status, r.points) for r in result.rows]}")


def stated_points(exercise: Exercise, course: Course, verdict: Verdict) -> None:
    """Demand that the notebook states the points that its steps have: "Step 2: ... (3 points)".

    What it calls one step may be several that follow on each other.
    """
    source = course.folder / "source" / exercise.name / f"{exercise.name}.ipynb"
    cells = json.loads(source.read_bytes())["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    rest = list(exercise.points_by_part.items())
    for number, words in _STATED.findall("\n\n".join(texts)):
        stated, parts = float(words), list[str]()
        points = 0.0
        while rest and points < stated:
            part, more = rest.pop(0)
            parts.append(part)
            points += more
        if points != stated:
            have = f"{' and '.join(parts)} give {points:g}" if parts else "there is none"
            verdict.problems.append(
                f"the notebook states {stated:g} points for step {number}, and {have}"
            )


def _stub_of(exercise: Exercise, course: Course) -> str:
    """Return the cells that learners fill in, as they get them."""
    source = course.folder / "source" / exercise.name / f"{exercise.name}.ipynb"
    cells = json.loads(build(source.read_bytes()))["cells"]
    cells = [cell for cell in cells if cell["cell_type"] == "code"]
    solving = [c for c in cells if c["metadata"].get("nbgrader", {}).get("solution")]
    return "\n\n".join("".join(cell["source"]) for cell in solving)


def _strangers(exercise: Exercise, others: Iterable[Exercise], verdict: Verdict) -> None:
    """Wrong answers to other exercises, in the same notebook, earn nothing and spoil nothing."""
    ours = {name for step in exercise.steps for name in step.names}
    for other in others:
        codes = []
        for mutant in other.mutants:
            fault = _fault(f"{exercise.given}\n\n{mutant.code}")
            if fault:
                text = f"the mutant {mutant.name} of {other.id} stops without its own notebook"
                verdict.problems.append(f"{text}: {fault}")
            else:
                codes.append(mutant.code)
        ahead = "\n\n".join([other.given, other.solution, *codes])
        code = f"{ahead}\n\n{exercise.given}\n\n{exercise.solution}"
        if grade_code(exercise, code, Trusted(), 1).points != exercise.points:
            verdict.problems.append(f"wrong answers to {other.id} ahead of it spoil it")
        alone = "\n\n".join(code for code in codes if not defined(code) & ours)
        if grade_code(exercise, alone, Trusted(), 1).points:
            verdict.problems.append(f"wrong answers to {other.id} earn points here")


def _changes(exercise: Exercise, verdict: Verdict) -> None:
    """Small changes of the solution are noticed, or a reason is written down why not."""
    names = {variant.name for variant in exercise.alternatives}
    unused = {key for key in exercise.reviewed if key.partition(":")[0] not in names}
    # Most changes are noticed by a quick check: the slow ones are asked about the others only.
    checks = sorted(exercise.checks, key=lambda check: check.slow)
    for description, code in changes(_own(exercise)):
        verdict.changed += 1
        whole = f"{exercise.given}\n\n{exercise.solution}\n\n{code}"
        if not all(is_passed(exercise, check, whole, seed=1, budget=BUDGET) for check in checks):
            continue
        unused.discard(description)
        if description in exercise.reviewed:
            verdict.reviewed += 1
        else:
            verdict.survivors.append(description)
    verdict.problems += [f"reviewed, but noticed or gone: {change}" for change in sorted(unused)]


def _draws(exercise: Exercise, verdict: Verdict, seeds: Sequence[int]) -> None:
    """Small changes of right answers have the same points under these seeds.

    Otherwise a check draws what it has to ask each time (`Check.kinds`). A change may be right.
    """
    if len(seeds) < 2:  # nothing to compare
        return
    whole = f"{exercise.given}\n\n{exercise.solution}"
    checks = [check for check in exercise.checks if not check.slow]
    for variant in (Variant("solution", "", _own(exercise)), *exercise.alternatives):
        for description, code in changes(variant.code):
            code = f"{whole}\n\n{code}"
            what = f"{variant.name}: {description}"
            for check in checks if what not in exercise.reviewed else ():
                # A wrong example loses the points under all seeds.
                if not is_passed(exercise, check, code, seeds[0], BUDGET, (0,)):
                    continue
                random = range(1, 1 + check.cases)
                passed = [s for s in seeds if is_passed(exercise, check, code, s, BUDGET, random)]
                if passed and len(passed) < len(seeds):
                    share = f"{len(passed)} of {len(seeds)}"
                    text = f"check {check.name} has points under {share} seeds for {what}"
                    verdict.problems.append(text)


def _own(exercise: Exercise) -> str:
    """Return the solution without the engine, whose parts are changed in their own exercises."""
    if not exercise.whole_engine:
        return exercise.solution
    return statements(exercise.solution, exercise.engine)


def _graded(exercise: Exercise, code: str, seed: int, runner: Trusted) -> Result:
    return grade_code(exercise, f"{exercise.solution}\n\n{code}", runner, seed)


def _names(exercise: Exercise, step: str) -> tuple[str, ...]:
    return next(s.names for s in exercise.steps if s.id == step)
