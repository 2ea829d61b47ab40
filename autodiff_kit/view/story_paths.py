"""Stories of a path back that is not there: no graph, a leaf that was not used, a gradient lost.

After reading you know how the places are found at which the path from a result to a leaf is cut.
Read next: ``story_refused.py``.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from autodiff_kit.view.story_cuts import (
    advise,
    explain_cut,
    explain_no_second,
    find_cuts,
    is_taken,
    pass_that_returned,
)
from autodiff_kit.view.story_exits import Exit, find_exit
from autodiff_kit.view.story_facts import Chapter, Facts, Told

__all__ = ["lost", "no_graph", "not_wanted", "unused"]


PLACES = 4  # where the path ends; more are not told one by one


def no_graph(facts: Facts, match: re.Match[str]) -> Told | None:
    """Tell why nothing leads back from a result."""
    node = facts.subject
    if node is None and facts.failed is not None:  # of no operation yet
        name = ast.unparse(facts.failed)
        if (run := pass_that_returned(facts, name)) is not None:
            chapter, fix = explain_no_second(facts, name, run)
            text = facts.text(facts.error["where"])
            words = f"`{text}` needs the node that made `{name}`, and there is none."
            end = Chapter(words, None, facts.error["where"])
            return f"No graph leads back from `{name}`", [chapter, end], fix
    if node is None or facts.nodes[node]["recorded"]:
        return None
    chapters: list[Chapter] = []
    fixes: dict[str, None] = {}
    cuts = find_cuts(facts, node)
    for cut in cuts[:PLACES]:
        explanation, fix = explain_cut(facts, cut)
        chapters += [c for c in explanation if c not in chapters]
        fixes[fix] = None
    if all(facts.nodes[n]["kind"] == "leaf" and not is_taken(facts, n) for n in cuts):
        nodes = [facts.find(one) for one in _asked(_call(facts))]
        fixes = {advise(facts, [n for n in cuts if n in nodes] or cuts): None}
        if more := len(cuts) - PLACES + 1 if len(cuts) > PLACES else 0:
            words = f"`{facts.name(cuts[PLACES - 1])}` and {more - 1} more leaves do not either."
            chapters[-1] = replace(chapters[-1], words=words)
    text = facts.text(facts.error["where"])
    needs = {
        "retain_grad": "would save a gradient, but none will ever arrive",
        "register_hook": "would wait for a gradient, but none will ever arrive",
    }
    why = next((words for key, words in needs.items() if key in text), "")
    name = facts.name(node)
    last = f"`{text}` {why or 'needs the node that made `' + name + '`, and there is none'}."
    chapters.append(Chapter(last, node, facts.error["where"]))
    return f"No graph leads back from `{name}`", chapters, "; ".join(fixes)


def not_wanted(facts: Facts, match: re.Match[str]) -> Told | None:
    """Tell why a tensor whose gradient is asked for wants none."""
    nodes = [facts.find(one) for one in _asked(_call(facts))]
    node = next((n for n in nodes if n is not None and not facts.nodes[n]["recorded"]), None)
    if node is None:
        return None
    chapters, fix = explain_cut(facts, node)
    name = facts.name(node)
    words = f"The gradient with respect to `{name}` is asked for: no edge was ever made for it."
    chapters.append(Chapter(words, node, facts.error["where"]))
    return f"`{name}` requires no gradient", chapters, fix


def unused(facts: Facts, match: re.Match[str]) -> Told | None:
    """Tell that a tensor whose gradient is asked for was not used on the way."""
    call = _call(facts)
    names = _asked(call)
    index = int(match[1])
    node = facts.find(names[index]) if index < len(names) else None
    root = facts.find(call.args[0]) if call and call.args else None
    if node is None or root is None:
        return None
    name, of = facts.name(node), facts.name(root)
    return (
        f"`{name}` was not used to compute `{of}`",
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
        f"use `{name}` to compute `{of}`; or allow for it: `allow_unused=True` gives None, "
        "`materialize_grads=True` gives zeros",
    )


def lost(facts: Facts, leaf: str | None) -> Told | None:
    """Tell why leaves got no gradient although backward ran."""
    passes = [e for e in facts.events if e["kind"] == "backward"]
    receivers = {e["node"] for e in facts.events if e["kind"] == "accumulate"}
    receivers |= {
        r["of"] for e in facts.events if e["kind"] == "finish" for r in e.get("results", ())
    }
    leaves = [
        n["id"]
        for n in facts.nodes
        if n["kind"] == "leaf"
        and n["requires_grad"]
        and n["id"] not in receivers
        and not n["grad_fn"]
    ]
    if leaf is not None:
        leaves = [n for n in leaves if facts.nodes[n]["name"] == leaf]
    if not passes or not leaves or not any(e["kind"] == "finish" for e in facts.events):
        return None
    node = leaves[0]
    name = facts.name(node)
    reached = {node}
    for record in facts.nodes:
        is_op = record["recorded"] and record["kind"] == "op"
        if is_op and any(i.get("node") in reached for i in record["inputs"]):
            reached.add(record["id"])
    last = passes[-1]
    begin = next(i for i, e in enumerate(facts.events) if e is last)
    older = [n for n in facts.nodes if facts.made(n["id"]) < begin]  # what comes later cuts nothing
    users = [n for n in older if any(i.get("node") in reached for i in n["inputs"])]
    ghosts = [n["id"] for n in users if not n["recorded"]]
    away = [
        n["id"]
        for n in older
        if n["kind"] == "leaf"
        and (exit := find_exit(facts, n["id"]))
        and _mentions(facts, exit, reached)
    ]
    chapters = [
        Chapter(f"`{name}` is a leaf that requires a gradient.", node, facts.nodes[node]["where"])
    ]
    if ghosts or away:
        chapter, fix = explain_cut(facts, (away or ghosts)[0])
        chapters += chapter
    elif len(reached) > 1:
        end = max(reached)
        words = f"`{facts.titled(end)}` is made of it, and backward never starts there."
        chapters.append(Chapter(words, end, facts.nodes[end]["where"]))
        fix = f"let what you call `backward` on depend on `{facts.name(end)}`"
    else:
        chapters[0] = Chapter(
            f"`{name}` is a leaf that requires a gradient, and no operation uses it.",
            node,
            facts.nodes[node]["where"],
        )
        fix = f"use `{name}` to compute the result; perhaps its name was given to another tensor"
    roots = " and ".join(f"`{facts.name(n)}`" for n in last["roots"])
    chapters.append(
        Chapter(
            f"Backward starts at {roots}. No path leads from there to `{name}`: `{name}.grad` "
            "stays None.",
            last["roots"][0],
            last["where"],
        )
    )
    return f"No gradient flows to `{name}`", chapters, fix


def _call(facts: Facts) -> ast.Call | None:
    try:
        (line,) = ast.parse(facts.text(facts.error["where"])).body
    except (SyntaxError, ValueError):
        return None
    call = line.value if isinstance(line, ast.Expr) else None
    return call if isinstance(call, ast.Call) else None


def _asked(call: ast.Call | None) -> list[ast.expr]:
    """Return the second argument of a call, or its parts."""
    arguments = call.args[1:2] if call else []
    arguments += [k.value for k in call.keywords if k.arg == "inputs"] if call else []
    if arguments and isinstance(arguments[0], ast.List | ast.Tuple):
        return arguments[0].elts
    return arguments


def _mentions(facts: Facts, exit: Exit, nodes: set[int]) -> bool:
    """Return whether what was taken out of the graph is one of these nodes."""
    words = set(re.findall(r"[^\W\d]\w*", facts.text(exit[0])))
    return any(facts.base(facts.nodes[n]["name"] or "") in words for n in nodes)
