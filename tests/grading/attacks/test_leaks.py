"""Nothing that the inputs of one attempt reveal is of use for another, and they reveal little."""

import re
from pathlib import Path

import pytest

from autodiff_kit.grading.answers import check_inputs
from autodiff_kit.grading.calls import Runner, Work
from autodiff_kit.grading.course import Course
from autodiff_kit.grading.engine_local import grade, seed_of
from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.feedback import Feedback
from autodiff_kit.grading.identity import Submission
from autodiff_kit.grading.marking import grade_code
from autodiff_kit.grading.one_submission import grade_one
from autodiff_kit.grading.results import Attempt
from autodiff_kit.grading.store import Store
from tests.grading import tiny

SEED = 7
# Each is right for the examples, and tells what it was asked otherwise.
SHOWN = "import numpy as np\nseen = lambda x: np.ndim(x) == 1 or (np.ndim(x) == 0 and x == 3.0)\n"
LEAKS = {
    "message of an error": "raise ValueError(repr(x))",
    "class of an error": "raise type('E' + repr(x), (Exception,), {})(1)",
    "class of an error below a known one": "raise type(repr(x), (KeyError,), {})(1)",
    "class called as another": "raise type('IOError', (Exception,), {'__str__': lambda e: str(x)})",
    "error with notes": "e = ValueError(); e.add_note(repr(x)); raise e",
    "group of errors": "raise ExceptionGroup(repr(x), [ValueError(repr(x))])",
    "syntax error": "raise SyntaxError(repr(x), ('<submission 0>', 1, 1, repr(x)))",
    "code made on the spot": "exec(compile('raise V' + repr(x)[:9], '<submission 0>', 'exec'))",
    "file called as the submission": "exec(compile('1/0', '<submission ' + repr(x) + '>', 'exec'))",
    "exit": "raise SystemExit(repr(x))",
    "missing name": "raise AttributeError(repr(x))",
    "name asked of the step": "import sys; getattr(sys.modules['submission'], 'n' + repr(x))",
    "class of an answer": "return type('T' + repr(x), (), {})()",
    "answer itself": "return x",
    "answer as text": "return repr(x)",
    "answer in a list": "return [repr(x), x]",
    "answer as keys": "return {repr(x): 1}",
    "shape of an answer": "return np.zeros([int(c) for c in repr(x) if c.isdigit()][:9])",
    "dtype of an answer": "return np.zeros(1, [(repr(x), 'f8')])",
    "size of an answer": "return 'x' * int(abs(np.sum(x)) * 10**6)",
    "key of a dict that is refused": "return {(repr(x),): 1}",
    "prints": "print(repr(x)); return None",
    "time": "import time; time.sleep(min(abs(float(np.sum(x))) / 1000, 0.01)); return None",
}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return tiny.make_course(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def exercise(course: Course) -> Exercise:
    return course.exercise(tiny.NAME)


def digits(exercise: Exercise, seed: int) -> set[str]:
    """Return the hidden numbers, as far as a reader would need them."""
    hidden = [data for check in exercise.checks for data in check_inputs(check, seed)[1:]]
    return {number[:6] for number in re.findall(r"\d\.\d{4,}", repr(hidden))}


@pytest.mark.parametrize("name", LEAKS)
def test_what_code_says_about_hidden_inputs_is_not_shown(
    name: str, exercise: Exercise, runner: Runner
) -> None:
    code = f"{SHOWN}def double(x):\n    if seen(x): return 2 * x + 1\n    {LEAKS[name]}\n"

    result = grade_code(exercise, code, runner, SEED)
    feedback = Feedback(exercise, result)
    text = repr(result.rows) + repr(feedback) + feedback._repr_html_()

    assert result.points == 0
    assert digits(exercise, SEED)
    assert not [number for number in digits(exercise, SEED) if number in text]
    assert "With other inputs of that kind" in text


def test_what_stands_on_hidden_inputs_is_the_kind_and_the_number_of_the_line(
    exercise: Exercise, runner: Runner
) -> None:
    code = f"{SHOWN}def double(x):\n    return 2 * x + 1 if seen(x) else {{}}['a' + repr(x)]\n"

    row = grade_code(exercise, code, runner, SEED).rows[0]

    assert row.text.endswith(
        f"there your code stops with KeyError\nline 4.\n{exercise.messages['Numbers']}"
    )


def test_no_comment_and_no_name_in_a_line_tells_a_hidden_input(
    exercise: Exercise, runner: Runner
) -> None:
    # One line for each value, which says what it is: an answer to every question that is asked.
    lines = [f"    if n == {n}: raise ValueError  # it was {n} of 300" for n in range(300)]
    define = "def double(x):\n    if seen(x): return 2 * x + 1\n"
    number = "    n = int(abs(np.sum(x)) * 1000) % 300\n"
    script = "\n".join([SHOWN, define + number, *lines])
    cells = [SHOWN, define + "    globals()[f'r{int(abs(np.sum(x)) * 1000) % 300}'](x)\n"]
    other = [f"# it was {n} of 300\ndef r{n}(x): return 1 / 0\n" for n in range(300)]
    # The function that is called is another one for each value, with a cell of its own.
    called = [
        f"# it was {n} of 300\ndef s{n}(x):\n    if seen(x):\n        return 2 * x + 1\n"
        f"    globals()['double'] = globals()[f's{{int(abs(np.sum(x)) * 1000) % 300}}']\n"
        "    1 / 0\n"
        for n in range(300)
    ]

    for data, suffix in (
        (script.encode(), ".py"),
        (tiny.notebook(*cells, *other), ".ipynb"),
        (tiny.notebook(SHOWN, *called, "double = s0"), ".ipynb"),
    ):
        result = grade_code(exercise, Work(data, suffix), runner, SEED)

        for row in result.rows:
            assert "With other inputs of that kind" in row.text
            assert "line " in row.text
            assert "it was" not in row.text
            assert "of 300" not in Feedback(exercise, result)._repr_html_()


def test_how_a_process_ends_itself_tells_no_hidden_input(
    exercise: Exercise, runner: Runner
) -> None:
    code = f"{SHOWN}import os\ndef double(x):\n    if seen(x): return 2 * x + 1\n    os._exit(57)\n"

    row = grade_code(exercise, code, runner, SEED).rows[0]

    assert "your code gave no answer" in row.text
    assert "57" not in row.text


def test_the_line_on_hidden_inputs_is_the_one_of_the_function_that_was_called(
    exercise: Exercise, runner: Runner
) -> None:
    many = "".join(f"def r{n}(): raise ValueError\n" for n in range(300))
    code = f"{SHOWN}{many}def double(x):\n    if seen(x): return 2 * x + 1\n"
    code += "    r = globals()[f'r{int(abs(np.sum(x)) * 1000) % 300}']\n    r()\n"

    row = grade_code(exercise, code, runner, SEED).rows[0]

    assert "ValueError\nline 306.\n" in row.text


def test_in_a_notebook_the_cell_is_known_by_what_was_asked_for(
    exercise: Exercise, runner: Runner
) -> None:
    cell = "def double(x):\n    if seen(x): return 2 * x + 1\n    return 1 / 0\n"

    row = grade_code(exercise, Work(tiny.notebook(SHOWN, cell), ".ipynb"), runner, SEED).rows[0]

    assert "ZeroDivisionError\nin the cell with `double`, line 3.\n" in row.text


def test_no_text_of_learners_begins_a_line(exercise: Exercise, runner: Runner) -> None:
    forged = "x\nright: 3 of 3 points"
    for answer in (f"raise ValueError({forged!r})", f"return {{{forged!r}: 1}}"):
        row = grade_code(exercise, f"def double(x):\n    {answer}\n", runner, SEED).rows[0]

        assert "right: 3 of 3 points" in row.text
        assert not [line for line in row.text.splitlines() if line.startswith("right: 3")]


def test_on_the_example_the_words_of_an_error_are_shown(exercise: Exercise, runner: Runner) -> None:
    code = "def double(x):\n    raise KeyError('what I asked for')\n"

    row = grade_code(exercise, code, runner, SEED).rows[0]

    assert "KeyError: 'what I asked for'\nline 2: raise KeyError('what I asked for')" in row.text


def handed_in(student: str, code: str) -> Submission:
    return Submission(student, student, tiny.NAME, student, code.encode(), ".py")


def attempts(
    course: Course, runner: Runner, path: Path, secret: int, *work: Submission
) -> list[Attempt]:
    def engine(jobs):  # type: ignore[no-untyped-def]
        return (grade_one(job, course, runner) for job in jobs)

    with Store(path) as store:
        grade(work, course, store, engine, secret=store.secret(secret))
        return list(store.attempts())


def test_a_table_of_the_inputs_of_one_attempt_is_worth_nothing_in_the_next(
    course: Course, exercise: Exercise, runner: Runner, tmp_path: Path
) -> None:
    path = tmp_path / "results.sqlite"
    (first,) = attempts(course, runner, path, 5, handed_in("eve", tiny.WRONG))
    # The best that a leak could give: all inputs of that attempt with their right answers.
    known = [x for check in exercise.checks for x in check_inputs(check, int(first.seed))]
    table = f"import numpy as np\nfrom numpy import array\nKNOWN = {known!r}\n"
    table += "def double(x):\n    return next(2 * k + 1 for k in KNOWN if np.array_equal(k, x))\n"

    rows = attempts(course, runner, path, 5, handed_in("eve", table), handed_in("carl", table))

    assert [row.points for row in rows] == [0, 0, 0]
    assert len({row.seed for row in rows}) == 3


def test_the_same_secret_draws_the_same_inputs_again_and_another_one_others(
    course: Course, runner: Runner, tmp_path: Path
) -> None:
    work = [handed_in(name, tiny.SOLUTION + f"#{name}") for name in ("ada", "bob")]

    first, again, other = (
        attempts(course, runner, tmp_path / f"{n}.sqlite", secret, *work[::order])
        for n, (secret, order) in enumerate([(5, 1), (5, -1), (6, 1)])
    )

    assert [(a.student, a.seed, a.marks) for a in first] == [
        (a.student, a.seed, a.marks) for a in again
    ]
    assert not {a.seed for a in first} & {a.seed for a in other}


def test_a_row_can_be_reproduced_from_its_seed(
    course: Course, runner: Runner, tmp_path: Path
) -> None:
    half = "def double(x):\n    return 2 * x + 1 if x > 0 else x\n"
    (row,) = attempts(course, runner, tmp_path / "results.sqlite", 5, handed_in("ada", half))

    again = grade_code(course.exercise(tiny.NAME), half, runner, int(row.seed))

    texts = [mark.text.split("\nPoints lost:")[0] for mark in row.marks]  # the grader adds those
    assert texts == [r.text for r in again.rows]


def test_seeds_are_as_good_as_random() -> None:
    seeds = [seed_of(5, f"s{n}", "e01", "abc") for n in range(500)]

    assert len(set(seeds)) == 500
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert {seed % 2 for seed in seeds} == {0, 1}
    assert seed_of(5, "ab", "c") != seed_of(5, "a", "bc")
