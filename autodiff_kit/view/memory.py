"""The memory timeline: how many bytes were saved for backward at every step, and why.

After reading this file you know how what was watched (``record/memory.py``) becomes bands: one for
each array, as high as its bytes, from the step where a node begins to keep it to the step where
the last node lets it go. Read next: ``memory_plot.py``, which draws them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from autodiff_kit.record.events import NodeRecord
from autodiff_kit.record.memory import Hold, Memory, MemoryStep, StepKind
from autodiff_kit.record.recording import Recording

__all__ = ["Band", "Timeline", "bytes_in_words", "memory_of", "timeline"]

BANDS = 30  # more are drawn together
REASONS = 5  # nodes that are named; of more, how many
TITLE = 44  # characters
ENDS = {
    "release": "Backward has freed it.",
    "gone": "It was freed with the graph, when nothing referred to that any more.",
    "used": "The checkpoint did not save it; it is recomputed just before it is used.",
    None: "It is still held at the end.",
}
# Operations whose result looks into their input's memory; a recording alone does not say so.
_VIEWS = (
    *("alias", "expand", "permute", "reshape", "reshape_alias", "select", "slice_dim"),
    *("split", "split_with_sizes", "unsafe_split", "squeeze", "squeeze_dim", "squeeze_dims", "t"),
    *("transpose", "unbind", "unsqueeze"),
)


@dataclass(frozen=True)
class Band:
    """Memory that nodes keep, and why.

    Attributes
    ----------
    id : str
        As in ``Canvas.picked``.
    title : str
        What the learner calls it.
    sizes : list of int
        Bytes at every step.
    reasons : tuple of str
        One sentence for each node that saves it, and for how it was freed.
    before : bool
        Whether it was there before the run: then keeping it needs no new memory.
    again : bool
        Whether a checkpoint has computed it once more.
    """

    id: str
    title: str
    sizes: list[int]
    reasons: tuple[str, ...]
    before: bool
    again: bool


@dataclass(frozen=True)
class Timeline:
    """Bytes at every step of a run.

    Attributes
    ----------
    words : list of str
        What happens at each step.
    phases : list of str
        "forward", "backward" or "end", for each step.
    bands : list of Band
        The oldest first.
    bytes_saved : list of int
        New bytes saved for backward at each step: all bands but those from before.
    total, gradients : list of int
        Bytes of all arrays of the run that are alive, and of the gradients among them; empty if
        that was not watched.
    peak : int
        The first step at which ``bytes_saved`` is largest.
    """

    words: list[str]
    phases: list[str]
    bands: list[Band]
    bytes_saved: list[int]
    total: list[int]
    gradients: list[int]
    peak: int

    def summary(self) -> str:
        """Say in words how much was kept, at most and at the end."""
        most, last = self.bytes_saved[self.peak], self.bytes_saved[-1]
        if not most:
            text = "Nothing new was saved for backward."
        else:
            where = f"step {self.peak + 1} of {len(self.bytes_saved)} ({self.words[self.peak]})"
            were = "was" if most == 1 else "were"
            text = f"At most {bytes_in_words(most)} {were} saved for backward, at {where}."
            text += f" At the end: {bytes_in_words(last)}." if last else " At the end: nothing."
        there = sum(max(band.sizes) for band in self.bands if band.before)
        if there:
            text += (
                f" Rules also read {bytes_in_words(there)} that were there before the run and "
                "take no new memory."
            )
        if self.total:
            text += f" All arrays of the run together: at most {bytes_in_words(max(self.total))}."
        return text

    def at(self, step: int) -> str:
        """Say in words what holds at one step."""
        text = f"Step {step + 1} of {len(self.bytes_saved)}, {self.words[step]}: "
        text += f"{bytes_in_words(self.bytes_saved[step])} saved for backward"
        if self.total:
            text += f"; {bytes_in_words(self.total[step])} in all arrays of the run"
            if self.gradients[step]:
                text += f", of which {bytes_in_words(self.gradients[step])} are gradients"
        return text + "."

    def about(self, band: Band) -> str:
        """Say in words what a band is, and why it is there."""
        steps = [step for step, size in enumerate(band.sizes) if size]
        span = f"from step {steps[0] + 1} to step {steps[-1] + 1}" if steps else "never"
        head = f"{band.title}: {bytes_in_words(max(band.sizes))}, held {span}."
        return "\n".join((head, *band.reasons))


def bytes_in_words(size: int) -> str:
    """Return for example ``"1,024 bytes"``.

    Examples
    --------
    >>> bytes_in_words(1024), bytes_in_words(1)
    ('1,024 bytes', '1 byte')
    """
    return f"{size:,} byte{'s' * (size != 1)}"


def timeline(recording: Recording, memory: Memory | None = None) -> Timeline:
    """Put together what a run kept in memory.

    Parameters
    ----------
    recording : Recording
        Of the run: knows names and rules.
    memory : Memory, optional
        Of the same run, from ``watch_memory``: knows which array is which, and when each is freed.
        Without it these are taken from the recording, as far as that goes: it does not see what a
        checkpoint does, nor what Python frees.
    """
    watched = memory is not None
    if memory is None:
        memory = memory_of(recording)
    names = _Names(recording)
    words = [names.step(step) for step in memory.steps]
    phases = [
        "end" if step["kind"] == "end" else "backward" if step["backward"] else "forward"
        for step in memory.steps
    ]
    bands = [_band(group, names, len(words)) for group in _groups(_arrays(memory, names))]
    sizes = [0] * len(words)
    for band in bands:
        if not band.before:
            sizes = [a + b for a, b in zip(sizes, band.sizes, strict=True)]
    total = [step["total"] for step in memory.steps] if watched else []
    gradients = [step["gradients"] for step in memory.steps] if watched else []
    return Timeline(words, phases, bands, sizes, total, gradients, sizes.index(max(sizes)))


class _Names:
    """What the learner calls operations, and what goes into them."""

    def __init__(self, recording: Recording) -> None:
        self._nodes = recording.nodes
        # What a checkpoint runs again counts as the first time; a detach computes nothing.
        self._ops = [
            node
            for node in recording.nodes
            if node["kind"] == "op" and node["op"] != "detach" and not node.get("again")
        ]

    def node(self, number: int) -> NodeRecord | None:
        return self._ops[number] if number < len(self._ops) else None

    def operation(self, number: int | None) -> str:
        """Return ``"h = x @ w"``."""
        node = None if number is None else self.node(number)
        if node is None:
            return "a leaf" if number is None else f"operation {number + 1}"
        name, text = node["name"], node["text"] or str(node["op"])
        return _short(f"{name} = {text}" if name and node["text"] else text)

    def value(self, node: NodeRecord) -> str:
        return _short(str(node["name"] or node["text"] or node["op"] or "a tensor"))

    def slot(self, number: int, slot: str) -> str:
        """Return what stands in an argument, or the result, of an operation."""
        node = self.node(number)
        if node is None:
            return slot
        if not slot:
            return "an argument"
        if slot == "out":
            return self.value(node)
        for source in node["inputs"]:
            if source["arg"] == slot and "node" in source:
                return self.value(self._nodes[source["node"]])
        return slot

    def step(self, step: MemoryStep) -> str:
        if step["kind"] == "end":
            return "the end of the run"
        verb = {"op": "", "visit": "backward through ", "release": "released: "}[step["kind"]]
        return verb + self.operation(step["op"])

    def reason(self, hold: Hold) -> str:
        """Say which node keeps a value, and which rule reads it."""
        number, slot = hold["op"], hold["slot"]
        if not slot:
            return "A checkpoint holds it as an argument, to run its function again."
        what = "its result" if slot == "out" else self.slot(number, slot)
        readers = dict.fromkeys(self.slot(number, reader) for reader in hold["for"])
        text = f"{self.operation(number)} saves {what}"
        if readers:
            rules = "rules" if len(readers) > 1 else "rule"
            verb = "read" if len(readers) > 1 else "reads"
            text += f", because the {rules} for {' and '.join(readers)} {verb} it"
        return text + "."


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= TITLE else text[: TITLE - 3] + "..."


class _Array(NamedTuple):
    """Memory that is kept: its spans of steps, and what it can be drawn together by."""

    id: str
    title: str
    bytes: int
    spans: list[tuple[int, int]]
    holds: list[Hold]
    key: tuple[Any, ...]  # the first two: was it there before, was it computed again


def _arrays(memory: Memory, names: _Names) -> list[_Array]:
    by_array: dict[tuple[int, bool], list[Hold]] = {}
    for hold in memory.holds:
        by_array.setdefault((hold["array"], hold["again"]), []).append(hold)
    end, result = len(memory.steps), []
    for (number, again), holds in by_array.items():
        spans: list[tuple[int, int]] = []
        for since, until in sorted((h["since"], h["until"] or end) for h in holds):
            if spans and since <= spans[-1][1]:  # another node keeps it, too
                since, until = spans[-1][0], max(until, spans.pop()[1])
            if since < until:
                spans.append((since, until))
        array = memory.arrays[number]
        first = next((hold for hold in holds if hold["slot"]), holds[0])
        node = names.node(first["op"]) or {"text": "", "op": ""}
        key = array["before"], again, node["op"], node["text"], first["slot"]
        if spans and array["bytes"]:
            name = f"array-{number}{'-again' * again}"
            title = names.slot(first["op"], first["slot"])
            result.append(_Array(name, title, array["bytes"], spans, holds, key))
    return result


def _groups(arrays: list[_Array]) -> list[list[_Array]]:
    """Put together what the same line keeps, then the smallest, until there are few enough."""
    if len(arrays) <= BANDS:
        return [[array] for array in arrays]
    by_key: dict[tuple[Any, ...], list[_Array]] = {}
    for array in arrays:
        by_key.setdefault(array.key, []).append(array)
    by_size = sorted(by_key, key=lambda key: -sum(array.bytes for array in by_key[key]))
    few: dict[tuple[Any, ...], list[_Array]] = {}
    for key, group in by_key.items():
        large = key in by_size[: BANDS - 4]
        few.setdefault(key if large else key[:2], []).extend(group)
    return list(few.values())


def _band(group: list[_Array], names: _Names, count: int) -> Band:
    changes = [0] * (count + 1)
    for array in group:
        for since, until in array.spans:
            changes[since] += array.bytes
            changes[until] -= array.bytes
    first, more = group[0], len(group) - 1
    before, again = first.key[:2]
    title = first.title + f" and {more} more" * bool(more) + " (recomputed)" * again
    reasons = list(dict.fromkeys(map(names.reason, first.holds[:REASONS])))
    if len(first.holds) > REASONS:
        reasons.append(f"So do {len(first.holds) - REASONS} more operations.")
    if more:
        reasons.append(f"And {more} more arrays, for the same reason or for smaller ones.")
    ends = dict.fromkeys(ENDS[hold["how"]] for array in group for hold in array.holds)
    sizes = list(accumulate(changes[:-1]))
    return Band(first.id, title, sizes, (*reasons, *ends), before, again)


def memory_of(recording: Recording) -> Memory:
    """Work out from a recording alone what was kept: views share the memory of their input."""
    memory = Memory()
    memory_by_node: dict[int, int] = {}
    numbers: dict[int, int] = {}
    open_: dict[int, list[Hold]] = {}
    backward = False

    def step(kind: StepKind, op: int | None) -> None:
        memory.steps.append({"kind": kind, "op": op, "backward": backward})

    def array(key: Any, size: int, before: bool = False) -> int:
        if key not in memory_by_node:
            memory_by_node[key] = len(memory.arrays)
            memory.arrays.append({"bytes": size, "kind": "value", "before": before})
        return memory_by_node[key]

    def root(number: int) -> int:
        node = recording.nodes[number]
        while node["op"] in _VIEWS and "node" in node["inputs"][0]:
            node = recording.nodes[node["inputs"][0]["node"]]
        return int(node["id"])

    for event in recording.events:
        if event["kind"] == "op":
            node = recording.nodes[event["node"]]
            number = numbers[node["id"]] = len(numbers)
            inputs = {s["arg"]: s["node"] for s in node["inputs"] if "node" in s}
            for saved in node["saved"]:
                key: Any = node["id"], saved["name"]
                leaf = False
                if saved["name"] in inputs or saved["name"] == "out":
                    key = root(inputs.get(saved["name"], node["id"]))
                    leaf = recording.nodes[key]["kind"] == "leaf"
                hold: Hold = {
                    "array": array(key, saved["bytes"], leaf),
                    "op": number,
                    "slot": saved["name"],
                    "for": saved["for"],
                    "since": len(memory.steps),
                    "until": None,
                    "how": None,
                    "again": False,
                }
                open_.setdefault(number, []).append(hold)
                memory.holds.append(hold)
            step("op", number)
        elif event["kind"] == "backward":
            backward = True
        elif event["kind"] == "finish" or event["kind"] == "broken":
            backward = False
        elif event["kind"] == "visit":
            step("visit", numbers.get(event["node"]))
        elif event["kind"] == "release":
            for hold in open_.pop(numbers.get(event["node"], -1), ()):
                hold |= {"until": len(memory.steps), "how": "release"}
            step("release", numbers.get(event["node"]))
    step("end", None)
    return memory
