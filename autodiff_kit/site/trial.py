"""Open a site in a real Chromium, without any network, and say what was seen there.

After reading you can say what ``autodiff-kit site OUT --check`` looks for: cells that do not run,
errors in cells and inside of widgets, requests to other hosts, and how long a learner waits.
"""

from __future__ import annotations

import functools
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import perf_counter
from typing import Any, TypedDict
from urllib.parse import quote

from autodiff_kit.site import SiteError

__all__ = ["Trial", "in_chromium", "open_lesson", "ready", "run_all", "served", "tried", "visit"]

NAMES = ("chromium", "chromium-browser", "google-chrome")

PATIENCE = 180_000  # ms until Python must be there, on a slow and busy machine
_READY = "document.documentElement.dataset.ready === 'true'"
_LOOK = "document.querySelector('#first').contentDocument?.querySelector('.adk-node') != null"
_RUN_ALL = """async () => {
  const app = document.querySelector('#notebook').contentWindow.jupyterapp;
  const panel = app.shell.currentWidget;
  await app.commands.execute('notebook:run-all-cells');
  await new Promise(done => setTimeout(done, 2000));  // the widgets draw
  const codes = panel.content.widgets.filter(({ model }) => model.type === 'code');
  const cells = codes.map(({ model }) => model.toJSON());
  const mayRaise = ({ metadata }) => metadata.tags?.includes('raises-exception');
  const outputs = cells.flatMap(cell => mayRaise(cell) ? [] : cell.outputs);
  const places = '.adk-lab-message, .adk-message, .jupyter-widgets-error-widget';
  const texts = [...panel.node.querySelectorAll(places)];
  return {
    cells: cells.length,
    undone: cells.filter(c => c.execution_count === null).length,
    errors: outputs.filter(o => o.output_type === 'error' || o.name === 'stderr')
      .map(o => o.evalue ?? [o.text].flat().join('')),
    messages: texts.filter(e => !e.hidden && e.textContent.trim()).map(e => e.textContent.trim()),
  };
}"""


@dataclass
class Trial:
    """What was seen when a notebook was opened and all of its cells were run.

    Attributes
    ----------
    path : str
        Of the notebook.
    look, start, run : float
        Seconds from the link to a program to step through; to Python being ready; for all cells.
    cells, undone : int
        How many cells of code there are, and how many did not run.
    errors : list of str
        Errors of cells, messages inside of widgets, errors in the browser's console.
    requests : list of str
        Other hosts that were asked for something.
    """

    path: str
    look: float = 0.0
    start: float = 0.0
    run: float = 0.0
    cells: int = 0
    undone: int = 0
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    @property
    def is_fine(self) -> bool:
        """Whether nothing has to be fixed."""
        return self.cells > 0 and not (self.undone or self.errors or self.requests)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing of each request."""


@contextmanager
def served(site: Path) -> Iterator[str]:
    """Serve a site on this machine alone; give its address."""
    handler = functools.partial(_Quiet, directory=str(site))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def in_chromium(site: Path) -> Iterator[tuple[Any, str]]:
    """Serve a site, and start a Chromium that reaches nothing else; give it and the address.

    Raises
    ------
    SiteError
        If there is no playwright or no Chromium here.
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise SiteError(
            'There is no playwright here.\n-> pip install "autodiff_kit[browser]"'
        ) from error
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        raise SiteError("There is no Chromium here.\n-> apt install chromium")
    alone = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", alone]
    with served(site) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        yield browser, address
        browser.close()


def tried(browser: Any, address: str, path: str) -> Trial:
    """Open a notebook as a first visit, and run all cells.

    Parameters
    ----------
    browser : playwright's Browser
    address : str
        Of the site.
    path : str
        Of the notebook, in the learner's folder.
    """
    context = browser.new_context()
    trial = Trial(path)
    try:
        visit(context.new_page(), address, trial)
    except Exception as error:  # playwright's own; there it is imported only when it is needed
        if type(error).__name__ != "TimeoutError":
            raise
        trial.errors.append(f"nothing more happened: {str(error).splitlines()[0]}")
    finally:
        context.close()
    return trial


def visit(page: Any, address: str, trial: Trial) -> None:
    """Open the notebook that a trial names, run all cells, and note what is seen.

    What goes wrong afterwards, as long as the page is open, is noted, too.
    """
    page.on("pageerror", lambda error: trial.errors.append(f"in the browser: {error}"))

    def note(request: Any) -> None:
        if not request.url.startswith((address, "data:", "blob:")):
            trial.requests.append(request.url.split("?")[0])

    page.on("request", note)
    begin = perf_counter()
    open_lesson(page, address, trial.path)
    trial.look = perf_counter() - begin
    ready(page)
    trial.start = perf_counter() - begin
    begin = perf_counter()
    outcome = run_all(page)
    trial.run = perf_counter() - begin - 2.0
    trial.cells, trial.undone = outcome["cells"], outcome["undone"]
    trial.errors += [*outcome["errors"], *outcome["messages"]]


def open_lesson(page: Any, address: str, path: str) -> None:
    """Follow the link to a lesson; wait until there is something to step through."""
    page.goto(f"{address}lesson.html?path={quote(path)}", wait_until="commit")
    page.wait_for_function(_LOOK, timeout=PATIENCE)


def ready(page: Any) -> None:
    """Wait until Python answers."""
    page.wait_for_function(_READY, timeout=PATIENCE)


class Seen(TypedDict):
    """What all cells say after a run, as ``Trial`` has it."""

    cells: int
    undone: int
    errors: list[str]
    messages: list[str]


def run_all(page: Any) -> Seen:
    """Close the first look if it is open, run all cells, and return what they say."""
    if page.is_visible("#go"):
        page.click("#go")
    outcome: Seen = page.evaluate(_RUN_ALL)
    return outcome
