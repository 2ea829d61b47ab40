"""Say why a name that an exercise asks for is not in a notebook, as far as the file shows it.

After reading this file you can say what is known of a cell that was made Markdown, and of a
notebook of another exercise. Read next: ``marking.py``.
"""

from __future__ import annotations

import inspect
import json
import re
from typing import Any

import numpy as np

from autodiff_kit.grading.calls import Call, Limits, Runner, Work
from autodiff_kit.grading.exercise import Exercise
from autodiff_kit.grading.places import grade_ids

__all__ = ["why_absent"]

LOOKING = Limits(seconds=3, memory=512, total=3)


def why_absent(exercise: Exercise, work: Work, runner: Runner) -> dict[str, str]:
    """Return for each name that an exercise asks for why a notebook does not define it.

    Parameters
    ----------
    exercise : Exercise
    work : Work
        As it was handed in.
    runner : Runner
        Where the notebook is looked into: it may have been made to harm its reader.

    Returns
    -------
    dict of name to one sentence
    """
    names = [name for step in exercise.steps for name in step.names]
    if work.suffix != ".ipynb":
        return dict.fromkeys(names, "Is it still there?")
    driver = f"import json\nimport re\n{inspect.getsource(grade_ids)}\n"
    driver += f"{inspect.getsource(_seen)}\ndrive = _seen\n"
    question = {"data": np.frombuffer(work.data, np.uint8), "names": names}
    (reply,) = runner.run_calls("", [Call(driver, question, is_example=True)], LOOKING)
    facts = reply.value if isinstance(reply.value, dict) else {}
    numbers = [part for part in facts.get("numbers", ()) if re.fullmatch(r"e\d+", part)]
    why = "Is its cell still there?"
    if not facts.get("code", True):
        why = "The notebook has no code in it."
    elif numbers and exercise.name.partition("_")[0] not in numbers:
        others = " and ".join(number[1:] for number in numbers[:3])
        why = f"The notebook's cells are those of exercise {others}."
    outside = facts.get("outside", ())
    where = "It stands in a cell that is not of the type Code: change that back, and run the cell."
    return {name: where if name in outside else why for name in names}


def _seen(step: Any, data: Any) -> Any:
    """Return which names are defined outside of code cells, whose cells there are, and if any."""
    raw = data["data"].tobytes()
    try:
        cells = json.loads(raw)["cells"]
        texts = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    except (ValueError, KeyError, TypeError):
        return {}
    other = "\n".join(text for kind, text in texts if kind != "code")
    return {
        "outside": [n for n in data["names"] if re.search(rf"(?m)^(def|class) {n}\b", other)],
        "numbers": sorted({name.partition("-")[0] for name in grade_ids(raw)})[:50],
        "code": any(kind == "code" and text.strip() for kind, text in texts),
    }
