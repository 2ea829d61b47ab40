"""Two runs of one function over each other: what was added, what was removed, what stayed.

After reading you can say when a node of one run is *the same* as a node of another: it is the
same operation, at the same place in the source, called from the same place, in the same iteration
of every loop around it (the second round's product is the second round's product). What stayed is
drawn once, so it stays where it was. Read next: ``panels.py``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from autodiff_kit.record.events import Event, Input, NodeRecord, RecordingData, ScopeRecord
from autodiff_kit.view.names import Names
from autodiff_kit.view.panels import Line, Marked
from autodiff_kit.view.subscripts import variable_of
from autodiff_kit.view.values import TIMES

__all__ = ["Branch", "Difference", "branches", "difference", "mark_lines"]

KEYS = ("sources", "ops", "scopes", "nodes", "events")
NAMED = 3  # operations that are named in a sentence; the others are counted
# The look, and the words.
CAME, WENT = ("came", "+ added"), ("went", "\N{MINUS SIGN} removed")


@dataclass(frozen=True, slots=True)
class Difference:
    """A graph of two runs, drawn over each other.

    Attributes
    ----------
    picture : Marked
        All nodes of both.
    edges : dict from str to str
        ``"came"`` or ``"went"``, by arrow, where it differs.
    came, went, stayed : tuple of str
        The operations, as they are written.
    lines : dict from (str, int) to set of str
        ``"came"``, ``"went"``, ``"stayed"``, by source text and line.
    """

    picture: Marked
    edges: dict[str, str]
    came: tuple[str, ...]
    went: tuple[str, ...]
    stayed: tuple[str, ...]
    lines: dict[tuple[str, int], set[str]]

    def sentence(self) -> str:
        """Say what differs, as in "1 operation was added (h * x); 2 unchanged."."""
        if not self.came and not self.went:
            if not self.stayed:
                return "No operation ran."
            text = f"No operation was added or removed: {_count(len(self.stayed))} unchanged."
            looks = [*self.edges.values()]  # as after detach()
            counts = [("added", looks.count("came")), ("removed", looks.count("went"))]
            arrows = ", ".join(f"{count} {what}" for what, count in counts if count)
            return f"{text} But arrows differ: {arrows}." if arrows else text
        parts = [
            f"{_count(len(nodes))} {'was' if len(nodes) == 1 else 'were'} {what} ({_some(nodes)})"
            for what, nodes in (("added", self.came), ("removed", self.went))
            if nodes
        ]
        return f"{'; '.join(parts)}; {len(self.stayed):,} unchanged."


@dataclass(frozen=True, slots=True)
class Branch:
    """A place where Python asked a tensor for its truth, and the answers in order of time."""

    source: str
    line: int
    start: int
    end: int
    text: str
    ways: tuple[bool, ...]

    def note(self) -> str:
        """Return the way it went: ``"→ True"``, ``"→ True, then False"``."""
        runs = [(way, len(list(group))) for way, group in groupby(self.ways)]
        parts = [f"{n} {TIMES} {way}" if n > 1 else str(way) for way, n in runs]
        if len(parts) > 4:
            parts = [*parts[:3], "..."]
        return "→ " + ", then ".join(parts)


def difference(
    old: Any,
    new: Any,
    *,
    came: str = CAME[1],
    went: str = WENT[1],
    also: Mapping[int, tuple[str, str]] | None = None,
    gradients: bool = False,
) -> Difference:
    """Draw one run over another.

    Parameters
    ----------
    old, new : Recording
        Of two runs of the same function. ``old`` may be ``new`` itself: then nothing is marked.
    came, went : str
        What the boxes say that are only in ``new``, only in ``old``.
    also : dict from int to (str, str), optional
        Marks of nodes of ``old`` that are in both.
    gradients : bool
        Draw also what the last backward pass of ``new`` computed.
    """
    before: RecordingData = old.to_dict()
    now: RecordingData = new.to_dict()
    pairs = _matched(before, now)
    sources, of_old, of_new = _sources(before, now)
    order, old_id, new_id = _merged_order(before["nodes"], now["nodes"], pairs)
    shift = len(now["scopes"]) - 1
    nodes: list[NodeRecord] = []
    marks: dict[int, tuple[str, str]] = {}
    edge_marks: dict[tuple[int, int], str] = {}
    for number, (i, j) in enumerate(order):
        own, ids, at = (now, new_id, j) if j is not None else (before, old_id, i)
        node = own["nodes"][at].copy()
        node["id"] = number
        node["where"] = _moved(node["where"], of_new if j is not None else of_old)
        node["scope"] += shift if j is None and node["scope"] else 0
        node["inputs"] = [_linked(source, ids) for source in node["inputs"]]
        if i is not None and j is not None:
            if also and i in also:
                marks[number] = also[i]
            was = [_linked(s, old_id) for s in before["nodes"][i]["inputs"] if "node" in s]
            for place, source in enumerate(node["inputs"]):
                if "node" in source and source not in was:
                    edge_marks[number, place] = "came"
            for source in was:
                if source not in node["inputs"]:
                    edge_marks[number, len(node["inputs"])] = "went"
                    node["inputs"].append({**source, "arg": ""})
        else:
            marks[number] = (CAME[0], came) if i is None else (WENT[0], went)
            for place in range(len(node["inputs"])):
                edge_marks[number, place] = marks[number][0]
        nodes.append(node)
    scopes: list[ScopeRecord]
    scopes = [{**s, "where": _moved(s["where"], of_new)} for s in now["scopes"]]
    for s in before["scopes"][1:]:
        parent = s["parent"] + shift if s["parent"] else 0
        where = _moved(s["where"], of_old)
        scopes.append({**s, "id": s["id"] + shift, "parent": parent, "where": where})
    events: list[Event] = [{"kind": node["kind"], "node": node["id"]} for node in nodes]
    if gradients:
        events += _last_pass(now["events"], new_id)
    recording: RecordingData = {
        "sources": sources,
        "ops": {**before["ops"], **now["ops"]},
        "scopes": scopes,
        "nodes": nodes,
        "events": events,
        "error": None,
        "note": new.note,
    }
    picture = Marked(recording, marks)
    looks: dict[str, set[str]] = {}
    for argument, edge in picture.outline.edge_at.items():
        looks.setdefault(edge.id, set()).add(edge_marks.get(argument, ""))
    edges = {name: values.pop() for name, values in looks.items() if len(values) == 1}
    names = Names(recording)
    texts: dict[str, list[str]] = {"came": [], "went": [], "stayed": []}
    lines: dict[tuple[str, int], set[str]] = {}
    for node in nodes:
        look = marks.get(node["id"], ("", ""))[0]
        look = look if look in texts else "stayed"
        if node["kind"] == "op":
            texts[look].append(node["text"] or names.name(node["id"]))
        if node["where"] is not None:
            text = sources[node["where"][0]]["text"]
            lines.setdefault((text, node["where"][1]), set()).add(look)
    edges = {name: look for name, look in edges.items() if look}
    came_ops, went_ops, stayed = (tuple(texts[look]) for look in ("came", "went", "stayed"))
    return Difference(picture, edges, came_ops, went_ops, stayed, lines)


def branches(recording: Any) -> list[Branch]:
    """Return the places at which the run asked tensors for their truth, in order of time."""
    ways: dict[tuple[int, ...], list[bool]] = {}
    for event in recording.events:
        if event["kind"] == "branch" and event["where"] is not None:
            ways.setdefault(tuple(event["where"]), []).append(event["taken"])
    result = []
    for (source, line, start, last, end), outcomes in ways.items():
        text = str(recording.sources[source]["text"])
        written = text.splitlines()[line - 1]
        until = end if last == line else len(written)
        tests = written[start:until]
        turned = tests.startswith("not ")  # the tensor is asked first, and `not` comes after it
        went = tuple(way is not turned for way in outcomes)
        result.append(Branch(text, line, start, until, tests, went))
    return result


def mark_lines(
    lines: Sequence[str],
    first: int,
    text: str,
    tests: Iterable[Branch],
    change: Difference | None = None,
) -> list[Line]:
    """Return the lines of a function with what two runs differ in, and which way they went.

    Parameters
    ----------
    lines : sequence of str
    first : int
        The number of the first one.
    text : str
        The whole source they are from, as recorded.
    tests : iterable of Branch
    found : Difference, optional
    """
    signs = {
        frozenset({"came"}): ("+", "came"),
        frozenset({"went"}): ("\N{MINUS SIGN}", "went"),
    }
    result = []
    for number, written in enumerate(lines, first):
        line = Line(number, written)
        looks = frozenset(change.lines.get((text, number), ()) if change else ())
        if looks - {"stayed"}:
            line.sign, line.look = signs.get(looks, ("\N{PLUS-MINUS SIGN}", ""))
        for branch in tests:
            if branch.source == text and branch.line == number:
                line.lit.append((branch.start, branch.end))
                line.note += ("; " if line.note else "") + branch.note()
        result.append(line)
    return result


# -- which node is which --------------------------------------------------------------------------


def _matched(before: RecordingData, now: RecordingData) -> list[tuple[int, int]]:
    """Return the pairs (old, new) of nodes that are the same.

    Operations of which one came first in one run and the other in the other run cannot both be the
    same: in the one graph of both, arrows could run in a circle.
    """
    places = {key: i for i, key in enumerate(_keys(before))}
    all_pairs = [(places[key], j) for j, key in enumerate(_keys(now)) if key in places]
    leaves = [pair for pair in all_pairs if now["nodes"][pair[1]]["kind"] == "leaf"]
    ops = sorted(pair for pair in all_pairs if now["nodes"][pair[1]]["kind"] == "op")
    return leaves + _longest_rising(ops)


def _keys(recording: RecordingData) -> list[Any]:
    counts: Counter[Any] = Counter()
    scopes = recording["scopes"]

    def place(where: Any) -> Any:
        return where and (recording["sources"][where[0]]["text"], *where[1:])

    paths: list[Any] = []
    for scope in scopes:
        outer = () if scope["parent"] is None else paths[scope["parent"]]
        step: tuple[Any, ...] = ()
        if scope["kind"] == "iteration":  # by its number: other rounds may have taken other paths
            step = (("iteration", place(scope["where"]), scope["index"]),)
        elif scope["kind"] == "test":
            step = (("test", place(scope["where"])),)
        elif scope["kind"] == "call":
            # The first call is that of the function itself, from wherever that was.
            is_inner = any(kind == "call" for kind, *_ in outer)
            step = (("call", place(scope["where"]) if is_inner else None),)
        paths.append((*outer, *step))
    keys = []
    for node in recording["nodes"]:
        if node["where"] is None:
            # A name that occurs twice has got a number; the same one alone has none.
            key: Any = (node["op"], variable_of(node))
        else:
            key = (node["op"], place(node["where"]), paths[node["scope"]])
        keys.append((key, counts[key]))
        counts[key] += 1
    return keys


def _longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return as many pairs as possible whose second numbers rise as the first do."""
    ends: list[int] = []
    last: list[int] = []  # number of the pair at which a rising row of this length ends
    previous: list[int] = []
    for number, (_, j) in enumerate(pairs):
        at = bisect_left(ends, j)
        previous.append(last[at - 1] if at else -1)
        ends[at:], last[at:] = [j, *ends[at + 1 :]], [number, *last[at + 1 :]]
    result = []
    number = last[-1] if last else -1
    while number >= 0:
        result.append(pairs[number])
        number = previous[number]
    return result[::-1]


def _merged_order(
    old: Sequence[NodeRecord], new: Sequence[NodeRecord], pairs: Iterable[tuple[int, int]]
) -> tuple[list[tuple[Any, Any]], dict[int, int], dict[int, int]]:
    """Put the nodes of both runs in one order in which every arrow leads to a later one.

    Returns
    -------
    tuple - the order, as pairs (old, new) with None for the run that lacks it; and by old and by
    new number, the place in it.
    """
    partner = dict(pairs)
    order: list[tuple[Any, Any]] = []
    old_id: dict[int, int] = {}
    new_id: dict[int, int] = {}
    of_new = {j: i for i, j in partner.items()}

    def put(i: int | None, j: int | None) -> None:
        for at, nodes, ids in ((i, old, old_id), (j, new, new_id)):
            for source in [] if at is None else nodes[at]["inputs"]:
                if "node" in source and source["node"] not in ids:  # a leaf; ops came before
                    leaf = source["node"]
                    put(*((leaf, partner.get(leaf)) if ids is old_id else (of_new.get(leaf), leaf)))
        if i is not None:
            old_id[i] = len(order)
        if j is not None:
            new_id[j] = len(order)
        order.append((i, j))

    j = 0
    for i, node in enumerate(old):
        if node["kind"] == "leaf":
            continue
        if i in partner:
            for k in range(j, partner[i]):
                if new[k]["kind"] == "op":
                    put(None, k)
            j = partner[i] + 1
        put(i, partner.get(i))
    for k in range(j, len(new)):
        if new[k]["kind"] == "op":
            put(None, k)
    for i in range(len(old)):  # what nothing was made of
        if i not in old_id:
            put(i, partner.get(i))
    for k in range(len(new)):
        if k not in new_id:
            put(None, k)
    return order, old_id, new_id


def _sources(before: RecordingData, now: RecordingData) -> tuple[list[Any], Any, Any]:
    """Return the sources of both, and where those of each one are among them."""
    sources = list(now["sources"])
    places = []
    for source in before["sources"]:
        texts = [s["text"] for s in sources]
        if source["text"] not in texts:
            sources.append(source)
            texts.append(source["text"])
        places.append(texts.index(source["text"]))
    return sources, places, list(range(len(now["sources"])))


def _moved(where: Any, places: Sequence[int]) -> Any:
    return where and [places[where[0]], *where[1:]]


def _last_pass(events: Sequence[Event], ids: Mapping[int, int]) -> list[Event]:
    """Return the events of the last backward pass, with other numbers of their nodes."""
    starts = [k for k, event in enumerate(events) if event["kind"] == "backward"]
    if not starts:
        return []
    result: list[Event] = []
    for event in events[starts[-1] :]:
        if event["kind"] == "backward":
            roots = [ids[node] for node in event["roots"]]
            result.append({**event, "roots": roots, "where": None, "scope": 0})
        elif event["kind"] == "visit" or event["kind"] == "accumulate":
            moved = event.copy()
            moved["node"] = ids[event["node"]]
            result.append(moved)
        elif event["kind"] == "contribution":
            result.append({**event, "node": ids[event["node"]], "to": ids[event["to"]]})
        elif event["kind"] == "finish":
            result.append({"kind": "finish"})
    return result


def _linked(source: Input, ids: Mapping[int, int]) -> Input:
    return {**source, "node": ids[source["node"]]} if "node" in source else source.copy()


def _count(number: int) -> str:
    return f"{number:,} operation{'s' * (number != 1)}"


def _some(texts: Sequence[str]) -> str:
    listing = ", ".join(text if len(text) <= 40 else text[:39] + "…" for text in texts[:NAMED])
    return listing + ", ..." * (len(texts) > NAMED)
