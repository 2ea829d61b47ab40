"""The exercises' puzzles: right orders pass, each known mistake is told, nothing is believed."""

import json
import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autodiff_kit.grading import feedback, progress
from autodiff_kit.grading.course import Course, open_course
from autodiff_kit.grading.engine_parts import is_engine
from autodiff_kit.grading.exercise import Exercise, ExerciseError
from autodiff_kit.grading.places import EXERCISES
from autodiff_kit.grading.puzzle_making import mistaken, packed, puzzles_of
from autodiff_kit.grading.puzzles import PUZZLES, Place, Puzzle, arranged, filled, puzzles_in
from autodiff_kit.grading.worker import InProcess, Level0
from autodiff_kit.puzzles import gaps, parsons
from autodiff_kit.puzzles.card import WRONG_LINES, PuzzleCard
from autodiff_kit.puzzles.judge import Verdict, judge
from tests.gate import some

COURSE = open_course(Path(__file__).parents[2] / "exercises")
WITH_PUZZLES = [e.name for e in COURSE.exercises() if e.has_puzzles]
ENGINE = [name for name in COURSE.names if int(name[1:3]) <= 12]
SYNTAX = {"empty_block", "too_far_in", "no_beginning", "no_program"}
SEED = 3


@cache
def made(exercise: Exercise) -> list[tuple[str, Puzzle]]:
    """Return the puzzles of an exercise, each with its cell."""
    name = exercise.name
    data = (COURSE.folder / "source" / name / f"{name}.ipynb").read_bytes()
    # A whole engine is no puzzle: its parts are.
    code = [cell for cell in json.loads(data)["cells"] if cell["cell_type"] == "code"]
    cells = [cell for cell in code if not is_engine(cell)]
    cells = ["".join(cell["source"]) for cell in cells]
    cells = [cell for cell in cells if "### BEGIN SOLUTION" in cell]
    return list(zip(cells, puzzles_of(exercise, data), strict=True))


def tried(exercise: Exercise, puzzle: Puzzle, code: str) -> Verdict:
    """Judge code here: in a process of its own nothing warns of `1 / 0` as tests do."""
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        return judge(exercise, puzzle, code, InProcess(), SEED)


def right_choices(puzzle: Puzzle) -> list[str]:
    texts = {line.id: line.text for line in puzzle.lines}
    return [texts[gap.line][gap.start : gap.stop] for gap in puzzle.gaps]


def test_all_written_exercises_of_the_engine_have_puzzles_and_the_file_is_up_to_date() -> None:
    assert set(ENGINE) <= set(WITH_PUZZLES)
    assert (COURSE.folder / "release" / PUZZLES).read_bytes() == packed(COURSE)


@pytest.mark.parametrize("name", WITH_PUZZLES)
def test_the_file_holds_what_was_made(name: str) -> None:
    exercise = COURSE.exercise(name)

    assert puzzles_in(COURSE.folder, exercise) == [puzzle for _, puzzle in made(exercise)]


@pytest.mark.parametrize("name", WITH_PUZZLES)
def test_the_right_order_and_the_right_choices_pass(name: str) -> None:
    exercise = COURSE.exercise(name)
    for _, puzzle in made(exercise):
        code = arranged(puzzle, puzzle.places)

        assert tried(exercise, puzzle, code).is_right
        assert filled(puzzle, right_choices(puzzle)) == code
        for choice, gap in zip(right_choices(puzzle), puzzle.gaps, strict=True):
            assert choice in gap.choices and len(gap.choices) > 1


@pytest.mark.parametrize("name", some(WITH_PUZZLES, 3))
def test_each_known_mistake_as_an_arrangement_gets_its_own_message(name: str) -> None:
    exercise = COURSE.exercise(name)
    arrangements = [
        (mutant.message, puzzle, places)
        for cell, puzzle in made(exercise)
        for mutant in exercise.mutants
        if (places := mistaken(puzzle, cell, mutant)) is not None
    ]
    wrong = {line.mistake for _, puzzle in made(exercise) for line in puzzle.lines if line.mistake}

    messages = [
        tried(exercise, puzzle, arranged(puzzle, places)).message
        for _, puzzle, places in arrangements
    ]

    assert messages == [message for message, _, _ in arrangements]
    assert wrong <= set(messages)
    assert len(arrangements) >= 6


@pytest.mark.parametrize("name", some(ENGINE, 3))
def test_each_wrong_choice_in_a_gap_is_told_unless_it_computes_the_same(name: str) -> None:
    exercise = COURSE.exercise(name)
    for _, puzzle in made(exercise):
        right = right_choices(puzzle)
        for number, gap in enumerate(puzzle.gaps):
            for choice in set(gap.choices) - {right[number]}:
                code = filled(puzzle, [*right[:number], choice, *right[number + 1 :]])
                verdict = tried(exercise, puzzle, code)

                assert verdict.is_right or verdict.message in {*exercise.messages, *SYNTAX}
                assert verdict.text


def test_every_part_of_the_engine_has_wrong_lines_and_gaps() -> None:
    for name in ENGINE:
        for _, puzzle in made(COURSE.exercise(name)):
            assert any(line.mistake for line in puzzle.lines), puzzle.names
            assert puzzle.gaps, puzzle.names


def swapped(puzzle: Puzzle, number: int) -> list[Place]:
    """Return the solution with two neighbours exchanged, each as far in as the other was."""
    places = list(puzzle.places)
    first, second = places[number : number + 2]
    places[number] = replace(first, line=second.line)
    places[number + 1] = replace(second, line=first.line)
    return places


@pytest.mark.parametrize("name", ["e04_accumulate", "e05_broadcast", "e06_matmul"])
def test_two_lines_exchanged_are_right_or_are_told_in_words(name: str) -> None:
    exercise = COURSE.exercise(name)
    for _, puzzle in made(exercise):
        for number in range(len(puzzle.places) - 1):
            code = arranged(puzzle, swapped(puzzle, number))
            verdict = tried(exercise, puzzle, code)

            assert verdict.is_right or verdict.message in {*exercise.messages, *SYNTAX}
            assert verdict.text


def test_lines_that_do_not_depend_on_each_other_may_stand_in_any_order() -> None:
    exercise = COURSE.exercise("06.matmul")
    _, puzzle = made(exercise)[1]  # to_a = ..., to_b = ..., return ...

    code = arranged(puzzle, swapped(puzzle, 0))

    assert code.index("to_b =") < code.index("to_a =")
    assert tried(exercise, puzzle, code).is_right


def places_of(puzzle: Puzzle, *rows: tuple[int, str]) -> str:
    """Return the code of some lines, each with its level and how it begins."""
    ids = [next(line.id for line in puzzle.lines if line.text.startswith(t)) for _, t in rows]
    return arranged(puzzle, [Place(0, id, level) for id, (level, _) in zip(ids, rows, strict=True)])


@pytest.mark.parametrize(
    ("rows", "message", "line", "words"),
    [
        ([(0, "y = Node"), (0, "for _"), (0, "y = y * x")], "empty_block", 4, "opens a block"),
        ([(0, "y = Node"), (1, "for _")], "too_far_in", 4, "opens no block"),
        ([(0, "for _")], "empty_block", 3, "at least one line"),
    ],
)
def test_of_lines_that_make_no_program_the_first_is_named(
    rows: list[tuple[int, str]], message: str, line: int, words: str
) -> None:
    exercise = COURSE.exercise("08.control_flow")
    _, puzzle = made(exercise)[0]

    verdict = tried(exercise, puzzle, places_of(puzzle, *rows))

    assert (verdict.message, verdict.line) == (message, line)
    assert words in verdict.text


def test_an_elif_without_its_if_is_told() -> None:
    exercise = COURSE.exercise("04.accumulate")
    _, puzzle = made(exercise)[0]
    code = places_of(puzzle, (0, "elif node.requires_grad"), (1, "node.grad = g if"))

    verdict = tried(exercise, puzzle, code)

    assert verdict.message == "no_beginning"
    assert "needs its `if`" in verdict.text


def test_a_line_that_stops_is_named_by_its_number() -> None:
    exercise = COURSE.exercise("08.control_flow")
    _, puzzle = made(exercise)[0]
    code = places_of(puzzle, (0, "for _"), (1, "y = y * x"), (0, "y = Node"), (0, "return y"))

    verdict = tried(exercise, puzzle, code)

    assert code.split("\n")[verdict.line - 1].strip() == "y = y * x"
    assert "UnboundLocalError" in verdict.text


def test_an_arrangement_is_run_in_a_process_of_its_own_and_an_endless_loop_ends() -> None:
    exercise = replace(COURSE.exercise("03.order"), seconds=0.5)
    _, puzzle = made(exercise)[0]
    right = arranged(puzzle, puzzle.places)
    endless = right.replace("waiting.pop()", "waiting[0]")

    assert judge(exercise, puzzle, right, Level0(), SEED).is_right
    verdict = judge(exercise, puzzle, endless, Level0(), SEED)

    assert not verdict.is_right
    assert verdict.row is not None and verdict.row.status in ("timeout", "memory")


def test_an_exercise_that_forbids_it_has_no_puzzles() -> None:
    with pytest.raises(ExerciseError, match=r"no puzzles for 13\.find_the_bug.*\n-> .*build"):
        parsons("13.find_the_bug", course=COURSE)


# -- The cards -------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def nothing_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADK_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(progress, "_elsewhere", {})


def right_answer(card: Any, number: int) -> list[list[Any]]:
    """Return the solution as the browser would send it."""
    ids = {line: name for name, line in card._ids[number].items()}
    return [[p.section, ids[p.line], p.level] for p in card.puzzles[number].places]


def test_what_the_browser_gets_says_nothing_of_the_order_nor_which_lines_are_wrong() -> None:
    card = parsons("04.accumulate", course=COURSE)
    (part,) = card.task["parts"]
    solution = [line.text for line in card.puzzles[0].lines if not line.mistake]
    texts = [line["text"] for line in part["lines"]]
    names = [line["id"] for line in part["lines"]]

    assert set(solution) < set(texts) and len(texts) == len(solution) + WRONG_LINES
    assert [text for text in texts if text in solution] != solution
    assert sorted(names, key=lambda name: card._ids[0][name]) != sorted(names)
    assert "mistake" not in json.dumps(card.task)


def test_a_right_order_is_kept_and_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / progress.PROGRESS).write_text("{}")
    monkeypatch.chdir(tmp_path)
    card = parsons("04.accumulate", course=COURSE)
    answer = right_answer(card, 0)

    verdict = card.answer(0, answer)

    assert verdict is not None and verdict.is_right
    facts = json.loads((tmp_path / progress.PROGRESS).read_text())["04.accumulate"]["parsons"]
    right = [[place.section, place.line, place.level] for place in card.puzzles[0].places]
    assert facts["backward"] == {"answer": answer, "right": right, "tries": 1, "solved": True}
    again = parsons("04.accumulate", course=COURSE)
    assert again.state["parts"][0]["answer"] == answer
    assert again.state["parts"][0]["solved"]


def test_a_wrong_choice_is_told_with_the_exercises_own_words_and_picture() -> None:
    card = gaps("04.accumulate", course=COURSE)
    wrong = [card.puzzles[0].gaps[0].choices[1], *right_choices(card.puzzles[0])[1:]]

    card._on_message(card, {"part": 0, "answer": wrong}, None)

    state = card.state["parts"][0]
    assert state["outcome"] == "wrong"
    assert "begins with the root&#x27;s value" in state["text"]
    assert "grad 5, right is grad 1" in state["picture"]


@pytest.mark.parametrize(
    "answer",
    [None, "x", 3, [1], [[0, "l0", 0]], [[0, "a", 0]], [["0", None, {}]], [[0, 0, 0]] * 100],
)
@pytest.mark.parametrize("kind", [parsons, gaps])
def test_what_no_browser_sends_is_not_run(kind: Any, answer: Any) -> None:
    card = kind("04.accumulate", course=COURSE)

    card._on_message(card, {"part": 0, "answer": answer}, None)

    assert progress._elsewhere == {}
    assert card.state["count"] == 1  # else the browser would say that Python does not answer
    state = card.state["parts"][0]
    assert (state["outcome"], state["solved"]) == ("wrong", False)
    assert "Run the cell again" in state["text"]


def test_levels_and_sections_that_there_are_not_are_refused() -> None:
    card = parsons("04.accumulate", course=COURSE)
    (section, name, level), *rest = right_answer(card, 0)
    for first in ([1, name, level], [-1, name, level], [section, name, 99], [section, name, -1]):
        assert card.answer(0, [first, *rest]) is None
    assert card.answer(0, [[section, name, level]] * 2) is None


def test_a_damaged_progress_file_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for facts in ("[]", '{"backward": 3}', '{"backward": {"answer": [[9, 9, 9]], "round": "x"}}'):
        (tmp_path / progress.PROGRESS).write_text(f'{{"04.accumulate": {{"parsons": {facts}}}}}')

        assert parsons("04.accumulate", course=COURSE).state["parts"][0]["answer"] is None


def test_who_begins_again_gets_other_wrong_lines_and_an_empty_program() -> None:
    card = parsons("04.accumulate", course=COURSE)
    before = {line["text"] for line in card.task["parts"][0]["lines"]}
    card.answer(0, right_answer(card, 0))

    card._on_message(card, {"part": 0, "again": True}, None)

    assert {line["text"] for line in card.task["parts"][0]["lines"]} != before
    assert card.state["parts"][0]["answer"] is None
    assert card.state["parts"][0]["solved"]  # that stays
    verdict = card.answer(0, right_answer(card, 0))
    assert verdict is not None and verdict.is_right


def test_a_second_card_takes_away_nothing_of_what_the_first_has_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / progress.PROGRESS).write_text("{}")
    monkeypatch.chdir(tmp_path)
    first, second = (parsons("04.accumulate", course=COURSE) for _ in range(2))
    first.answer(0, right_answer(first, 0))
    right = first._facts_of(0)["right"]

    second._on_message(second, {"part": 0, "answer": [], "keep": True}, None)
    second.answer(0, right_answer(second, 0)[:1])
    second._on_message(second, {"part": 0, "again": True}, None)
    third = right_answer(first, 0)[:2]
    first._on_message(first, {"part": 0, "answer": third, "keep": True}, None)

    facts = json.loads((tmp_path / progress.PROGRESS).read_text())["04.accumulate"]["parsons"]
    assert facts["backward"]["right"] == right
    assert facts["backward"]["solved"] and facts["backward"]["tries"] == 2
    # The answer that is kept is one to the lines that the first card shows.
    assert parsons("04.accumulate", course=COURSE).state["parts"][0]["answer"] == third


def test_what_is_solved_beside_the_exercises_counts_as_in_their_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / EXERCISES
    work.mkdir()
    deeper = tmp_path / "notes" / "today"
    deeper.mkdir(parents=True)
    monkeypatch.chdir(deeper)
    card = parsons("04.accumulate", course=COURSE)
    card.answer(0, right_answer(card, 0))

    facts = json.loads((work / progress.PROGRESS).read_text())["04.accumulate"]["parsons"]
    assert facts["backward"]["solved"]
    assert card.task["note"] == ""
    assert progress._elsewhere == {}


def test_where_nothing_is_kept_the_card_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    card = parsons("04.accumulate", course=COURSE)

    assert "Nothing is kept here" in card.task["note"]
    assert "autodiff-kit start 04.accumulate" in card.task["note"]


def test_a_card_is_told_in_words_where_no_widget_runs() -> None:
    for card in (parsons("04.accumulate", course=COURSE), gaps("04.accumulate", course=COURSE)):
        assert isinstance(card, PuzzleCard)
        assert repr(card) in card.still()


def test_a_course_of_ones_own_gets_puzzles_by_build(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from autodiff_kit.cli import cli
    from tests.grading import tiny

    course: Course = tiny.make_course(tmp_path)
    file = tmp_path / "course.toml"
    file.write_text(f"puzzles = true\n{file.read_text()}")
    result = CliRunner().invoke(cli, ["build", "--course", str(tmp_path)])

    assert result.exit_code == 0, result.output
    (puzzle,) = puzzles_in(course.folder, course.exercise(tiny.NAME))
    assert [line.text for line in puzzle.lines] == ["return 2 * x + 1", "return 2 * x"]
    assert puzzle.gaps[0].choices == ("x", "x + 1")
    stale = CliRunner().invoke(cli, ["build", "--course", str(tmp_path), "--check"])
    assert stale.exit_code == 0
    (tmp_path / "release" / PUZZLES).write_text("{}")
    stale = CliRunner().invoke(cli, ["build", "--course", str(tmp_path), "--check"])
    assert stale.exit_code == 1 and PUZZLES in stale.output


def test_without_a_wish_nothing_of_a_solution_is_in_what_learners_get(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from autodiff_kit.cli import cli
    from tests.grading import tiny

    tiny.make_course(tmp_path)
    release = tmp_path / "release"
    release.mkdir(exist_ok=True)
    (release / PUZZLES).write_text("{}")  # of a course that had some
    stale = CliRunner().invoke(cli, ["build", "--course", str(tmp_path), "--check"])
    result = CliRunner().invoke(cli, ["build", "--course", str(tmp_path)])

    assert stale.exit_code == 1 and PUZZLES in stale.output
    assert result.exit_code == 0 and "contains the solutions" not in result.output
    files = [path for path in release.rglob("*") if path.is_file()]
    assert files
    assert not any(b"2 * x + 1" in path.read_bytes() for path in files)
    assert not (release / PUZZLES).exists()


@pytest.mark.parametrize("wish", ["puzzles = true", "[puzzles]\nparsons = 0.5"])
def test_an_exercise_may_ask_for_puzzles_by_itself_and_build_says_what_they_tell(
    wish: str, tmp_path: Path
) -> None:
    from click.testing import CliRunner

    from autodiff_kit.cli import cli
    from tests.grading import tiny

    tiny.make_course(tmp_path)
    file = tmp_path / "checks" / tiny.NAME / "exercise.toml"
    is_table = wish.startswith("[")
    file.write_text(f"{file.read_text()}\n{wish}\n" if is_table else f"{wish}\n{file.read_text()}")
    result = CliRunner().invoke(cli, ["build", "--course", str(tmp_path)])

    assert result.exit_code == 0
    assert "contains the solutions" in result.output
    assert (tmp_path / "release" / PUZZLES).is_file()


def test_who_has_not_begun_is_told_of_them_where_they_are(
    tmp_path: Path,
) -> None:
    from tests.grading import tiny

    own = tiny.make_course(tmp_path)  # without puzzles, as nothing was built
    for course, name, code in (
        (COURSE, "03.order", "def order(root):\n    raise NotImplementedError()\n"),
        (own, "01.double", tiny.STUB),
    ):
        namespace = {"In": ["", code], "check": feedback.check, "course": course}
        tried = eval(f"check({name!r}, course=course)", namespace)

        assert ("parsons(" in tried.words()) is (course is COURSE)
