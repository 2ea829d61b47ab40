"""Be the engine for points: a graph that is drawn for the learner, and answers that are handed in.

After reading this file you can say where the answers lie: beside the work as they are given, and,
once ``answers("17.one_pass")`` has run, as code in the notebook, with the number that the graph was
drawn by. The browser gets no answer (``view/perform/withholding.py``), and the grader makes the
graph again (``grading/performing.py``). Read next: ``card.py``.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import traitlets
from IPython.core.getipython import get_ipython

from autodiff_kit.free_form import Json, Namespace
from autodiff_kit.grading.checks import Performed
from autodiff_kit.grading.exercise import Exercise, ExerciseError
from autodiff_kit.grading.performing import (
    DRAWS,
    code_with,
    define,
    recording_of,
    source_of,
)
from autodiff_kit.grading.progress import keep, known
from autodiff_kit.view.payload import deflate
from autodiff_kit.view.perform.page import PerformPayload, perform_payload
from autodiff_kit.view.perform.walk import Walk
from autodiff_kit.view.perform.withholding import told_of, withheld
from autodiff_kit.widgets.base import Message
from autodiff_kit.widgets.be_the_engine import BeTheEngine

__all__ = ["Performance", "answered"]

KEPT = "performance"


class Performance(BeTheEngine):
    """The lab in which a graph is performed for points.

    Parameters
    ----------
    exercise : Exercise
        Of ``kind = "perform"``.
    folder : Path or None
        Where the answers are kept; None: in this process.

    Attributes
    ----------
    told : dict
        Questions that were asked, and numbers of the steps that are done.
    """

    told = traitlets.Dict().tag(sync=True)

    def __init__(self, exercise: Exercise, folder: Path | None) -> None:
        self._exercise, self._folder = exercise, folder
        entry = _kept(exercise, folder)
        self._draw = entry["draw"] if entry else secrets.randbelow(DRAWS)
        log = entry["log"] if entry else []
        performed = performed_by(exercise)
        recording = recording_of(source_of(performed.program, self._draw))
        super().__init__(recording, performed.only, level="exam", log=log)
        self._go_on(log)
        self._keep()
        self.observe(self._answered, "log")

    def _shown(self, payload: PerformPayload) -> PerformPayload:
        key = self._exercise.id
        closing = (
            f'Now run the next cell: `answers("{key}")` writes your answers into the notebook. '
            f'Then save it. `check("{key}")` says what was right.'
        )
        return withheld(payload, closing)

    def _answered(self, change: Message) -> None:
        if not change["new"] and change["old"]:  # begun again: another graph
            self._draw = secrets.randbelow(DRAWS)
            performed = performed_by(self._exercise)
            recording = recording_of(source_of(performed.program, self._draw))
            payload, self.picture = perform_payload(recording, performed.only)
            self.script = payload["script"]
            self._go_on([])
            self.payload = deflate(self._shown(payload))
        else:
            self._go_on(change["new"])
        self._keep()

    def _keep(self) -> None:
        keep(self._folder, self._exercise, **{KEPT: {"draw": self._draw, "log": self.log}})

    def _go_on(self, log: list[Any]) -> None:
        walk = Walk(self.script, is_exam=True)
        for response in _responses(log):
            if walk.task is not None and walk.answer(response).outcome == "unclear":
                walk.show()
        self.told = dict(told_of(walk))

    def __repr__(self) -> str:
        """Say what this is, the same for every learner."""
        return f"{self._exercise.id}: be the engine"

    def still(self) -> str:
        """Return a picture that is the same for every learner."""
        words = "Run this cell: a graph is drawn for you."
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" width="420" height="40">'
            f'<title>{words}</title><text x="8" y="26" font-family="sans-serif" '
            f'font-size="16" fill="#777">{words}</text></svg>'
        )


def performed_by(exercise: Exercise) -> Performed:
    """Return what is performed in an exercise.

    Raises
    ------
    ExerciseError
        If it is written, not performed.
    """
    performed = next((c.performed for c in exercise.checks if c.performed), None)
    if performed is None:
        raise ExerciseError(
            f"{exercise.id} is written, not performed.\n-> from autodiff_kit.grading import check; "
            f'check("{exercise.id}")'
        )
    return performed


def answered(exercise: Exercise, folder: Path | None, space: Namespace) -> str:
    """Write the answers into the cell that runs, and return what to say.

    Parameters
    ----------
    exercise : Exercise
    folder : Path or None
        Where the answers are kept.
    space : dict
        The notebook's ``globals()``: ``performance`` is defined in it.
    """
    entry = _kept(exercise, folder)
    responses = _responses(entry["log"]) if entry else []
    performed = performed_by(exercise)
    if entry is None or not responses:
        return f'Nothing is answered yet: run the cell with perform("{exercise.id}") above.'
    script = perform_payload(
        recording_of(source_of(performed.program, entry["draw"])), performed.only
    )[0]["script"]
    walk = Walk(script, is_exam=True)
    for response in responses:
        if walk.task is not None and walk.answer(response).outcome == "unclear":
            walk.show()
    code = f'# To write them anew: answers("{exercise.id}")\n{code_with(entry["draw"], responses)}'
    define(code, f"<answers to {exercise.id}>", space)
    shell = get_ipython()
    if shell is not None:
        shell.set_next_input(code, replace=True)
    rest = (
        "" if walk.task is None else " Not all questions are answered: the others count as wrong."
    )
    many = f"{len(responses)} answers are" if len(responses) > 1 else "1 answer is"
    return f"{many} in this cell now. Save the notebook.{rest}"


def _kept(exercise: Exercise, folder: Path | None) -> Json | None:
    """Return the number of the graph and what was answered; another version draws another one."""
    entry = known(folder, exercise).get(KEPT)
    if not isinstance(entry, dict) or not isinstance(entry.get("log"), list):
        return None
    draw = entry.get("draw")
    return entry if type(draw) is int and 0 <= draw < DRAWS else None


def _responses(log: list[Any]) -> list[Any]:
    entries = [entry for entry in log if isinstance(entry, list) and len(entry) > 1]
    return [entry[1] for entry in entries if entry[0] == "answer"]
