"""The exercises that come with the kit: their checks, their notebooks, and what learners are told.

``verify``: known wrong answers fail with their own message, right ones pass under 200 seeds, every
check is needed, and no small change of a solution goes unnoticed. Outside of the gate five of the
exercises are verified, under 3 seeds and beside two others instead of all.
"""

import dataclasses
import json
import re
from pathlib import Path
from types import CodeType

import pytest

from autodiff_kit.grading import feedback
from autodiff_kit.grading import verify as verify_module
from autodiff_kit.grading.answers import (
    all_alike,
    answers_of,
    call_of,
    check_inputs,
    run_trusted,
)
from autodiff_kit.grading.course import Course, open_course
from autodiff_kit.grading.exercise import Exercise, Variant
from autodiff_kit.grading.marking import failed_checks, grade_code
from autodiff_kit.grading.notebook import defined
from autodiff_kit.grading.reach import reach
from autodiff_kit.grading.release import build, with_hidden_tests
from autodiff_kit.grading.trusted import Trusted
from autodiff_kit.grading.verify import SEEDS, table, verify_exercise
from tests.gate import IN_THE_GATE, row_by_row, some

COURSE: Course = open_course(Path(__file__).resolve().parents[3] / "exercises")
EXERCISES = COURSE.exercises()
each_exercise = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)


def notebook_of(exercise: Exercise, kind: str = "source") -> Path:
    return COURSE.folder / kind / exercise.name / f"{exercise.name}.ipynb"


def cells_of(path: Path) -> list[tuple[str, dict]]:
    """Return the code cells of a notebook with their nbgrader metadata."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [
        ("".join(cell["source"]), cell["metadata"].get("nbgrader", {}))
        for cell in cells
        if cell["cell_type"] == "code"
    ]


@pytest.mark.parametrize("exercise", some(EXERCISES, 5), ids=lambda e: e.id)
def test_the_checks_of_every_exercise_pass_their_own_test(
    exercise: Exercise, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A mistake has equal points under 20 seeds, and small changes under 10, when `autodiff-kit
    # verify` is called, for some ten minutes; in the gate under 3 and 2.
    monkeypatch.setattr(verify_module, "MUTANTS", 3 / SEEDS)
    monkeypatch.setattr(verify_module, "CHANGES", 2 / SEEDS)
    monkeypatch.setattr(verify_module, "FEWEST", 1)
    place = EXERCISES.index(exercise)
    others = [*EXERCISES[place + 1 :], *EXERCISES[:place]]

    if IN_THE_GATE:
        verdict = verify_exercise(exercise, COURSE, others, SEEDS)
    else:
        verdict = verify_exercise(exercise, COURSE, others[::8], 3)

    assert verdict.ok, table([verdict])


# By exercise, mistake and checks: the number of draws, more than some ten times those that were
# needed to see a difference where inputs were drawn with less care.
DRAWS = {
    ("02.rules", "conjugated", ("Pow",)): 800,
    ("12.train", "relu_on_the_logits", ("Alive",)): 100,
    ("16.gradcheck", "h_too_large", ("UsesOfG", "Places")): 8,
    ("16.gradcheck", "sizes_only", ("Places",)): 20,
    ("16.gradcheck", "stops_at_the_first", ("UsesOfG",)): 30,
}


def test_an_order_of_the_root_and_its_inputs_alone_earns_nothing() -> None:
    exercise = COURSE.exercise("03.order")
    code = f"{exercise.solution}\n\ndef order(root):\n    return [root, *root.inputs]\n"

    for seed in range(300):
        failed = {check.name for check in failed_checks(exercise, code, Trusted(), seed)}
        assert {check.name for check in exercise.checks if check.step == "order"} <= failed


@pytest.mark.gate
@pytest.mark.parametrize(("key", "name", "checks"), DRAWS)
def test_a_mistake_fails_the_same_checks_whatever_is_drawn(
    key: str, name: str, checks: tuple[str, ...]
) -> None:
    exercise = COURSE.exercise(key)
    few = dataclasses.replace(
        exercise, checks=tuple(check for check in exercise.checks if check.name in checks)
    )
    (mutant,) = [mutant for mutant in exercise.mutants if mutant.name == name]
    code = f"{exercise.solution}\n\n{mutant.code}"

    failed = {
        tuple(check.name for check in failed_checks(few, code, Trusted(), 20 * number))
        for number in range(DRAWS[key, name, checks])
    }

    assert len(failed) == 1


@pytest.mark.gate
@row_by_row
@each_exercise
def test_a_mistake_where_a_check_does_not_reach_changes_no_answer(exercise: Exercise) -> None:
    for check in exercise.checks:
        calls = [call_of(check, data) for data in check_inputs(check, 3)]
        sharing: dict[str, list[tuple[Variant, str]]] = {}
        for variant in (Variant("solution", "", ""), *exercise.mutants):
            whole = f"{exercise.given}\n\n{exercise.solution}\n\n{variant.code}"
            sharing.setdefault(reach(whole, check.driver), []).append((variant, whole))
        for variants in sharing.values():
            # Who shares an answer with nobody gets that of the very same run.
            for variant, whole in variants if len(variants) > 1 else ():
                anew = run_trusted(whole, calls)

                answers = answers_of(exercise, variant, check, 3)
                assert all_alike(anew, answers), variant.name


@each_exercise
def test_release_is_made_from_source_byte_for_byte(exercise: Exercise) -> None:
    source = notebook_of(exercise).read_bytes()

    assert with_hidden_tests(source, exercise) == source
    assert build(source) == notebook_of(exercise, "release").read_bytes()


@each_exercise
def test_jupyter_itself_keeps_locked_cells_from_being_changed(exercise: Exercise) -> None:
    cells = json.loads(notebook_of(exercise, "release").read_text(encoding="utf-8"))["cells"]

    for cell in cells:
        grading = cell["metadata"].get("nbgrader", {})
        is_locked = bool(grading.get("locked")) and not grading.get("solution")
        assert (cell["metadata"].get("editable") is False) == is_locked
        assert (cell["metadata"].get("deletable") is False) == is_locked


@each_exercise
def test_nothing_of_the_solution_is_left_in_the_release(exercise: Exercise) -> None:
    released = [source for source, _ in cells_of(notebook_of(exercise, "release"))]
    text = "\n".join(released)

    assert "SOLUTION" not in text and "HIDDEN" not in text and "hidden_test" not in text
    # Of a whole engine, the first name: the learner brings the others along.
    steps = exercise.steps[1:] if exercise.whole_engine else exercise.steps
    assert set(defined(text)) >= {name for step in steps for name in step.names}
    for source, grading in cells_of(notebook_of(exercise)):
        if grading.get("grade"):
            visible = source.partition("\n\n### BEGIN HIDDEN TESTS")[0]
            assert visible in released
            assert "assert" in visible.lower()


@row_by_row
@each_exercise
def test_the_solved_notebook_runs_from_top_to_bottom(exercise: Exercise) -> None:
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell()
    shell.history_manager.enabled = False  # nothing is written to a disk

    for source, _ in cells_of(notebook_of(exercise)):
        outcome = shell.run_cell(source, store_history=True, silent=False)
        assert outcome.success, outcome.error_in_exec or outcome.error_before_exec

    text = repr(outcome.result)
    assert f"{exercise.points:g} of {exercise.points:g} points" in text
    assert "Visible checks passed; the grade uses other inputs." in text


@row_by_row
@each_exercise
def test_test_cells_give_the_same_points_as_the_grader(exercise: Exercise) -> None:
    drivers = {check.name.lower(): check.driver for check in exercise.checks}
    tests = []
    for source, grading in cells_of(notebook_of(exercise)):
        if grading.get("grade"):
            visible = source.partition("\n\n### BEGIN HIDDEN TESTS")[0]
            asking = f"{visible}\n\n{drivers[grading['grade_id'].partition('-test-')[2]]}"
            tests.append((compile(source, "<cell>", "exec"), grading, asking))
    runner = Trusted()
    number = None if IN_THE_GATE else 1
    outcomes: dict[tuple[str, str], bool] = {}

    def passes(test: CodeType, whole: str) -> bool:
        names: dict = {}
        exec(compile(whole, "<cells>", "exec"), names)
        try:
            exec(test, names)
        except Exception:
            return False
        return True

    for variant in (*exercise.mutants[:number], *exercise.alternatives[:number]):
        code = f"{exercise.solution}\n\n{variant.code}"
        failed = failed_checks(exercise, code, runner, 0)
        whole = f"{exercise.given}\n\n{code}"
        labels, points = [], 0
        for test, grading, asking in tests:
            # Of what a cell cannot reach, another test says that it changes nothing.
            same = asking, reach(whole, asking)
            if same not in outcomes:
                outcomes[same] = passes(test, whole)
            if outcomes[same]:
                labels.append(grading["grade_id"])
                points += grading["points"]
        graded = sum(check.points for check in exercise.checks if check not in failed)
        assert points == graded, f"{variant.name}: {labels}"


@each_exercise
def test_lesson_and_exercise_link_to_each_other(exercise: Exercise) -> None:
    lesson = COURSE.folder.parent / "notebooks" / f"{exercise.lesson}.ipynb"
    link = f"](../exercises/release/{exercise.name}/{exercise.name}.ipynb)"
    last = json.loads(lesson.read_text(encoding="utf-8"))["cells"][-1]

    for kind in ("source", "release"):
        path = notebook_of(exercise, kind)
        links = re.findall(r"\]\(([^)]+\.ipynb)\)", path.read_text(encoding="utf-8"))
        assert [(path.parent / target).resolve() for target in links] == [lesson]
    assert link in "".join(last["source"])


@each_exercise
def test_the_notebook_says_what_it_asks_and_has_hints(exercise: Exercise) -> None:
    notebook = notebook_of(exercise).read_text(encoding="utf-8")

    assert len(exercise.hints) >= 3
    assert 10 <= exercise.minutes <= 30 and f"about {exercise.minutes} minutes" in notebook
    assert f"*{exercise.total:g} points" in notebook


@each_exercise
def test_hints_come_one_rung_at_a_time_and_begin_again(exercise: Exercise) -> None:
    number = len(exercise.hints)

    hints = [feedback.hint(exercise.id, course=COURSE) for _ in range(number + 2)]

    assert len(set(hints[:number])) == number
    assert hints[number].startswith("That was the last hint")
    assert hints[number + 1] == hints[0]
    for _ in range(number):  # leave the ladder as it was found
        feedback.hint(exercise.id, course=COURSE)


@each_exercise
def test_an_answer_that_only_changes_its_arguments_earns_nothing(exercise: Exercise) -> None:
    # `verify` has tried functions that return constants or their arguments. An engine of which one
    # part does nothing is work.
    for step in exercise.steps[1:] if exercise.whole_engine else exercise.steps:
        for name in step.names:
            if f"def {name}(" in exercise.solution:
                body = "    for p in args[0]: p.value = p.value + 1.0\n    return 0.0\n"
                code = f"{exercise.solution}\n\ndef {name}(*args, **named):\n{body}"
                rows = grade_code(exercise, code, Trusted(), 5).rows
                assert [row.points for row in rows if row.step == step.id] == [0], name
