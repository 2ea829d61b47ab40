"""What can be looked up in a recording when something went wrong: the subject, names, saved values.

After reading you know how an error's line leads to a node, and of what a story is made. Read next:
``story_exits.py``.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from autodiff_kit.record.events import RecordingData
from autodiff_kit.record.source_tree import on_one_line
from autodiff_kit.view.names import Names
from autodiff_kit.view.rules import parsed
from autodiff_kit.view.story_code import Code, Where, before_a_dot

__all__ = ["Chapter", "Facts", "Story", "Told"]

MODULES = ("torch", "ak", "autodiff_kit", "copy", "F", "autograd", "nn", "optim")


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


@dataclass(frozen=True)
class Story:
    """What went wrong, place by place.

    Attributes
    ----------
    title : str
        The story in one line.
    error : str
        Class and first line of the message; "" if nothing was raised.
    chapters : tuple of Chapter
        In order of time; the last one is where it came to light.
    fix : str
        What to do.
    svg : str
        The code, the graph and the words, with the places numbered alike.
    """

    title: str
    error: str
    chapters: tuple[Chapter, ...]
    fix: str
    svg: str = ""

    def __str__(self) -> str:
        """Return all of it in words."""
        lines = [self.title]
        lines += [f"{i}. {chapter.words}" for i, chapter in enumerate(self.chapters, 1)]
        return "\n".join([*lines, *[f"How to fix it: {self.fix}"][: bool(self.fix)]])


Told = tuple[str, list[Chapter], str]  # title, chapters, what fixes it


class Facts(Code):
    """What can be looked up in a recording."""

    def __init__(self, recording: RecordingData) -> None:
        super().__init__(recording)
        self.names = Names(recording)

    def name(self, node: int) -> str:
        """Return what a node is called."""
        return self.names.name(node)

    def code(self, node: int) -> str:
        """Return what the learner writes for a node: its name, or its whole expression."""
        record = self.nodes[node]
        if record["name"]:
            return self.base(record["name"])
        return on_one_line(record["text"]) or self.name(node)

    def owner(self, node: int) -> str:
        """Return what the learner writes for a node before a dot: ``(w * 2)``."""
        return before_a_dot(self.code(node))

    def base(self, name: str) -> str:
        """Return ``h`` for ``h2``, unless the learner's own name is ``h2``."""
        return self._variables.get(name, name)

    @cached_property
    def _variables(self) -> dict[str, str]:
        return {str(n["name"]): n["variable"] for n in self.nodes if "variable" in n}

    def titled(self, node: int) -> str:
        """Return what a node is called, and how it is computed."""
        return self.names.title(node)

    def op(self, node: int) -> str:
        """Return what the op of a node is called in a sentence."""
        return self.names.verb(node)

    # -- the subject -----------------------------------------------------------------------------

    @cached_property
    def failed(self) -> ast.expr | None:
        """What the error's line was about: ``y`` in ``y.backward()``, in ``y += 1``."""
        try:
            tree = ast.parse(self.text(self.error["where"]))
        except SyntaxError:
            return None
        part: Any = tree.body[0] if tree.body else None
        part = getattr(part, "value", part) if isinstance(part, ast.Expr) else part
        if isinstance(part, ast.AugAssign):
            return part.target
        if isinstance(part, ast.Call):
            func = part.func
            owner = ast.unparse(func.value) if isinstance(func, ast.Attribute) else "torch"
            is_module = owner.split(".")[0] in (*MODULES, self.module)
            is_module = is_module or self.find(parsed(owner)) is None  # np.sin(x)
            part = part.args[0] if is_module and part.args else getattr(func, "value", None)
            if isinstance(part, ast.List | ast.Tuple) and part.elts:
                part = part.elts[0]
        elif isinstance(part, ast.Subscript | ast.Attribute):
            part = part.value
        return part if isinstance(part, ast.expr) else None

    def find(self, expression: ast.expr | None) -> int | None:
        """Return the latest node that an expression stands for."""
        if expression is None:
            return None
        text = ast.unparse(expression)
        for record in reversed(self.nodes):
            name = record["name"] or ""
            if name == text or self.base(name) == text:
                return int(record["id"])
        for record in reversed(self.nodes):
            if _normal(record["text"]) == text:
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
        entries = self.nodes[node]["saved"]
        things = dict.fromkeys(
            "its own result" if s["name"] == "out" else f"`{operands.get(s['name'], s['name'])}`"
            for s in [s for s in entries if s["bytes"]] or entries  # a Python number has no storage
        )
        return " and ".join(things) or "nothing"

    def made(self, node: int) -> int:
        """Return the number of the event that made a node."""
        return next(
            i
            for i, e in enumerate(self.events)
            if e["kind"] in ("leaf", "op") and e["node"] == node
        )


@lru_cache(maxsize=1024)
def _normal(text: str) -> str:
    """Return an expression as ``ast.unparse`` writes it: ``x * 1.0`` for ``x*1.``."""
    tree = parsed(on_one_line(text))
    return text if tree is None else ast.unparse(tree)
