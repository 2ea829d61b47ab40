"""Widgets for Jupyter: step through a recording with mouse or keyboard.

After reading you know what can be imported from here, and that importing it also gives a notebook
the magic ``%%step``. Nothing else in the package needs Jupyter. Read next: ``stepper.py``, then
``base.py`` for what all widgets share.
"""

from IPython.core.getipython import get_ipython

from autodiff_kit.widgets.base import KitWidget
from autodiff_kit.widgets.magic import load_ipython_extension
from autodiff_kit.widgets.stepper import Stepper

__all__ = ["KitWidget", "Stepper", "load_ipython_extension"]

if shell := get_ipython():
    load_ipython_extension(shell)
