"""The command ``autodiff-kit site``: build a site, and see whether it works.

Read next: ``build.py``.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import click

from autodiff_kit.grading.exercise import ExerciseError
from autodiff_kit.grading.learner import for_lessons
from autodiff_kit.lessons import library
from autodiff_kit.lessons.normalise import NotebookError
from autodiff_kit.site import STATIC, SiteError, require_jupyterlite

__all__ = ["site"]


@click.command()
@click.argument("out", type=click.Path(path_type=Path), required=False)
@click.option("--title", default="", help="Of the course, on the first page.")
@click.option(
    "--course",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder with your own notebooks; they come first.",
)
@click.option(
    "--pyodide",
    default="",
    help="URL or folder of a release of Pyodide. With a folder, the site needs no other host.",
)
@click.option(
    "--wheels",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder with wheels that need not be downloaded.",
)
@click.option("--check", is_flag=True, help="Open it in Chromium and run all lessons.")
@click.option("--workflow", is_flag=True, help="Print a workflow that publishes it, and stop.")
def site(
    out: Path | None,
    title: str,
    course: Path | None,
    pyodide: str,
    wheels: Path | None,
    check: bool,
    workflow: bool,
) -> None:
    """Build a site in which lessons and exercises run in the browser, and nothing is installed.

    OUT is a folder of static files: put it on any web server, and send learners the link. A site
    that is there is replaced; files of your own in its folder stay. It is made of JupyterLite, of
    Pyodide (Python for browsers) and of this kit. Nothing that learners do is sent anywhere: their
    work stays in their browser, and they can take it along as a file.

    If you name no --pyodide, the browser gets Python from the public address that JupyterLite
    names. For a classroom without internet, unpack a release of Pyodide and name its folder.

    \b
    Examples:
      autodiff-kit site public                        lessons and exercises
      autodiff-kit site public --course my-lessons    your own notebooks first
      autodiff-kit site public --pyodide ~/pyodide    with all that it needs
      autodiff-kit site public --pyodide ~/pyodide --check
    """  # noqa: D301 - click reads \b as "leave these lines as they are"
    if workflow:
        click.echo(STATIC.joinpath("workflow.yml").read_text(encoding="utf-8"), nl=False)
        return
    if out is None:
        raise click.UsageError("Name the folder to write: autodiff-kit site public")
    try:
        require_jupyterlite()  # before anything is imported that comes with it
        build = importlib.import_module("autodiff_kit.site.build")
        build.build(
            out,
            exercises=for_lessons(),
            course=course,
            pyodide=pyodide,
            wheels=wheels,
            title=title,
            say=click.echo,
        )
        size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
        click.echo(f"Site: {out.resolve()} ({size / 1e6:.0f} MB). Its first page: index.html")
        if check:
            _check_site(out)
        else:
            click.echo(f"Look at it:  python -m http.server -d {out} 8000")
    except (SiteError, library.LibraryError, ExerciseError, NotebookError) as error:
        raise click.ClickException(str(error)) from error


def _check_site(out: Path) -> None:
    """Open each lesson as a learner would; exit code 1 if something is wrong."""
    trial = importlib.import_module("autodiff_kit.site.trial")
    about = json.loads((out / "autodiff-kit-site.json").read_text(encoding="utf-8"))
    if about["needs"]:
        raise SiteError(
            "The site is built, but it loads Python from elsewhere, and --check reaches nothing "
            "but this machine.\n-> Build and check one that brings it along: --pyodide FOLDER"
        )
    is_fine = True
    with trial.in_chromium(out) as (browser, address):
        for path in about["lessons"]:
            result = trial.tried(browser, address, path)
            is_fine &= result.is_fine
            times = f"first look {result.look:.1f} s, Python {result.start:.1f} s"
            times += f", cells {result.run:.1f} s"
            click.echo(f"{'ok ' if result.is_fine else 'BAD'} {path}: {times}")
            if result.undone:
                click.echo(f"    {result.undone} of {result.cells} cells did not run")
            for problem in (*result.errors, *result.requests):
                click.echo(f"    {problem.strip().splitlines()[-1]}")
    if not is_fine:
        sys.exit(1)
