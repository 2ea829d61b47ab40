"""What may be wrong with a recording that was read from a file.

After reading this file you know exactly what a recording is made of: every part with its keys and
what stands there. Read next: ``recording.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from math import prod
from typing import Any

__all__ = ["find_damage"]

Check = Callable[[Any], bool]

_PARTS = {"sources": list, "ops": dict, "scopes": list, "nodes": list, "events": list}


def find_damage(data: Mapping[str, Any]) -> str | None:
    """Return in words what is wrong with a recording, or None.

    Parameters
    ----------
    data : dict
        What should be a recording, as ``Recording.to_dict`` returns it.
    """
    for part, kind in _PARTS.items():
        if type(data.get(part)) is not kind:
            return f"its part {part!r} is missing or of the wrong kind"
    return next(_Plan(data).damages(data), None)


class _Plan:
    """What stands where; numbers of nodes, scopes and sources must be those of some."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        text, number, flag = _of(str), _of(int), _of(bool)
        texts = _each(text)
        self.ops = data["ops"]
        node, scope, source = (_below(len(data[p])) for p in ("nodes", "scopes", "sources"))

        @cache
        def lines(index: int) -> int:
            return len(data["sources"][index]["text"].splitlines())

        def place(x: Any) -> bool:
            if not _each(number)(x) or len(x) != 5 or not source(x[0]):
                return False
            return bool(1 <= x[1] <= x[3] <= lines(x[0]) and min(x) >= 0)

        def numeral(x: Any) -> bool:
            return type(x) in (int, float, bool) or x in ("nan", "inf", "-inf")

        statistics = _keys(dict.fromkeys(("min", "max", "mean", "std", "nan", "inf"), numeral))
        numerals = _keys({"shape": _each(number), "dtype": text, "data": _each(numeral)})

        def value(x: Any) -> bool:
            if not numerals(x):
                return False
            if "stats" in x:
                return statistics(x["stats"])
            return len(x["data"]) == prod(x["shape"]) or not x["dtype"]  # "": it was not seen

        where = _or_none(place)
        rule = _keys({"text": text, "tex": text, "reads": texts, "source": text})
        self.error = _or_none(_keys({"type": text, "message": text, "where": where}))
        self.keys: dict[str, dict[str, Check]] = {
            "sources": {"name": text, "text": text},
            "ops": {
                **dict.fromkeys(("text", "tex", "doc", "node_name"), text),
                "inputs": texts,
                "rules": lambda x: type(x) is dict and all(map(rule, x.values())),
            },
            "scopes": {
                "id": number,
                "parent": _or_none(scope),
                "kind": text,
                "name": text,
                "index": number,
                "where": where,
            },
            "nodes": {
                "id": number,
                "kind": lambda x: x in ("leaf", "op"),
                "op": _or_none(lambda x: type(x) is str and x in self.ops),
                "grad_fn": _or_none(text),
                "recorded": flag,
                "name": _or_none(text),
                "text": text,
                "inputs": _each(
                    lambda x: _keys({"arg": text})(x) and ("node" in x or "value" in x)
                ),
                "params": _of(dict),
                "value": value,
                "requires_grad": flag,
                "scope": scope,
                "where": where,
                "saved": _each(
                    _keys({"name": text, "for": lambda x: x and texts(x), "bytes": number})
                ),
            },
        }
        self.events: dict[str, dict[str, Check]] = {
            "leaf": {"node": node},
            "op": {"node": node},
            "branch": {"node": node, "taken": flag, "where": where},
            "modified": {"node": node, "how": text, "value": value, "where": where},
            "backward": {"roots": _each(node), "seed": _each(value), "where": where},
            "visit": {"node": node, "g": value},
            "contribution": {
                "node": node,
                "arg": text,
                "to": node,
                "before": _or_none(value),
                "after": value,
                "total": _or_none(value),
            },
            "accumulate": {"node": node, "g": value, "before": _or_none(value), "grad": value},
            "release": {"node": node, "bytes": number},
            "finish": {},
            "broken": {},
            "error": {},
        }

    def damages(self, data: Mapping[str, Any]) -> Iterator[str]:
        """Yield what is wrong; each check may rely on those before it."""
        for name, op in self.ops.items():
            yield from _wrong(f"op {name!r}", op, self.keys["ops"])
        for part in ("sources", "scopes", "nodes"):
            for number, entry in enumerate(data[part]):
                yield from _wrong(f"{part[:-1]} {number}", entry, self.keys[part])
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
        made = 0
        for number, event in enumerate(data["events"]):
            kind = event.get("kind") if type(event) is dict else None
            if type(kind) is not str or kind not in self.events:
                yield f"event {number} is of no known kind"
            yield from _wrong(f"event {number} ({kind})", event, self.events[str(kind)])
            if kind in ("leaf", "op"):
                if event["node"] != made or data["nodes"][made]["kind"] != kind:
                    yield f"event {number} ({kind}) is out of order: node {made} should come next"
                made += 1
            elif kind == "backward" and len(event["roots"]) != len(event["seed"]):
                yield f"event {number} (backward) has not one seed for each root"
            elif kind == "error" and data.get("error") is None:
                yield f"event {number} is an error that nothing tells of"
            elif any(event.get(key, -1) >= made for key in ("node", "to")):
                yield f"event {number} ({kind}) names a node that comes later"
        if made < len(data["nodes"]):
            yield f"no event makes node {made}"
        if not self.error(data.get("error")):
            yield "its 'error' is of the wrong kind"
        if not _or_none(_of(str))(data.get("note")):
            yield "its 'note' is of the wrong kind"


def _misfits(node: Mapping[str, Any]) -> Iterator[str]:
    """Yield what does not go together in a node."""
    number = node["id"]
    if (node["op"] is None) == (node["kind"] == "op"):
        yield f"node {number} is of kind {node['kind']!r}, but its op is {node['op']!r}"
    if not isinstance(node.get("part", ""), str):
        yield f"node {number} has a wrong 'part': {node['part']!r:.60}"
    if "from" in node and not _below(number)(node["from"]):
        yield f"node {number} is made from {node['from']!r:.60}, which is no earlier node"
    if not isinstance(node.get("older", True), bool):
        yield f"node {number} has a wrong 'older': {node['older']!r:.60}"
    for source in node["inputs"]:
        if "node" in source and not _below(number)(source["node"]):
            yield f"node {number} has an input {source['node']!r}, which is no earlier node"


def _wrong(title: str, entry: Any, keys: Mapping[str, Check]) -> Iterator[str]:
    """Yield which keys an entry lacks, or has wrongly."""
    if type(entry) is not dict:
        yield f"{title} is {entry!r:.40}"
    for key, fits in keys.items():
        if key not in entry:
            yield f"{title} has no {key!r}"
        elif not fits(entry[key]):
            yield f"{title} has a wrong {key!r}: {entry[key]!r:.60}"


def _of(*kinds: type) -> Check:
    return lambda x: type(x) in kinds


def _below(count: int) -> Check:
    return lambda x: type(x) is int and 0 <= x < count


def _each(fits: Check) -> Check:
    return lambda x: type(x) is list and all(map(fits, x))


def _or_none(fits: Check) -> Check:
    return lambda x: x is None or fits(x)


def _keys(keys: Mapping[str, Check]) -> Check:
    return lambda x: type(x) is dict and all(k in x and fits(x[k]) for k, fits in keys.items())
