"""The ``autodiff-kit`` command: open the lessons, and see what works on this machine.

After reading this file you can say what ``lab`` and ``doctor`` look at and in which order. It
starts JupyterLab in this same process, so that Ctrl+C means what it always means there. Read
next: ``autodiff_kit/lessons/library.py``, which makes the learner's copy of the lessons.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import click
from rich import box
from rich.console import Console
from rich.table import Table

import autodiff_kit
from autodiff_kit.grading.commands import COMMANDS, isolation
from autodiff_kit.grading.exercise import ExerciseError
from autodiff_kit.grading.learner import for_lessons
from autodiff_kit.grading.places import EXERCISES, LESSONS, latest, lessons_around, remember
from autodiff_kit.lessons import library
from autodiff_kit.site.command import site

__all__ = ["main"]

DEFAULT_PORT = 8888
TORCH = "2.13.0"
# Defaults for JupyterLab (widgets are saved with the notebook, no news are fetched). They stand
# below the learner's own settings: what was chosen in JupyterLab itself wins.
JUPYTER_CONFIG = Path(__file__).parent / "lessons" / "jupyter_config"
_FOLDER = click.argument("folder", required=False, type=click.Path(path_type=Path))


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(autodiff_kit.__version__, prog_name="autodiff-kit")
def cli() -> None:
    """See computation graphs grow, and gradients flow back, in your own code.

    \b
    Start here:
      autodiff-kit lab        copy the lessons and open them in JupyterLab
      autodiff-kit doctor     see what works on this machine, and fix the rest

    \b
    More about a command:
      autodiff-kit lab --help
    """  # noqa: D301 - click reads \b as "leave these lines as they are"


@cli.command()
@_FOLDER
@click.option("--no-browser", is_flag=True, help="Start JupyterLab, but open no browser.")
@click.option("--port", type=click.IntRange(1, 65535), help="Use this port and no other.")
@click.option("--copy-only", is_flag=True, help="Copy the lessons and stop there.")
def lab(folder: Path | None, no_browser: bool, port: int | None, copy_only: bool) -> None:
    """Open your lessons in JupyterLab; the first time, copy them to FOLDER.

    If you name no FOLDER, the lessons in or around the current folder are opened, else those of
    last time. If there are none yet, they are copied into the current folder.

    The exercises come along, in FOLDER/autodiff-kit-exercises: there `autodiff-kit check`,
    `submit` and `status` look for your work, whichever folder you call them in.

    FOLDER is yours. What you changed in it is never overwritten: run this again after an upgrade,
    and a new version of a lesson you worked on is put beside it. To start a lesson afresh, delete
    or rename it and run this again.

    \b
    Examples:
      autodiff-kit lab                      your lessons, on any day
      autodiff-kit lab ~/graphs             lessons in a folder of your choice
      autodiff-kit lab --port 9000          on this port and no other
      autodiff-kit lab --copy-only          for VS Code or a Jupyter of your own
    """  # noqa: D301 - click reads \b as "leave these lines as they are"
    folder = _outside_of_others(folder) if folder else _own_lessons()
    try:
        report = library.copy_lessons(
            library.find(), folder, autodiff_kit.__version__, for_lessons()
        )
    except (library.LibraryError, ExerciseError) as error:
        raise click.ClickException(str(error)) from error
    remember(folder)
    _say_copied(report, folder.resolve())
    if copy_only:
        return
    if not _is_there("jupyterlab"):
        raise click.ClickException(
            "JupyterLab is not installed beside autodiff_kit.\n"
            '-> Install it:  pip install "autodiff_kit[lab]"\n'
            f"-> Or open the folder in a Jupyter of your own:  {folder.resolve()}"
        )
    free_port = _choose_port(port)
    _start_jupyterlab(folder.resolve(), free_port, port is not None, no_browser)


def _own_lessons() -> Path:
    """Return the learner's copy of the lessons, or where it will be; say so where it is far."""
    here, last = lessons_around(Path.cwd()), latest()
    if here is None and last is not None:
        click.echo(f"Opening the lessons of last time. For others, here: {_lab_in(Path(LESSONS))}")
    elif here is not None and last is not None and here.resolve() != last.resolve():
        click.echo(f"Opening the lessons here. For those of last time: {_lab_in(last)}")
    return here or last or Path(LESSONS)


def _outside_of_others(folder: Path) -> Path:
    """Return the folder that was named; refuse to lay lessons into other ones."""
    for around in folder.resolve().parents:
        if (around / library.RECORD).is_file() and not (folder / library.RECORD).is_file():
            raise click.ClickException(
                f"{folder} would lie in your lessons {around}, as a second copy without your work."
                f"\n-> Open those: {_lab_in(around)}\n-> Or name a folder outside of them."
            )
    return folder


def _lab_in(folder: Path) -> str:
    """Return the command that opens lessons, as a terminal takes it."""
    return f"autodiff-kit lab {subprocess.list2cmdline([str(folder)])}"


def _say_copied(report: library.Report, folder: Path) -> None:
    counts = (
        f"{len(report.new)} new, {len(report.updated)} updated, {len(report.same)} as they were"
    )
    click.echo(f"Lessons: {folder}\nExercises: {folder / EXERCISES}\nFiles: {counts}")
    if report.record_was_damaged:
        click.echo(f"{library.RECORD} could not be read: files that differ were taken as yours.")
    for mine, copy in report.offered.items():
        click.echo(f"You changed {mine}; it was left alone. The new version is {copy}.")
    for mine, lesson in report.retired.items():
        click.echo(f"You changed {mine}; it was left alone. This lesson is {lesson} now.")


def _choose_port(requested: int | None) -> int:
    """Return the port to use: the wanted one or none; else the default or the next free one."""
    if requested is not None:
        if _is_taken(requested):
            raise click.ClickException(
                f"Port {requested} is taken by another program.\n"
                "-> Name another one, or leave out --port and a free one is chosen."
            )
        return requested
    for port in range(DEFAULT_PORT, DEFAULT_PORT + 100):
        if not _is_taken(port):
            if port != DEFAULT_PORT:
                click.echo(f"Port {DEFAULT_PORT} is taken; using {port}.")
            return port
    raise click.ClickException(
        f"The ports {DEFAULT_PORT} to {DEFAULT_PORT + 99} are all taken.\n"
        "-> Name a free one with --port."
    )


def _is_taken(port: int) -> bool:
    with socket.socket() as probe:
        if os.name == "posix":  # as Jupyter does; a port just left by a server counts as free
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False


def _start_jupyterlab(folder: Path, port: int, only_this_port: bool, no_browser: bool) -> None:
    """Run JupyterLab until the learner ends it."""
    # A workspace of its own: the learner's usual layout of JupyterLab stays as it is.
    page = "/lab/workspaces/autodiff-kit"
    if (folder / library.FIRST_LESSON).is_file():
        page += f"/tree/{library.FIRST_LESSON}"
    arguments = [
        f"--ServerApp.root_dir={folder}",
        f"--ServerApp.port={port}",
        f"--LabApp.default_url={page}",
    ]
    if only_this_port:
        arguments.append("--ServerApp.port_retries=0")
    if no_browser:
        arguments.append("--ServerApp.open_browser=False")
    if getattr(os, "geteuid", lambda: -1)() == 0:
        # Jupyter refuses to run as root unless told so; in a container root is all there is.
        arguments.append("--allow-root")
    others = os.environ.get("JUPYTER_CONFIG_PATH")
    paths = [str(JUPYTER_CONFIG), *([others] if others else [])]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(paths)
    # A terminal opened in JupyterLab knows `autodiff-kit`, also where no environment is active.
    here = str(Path(sys.executable).parent)
    os.environ["PATH"] = os.pathsep.join([here, os.environ.get("PATH", os.defpath)])

    click.echo("Starting JupyterLab. To end it, press Ctrl+C here.")
    importlib.import_module("jupyterlab.labapp").LabApp.launch_instance(arguments)


class Finding(NamedTuple):
    """One line of the doctor's screen.

    Attributes
    ----------
    what : str
        The thing looked at.
    state : str
        ``"ok"``, ``"optional"`` (not there, and a learner does not need it) or ``"problem"``.
    detail : str
        What is there.
    fix : str
        What to do; empty when there is nothing to do.
    """

    what: str
    state: str
    detail: str
    fix: str = ""


@cli.command()
@_FOLDER
def doctor(folder: Path | None) -> None:
    """Say what works on this machine, and how to fix what does not.

    Exit code 0: all that a learner needs is there. Lines marked 'optional' are for those who
    develop the kit or grade exercises.

    \b
    Examples:
      autodiff-kit doctor                   this machine
      autodiff-kit doctor ~/graphs          and your lessons in that folder
    """  # noqa: D301 - click reads \b as "leave these lines as they are"
    own = folder or lessons_around(Path.cwd()) or latest() or Path(LESSONS)
    findings = list(_examine(own))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading in ("what", "state", "found  (-> how to fix it)"):
        table.add_column(heading, overflow="fold")
    styles = {"ok": "green", "optional": "dim", "problem": "bold red"}
    for finding in findings:
        text = finding.detail + (f"\n-> {finding.fix}" if finding.fix else "")
        # The state is a word; its colour only repeats it.
        table.add_row(finding.what, f"[{styles[finding.state]}]{finding.state}[/]", _plain(text))
    Console(highlight=False, emoji=False).print(table)
    problems = [finding.what for finding in findings if finding.state == "problem"]
    if problems:
        click.echo(f"\nTo fix before the lessons can run: {', '.join(problems)}.")
        sys.exit(1)
    click.echo("\nAll that a learner needs is here. Next: autodiff-kit lab")


def _plain(text: str) -> str:
    """Keep brackets from being read as markup."""
    return text.replace("[", r"\[")


def _examine(folder: Path) -> Iterator[Finding]:
    yield Finding("Python", "ok", f"{platform.python_version()}  {sys.executable}")
    yield _packages()
    yield _jupyterlab()
    yield _widget_front_end()
    yield _lessons()
    yield _progress(folder)
    yield _program("Node", ("node",), "--version", "apt install nodejs (to test the drawing code)")
    yield _program(
        "Chromium",
        ("chromium", "chromium-browser", "google-chrome"),
        "--version",
        "apt install chromium (for the browser tests)",
    )
    yield _optional_package(
        "playwright", 'pip install "autodiff_kit[browser]" (for the browser tests)'
    )
    yield _torch()
    yield _grading()


def _packages() -> Finding:
    names = ("numpy", "ipywidgets", "anywidget", "matplotlib")
    versions = []
    for name in names:
        try:
            importlib.import_module(name)
        except Exception as error:  # a broken install can raise anything
            return Finding(
                "packages",
                "problem",
                f"import {name}: {type(error).__name__}: {error}",
                f"pip install --force-reinstall {name}",
            )
        versions.append(f"{name} {_version(name)}")
    return Finding("packages", "ok", ", ".join(versions))


def _jupyterlab() -> Finding:
    if not _is_there("jupyterlab") or not _is_there("ipykernel"):
        return Finding(
            "JupyterLab",
            "problem",
            "not installed beside autodiff_kit",
            'pip install "autodiff_kit[lab]"',
        )
    versions = f"JupyterLab {_version('jupyterlab')}, kernel: ipykernel {_version('ipykernel')}"
    return Finding("JupyterLab", "ok", versions)


def _widget_front_end() -> Finding:
    """Look for the browser's half of the widgets, where JupyterLab looks for it."""
    if not _is_there("jupyter_core"):
        return Finding("widgets", "problem", "no Jupyter here", 'pip install "autodiff_kit[lab]"')
    places = importlib.import_module("jupyter_core.paths").jupyter_path("labextensions")
    owners = {"@jupyter-widgets/jupyterlab-manager": "jupyterlab_widgets", "anywidget": "anywidget"}
    for extension, package in owners.items():
        if not any((Path(place) / extension / "package.json").is_file() for place in places):
            return Finding(
                "widgets",
                "problem",
                f"JupyterLab cannot find the extension {extension}",
                f"pip install --force-reinstall {package}",
            )
    return Finding("widgets", "ok", "front ends of ipywidgets and anywidget are installed")


def _lessons() -> Finding:
    try:
        folder = library.find()
    except library.LibraryError as error:
        finding, fix = str(error).split("\n-> ")
        return Finding("lessons", "problem", finding, fix)
    count = len(list(folder.glob("*.ipynb")))
    if not count:
        fix = "pip install --force-reinstall autodiff_kit"
        return Finding("lessons", "problem", f"none in {folder}", fix)
    return Finding("lessons", "ok", f"{count} in {folder}")


def _progress(folder: Path) -> Finding:
    """See whether answers can be kept; the file itself comes with the first answer."""
    path = library.progress_file(folder).absolute()
    place = next(parent for parent in path.parents if parent.is_dir())
    try:
        with tempfile.TemporaryFile(dir=place):
            return Finding("progress", "ok", f"can be kept in {path}")
    except OSError as error:
        finding = f"cannot be kept in {place} ({error.strerror})"
        return Finding(
            "progress", "problem", finding, "Use a folder of your own: autodiff-kit lab FOLDER"
        )


def _program(what: str, names: tuple[str, ...], question: str, fix: str) -> Finding:
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        return Finding(what, "optional", "not found", fix)
    works, answer = _run(path, question)
    if not works:
        return Finding(what, "optional", f"{path} does not run: {answer}", fix)
    return Finding(what, "ok", answer.split(" built on ")[0])


def _optional_package(name: str, fix: str) -> Finding:
    version = _version(name)
    if version is None:
        return Finding(name, "optional", "not installed", fix)
    return Finding(name, "ok", version)


def _torch() -> Finding:
    version = _version("torch")
    fix = f'pip install "autodiff_kit[parity]" (to compare with PyTorch {TORCH})'
    if version is None:
        return Finding("torch", "optional", "not installed", fix)
    if version.split("+")[0] != TORCH:  # "+cpu" and the like name the build
        return Finding("torch", "optional", version, fix)
    return Finding("torch", "ok", f"{version}, the version the kit is compared with")


def _grading() -> Finding:
    """Isolate a snippet, in the ways that `grade` knows, and see where it stays in."""
    state, finding, fix = isolation()
    return Finding("grading", state, finding, fix)


def _run(*command: str) -> tuple[bool, str]:
    """Return whether a program ended well, and the first line of what it said."""
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return False, str(error)
    lines = (process.stdout + process.stderr).strip().splitlines()
    return process.returncode == 0, lines[0].strip() if lines else f"exit code {process.returncode}"


def _is_there(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


for _command in (*COMMANDS, site):
    cli.add_command(_command)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Callable[..., None] | None = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # a folder's name may not fit the terminal's encoding
            reconfigure(errors="replace")
    cli(prog_name="autodiff-kit")


if __name__ == "__main__":
    main()
