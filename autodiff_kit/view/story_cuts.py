"""Where the path back through a graph ends, and how to fix that.

After reading you know why a node was not recorded: a leaf that requires no gradient, numbers taken
out of the graph, an operation without a derivative, recording switched off, a gradient computed
without ``create_graph``. Read next: ``story_paths.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autodiff_kit.record.entries import RETURNED
from autodiff_kit.record.events import Backward
from autodiff_kit.view.rules import parsed
from autodiff_kit.view.shortening import in_short
from autodiff_kit.view.story_code import before_a_dot
from autodiff_kit.view.story_exits import find_exit, find_taken, how_made, node_taken, stay
from autodiff_kit.view.story_facts import Chapter, Facts
from autodiff_kit.view.words import listed

__all__ = [
    "advise",
    "explain_cut",
    "explain_no_second",
    "find_cuts",
    "is_taken",
    "pass_that_returned",
]

NAMED = 6  # more names are not listed
FEW = 3  # lines that are corrected one by one
NAME_LENGTH = 40  # of an expression that stands for a name


def find_cuts(facts: Facts, node: int) -> list[int]:
    """Return the nodes at which the path back from an unrecorded one ends, oldest first."""
    cuts: dict[int, None] = {}
    waiting, visited = [node], set()
    while waiting:
        n = waiting.pop(0)
        if n in visited:
            continue
        visited.add(n)
        record = facts.nodes[n]
        inputs = [i["node"] for i in record["inputs"] if "node" in i]
        if record["recorded"]:
            continue
        if any(facts.nodes[i]["recorded"] for i in inputs) or record["kind"] == "leaf":
            cuts[n] = None
        waiting += inputs
    away = [n for n in cuts if facts.nodes[n]["kind"] == "op" or is_taken(facts, n)]
    return sorted(away or cuts)


def is_taken(facts: Facts, node: int) -> bool:
    """Return whether a leaf holds numbers that once had a graph."""
    return bool(find_exit(facts, node) or differentiated(facts, node))


def differentiated(facts: Facts, node: int) -> Backward | None:
    """Return the backward pass that has computed a leaf which is a gradient."""
    part = facts.nodes[node].get("part", "")
    if part == RETURNED:
        return pass_that_returned(facts, facts.name(node)) or last_pass(facts, facts.made(node))
    return last_pass(facts, facts.made(node)) if part == "gradient from backward" else None


def last_pass(facts: Facts, before: int) -> Backward | None:
    """Return the last backward pass that began before an event."""
    passes = (e for e in reversed(facts.events[:before]) if e["kind"] == "backward")
    return next(passes, None)


def pass_that_returned(facts: Facts, name: str) -> Backward | None:
    """Return the backward pass that has returned a gradient of this name without a graph."""
    result_pass = None
    for i, event in enumerate(facts.events):
        for result in event.get("results", ()) if event["kind"] == "finish" else ():
            if result["name"] in (name, facts.base(name)) and name:
                result_pass = None if result["node"] is not None else last_pass(facts, i)
    return result_pass


def explain_no_second(facts: Facts, name: str, run: Backward) -> tuple[Chapter, str]:
    """Tell that a gradient has no graph of its own: ``create_graph`` was not asked for."""
    call = facts.text(run["where"])
    words = f"`{call}` computes `{name}` and records nothing of that: `{name}` has no graph."
    comma = "" if call.endswith("()") else ", "
    fix = f"record that backward pass: `{call[:-1]}{comma}create_graph=True)`"
    start = next(i for i, e in enumerate(facts.events) if e is run)
    for event in facts.events[start:]:
        if event["kind"] == "finish":
            break
        if event["kind"] == "visit" and _reads_recorded(facts, event["node"]):
            return Chapter(words, run["roots"][0], run["where"]), fix
    words += " Nor is it needed: no rule here reads a value that depends on a leaf."
    fix = f"`{name}` is constant, and its gradient is 0: there is nothing to differentiate"
    return Chapter(words, run["roots"][0], run["where"]), fix


def _reads_recorded(facts: Facts, node: int) -> bool:
    """Return whether a node has saved what has a graph, so that its gradient has one."""
    record = facts.nodes[node]
    recorded = {
        i["arg"] for i in record["inputs"] if "node" in i and facts.nodes[i["node"]]["recorded"]
    }
    return any(s["name"] == "out" or s["name"] in recorded for s in record["saved"])


def explain_cut(facts: Facts, node: int) -> tuple[list[Chapter], str]:
    """Tell why nothing was recorded at a node, and what fixes that."""
    record = facts.nodes[node]
    name = facts.name(node)
    if record["kind"] == "leaf":
        if (run := differentiated(facts, node)) is not None:
            chapter, fix = explain_no_second(facts, name, run)
            return [replace(chapter, node=node)], fix
        exit = find_exit(facts, node)
        if exit is None:
            words = f"`{name}` is a leaf that does not require a gradient."
            return [Chapter(words, node, record["where"])], advise(facts, [node])
        where, how, inner = exit
        code = f"`{before_a_dot(inner)}{how}`" if how[0] == "." else f"`{how}`"
        if record["name"] is None and (written := how_made(facts, node)):
            name = in_short(written[1], NAME_LENGTH)
        leaf = "new leaf" if record["requires_grad"] else "leaf that requires no gradient"
        words = (
            f"{code} gives the numbers without the graph: for what follows, `{name}` is a "
            f"{leaf}. The backward path ends here."
        )
        chapter = Chapter(words, node, where)
        source = node_taken(facts, exit)
        if source is not None and not facts.nodes[source]["recorded"]:
            earlier = [explain_cut(facts, n) for n in find_cuts(facts, source) if n != node]
            if earlier:  # the path has ended before, as at x.argmax()
                chapters, fix = earlier[0]
                return [*chapters, chapter], f"{fix}, and {stay(facts, node, exit)}"
        return [chapter], stay(facts, node, exit)
    what = f"`{record['text'] or record['op']}`"
    if record["op"] == "detach":
        words = f"{what} gives the numbers without the graph. The backward path ends here."
        tree = parsed(record["text"])
        call = find_taken(facts, tree) if tree is not None else None
        how = call[0].removeprefix(".") if call else "detach()"
        fix = f"leave out `{how}` where a gradient has to flow"
        return [Chapter(words, node, record["where"])], fix
    if not facts.recording["ops"][str(record["op"])]["rules"]:
        words = f"{what} has no derivative: its result jumps or counts. Nothing is recorded."
        return [Chapter(words, node, record["where"])], "use an operation that has a derivative"
    chapters = []
    switch = facts.switch(record["where"])
    if switch is not None:
        text = facts.text(switch)
        chapters.append(Chapter(f"`{text}` switches recording off.", None, switch))
        fix = f"compute `{name}` outside of the part that `{text}` covers"
    else:
        fix = f"compute `{name}` while recording is on"
    chapters.append(
        Chapter(
            f"{what} was computed, but no node was made: the backward path ends here.",
            node,
            record["where"],
        )
    )
    return chapters, fix


def advise(facts: Facts, leaves: Sequence[int]) -> str:
    """Say how leaves that require no gradient are made to require one: all that can."""
    floats = [n for n in leaves if facts.nodes[n]["value"]["dtype"].startswith("float")]
    if not floats:
        whole = listed(f"`{facts.name(n)}`" for n in leaves)
        return f"only floats can require a gradient: make {whole} of floats, `1.0` instead of `1`"
    corrected = [_corrected(facts, n) for n in floats]
    if 1 < len(floats) <= FEW and all(" = " in line.split("(")[0] for line in corrected):
        lines = [f"`{line}`" for line in corrected]
        some = f"{', '.join(lines[:-1])} or {lines[-1]}"
        return f"ask for the gradients that you want where the tensors are made: {some}"
    if len(floats) > 1:
        names = [f"`{facts.name(n)}`" for n in floats]
        some = ", ".join(names[:-1]) if len(names) <= NAMED else ", ".join(names[:NAMED])
        last = names[-1] if len(names) <= NAMED else "another one"
        return (
            "make the tensors whose gradients you want with `requires_grad=True`, or call "
            f"`.requires_grad_()` on them first: {some} or {last}"
        )
    if corrected[0]:
        return f"write `{corrected[0]}`"
    return f"call `{facts.owner(floats[0])}.requires_grad_()` before you compute with it"


def _corrected(facts: Facts, leaf: int) -> str:
    """Return the line that makes a leaf, with ``requires_grad=True``; nothing if it cannot be."""
    record, name = facts.nodes[leaf], facts.name(leaf)
    text, line = record["text"], facts.line(record["where"])
    if not text.endswith(")") or "requires_grad" in text:
        return ""
    new = f"{text[:-1]}, requires_grad=True)"
    return line.replace(text, new) if line == f"{name} = {text}" else new
