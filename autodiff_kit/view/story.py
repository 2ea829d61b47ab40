"""An error of autograd, told as a story: where it began, what happened then, what would fix it.

After reading you can say how the plain facts of a recording - who saved what, what was changed or
freed, where nothing was recorded - become a few numbered places in the code and in the graph. The
message of the error says which story it is (``story_told.py``); the places are looked up. Read
next: ``story_facts.py`` for that, ``story_svg.py`` for the picture.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from autodiff_kit.view.story_facts import Chapter, Facts, Story
from autodiff_kit.view.story_paths import lost
from autodiff_kit.view.story_svg import draw
from autodiff_kit.view.story_told import cause, first_sentences
from autodiff_kit.view.story_types import no_pass

__all__ = ["Chapter", "Story", "story"]

KEYS = ("sources", "ops", "scopes", "nodes", "events", "error")


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
        explanation = lost(facts, leaf) or no_pass(facts, leaf)
        text = ""
    else:
        explanation = cause(recording, facts)
        text = first_sentences(error)
    if explanation is None or not explanation[1]:
        return None
    title, chapters, fix = explanation
    plain = Story(title.replace("`", ""), text, tuple(chapters), fix)
    return replace(plain, svg=draw(recording, plain))
