"""Find a learner's code in the notebook or interpreter that runs it.

After reading this file you can say which cells ``check("04.accumulate")`` takes: the newest that
define what is asked for, and those that these read. Read next: ``feedback.py``.
"""

from __future__ import annotations

import inspect
import json

from autodiff_kit.grading.calls import Work
from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.messages import Space
from autodiff_kit.grading.notebook import binding, defined, read_by

__all__ = ["code_in", "history"]


def code_in(namespace: Space, exercise: Exercise) -> Work:
    """Return the learner's code out of a notebook or interpreter that is running.

    Parameters
    ----------
    namespace : mapping
        Its globals.
    exercise : Exercise

    Returns
    -------
    Work - a notebook: for each name that is asked for the newest cell that defines it, in the order
    they ran; and so for the names that these cells read: helpers and imports in cells of their own.
    """
    run = history(namespace)
    tasks = [name for step in exercise.steps for name in step.names]
    numbers: set[int] = set()
    loose: list[str] = []
    names_of = [defined(cell) for cell in run]
    for name in tasks:
        cells = [number for number, names in enumerate(names_of) if name in names]
        if cells:
            numbers.add(cells[-1])
        elif name in namespace:
            try:
                loose.append(inspect.getsource(namespace[name]))
            except (OSError, TypeError):  # typed at a prompt that keeps no source: "not found"
                continue
    bound = [binding(cell) for cell in run]
    waiting = [*(run[number] for number in numbers), *loose]
    while waiting:
        for name in read_by(waiting.pop()):
            cells = [number for number, names in enumerate(bound) if name in names]
            if cells and not numbers & {*cells}:
                numbers.add(cells[-1])
                waiting.append(run[cells[-1]])
    sources = [*(run[n] for n in sorted(numbers)), *loose]
    code_cells = [{"cell_type": "code", "metadata": {}, "source": source} for source in sources]
    notebook = {"cells": code_cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return Work(json.dumps(notebook).encode(), ".ipynb")  # places are those of its cells


def history(namespace: Space) -> list[str]:
    """Return the cells that were run, in their order."""
    cells = namespace.get("In")
    return [str(cell) for cell in cells] if isinstance(cells, list) else []
