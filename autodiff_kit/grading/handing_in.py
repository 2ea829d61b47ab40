"""Hand in from inside a notebook, where there is no terminal: in a browser tab, for example.

After reading this file you can say what ``submit("04.accumulate")`` does that the command
``autodiff-kit submit`` does not: it offers the packed file for download. Read next:
``submit_command.py``.
"""

from __future__ import annotations

import base64
import html
import sys
from pathlib import Path

import click

from autodiff_kit.grading.learner import show_status
from autodiff_kit.grading.submit_command import pack
from autodiff_kit.grading.worker import HAS_PROCESSES

__all__ = ["Packed", "status", "submit"]


class Packed:
    """A file to hand in. In a browser tab, a notebook shows a link that downloads it.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __repr__(self) -> str:
        return f"To hand in: {self.path.name}"

    def _repr_html_(self) -> str | None:
        if HAS_PROCESSES:  # the file lies in the learner's folder
            return None
        data = base64.b64encode(self.path.read_bytes()).decode()
        name = html.escape(self.path.name)
        link = f"data:application/zip;base64,{data}"
        return f'<p><a download="{name}" href="{link}">Download {name}</a></p>'


def submit(key: str, *, yes: bool = False) -> Packed | None:
    """Pack your work on an exercise, as it was saved last, into a zip to hand in.

    It is tried first, as ``check`` does, and you hear what is missing, and whether what you ran
    last is not saved.

    Parameters
    ----------
    key : str
        Id of the exercise, such as ``"04.accumulate"``.
    yes : bool
        Pack it although steps are not attempted or not found, or a cell does not run.

    Returns
    -------
    Packed or None - None if nothing was packed; what is printed says why.
    """
    try:
        return Packed(pack(key, yes=yes, namespace=sys._getframe(1).f_globals))
    except click.ClickException as error:
        command = f"autodiff-kit submit {key} --yes"
        print(error.message.replace(command, f'submit("{key}", yes=True)'))
        return None


def status() -> None:
    """Print what you have begun, what was right at the last check, and what is packed."""
    try:
        show_status()
    except click.ClickException as error:
        print(error.message)
