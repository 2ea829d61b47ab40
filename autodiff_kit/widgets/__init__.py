"""Widgets for Jupyter: step through a recording with mouse or keyboard.

After reading you know what can be imported from here, and that importing it also gives a notebook
the magics ``%%step`` and ``%%engine``. Nothing else in the package needs Jupyter. Read next:
``stepper.py``, then ``base.py`` for what all widgets share.
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
from autodiff_kit.widgets.batching import Batching
from autodiff_kit.widgets.be_the_engine import BeTheEngine
from autodiff_kit.widgets.beside import BesidePyTorch
from autodiff_kit.widgets.canvas import Canvas
from autodiff_kit.widgets.compare import Compare
from autodiff_kit.widgets.control_flow import ControlFlow
from autodiff_kit.widgets.costs import Costs
from autodiff_kit.widgets.descent import Descent
from autodiff_kit.widgets.grad_mode import GradMode
from autodiff_kit.widgets.histogram import GradientHistogram
from autodiff_kit.widgets.lab import Lab
from autodiff_kit.widgets.magic import load_ipython_extension
from autodiff_kit.widgets.memory import MemoryTimeline
from autodiff_kit.widgets.slope import Slope
from autodiff_kit.widgets.step_through import StepThrough
from autodiff_kit.widgets.stepper import Stepper
from autodiff_kit.widgets.stories import ErrorStory
from autodiff_kit.widgets.training import GradientFlow

__all__ = [
    "Batching",
    "BeTheEngine",
    "BesidePyTorch",
    "Canvas",
    "Compare",
    "ControlFlow",
    "Costs",
    "Descent",
    "ErrorStory",
    "GradMode",
    "GradientFlow",
    "GradientHistogram",
    "KitWidget",
    "Lab",
    "MemoryTimeline",
    "Slope",
    "StepThrough",
    "Stepper",
    "load_ipython_extension",
]

if shell := get_ipython():
    load_ipython_extension(shell)
