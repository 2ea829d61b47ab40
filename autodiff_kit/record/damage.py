"""What may be wrong with a recording that was read from a file.

After reading this file you know how the types in ``events.py`` become checks, and what must hold
besides: that numbers are those of some node, that nodes come before what refers to them, that
there is an event for each. Read next: ``recording.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from math import prod
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from autodiff_kit.record.events import (
    Event,
    NodeRecord,
    OpRecord,
    RecordingData,
    ScopeRecord,
    SourceRecord,
    Value,
)

__all__ = ["find_damage"]

Check = Callable[[Any], bool]
Unchecked = Mapping[str, Any]  # what should be RecordingData

_PARTS = {"sources": SourceRecord, "ops": OpRecord, "scopes": ScopeRecord, "nodes": NodeRecord}


def find_damage(data: Unchecked) -> str | None:
    """Return in words what is wrong with a recording, or None.

    Parameters
    ----------
    data : dict
        What should be a recording, as ``Recording.to_dict`` returns it.
    """
    for part in (*_PARTS, "events"):
        if type(data.get(part)) is not (dict if part == "ops" else list):
            return f"its part {part!r} is missing or of the wrong kind"
    return next(_Checks(data).damages(), None)


class _Checks:
    """What stands where; numbers of nodes, scopes and sources must be those of some."""

    def __init__(self, data: Unchecked) -> None:
        self._data = data

        @cache
        def lines(index: int) -> int:
            return len(data["sources"][index]["text"].splitlines())

        def is_place(x: list[int]) -> bool:
            if len(x) != 5 or not _is_below(len(data["sources"]), x[0]):
                return False
            return bool(1 <= x[1] <= x[3] <= lines(x[0]) and min(x) >= 0)

        def is_whole(x: Value) -> bool:
            return "stats" in x or len(x["data"]) == prod(x["shape"]) or not x["dtype"]

        # What must hold beside the type.
        self._conditions: dict[Any, Check] = {
            "node": lambda x: _is_below(len(data["nodes"]), x),
            "scope": lambda x: _is_below(len(data["scopes"]), x),
            "op": lambda x: x in data["ops"],
            "some": bool,
            "place": is_place,
            Value: is_whole,
        }
        self._known: dict[Any, Check] = {}
        self._by_kind: dict[type, list[tuple[str, Check, bool]]] = {}

    def damages(self) -> Iterator[str]:
        """Yield what is wrong; each check may rely on those before it."""
        data = cast(RecordingData, self._data)
        for name, op in data["ops"].items():
            yield from self._wrong(f"op {name!r}", op, OpRecord)
        for part in ("sources", "scopes", "nodes"):
            for number, entry in enumerate(self._data[part]):
                yield from self._wrong(f"{part[:-1]} {number}", entry, _PARTS[part])
                if entry.get("id", number) != number:
                    yield f"{part[:-1]} {number} says that it is number {entry['id']}"
                if part == "nodes":
                    yield from _misfits(entry)
                elif part == "scopes" and (entry["parent"] is None) != (number == 0):
                    yield f"scope {number} is not in the tree"
                elif part == "scopes" and number and entry["parent"] >= number:
                    yield f"scope {number} is inside scope {entry['parent']}, which comes later"
        if not data["scopes"]:
            yield "it has no scopes"
        count = 0
        for number, event in enumerate(data["events"]):
            kind: Any = event.get("kind") if type(event) is dict else None
            if type(kind) is not str or kind not in _events():
                yield f"event {number} is of no known kind"
            yield from self._wrong(f"event {number} ({kind})", event, _events()[kind])
            if event["kind"] == "leaf" or event["kind"] == "op":
                if event["node"] != count or data["nodes"][count]["kind"] != kind:
                    yield f"event {number} ({kind}) is out of order: node {count} should come next"
                count += 1
            elif event["kind"] == "backward" and len(event["roots"]) != len(event["seed"]):
                yield f"event {number} (backward) has not one seed for each root"
            elif event["kind"] == "error" and data.get("error") is None:
                yield f"event {number} is an error that nothing tells of"
            elif any(cast(int, event.get(key, -1)) >= count for key in ("node", "to")):
                yield f"event {number} ({kind}) names a node that comes later"
        if count < len(data["nodes"]):
            yield f"no event makes node {count}"
        for key in ("error", "note"):
            if not self._fits(_keys(RecordingData)[key][0])(data.get(key)):
                yield f"its {key!r} is of the wrong kind"

    def _wrong(self, title: str, entry: Any, kind: type) -> Iterator[str]:
        """Yield which keys an entry lacks, or has wrongly."""
        if type(entry) is not dict:
            yield f"{title} is {entry!r:.40}"
        for key, fits, is_required in self._checks(kind):
            if key in entry:
                if not fits(entry[key]):
                    yield f"{title} has a wrong {key!r}: {entry[key]!r:.60}"
            elif is_required:
                yield f"{title} has no {key!r}"

    def _checks(self, kind: type) -> list[tuple[str, Check, bool]]:
        """Return the keys of a type of dictionary, each with its check and whether it must be."""
        if kind not in self._by_kind:
            self._by_kind[kind] = [
                (key, self._fits(type_), is_required)
                for key, (type_, is_required) in _keys(kind).items()
            ]
        return self._by_kind[kind]

    def _fits(self, type_: Any) -> Check:
        """Return what tells whether something is of a type, as JSON has it."""
        if type_ not in self._known:
            self._known[type_] = self._check(type_)
        return self._known[type_]

    def _check(self, type_: Any) -> Check:
        origin, parts = get_origin(type_), get_args(type_)
        if type_ is Any:
            return lambda x: True
        if origin is Literal:
            return lambda x: type(x) is str and x in parts
        if is_typeddict(type_):
            keys = self._checks(type_)
            more = self._conditions.get(type_, lambda x: True)
            return lambda x: (
                type(x) is dict
                and all(fits(x[k]) if k in x else not must for k, fits, must in keys)
                and more(x)
            )
        if origin is Annotated:
            fits, more = self._fits(parts[0]), self._conditions[parts[1]]
            return lambda x: fits(x) and more(x)
        if origin in (Union, UnionType):
            plain = {p for p in parts if isinstance(p, type) and not is_typeddict(p)}
            others = [self._fits(part) for part in parts if part not in plain]
            return lambda x: type(x) in plain or any(fits(x) for fits in others)
        if origin is list:
            fits = self._fits(parts[0])
            return lambda x: type(x) is list and all(map(fits, x))
        if origin is dict:
            fits = self._fits(parts[1])
            return lambda x: type(x) is dict and all(map(fits, x.values()))
        return lambda x: type(x) is type_


@cache
def _keys(kind: type) -> dict[str, tuple[Any, bool]]:
    """Return the keys of a type of dictionary: what stands there, and whether it must."""
    return {
        key: (get_args(hint)[0], False) if get_origin(hint) is NotRequired else (hint, True)
        for key, hint in get_type_hints(kind, include_extras=True).items()
    }


@cache
def _events() -> dict[str, type]:
    """Return the types of events by their kinds."""
    return {kind: t for t in get_args(Event) for kind in get_args(_keys(t)["kind"][0])}


def _is_below(count: int, x: int) -> bool:
    return 0 <= x < count


def _misfits(node: NodeRecord) -> Iterator[str]:
    """Yield what does not go together in a node."""
    number = node["id"]
    if node["op"] is None and node["kind"] == "op":
        yield f"node {number} is of kind {node['kind']!r}, but its op is {node['op']!r}"
    if "from" in node and node["from"] >= number:
        yield f"node {number} is made from {node['from']!r:.60}, which is no earlier node"
    for source in node["inputs"]:
        if "node" in source and source["node"] >= number:
            yield f"node {number} has an input {source['node']!r}, which is no earlier node"
        elif "node" not in source and "value" not in source:
            yield f"node {number} has an input of which nothing is known: {source['arg']!r:.60}"
