"""The learner performs: questions about a recording, and answers that say which mistake was made.

``perform_script(recording)`` makes a script, plain data; ``Walk(script)`` goes through it and
judges. After reading you know where each part is: ``script.py`` says what a script holds, and
``walk.py`` how it is performed. Read next: ``script.py``.
"""

from autodiff_kit.view.perform.context import PerformError
from autodiff_kit.view.perform.judging import Verdict, judge
from autodiff_kit.view.perform.making import perform_script
from autodiff_kit.view.perform.script import MISCONCEPTIONS, Script, Task
from autodiff_kit.view.perform.walk import Walk

__all__ = [
    "MISCONCEPTIONS",
    "PerformError",
    "Script",
    "Task",
    "Verdict",
    "Walk",
    "judge",
    "perform_script",
]
