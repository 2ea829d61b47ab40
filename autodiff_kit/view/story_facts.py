"""What can be looked up in a recording when something went wrong: places, values, ways.

After reading you know how an error's line leads to a node, how a place in the source is read, and
how the way back from a result is followed to where it ends. Read next: ``story_saved.py``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from autodiff_kit.view.formula import Names, word
from autodiff_kit.view.words import listed

__all__ = ["Chapter", "Facts", "Told", "Where", "base_of"]

Where = Sequence[int]
NAMED = 6  # more names are not listed
AWAY = re.compile(r"\b(detach\(\)|data\b|item\(\)|tolist\(\)|numpy\(\))|\bfloat\(")
OFF = re.compile(r"no_grad|inference_mode|set_grad_enabled\(False")


@dataclass(frozen=True)
class Chapter:
    """One place of a story.

    Attributes
    ----------
    words : str
        What happened there; code stands between backticks.
    node : int or None
        Where that is in the graph.
    where : list or None
        Where it is in the source: source, line, column, end line, end column.
    """

    words: str
    node: int | None = None
    where: Where | None = None


Told = tuple[str, list[Chapter], str]  # title, chapters, what mends it


class Facts:
    """What can be looked up in a recording."""

    def __init__(self, recording: Mapping[str, Any]) -> None:
        self.recording = recording
        self.nodes: Sequence[Mapping[str, Any]] = recording["nodes"]
        self.events: Sequence[Mapping[str, Any]] = recording["events"]
        self.error: Mapping[str, Any] = recording["error"] or {"message": "", "where": None}
        self.names = Names(recording)

    def name(self, node: int) -> str:
        """Return what a node is called."""
        return self.names.name(node)

    def titled(self, node: int) -> str:
        """Return what a node is called, and how it is computed."""
        return self.names.title(node)

    def op(self, node: int) -> str:
        """Return what the op of a node is called in a sentence."""
        return word(self.nodes[node]["op"])

    # -- the code --------------------------------------------------------------------------------

    def text(self, where: Where | None) -> str:
        """Return the characters at a place, on one line."""
        if where is None:
            return ""
        source, line, column, end_line, end_column = where
        lines = self.recording["sources"][source]["text"].splitlines()[line - 1 : end_line]
        lines[-1] = lines[-1][:end_column]
        lines[0] = lines[0][column:]
        return " ".join(" ".join(lines).split())

    def line(self, where: Where | None) -> str:
        """Return the first line of a place, as the learner wrote it."""
        if where is None:
            return ""
        lines = self.recording["sources"][where[0]]["text"].splitlines()
        return str(lines[where[1] - 1]).strip()

    def walk(self, source: int) -> list[Any]:
        """Return all nodes of a source's syntax tree."""
        try:
            return list(ast.walk(ast.parse(self.recording["sources"][source]["text"])))
        except SyntaxError:
            return []

    def switch(self, where: Where | None) -> Where | None:
        """Return the ``with torch.no_grad():`` or the decorator that is around a place."""
        found: Where | None = None
        if where is None:
            return None
        for node in self.walk(where[0]):
            parts: list[ast.expr] = []
            if isinstance(node, ast.With):
                parts = [item.context_expr for item in node.items]
            elif isinstance(node, ast.FunctionDef):
                parts = node.decorator_list
            off = [part for part in parts if OFF.search(ast.unparse(part))]
            if off and off[0].lineno <= where[1] <= node.end_lineno:
                found = span_of(where[0], off[0])
        return found

    def left(self, node: int) -> tuple[Where | None, str] | None:
        """Return where a leaf was taken out of the graph, as by ``.detach()``, and by what."""
        record = self.nodes[node]
        if record["kind"] != "leaf" or record["requires_grad"]:
            return None
        if match := AWAY.search(record["text"]):
            return record["where"], match[0]
        base = base_of(record["name"] or "")
        for number in range(len(self.recording["sources"])) if base else ():
            for found in self.walk(number):
                is_it = isinstance(found, ast.Assign) and ast.unparse(found.targets[0]) == base
                if is_it and (match := AWAY.search(ast.unparse(found.value))):
                    return span_of(number, found.value), match[0]
        for user in self.nodes:
            uses = any(i.get("node") == node for i in user["inputs"])
            if uses and (match := AWAY.search(user["text"])):
                return user["where"], match[0]
        return None

    # -- the subject -----------------------------------------------------------------------------

    @cached_property
    def failed(self) -> ast.expr | None:
        """What the error's line was about: ``y`` in ``y.backward()``, in ``y += 1``."""
        try:
            tree = ast.parse(self.text(self.error["where"]))
        except SyntaxError:
            return None
        found: Any = tree.body[0] if tree.body else None
        found = getattr(found, "value", found) if isinstance(found, ast.Expr) else found
        if isinstance(found, ast.AugAssign):
            return found.target
        if isinstance(found, ast.Call) and isinstance(found.func, ast.Attribute):
            owner = ast.unparse(found.func.value)
            is_module = owner.split(".")[0] in ("torch", "ak", "autodiff_kit", "copy", "F")
            found = found.args[0] if is_module and found.args else found.func.value
            if isinstance(found, ast.List | ast.Tuple) and found.elts:
                found = found.elts[0]
        elif isinstance(found, ast.Subscript | ast.Attribute):
            found = found.value
        return found if isinstance(found, ast.expr) else None

    def find(self, expression: ast.expr | None) -> int | None:
        """Return the latest node that an expression stands for."""
        if expression is None:
            return None
        text = ast.unparse(expression)
        for record in reversed(self.nodes):
            name = record["name"] or ""
            if name == text or base_of(name) == text:
                return int(record["id"])
        squeezed = text.replace(" ", "")
        for record in reversed(self.nodes):
            if record["text"].replace(" ", "") == squeezed:
                return int(record["id"])
        return None

    @cached_property
    def subject(self) -> int | None:
        """The node that the line of the error was about."""
        return self.find(self.failed)

    @cached_property
    def stopped_at(self) -> int | None:
        """The op whose turn it was when backward stopped."""
        kinds = [e for e in self.events if e["kind"] in ("visit", "finish")]
        last = kinds[-1] if kinds else {"kind": "finish"}
        return int(last["node"]) if last["kind"] == "visit" else None

    # -- the graph -------------------------------------------------------------------------------

    def saved(self, node: int) -> str:
        """Return what a node saves, in words."""
        operands = self.names.operands(node)
        things = dict.fromkeys(
            "its own result" if s["name"] == "out" else f"`{operands.get(s['name'], s['name'])}`"
            for s in self.nodes[node]["saved"]
            if s["bytes"]
        )
        return " and ".join(things) or "nothing"

    def made(self, node: int) -> int:
        """Return the number of the event that made a node."""
        return next(
            i
            for i, e in enumerate(self.events)
            if e["kind"] in ("leaf", "op") and e["node"] == node
        )

    def cuts(self, node: int) -> list[int]:
        """Return the nodes at which the path back from an unrecorded one ends, oldest first."""
        found: dict[int, None] = {}
        waiting, seen = [node], set()
        while waiting:
            n = waiting.pop(0)
            if n in seen:
                continue
            seen.add(n)
            record = self.nodes[n]
            inputs = [i["node"] for i in record["inputs"] if "node" in i]
            if record["recorded"]:
                continue
            if any(self.nodes[i]["recorded"] for i in inputs) or record["kind"] == "leaf":
                found[n] = None
            waiting += inputs
        away = [n for n in found if self.nodes[n]["kind"] == "op" or self.left(n)]
        return sorted(away or found)

    def cure(self, leaves: Sequence[int]) -> str:
        """Say how leaves that require no gradient are made to require one: all that can."""
        floats = [n for n in leaves if self.nodes[n]["value"]["dtype"].startswith("float")]
        if not floats:
            whole = listed(f"`{self.name(n)}`" for n in leaves)
            return (
                f"only floats can require a gradient: make {whole} of floats, `1.0` instead of `1`"
            )
        if len(floats) > 1:
            names = [f"`{self.name(n)}`" for n in floats]
            some = ", ".join(names[:-1]) if len(names) <= NAMED else ", ".join(names[:NAMED])
            last = names[-1] if len(names) <= NAMED else "another one"
            return (
                "make the tensors whose gradients you want with `requires_grad=True`, or call "
                f"`.requires_grad_()` on them first: {some} or {last}"
            )
        record, name = self.nodes[floats[0]], self.name(floats[0])
        text, line = record["text"], self.line(record["where"])
        if not text.endswith(")") or "requires_grad" in text:
            return f"call `{name}.requires_grad_()` before you compute with it"
        new = f"{text[:-1]}, requires_grad=True)"
        return f"write `{line.replace(text, new) if line == f'{name} = {text}' else new}`"

    def cut(self, node: int) -> tuple[list[Chapter], str]:
        """Tell why nothing was recorded at a node, and what mends that."""
        record = self.nodes[node]
        name = self.name(node)
        if record["kind"] == "leaf":
            left = self.left(node)
            if left is None:
                words = f"`{name}` is a leaf that does not require a gradient."
                return [Chapter(words, node, record["where"])], self.cure([node])
            where, how = left
            words = (
                f"`{how}` gives the numbers without the graph: for what follows, `{name}` is a "
                "leaf that requires no gradient. The backward path ends here."
            )
            return [Chapter(words, node, where)], f"leave out `.{how}` where a gradient has to flow"
        what = f"`{record['text'] or record['op']}`"
        if record["op"] == "detach":
            words = f"{what} gives the numbers without the graph. The backward path ends here."
            cure = "leave out `detach()` where a gradient has to flow"
            return [Chapter(words, node, record["where"])], cure
        if not self.recording["ops"][record["op"]]["rules"]:
            words = f"{what} has no derivative: its result jumps or counts. Nothing is recorded."
            return [Chapter(words, node, record["where"])], "use an operation that has a derivative"
        chapters = []
        switch = self.switch(record["where"])
        if switch is not None:
            text = self.text(switch)
            chapters.append(Chapter(f"`{text}` switches recording off.", None, switch))
            mend = f"compute `{name}` outside of the part that `{text}` covers"
        else:
            mend = f"compute `{name}` while recording is on"
        chapters.append(
            Chapter(
                f"{what} was computed, but no node was made: the backward path ends here.",
                node,
                record["where"],
            )
        )
        return chapters, mend


def span_of(source: int, node: Any) -> Where:
    return (source, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def base_of(name: str) -> str:
    """Return ``h`` for ``h2``: what a name was before it was numbered."""
    return re.sub(r"(?<=\D)\d+$", "", name)
