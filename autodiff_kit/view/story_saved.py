"""Stories of what was saved for backward: a line changed it, or an earlier backward freed it.

After reading you know how the two commonest surprises of autograd are traced to a line. Each
function here takes the facts and what the pattern of its message has found. Read next:
``story_paths.py``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from copy import deepcopy

from autodiff_kit.record.events import Backward, Modified
from autodiff_kit.view.labels import word
from autodiff_kit.view.rules import parsed
from autodiff_kit.view.story_facts import Chapter, Facts, Told
from autodiff_kit.view.words import listed, ordinal

__all__ = ["changed", "twice"]

SHARING = {  # their results look into the memory of their first input
    *("reshape", "view", "select", "slice_dim", "transpose", "t", "permute", "expand", "unsqueeze"),
    *("squeeze", "squeeze_dim", "squeeze_dims", "drop_dim", "alias", "pick", "split"),
    *("unbind", "split_with_sizes", "reshape_alias", "detach"),
}
NO_OTHER = {  # in-place methods besides which PyTorch has none that returns a new tensor
    *("copy_", "set_", "uniform_", "normal_", "random_", "exponential_", "geometric_", "cauchy_"),
    *("bernoulli_", "log_normal_", "requires_grad_"),
}
_WRITES = ("put", "copy_slices")  # nodes of a base, whose view an op has changed in place
CHANGES = 3  # more changes of one value are not told one by one


def changed(facts: Facts, match: re.Match[str]) -> Told | None:
    """Tell who changed a value after an op had saved it."""
    node = facts.stopped_at
    if node is None:
        return None
    now, expected = int(match[1]), int(match[2])
    origin = facts.made(node)
    sharing: dict[int, int] = {}  # node -> whose memory it looks into

    def root(n: int) -> int:
        return root(sharing[n]) if n in sharing else n

    changes: dict[str, list[tuple[int, Modified]]] = {}  # by line: of a view, two at once
    for i, event in enumerate(facts.events):
        if event["kind"] != "op" and event["kind"] != "modified":
            continue
        n = event["node"]
        first = next((s["node"] for s in facts.nodes[n]["inputs"] if "node" in s), None)
        if event["kind"] == "op" and facts.nodes[n]["op"] in SHARING and first is not None:
            sharing[n] = first
        elif event["kind"] == "modified":
            if facts.nodes[n]["kind"] == "op" and first is not None and root(first) != n:
                sharing[n] = first
            if i > origin:
                changes.setdefault(f"{event['where']} {event['how']}", []).append((root(n), event))
    operands = {i["arg"]: i["node"] for i in facts.nodes[node]["inputs"] if "node" in i}
    for entry in facts.nodes[node]["saved"]:
        arg = entry["name"]
        value = operands.get(arg, node)
        mine = [e[0][1] for e in changes.values() if any(g == root(value) for g, _ in e)]
        if mine:
            break
    else:
        return None
    what = "its own result" if arg == "out" else f"`{facts.name(value)}`"
    if len(mine) > now - expected and mine[0]["where"] == facts.nodes[node]["where"]:
        mine = mine[1:] or mine  # what an op in place has written itself is what it saved
    op = _op_in_place(facts, node) or facts.op(node)
    title = f"A value that backward needs was changed after {op} had saved it"
    chapters = [
        Chapter(
            f"`{facts.titled(node)}` saves {what} for its rule: version {expected}.",
            node,
            facts.nodes[node]["where"],
        )
    ]
    steps = mine if len(mine) <= CHANGES else [mine[0], mine[-1]]
    for k, change in enumerate(steps):
        version = now if change is mine[-1] else expected + 1 + k
        line = facts.line(change["where"])
        how = f"`{line}` writes into the same storage" if line else "The same storage is written"
        if change["how"].endswith(".step"):
            how = f"{change['how'].split('.')[0]} updates `{facts.name(change['node'])}` in place"
        chapters.append(Chapter(f"{how}: version {version}.", change["node"], change["where"]))
    chapters.append(
        Chapter(
            f"Backward reaches {op}, which needs version {expected}. There is "
            f"only version {now}: the old numbers are gone.",
            node,
            facts.error["where"],
        )
    )
    if mine[-1]["how"].endswith(".step"):
        fix = "call backward before the optimizer's step, and run the forward code again after it"
    else:
        fix = f"make a new tensor instead of writing into the old one: {_instead(facts, mine)}"
    return title, chapters, fix


def _op_in_place(facts: Facts, node: int) -> str:
    """Return the op whose result a node writes into a tensor: exp in ``y[1:].exp_()``; else ""."""
    if facts.nodes[node]["op"] not in _WRITES:
        return ""
    where = facts.nodes[node]["where"]
    for event in facts.events[facts.made(node) + 1 :]:
        if event["kind"] == "modified" and event["node"] == node and event["where"] == where:
            how = event["how"]
            return word(how.rstrip("_")) if not how.startswith("__") else ""
    return ""


def _instead(facts: Facts, changes: Sequence[Modified]) -> str:
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
        if not owner.isidentifier():
            call.func.value = ast.parse(f"{owner}.clone()", mode="eval").body
            return f"`{ast.unparse(call)}`"
        arguments = ", ".join(ast.unparse(argument) for argument in call.args)
        match call.func.attr:  # these have no method that returns a new tensor
            case "zero_":
                return f"`{owner} = {facts.module}.zeros_like({owner})`"
            case "fill_":
                return f"`{owner} = {facts.module}.full_like({owner}, {arguments})`"
        if call.func.attr in NO_OTHER:
            return f"`{owner} = {owner}.clone()` on the line before `{text}`"
        without = ast.Call(
            ast.Attribute(call.func.value, call.func.attr.rstrip("_")), call.args, call.keywords
        )
        return f"`{owner} = {ast.unparse(without)}`"
    if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Subscript):
        owner = ast.unparse(line.targets[0].value)
        return f"`{owner} = {owner}.clone()` on the line before `{ast.unparse(line)}`"
    return "change a clone(), and leave the old one as it is"


def twice(facts: Facts, match: re.Match[str]) -> Told | None:
    """Tell which backward pass has freed what a second one wants."""
    node = facts.stopped_at
    if node is None:
        return None
    passes = [e for e in facts.events if e["kind"] == "backward"]
    release = next((e for e in facts.events if e["kind"] == "release" and e["node"] == node), None)
    if release is None:
        return None
    freed = next(i for i, e in enumerate(facts.events) if e is release)
    first = next(e for e in reversed(facts.events[:freed]) if e["kind"] == "backward")
    number = _visits(facts, node, freed)  # of the passes that reached the node, the one that freed
    freeing, failing = ordinal(number), ordinal(_visits(facts, node))
    op = facts.op(node)
    chapters = [
        Chapter(
            f"`{facts.titled(node)}` saves {facts.saved(node)} for its rules.",
            node,
            facts.nodes[node]["where"],
        ),
        Chapter(
            f"The {freeing} backward uses what {op} saved, and frees it.",
            node,
            first["where"],
        ),
        Chapter(
            f"The {failing} backward reaches {op} and finds nothing there.",
            node,
            facts.error["where"],
        ),
    ]
    retain = f"let the {freeing} backward retain what was saved: `{_retaining(facts, first)}`"
    title = f"The graph was freed by the {freeing} backward, and needed by a {failing}"
    ways = f"run the forward code again; or {retain}"
    if first["where"] == passes[-1]["where"]:
        loop, is_inside = _between(facts, node, first, passes)
        carried = _carried(facts, first, passes[-1]) if loop else []
        once = f"call backward once, after the loop: `{facts.text(first['where'])}`"
        if carried or is_inside:
            title = "An iteration of the loop reaches back into the graph of the iteration before"
            roots = {facts.base(facts.name(root)) for root in first["roots"]}
            detachments = listed(f"`{name} = {name}.detach()`" for name in carried if name)
            cut = f"cut the graph at the end of each iteration: {detachments or '`.detach()`'}"
            if "retain_graph" in facts.text(first["where"]):  # it is kept on purpose
                ways = retain
            elif roots & {*carried}:  # `total = total + loss`
                ways = f"{once}; or {cut}"
            elif not is_inside:  # without what is before the loop, there is no path to a leaf
                ways = f"add up what you call backward on, and {once}; or {retain}"
            else:
                ways = f"{cut}; or add up what you call backward on, and {once}"
        elif loop:
            title = "The graph is made once, before the loop, and each iteration needs it"
            name = facts.base(facts.nodes[node]["name"] or "")
            line = f"{name} = {facts.nodes[node]['text']}" if name else facts.titled(node)
            ways = f"compute `{line}` inside the loop; or {retain}"
    elif first["roots"] != passes[-1]["roots"]:
        a, b = (facts.name(p["roots"][0]) for p in (first, passes[-1]))
        if a.isidentifier() and b.isidentifier() and facts.text(first["where"]).endswith("()"):
            shared = f"`{a}` and `{b}` share `{facts.name(node)}`."
            words = f"{chapters[0].words} {shared}"
            chapters[0] = Chapter(words, chapters[0].node, chapters[0].where)
            ways = f"call backward once for both: `({a} + {b}).backward()`"
    return title, chapters, ways


def _carried(facts: Facts, first: Backward, last: Backward) -> list[str]:
    """Return the variables that bring a graph from one iteration to that of the last pass."""
    scopes = facts.recording["scopes"]

    def iterations(scope: int | None) -> list[int]:
        numbers = []
        while scope is not None:
            numbers += [scope] if scopes[scope]["kind"] == "iteration" else []
            scope = scopes[scope]["parent"]
        return numbers

    own, before = iterations(last["scope"]), iterations(first["scope"])
    new = {scope for scope in own if scope not in before}
    names: dict[str, None] = {}
    waiting, visited = [*last["roots"]], set(last["roots"])
    while waiting:
        for source in facts.nodes[waiting.pop()]["inputs"]:
            record = facts.nodes[source["node"]] if "node" in source else None
            if record is None or record["id"] in visited or not record["recorded"]:
                continue
            visited.add(record["id"])
            at = iterations(record["scope"])
            if not new.isdisjoint(at):
                waiting.append(record["id"])
            elif record["kind"] == "op" and not {*at} <= {*own}:
                names[facts.base(record["name"] or "")] = None
    return [*names]


def _visits(facts: Facts, node: int, end: int | None = None) -> int:
    """Return how many backward passes reached a node before an event."""
    return sum(e["kind"] == "visit" and e["node"] == node for e in facts.events[:end])


def _retaining(facts: Facts, run: Backward) -> str:
    """Return the call of a backward pass with ``retain_graph=True``."""
    text = facts.text(run["where"])
    call = parsed(text)
    if isinstance(call, ast.Call) and any(k.arg == "retain_graph" for k in call.keywords):
        for keyword in (call := deepcopy(call)).keywords:
            if keyword.arg == "retain_graph":
                keyword.value = ast.Constant(True)
        return ast.unparse(call)
    return f"{text[:-1]}{'' if text.endswith('()') else ', '}retain_graph=True)"


def _between(
    facts: Facts, node: int, first: Backward, passes: Sequence[Backward]
) -> tuple[bool, bool]:
    """Return whether a loop runs one backward line twice, and whether it made the node itself."""
    scopes = facts.recording["scopes"]

    def around(scope: int | None) -> list[int]:
        result = []
        while scope is not None:
            result.append(scope)
            scope = scopes[scope]["parent"]
        return result

    where = first["where"]
    calls = [s for s in scopes if s["name"] == "backward" and s["where"] == where]
    same = [p for p in passes if p["where"] == where]
    index = next(i for i, p in enumerate(same) if p is first)
    if max(index + 1, len(same)) > len(calls):
        return False, False
    one, two = around(calls[index]["id"]), around(calls[len(same) - 1]["id"])
    apart = [n for n in one if n not in two]
    in_loop = any(scopes[n]["kind"] == "iteration" for n in apart)
    own_scopes = around(facts.nodes[node]["scope"])
    return in_loop, in_loop and any(
        scopes[n]["kind"] == "iteration" for n in own_scopes if n in apart
    )
