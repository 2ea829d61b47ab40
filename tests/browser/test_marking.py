"""Answers in words are marked in a notebook, as a teacher does it with mouse and keys."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from autodiff_kit.cli import cli
from autodiff_kit.grading import sandbox
from autodiff_kit.grading.store import Store
from tests.grading import tiny
from tests.grading.in_words import RUBRIC, make_course, notebook_of

pytestmark = pytest.mark.browser

ANSWERS = {"ada": "It is doubled, and one is added.", "bob": "It is <b>squared</b>.\n\nTwice."}
# No line of the rubric is cut off.
IS_WHOLE = """e => e.getClientRects().length > 0 && getComputedStyle(e).whiteSpace === "normal"
    && e.scrollWidth <= e.clientWidth + 1 && e.scrollHeight <= e.clientHeight + 1"""
LONG = "Says that it is doubled, and says so in so many words that they need a second line."


def teachers_notebook() -> str:
    code = 'from autodiff_kit.grading import mark\nmark(by="student", author="prof")'
    cell = {"cell_type": "code", "id": "mark", "metadata": {}, "source": code}
    cell |= {"outputs": [], "execution_count": None}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    metadata = {"kernelspec": kernel}
    return json.dumps({"cells": [cell], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def test_a_teacher_marks_in_a_notebook(
    notebook: Callable[..., Any], jupyter: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = jupyter.folder / "course"
    make_course(folder)
    questions = RUBRIC.replace("Says that it is doubled.", LONG)
    (folder / "checks" / tiny.NAME / "questions.toml").write_text(questions)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sandbox, "probe", list)
    for student, answer in ANSWERS.items():
        place = folder / "in" / student / tiny.NAME
        place.mkdir(parents=True)
        (place / f"{tiny.NAME}.ipynb").write_bytes(notebook_of(tiny.SOLUTION, answer))
    words = ["grade", "in", "--allow-level", "0", "--workers", "1"]
    assert CliRunner().invoke(cli, words).exit_code == 0
    path = folder / "mark.ipynb"
    path.write_text(teachers_notebook(), encoding="utf-8")

    page = notebook(path)
    form = page.locator(".jp-OutputArea-output").filter(has_text="01.double why")
    form.get_by_text(ANSWERS["ada"]).wait_for()
    form.get_by_label(LONG).check()
    points = form.get_by_label("Points")
    page.wait_for_function("input => input.value === '1'", arg=points.element_handle())
    boxes = form.locator("input[type=checkbox]")
    page.evaluate("() => window.jupyterapp.commands.execute('application:toggle-left-area')")
    for width in (1400, 900, 400):
        page.set_viewport_size({"width": width, "height": 900})
        _kept(page, f"light{width}")
        assert form.get_by_text(LONG).evaluate(IS_WHOLE)
    page.set_viewport_size({"width": 1400, "height": 900})
    form.get_by_placeholder("What you say").fill("Which one?")
    form.get_by_role("button", name="Give this mark").click()

    form.get_by_text("It is <b>squared</b>.").wait_for()  # as it was written
    form.get_by_text("Given: 1 of 2.5.").wait_for()
    assert boxes.count() == 3 and not boxes.first.is_checked()
    form.get_by_role("button", name="Skip").click()
    page.get_by_text("Marks given: 1. Answers that wait: 1.").wait_for()

    with Store(folder / "results" / "results.sqlite") as store:
        grades = {grade.student: grade for grade in store.grades()}
        comment = store.comments()["ada", tiny.NAME]["why"]
    assert (grades["ada"].points, grades["bob"].points) == (4, 3)
    assert (comment.text, comment.author) == ("Which one?", "prof")


def _kept(page: Any, name: str) -> None:
    """Keep a picture for who wants to look: ADK_PICTURES names the folder."""
    if folder := os.environ.get("ADK_PICTURES"):
        page.screenshot(path=Path(folder) / f"marking_{name}.png")
