"""``ErrorStory``: an error of autograd, told in the graph and in the code, with how to fix it.

After reading you know that the story itself is told without Jupyter (``view/story.py``); here the
code is run under a recorder, and the picture is shown. Read next: ``../view/story.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import traitlets

from autodiff_kit.record import Recording, record
from autodiff_kit.view.story import Story, story
from autodiff_kit.view.story_svg import draw_parts
from autodiff_kit.view.subscripts import variable_of
from autodiff_kit.view.words import listed
from autodiff_kit.widgets.distrust import reachable_functions
from autodiff_kit.widgets.failures import mixed_libraries
from autodiff_kit.widgets.lab import Lab, SecondPicture
from autodiff_kit.widgets.running import Refused, name_of, ran, run, with_article

__all__ = ["ErrorStory"]

NAME = "Give the name of a leaf that requires a gradient and whose .grad is None."


class ErrorStory(Lab):
    """Show where an error began, what happened then, and how to fix it.

    A number stands for a place: beside its line of code, at its box of the graph and before its
    sentence. Picking a sentence, by mouse or by keyboard, marks its places and reads it out.

    Parameters
    ----------
    source : callable or Recording
        A function without arguments, which is called under a recorder; or a recording that an
        error has ended.
    leaf : str, optional
        Ask why this leaf got no gradient, as when ``x.grad`` is None and nothing was raised.
    library : module, optional
        ``torch``, if the function is written for real PyTorch.

    Attributes
    ----------
    story : Story or None
        The same in plain words: ``print(lab.story)``.
    recording : Recording
        For a ``Stepper``.
    graph : SecondPicture
        The graph; code and words are on ``canvas``.

    Raises
    ------
    TypeError
        If ``source`` is neither.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> def twice():
    ...     x = torch.tensor(3.0, requires_grad=True)
    ...     y = x * x
    ...     y.backward()
    ...     y.backward()
    >>> ErrorStory(twice)
    ErrorStory(The graph was freed by the first backward, and needed by a second)
    """

    _are_beside = traitlets.Bool(True).tag(sync=True)

    def __init__(
        self,
        source: Callable[[], Any] | Recording,
        *,
        leaf: str | None = None,
        library: Any = None,
    ) -> None:
        if not isinstance(source, Recording) and not callable(source):
            raise TypeError(
                "ErrorStory tells of a function or a recording, and this is "
                f"{with_article(type(source).__name__)}.\n-> Put the lines that fail into a "
                "function without arguments, def f(): ..., and write ErrorStory(f), not "
                "ErrorStory(f())."
            )
        self.story: Story | None = None
        self.recording = source if isinstance(source, Recording) else Recording()
        self._source, self._leaf, self._library = source, leaf, library
        self.graph = SecondPicture(self)
        self._parts = ("", "")
        super().__init__({})
        self.hear(self.canvas, "picked", self._pick)

    def draw(self) -> None:
        """Run the function and tell what went wrong; where nothing did, say that."""
        if not isinstance(self._source, Recording):
            self._run(self._source)
        self.story = story(self.recording, self._leaf)
        if self.story is None:
            raise Refused(self._no_story())
        self._parts = draw_parts(self.recording.to_dict(), self.story)
        self._show("", self._caption())

    def _run(self, function: Callable[[], Any]) -> None:
        def recorded() -> None:
            with record(self._library) as self.recording:
                ran(function(), function)

        try:
            run(recorded, of=function)
        except Refused:
            raise
        except Exception as error:
            if self._library is None and (mixed := mixed_libraries(error)):
                raise Refused(mixed) from None
            if self.recording.error is None:
                raise  # it did not come from the function

    def _no_story(self) -> str:
        error = self.recording.error
        if error is not None:
            words = f"{error['type']}: {error['message']}".rstrip(": ")
            return f"{words}\n-> The graph tells no more of this error than these words."
        what = "this recording"
        if not isinstance(self._source, Recording):
            what = name_of(self._source)
        if self._leaf is not None:
            return f"{self._not_lost(what, self._leaf)}\n-> {NAME}"
        if not self.recording.nodes and not isinstance(self._source, Recording):
            for _, called in reachable_functions(self._source):
                if getattr(called, "__name__", "") == "torch" and called is sys.modules["torch"]:
                    return (
                        f"{what} works with PyTorch itself, and nothing was recorded.\n"
                        "-> Give the library, too: ErrorStory(f, library=torch)."
                    )
        went_back = any(event["kind"] == "backward" for event in self.recording.events)
        rest = "no leaf without its gradient" if went_back else "no backward pass"
        return (
            f"Nothing went wrong in {what}: no error, and {rest}.\n"
            "-> Give a function that raises an error, or ask ErrorStory(f, leaf='x') why x.grad "
            "is None."
        )

    def _not_lost(self, what: str, name: str) -> str:
        """Say of a name what is known, where it is not that of a leaf without its gradient."""
        nodes = self.recording.nodes
        bearers = [n for n in nodes if n["name"] and name in (n["name"], variable_of(n))]
        if not bearers:
            leaves = [n["name"] for n in nodes if n["kind"] == "leaf" and n["requires_grad"]]
            others = f" The leaves that require a gradient: {listed(filter(None, leaves))}."
            return f"In {what}, there is no {name}.{others if any(leaves) else ''}"
        if all(n["kind"] == "op" for n in bearers):
            return f"In {what}, {name} is a result, and only leaves accumulate a gradient."
        if not any(n["requires_grad"] for n in bearers):
            return f"In {what}, {name} does not require a gradient."
        reached = {e["node"] for e in self.recording.events if e["kind"] == "accumulate"}
        if any(n["id"] in reached for n in bearers):
            return f"In {what}, {name} got its gradient."
        return f"In {what}, no backward pass has accumulated a gradient."

    def _caption(self) -> str:
        assert self.story is not None
        count = len(self.story.chapters)
        return f"{self.story.title}: a story of {count} place{'s' * (count > 1)}."

    def _pick(self, change: Any) -> None:
        """Mark the places of one chapter, and say it."""
        if self.story is None:
            return
        picked = str(change["new"])
        if not picked.isdigit() or not 0 < int(picked) <= len(self.story.chapters):
            self._show("", self._caption())
        else:
            words = self.story.chapters[int(picked) - 1].words.replace("`", "")
            self._show(picked, f"{picked}. {words}")

    def _show(self, picked: str, caption: str) -> None:
        place = f'" data-place="{picked}"'
        pictures = (part.replace(place, f" adk-place-picked{place}") for part in self._parts)
        self.canvas.svg, self.graph.svg = pictures
        self.canvas.caption = caption
        has_stopped = self.recording.error is not None
        end = "when the code stopped" if has_stopped else "at the end of the run"
        self.graph.caption = f"The graph {end}." if self._parts[1] else ""

    def still(self) -> str:
        """Return the picture with nothing picked."""
        return "" if self.story is None else self.story.svg

    def __repr__(self) -> str:
        """Name the story; the same words for the same run."""
        title = self.message.split("\n")[0] if self.story is None else self.story.title
        return f"{type(self).__name__}({title})"
