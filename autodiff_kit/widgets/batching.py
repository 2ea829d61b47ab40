"""The batching lab: sequences of different length, one by one, padded, and in a shrinking batch.

After reading you know three ways through the same data, and why a graph that is made anew in each
run needs no padding. Read next: ``view/batching.py``.
"""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import traitlets

import autodiff_kit as torch
from autodiff_kit.free_form import Namespace
from autodiff_kit.record.memory import watch_memory
from autodiff_kit.record.recording import Recording
from autodiff_kit.tensor import Tensor
from autodiff_kit.view.batching import Gradient, Way, batching_plot, words_of
from autodiff_kit.view.memory import timeline
from autodiff_kit.widgets import sequences
from autodiff_kit.widgets.controls import Choice, Text
from autodiff_kit.widgets.distrust import examined
from autodiff_kit.widgets.measuring import seconds_or_why
from autodiff_kit.widgets.plotted import Plotted
from autodiff_kit.widgets.running import (
    Refused,
    fresh_grads,
    name_of,
    run,
    the_tensor,
    with_article,
)
from autodiff_kit.widgets.sequences import Step
from autodiff_kit.widgets.stepper_lab import InnerStepper, StepperLab

__all__ = ["Batching"]

SEQUENCES, STEPS = 12, 40  # more are refused: they could not be seen

_HELP = {
    "lengths": "How long each sequence is: integers with commas. Press Enter when you are done.",
    "mask": "How the padded batch tells sequence from padding: rightly, or with a common mistake.",
}
RIGHT = "right"
MASKS: dict[
    str, Callable[[int, int], bool]
] = {  # what the words in the control mean: does step t of a sequence count in the loss?
    "right": lambda t, length: t < length,
    "none: padding is data": lambda t, length: True,
    "right, but mean over all cells": lambda t, length: t < length,
    "one step too long": lambda t, length: t <= length,
    "one step too short": lambda t, length: t < length - 1,
}


class Batching(StepperLab, Plotted):
    """Process sequences of different length in three ways, and compare them.

    *One by one*: each sequence by itself, with a graph of its own length. *Padded*: all together,
    the shorter ones filled up with zeros that a mask keeps out of the loss. *Shrinking batch*: all
    together, but in each step only those that are not over. The loss is the mean, over all steps
    of all sequences, of the squared distance between the sum of the state and a target.

    Parameters
    ----------
    step : callable, optional
        One step of a recurrent network: ``step(x, h)`` returns the next state. Shapes: ``x`` is
        (rows, features), ``h`` and the next state (rows, hidden). A small network by default.
    lengths : sequence of int
        How long the sequences are; at most 12 of at most 40 steps.
    features, hidden : int
        Sizes of an input and of the state.

    Attributes
    ----------
    ways : list of Way
        The figures behind the picture.
    note : str
        How long each of them took here and now; no part of the still picture.

    Examples
    --------
    >>> lab = Batching(lengths=[3, 1, 2])
    >>> [(way.cells, way.padding, way.agrees(lab.ways[0])) for way in lab.ways]
    [(6, 0, True), (9, 3, True), (6, 0, True)]
    """

    _has_note = traitlets.Bool(True).tag(sync=True)

    def __init__(
        self,
        step: Step | None = None,
        *,
        lengths: Sequence[int] = (5, 2, 3),
        features: int = 2,
        hidden: int = 3,
    ) -> None:
        if step is not None and not callable(step):
            raise TypeError(
                "Batching takes one step of a network, and this is "
                f"{with_article(type(step).__name__)}.\n"
                "-> Write def step(x, h): ... that returns the next state, and give it: "
                "Batching(step, lengths=[5, 2, 3])."
            )
        if not isinstance(lengths, Iterable):
            raise TypeError(
                f"Batching takes a list of lengths, and this is {lengths!r}.\n"
                "-> For example: Batching(lengths=[5, 2, 3])"
            )
        self._step = _ways()["small_network"](features, hidden) if step is None else step
        self._sizes = features, hidden
        self.ways: list[Way] = []
        words = ", ".join(map(str, lengths))
        controls = {
            "lengths": Text(words, help=_HELP["lengths"]),
            "mask": Choice(list(MASKS), help=_HELP["mask"]),
        }
        super().__init__(controls)
        self.hear(self.canvas, "picked", lambda _: self._pick())

    def draw(self) -> None:
        """Go all three ways and draw them."""
        lengths = _lengths(self.controls["lengths"].value)
        mask = self.controls["mask"].value
        data = _Data(self._step, lengths, *self._sizes)
        marks = ["".join(_mark(t, n, mask) for t in range(max(lengths))) for n in lengths]
        plain = ["#" * length for length in lengths]
        name = "padded" if mask == RIGHT else f"padded, mask {mask.split(':')[0]}"
        plans = [
            ("one by one", data.one_by_one(), plain, False),
            (name, data.padded(mask), marks, True),
            ("shrinking batch", data.shrinking(), sorted(plain, key=len, reverse=True), True),
        ]

        def once() -> Any:
            return run(data.one_by_one(), of=self._step)[0].detach()

        runs = examined(self._step, once, lambda loss: loss)
        names = _names(self._step)
        ways, order = [], None
        for title, function, rows, together in plans:
            way, order = _measured(title, function, rows, together, names, order, self._step)
            ways.append(way)
        self.ways, self._data = ways, data
        calls = [partial(_whole_step, function) for _, function, _, _ in plans]
        self.afterwards(lambda: self._time(calls, runs.has_effects))
        caption = f"{runs.doubt} {words_of(ways)}".lstrip()
        is_coupled = not ways[-1].agrees(ways[0])  # no padding, no mask: only rows are together
        if runs.differs or (runs.has_effects and is_coupled):
            caption = f"{runs.doubt} So the three variants cannot be compared."
        elif is_coupled:
            caption += (
                "\nWithout padding, too, a batch gives something else: in "
                f"{name_of(self._step)}, a row depends on those beside it, as on a mean over them."
            )
        self.show(batching_plot(ways), caption)
        self._pick()

    def _time(self, calls: Sequence[Callable[[], None]], has_effects: bool) -> None:
        """Time all three; shown live and nowhere else, as it is another time every time."""
        seconds, why = seconds_or_why(*calls, of=[self._step], has_effects=has_effects)
        self.note = why
        if why:
            return
        times = ", ".join(
            f"{way.name}: {1000 * s:.2f} ms" for way, s in zip(self.ways, seconds, strict=True)
        )
        self.note = f"Forward and backward, on this computer, just now: {times}."

    def _pick(self) -> None:
        """Show the graph of the sequence that is picked, in a Stepper below."""
        picked = self.canvas.picked.removeprefix("row-")
        number = int(picked) if picked.isdigit() else -1
        if not 0 <= number < len(self._data.lengths):
            self.hold(None)
            return
        steps = self._data.lengths[number]
        title = f"Sequence {number + 1}: {steps} step{'s' * (steps != 1)}"

        def alone() -> Any:
            loss = go()
            with fresh_grads():
                loss.backward()
            return loss

        go = self._data.one_by_one(number)
        _, recording = run(alone, of=self._step)
        self.show(batching_plot(self.ways, number), self.canvas.caption)
        self.hold(InnerStepper(recording, title=title))


class _Data:
    """Sequences and targets, the same for the same lengths, and the ways through them."""

    def __init__(self, step: Step, lengths: list[int], features: int, hidden: int) -> None:
        random = torch.Generator().manual_seed(0)
        self.lengths, self.longest, self.hidden = lengths, max(lengths), hidden
        self._own, self._over = step, (torch.zeros(1, features), torch.zeros(1))
        # All that follows only prepares: no operation but the network's own is counted.
        self.sequences = [
            [
                (torch.randn(1, features, generator=random), torch.randn(1, generator=random))
                for _ in range(length)
            ]
            for length in lengths
        ]

    def one_by_one(self, *numbers: int) -> Callable[[], Any]:
        rows = [self.sequences[i] for i in numbers or range(len(self.lengths))]
        start = torch.zeros(1, self.hidden)
        return lambda: _ways()["one_by_one"](self._step, rows, start)

    def padded(self, mask: str) -> Callable[[], Any]:
        counts, rows = MASKS[mask], range(len(self.lengths))
        masks = [[float(counts(t, n)) for n in self.lengths] for t in range(self.longest)]
        count = sum(map(sum, masks))
        if "all cells" in mask:
            count = len(rows) * self.longest
        columns = [(*self._column(rows, t), torch.tensor(masks[t])) for t in range(self.longest)]
        start = torch.zeros(len(rows), self.hidden)
        return lambda: _ways()["padded"](self._step, columns, start, max(count, 1))

    def shrinking(self) -> Callable[[], Any]:
        order = sorted(range(len(self.lengths)), key=lambda i: -self.lengths[i])
        columns = [
            self._column([i for i in order if t < self.lengths[i]], t) for t in range(self.longest)
        ]
        start = torch.zeros(len(order), self.hidden)
        return lambda: _ways()["shrinking"](self._step, columns, start)

    def _column(self, rows: Sequence[int], t: int) -> tuple[Tensor, Tensor]:
        """Return the inputs and targets of one step, zeros where a sequence is over."""
        there = [self.sequences[i][t] if t < self.lengths[i] else self._over for i in rows]
        return torch.cat([x for x, _ in there]), torch.cat([y for _, y in there])

    def _step(self, x: Tensor, h: Tensor) -> Tensor:
        new = the_tensor(self._own(x, h), self._own)
        if new.shape != h.shape:
            raise Refused(
                f"{name_of(self._own)} made a state of shape {tuple(new.shape)} out of one of "
                f"shape {tuple(h.shape)}.\n-> It has to return the next state, of the same shape."
            )
        return new


@cache
def _ways() -> Mapping[str, Callable[..., Any]]:
    """Run ``sequences.py`` as if it were the learner's: so a recording tells its lines."""
    name, text = "sequences.py", Path(sequences.__file__).read_text(encoding="utf-8")
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    space: Namespace = {"__name__": sequences.__name__}
    exec(compile(text, name, "exec"), space)
    return space


def _measured(
    name: str,
    function: Callable[[], Any],
    rows: list[str],
    together: bool,
    names: dict[int, str],
    order: list[Tensor] | None,
    step: Step,
) -> tuple[Way, list[Tensor]]:
    """Go one way under the observers; ``order`` says in which order parameters are told."""
    fresh = fresh_grads()

    def watched() -> Any:
        with watch_memory() as memory:
            loss = function()
            if not loss.requires_grad:
                raise Refused(
                    "The state depends on nothing that requires a gradient.\n"
                    "-> Make the weights with requires_grad=True."
                )
            with fresh:
                loss.backward()
        return memory, loss.item()

    (memory, loss), recording = run(watched, of=step)
    pairs = [(leaf, grad) for leaf, grad in fresh.pairs if grad is not None]
    if order is None:
        order = sorted((leaf for leaf, _ in pairs), key=lambda leaf: _place(leaf, names))
    gradients = []
    for number, leaf in enumerate(order):
        values = next((grad for other, grad in pairs if other is leaf), None)
        flat = torch.zeros_like(leaf) if values is None else values
        title = names.get(id(leaf), f"parameter {number + 1}")
        gradients.append(Gradient(title, tuple(flat.reshape(-1).tolist())))
    most = max(timeline(recording, memory).bytes_saved)
    return Way(name, rows, together, _operations(recording), most, loss, gradients), order


def _place(leaf: Tensor, names: dict[int, str]) -> int:
    return list(names).index(id(leaf)) if id(leaf) in names else len(names)


def _operations(recording: Recording) -> int:
    """Count the operations of the forward pass."""
    kinds = [event["kind"] for event in recording.events]
    return kinds[: kinds.index("backward")].count("op")


def _whole_step(function: Callable[[], Any]) -> None:
    function().backward()


def _mark(t: int, length: int, mask: str) -> str:
    """Return how a cell of the padded batch is drawn (``view/batching.py``: ``Way.rows``)."""
    counts = MASKS[mask](t, length)
    if t < length:
        return "#" if counts else "-"
    return "x" if counts else "."


def _lengths(words: str) -> list[int]:
    """Read "5, 2, 3".

    Raises
    ------
    Refused
        If that is no list of lengths that can be drawn.
    """
    try:
        lengths = [int(word) for word in words.replace(",", " ").split()]
    except ValueError:
        lengths = []
    if not lengths or min(lengths) < 1 or max(lengths) > STEPS or len(lengths) > SEQUENCES:
        raise Refused(
            f"{words.strip() or 'An empty field'} is not a list of lengths.\n-> Write integers "
            f"such as 5, 2, 3: at most {SEQUENCES} of them, from 1 to {STEPS}."
        )
    return lengths


def _names(step: Step) -> dict[int, str]:
    """Return what the learner calls the parameters that a function uses, by ``id``."""
    names: dict[int, str] = {}
    try:
        variables = inspect.getclosurevars(step)
        values = {**variables.nonlocals, **variables.globals}
    except TypeError:  # no plain function: a module, a partial
        values = {"": step}
    for name, value in values.items():
        if isinstance(value, Tensor):
            names.setdefault(id(value), name)
        elif isinstance(value, torch.nn.Module):
            for inner, parameter in value.named_parameters():
                names.setdefault(id(parameter), f"{name}.{inner}".lstrip("."))
    return names
