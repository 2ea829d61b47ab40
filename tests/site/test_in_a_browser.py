"""A site as a learner opens it, in a real Chromium that reaches nothing but this machine.

``ADK_SITE`` names a site that was built with ``tests/site/fixture.py``; the gate builds one.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autodiff_kit.site.trial import Trial, in_chromium, open_lesson, ready, run_all, visit

SITE = os.environ.get("ADK_SITE")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(SITE is None, reason="needs a site: ADK_SITE=FOLDER, as the gate builds it"),
]

LESSONS = ["03_the_backward_pass.ipynb", "05_control_flow.ipynb", "07_static_and_dynamic.ipynb"]
NOTEBOOK = "document.querySelector('#notebook').contentWindow.jupyterapp.shell.currentWidget"
EXERCISE = "autodiff-kit-exercises/e04_accumulate.ipynb"


@pytest.fixture(scope="module")
def opened() -> Iterator[tuple[Any, str]]:
    with in_chromium(Path(SITE or "")) as (browser, address):
        yield browser, address


@pytest.fixture(scope="module")
def context(opened: tuple[Any, str]) -> Any:
    """A learner's browser; what is done in one test is there in the next one."""
    return opened[0].new_context()


@pytest.fixture(scope="module")
def first_visit(opened: tuple[Any, str], context: Any) -> tuple[Any, Trial]:
    """A lesson, opened, all of its cells run; and what is seen as long as it is open."""
    page, trial = context.new_page(), Trial(LESSONS[0])
    visit(page, opened[1], trial)
    return page, trial


def test_a_lesson_runs_without_an_error_or_a_request_to_another_host(
    first_visit: tuple[Any, Trial],
) -> None:
    _, trial = first_visit

    assert (trial.undone, trial.errors, trial.requests) == (0, [], [])
    assert trial.cells > 5


# Python takes most of the time, and more than once the same way. What a lesson has left behind,
# the next one must not find.
OPEN_INSTEAD = f"""async path => {{
  const app = document.querySelector('#notebook').contentWindow.jupyterapp;
  const file = await app.serviceManager.contents.get(path, {{ content: true }});
  const panel = {NOTEBOOK};
  await panel.sessionContext.session.kernel.requestExecute({{ code: '%reset -f' }}).done;
  panel.content.model.fromJSON(file.content);
}}"""


@pytest.mark.parametrize("path", LESSONS[1:])
def test_another_lesson_runs_with_the_python_that_is_there(
    opened: tuple[Any, str], first_visit: tuple[Any, Trial], path: str
) -> None:
    page, trial = first_visit
    other = opened[0].new_page()  # of a learner who comes for the first time
    open_lesson(other, opened[1], path)
    other.close()

    page.evaluate(OPEN_INSTEAD, path)
    outcome = run_all(page)

    assert (outcome["undone"], outcome["errors"], outcome["messages"]) == (0, [], [])
    assert outcome["cells"] > 5
    assert (trial.errors, trial.requests) == ([], [])


def test_a_new_version_of_a_lesson_is_offered_and_put_beside_the_learners(
    opened: tuple[Any, str], context: Any, first_visit: tuple[Any, Trial]
) -> None:
    lesson, _ = first_visit
    name, new = LESSONS[1], LESSONS[1].replace(".ipynb", " (new version).ipynb")
    contents = (
        "document.querySelector('#notebook').contentWindow.jupyterapp.serviceManager.contents"
    )
    lesson.evaluate(
        f"""async path => {{
          const {{ content }} = await {contents}.get(path, {{ content: true }});
          content.cells[0].source = '# Mine';
          await {contents}.save(path, {{ type: 'notebook', format: 'json', content }});
          localStorage.setItem(`autodiff-kit-version:${{path}}`, 'that of last year');
        }}""",
        name,
    )
    page = context.new_page()
    open_lesson(page, opened[1], name)

    page.click("#open-new", timeout=60_000)
    page.wait_for_function(
        """path => {
          const shell = document.querySelector('#notebook').contentWindow?.jupyterapp?.shell;
          const context = shell?.currentWidget?.context;
          return context?.path === path && context.isReady;
        }""",
        arg=new,
        timeout=60_000,
    )

    first = "async path => (await CONTENTS.get(path, { content: true })).content.cells[0].source"
    cells = (page.evaluate(first.replace("CONTENTS", contents), path) for path in (name, new))
    sources = ["".join(lines) for lines in cells]
    shipped = json.loads((Path(SITE or "") / "files" / name).read_text("utf-8"))
    assert sources == ["# Mine", "".join(shipped["cells"][0]["source"])]
    assert not page.is_visible("#news")
    page.close()


@pytest.fixture(scope="module")
def page(opened: tuple[Any, str], context: Any, first_visit: tuple[Any, Trial]) -> Any:
    """An exercise, opened after a visit to another page, without a network; Python is ready."""
    lesson, _ = first_visit
    lesson.wait_for_function("document.documentElement.dataset.offline === 'true'", timeout=60_000)
    lesson.close()
    context.set_offline(True)
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
    others = context.pages
    page = context.new_page()
    for words, path in (
        ("04 Accumulate", "autodiff-kit-exercises%2Fe04_accumulate.ipynb"),
        ("04 Vectors", "04_vectors.ipynb"),
    ):
        open_lesson(page, opened[1], "03_the_backward_pass.ipynb")
        page.evaluate("document.querySelector('#look').hidden = true")
        page.frame_locator("#notebook").locator(".jp-MarkdownCell").first.wait_for()
        page.evaluate(f"{NOTEBOOK}.content.activeCellIndex = {NOTEBOOK}.content.widgets.length - 1")
        link = page.frame_locator("#notebook").locator(".jp-MarkdownCell a", has_text=words).last

        link.click()
        page.wait_for_url(f"**/lesson.html?path={path}")

    assert context.pages == [*others, page]
    page.close()


def test_an_exercise_is_handed_in_from_the_tab(page: Any) -> None:
    page.evaluate(f"{NOTEBOOK}.context.save()")
    code = "from autodiff_kit.grading import status, submit\n"
    refusal = run_new_cell(page, code + 'submit("04.accumulate")')
    assert 'submit("04.accumulate", yes=True)' in refusal

    link = run_new_cell(page, 'submit("04.accumulate", yes=True)')
    assert '<a download="e04_accumulate-submit.zip" href="data:application/zip;base64,' in link
    assert "packed for handing in" in run_new_cell(page, "status()")


def test_an_infinite_loop_in_a_lab_ends_though_there_are_no_threads(page: Any) -> None:
    code = """from autodiff_kit.widgets import ControlFlow, running
running.run.__kwdefaults__["seconds"] = 0.5
def endless(x=1.0):
    while x > 0:
        pass
lab = ControlFlow(lambda x=1.0: x * 2 if x < 2 else endless(x))
before = lab.message
lab.state = {"x": 3.0}
print([before, lab.message])"""

    messages = run_new_cell(page, code)

    assert messages.startswith(
        "['', 'The lambda was stopped: it was still running after 0.5 seconds."
    )


def test_an_exercise_is_checked_in_the_tab(page: Any) -> None:
    code = "from autodiff_kit.grading import check\ndef backward(root): pass\n"
    code += 'print(check("04.accumulate"))'

    assert "04.accumulate: 0 of 10 points on newly drawn inputs" in run_new_cell(page, code)


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
    assert page.evaluate("navigator.onLine") is False  # and so it was in the tests above
    page.close()

    again = context.new_page()
    open_lesson(again, opened[1], EXERCISE)

    again.wait_for_function(
        "document.querySelector('#notebook').contentWindow?.jupyterapp?.shell?.currentWidget"
        "?.context?.isReady",
        timeout=60_000,
    )
    sources = again.evaluate(f"{NOTEBOOK}.content.model.toJSON().cells.map(c => c.source)")
    assert 'check("04.accumulate")' in "".join(sources[-1])
