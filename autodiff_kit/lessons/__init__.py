"""What the lessons' notebooks need besides the kit itself: questions, and the learner's progress.

After reading you know the names a lesson imports. Nothing here loads Jupyter before a question
is really asked. Read next: ``predict.py``.
"""

from autodiff_kit.lessons.predict import predict, recall, show_progress
from autodiff_kit.lessons.verdicts import verdicts

__all__ = ["predict", "recall", "show_progress", "verdicts"]
