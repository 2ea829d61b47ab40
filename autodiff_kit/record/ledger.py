"""Notes at their shortest: what happened, as tuples, until the recording is read.

A recording is plain data, and of that an op takes more than a kilobyte and most of the time that
recording it would take: so while a program runs, an op or an event is one tuple of numbers and
arrays, which Python's garbage collector need not look into. After reading this file you know what
stands in such a tuple and how it becomes a dictionary of ``events.py``. Read next: ``notes.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Protocol

from autodiff_kit.record.events import Event, Input, NodeRecord, Saved, Value
from autodiff_kit.record.values import Values, shape_of_noted

__all__ = [
    *("ACCUMULATE", "CONTRIBUTION", "PASS", "RELEASE", "VISIT", "Events", "Nodes", "Noted"),
    *("events_of", "input_of", "note_reader", "numbered", "plain"),
]

VISIT, CONTRIBUTION, RELEASE, ACCUMULATE = range(4)  # what a tuple of ``Events`` begins with
PASS = ("visit", "contribution", "release", "accumulate")  # and of which kind that event is


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
        self.values, self.described = values, values.kept
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
        if isinstance(item, dict):
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
        return "op" if type(item) is tuple else item["kind"]

    def saved(self, number: int) -> Any:
        """Return what a node has saved."""
        item = list.__getitem__(self, number)
        return self._saved[item[3]] if type(item) is tuple else item["saved"]

    def note_saved(self, number: int, saved: int) -> None:
        """Note what a node has saved, once that is known."""
        item = list.__getitem__(self, number)
        if type(item) is tuple:
            self[number] = (*item[:3], saved, *item[4:])
        else:
            item["saved"] = self._saved[saved]

    def op(self, number: int) -> Any:
        """Return the name of a node's op; None for a leaf."""
        item = list.__getitem__(self, number)
        entry = self.templates[item[0]].entry if type(item) is tuple else item
        return entry["op"]

    def is_recorded(self, number: int) -> bool:
        """Return whether a node is in the graph that backward goes through."""
        item = list.__getitem__(self, number)
        entry = self.templates[item[0]].entry if type(item) is tuple else item
        return bool(entry["recorded"])

    def sources(self, number: int) -> list[tuple[int, str]]:
        """Return the nodes that a node was given, and for which arguments."""
        item = list.__getitem__(self, number)
        if type(item) is not tuple:
            return [(one["node"], one["arg"]) for one in item["inputs"] if "node" in one]
        args = self.templates[item[0]].args
        return [(x, arg) for x, arg in zip(item[5:], args, strict=False) if type(x) is int]

    def shape(self, number: int) -> list[int]:
        """Return the shape of a node's value."""
        item = list.__getitem__(self, number)
        return shape_of_noted(item[2]) if type(item) is tuple else item["value"]["shape"]

    def scopes(self) -> list[int]:
        """Return the scope of each node."""
        return [x[1] if type(x) is tuple else x["scope"] for x in list.__iter__(self)]

    def places(self) -> Iterator[tuple[int, Any, str]]:
        """Yield where each node is: its scope, its place in the source and its text."""
        for item in list.__iter__(self):
            if type(item) is not tuple:
                yield item["scope"], item["where"], item["text"]
            else:
                entry, more = self.templates[item[0]].entry, item[4]
                text = entry["text"] if more is None else more.get("text", entry["text"])
                yield item[1], entry["where"], text

    def _entry(self, number: int, item: tuple[Any, ...]) -> Any:
        template = self.templates[item[0]]
        entry = self.noted_entry(template.entry, item[2])
        entry["id"], entry["scope"], entry["saved"] = number, item[1], self._saved[item[3]]
        entry["inputs"] = [
            {"arg": arg, "node": source} if type(source) is int else input_of(arg, source)
            for arg, source in zip(template.args, item[5:], strict=False)
        ]
        if item[4] is not None:
            entry.update(item[4])
        return entry

    def noted_entry(self, begun: Any, value: Any) -> Any:
        """Return an entry whose value is described once it is read."""
        entry = Noted(begun, ("value",), (value,), self.described)
        del entry["value"]
        return entry

    def noted(self) -> list[NodeRecord]:
        """Return all entries, whose values are described once they are read."""
        make = self._entry
        for number, item in enumerate(list.__iter__(self)):
            if type(item) is tuple:
                list.__setitem__(self, number, make(number, item))
        return [*list.__iter__(self)]


def plain(entries: Iterable[Any]) -> list[Any]:
    """Return nodes or events as plain data, after ``Values.finish`` whole."""
    return [entry.whole() if type(entry) is Noted else entry for entry in entries]


Begun = dict[str, Any]  # by the keys that ``events.py`` gives a node, or an event of its kind


class Noted(Begun):
    """A node or an event whose values are described each when it is read for the first time.

    A picture reads only what happens outside of its folds. It asks for each value by its key; as
    a whole, a note is plain data only once it is ``whole``.
    """

    __slots__ = ("_described", "_keys", "_notes")

    def __init__(
        self,
        begun: Begun,
        keys: Sequence[str],
        notes: Sequence[Any],
        described: Callable[[Any], Value],
    ) -> None:
        super().__init__(begun)
        self._keys, self._notes, self._described = keys, notes, described

    def __missing__(self, key: str) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        note = self._notes[self._keys.index(key)]
        value = self[key] = None if note is None else self._described(note)
        return value

    def whole(self) -> Any:
        """Return it as plain data."""
        keys = self._keys
        begun = {key: value for key, value in self.items() if key not in keys}
        return begun | {key: self[key] for key in keys}


class Events(list[Any]):
    """The events; of a node that is made, only its number, and of those of a pass a tuple.

    Reading one makes its dictionary, which stays; its values are described once they are read.
    """

    def __init__(self, nodes: Nodes) -> None:
        self._nodes, self._described = nodes, nodes.described
        self._rest: list[Any] | None = None  # those that are no notes, once all has happened

    def close(self) -> None:
        """Know that nothing more happens."""
        self._rest = [item for item in list.__iter__(self) if isinstance(item, dict)]

    def __getitem__(self, at: Any) -> Any:
        item = list.__getitem__(self, at)
        if isinstance(item, dict):
            return item
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        event = self[at] = self._event(item)
        return event

    def __iter__(self) -> Iterator[Event]:
        return (self[i] for i in range(len(self)))

    def __reversed__(self) -> Iterator[Event]:
        return (self[i] for i in reversed(range(len(self))))

    def notes(self) -> Iterator[Any]:
        """Yield the events as they are: a number for a node, and tuples for what is a gradient."""
        return list.__iter__(self)

    def note(self, at: int) -> Any:
        """Return one of them as it is."""
        return list.__getitem__(self, at)

    def of(self, kinds: Collection[str]) -> Iterator[Any]:
        """Yield the events of some kinds, of which those of a pass are not made for this."""
        kind_of = self._nodes.kind
        has_made = "op" in kinds or "leaf" in kinds
        tuples = {note for note, kind in enumerate(PASS) if kind in kinds}
        has_notes = has_made or tuples or self._rest is None
        for item in list.__iter__(self) if has_notes else self._rest or ():
            if type(item) is int:
                if has_made and (kind := kind_of(item)) in kinds:
                    yield {"kind": kind, "node": item}
            elif type(item) is tuple:
                if item[0] in tuples:
                    yield self._event(item)
            elif item["kind"] in kinds:
                yield item

    def _event(self, item: Any) -> Any:
        """Return the event of a note, with values that are described once they are read."""
        if type(item) is int:
            return {"kind": self._nodes.kind(item), "node": item}
        note, node = item[0], item[1]
        if note == RELEASE:
            return {"kind": "release", "node": node, "bytes": item[2]}
        begun = {"kind": PASS[note], "node": node}
        if note == VISIT:
            return Noted(begun, ("g",), item[2:], self._described)
        if note == ACCUMULATE:
            return Noted(begun, ("g", "before", "grad"), item[2:], self._described)
        begun |= {"arg": item[2], "to": item[3]}
        return Noted(begun, ("before", "after", "total"), item[4:], self._described)


def events_of(events: Sequence[Event], *kinds: str) -> Iterator[Any]:
    """Yield the events of some kinds in order of time."""
    if isinstance(events, Events):
        return events.of(kinds)
    return (event for event in events if event["kind"] in kinds)


def note_reader(events: Sequence[Event]) -> Callable[[int], Any]:
    """Return what reads an event as it was noted; as it is, if it never was."""
    return events.note if isinstance(events, Events) else events.__getitem__


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
