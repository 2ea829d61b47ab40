"""Begin an exercise of your own: a small one that works, to be turned into yours bit by bit.

After reading this file you can say which files an exercise is made of and what each of them is for:
the texts below are what `autodiff-kit new-exercise` writes, and their comments are the description
of the format. The placeholder asks for the backward rule of the mean. One that is performed begins
as the kit's own exercise 17, whose comments describe that form. Read next: ``verify.py``, which
says whether your own checks are good ones.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path, PurePosixPath

from autodiff_kit.free_form import Json
from autodiff_kit.grading.course import find_course, open_course
from autodiff_kit.grading.course_files import files_in
from autodiff_kit.grading.exercise import ExerciseError
from autodiff_kit.grading.loading import load
from autodiff_kit.grading.release import with_hidden_tests

__all__ = ["begin"]

_PERFORMED = "17.one_pass", "e17_one_pass"  # what an exercise that is performed begins as

_EXERCISE = """\
# What the exercise is: its steps and points, its limits, its hints.
id = "{id}"              # NUMBER.WORD; the folders are called {name}
title = {title}
lesson = ""              # what learners should have read before, for your own records
version = 1              # count it up when old submissions should be graded anew
minutes = 10
allowed = ["numpy"]      # for learners to read: submissions see the standard library and NumPy only

[limits]
seconds = 3.0            # for running the notebook's cells, and again for each question
memory = 512             # MiB

# A question that is answered in words, and graded by a person, has its rubric in a file of its own:
# see questions.toml in the README of the kit's exercises.
#
# One block for each step. `names` is what the learner defines in it; the points of a step are the
# sum of the points of its checks.
[[steps]]
id = "rule"
points = 4
names = ["mean_rule"]

# The ladder of hints: the first says least. `step = "rule"` would tie a hint to a step,
# `checks = ["Example"]` to a check: a learner who has that right gets it last, if at all.
[[hints]]
text = "By how much does the mean grow if one of the n numbers grows by one?"
[[hints]]
text = "Each of the n numbers gets the same share of g."
[[hints]]
text = "np.full(shape, number) makes an array of that shape; x.size says how many numbers x has."

# `autodiff-kit verify` also changes the solution in small ways and demands that a check notices. A
# change that leaves it right is listed here, with the reason: "what verify printed" = "why".
[reviewed]
"""

_CHECKS = '''\
"""What decides about points: inputs, right answers, and how they are compared."""

import numpy as np

from autodiff_kit.grading.checks import check
from autodiff_kit.grading.untouched import untouched

# One class for each check; it is only a bag of functions, so none of them takes `self`.
#   step, points, concept   whose points it decides about, and what it tests, in a few words
#   caption, example        the small case that learners may see, in words and as data
#   generate(rng)           draws another input. Points are given if the example and all the drawn
#                           ones come out right (three of them; `cases=5` for another number)
#   drive(step, data)       runs beside the learner's code, in a process behind walls. `step` has
#                           the learner's names, `np` is NumPy; nothing else of this file is there
#                           (functions it needs: `using=[...]`). It returns plain data: numbers,
#                           text, lists, tuples, dicts, NumPy arrays. An untouched notebook raises
#                           NotImplementedError, which is a RuntimeError: do not catch it. All calls
#                           run in one process, so what one leaves behind the next one finds
#   expected(data)          the right answer. Without it the solution of your notebook is asked
#   compare(data, value, expected)  whether an answer is right; without it kind, shape and numbers
#                                   have to agree, and NaN and inf are wrong
#   diagnose(data, value, expected) the id of a mistake that the answer shows, or ""
#   public(data), reply(data, question)     if an input contains its own answer: what drive gets of
#                                   it, and what `ask(question)` in drive returns. Code in the same
#                                   process can read all that drive gets; reply is run elsewhere
# A check has to catch something that no other check catches. And no work may pass it, not even by
# chance: where only a few answers are possible, ask for several of them, or in more `cases`.


@check(step="rule", points=2, concept="each number gets its share of g")
class Vector:
    caption = "mean_rule(6.0, x) for x = [1, 2, 3]"
    example = {{"g": 6.0, "x": np.array([1.0, 2.0, 3.0])}}

    def generate(rng):
        return {{"g": float(rng.uniform(2, 5)), "x": rng.normal(size=int(rng.integers(2, 6)))}}

    def drive(step, data):
        return step.mean_rule(data["g"], data["x"])

    def expected(data):
        return np.full(data["x"].shape, data["g"] / data["x"].size)


@check(step="rule", points=1, concept="n counts all axes")
class Matrix:
    caption = "mean_rule(6.0, x) for an x of shape (2, 3)"
    example = {{"g": 6.0, "x": np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])}}

    def generate(rng):
        rows = int(rng.integers(2, 5))
        return {{"g": float(rng.uniform(2, 5)), "x": rng.normal(size=(rows, rows + 1))}}

    def drive(step, data):
        return step.mean_rule(data["g"], data["x"])


# What others still read may not be changed. This asks again what the checks before it ask.
untouched_inputs = untouched(
    Vector, Matrix, name="Untouched", points=1, caption="the two examples above"
)
'''

_MESSAGES = """\
# What is said, by id. Never put the right value of a random case into a text.

# Checks, by their name: said if no known mistake answers as the learner's code does.
Vector = "The gradient of a vector's mean is not right: each number gets the same share of g."
Matrix = "For a matrix the gradient is not right, though it is for a vector."
Untouched = "The answer is right, but x was changed. Others still need it as it is."

# Known mistakes, by their name in mutants.toml.
without_share = "Each number gets all of g here. Each number moves the mean by 1/n only: g / n."
without_g = "The incoming gradient g is not used: right for g = 1 only."
one_number = "One number came back. The gradient has the shape of x: one share for each."
rows_only = "g is shared among the rows. The mean counts all numbers of x, and so does the share."
last_axis_only = "g is shared along the last axis only. The mean counts all: use x.size."
matrices_only = "The code asks for a second axis, and a vector has none. Use x.size."
times_the_values = "The share is multiplied by x. The slope of the mean is 1/n, whatever x is."
changes_x = "The answer is written into x itself, which others still need. Make a new array."
"""

_MUTANTS = """\
# Known mistakes, as learners could make them: the solution with `new` wherever `old` stands.
# A mistake that is not a small change has its `code` instead, which runs after the solution.
# The name of each is the id of its message in messages.toml.

[without_share]
old = 'g / x.size'
new = 'g'

[without_g]
old = 'g / x.size'
new = '1 / x.size'

[one_number]
old = 'np.full(x.shape, g / x.size)'
new = 'g / x.size'

[rows_only]
old = 'x.size'
new = 'len(x)'

[last_axis_only]
old = 'x.size'
new = 'x.shape[-1]'

[matrices_only]
old = 'x.size'
new = '(x.shape[0] * x.shape[1])'

[times_the_values]
old = 'np.full(x.shape, g / x.size)'
new = 'x * g / x.size'

[changes_x]
code = '''
def mean_rule(g, x):
    x[...] = g / x.size
    return x
'''
"""
_ALTERNATIVES = {
    "by_broadcasting": "return np.broadcast_to(g / x.size, x.shape).copy()",
    "by_ones": "return np.ones(x.shape) * g / x.size",
    "one_after_the_other": (
        "result = np.empty(x.shape)\n    for place in np.ndindex(x.shape):\n"
        "        result[place] = g / x.size\n    return result"
    ),
}

# The notebook: (kind of cell, source). nbgrader's own form, so that it can be used with nbgrader.
_CELLS = [
    (
        "text",
        "# Exercise {number}: {heading}\n\nThe mean of n numbers is one number. "
        "In the backward pass, the gradient of that number has to be shared out again.\n\n"
        "*4 points, about 10 minutes.*",
    ),
    ("text", "## What you have"),
    ("given", "import numpy as np"),
    (
        "text",
        "## Your task: `mean_rule(g, x)`\n\n`x` is an array of any shape, and `g` the gradient "
        "that came back to `x.mean()`.\nReturn the gradient of `x`: an array of the same shape.",
    ),
    (
        "rule",
        'def mean_rule(g, x):\n    """Return the gradient of x, given the one of its mean."""\n'
        "    ### BEGIN SOLUTION\n    return np.full(x.shape, g / x.size)\n    ### END SOLUTION",
    ),
    ("text", "## Try it\n\nThese cells hold small examples: they fail until yours is right."),
    (
        "test-vector",
        "assert np.allclose(mean_rule(6.0, np.array([1.0, 2.0, 3.0])), [2.0, 2.0, 2.0])",
    ),
    (
        "test-matrix",
        "assert np.allclose(mean_rule(6.0, np.ones((2, 3))), np.ones((2, 3)))",
    ),
    (
        "test-untouched",
        "x = np.ones(4)\nmean_rule(8.0, x)\nassert np.array_equal(x, np.ones(4))",
    ),
    (
        "text",
        "## Feedback\n\n`check` runs your function on other inputs, at once. The grade uses other "
        "inputs again.\n`hint` gives one hint at a time. *Run All* stops at the first example that "
        "fails: then run the cell below by itself.",
    ),
    ("feedback", 'from autodiff_kit.grading import check, hint\n\ncheck("{id}")'),
]


def begin(folder: Path, key: str, title: str = "", *, perform: bool = False) -> tuple[Path, str]:
    """Write a new exercise into a course, and add it to ``course.toml``.

    Parameters
    ----------
    folder : Path
        The folder of the course, or one in it. Nothing that is there is overwritten.
    key : str
        ``"20.softmax"``: a number of two figures that is free, and a word.
    title : str
        Heading for learners; else made of the word.
    perform : bool
        Begin one that is performed, not written.

    Returns
    -------
    (Path, str) - the folder of the course, and the name of the new folders, ``"e20_softmax"``.

    Raises
    ------
    ExerciseError
        If `key` is no id or is taken, if there is no course in or around `folder`, or if it cannot
        be written.
    """
    places = (folder.resolve(), *folder.resolve().parents)
    folder = next((place for place in places if (place / "course.toml").is_file()), folder)
    if not (folder / "course.toml").is_file():
        raise ExerciseError(
            f"{folder.resolve()} is no course: it has no course.toml.\n"
            "-> Name yours with --course, or begin one: a file course.toml with the two lines\n"
            '     title = "My course"\n     exercises = []'
        )
    course = open_course(folder)
    match = re.fullmatch(r"([0-9]{2})\.([a-z][a-z0-9_]{0,39})", key)
    numbers = {name[1:3]: name for name in course.names}
    free = f"{max((int(n) for n in numbers if n.isdecimal()), default=0) + 1:02}"
    if match is None:
        raise ExerciseError(
            f"{key!r} is no id of an exercise.\n"
            f"-> Two figures, a point and a word in small letters, such as {free}.softmax"
        )
    number, word = match.groups()
    name = f"e{number}_{word}"
    if number in numbers:
        raise ExerciseError(
            f"The number {number} belongs to {numbers[number]} already.\n"
            f"-> The next free one is {free}: {free}.{word}"
        )
    for part in ("source", "release", "checks"):
        if (folder / part / name).exists():
            raise ExerciseError(
                f"There is a {folder / part / name} already; it was left as it is.\n"
                f"-> Add {name} to course.toml if it is an exercise, or choose another id."
            )
    title = " ".join(title.split()) or word.replace("_", " ").capitalize()
    listed = _listed(folder / "course.toml", name)
    try:
        (_write_performed if perform else _write)(folder, name, key, title)
        (folder / "course.toml").write_text(listed, encoding="utf-8")
    except OSError as error:
        raise ExerciseError(f"Cannot write to {folder}: {error}") from error
    return folder, name


def _listed(path: Path, name: str) -> str:
    """Return the text of ``course.toml`` with one more exercise in it, comments and all kept."""
    text = path.read_text(encoding="utf-8")
    exercises = [*tomllib.loads(text)["exercises"], name]
    for end in reversed(list(re.finditer(r"""["'[]""", text))):  # behind the last name, or "["
        before, after = text[: end.end()], text[end.end() :]
        line = before.rpartition("\n")[2].strip()
        for more in (f',\n    "{name}"' if line[0] in "\"'" else f', "{name}"', f'"{name}"'):
            longer = before + more + after
            try:
                if tomllib.loads(longer)["exercises"] == exercises:
                    return longer
            except (tomllib.TOMLDecodeError, KeyError):
                continue
    raise ExerciseError(f'Cannot see where {path} lists its exercises.\n-> Add "{name}" yourself.')


def _write(folder: Path, name: str, key: str, title: str) -> None:
    words = {"id": key, "name": name, "title": json.dumps(title, ensure_ascii=False)}
    checks = folder / "checks" / name
    files = {
        checks / "exercise.toml": _EXERCISE.format(**words),
        checks / "checks.py": _CHECKS.format(**words),
        checks / "messages.toml": _MESSAGES,
        checks / "mutants.toml": _MUTANTS,
    }
    for way, body in _ALTERNATIVES.items():
        code = f"# Right, written differently.\n\n\ndef mean_rule(g, x):\n    {body}\n"
        files[checks / "alternatives" / f"{way}.py"] = code
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    source = folder / "source" / name / f"{name}.ipynb"
    source.parent.mkdir(parents=True)
    source.write_bytes(_notebook(key, title))  # for the checks to be read beside it
    source.write_bytes(with_hidden_tests(_notebook(key, title), load(folder, name)))


def _write_performed(folder: Path, name: str, key: str, title: str) -> None:
    """Write what exercise 17 is made of, under the new name."""
    old_key, old_name = _PERFORMED
    kit = find_course()
    heading = json.dumps(title[:1].lower() + title[1:], ensure_ascii=False)[1:-1]  # within JSON
    files = {
        f"{part}/{old_name}/{path}": data
        for part in ("checks", "source")
        for path, data in files_in(kit, part, old_name).items()
    }
    for path, data in files.items():
        if PurePosixPath(path).suffix not in (".py", ".toml", ".ipynb"):
            continue
        text = data.decode()
        text = text.replace(old_key, key).replace(old_name, name)
        text = text.replace(f"e{old_key[:2]}-", f"e{key[:2]}-")
        text = re.sub(r'(?m)^title = ".*"$', lambda _: f"title = {json.dumps(title)}", text)
        text = re.sub(r'(?m)^lesson = ".*"$', 'lesson = ""', text)
        text = re.sub(r"# Exercise 17: [^\\]*", lambda _: f"# Exercise {key[:2]}: {heading}", text)
        text = re.sub(r" It follows lesson 03, [^*]*\.\*", "*", text)
        target = folder / path.replace(old_name, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(target, "x", encoding="utf-8") as file:
            file.write(text)


def _notebook(key: str, title: str) -> bytes:
    short = f"e{key[:2]}"
    cells = []
    for number, (kind, source) in enumerate(_CELLS):
        text = source.format(id=key, number=key[:2], heading=title[:1].lower() + title[1:])
        cell: Json = {
            "cell_type": "markdown" if kind == "text" else "code",
            "id": f"{short}-{number:02}",
            "metadata": {},
            "source": text,
        }
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None}
        if kind not in ("text", "feedback"):
            is_test = kind.startswith("test-")
            cell["metadata"]["nbgrader"] = {
                "cell_type": "code",
                "grade": is_test,
                "grade_id": f"{short}-{kind}",
                "locked": is_test or kind == "given",
                "schema_version": 3,
                "solution": kind == "rule",
                "task": False,
            }
        cells.append(cell)
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    whole = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole).encode()
