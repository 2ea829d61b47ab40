"""Judges answers: for grading outside of the learner's process; the oracle of judge.mjs.

Whether an answer is right, and which mistake a wrong one shows, is a comparison with the script.

After reading you can say why a right answer is never called wrong: what counts is its value, as
recorded and where its names stand for other numbers, and right answers are looked at first. Read
next: ``walk.py``.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from autodiff_kit.view.perform.expressions import Unclear, evaluate, names_in, read, rounding
from autodiff_kit.view.perform.script import Answer, Mark, Slip, Task, Tensor

__all__ = ["RELATIVE", "Verdict", "judge"]

RELATIVE = 1e-3  # how far a value may be off, of the largest element

Response = str | Sequence[str]


class Verdict(NamedTuple):
    """What came of an answer; ``unclear`` is one that cannot be read, and no try is counted."""

    outcome: Literal["right", "wrong", "unclear"]
    text: str
    misconceptions: Sequence[str] = ()
    marks: Sequence[Mark] = ()


def judge(task: Task, response: Response) -> Verdict:
    """Say whether an answer is right, and if not, which mistake it shows.

    Parameters
    ----------
    task : dict
        Of a script.
    response : str or sequence of str
        What was typed or chosen; of several boxes or options, all of them.

    Returns
    -------
    Verdict
    """
    if task["kind"] == "value":
        return _judge_value(task, str(response))
    chosen = {response} if isinstance(response, str) else set(response)
    if not chosen - {""}:
        return Verdict("unclear", "Choose an answer first. A guess is fine.")
    if any(_is_chosen(answer, chosen) for answer in task["answers"]):
        return Verdict("right", task["right"])
    return _told([slip for slip in task["slips"] if _shows(slip["answer"], chosen)][:1], task)


def _is_chosen(answer: Answer, chosen: set[str]) -> bool:
    return chosen == ({answer["one"]} if "one" in answer else set(answer.get("all", ())))


def _shows(answer: Answer, chosen: set[str]) -> bool:
    """Tell whether a choice shows a slip: this very one, or one that holds the box of it."""
    return answer["one"] in chosen if "one" in answer else chosen == set(answer.get("all", ()))


def _judge_value(task: Task, text: str) -> Verdict:
    if text.strip().strip("`").strip() in ("None", "none"):
        if any(answer.get("none") for answer in task["answers"]):
            return Verdict("right", task["right"])
        return _told([slip for slip in task["slips"] if slip["answer"].get("none")], task)
    try:
        tree = read(text)
        values = _values(tree, task)
    except Unclear as problem:
        return Verdict("unclear", str(problem))
    within = rounding(text)
    if any(_is_value(answer, values, within) for answer in task["answers"]):
        return Verdict("right", task["right"])
    slips = [slip for slip in task["slips"] if _is_value(slip["answer"], values, within)]
    return _told(slips or [s for s in task["slips"] if s["answer"].get("number")], task)


def _values(tree: ast.expr, task: Task) -> dict[int, Any]:
    """Return the value of an answer by point: as recorded, and where just its names vary."""
    used = sorted(names_in(tree))
    points = [0, *(k for k, varied in enumerate(task["varied"]) if k and varied == used)]
    return {
        point: evaluate(tree, {name: _array(at[point]) for name, at in task["names"].items()})
        for point in points
    }


def _array(tensor: Tensor) -> Any:
    return np.array(tensor["data"], dtype=float).reshape(tensor["shape"])


def _is_value(answer: Answer, values: dict[int, Any], within: float) -> bool:
    """Tell whether an answer is this value, wherever both are known."""
    expected = answer.get("at", ())
    return bool(expected) and all(
        is_close(value, _array(expected[point]), within)
        for point, value in values.items()
        if point < len(expected)
    )


def is_close(value: Any, right: Any, within: float = 0.0) -> bool:
    """Tell whether two arrays have one shape, and elements that are about the same."""
    if value.shape != right.shape:
        return False
    if not value.size:
        return True
    bound = max(RELATIVE * float(np.abs(right).max()), 1e-6, within)
    return bool((np.abs(value - right) <= bound).all())


def _told(slips: Sequence[Slip], task: Task) -> Verdict:
    """Say what is wrong; two mistakes that give the same value are both named as possible."""
    if not slips:
        return Verdict("wrong", task["otherwise"])
    names = list(dict.fromkeys(name for slip in slips for name in slip["is"]))
    texts = list(dict.fromkeys(slip["text"] for slip in slips))
    if len(texts) > 1:
        texts[0] = f"Two mistakes give this value. {texts[0]}"
        texts[1:] = [f"Or: {text}" for text in texts[1:]]
    return Verdict("wrong", " ".join(texts), names, [m for slip in slips for m in slip["marks"]])
