"""Widgets for JupyterLab, Notebook 7 and their relatives: step through a recording with mouse or keyboard.

After reading you know what can be imported from here. Nothing else in the package needs Jupyter.
Read next: ``stepper.py``, then ``base.py`` for what all widgets share.
"""

from autodiff_kit.widgets.base import KitWidget
from autodiff_kit.widgets.stepper import Stepper

__all__ = ["KitWidget", "Stepper"]
