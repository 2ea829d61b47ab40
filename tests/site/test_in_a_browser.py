"""A site as a learner opens it, in a real Chromium that reaches nothing but this machine.

``ADK_SITE`` names a site that was built with ``tests/site/fixture.py``; the gate builds one.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autodiff_kit.site.trial import in_chromium, open_lesson, ready, tried

SITE = os.environ.get("ADK_SITE")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(SITE is None, reason="needs a site: ADK_SITE=FOLDER, as the gate builds it"),
]

LESSONS = ["03_the_backward_pass.ipynb", "04_control_flow.ipynb", "06_static_and_dynamic.ipynb"]
NOTEBOOK = "document.querySelector('#notebook').contentWindow.jupyterapp.shell.currentWidget"
EXERCISE = "autodiff-kit-exercises/e04_accumulate.ipynb"


@pytest.fixture(scope="module")
def opened() -> Iterator[tuple[Any, str]]:
    with in_chromium(Path(SITE or "")) as (browser, address):
        yield browser, address


@pytest.mark.parametrize("path", LESSONS)
def test_a_lesson_runs_without_an_error_or_a_request_to_another_host(
    opened: tuple[Any, str], path: str
) -> None:
    report = tried(*opened, path)

    assert (report.undone, report.errors, report.requests) == (0, [], [])
    assert report.cells > 5


@pytest.fixture(scope="module")
def context(opened: tuple[Any, str]) -> Any:
    """A learner's browser; what is done in one test is there in the next one."""
    return opened[0].new_context()


@pytest.fixture(scope="module")
def page(opened: tuple[Any, str], context: Any) -> Any:
    """An exercise, opened; Python is ready."""
    page = context.new_page()
    open_lesson(page, opened[1], EXERCISE)
    ready(page)
    return page


def run_last_cell(page: Any) -> str:
    """Run the last cell of the open notebook; return what it prints and shows."""
    if page.is_visible("#go"):
        page.click("#go")
    outputs = page.evaluate(
        f"""async () => {{
          const {{ content }} = {NOTEBOOK};
          content.activeCellIndex = content.model.cells.length - 1;
          const app = document.querySelector('#notebook').contentWindow.jupyterapp;
          await app.commands.execute('notebook:run-cell');
          return content.widgets.at(-1).model.toJSON().outputs.flatMap(
            ({{ text, evalue, data = {{}} }}) =>
              [text, evalue, ...Object.values(data)].flat().join(''));
        }}"""
    )
    return "\n".join(outputs)


def run_new_cell(page: Any, code: str) -> str:
    """Add a cell at the end, run it, and return what it prints and shows."""
    page.evaluate(
        f"""code => {{
          const model = {NOTEBOOK}.content.model.sharedModel;
          model.insertCell(model.cells.length, {{ cell_type: 'code', source: code }});
        }}""",
        code,
    )
    return run_last_cell(page)


def test_links_between_notebooks_stay_in_the_site(context: Any, opened: tuple[Any, str]) -> None:
    page = context.new_page()
    for words, path in (
        ("04 Accumulate", "autodiff-kit-exercises%2Fe04_accumulate.ipynb"),
        ("04 Control flow", "04_control_flow.ipynb"),
    ):
        open_lesson(page, opened[1], "03_the_backward_pass.ipynb")
        page.evaluate("document.querySelector('#look').hidden = true")
        page.frame_locator("#notebook").locator(".jp-MarkdownCell").first.wait_for()
        page.evaluate(f"{NOTEBOOK}.content.activeCellIndex = {NOTEBOOK}.content.widgets.length - 1")
        link = page.frame_locator("#notebook").locator(".jp-MarkdownCell a", has_text=words).last

        link.click()
        page.wait_for_url(f"**/lesson.html?path={path}")

    assert context.pages == [page]
    page.close()


def test_an_exercise_is_handed_in_from_the_tab(page: Any) -> None:
    page.evaluate(f"{NOTEBOOK}.context.save()")
    code = "from autodiff_kit.grading import status, submit\n"
    refusal = run_new_cell(page, code + 'submit("04.accumulate")')
    assert 'submit("04.accumulate", yes=True)' in refusal

    link = run_new_cell(page, 'submit("04.accumulate", yes=True)')
    assert '<a download="e04_accumulate-submit.zip" href="data:application/zip;base64,' in link
    assert "packed for handing in" in run_new_cell(page, "status()")


def test_an_exercise_is_checked_in_the_tab(page: Any) -> None:
    code = "from autodiff_kit.grading import check\ndef backward(root): pass\n"
    code += 'print(check("04.accumulate"))'

    assert "04.accumulate: 0 of 10 points with the inputs drawn now" in run_new_cell(page, code)


def test_work_is_taken_along_as_one_file_and_comes_back_in_another_browser(page: Any) -> None:
    page.evaluate(f"{NOTEBOOK}.context.save()")
    with page.expect_download() as download:
        page.click("#take")
    work = json.loads(Path(download.value.path()).read_text())
    assert EXERCISE in [file["path"] for file in work["files"]]
    page.click("#close")

    page.set_input_files("#file", download.value.path())
    page.wait_for_selector("#told[open]")
    assert page.text_content("#headline") == "Everything in this file is here already."
    page.click("#close")


def test_after_the_first_visit_no_network_is_needed_and_work_is_there(
    page: Any, context: Any, opened: tuple[Any, str]
) -> None:
    page.wait_for_function("document.documentElement.dataset.offline === 'true'", timeout=60_000)
    page.close()
    context.set_offline(True)
    again = context.new_page()
    open_lesson(again, opened[1], EXERCISE)
    ready(again)

    sources = again.evaluate(f"{NOTEBOOK}.content.model.toJSON().cells.map(c => c.source)")
    assert 'check("04.accumulate")' in "".join(sources[-1])
    assert "04.accumulate: 0 of 10 points" in run_last_cell(again)
