"""An error of autograd, told as a story: where it began, what happened then, what would mend it.

After reading you can say how the plain facts of a recording - who saved what, what was changed or
freed, where nothing was recorded - become a few numbered places in the code and in the graph. The
message of the error says which story it is; the places are looked up. Read next: ``story_svg.py``,
which draws them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

from autodiff_kit.view.formula import Names, shape_text, show, word
from autodiff_kit.view.frames import memory

__all__ = ["Chapter", "Story", "story"]

Where = Sequence[int]
KEYS = ("sources", "ops", "scopes", "nodes", "events", "error")
SHARING = {  # their results look into the memory of their first input
    *("reshape", "view", "select", "slice_dim", "transpose", "t", "permute", "expand", "unsqueeze"),
    *("squeeze", "squeeze_dim", "squeeze_dims", "drop_dim", "alias", "pick", "split_item"),
    *("unbind_item", "split_with_sizes_item", "reshape_alias"),
}
AWAY = re.compile(r"\b(detach\(\)|data\b|item\(\)|tolist\(\)|numpy\(\))|\bfloat\(")
OFF = re.compile(r"no_grad|inference_mode|set_grad_enabled\(False")
LONG = 240  # of a longer message the first sentence is shown
CHANGES = 3  # more changes of one value are not told one by one


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
    mend : str
        What to do.
    svg : str
        The code, the graph and the words, with the places numbered alike.
    """

    title: str
    error: str
    chapters: tuple[Chapter, ...]
    mend: str
    svg: str = ""

    def __str__(self) -> str:
        """Return all of it in words."""
        lines = [self.title]
        lines += [f"{i}. {chapter.words}" for i, chapter in enumerate(self.chapters, 1)]
        return "\n".join([*lines, f"To mend it: {self.mend}"])


def story(recording: Any, leaf: str | None = None) -> Story | None:
    """Tell why a recorded run ended with an error, or why a leaf got no gradient.

    Parameters
    ----------
    recording : Recording or dict
        Of this kit or of PyTorch.
    leaf : str, optional
        Ask why ``leaf.grad`` is None. Without it, and without an error, all leaves are asked about
        that want a gradient and got none.

    Returns
    -------
    Story, or None - if nothing went wrong, or it has nothing to do with the graph.

    Examples
    --------
    >>> import autodiff_kit as ak
    >>> with ak.record() as rec:
    ...     x = ak.tensor(2.0, requires_grad=True)
    ...     y = x.detach() * 3
    ...     (x + y).backward()
    >>> story(rec) is None
    True
    """
    from autodiff_kit.view.story_svg import draw  # it draws what this file tells

    if not isinstance(recording, Mapping):
        recording = {key: getattr(recording, key) for key in KEYS}
    facts = _Facts(recording)
    error = recording["error"]
    if error is None or leaf is not None:
        found = _lost(facts, leaf)
        said = ""
    else:
        told = ((re.search(pattern, error["message"]), tell) for pattern, tell in _TELLERS)
        found = next((tell(facts, match) for match, tell in told if match), None)
        line = error["message"].splitlines()[0].split(" Hint:")[0]
        said = f"{error['type']}: {line if len(line) < LONG else line.split('. ')[0] + '.'}"
    if found is None or not found[1]:
        return None
    title, chapters, mend = found
    plain = Story(title.replace("`", ""), said, tuple(chapters), mend)
    return replace(plain, svg=draw(recording, plain))


Told = tuple[str, list[Chapter], str]


class _Facts:
    """What can be looked up in a recording."""

    def __init__(self, recording: Mapping[str, Any]) -> None:
        self.recording = recording
        self.nodes: Sequence[Mapping[str, Any]] = recording["nodes"]
        self.events: Sequence[Mapping[str, Any]] = recording["events"]
        self.error: Mapping[str, Any] = recording["error"] or {"message": "", "where": None}
        self.names = Names(recording)

    def name(self, node: int) -> str:
        return self.names.name(node)

    def titled(self, node: int) -> str:
        return self.names.title(node)

    def op(self, node: int) -> str:
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
                found = _span(where[0], off[0])
        return found

    def left(self, node: int) -> tuple[Where | None, str] | None:
        """Return where a leaf was taken out of the graph, as by ``.detach()``, and by what."""
        record = self.nodes[node]
        if record["kind"] != "leaf" or record["requires_grad"]:
            return None
        if match := AWAY.search(record["text"]):
            return record["where"], match[0]
        base = _base(record["name"] or "")
        for number in range(len(self.recording["sources"])) if base else ():
            for found in self.walk(number):
                is_it = isinstance(found, ast.Assign) and ast.unparse(found.targets[0]) == base
                if is_it and (match := AWAY.search(ast.unparse(found.value))):
                    return _span(number, found.value), match[0]
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
            if name == text or _base(name) == text:
                return int(record["id"])
        squeezed = text.replace(" ", "")
        for record in reversed(self.nodes):
            if record["text"].replace(" ", "") == squeezed:
                return int(record["id"])
        return None

    @cached_property
    def subject(self) -> int | None:
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
        """Return the nodes at which the way back from an unrecorded one ends."""
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
        return away or list(found)

    def cut(self, node: int) -> tuple[list[Chapter], str]:
        """Tell why nothing was recorded at a node, and what mends that."""
        record = self.nodes[node]
        name = self.name(node)
        if record["kind"] == "leaf":
            left = self.left(node)
            if left is None:
                words = f"`{name}` is a leaf that wants no gradient, and nothing else came in."
                text = record["text"]
                made = f": `{text[:-1]}, requires_grad=True)`" if text.endswith(")") else ""
                return [Chapter(words, node, record["where"])], f"let it want one{made}"
            where, how = left
            words = (
                f"`{how}` gives the numbers without the graph: for what follows, `{name}` is a "
                "leaf that wants no gradient. The way back ends here."
            )
            return [
                Chapter(words, node, where)
            ], f"leave out `.{how}` where the gradient has to pass"
        what = f"`{record['text'] or record['op']}`"
        if not self.recording["ops"][record["op"]]["rules"]:
            words = f"{what} has no derivative: its result jumps or counts. Nothing is recorded."
            return [Chapter(words, node, record["where"])], "use an operation that has a slope"
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
                f"{what} was computed all the same, but no node was made: the way back ends here.",
                node,
                record["where"],
            )
        )
        return chapters, mend


def _span(source: int, node: Any) -> Where:
    return (source, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def _base(name: str) -> str:
    """Return ``h`` for ``h2``: what a name was before it was numbered."""
    return re.sub(r"(?<=\D)\d+$", "", name)


# -- the stories: each takes the facts and what its pattern has found ---------------------------


def _changed(facts: _Facts, match: re.Match[str]) -> Told | None:
    node = facts.stopped_at
    if node is None:
        return None
    now, expected = int(match[1]), int(match[2])
    made = facts.made(node)
    sharing: dict[int, int] = {}  # node -> whose memory it looks into

    def root(n: int) -> int:
        return root(sharing[n]) if n in sharing else n

    changes: dict[str, list[tuple[int, Mapping[str, Any]]]] = {}  # by line: of a view, two at once
    for i, event in enumerate(facts.events):
        n = event.get("node", -1)
        inputs = facts.nodes[n]["inputs"] if n >= 0 else []
        first = next((s["node"] for s in inputs if "node" in s), None)
        if event["kind"] == "op" and facts.nodes[n]["op"] in SHARING and first is not None:
            sharing[n] = first
        elif event["kind"] == "modified":
            if facts.nodes[n]["kind"] == "op" and first is not None and root(first) != n:
                sharing[n] = first
            if i > made:
                changes.setdefault(f"{event['where']} {event['how']}", []).append((root(n), event))
    operands = {i["arg"]: i["node"] for i in facts.nodes[node]["inputs"] if "node" in i}
    for kept in facts.nodes[node]["saved"]:
        arg = kept["name"]
        value = operands.get(arg, node)
        mine = [e[0][1] for e in changes.values() if any(g == root(value) for g, _ in e)]
        if mine:
            break
    else:
        return None
    what = "its own result" if arg == "out" else f"`{facts.name(value)}`"
    title = f"A value that backward needs was changed after {facts.op(node)} had saved it"
    chapters = [
        Chapter(
            f"`{facts.titled(node)}` saves {what} for its rule: version {expected}.",
            node,
            facts.nodes[node]["where"],
        )
    ]
    told = mine if len(mine) <= CHANGES else [mine[0], mine[-1]]
    for k, event in enumerate(told):
        version = now if event is mine[-1] else expected + 1 + k
        line = facts.line(event["where"])
        how = f"`{line}` writes into the same memory" if line else "The same memory is written"
        if event["how"].endswith(".step"):
            how = f"{event['how'].split('.')[0]} updates `{facts.name(event['node'])}` in place"
        chapters.append(Chapter(f"{how}: version {version}.", event["node"], event["where"]))
    chapters.append(
        Chapter(
            f"Backward comes to {facts.op(node)} and wants version {expected}. There is "
            f"only version {now}: the old numbers are gone.",
            node,
            facts.error["where"],
        )
    )
    event = mine[-1]
    if event["how"].endswith(".step"):
        mend = "call backward before the optimizer's step, and run the forward code again after it"
    else:
        mend = f"make a new tensor instead of writing into the old one: {_instead(facts, mine)}"
    return title, chapters, mend


def _instead(facts: _Facts, changes: Sequence[Mapping[str, Any]]) -> str:
    """Return how a line in place is written without: ``y = y + 1``; several, by a copy before."""
    text = facts.line(changes[0]["where"])
    try:
        (line,) = ast.parse(text).body
    except (SyntaxError, ValueError):
        return "`y = y + 1` instead of `y += 1`"
    if len(changes) > 1:
        first = re.match(r"[^\W\d]\w*", text)
        copy = f"`{first[0]} = {first[0]}.clone()`" if first else "a clone"
        return f"{copy} on a line before `{text}`"
    if isinstance(line, ast.AugAssign) and isinstance(line.target, ast.Name):
        name = line.target.id
        return f"`{name} = {ast.unparse(ast.BinOp(line.target, line.op, line.value))}`"
    call = line.value if isinstance(line, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        owner = ast.unparse(call.func.value)
        without = ast.Call(
            ast.Attribute(call.func.value, call.func.attr.rstrip("_")), call.args, call.keywords
        )
        if owner.isidentifier():
            return f"`{owner} = {ast.unparse(without)}`"
    if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Subscript):
        owner = ast.unparse(line.targets[0].value)
        return f"`{owner} = {owner}.clone()` on the line before `{ast.unparse(line)}`"
    return "change a clone(), and keep the old one as it is"


def _twice(facts: _Facts, match: re.Match[str]) -> Told | None:
    node = facts.stopped_at
    if node is None:
        return None
    passes = [e for e in facts.events if e["kind"] == "backward"]
    freed = next(
        (i for i, e in enumerate(facts.events) if e["kind"] == "release" and e["node"] == node),
        None,
    )
    if freed is None:
        return None
    first = next(e for e in reversed(facts.events[:freed]) if e["kind"] == "backward")
    op = facts.op(node)
    same_line = first["where"] == passes[-1]["where"]
    chapters = [
        Chapter(
            f"`{facts.titled(node)}` saves {facts.saved(node)} for its rules.",
            node,
            facts.nodes[node]["where"],
        ),
        Chapter(
            f"The first backward uses what {op} had saved, and frees it: "
            f"{memory(facts.events[freed]['bytes'])}.",
            node,
            first["where"],
        ),
        Chapter(
            f"The second backward comes to {op} again and finds nothing there.",
            node,
            facts.error["where"],
        ),
    ]
    keep = facts.text(first["where"]).replace("()", "(retain_graph=True)")
    ways = f"run the forward code again; or let the first backward keep what was saved: `{keep}`"
    title = "The graph was freed by the first backward, and wanted by a second"
    if same_line:
        title = "A round of the loop reaches back into the graph of the round before"
        ways = "cut the graph between the rounds with `.detach()`, or go back once, at the end"
    elif first["roots"] != passes[-1]["roots"]:
        a, b = (facts.name(p["roots"][0]) for p in (first, passes[-1]))
        shared = f"`{a}` and `{b}` share `{facts.name(node)}`."
        chapters[0] = Chapter(f"{chapters[0].words} {shared}", chapters[0].node, chapters[0].where)
        ways = f"go back once for both: `({a} + {b}).backward()`"
    return title, chapters, ways


def _no_scalar(facts: _Facts, match: re.Match[str]) -> Told | None:
    node = facts.subject
    if node is None:
        return None
    value = facts.nodes[node]["value"]
    count = prod(value["shape"])
    name = _base(facts.name(node))
    text = facts.text(facts.error["where"])
    start = name if name.isidentifier() else f"({name})"
    return (
        f"Backward begins with one 1, and `{name}` has {count} numbers",
        [
            Chapter(
                f"`{facts.titled(node)}` has shape {shape_text(value['shape'])}: {count} numbers.",
                node,
                facts.nodes[node]["where"],
            ),
            Chapter(
                f"`{text}` needs a number to begin with at each of them. For a single number "
                "that is 1; for many, only you can say.",
                node,
                facts.error["where"],
            ),
        ],
        f"make one number of them: `{start}.sum().backward()` or `{start}.mean().backward()`; or "
        f"say what flows in: `{start}.backward(torch.ones_like({name}))`",
    )


def _no_graph(facts: _Facts, match: re.Match[str]) -> Told | None:
    node = facts.subject
    if node is None or facts.nodes[node]["recorded"]:
        return None
    chapters: list[Chapter] = []
    mends: dict[str, None] = {}
    for cut in facts.cuts(node)[:2]:
        told, mend = facts.cut(cut)
        chapters += [c for c in told if c not in chapters]
        mends[mend] = None
    text = facts.text(facts.error["where"])
    needs = {
        "retain_grad": "would keep a gradient, but none will ever come",
        "register_hook": "would wait for a gradient, but none will ever come",
    }
    why = next((words for key, words in needs.items() if key in text), "")
    name = facts.name(node)
    last = f"`{text}` {why or 'looks for the node that made `' + name + '`, and there is none'}."
    chapters.append(Chapter(last, node, facts.error["where"]))
    return f"No graph leads back from `{name}`", chapters, "; ".join(mends)


def _leaf_in_place(facts: _Facts, match: re.Match[str]) -> Told | None:
    node = facts.subject
    if node is None:
        return None
    chapters = []
    leaf = node
    while facts.nodes[leaf]["kind"] == "op":
        leaf = next(i["node"] for i in facts.nodes[leaf]["inputs"] if "node" in i)
    name = facts.name(leaf)
    chapters.append(
        Chapter(
            f"`{name}` is a leaf, and you asked for the gradient with respect to its value.",
            leaf,
            facts.nodes[leaf]["where"],
        )
    )
    if leaf != node:
        words = f"`{facts.titled(node)}` is a view: it looks into the memory of `{name}`."
        chapters.append(Chapter(words, node, facts.nodes[node]["where"]))
    text = facts.line(facts.error["where"])
    chapters.append(
        Chapter(
            f"`{text}` would put other numbers into `{name}`. Then `{name}` would not be what "
            "you made any more, and its gradient would belong to numbers that are gone.",
            node,
            facts.error["where"],
        )
    )
    return (
        f"A change in place of the leaf `{name}`, while it is being recorded",
        chapters,
        f"if it is an update: put `with torch.no_grad():` around `{text}`; otherwise make a new "
        "tensor",
    )


def _unused(facts: _Facts, match: re.Match[str]) -> Told | None:
    call = _call(facts)
    asked = _asked(call)
    index = int(match[1])
    node = facts.find(asked[index]) if index < len(asked) else None
    root = facts.find(call.args[0]) if call and call.args else None
    if node is None or root is None:
        return None
    name, of = facts.name(node), facts.name(root)
    return (
        f"`{name}` was not used on the way to `{of}`",
        [
            Chapter(f"`{name}` is made here.", node, facts.nodes[node]["where"]),
            Chapter(
                f"`{facts.titled(root)}` is made without it: no arrow leads from `{name}` to "
                f"`{of}`.",
                root,
                facts.nodes[root]["where"],
            ),
            Chapter(
                f"The gradient of `{of}` with respect to `{name}` is asked for, and no path leads "
                "there.",
                None,
                facts.error["where"],
            ),
        ],
        f"use `{name}` on the way to `{of}`; or allow for it: `allow_unused=True` gives None, "
        "`materialize_grads=True` gives zeros",
    )


def _call(facts: _Facts) -> ast.Call | None:
    try:
        (line,) = ast.parse(facts.text(facts.error["where"])).body
    except (SyntaxError, ValueError):
        return None
    call = line.value if isinstance(line, ast.Expr) else None
    return call if isinstance(call, ast.Call) else None


def _asked(call: ast.Call | None) -> list[ast.expr]:
    """Return the second argument of a call, or its parts."""
    given = call.args[1:2] if call else []
    given += [k.value for k in call.keywords if k.arg == "inputs"] if call else []
    if given and isinstance(given[0], ast.List | ast.Tuple):
        return given[0].elts
    return given


def _not_wanted(facts: _Facts, match: re.Match[str]) -> Told | None:
    found = [facts.find(one) for one in _asked(_call(facts))]
    node = next((n for n in found if n is not None and not facts.nodes[n]["recorded"]), None)
    if node is None:
        return None
    chapters, mend = facts.cut(node)
    name = facts.name(node)
    words = f"The gradient with respect to `{name}` is asked for: no edge was ever made for it."
    chapters.append(Chapter(words, node, facts.error["where"]))
    return f"`{name}` wants no gradient", chapters, mend


def _of_a_result(facts: _Facts, match: re.Match[str]) -> Told | None:
    """Tell what is done to a result, and only a leaf can bear."""
    node = facts.subject
    if node is None or facts.nodes[node]["kind"] != "op":
        return None
    name = facts.name(node)
    text = facts.text(facts.error["where"])
    message = facts.error["message"]
    if "numpy()" in message:
        title = f"`{name}` would leave the graph unnoticed"
        last = f"`{text}` would go on in NumPy, where nothing is recorded."
        mend = f"say that you know: `{text.replace('.numpy', '.detach().numpy')}`"
    elif "optimize" in message:
        title = f"An optimizer was given `{name}`, which is a result"
        last = (
            f"An update of `{name}` would be lost: it is computed anew from its inputs each time."
        )
        mend = f"give it the leaves that `{name}` is made of; or make it a leaf: "
        mend += f"`{name}.detach().requires_grad_()`"
    elif "deepcopy" in message:
        title = f"`{name}` cannot be copied with its graph"
        last = f"A copy of `{name}` would need a copy of the node that made it."
        mend = f"copy the numbers alone: `{name}.detach().clone()`"
    elif "hook" in message:
        title = f"`{name}` accumulates nothing"
        last = "This hook waits until `.grad` was accumulated, and only leaves have that."
        mend = f"use `{name}.register_hook(...)`, which is called with the gradient as it passes"
    else:
        title = f"`{name}` requires a gradient because of what it is made of"
        last = f"`{text}` would cut the graph behind its back."
        mend = f"take the numbers out of the graph: `{name} = {name}.detach()`"
    made = f"`{facts.titled(node)}` is a result: `{facts.nodes[node]['grad_fn']}` made it."
    chapters = [
        Chapter(made, node, facts.nodes[node]["where"]),
        Chapter(last, node, facts.error["where"]),
    ]
    return title, chapters, mend


def _no_float(facts: _Facts, match: re.Match[str]) -> Told | None:
    node = facts.subject
    text = facts.text(facts.error["where"])
    chapters = []
    if node is not None and facts.nodes[node]["where"] is not None:
        record = facts.nodes[node]
        words = f"`{facts.name(node)}` holds whole numbers: {record['value']['dtype']}."
        chapters.append(Chapter(words, node, record["where"]))
    words = f"`{text}` asks for a gradient: how much changes if this changes a little? Whole "
    chapters.append(Chapter(words + "numbers cannot change a little.", node, facts.error["where"]))
    mend = "write the numbers with a point, `1.` instead of `1`, or use `.float()`"
    return "Whole numbers have no gradient", chapters, mend


def _wrong_shape(facts: _Facts, match: re.Match[str]) -> Told | None:
    node = facts.subject
    if node is None:
        return None
    shape = shape_text(facts.nodes[node]["value"]["shape"])
    name = facts.name(node)
    given = shape_text([int(n) for n in re.findall(r"\d+", match[1])])
    return (
        f"The gradient that flows into `{name}` has another shape than `{name}`",
        [
            Chapter(f"`{facts.titled(node)}` has shape {shape}.", node, facts.nodes[node]["where"]),
            Chapter(
                f"The gradient given here has shape {given}: it must say one number for each "
                f"number of `{name}`.",
                node,
                facts.error["where"],
            ),
        ],
        f"give a gradient of shape {shape}, such as `torch.ones_like({name})`",
    )


def _inference(facts: _Facts, match: re.Match[str]) -> Told | None:
    inside = [
        (node["id"], switch)
        for node in facts.nodes
        if (switch := facts.switch(node["where"])) and "inference" in facts.text(switch)
    ]
    if not inside:
        return None
    node, switch = inside[-1]
    name = facts.name(node)
    return (
        f"`{name}` was made in inference mode, and cannot come back into a graph",
        [
            Chapter(f"`{facts.text(switch)}`: from here on nothing is recorded.", None, switch),
            Chapter(
                f"`{facts.titled(node)}` has no version counter: nobody would notice a change.",
                node,
                facts.nodes[node]["where"],
            ),
            Chapter(
                f"`{facts.text(facts.error['where'])}` would have to rely on `{name}`.",
                node,
                facts.error["where"],
            ),
        ],
        f"use `torch.no_grad()` there instead of inference mode, or go on with `{name}.clone()`",
    )


def _function(facts: _Facts, match: re.Match[str]) -> Told | None:
    node = facts.stopped_at
    if node is None:
        return None
    record = facts.nodes[node]
    op = record["op"]
    count = len(record["inputs"])
    message = facts.error["message"].splitlines()[0]
    if "number of gradients" in message:
        expected, got = re.findall(r"\d+", message.rpartition("(")[2])
        title = f"{op} took {expected} arguments, and its backward answers for {got}"
        last = f"The backward of {op} gave back {got}: each of the {expected} needs its own."
        mend = f"return {expected} values from `backward`, None for those without a gradient"
    elif "invalid gradient" in message:
        got, wanted = re.findall(r"\[.*?\]", message)
        title = f"The backward of {op} gives a gradient of another shape than its input"
        last = f"What came back has shape {got}, and that input has shape {wanted}."
        mend = "give each input a gradient of its own shape; sum over what was broadcast"
    else:
        title = f"{op} cannot go back"
        last = f"Backward comes to {op}: {message}"
        mend = f"write a `backward` for {op} that is made of differentiable operations"
    words = f"`{facts.titled(node)}` is applied to {count} tensor{'s' * (count != 1)} of the graph."
    chapters = [
        Chapter(words, node, record["where"]),
        Chapter(last, node, facts.error["where"]),
    ]
    return title, chapters, mend


def _nan(facts: _Facts, match: re.Match[str]) -> Told | None:
    node = facts.stopped_at
    if node is None:
        return None
    record = facts.nodes[node]
    visit = next(e for e in reversed(facts.events) if e["kind"] == "visit")
    source = next(i["node"] for i in record["inputs"] if "node" in i)
    value = show(facts.nodes[source]["value"])
    op = facts.op(node)
    return (
        f"The rule of {op} gives nan",
        [
            Chapter(
                f"`{facts.titled(node)}` is computed at {value}. The value is fine; its slope "
                "there need not be.",
                node,
                record["where"],
            ),
            Chapter(
                f"Backward comes to {op} with gradient {show(visit['g'])}, and its rule makes nan "
                "of it: infinite slopes times 0, or a slope where there is none.",
                node,
                facts.error["where"],
            ),
        ],
        f"keep what goes into {op} away from there: add a small number, clamp it, or choose with "
        f"`torch.where` what goes into {op}, not what comes out",
    )


def _lost(facts: _Facts, leaf: str | None) -> Told | None:
    """Tell why leaves got no gradient although backward ran."""
    passes = [e for e in facts.events if e["kind"] == "backward"]
    got = {e["node"] for e in facts.events if e["kind"] == "accumulate"}
    lost = [
        n["id"]
        for n in facts.nodes
        if n["kind"] == "leaf" and n["requires_grad"] and n["id"] not in got and not n["grad_fn"]
    ]
    if leaf is not None:
        lost = [n for n in lost if facts.nodes[n]["name"] == leaf]
    if not passes or not lost or not any(e["kind"] == "finish" for e in facts.events):
        return None
    node = lost[0]
    name = facts.name(node)
    reached = {node}
    for record in facts.nodes:
        if record["recorded"] and any(i.get("node") in reached for i in record["inputs"]):
            reached.add(record["id"])
    users = [n for n in facts.nodes if any(i.get("node") in reached for i in n["inputs"])]
    ghosts = [n["id"] for n in users if not n["recorded"]]
    away = [
        n["id"]
        for n in facts.nodes
        if n["kind"] == "leaf" and (left := facts.left(n["id"])) and _mentions(facts, left, reached)
    ]
    chapters = [
        Chapter(f"`{name}` is a leaf that wants a gradient.", node, facts.nodes[node]["where"])
    ]
    if ghosts or away:
        told, mend = facts.cut((away or ghosts)[0])
        chapters += told
    elif len(reached) > 1:
        end = max(reached)
        words = f"`{facts.titled(end)}` is made of it, and backward never starts there."
        chapters.append(Chapter(words, end, facts.nodes[end]["where"]))
        mend = f"let what you call `backward` on depend on `{facts.name(end)}`"
    else:
        chapters[0] = Chapter(
            f"`{name}` is a leaf that wants a gradient, and no operation uses it.",
            node,
            facts.nodes[node]["where"],
        )
        mend = (
            f"use `{name}` on the way to the result; perhaps its name was given to another tensor"
        )
    last = passes[-1]
    roots = " and ".join(f"`{facts.name(n)}`" for n in last["roots"])
    chapters.append(
        Chapter(
            f"Backward starts at {roots}. No way leads from there to `{name}`: `{name}.grad` stays "
            "None.",
            last["roots"][0],
            last["where"],
        )
    )
    return f"No gradient comes to `{name}`", chapters, mend


def _mentions(facts: _Facts, left: tuple[Where | None, str], nodes: set[int]) -> bool:
    """Return whether what was taken out of the graph is one of these nodes."""
    words = set(re.findall(r"[^\W\d]\w*", facts.text(left[0])))
    return any(_base(facts.nodes[n]["name"] or "") in words for n in nodes)


Teller = Callable[[_Facts, "re.Match[str]"], Told | None]
_TELLERS: tuple[tuple[str, Teller], ...] = (
    (r"modified by an inplace operation.*is at version (\d+); expected version (\d+)", _changed),
    (r"backward through the graph a second time", _twice),
    (r"can be implicitly created only for scalar outputs", _no_scalar),
    (r"does not require grad and does not have a grad_fn", _no_graph),
    (r"can't retain_grad on Tensor that has requires_grad=False", _no_graph),
    (r"cannot register a hook on a tensor that doesn't require grad", _no_graph),
    (r"leaf Variable that requires grad is being used in an in-place", _leaf_in_place),
    (r"differentiated Tensor at index (\d+) appears to not have been used", _unused),
    (r"differentiated Tensors does not require grad", _not_wanted),
    (r"you can only change requires_grad flags of leaf variables", _of_a_result),
    (r"Can't call numpy\(\) on Tensor that requires grad", _of_a_result),
    (r"can't optimize a non-leaf Tensor", _of_a_result),
    (r"graph leaves\) support the deepcopy protocol", _of_a_result),
    (r"post accumulate grad hooks cannot be registered on non-leaf", _of_a_result),
    (r"[Oo]nly Tensors of floating point (?:and complex )?dtype can require", _no_float),
    (r"grad_output\[0\] has a shape of (torch\.Size\(\[.*?\]\))", _wrong_shape),
    (r"[Ii]nference tensor", _inference),
    (r"returned an incorrect number of gradients", _function),
    (r"returned an invalid gradient at index", _function),
    (r"must implement either the backward", _function),
    (r"marked with @once_differentiable", _function),
    (r"Function '\w+' returned nan values", _nan),
)
