"""The kit in a link: a folder of static files in which lessons run without an install.

After reading you can say what ``autodiff-kit site OUT`` puts together, and which file does which
part of it:

- ``pyodide.py``: which packages the Python in the browser needs, and where each comes from;
- ``contents.py``: the notebooks that learners get there;
- ``first_look.py``: for each lesson a program to step through while Python starts;
- ``pages.py``: the page with all lessons, and the page around an open one;
- ``build.py``: all of it in one folder, with JupyterLite;
- ``trial.py``: opens the site in a real Chromium and says what it saw;
- ``command.py``: the command itself.

Read next: ``build.py``.
"""

import importlib.util
from pathlib import Path

__all__ = ["STATIC", "SiteError", "require_jupyterlite"]

STATIC = Path(__file__).with_name("static")


class SiteError(Exception):
    """What keeps a site from being built, and what to do about it."""


def require_jupyterlite() -> None:
    """Stop where what builds a site is not installed; the message says how to get it."""
    if not all(map(importlib.util.find_spec, ("jupyterlite_core", "jupyterlite_pyodide_kernel"))):
        raise SiteError(
            "JupyterLite is not installed beside autodiff_kit.\n"
            '-> Install it:  pip install "autodiff_kit[site]"'
        )
