"""An error of autograd, told as a story: where it began, what happened then, what would mend it.

After reading you can say how the plain facts of a recording - who saved what, what was changed or
freed, where nothing was recorded - become a few numbered places in the code and in the graph. The
message of the error says which story it is; the places are looked up. Read next: ``story_facts.py``
for that, ``story_svg.py`` for the picture.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from autodiff_kit.view.story_facts import Chapter, Facts, Told
from autodiff_kit.view.story_paths import lost, no_graph, not_wanted, unused
from autodiff_kit.view.story_refused import (
    function,
    inference,
    leaf_in_place,
    nan,
    no_float,
    no_scalar,
    of_a_result,
    wrong_shape,
)
from autodiff_kit.view.story_saved import changed, twice
from autodiff_kit.view.story_svg import draw

__all__ = ["Chapter", "Story", "story"]

KEYS = ("sources", "ops", "scopes", "nodes", "events", "error")
LONG = 240  # of a longer message the first sentence is shown


@dataclass(frozen=True)
class Story:
    """What went wrong, place by place.

    Attributes
    ----------
    title : str
        The story in one line.
    error : str
        Class and first line of the message; "" if nothing was raised.
    chapters : tuple of Chapter
        In order of time; the last one is where it came to light.
    mend : str
        What to do.
    svg : str
        The code, the graph and the words, with the places numbered alike.
    """

    title: str
    error: str
    chapters: tuple[Chapter, ...]
    mend: str
    svg: str = ""

    def __str__(self) -> str:
        """Return all of it in words."""
        lines = [self.title]
        lines += [f"{i}. {chapter.words}" for i, chapter in enumerate(self.chapters, 1)]
        return "\n".join([*lines, f"To mend it: {self.mend}"])


def story(recording: Any, leaf: str | None = None) -> Story | None:
    """Tell why a recorded run ended with an error, or why a leaf got no gradient.

    Parameters
    ----------
    recording : Recording or dict
        Of this kit or of PyTorch.
    leaf : str, optional
        Ask why ``leaf.grad`` is None. Without it, and without an error, all leaves are asked about
        that want a gradient and got none.

    Returns
    -------
    Story, or None - if nothing went wrong, or it has nothing to do with the graph.

    Examples
    --------
    >>> import autodiff_kit as ak
    >>> with ak.record() as rec:
    ...     x = ak.tensor(2.0, requires_grad=True)
    ...     y = x.detach() * 3
    ...     (x + y).backward()
    >>> story(rec) is None
    True
    """
    if not isinstance(recording, Mapping):
        recording = {key: getattr(recording, key) for key in KEYS}
    facts = Facts(recording)
    error = recording["error"]
    if error is None or leaf is not None:
        found = lost(facts, leaf)
        said = ""
    else:
        told = ((re.search(pattern, error["message"]), tell) for pattern, tell in _TELLERS)
        found = next((tell(facts, match) for match, tell in told if match), None)
        line = error["message"].splitlines()[0].split(" Hint:")[0]
        said = f"{error['type']}: {line if len(line) < LONG else line.split('. ')[0] + '.'}"
    if found is None or not found[1]:
        return None
    title, chapters, mend = found
    plain = Story(title.replace("`", ""), said, tuple(chapters), mend)
    return replace(plain, svg=draw(recording, plain))


Teller = Callable[[Facts, "re.Match[str]"], Told | None]
_TELLERS: tuple[tuple[str, Teller], ...] = (
    (r"modified by an inplace operation.*is at version (\d+); expected version (\d+)", changed),
    (r"backward through the graph a second time", twice),
    (r"can be implicitly created only for scalar outputs", no_scalar),
    (r"does not require grad and does not have a grad_fn", no_graph),
    (r"can't retain_grad on Tensor that has requires_grad=False", no_graph),
    (r"cannot register a hook on a tensor that doesn't require grad", no_graph),
    (r"leaf Variable that requires grad is being used in an in-place", leaf_in_place),
    (r"differentiated Tensor at index (\d+) appears to not have been used", unused),
    (r"differentiated Tensors does not require grad", not_wanted),
    (r"you can only change requires_grad flags of leaf variables", of_a_result),
    (r"Can't call numpy\(\) on Tensor that requires grad", of_a_result),
    (r"can't optimize a non-leaf Tensor", of_a_result),
    (r"graph leaves\) support the deepcopy protocol", of_a_result),
    (r"post accumulate grad hooks cannot be registered on non-leaf", of_a_result),
    (r"[Oo]nly Tensors of floating point (?:and complex )?dtype can require", no_float),
    (r"grad_output\[0\] has a shape of (torch\.Size\(\[.*?\]\))", wrong_shape),
    (r"[Ii]nference tensor", inference),
    (r"returned an incorrect number of gradients", function),
    (r"returned an invalid gradient at index", function),
    (r"must implement either the backward", function),
    (r"marked with @once_differentiable", function),
    (r"Function '\w+' returned nan values", nan),
)
