"""Widgets for Jupyter: step through a recording with mouse or keyboard.

After reading you know what can be imported from here, and that importing it also gives a notebook
the magic ``%%step``. Nothing else in the package needs Jupyter. Read next: ``stepper.py``, then
``base.py`` for what all widgets share.
"""

try:
    import anywidget  # noqa: F401 - and with it ipywidgets
    from IPython.core.getipython import get_ipython
except ModuleNotFoundError as error:

    class MissingPackageError(ModuleNotFoundError):
        """Says what to install, to a notebook in these words alone, without a traceback."""

        def _render_traceback_(self) -> list[str]:
            return [f"ModuleNotFoundError: {self}"]

    raise MissingPackageError(
        f"The Stepper and %%step need the package {error.name}, which is not installed here.\n"
        '-> Install it:  pip install "autodiff_kit[lab]"  (then restart the kernel)\n'
        '-> Or do without: with ak.record() as rec: ...; then rec.to_html("steps.html")',
        name=error.name,
    ) from None

from autodiff_kit.widgets.base import KitWidget
from autodiff_kit.widgets.magic import load_ipython_extension
from autodiff_kit.widgets.stepper import Stepper

__all__ = ["KitWidget", "Stepper", "load_ipython_extension"]

if shell := get_ipython():
    load_ipython_extension(shell)
