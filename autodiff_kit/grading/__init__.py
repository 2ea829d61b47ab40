"""Graded exercises: feedback for learners, and a grader that believes values only.

The parent holds the questions' answers and judges; a child process runs the learner's code and
only returns numbers. Nothing is imported here before it is used. Read next: ``worker.py``.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autodiff_kit.grading.engine_cell import use_engine
    from autodiff_kit.grading.feedback import check, hidden_test, hint
    from autodiff_kit.grading.handing_in import status, submit
    from autodiff_kit.grading.mark_in_notebook import mark

__all__ = ["check", "hidden_test", "hint", "mark", "status", "submit", "use_engine"]


def __getattr__(name: str) -> Any:
    """Load what a notebook asks for when it asks."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "mark":  # a teacher's, with widgets
        from autodiff_kit.grading.mark_in_notebook import mark

        return mark
    from autodiff_kit.grading import engine_cell, feedback, handing_in

    modules = (engine_cell, feedback, handing_in)
    return getattr(next(module for module in modules if name in module.__all__), name)
