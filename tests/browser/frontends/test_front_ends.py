"""One suite in each front end: every widget of the kit is drawn, and answers.

It takes minutes and packages of its own: ``pip install -e ".[browser,frontends,site]"``, then
``ADK_FRONT_ENDS=1 pytest tests/browser/frontends``. ``ADK_SITE`` names a site built with
``tests/site/fixture.py``, and ``ADK_HTML_MANAGER`` a folder with what ``npm install
@jupyter-widgets/html-manager@1.0.15 requirejs@2.3`` has put there. With ``ADK_WRITE_TABLE=1`` what
is seen goes into ``seen.json`` and the README's table.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.browser.frontends.items import ITEMS, cell
from tests.browser.frontends.seeing import seen

ROOT = Path(__file__).resolve().parents[3]
SEEN = Path(__file__).with_name("seen.json")
NAMES = {
    "lab": "JupyterLab 4",
    "notebook": "Notebook 7",
    "site": "the kit in a link",
    "marimo": "marimo",
    "voila": "Voila",
    "nbconvert": "a page by nbconvert (no Python)",
}
LONG = pytest.mark.skipif(
    os.environ.get("ADK_FRONT_ENDS") != "1", reason="takes minutes: ADK_FRONT_ENDS=1 runs it"
)
pytestmark = pytest.mark.browser

Seen = dict[str, dict[str, str]]  # front end -> item -> what is wrong, "" if nothing


def recorded() -> Seen:
    return dict(json.loads(SEEN.read_text(encoding="utf-8")))


def table(all_seen: Seen) -> str:
    """Return the README's table: for each front end what is drawn and answers."""
    lines = ["| front end | drawn and answering | what is missing |", "| --- | --- | --- |"]
    for name, words in NAMES.items():
        results = all_seen.get(name, {})
        if not results:
            continue
        missing = [item for item, wrong in results.items() if wrong]
        count = f"{len(results) - len(missing)} of {len(results)}"
        lines.append(f"| {words} | {count} | {', '.join(f'`{i}`' for i in missing)} |")
    return "\n".join(lines)


def check(name: str, results: dict[str, str]) -> None:
    """Compare with what was seen before, or write it down."""
    for item, wrong in results.items():
        print(f"{name}: {item}: {wrong or 'ok'}")
    if os.environ.get("ADK_WRITE_TABLE") == "1":
        before = recorded() if SEEN.exists() else {}
        before[name] = results
        SEEN.write_text(json.dumps(before, indent=1) + "\n", encoding="utf-8")
        readme = ROOT / "README.md"
        text = readme.read_text(encoding="utf-8")
        text = re.sub(r"\| front end \|.*?(?=\n\n)", lambda _: table(before), text, flags=re.S)
        readme.write_text(text, encoding="utf-8")
        return
    assert results == recorded()[name]


def test_the_table_of_the_readme_is_what_the_suite_has_seen() -> None:
    assert table(recorded()) in (ROOT / "README.md").read_text(encoding="utf-8")


def the_notebook() -> Any:
    cells = [nbformat.v4.new_code_cell(cell(item)) for item in ITEMS.values()]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def looked_at(page: Any, places: Any, *, has_python: bool = True) -> dict[str, str]:
    """Return what is wrong with each item; without Python, what needs it is only drawn."""
    results: dict[str, str] = {}
    for k, (name, item) in enumerate(ITEMS.items()):
        acts = item.acts if has_python or not item.needs_python else ()
        results[name] = seen(page, places.nth(k), item._replace(acts=acts))
        print(name, results[name], flush=True)
    return results


@contextmanager
def running(command: list[str], port: int, folder: Path) -> Iterator[None]:
    """Run a server, and end it."""
    paths = filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            until = time.monotonic() + 90
            while time.monotonic() < until and process.poll() is None:
                with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5):
                    break
                time.sleep(0.3)
            else:
                pytest.fail((folder / "log").read_text()[-3000:])
            yield
        finally:
            process.terminate()
            process.wait(timeout=20)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page that reaches this machine alone."""
    context = browser.new_context(viewport={"width": 1400, "height": 900}, reduced_motion="reduce")
    context.route(
        lambda url: not re.match(r"https?://127\.0\.0\.1|data:|blob:", url),
        lambda route: route.abort(),
    )
    page = context.new_page()
    page.set_default_timeout(60_000)
    yield page
    context.close()


@LONG
@pytest.mark.parametrize(("name", "app"), [("lab", "lab"), ("notebook", "notebooks")])
def test_jupyter(jupyter: Any, notebook: Callable[..., Any], name: str, app: str) -> None:
    path = jupyter.folder / f"items_{name}.ipynb"
    nbformat.write(the_notebook(), path)
    page = notebook(path, app=app)

    check(name, looked_at(page, page.locator(".jp-CodeCell .jp-Cell-outputWrapper")))


@LONG
def test_voila(tmp_path: Path, page: Any) -> None:
    nbformat.write(the_notebook(), tmp_path / "items.ipynb")
    port = free_port()
    url = f"http://127.0.0.1:{port}/"
    command = [sys.executable, "-m", "voila", "items.ipynb", "--no-browser", f"--port={port}"]
    script = Path(os.environ["ADK_HTML_MANAGER"]) / "node_modules/requirejs/require.js"
    page.route("**/require.min.js", lambda route: route.fulfill(path=script))  # else of a CDN
    with running([*command, "--Voila.ip=127.0.0.1"], port, tmp_path):
        page.goto(url, wait_until="commit")
        page.locator(".jp-Cell-outputWrapper").nth(len(ITEMS) - 1).wait_for(timeout=120_000)
        results = looked_at(page, page.locator(".jp-Cell-outputWrapper"))
    check("voila", results)


@LONG
def test_nbconvert(tmp_path: Path, page: Any) -> None:
    from nbclient import NotebookClient
    from nbconvert import HTMLExporter

    notebook = the_notebook()
    NotebookClient(notebook, timeout=120, store_widget_state=True).execute()
    exporter = HTMLExporter(
        require_js_url="require.js", widget_renderer_url="embed-amd.js", mathjax_url=""
    )
    text, _ = exporter.from_notebook_node(notebook)
    own = '<script>require.config({paths: {anywidget: "anywidget"}})</script>'
    text = text.replace(
        '<script src="require.js"></script>', '<script src="require.js"></script>' + own
    )
    manager = Path(os.environ["ADK_HTML_MANAGER"]) / "node_modules"
    shutil.copy(manager / "requirejs/require.js", tmp_path)
    for file in (manager / "@jupyter-widgets/html-manager/dist").iterdir():
        shutil.copy(file, tmp_path)
    prefix = Path(nbformat.__file__).parents[4]
    source = prefix / "share/jupyter/nbextensions/anywidget/index.js"
    shutil.copy(source, tmp_path / "anywidget.js")
    (tmp_path / "items.html").write_text(text, encoding="utf-8")
    with served(tmp_path) as address:
        page.goto(f"{address}/items.html")
        results = looked_at(page, page.locator(".jp-Cell-outputWrapper"), has_python=False)
    check("nbconvert", results)


@LONG
def test_marimo(tmp_path: Path, page: Any) -> None:
    app = "import marimo\n\napp = marimo.App()\n\n"
    for item in ITEMS.values():
        lines = cell(item).replace("item", "_item").splitlines()
        app += "@app.cell\ndef _():\n"
        app += "".join(f"    {line}\n" if line else "\n" for line in lines) + "    return\n\n\n"
    (tmp_path / "app.py").write_text(app + 'if __name__ == "__main__":\n    app.run()\n')
    port = free_port()
    url = f"http://127.0.0.1:{port}/"
    command = [sys.executable, "-m", "marimo", "run", "app.py", "--headless", f"--port={port}"]
    with running([*command, "--no-token"], port, tmp_path):
        page.goto(url)
        places = page.locator(".output-area")
        places.nth(len(ITEMS) - 1).wait_for(timeout=120_000)
        results = looked_at(page, places)
    check("marimo", results)


@LONG
def test_site(page: Any) -> None:
    from autodiff_kit.site.trial import open_lesson, ready

    with served(Path(os.environ["ADK_SITE"])) as address:
        open_lesson(page, f"{address}/", "00_start_here.ipynb")
        ready(page)
        page.evaluate(
            """async ([path, content]) => {
              const { jupyterapp } = document.querySelector('#notebook').contentWindow;
              const { contents } = jupyterapp.serviceManager;
              await contents.save(path, { type: 'notebook', format: 'json', content });
            }""",
            ["items.ipynb", json.loads(nbformat.writes(with_kernel(the_notebook())))],
        )
        page.goto(f"{address}/notebooks/index.html?path=items.ipynb")
        page.wait_for_function(
            "window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel"
        )
        page.evaluate(
            """async () => {
              const panel = jupyterapp.shell.currentWidget, { sessionContext } = panel;
              await panel.context.ready; await sessionContext.ready;
              const { kernel } = sessionContext.session;
              await kernel.requestExecute({ code: 'None', silent: true }).done;
              await jupyterapp.commands.execute('notebook:run-all-cells');
            }"""
        )
        results = looked_at(page, page.locator(".jp-CodeCell .jp-Cell-outputWrapper"))
    check("site", results)


def with_kernel(notebook: Any) -> Any:
    from autodiff_kit.site.contents import KERNELSPEC

    notebook.metadata.kernelspec = KERNELSPEC
    return notebook
