"""The smaller question of each task: it leads to the answer, and is not the answer.

After two wrong answers the learner can ask for it. After reading you know what each kind of task is
broken down to. Read next: ``building.py``, ``backward.py`` and ``afterwards.py``, which use these.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.view.perform.context import Context, bare_task, choice
from autodiff_kit.view.perform.script import Part, Task

__all__ = ["adds", "counted", "decided", "one_of", "places_read", "tensors_read", "yes_no"]


def one_of(
    part: Part, about: str, prompt: str, answer: str, texts: dict[str, str], /, **more: Any
) -> Task:
    """Return a smaller question with some answers to choose from."""
    return bare_task(
        "smaller", part, about, "choice", prompt, [{"one": answer}], options=choice(**texts), **more
    )


def yes_no(
    part: Part, about: str, prompt: str, is_so: bool, right: str, otherwise: str, **more: Any
) -> Task:
    """Return a smaller question that is answered by yes or no."""
    more |= {"right": right, "otherwise": otherwise}
    answer = "yes" if is_so else "no"
    return one_of(part, about, prompt, answer, {"yes": "Yes", "no": "No"}, **more)


def counted(
    part: Part, about: str, prompt: str, count: int, right: str, otherwise: str, **more: Any
) -> Task:
    """Return a smaller question that is answered by a small number."""
    texts = {str(k): str(k) for k in range(max(4, count + 2))}
    more |= {"right": right, "otherwise": otherwise}
    return one_of(part, about, prompt, str(count), texts, **more)


def tensors_read(context: Context, part: Part, about: str, node: int, right: str) -> Task:
    """Ask how many tensors an operation reads."""
    text = context.names.text(node)
    return counted(
        part,
        about,
        f"How many different tensors does `{text}` read?",
        len(context.tensors(context.nodes[node])),
        right,
        f"Look at the expression `{text}`: which names and parts of it are tensors?",
        node=context.box(node),
        where=context.nodes[node]["where"],
    )


def places_read(context: Context, part: Part, about: str, node: int, name: str) -> Task:
    """Ask at how many places an operation reads a tensor."""
    text = context.names.text(node)
    return counted(
        part,
        about,
        f"At how many places does `{text}` read a tensor?",
        sum("node" in source for source in context.nodes[node]["inputs"]),
        f"At how many of them is it `{name}`?",
        "Count a tensor once for each place where it stands.",
        node=context.box(node),
        where=context.nodes[node]["where"],
    )


def decided(part: Part, condition: str, taken: object, **more: Any) -> Task:
    """Ask what a condition is."""
    texts = {"True": "`True`", "False": "`False`"}
    more |= {"right": "So which line runs?", "otherwise": "Put the value into the condition."}
    return one_of(part, "branch", f"What is `{condition}` here?", str(bool(taken)), texts, **more)


def adds(part: Part, about: str, name: str) -> Task:
    """Ask what a backward pass does with what is in .grad."""
    return one_of(
        part,
        about,
        f"What does a backward pass do with a number that is in `{name}.grad` already?",
        "adds",
        {"adds": "It adds to it", "replaces": "It replaces it"},
        right=f"So what was in `{name}.grad`, and what has arrived since?",
        otherwise="Only `zero_grad()`, or a line that sets `.grad`, clears it.",
    )
