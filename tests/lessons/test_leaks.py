"""Nothing that stands before a question gives its answer away.

A learner's copy has no outputs, but lessons are also read as they are stored, on a page. So what is
looked at is all that one may have read: headings, words, comments in code, and stored outputs.
"""

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autodiff_kit.lessons.bank import QUESTIONS

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))

# The token stands before the question and is not its answer there.
EXCEPTIONS = {
    "00.task": "10: minutes, and a lesson's number",
    "05.task": "12.0: the gradient of another function at another value",
    "08.cells": "5: the length of one sequence; the question is about all cells",
    "11.hook": "0: a value, and PyTorch counting outputs",
    "11.task": "nan: what the whole lesson is about; the question is whether it comes here",
    "15.losses": "4: the token of a letter",
    "15.task": "one number: an article's word",
}


def comments(source: str) -> str:
    """Return the comments of a cell."""
    lines = [line for line in source.split("\n") if not line.startswith("%")]
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline))
    except tokenize.TokenError:
        return ""
    return "\n".join(token.string for token in tokens if token.type == tokenize.COMMENT)


def shown(cell: Any) -> str:
    """Return what can be read in a cell, its code left out."""
    if cell.cell_type == "markdown":
        return str(cell.source)
    parts = [comments(cell.source)]
    for output in cell.outputs:
        parts.append(output.get("text", "") or output.get("data", {}).get("text/plain", ""))
    return "\n".join(parts)


def questions() -> Iterator[tuple[str, str, str]]:
    """Yield the key of each question, what stands before it, and of that its own section."""
    for path in NOTEBOOKS:
        before = section = ""
        for cell in nbformat.read(path, as_version=4).cells:
            call = re.fullmatch(r'predict\("([^"]+)"\)', cell.source)
            if call:
                yield call[1], before, section
            elif cell.cell_type == "markdown" and re.search("^## ", cell.source, re.M):
                section = cell.source[cell.source.rindex("## ") :]
                before += shown(cell) + "\n"
            else:
                section += shown(cell) + "\n"
                before += shown(cell) + "\n"


NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
NUMBERS += ["eleven", "twelve"]


def gives_away(key: str, before: str, section: str) -> str:
    """Return the answer's token that stands before its question; "" if there is none."""
    question = QUESTIONS[key]
    if question.kind != "number":
        answer = str(question.answer).strip("`")
        short = len(answer) < 4  # such as `b`: then as a word of its own
        pattern = rf"(?<!\w){re.escape(answer)}(?!\w)" if short else re.escape(answer)
        return answer if re.search(pattern, before) else ""
    number = float(question.answer)
    texts = {f"{number:g}", f"{number:.1f}", f"{number:,.0f}" if number >= 1000 else f"{number:g}"}
    if number in range(len(NUMBERS)):
        texts.add(NUMBERS[int(number)])
    where = section if abs(number) < 10 else before  # small numbers are everywhere
    for text in texts:
        if re.search(rf"(?<![\w.]){re.escape(text)}(?![\w]|\.\d)", where, re.IGNORECASE):
            return text
    return ""


ASKED = list(questions())


@pytest.mark.parametrize(("key", "before", "section"), ASKED, ids=[key for key, *_ in ASKED])
def test_no_answer_stands_before_its_question(key: str, before: str, section: str) -> None:
    assert bool(gives_away(key, before, section)) is (key in EXCEPTIONS)


def test_a_heading_a_comment_and_an_output_that_give_an_answer_away_are_seen() -> None:
    cell = nbformat.v4.new_code_cell("x = 1  # twelve\nprint(x)")
    cell.outputs = [nbformat.v4.new_output("stream", text="405.0\n")]

    assert shown(cell) == "# twelve\n405.0\n"
    assert gives_away("05.task", "", "") == ""
    assert gives_away("05.task", "It is twelve.", "") == "twelve"
    assert gives_away("03.adds", "", "## Four and 5") == "5"
    assert gives_away("03.order", "First `4 * y - 1`, then the rest", "") == "4 * y - 1"
