"""The command line: what it does, and above all what it says when something is missing."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import types
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import autodiff_kit
from autodiff_kit import cli
from autodiff_kit.grading import learner, sandbox
from autodiff_kit.lessons import library
from tests.grading.standing import tried_once

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}\n'


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.cli, arguments, prog_name="autodiff-kit")


@pytest.fixture(autouse=True)
def lessons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One lesson to copy, and a place of its own for whatever Jupyter writes."""
    folder = tmp_path / "kit" / "notebooks"
    folder.mkdir(parents=True)
    (folder / library.FIRST_LESSON).write_text(NOTEBOOK)
    monkeypatch.setattr(library, "find", lambda: folder)
    monkeypatch.setattr(cli, "for_lessons", dict)
    monkeypatch.setenv("ADK_HOME", str(tmp_path / "kit's memory"))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter data"))
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "theirs")
    monkeypatch.setattr(sandbox, "probe", tried_once)
    return folder


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Put a JupyterLab in place that only notes the arguments it was started with."""
    calls: list[list[str]] = []
    fake = types.ModuleType("jupyterlab.labapp")
    fake.LabApp = types.SimpleNamespace(launch_instance=calls.append)
    monkeypatch.setitem(sys.modules, "jupyterlab.labapp", fake)
    return calls


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that another program listens on."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


# -- lab ---------------------------------------------------------------------------------------


def test_lab_copies_the_lessons_and_opens_the_first_one(
    tmp_path: Path, started: list[list[str]]
) -> None:
    mine = tmp_path / "my lessons"

    result = run("lab", str(mine))

    assert result.exit_code == 0
    assert json.loads((mine / library.FIRST_LESSON).read_text()) == json.loads(NOTEBOOK)
    (arguments,) = started
    assert f"--ServerApp.root_dir={mine}" in arguments
    assert any(a.endswith("/tree/00_start_here.ipynb") for a in arguments)
    assert "--ServerApp.open_browser=False" not in arguments


def test_lab_without_a_folder_uses_autodiff_kit_lessons_in_the_current_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: list[list[str]]
) -> None:
    monkeypatch.chdir(tmp_path)

    run("lab")

    assert (tmp_path / "autodiff-kit-lessons" / library.FIRST_LESSON).is_file()


@pytest.mark.parametrize("place", ["graphs", "graphs/sub", "graphs/autodiff-kit-exercises", "far"])
def test_lab_without_a_folder_opens_the_lessons_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: list[list[str]], place: str
) -> None:
    mine, here = tmp_path / "graphs", tmp_path / place
    run("lab", str(mine), "--copy-only")
    here.mkdir(exist_ok=True)
    monkeypatch.chdir(here)

    output = run("lab").output

    assert f"--ServerApp.root_dir={mine}" in started[0]
    assert "0 new" in output
    assert ("lessons of last time" in output) == (place == "far")
    assert not (here / "autodiff-kit-lessons").exists()


def test_lab_beside_lessons_of_the_usual_name_opens_them_and_names_those_of_last_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: list[list[str]]
) -> None:
    monkeypatch.chdir(tmp_path)
    run("lab", "--copy-only")
    run("lab", "my other lessons", "--copy-only")

    output = run("lab").output

    assert f"--ServerApp.root_dir={tmp_path / 'autodiff-kit-lessons'}" in started[0]
    assert f'last time: autodiff-kit lab "{tmp_path / "my other lessons"}"' in output


def test_lab_lays_no_lessons_into_lessons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: list[list[str]]
) -> None:
    mine = tmp_path / "mine"
    run("lab", str(mine), "--copy-only")
    monkeypatch.chdir(mine)

    result = run("lab", "autodiff-kit-lessons")

    assert result.exit_code == 1
    assert f"-> Open those: autodiff-kit lab {mine}" in result.output
    assert not Path("autodiff-kit-lessons").exists()
    assert started == []


def test_no_browser_is_passed_on(tmp_path: Path, started: list[list[str]]) -> None:
    run("lab", str(tmp_path / "mine"), "--no-browser")

    assert "--ServerApp.open_browser=False" in started[0]


def test_copy_only_starts_nothing(tmp_path: Path, started: list[list[str]]) -> None:
    result = run("lab", str(tmp_path / "mine"), "--copy-only")

    assert result.exit_code == 0
    assert "1 new" in result.output
    assert started == []


def test_lab_brings_the_exercises_and_they_are_found_from_anywhere_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "for_lessons", learner.for_lessons)
    mine = tmp_path / "mine"

    laid_out = run("lab", str(mine), "--copy-only").output
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    begun = run("start", "01.graph").output

    assert f"Exercises: {mine / 'autodiff-kit-exercises'}" in laid_out
    assert f"Yours: {mine / 'autodiff-kit-exercises' / 'e01_graph.ipynb'}" in begun
    assert f"Your work lies in {mine / 'autodiff-kit-exercises'}" in run("status").output
    assert not Path("autodiff-kit-exercises").exists()


def test_status_says_of_no_folder_that_work_lies_in_it_if_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADK_HOME", str(tmp_path / "memory"))
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "autodiff-kit-exercises"

    before = run("status").output
    run("start", "01.graph")
    after = run("status").output

    assert "Your work lies in" not in before
    assert f"`autodiff-kit start` would put it in {place}." in before
    assert f"Your work lies in {place}" in after


def test_lab_tells_where_the_new_version_of_a_changed_lesson_is(
    tmp_path: Path, lessons: Path
) -> None:
    mine = tmp_path / "mine"
    run("lab", str(mine), "--copy-only")
    (mine / library.FIRST_LESSON).write_text("my own work")
    (lessons / library.FIRST_LESSON).write_text(NOTEBOOK.replace("5}", "4}"))

    result = run("lab", str(mine), "--copy-only")

    beside = f"00_start_here.new-{autodiff_kit.__version__}.ipynb"
    assert f"You changed {library.FIRST_LESSON}; it was left alone." in result.output
    assert f"The new version is {beside}." in result.output
    assert (mine / beside).is_file()


def test_lab_tells_when_its_record_was_damaged(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    run("lab", str(mine), "--copy-only")
    (mine / library.RECORD).write_text("{")

    result = run("lab", str(mine), "--copy-only")

    assert f"{library.RECORD} could not be read" in result.output


def test_without_jupyterlab_the_lessons_are_there_and_the_message_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine"
    monkeypatch.setattr(cli, "_is_there", lambda module: module != "jupyterlab")

    result = run("lab", str(mine))

    assert result.exit_code == 1
    assert 'pip install "autodiff_kit[lab]"' in result.output
    assert f"Jupyter of your own:  {mine}" in result.output
    assert (mine / library.FIRST_LESSON).is_file()


def test_a_folder_that_cannot_be_written_gives_a_message_and_starts_nothing(
    tmp_path: Path, started: list[list[str]]
) -> None:
    (tmp_path / "file").write_text("")

    result = run("lab", str(tmp_path / "file" / "mine"))

    assert result.exit_code == 1
    assert "Cannot write in the folder" in result.output
    assert "-> Name a folder of your own: autodiff-kit lab FOLDER" in result.output
    assert started == []


def test_a_wanted_port_that_is_taken_is_an_error(
    tmp_path: Path, taken: int, started: list[list[str]]
) -> None:
    result = run("lab", str(tmp_path / "mine"), "--port", str(taken))

    assert result.exit_code == 1
    assert f"Port {taken} is taken by another program." in result.output
    assert started == []


def test_a_wanted_port_that_is_free_is_used_and_no_other(
    tmp_path: Path, taken: int, started: list[list[str]]
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]

    run("lab", str(tmp_path / "mine"), "--port", str(free))

    assert f"--ServerApp.port={free}" in started[0]
    assert "--ServerApp.port_retries=0" in started[0]


def test_when_the_usual_port_is_taken_the_next_free_one_is_used_and_named(
    tmp_path: Path, taken: int, monkeypatch: pytest.MonkeyPatch, started: list[list[str]]
) -> None:
    monkeypatch.setattr(cli, "DEFAULT_PORT", taken)

    result = run("lab", str(tmp_path / "mine"))

    (port,) = (int(a.split("=")[1]) for a in started[0] if a.startswith("--ServerApp.port="))
    assert taken < port < taken + 100
    assert f"Port {taken} is taken; using {port}." in result.output


def test_jupyters_own_folders_of_settings_stay_in_use(
    tmp_path: Path, started: list[list[str]]
) -> None:
    run("lab", str(tmp_path / "mine"))

    ours, theirs = os.environ["JUPYTER_CONFIG_PATH"].split(os.pathsep)
    assert (Path(ours) / "labconfig" / "default_setting_overrides.json").is_file()
    assert theirs == "theirs"


# -- lab, with a real JupyterLab ---------------------------------------------------------------


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start ``autodiff-kit lab`` for a learner who has settings of their own; yield its address."""
    home = tmp_path_factory.mktemp("home")
    settings = home / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "themes.jupyterlab-settings").write_text('{"theme": "JupyterLab Dark"}')
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {
        "JUPYTER_TOKEN": "secret",
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
    }
    environment.pop("JUPYTER_CONFIG_PATH", None)
    # As in conftest.py: building a grammar of addresses is half of JupyterLab's start.
    (home / "without").mkdir()
    (home / "without" / "rfc3987_syntax.py").write_text("raise ImportError")
    paths = (str(home / "without"), environment.get("PYTHONPATH", ""))
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    command = ["-m", "autodiff_kit.cli", "lab", str(home / "mine"), "--no-browser"]
    with (home / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, *command, f"--port={port}"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            address = f"http://127.0.0.1:{port}"
            deadline = time.monotonic() + 60
            while not answers(address):
                assert process.poll() is None, (home / "log").read_text()
                assert time.monotonic() < deadline, (home / "log").read_text()
                time.sleep(0.3)
            yield address
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)


def answers(address: str) -> bool:
    try:
        ask(f"{address}/api")
    except OSError:
        return False
    return True


def ask(url: str) -> dict[str, Any]:
    request = urllib.request.Request(url, headers={"Authorization": "token secret"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return dict(json.load(answer))


def test_jupyterlab_serves_the_copied_lessons(server: str) -> None:
    listing = ask(f"{server}/api/contents")

    names = [entry["name"] for entry in listing["content"]]
    assert library.FIRST_LESSON in names


def test_jupyterlab_saves_widgets_with_the_notebook(server: str) -> None:
    plugin = ask(f"{server}/lab/api/settings/@jupyter-widgets/jupyterlab-manager:plugin")

    properties = plugin["schema"]["properties"]
    assert properties["saveState"]["default"] is True


def test_jupyterlab_keeps_the_learners_own_settings(server: str) -> None:
    plugin = ask(f"{server}/lab/api/settings/@jupyterlab/apputils-extension:themes")

    assert plugin["settings"] == {"theme": "JupyterLab Dark"}


# -- doctor ------------------------------------------------------------------------------------


def findings(folder: Path = ROOT) -> dict[str, cli.Finding]:
    return {finding.what: finding for finding in cli._examine(folder)}


def test_doctor_fits_one_screen_and_names_every_part() -> None:
    result = run("doctor")

    lines = result.output.splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 80
    for part in ("Python", "packages", "JupyterLab", "widgets", "lessons", "progress", "Node"):
        assert part in result.output
    for part in ("Chromium", "playwright", "torch", "grading"):
        assert part in result.output


def test_doctor_says_ok_in_words_and_exits_with_0_when_a_learner_has_all() -> None:
    result = run("doctor")

    assert result.exit_code == 0
    assert "All that a learner needs is here." in result.output


def test_doctor_exits_with_1_and_names_the_extra_when_jupyterlab_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cli, "_is_there", lambda module: module != "jupyterlab")

    result = run("doctor")

    assert result.exit_code == 1
    assert "problem" in result.output
    assert 'pip install "autodiff_kit[lab]"' in result.output
    assert "To fix before the lessons can run: JupyterLab." in result.output


def test_doctor_finds_a_package_that_is_installed_but_does_not_import(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)

    finding = findings()["packages"]

    assert finding.state == "problem"
    assert "import anywidget" in finding.detail


def test_doctor_finds_a_missing_front_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import jupyter_core.paths

    monkeypatch.setattr(jupyter_core.paths, "jupyter_path", lambda *_: [str(tmp_path)])

    finding = findings()["widgets"]

    assert finding.state == "problem"
    assert "@jupyter-widgets/jupyterlab-manager" in finding.detail
    assert "jupyterlab_widgets" in finding.fix


def test_doctor_finds_that_there_are_no_lessons(lessons: Path) -> None:
    (lessons / library.FIRST_LESSON).unlink()

    assert findings()["lessons"].state == "problem"


def test_doctor_finds_that_progress_can_be_kept_and_leaves_no_trace(tmp_path: Path) -> None:
    finding = findings(tmp_path / "not there yet")["progress"]

    assert finding.state == "ok"
    assert not (tmp_path / "not there yet").exists()


def test_doctor_finds_that_progress_cannot_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(cli.tempfile, "TemporaryFile", read_only)

    finding = findings(tmp_path)["progress"]

    assert finding.state == "problem"
    assert f"cannot be kept in {tmp_path} (Permission denied)" in finding.detail
    assert "autodiff-kit lab FOLDER" in finding.fix


@pytest.mark.parametrize("what", ["Node", "Chromium"])
def test_a_missing_program_is_optional(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli.shutil, "which", lambda _: None)

    finding = findings()[what]

    assert finding.state == "optional"
    assert finding.fix


@pytest.mark.parametrize("what", ["playwright", "torch"])
def test_a_missing_package_of_the_developers_is_optional(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = cli._version
    monkeypatch.setattr(cli, "_version", lambda name: None if name == what else there(name))

    finding = findings()[what]

    assert finding.state == "optional"
    assert "pip install" in finding.fix


@pytest.mark.parametrize(
    ("version", "state"), [("2.13.0", "ok"), ("2.13.0+cpu", "ok"), ("2.12.1", "optional")]
)
def test_doctor_knows_the_version_of_torch_to_compare_with(
    version: str, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "_version", lambda _: version)

    assert cli._torch().state == state


# -- help --------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [(), ("lab",), ("doctor",)])
def test_help_teaches_with_examples_in_80_columns(command: tuple[str, ...]) -> None:
    result = run(*command, "--help")

    assert result.exit_code == 0
    assert max(map(len, result.output.splitlines())) <= 80
    examples = [line for line in result.output.splitlines() if line.startswith("    autodiff-kit ")]
    assert examples
    assert all(line.count("autodiff-kit ") == 1 for line in examples)
    assert "\b" not in result.output


def test_version_is_the_packages() -> None:
    assert run("--version").output.strip().endswith(autodiff_kit.__version__)


def test_a_folder_whose_name_the_terminal_cannot_show_is_no_error(tmp_path: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-m", "autodiff_kit.cli", "lab", str(tmp_path / "Übung"), "--copy-only"],
        cwd=ROOT,
        env=os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert process.returncode == 0, process.stderr
    assert "bung" in process.stdout


def test_python_with_m_and_the_package_is_the_same_command() -> None:
    process = subprocess.run(
        [sys.executable, "-m", "autodiff_kit", "--help"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )

    assert process.stdout.startswith("Usage: autodiff-kit ")
    assert all(f"\n  {name} " in process.stdout for name in cli.cli.commands)
