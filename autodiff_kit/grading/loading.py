"""Read an exercise from its files, and refuse one whose parts do not fit together.

After reading this file you can say what each file of an exercise is read for. Read next:
``template.py``, which writes the files of a new one.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from autodiff_kit.free_form import Json
from autodiff_kit.grading.checks import Check
from autodiff_kit.grading.course_files import files_in, run, text_of
from autodiff_kit.grading.engine_parts import is_engine, parts_before, whole
from autodiff_kit.grading.exercise import Exercise, ExerciseError, Hint, Step, Variant
from autodiff_kit.grading.notebook import defined
from autodiff_kit.grading.questions import questions_in
from autodiff_kit.grading.release import without_hidden_tests

__all__ = ["load"]


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
    checks = "checks", name
    try:
        facts = tomllib.loads(text_of(folder, *checks, "exercise.toml"))
        messages = tomllib.loads(text_of(folder, *checks, "messages.toml"))
        names = run(folder, *checks, "checks.py")
        notebook = json.loads(text_of(folder, "source", name, f"{name}.ipynb"))
        files = files_in(folder, *checks)
        solutions, before = _cells(notebook, "solution"), parts_before(folder, name)
        is_whole = bool(facts.get("whole_engine"))
        if is_whole:
            solutions.insert(0, whole(before))
        solution = "\n\n".join(solutions)
        is_performed = facts.get("kind") == "perform"
        puzzles = facts.get("puzzles", not is_performed and _puzzles_of_course(folder))
        if is_performed:  # a mistake that a performance shows has its sentence already
            from autodiff_kit.view.perform.script import MISCONCEPTIONS

            messages = {**MISCONCEPTIONS, **messages}
        exercise = Exercise(
            id=facts["id"],
            title=facts["title"],
            lesson=facts["lesson"],
            version=facts["version"],
            minutes=facts["minutes"],
            name=name,
            steps=tuple(Step(s["id"], s["points"], tuple(s["names"])) for s in facts["steps"]),
            checks=tuple(value for value in names.values() if isinstance(value, Check)),
            hints=tuple(
                Hint(h.get("step", ""), h["text"], tuple(h.get("checks", ())))
                for h in facts["hints"]
            ),
            messages={key: " ".join(text.split()) for key, text in messages.items()},
            mutants=_mutants(files["mutants.toml"].decode(), solution),
            alternatives=_alternatives(files),
            given="\n\n".join(
                # What was built before stands around what is asked, as the kit writes it.
                [*(part.whole for part in before if not is_whole), *_cells(notebook, "given")]
            ),
            locked=tuple(without_hidden_tests(cell) for cell in _cells(notebook, "locked")),
            solution=solution,
            seconds=facts["limits"]["seconds"],
            memory=facts["limits"]["memory"],
            allowed=tuple(facts["allowed"]),
            reviewed=facts.get("reviewed", {}),
            kind=facts.get("kind", "write"),
            has_puzzles=_is_wish(puzzles),
            puzzle_shares=dict(puzzles) if isinstance(puzzles, dict) else {},
            questions=questions_in(files.get("questions.toml", b"").decode(), notebook),
            engine=tuple(facts.get("engine", ())),
            whole_engine=is_whole,
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        problem = f"no {error}" if isinstance(error, KeyError) else error
        raise ExerciseError(f"Cannot read the exercise {name} in {folder}: {problem}") from error
    _fits(exercise)
    return exercise


def _puzzles_of_course(folder: Path) -> object:
    """Return whether a course's exercises have puzzles where they do not say it themselves."""
    path = folder / "course.toml"
    if not path.is_file():
        return False
    return tomllib.loads(path.read_text(encoding="utf-8")).get("puzzles", False)


def _is_wish(puzzles: object) -> bool:
    """Return whether a solution may be shown in pieces; who gives points for them says so, too."""
    if not isinstance(puzzles, bool | dict):
        raise ValueError(f"puzzles is {puzzles!r}; it is true, false, or a table of shares")
    return puzzles is not False


def _cells(notebook: Json, role: str) -> list[str]:
    """Return the sources of the cells that are given, that hold solutions, or that are locked.

    A cell for the whole engine is not among them: that is made of the parts.
    """
    sources = []
    for cell in notebook["cells"]:
        grading = cell["metadata"].get("nbgrader", {})
        if cell["cell_type"] != "code":  # what is answered in words is no code
            continue
        is_solution = bool(grading.get("solution"))
        is_of = {
            "given": str(grading.get("grade_id", "")).endswith("-given"),
            "solution": is_solution and not is_engine(cell),
            "locked": bool(grading.get("locked")) and not is_solution,
        }
        if is_of[role]:
            source = "".join(cell["source"])
            sources.append(re.sub(r"(?m)^\s*### (BEGIN|END) SOLUTION\n?", "", source))
    return sources


def _mutants(toml: str, solution: str) -> tuple[Variant, ...]:
    """Return the wrong answers: each changes the solution, or brings code of its own."""
    mutants = []
    solution += "\n"
    for name, mutant in sorted(tomllib.loads(toml).items()):
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


def _alternatives(files: Mapping[str, bytes]) -> tuple[Variant, ...]:
    codes = {path: data.decode() for path, data in sorted(files.items())}
    names = [path for path in codes if fnmatch(path, "alternatives/*.py") and path.count("/") == 1]
    return tuple(Variant(PurePosixPath(path).stem, "", codes[path]) for path in names)


def _fits(exercise: Exercise) -> None:
    """Raise for an exercise whose parts do not fit together."""
    problems = []
    points = Counter[str]()
    for check in exercise.checks:
        points[check.step] += check.points  # type: ignore[assignment]
        if check.name not in exercise.messages:
            problems.append(f"the check {check.name} has no text in messages.toml")
    for step in exercise.steps:
        if points[step.id] != step.points:
            problems.append(
                f"step {step.id} has {step.points:g} points in exercise.toml, and its checks in "
                f"checks.py have {points[step.id]:g} together"
            )
        if not set(step.names) <= defined(exercise.solution):
            problems.append(f"the solution of step {step.id} does not define {step.names}")
    for question in exercise.questions:
        if question.id in {step.id for step in exercise.steps}:
            problems.append(f"{question.id} is a step and a question")
        if question.points <= 0:
            problems.append(f"no line of the rubric of {question.id} gives points")
    parts = {"", *(step.id for step in exercise.steps), *(check.name for check in exercise.checks)}
    for hint in exercise.hints:
        for name in {hint.step, *hint.checks} - parts:
            problems.append(f"a hint is for {name}, which is neither a step nor a check")
    if exercise.kind not in ("write", "perform"):
        problems.append(f"kind is {exercise.kind!r}; it is perform, or left out")
    is_performed = exercise.kind == "perform"
    for check in exercise.checks:
        if check.performed and not is_performed:
            words = 'is performed: exercise.toml needs kind = "perform"'
            problems.append(f"the check {check.name} {words}")
        if is_performed and not check.performed:
            words = 'is not made by performed(...), as those of kind = "perform" are'
            problems.append(f"the check {check.name} {words}")
    if len({c.performed.program for c in exercise.checks if c.performed}) > 1:
        problems.append("its checks perform several programs; an exercise has one")
    for kind, share in exercise.puzzle_shares.items():
        is_share = isinstance(share, int | float) and 0 <= share <= 1
        if kind not in ("parsons", "gaps") or not is_share:
            problems.append(
                f"puzzles has {kind} = {share!r}; it is parsons or gaps, and a share of a step's "
                "points from 0 to 1"
            )
    for mutant in exercise.mutants:
        if mutant.message not in exercise.messages:
            problems.append(f"the mutant {mutant.name} has no text in messages.toml")
    if problems:
        lines = "".join(f"\n- {problem}" for problem in problems)
        raise ExerciseError(f"The parts in checks/{exercise.name} do not fit together:{lines}")
