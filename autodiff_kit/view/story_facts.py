"""What can be looked up in a recording when something went wrong: places, values, ways.

After reading you know how an error's line leads to a node, how a place in the source is read, and
how the path back from a result is followed to where it ends. Read next: ``story_saved.py``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from autodiff_kit.view.labels import word
from autodiff_kit.view.names import Names
from autodiff_kit.view.rules import parsed
from autodiff_kit.view.words import listed

__all__ = ["Chapter", "Facts", "Left", "Told", "Where", "base_of"]

Where = Sequence[int]
Left = tuple["Where | None", str, str]  # where, by what, out of what
NAMED = 6  # more names are not listed
AWAY = ("detach", "data", "item", "tolist", "numpy")  # give the numbers without the graph
NUMBERS = ("float", "int", "list")  # as do these functions
COPIES = ("tensor", "as_tensor", "asarray", "from_numpy", "Tensor", "FloatTensor")
MODULES = ("torch", "ak", "autodiff_kit", "copy", "F", "autograd", "nn", "optim")
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
        return "\n".join([*lines, f"How to fix it: {self.fix}"])


Told = tuple[str, list[Chapter], str]  # title, chapters, what fixes it


class Facts:
    """What can be looked up in a recording."""

    def __init__(self, recording: Mapping[str, Any]) -> None:
        self.recording = recording
        self.nodes: Sequence[Mapping[str, Any]] = recording["nodes"]
        self.events: Sequence[Mapping[str, Any]] = recording["events"]
        self.error: Mapping[str, Any] = recording["error"] or {"message": "", "where": None}
        self.names = Names(recording)
        self._trees: dict[int, list[Any]] = {}

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
        """Return all nodes of a source's syntax tree: the same ones each time."""
        if source not in self._trees:
            try:
                tree = ast.parse(self.recording["sources"][source]["text"])
            except SyntaxError:
                tree = ast.Module([], [])
            self._trees[source] = list(ast.walk(tree))
        return self._trees[source]

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

    @cached_property
    def ran(self) -> set[tuple[int, Any]]:
        """The functions in which something was recorded: source, and the function's syntax tree."""
        entries = [*self.nodes, *self.events, *self.recording["scopes"], self.error]
        places = {tuple(e["where"][:2]) for e in entries if e.get("where")}
        return {(source, self._function_at(source, line)) for source, line in places}

    def _function_at(self, source: int, line: int) -> Any:
        """Return the innermost function around a line; None outside of all."""
        around = [
            node
            for node in self.walk(source)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and node.body[0].lineno <= line <= (node.end_lineno or 0)
        ]
        return max(around, key=lambda node: node.lineno, default=None)

    def assigned(self, name: str, before: Where | None = None) -> tuple[int, ast.expr] | None:
        """Return what a name was given last, in a function that ran: its source, its expression."""
        found: tuple[int, ast.expr] | None = None
        for source, function in sorted(self.ran, key=lambda one: one[0]):
            if before is not None and (
                source != before[0] or function is not self._function_at(source, before[1])
            ):
                continue
            for node in self.walk(source):
                if not isinstance(node, ast.Assign) or ast.unparse(node.targets[0]) != name:
                    continue
                is_here = self._function_at(source, node.lineno) is function
                is_before = before is None or node.lineno < before[1]
                is_later = found is None or found[0] != source or found[1].lineno < node.lineno
                if is_here and is_before and is_later:
                    found = source, node.value
        return found

    def left(self, node: int) -> Left | None:
        """Return where a leaf was taken out of the graph: the place, by what, and out of what."""
        record = self.nodes[node]
        if record["kind"] != "leaf" or record["requires_grad"] or record.get("part"):
            return None
        written = self._written(node)
        if written is not None and (made := parsed(written[1])) is not None:
            if taken := self._taken(made):
                return written[0], *taken
            waiting = [n.id for n in ast.walk(made) if isinstance(n, ast.Name)]
            seen: set[str] = set()
            while waiting:  # `a = x.numpy()`, and then `torch.tensor(a)`
                name = waiting.pop(0)
                found = None if name in seen else self.assigned(name, written[0])
                seen.add(name)
                if found is None:
                    continue
                if taken := self._taken(found[1]):
                    return span_of(found[0], found[1]), *taken
                waiting += [n.id for n in ast.walk(found[1]) if isinstance(n, ast.Name)]
        if record["where"] is not None:
            return None
        for user in self.nodes:
            uses = any(i.get("node") == node for i in user["inputs"])
            used = parsed(user["text"]) if uses else None
            if used is not None and (taken := self._taken(used)):
                return user["where"], *taken
        return None

    def _written(self, node: int) -> tuple[Where, str] | None:
        """Return where and how a leaf is made: also one that PyTorch makes to copy it at once."""
        record = self.nodes[node]
        if record["where"] is not None:
            return record["where"], record["text"]
        for user in self.nodes:
            uses = user["where"] and any(i.get("node") == node for i in user["inputs"])
            copied = parsed(user["text"]) if uses else None
            if copied is not None and _is_copy(copied):
                return user["where"], user["text"]
        base = base_of(record["name"] or "")
        found = self.assigned(base) if base else None
        return None if found is None else (span_of(*found), ast.unparse(found[1]))

    def _taken(self, expression: ast.expr) -> tuple[str, str] | None:
        """Return what takes numbers out of the graph in an expression, and out of what."""
        for node in ast.walk(expression):
            inner, how = _inside(node)
            if inner is None:
                continue
            while (deeper := _inside(inner))[0] is not None:  # x.detach().numpy()
                inner, how = deeper[0], f"{deeper[1]}{how}" if how[0] == "." else deeper[1]
            return how, ast.unparse(inner)
        if _is_copy(expression):
            for node in _terms(expression.args[0]):  # type: ignore[attr-defined]
                if self.find(node) is not None:
                    return "torch.tensor", ast.unparse(node)
        return None

    def inside(self, left: Left) -> int | None:
        """Return the node of what was taken out of the graph."""
        tree = parsed(left[2])
        return None if tree is None else self.find(tree)

    def stay(self, node: int, left: Left) -> str:
        """Say how a leaf that was taken out of the graph is computed inside of it."""
        where, how, inner = left
        written = self._written(node) or (None, "")
        copied = parsed(written[1])
        if copied is None or not _is_copy(copied):
            if how[0] != ".":
                return f"stay in tensors: compute with `{inner}` itself"
            return f"leave out `{how}` where a gradient has to flow"
        if where != written[0]:
            return (
                f"stay in tensors: use `{inner}` itself instead of `{self.text(where)}`, and what "
                f"comes of it instead of `{written[1]}`"
            )
        argument = _Stay().visit(deepcopy(copied.args[0]))  # type: ignore[attr-defined]
        if any(
            isinstance(n, ast.Name) and n.id in ("np", "numpy", "math") for n in ast.walk(argument)
        ):
            return f"stay in tensors: compute with torch's functions on `{inner}` itself"
        text = ast.unparse(argument)
        if isinstance(argument, ast.List | ast.Tuple):
            text = f"torch.stack({text})"
        return f"stay in tensors: write `{text}` instead of `{written[1]}`"

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
        if isinstance(found, ast.Call):
            func = found.func
            owner = ast.unparse(func.value) if isinstance(func, ast.Attribute) else "torch"
            is_module = owner.split(".")[0] in MODULES
            found = found.args[0] if is_module and found.args else getattr(func, "value", None)
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
        kept = self.nodes[node]["saved"]
        things = dict.fromkeys(
            "its own result" if s["name"] == "out" else f"`{operands.get(s['name'], s['name'])}`"
            for s in [s for s in kept if s["bytes"]] or kept  # a Python number has no storage
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
        away = [n for n in found if self.nodes[n]["kind"] == "op" or self.is_taken(n)]
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

    def is_taken(self, node: int) -> bool:
        """Return whether a leaf holds numbers that once had a graph."""
        return bool(self.left(node) or self.differentiated(node))

    def differentiated(self, node: int) -> Mapping[str, Any] | None:
        """Return the backward pass that has computed a leaf which is a gradient."""
        part = self.nodes[node].get("part", "")
        if part == "gradient that autograd.grad returned":
            return self.returned(self.name(node)) or self.last_pass(self.made(node))
        return self.last_pass(self.made(node)) if part == "gradient from backward" else None

    def last_pass(self, before: int) -> Mapping[str, Any] | None:
        """Return the last backward pass that began before an event."""
        passes = (e for e in reversed(self.events[:before]) if e["kind"] == "backward")
        return next(passes, None)

    def returned(self, name: str) -> Mapping[str, Any] | None:
        """Return the backward pass that has returned a gradient of this name without a graph."""
        found = None
        for i, event in enumerate(self.events):
            for result in event.get("results", ()):
                if result["name"] in (name, base_of(name)) and name:
                    found = None if result["node"] is not None else self.last_pass(i)
        return found

    def no_second(self, name: str, run: Mapping[str, Any]) -> tuple[Chapter, str]:
        """Tell that a gradient has no graph of its own: ``create_graph`` was not asked for."""
        call = self.text(run["where"])
        words = f"`{call}` computes `{name}` and records nothing of that: `{name}` has no graph."
        comma = "" if call.endswith("()") else ", "
        fix = f"record that backward pass: `{call[:-1]}{comma}create_graph=True)`"
        start = next(i for i, e in enumerate(self.events) if e is run)
        for event in self.events[start:]:
            if event["kind"] == "finish":
                break
            if event["kind"] == "visit" and self._reads_recorded(event["node"]):
                return Chapter(words, None, run["where"]), fix
        words += " Nor is it needed: no rule here reads a value that depends on a leaf."
        fix = f"`{name}` is constant, and its gradient is 0: there is nothing to differentiate"
        return Chapter(words, None, run["where"]), fix

    def _reads_recorded(self, node: int) -> bool:
        """Return whether a node has saved what has a graph, so that its gradient has one."""
        record = self.nodes[node]
        recorded = {
            i["arg"] for i in record["inputs"] if "node" in i and self.nodes[i["node"]]["recorded"]
        }
        return any(s["name"] == "out" or s["name"] in recorded for s in record["saved"])

    def cut(self, node: int) -> tuple[list[Chapter], str]:
        """Tell why nothing was recorded at a node, and what fixes that."""
        record = self.nodes[node]
        name = self.name(node)
        if record["kind"] == "leaf":
            if (run := self.differentiated(node)) is not None:
                chapter, cure = self.no_second(name, run)
                return [replace(chapter, node=node)], cure
            left = self.left(node)
            if left is None:
                words = f"`{name}` is a leaf that does not require a gradient."
                return [Chapter(words, node, record["where"])], self.cure([node])
            where, how, inner = left
            code = f"`{inner}{how}`" if how[0] == "." else f"`{how}`"
            words = (
                f"{code} gives the numbers without the graph: for what follows, `{name}` is a "
                "leaf that requires no gradient. The backward path ends here."
            )
            chapter = Chapter(words, node, where)
            source = self.inside(left)
            if source is not None and not self.nodes[source]["recorded"]:
                earlier = [self.cut(n) for n in self.cuts(source) if n != node]
                if earlier:  # the path has ended before, as at x.argmax()
                    chapters, cure = earlier[0]
                    return [*chapters, chapter], f"{cure}, and {self.stay(node, left)}"
            return [chapter], self.stay(node, left)
        what = f"`{record['text'] or record['op']}`"
        if record["op"] == "detach":
            words = f"{what} gives the numbers without the graph. The backward path ends here."
            made = parsed(record["text"])
            taken = self._taken(made) if made is not None else None
            how = taken[0].removeprefix(".") if taken else "detach()"
            cure = f"leave out `{how}` where a gradient has to flow"
            return [Chapter(words, node, record["where"])], cure
        if not self.recording["ops"][record["op"]]["rules"]:
            words = f"{what} has no derivative: its result jumps or counts. Nothing is recorded."
            return [Chapter(words, node, record["where"])], "use an operation that has a derivative"
        chapters = []
        switch = self.switch(record["where"])
        if switch is not None:
            text = self.text(switch)
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


class _Stay(ast.NodeTransformer):
    """Leaves out what takes numbers out of the graph."""

    def visit(self, node: ast.AST) -> Any:
        inner, _ = _inside(node)
        return self.visit(inner) if inner is not None else self.generic_visit(node)


def _inside(node: ast.AST) -> tuple[ast.expr | None, str]:
    """Return ``x`` for ``x.detach()``, ``x.data`` and ``float(x)``, and how it is taken out."""
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr=how), args=[]) if how in AWAY:
            return inner, f".{how}()"
        case ast.Attribute(value=inner, attr="data"):
            return inner, ".data"
        case ast.Call(func=ast.Name(id=how), args=[inner]) if how in NUMBERS:
            return inner, f"{how}()"
    return None, ""


def _is_copy(expression: ast.expr) -> bool:
    """Return whether a call copies numbers into a new leaf: ``torch.tensor(...)``."""
    func = expression.func if isinstance(expression, ast.Call) and expression.args else None
    return getattr(func, "attr", getattr(func, "id", "")) in COPIES


def _terms(expression: ast.expr) -> Iterator[ast.expr]:
    """Yield an expression and the parts that it is computed or composed of."""
    yield expression
    if isinstance(expression, ast.List | ast.Tuple | ast.BinOp | ast.UnaryOp):
        for part in ast.iter_child_nodes(expression):
            if isinstance(part, ast.expr):
                yield from _terms(part)


def span_of(source: int, node: Any) -> Where:
    return (source, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def base_of(name: str) -> str:
    """Return ``h`` for ``h2``: what a name was before it was numbered."""
    return re.sub(r"(?<=\D)\d+$", "", name)
