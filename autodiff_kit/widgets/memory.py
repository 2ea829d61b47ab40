"""The memory timeline: what a run saves for backward, at every step, and for which rule.

After reading you know how a run is watched for it: under two observers, one for names and rules
(``record``), one for memory (``watch_memory``). Read next: ``view/memory.py``.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.core.mode import local
from autodiff_kit.core.node import Node
from autodiff_kit.core.observer import Both, Observer, installed
from autodiff_kit.record.memory import Memory, watch_memory
from autodiff_kit.record.recording import Recording
from autodiff_kit.view.memory import Timeline, timeline
from autodiff_kit.view.memory_plot import memory_plot
from autodiff_kit.widgets.arguments import Arguments, no_tensors
from autodiff_kit.widgets.controls import Slider, Switch
from autodiff_kit.widgets.plotted import Plotted
from autodiff_kit.widgets.running import Refused, fresh_grads, name_of, run, the_tensor

__all__ = ["MemoryTimeline"]

# The recorder drops a call's frame, and of the variables in it, when something happens in
# the frame around it that is not the kit's own. This is one, where there is no other.
_HELP = {
    "step": "The step in time whose bytes are named in the caption.",
    "before": "Show the arrays that were there before the run and that backward rules read.",
    "no_grad": "Run the function under torch.no_grad(): then nothing is saved.",
    "retain_graph": "Call backward(retain_graph=True): then nothing is released.",
}
_TEXT = "backward(forward())"
linecache.cache["the run"] = len(_TEXT), None, [_TEXT], "the run"
_OUTER = compile(_TEXT, "the run", "eval")


class MemoryTimeline(Plotted):
    """Bytes saved for backward at every step of a run: by array, by node, and why.

    Parameters
    ----------
    source : callable or Recording
        A function that returns a tensor, such as a loss: it is run, and ``backward()`` called on
        what it returns, unless the function does that itself. Its arguments become controls:
        ``def loss(depth=4, checkpointing=False)``. Or a recording; that does not know what a
        checkpoint does, nor what Python frees.
    **arguments
        What the arguments of the function begin with (``arguments.py``).

    Attributes
    ----------
    timeline : Timeline or None
        The numbers behind the picture; None while there is none.

    Raises
    ------
    TypeError
        If ``source`` is neither a function nor a recording, or does not take these arguments.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> x = torch.ones(1000, requires_grad=True)
    >>> lab = MemoryTimeline(lambda depth=3: sum(x.sin().exp() for _ in range(depth)).sum())
    >>> max(lab.timeline.bytes_saved)
    12000
    """

    def __init__(self, source: Callable[..., Any] | Recording, **arguments: Any) -> None:
        self._source = source
        self.timeline: Timeline | None = None
        self.step = Slider(1, 1, 1, description="step", help=_HELP["step"])
        before = Switch(description="show what was there before", help=_HELP["before"])
        own = {"before": before, "step": self.step}
        if isinstance(source, Recording):
            controls = own
            if arguments:
                raise TypeError("a recording takes no arguments: it is a run that is over")
        else:
            self._arguments = Arguments(source, arguments)
            switches = {name: Switch(help=_HELP[name]) for name in ("no_grad", "retain_graph")}
            controls = self._arguments.beside({**switches, **own})
        self._settings: Any = None  # what the timeline there is was made with
        super().__init__(controls, title="Memory saved for backward")
        self.hear(self.canvas, "picked", lambda _: self._show())

    def draw(self) -> None:
        """Run the function if what it depends on has changed, and draw what it saved."""
        own = ("before", "step")
        settings = [control.value for name, control in self.controls.items() if name not in own]
        if settings == self._settings:
            self._show()
            return
        self._settings = None
        recording, memory = self._source, None
        nothing = "The recording has no operation on a tensor.\n-> Record a program that does one."
        if not isinstance(recording, Recording):
            function = recording
            recording, memory, nothing = self._arguments.settled(lambda: self._watched(function))
        if not any(node["kind"] == "op" for node in recording.nodes):
            raise Refused(nothing)
        self.timeline = timeline(recording, memory)
        self.step.max = len(self.timeline.bytes_saved)
        self.step.value = self.timeline.peak + 1
        self._show(summary=True)
        self._settings = settings

    def _watched(self, function: Callable[..., Any]) -> tuple[Recording, Memory, str]:
        """Run forward and backward; return also what is to be said if no operation was seen."""
        nothing = ""
        values = self._arguments.values()
        retain = self.controls["retain_graph"].value

        def forward() -> Any:
            own = local.mode.observer
            grad = no_grad() if self.controls["no_grad"].value else nullcontext()
            with installed(roots if own is None else Both(own, roots)), grad:
                return self._arguments.call(function, values)

        def backward(value: Any) -> Any:
            nonlocal nothing
            if value is None and roots.numbers:
                return None  # a training step, which runs backward itself
            nothing = no_tensors(self._arguments, function, value)
            node = the_tensor(value, function)._node
            if node is not None and node.number not in roots.numbers:
                with fresh_grads():
                    value.backward(retain_graph=retain)
            return value if retain else None

        def watched() -> Any:
            with watch:
                graph = eval(_OUTER, {"forward": forward, "backward": backward})
            return graph  # here, and not before, a graph that was retained goes

        watched.__name__ = name_of(function)
        watch, roots = watch_memory(), _Roots()
        _, recording = run(watched)
        return recording, watch.memory, nothing

    def _show(self, *, summary: bool = False) -> None:
        """Draw the timeline there is; say what is picked, or where the mark stands."""
        if self.timeline is None:
            return
        step = self.step.value - 1
        bands = {band.id: band for band in self.timeline.bands}
        band = bands.get(self.canvas.picked)
        caption = self.timeline.about(band) if band else self.timeline.at(step)
        if summary and not band:
            caption = self.timeline.summary()
        before = self.controls["before"].value
        self.show(memory_plot(self.timeline, step, before=before), caption)


class _Roots(Observer):
    """Notes where the learner's own backward passes begin."""

    def __init__(self) -> None:
        self.numbers: set[int] = set()

    def backward_started(self, roots: Sequence[tuple[Node, Any]]) -> None:
        self.numbers |= {node.number for node, _ in roots}
