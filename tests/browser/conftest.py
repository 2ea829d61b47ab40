"""A real JupyterLab and a real Chromium for the journeys, one of each for the whole run.

Every page fails its test if the browser's console shows an error, or if anything is asked of
another machine. A page is handed on from test to test, with JupyterLab in it as a learner opens one
notebook after the other, or empty: to make a page and to load JupyterLab takes longer than most
tests. Each notebook has a kernel of its own, a copy of one that has imported what all need
(``warm_kernels.py``). Without Chromium these tests are skipped (see the ``conftest.py`` of the
checkout).
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60

SETTINGS: dict[str, Any] = {
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}
THEMES = "@jupyterlab/apputils-extension/themes"
DARK = {"theme": "JupyterLab Dark"}
KEPT = 4  # pages with JupyterLab in them

# Resolves when the kernel of the notebook opened last answers; "idle" in toolbars comes too early.
READY = """async () => {
  const later = (ms) => new Promise((done) => setTimeout(done, ms));
  let panel;
  for (;;) {
    const widgets = [...window.jupyterapp.shell.widgets('main')];
    panel = widgets.findLast((widget) => widget.sessionContext);
    if (panel) break;
    await later(50);
  }
  await panel.context.ready;
  await panel.sessionContext.ready;
  const kernel = panel.sessionContext.session?.kernel;
  if (!kernel) return;
  await kernel.info;
  while (kernel.status !== 'idle') await later(50);
}"""
# Notebook 7 says these of itself, also in a notebook without a widget.
NOTEBOOK_7 = (
    "page error: Cannot read properties of undefined (reading 'schema')",
    "page error: Command 'filebrowser:open-path' not registered.",
)
# Opens a notebook beside what is there; to return what the command gives would take seconds.
OPEN = """async (path) => {
  await window.jupyterapp.commands.execute('docmanager:open', { path });
}"""
# Leaves JupyterLab as it was before the first notebook was opened; says whether that was possible.
TIDY = """async () => {
  const later = (ms) => new Promise((done) => setTimeout(done, ms));
  const { shell } = window.jupyterapp;
  const close = async (widget) => {
    await widget.sessionContext?.ready;  // a kernel that is starting cannot be ended
    await widget.sessionContext?.session?.shutdown();
    widget.dispose();
  };
  await Promise.race([Promise.all([...shell.widgets('main')].map(close)), later(5000)]);
  document.body.removeAttribute('style');
  await later(50);  // for complaints that come behind
  return !document.querySelector('.jp-NotebookPanel, .jp-Dialog');
}"""
LOADED = """async () => {
  const later = (ms) => new Promise((done) => setTimeout(done, ms));
  for (;;) {
    const panel = [...window.jupyterapp.shell.widgets('main')].find((widget) => widget.context);
    if (panel) { await panel.context.ready; return; }
    await later(50);
  }
}"""


def missing(what: str) -> NoReturn:
    """Skip, or fail where browser tests are required."""
    if os.environ.get("ADK_REQUIRE_BROWSER") == "1":
        pytest.fail(f"ADK_REQUIRE_BROWSER=1, and {what}")
    pytest.skip(what)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The system's Chromium, driven by Playwright."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=next(filter(None, map(shutil.which, names))),
            args=[
                "--no-sandbox",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-gpu",
            ],
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def payload() -> dict[str, Any]:
    """What the Stepper draws in most of these tests: x * w twice in a loop, plus x."""
    file = Path(__file__).parents[1] / "js" / "payload.json"
    return dict(json.loads(file.read_text("utf-8")))


@pytest.fixture(scope="session")
def axe() -> str:
    """The rules of axe-core, as a script."""
    file = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
    if not file.exists():
        missing("axe-core is not installed: npm ci --prefix tests/browser")
    return file.read_text("utf-8")


@dataclass
class Server:
    """A running Jupyter server: its address, the folder it serves, the folder of its settings."""

    url: str
    folder: Path
    settings: Path

    def set(self, name: str, values: dict[str, Any]) -> None:
        """Write one of JupyterLab's settings files; pages opened from now on obey it."""
        file = self.settings / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values))

    def now(self) -> dict[Path, str]:
        """Return the settings files, with what they hold."""
        files = sorted(self.settings.rglob("*.jupyterlab-settings"))
        return {file: file.read_text() for file in files}


@pytest.fixture(scope="session")
def jupyter(tmp_path_factory: pytest.TempPathFactory, kernel_folder: str) -> Iterator[Server]:
    """JupyterLab (and Notebook 7 on the same server) with settings and folders of its own."""
    if find_spec("jupyterlab") is None:
        missing("jupyterlab is not installed")
    home = tmp_path_factory.mktemp("jupyter")
    folders = {
        name: home / name.lower()
        for name in (
            "JUPYTER_CONFIG_DIR",
            "JUPYTER_DATA_DIR",
            "JUPYTER_RUNTIME_DIR",
            "JUPYTERLAB_SETTINGS_DIR",
            "JUPYTERLAB_WORKSPACES_DIR",
            "IPYTHONDIR",
        )
    }
    notebooks = home / "notebooks"
    for folder in (*folders.values(), notebooks):
        folder.mkdir()
    # Else JupyterLab starts Node for each page, to see whether it should be built anew.
    page = folders["JUPYTER_CONFIG_DIR"] / "labconfig" / "page_config.json"
    page.parent.mkdir()
    page.write_text(json.dumps({"buildAvailable": False, "buildCheck": False}))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = Server(f"http://127.0.0.1:{port}", notebooks, folders["JUPYTERLAB_SETTINGS_DIR"])
    for name, values in SETTINGS.items():
        server.set(name, values)
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {name: str(folder) for name, folder in folders.items()}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    # The defaults that `autodiff-kit lab` brings along: widgets are saved with the notebook.
    defaults = ROOT / "autodiff_kit" / "lessons" / "jupyter_config"
    environment["JUPYTER_CONFIG_PATH"] = str(defaults)
    environment["JUPYTER_PATH"] = kernel_folder
    command = [
        *(sys.executable, "-m", "jupyterlab", "--allow-root", "--no-browser"),
        *("--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
        *("--IdentityProvider.token=", "--ServerApp.password="),
        *("--ServerApp.disable_check_xsrf=True", f"--ServerApp.root_dir={notebooks}"),
        *("--LabApp.expose_app_in_browser=True", "--JupyterNotebookApp.expose_app_in_browser=True"),
    ]
    with (home / "log").open("w") as log:
        process = subprocess.Popen(
            command, env=environment, stdout=log, stderr=log, cwd=home, start_new_session=True
        )
        try:
            _wait_for(server.url + "/api", process, home / "log")
            yield server
        finally:
            _end(process)


@pytest.fixture
def setting(jupyter: Server) -> Iterator[Callable[[str, dict[str, Any]], None]]:
    """Change a setting of JupyterLab for one test."""
    before = jupyter.now()
    yield jupyter.set
    for file in jupyter.now():
        if file in before:
            file.write_text(before[file])
        else:
            file.unlink()


@pytest.fixture
def night(setting: Callable[[str, dict[str, Any]], None]) -> None:
    """JupyterLab's own dark theme, for one test."""
    setting(THEMES, DARK)


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=2):
            return
        time.sleep(0.2)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the server and its kernels: they are one process group, which we started."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=10)
            return


@dataclass
class Desk:
    """One browser page, and what must not have happened in it."""

    page: Any
    problems: list[str] = field(default_factory=list)
    look: tuple[bool, bool] = (False, False)
    lab: Hashable = None
    """What JupyterLab was loaded with, if it is there for the next test, too."""

    def watch(self) -> Desk:
        """Collect console errors and requests to other machines."""
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.problems.append(f"page error: {error}"))
        self.page.on("request", self._requested)
        return self

    def tidy(self) -> bool:
        """Make the page as it was before the test; return whether that is possible."""
        if self.page.is_closed():
            return False
        if self.lab:
            return bool(self.page.evaluate(TIDY))
        self.page.mouse.move(-9, -9)
        self.page.emulate_media(media="null")
        self.page.goto("about:blank")
        return True

    def _heard(self, message: Any) -> None:
        if message.type == "error":
            self.problems.append(f"console: {message.text}")

    def _requested(self, request: Any) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("data", "blob", "file") and address.hostname != "127.0.0.1":
            self.problems.append(f"asked another machine: {request.url}")


@pytest.fixture(scope="session")
def profiles(browser: Any) -> Iterator[Callable[[bool, bool], Any]]:
    """Browser profiles by their look, ``profiles(dark, motion)``: their pages share one cache.

    JupyterLab's scripts are then loaded and compiled once, not for each page.
    """
    contexts: dict[tuple[bool, bool], Any] = {}

    def profile(dark: bool, motion: bool) -> Any:
        if (dark, motion) not in contexts:
            contexts[dark, motion] = browser.new_context(
                color_scheme="dark" if dark else "light",
                reduced_motion="no-preference" if motion else "reduce",
            )
        return contexts[dark, motion]

    yield profile
    for context in contexts.values():
        context.close()


@pytest.fixture(scope="session")
def idle(profiles: Callable[[bool, bool], Any]) -> list[Desk]:
    """Pages that no test has at the moment; the one used last comes last.

    They are closed with the profiles that they belong to.
    """
    return []


@pytest.fixture
def desk(
    profiles: Callable[[bool, bool], Any], idle: list[Desk], request: pytest.FixtureRequest
) -> Iterator[Callable[..., Desk]]:
    """Make watched pages, ``desk(width=600)``; in the end nothing may have gone wrong.

    The page is new, or as empty as a new one; ``desk(lab=...)`` may be a page that has JupyterLab
    in it already, loaded with the same.
    """
    desks: list[Desk] = []
    failed = request.session.testsfailed

    def make(
        width: int = 1400,
        height: int = 900,
        dark: bool = False,
        motion: bool = False,
        lab: Hashable = None,
    ) -> Desk:
        look = dark, motion
        desk = next((other for other in idle if (other.lab, other.look) == (lab, look)), None)
        if desk:
            idle.remove(desk)
            desk.page.bring_to_front()
        else:
            desk = Desk(profiles(*look).new_page(), look=look, lab=lab).watch()
        desk.page.set_viewport_size({"width": width, "height": height})
        desk.page.set_default_timeout(20_000)
        desks.append(desk)
        return desk

    yield make
    problems = [problem for desk in desks for problem in desk.problems]
    problems = [problem for problem in problems if problem not in NOTEBOOK_7]
    is_sound = not problems and request.session.testsfailed == failed
    for desk in desks:
        if is_sound and desk.tidy():
            desk.problems.clear()  # of closing notebooks
            idle.append(desk)
        else:
            desk.page.close()
    for old in [desk for desk in idle if desk.lab][:-KEPT]:
        idle.remove(old)
        old.page.close()
    assert problems == []


@pytest.fixture
def notebook(
    jupyter: Server,
    desk: Callable[..., Desk],
    setting: Callable[[str, dict[str, Any]], None],
) -> Callable[..., Any]:
    """Open a notebook of the server, run it, and return the page.

    ``notebook(path, run=True, app="lab" or "notebooks", dark=True, **desk arguments)``: dark is
    JupyterLab's own theme, ``system_dark`` that of the system alone, which JupyterLab overrules.
    """

    def open_it(
        path: Path,
        *,
        run: bool = True,
        app: str = "lab",
        dark: bool = False,
        system_dark: bool = False,
        **how: Any,
    ) -> Any:
        how["dark"] = system_dark
        if dark:
            setting(THEMES, DARK)
        if app == "notebooks" and find_spec("notebook") is None:
            missing("notebook is not installed")
        lab = tuple(jupyter.now().items()) if app == "lab" else None
        page = desk(**how, lab=lab).page
        name = path.relative_to(jupyter.folder).as_posix()
        if page.url.startswith(jupyter.url):
            page.evaluate(OPEN, name)
        else:
            address = f"lab/tree/{name}?reset" if app == "lab" else f"notebooks/{name}"
            page.goto(f"{jupyter.url}/{address}")
        page.wait_for_selector(".jp-Notebook")
        page.wait_for_function("() => window.jupyterapp")
        page.evaluate(READY if run else LOADED)
        if run:
            page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
        return page

    return open_it


@dataclass
class Board:
    """What a learner sees of one Stepper, and does with it."""

    root: Any

    @property
    def step(self) -> int:
        return int(self.counter.split()[0]) - 1

    @property
    def last(self) -> int:
        return int(self.counter.split()[2]) - 1

    @property
    def counter(self) -> str:
        return str(self.root.locator(".adk-counter").inner_text())

    @property
    def caption(self) -> str:
        return str(self.root.locator(".adk-caption-text").inner_text())

    @property
    def lit(self) -> str:
        """The source that this step is about."""
        return "".join(self.root.locator(".adk-lit").all_text_contents())

    @property
    def chosen(self) -> str:
        """The source of the node that is pinned."""
        return "".join(self.root.locator(".adk-chosen").all_text_contents())

    @property
    def nodes(self) -> Any:
        """The nodes that are there now, as buttons."""
        return self.root.locator("[data-node]:not(.adk-hidden) .adk-box")

    @property
    def slider(self) -> Any:
        return self.root.get_by_role("slider", name="Step")

    def press(self, name: str) -> None:
        """Click one of the buttons, also where it has nothing more to do."""
        self.root.get_by_role("button", name=name, exact=True).click(force=True)

    def go(self, step: int) -> None:
        """Move the slider, as dragging it would."""
        self.slider.evaluate(
            "(range, step) => { range.value = step; range.dispatchEvent(new Event('input')); }",
            step,
        )

    def places(self) -> list[list[str]]:
        """Return where the parts are at each step: alike, if nothing jumps."""
        names = ("root", "source", "graph", "inspector", "caption", "transport", "buttons", "zoom")
        parts = self.root.page.locator(", ".join(f".adk-{name}" for name in names))
        places = []
        for step in range(self.last + 1):
            self.go(step)
            places.append(
                parts.evaluate_all(
                    "parts => parts.map(part => JSON.stringify(part.getBoundingClientRect()))"
                )
            )
        return places

    def gradients(self) -> dict[str, str]:
        """Name and gradient of each node that shows one."""
        return dict(
            self.root.locator("[data-node].adk-has-grad").evaluate_all(
                """nodes => nodes.map(node => [node.querySelector('.adk-name')?.textContent,
                                               node.querySelector('.adk-grad').textContent])"""
            )
        )

    def slots(self, name: str) -> list[str]:
        """Return what stands in the slots of a node, "?" where nothing has arrived yet."""
        node = self.root.locator("[data-node]", has_text=name).first
        return sorted(node.locator(".adk-slot text").all_text_contents())


@pytest.fixture
def board() -> Callable[..., Board]:
    """Find the n-th Stepper of a page: ``board(page)``, ``board(page, 1)``."""

    def find(page: Any, number: int = 0) -> Board:
        root = page.locator(".adk-root").nth(number)
        root.locator(".adk-stage").wait_for()
        root.scroll_into_view_if_needed()
        return Board(root)

    return find
