"""Notes at their shortest: what happened, as tuples, until the recording is read.

A recording is plain data, and of that an op takes more than a kilobyte and most of the time that
recording it would take: so while a program runs, an op or an event is one tuple of numbers and
arrays, which Python's garbage collector need not look into. After reading this file you know what
stands in such a tuple and how it becomes a dictionary of ``events.py``. Read next: ``notes.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from autodiff_kit.record.events import Event, Input, NodeRecord, Saved, Value
from autodiff_kit.record.values import Values, shape_of_noted

__all__ = ["CONTRIBUTION", "RELEASE", "VISIT", "Events", "Nodes", "Noted", "input_of", "numbered"]

VISIT, CONTRIBUTION, RELEASE = range(3)  # what a tuple of ``Events`` begins with


def input_of(arg: str, source: Any) -> Input:
    """Return what an op was given for an argument: a node's number, a float, or (a value,)."""
    if type(source) is int:
        return {"arg": arg, "node": source}
    return {"arg": arg, "value": source if type(source) is float else source[0]}


class Template(Protocol):
    """What the entries of one op at one place have in common (``drafts.py``)."""

    args: Any
    entry: NodeRecord


class Nodes(list[Any]):
    """The nodes: entries, and of ops that are only noted, tuples.

    Such a tuple is (number of its template, scope, value, number of what it saved, more, *inputs):
    ``more`` is None or what else the entry says, and an input is the number of a node, a float, or
    a tuple of any other plain value. Reading one makes the entry, which stays.
    """

    def __init__(self, values: Values) -> None:
        self.values = values
        self.templates: list[Template] = []
        self._saved: list[list[Saved]] = [[]]

    def template(self, template: Template) -> int:
        """Return the number of one more template."""
        self.templates.append(template)
        return len(self.templates) - 1

    def keep(self, saved: list[Saved]) -> int:
        """Return the number of what a node saves; loops make thousands that save the same."""
        self._saved.append(saved)
        return len(self._saved) - 1

    def __getitem__(self, at: Any) -> Any:
        item = list.__getitem__(self, at)
        if type(item) is dict:
            return item
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        entry = self._entry(at if at >= 0 else at + len(self), item)
        self[at] = entry
        return entry

    def __iter__(self) -> Iterator[NodeRecord]:
        return (self[i] for i in range(len(self)))

    def kind(self, number: int) -> Any:
        """Return the kind of a node."""
        item = list.__getitem__(self, number)
        return item["kind"] if type(item) is dict else "op"

    def saved(self, number: int) -> Any:
        """Return what a node has saved."""
        item = list.__getitem__(self, number)
        return item["saved"] if type(item) is dict else self._saved[item[3]]

    def note_saved(self, number: int, saved: int) -> None:
        """Note what a node has saved, once that is known."""
        item = list.__getitem__(self, number)
        if type(item) is dict:
            item["saved"] = self._saved[saved]
        else:
            self[number] = (*item[:3], saved, *item[4:])

    def op(self, number: int) -> Any:
        """Return the name of a node's op; None for a leaf."""
        item = list.__getitem__(self, number)
        entry = item if type(item) is dict else self.templates[item[0]].entry
        return entry["op"]

    def is_recorded(self, number: int) -> bool:
        """Return whether a node is in the graph that backward goes through."""
        item = list.__getitem__(self, number)
        entry = item if type(item) is dict else self.templates[item[0]].entry
        return bool(entry["recorded"])

    def sources(self, number: int) -> list[tuple[int, str]]:
        """Return the nodes that a node was given, and for which arguments."""
        item = list.__getitem__(self, number)
        if type(item) is dict:
            return [(one["node"], one["arg"]) for one in item["inputs"] if "node" in one]
        args = self.templates[item[0]].args
        return [(x, arg) for x, arg in zip(item[5:], args, strict=False) if type(x) is int]

    def shape(self, number: int) -> list[int]:
        """Return the shape of a node's value."""
        item = list.__getitem__(self, number)
        return item["value"]["shape"] if type(item) is dict else shape_of_noted(item[2])

    def scopes(self) -> list[int]:
        """Return the scope of each node."""
        return [x["scope"] if type(x) is dict else x[1] for x in list.__iter__(self)]

    def places(self) -> Iterator[tuple[int, Any, str]]:
        """Yield where each node is: its scope, its place in the source and its text."""
        for item in list.__iter__(self):
            if type(item) is dict:
                yield item["scope"], item["where"], item["text"]
            else:
                entry, more = self.templates[item[0]].entry, item[4]
                text = entry["text"] if more is None else more.get("text", entry["text"])
                yield item[1], entry["where"], text

    def _entry(self, number: int, item: tuple[Any, ...]) -> NodeRecord:
        template = self.templates[item[0]]
        entry = template.entry.copy()
        entry["id"], entry["scope"], entry["saved"] = number, item[1], self._saved[item[3]]
        entry["value"] = self.values.kept(item[2])
        entry["inputs"] = [
            {"arg": arg, "node": source} if type(source) is int else input_of(arg, source)
            for arg, source in zip(template.args, item[5:], strict=False)
        ]
        if item[4] is not None:
            entry.update(item[4])
        return entry

    def plain(self) -> list[NodeRecord]:
        """Return all entries; their values are plain after ``Values.finish``."""
        make = self._entry
        for number, item in enumerate(list.__iter__(self)):
            if type(item) is not dict:
                list.__setitem__(self, number, make(number, item))
        return [*list.__iter__(self)]


EventFields = dict[str, Any]  # of an event, by the keys that ``events.py`` gives its kind


class Noted(EventFields):
    """An event of a pass whose values are described when one of them is read for the first time.

    A picture reads only what happens outside of its folds. It asks for each value by its key; as
    a whole, such an event is plain data only once it is ``whole``.
    """

    __slots__ = ("described", "note")

    def __init__(self, begun: EventFields, note: Any, described: Callable[[Any], Value]) -> None:
        super().__init__(begun)
        self.note, self.described = note, described

    def __missing__(self, key: str) -> Any:
        if self.note is None:
            raise KeyError(key)
        note, self.note = self.note, None
        if note[0] == VISIT:
            self["g"] = self.described(note[2])
        else:
            for name, value in zip(("before", "after", "total"), note[4:], strict=True):
                self[name] = None if value is None else self.described(value)
        return self[key]

    def whole(self) -> Any:
        """Return the event as plain data."""
        if self.note is not None:
            self["g" if self.note[0] == VISIT else "after"]
        return dict(self)


class Events(list[Any]):
    """The events; of a node that is made, only its number, and of some others a tuple."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes, self._described = nodes, nodes.values.kept

    def __getitem__(self, at: Any) -> Any:
        item = list.__getitem__(self, at)
        if type(item) is dict:
            return item
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        event = self._event(item)
        self[at] = event
        return event

    def __iter__(self) -> Iterator[Event]:
        return (self[i] for i in range(len(self)))

    def __reversed__(self) -> Iterator[Event]:
        return (self[i] for i in reversed(range(len(self))))

    def notes(self) -> Iterator[Any]:
        """Yield the events as they are: a number for a node, and tuples for what is a gradient."""
        return list.__iter__(self)

    def _event(self, item: Any) -> Event:
        event = self._noted(item)
        whole: Event = event.whole() if type(event) is Noted else event
        return whole

    def _noted(self, item: Any) -> Any:
        """Return the event of a note, with values that are described once they are read."""
        if type(item) is int:
            return {"kind": self._nodes.kind(item), "node": item}
        kind, node = item[0], item[1]
        if kind == RELEASE:
            return {"kind": "release", "node": node, "bytes": item[2]}
        if kind == VISIT:
            return Noted({"kind": "visit", "node": node}, item, self._described)
        begun = {"kind": "contribution", "node": node, "arg": item[2], "to": item[3]}
        return Noted(begun, item, self._described)

    def noted(self) -> list[Event]:
        """Return all events; of those of a pass, values are described once they are read."""
        make: Any = self._noted
        events: list[Any] = [*list.__iter__(self)]
        for number, item in enumerate(events):
            if type(item) is not dict:
                events[number] = make(item)
        return events

    def plain(self) -> list[Event]:
        """Return all events; their values are plain after ``Values.finish``."""
        make = self._event
        for number, item in enumerate(list.__iter__(self)):
            if type(item) is not dict:
                list.__setitem__(self, number, make(item))
        return [*list.__iter__(self)]


def numbered(names: dict[int, str], count: int) -> Iterator[tuple[int, str, str]]:
    """Yield the first ``count`` nodes that have a name: number, name, and what the code calls it.

    That is said if a name was given several times and so gets numbers: ``h1``, ``h2`` for ``h``;
    and ``x2_1``, ``x2_2`` for ``x2``.
    """
    by_name: dict[str, list[int]] = {}
    for number, name in sorted(names.items()):
        if number < count:
            by_name.setdefault(name, []).append(number)
    for name, numbers in by_name.items():
        if name.endswith((".grad", ".data", "]")):  # which one is there then is told step by step
            yield from ((number, name, "") for number in numbers)
            continue
        if len(numbers) == 1:
            yield numbers[-1], name, ""
            continue
        last = 0
        for number in numbers:
            one = name
            while one in by_name:
                last += 1  # a number that makes a name the learner has is left out
                one = f"{name}_{last}" if name[-1].isdigit() else f"{name}{last}"
            yield number, one, name
