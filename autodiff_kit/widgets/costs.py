"""The costs lab: several functions of the same inputs, counted and timed side by side.

After reading you know what costs: nodes and the bytes they save are counted, and are the same on
every machine; times are measured whenever you ask, and are another time every time. So only the
counts are part of the still picture. Read next: ``measuring.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from autodiff_kit.record.memory import watch_memory
from autodiff_kit.record.recording import Recording
from autodiff_kit.tensor import Tensor
from autodiff_kit.view.panels import page, table
from autodiff_kit.view.words import memory as in_bytes
from autodiff_kit.widgets.controls import Button
from autodiff_kit.widgets.distrust import Examined, contents, copy_of, examined
from autodiff_kit.widgets.lab import Lab, SecondPicture
from autodiff_kit.widgets.measuring import MOST, compared, micro, most_kept, seconds_or_why
from autodiff_kit.widgets.running import (
    OTHER_TENSORS,
    Refused,
    described,
    fresh_grads,
    is_pytorch,
    ran,
    refuse_class,
    run,
)

__all__ = ["Costs"]


class Costs(Lab):
    """What several functions of the same inputs cost: nodes, bytes saved for backward, time.

    Each function runs twice with each input to be counted, which shows whether it does the same
    both times, and up to 26 times to be timed.

    Parameters
    ----------
    inputs : sequence of Tensor
        Each function is called with each of them.
    **ways
        Functions of one tensor, by the name that is shown; the others are compared with the first.

    Attributes
    ----------
    nodes, bytes_saved : dict from str to list of int
        By name, one number for each input: nodes that were built, and the most bytes that nodes
        saved at the same time.
    seconds : dict from str to list of float
        Median time of a call, measured at the latest press of the button; empty if not timed.

    Raises
    ------
    TypeError
        If there is no function, one cannot be called, or an input is no tensor.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> x = torch.ones(1000, requires_grad=True)
    >>> lab = Costs([x], recorded=torch.sin, no_grad=torch.no_grad()(torch.sin))
    >>> lab.nodes, lab.bytes_saved
    ({'recorded': [1], 'no_grad': [0]}, {'recorded': [4000], 'no_grad': [0]})
    """

    revival = "To use this lab, and to see the times, run the notebook again."

    def __init__(self, inputs: Sequence[Tensor], /, **ways: Callable[[Tensor], Any]) -> None:
        self._inputs, self._ways = _checked(inputs, ways)
        self.nodes: dict[str, list[int]] = {}
        self.bytes_saved: dict[str, list[int]] = {}
        self.seconds: dict[str, list[float]] = {}
        self.times = SecondPicture(self)
        again = Button(description="measure again", help="Call each function anew, and time it.")
        again.on_click(lambda _: self.refresh())
        super().__init__({"measure again": again}, title="What it costs")

    def draw(self) -> None:
        """Call each way with each input: once to count, and then often enough to time it."""
        runs_by_name = {
            name: [_counted(name, way, x) for x in self._inputs] for name, way in self._ways
        }
        self.nodes = {
            name: [one.first.nodes for one in runs] for name, runs in runs_by_name.items()
        }
        self.bytes_saved = {
            name: [one.first.bytes_saved for one in runs] for name, runs in runs_by_name.items()
        }
        names = list(runs_by_name)
        nodes = self._table("Nodes built", names, lambda name, i: f"{self.nodes[name][i]:,}")
        bytes_table = self._table("Saved in nodes, at most", names, self._saved)
        caption = " ".join(
            self._caption(name, [one.first for one in runs_by_name[name]]) for name in runs_by_name
        )
        doubts = [one.doubt for runs in runs_by_name.values() for one in runs if one.doubt]
        caption = " ".join([caption, *dict.fromkeys(doubts)])
        self.canvas.svg = page(
            [[nodes], [bytes_table]], title="Nodes and bytes", description=caption
        )
        self.canvas.caption = caption
        self._measure(any(one.has_effects for runs in runs_by_name.values() for one in runs))

    def _measure(self, has_effects: bool) -> None:
        """Time all ways; shown live and nowhere else, as it is another time every time."""
        self.seconds, self.times.svg = {}, ""
        rows = []
        for x in self._inputs:
            calls = (partial(way, x) for _, way in self._ways)
            functions = [way for _, way in self._ways]
            row, why = seconds_or_why(*calls, of=functions, has_effects=has_effects)
            if why:
                self.times.caption = why
                return
            rows.append(row)
        names = [name for name, _ in self._ways]
        self.seconds = {n: list(s) for n, s in zip(names, zip(*rows, strict=True), strict=True)}
        tables = [[self._table("Time of a call", names, self._time)]]
        if len(names) > 1:
            tables.append([self._table(f"Compared with {names[0]}", names[1:], self._ratio)])
        caption = (
            f"Measured just now, on this machine: medians of up to {MOST} timings, taken in turn."
        )
        self.times.svg = page(tables, title="Times", description=caption)
        self.times.caption = caption

    def _saved(self, name: str, i: int) -> str:
        # Not "0 bytes": a replay, or a list, may hold as much without any node.
        return in_bytes(self.bytes_saved[name][i]) if self.nodes[name][i] else "no nodes"

    def _time(self, name: str, i: int) -> str:
        return micro(self.seconds[name][i])

    def _ratio(self, name: str, i: int) -> str:
        return compared(self.seconds[name][i], self.seconds[self._ways[0][0]][i])

    def _table(self, heading: str, names: Sequence[str], cell: Callable[[str, int], str]) -> Any:
        rows = [[_size(x), *(cell(name, i) for name in names)] for i, x in enumerate(self._inputs)]
        return table(heading, [["", *names], *rows])

    def _caption(self, name: str, counts: Sequence[_Counts]) -> str:
        nodes, sizes = sorted(set(self.nodes[name])), map(in_bytes, self.bytes_saved[name])
        counts_in_words = " or ".join(f"{n:,}" for n in nodes)
        saved = " or ".join(dict.fromkeys(sizes))
        sentence = f"{name}: {counts_in_words} node{'s' * (nodes != [1])}, saving {saved}"
        sentence = f"{name}: no nodes" if nodes == [0] else sentence
        if all(one.value is None for one in counts):
            sentence += "; it returned None"
            if not any(node["kind"] == "op" for one in counts for node in one.recording.nodes):
                sentence += ", and no operation on tensors was seen"
        return f"{sentence}."


def _checked(
    inputs: Sequence[Tensor], ways: dict[str, Callable[[Tensor], Any]]
) -> tuple[list[Tensor], list[tuple[str, Callable[[Tensor], Any]]]]:
    example = "-> For example: Costs([torch.ones(1000)], sine=torch.sin, root=torch.sqrt)"
    if isinstance(inputs, Tensor) or not isinstance(inputs, Sequence) or not inputs:
        raise TypeError(f"Costs takes a list of tensors first.\n{example}")
    for x in inputs:
        if is_pytorch(x):
            raise TypeError(f"an input is a tensor of PyTorch itself.\n{OTHER_TENSORS}")
        if not isinstance(x, Tensor):
            raise TypeError(f"Costs measures with tensors, and {x!r} is none.\n{example}")
    if not ways:
        raise TypeError(f"Costs needs a function, by a name of your choice.\n{example}")
    for name, way in ways.items():
        refuse_class(way)
        if not callable(way):
            raise TypeError(f"{name} is no function: it is {way!r}.\n{example}")
    return list(inputs), list(ways.items())


class _Counts(NamedTuple):
    nodes: int
    bytes_saved: int
    changed: bool  # whether the input was changed in place
    value: Any
    recording: Recording


def _counted(name: str, way: Callable[[Tensor], Any], x: Tensor) -> Examined[_Counts]:
    """Count the nodes that a call builds, and the bytes they keep at most, in two runs."""

    def called() -> Any:
        own = copy_of(x).requires_grad_(x.requires_grad)
        with watch_memory() as memory, fresh_grads():
            value = ran(way(own), way)  # held, as a caller would, until the watch is over
            outcome = copy_of(value)
        del value
        return memory, outcome, contents(own) != contents(x)

    def once() -> _Counts:
        (memory, outcome, changed), recording = run(called, of=way)
        nodes = sum(node["kind"] == "op" and node["recorded"] for node in recording.nodes)
        # A replay of a StaticGraph runs no operation that is recorded, and may return nothing.
        is_idle = not any(node["kind"] == "op" for node in recording.nodes) and outcome is not None
        if is_pytorch(outcome):
            raise Refused(f"{name} returned a tensor of PyTorch itself.\n{OTHER_TENSORS}")
        if is_idle and not any(isinstance(item, Tensor) for item in _items(outcome)):
            raise Refused(
                f"{name} did nothing with tensors, and returned {described(outcome)}: there is "
                f"nothing to count.\n-> Compute with the tensor that {name} is called with."
            )
        return _Counts(nodes, most_kept(memory), changed, outcome, recording)

    return examined(
        way,
        once,
        lambda one: one.value,
        recording=lambda one: one.recording,
        changed_arguments=lambda one: [""] * one.changed,
    )


def _items(value: Any) -> list[Any]:
    """Return the items of a tuple, or the value as the only one."""
    if not isinstance(value, tuple | list):
        return [value]
    return [inner for item in value for inner in _items(item)]


def _size(x: Tensor) -> str:
    return f"{x.numel():,} number{'s' * (x.numel() != 1)}"
