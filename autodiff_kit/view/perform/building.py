"""The tasks of the first part: line by line, what appears in the graph.

After reading you can say what is asked of each operation: which nodes its edges come from, whether
it is recorded; and at a condition, which branch runs. Read next: ``saving.py``.
"""

from __future__ import annotations

from autodiff_kit.record.events import Branch, NodeRecord
from autodiff_kit.view.perform.branches import Fork, fork_of
from autodiff_kit.view.perform.context import Context, choice, code, slip
from autodiff_kit.view.perform.saving import saved_tasks
from autodiff_kit.view.perform.script import Mark, Slip, Stage, Task
from autodiff_kit.view.perform.smaller import decided, places_read, tensors_read, yes_no
from autodiff_kit.view.words import times

__all__ = ["branch_slip", "build_stages", "why_closed"]


def build_stages(context: Context) -> list[Stage]:
    """Return the tasks of the forward pass, in the order of the lines."""
    stages: list[Stage] = []
    earlier: list[int] = []
    since = context.picture.since
    for event in context.events:
        tasks: list[str] = []
        node = -1
        if event["kind"] == "leaf":
            node = event["node"]
            earlier.append(node)
            if context.is_asked(node):
                tasks += _leaf(context, context.nodes[node])
        elif event["kind"] == "op":
            node = event["node"]
            if context.is_asked(node):
                tasks += _op(context, context.nodes[node], earlier)
            earlier.append(node)
        elif event["kind"] == "branch":
            node = event["node"]
            if context.is_asked(node):
                tasks += branch_tasks(context, event)
        if tasks:
            frame = since[context.box(node)]
            if event["kind"] == "branch":
                frame = _frame_of_branch(context, event, frame)
            stages.append({"part": "build", "frame": frame, "tasks": tasks})
    return stages


def _frame_of_branch(context: Context, event: Branch, since: int) -> int:
    frames = context.picture.frames
    own = (
        k
        for k, frame in enumerate(frames)
        if k >= since and frame["kind"] == "branch" and frame["where"] == event["where"]
    )
    return next(own, since)


def _leaf(context: Context, record: NodeRecord) -> list[str]:
    if not record["value"]["dtype"].startswith(("float", "int", "bool")):
        return []
    name, needs = context.names.name(record["id"]), record["requires_grad"]
    marks: list[Mark] = [
        {"kind": "wrong", "node": context.box(record["id"]), "text": "requires_grad is False"}
    ]
    if needs:
        slips = [slip({"one": "data"}, f"`{name}` was made with `requires_grad=True`.")]
    else:
        text = f"`{name}` was made without `requires_grad=True`: it is data, and a constant here."
        slips = [slip({"one": "leaf"}, text, "constant_as_leaf", marks=marks)]
    right = (
        f"`{name}` requires a gradient, so the backward pass fills `{name}.grad`."
        if needs
        else f"`{name}` is data: `{name}.grad` stays `None`."
    )
    return [
        context.task(
            "build",
            "recorded",
            "choice",
            f"{context.line(record['where'])}Is `{name}` a leaf that gets a gradient?",
            [{"one": "leaf" if needs else "data"}],
            options=choice(
                leaf="Yes: the backward pass fills its `.grad`", data="No: it is data, a constant"
            ),
            slips=slips,
            right=right,
            reveal="yes, a leaf that requires a gradient" if needs else "no, it is data",
            node=context.box(record["id"]),
            where=record["where"],
            like=f"leaf {needs}",
            smaller=yes_no(
                "build",
                "recorded",
                f"Is `requires_grad` set for `{name}`?",
                needs,
                "It is what makes a tensor a leaf that gets a gradient.",
                "A tensor of data has `requires_grad=False`, unless the code says otherwise. "
                "Parameters of a module have `True`.",
            ),
        )
    ]


def _op(context: Context, record: NodeRecord, earlier: list[int]) -> list[str]:
    node = record["id"]
    tensors = [source for source in context.tensors(record) if source in earlier]
    tasks = []
    if tensors and len(earlier) > 1:
        tasks.append(_inputs(context, record, tensors, earlier))
    for source in tensors:
        if sum(s.get("node") == source for s in record["inputs"]) > 1:
            tasks.append(_edges(context, record, source))
    tasks.append(_recorded(context, record))
    if record["recorded"] and context.recording["ops"][str(record["op"])]["rules"]:
        tasks += saved_tasks(context, node)
    return tasks


def _inputs(context: Context, record: NodeRecord, tensors: list[int], earlier: list[int]) -> str:
    node = record["id"]
    name, title = context.name(node), context.names.title(node)
    slips = []
    for other in earlier:
        if other not in tensors:
            marks: list[Mark] = [
                {"kind": "wrong", "node": context.box(other), "text": "not read here"}
            ]
            text = f"`{title}` does not read `{context.name(other)}`: no edge comes from there."
            slips.append(slip({"one": context.box(other)}, text, marks=marks))
    names = [context.name(source) for source in tensors]
    return context.task(
        "build",
        "inputs",
        "nodes",
        f"{context.line(record['where'])}`{title}`. From which nodes do edges lead to `{name}`?",
        [{"all": [context.box(source) for source in tensors]}],
        slips=slips,
        otherwise="An edge is missing: edges come from every tensor that the operation reads.",
        right=f"`{name}` is computed from {code(*names)}.",
        reveal=code(*names),
        node=context.box(node),
        where=record["where"],
        hint="Choose nodes of the graph, then check.",
        like=f"{len(tensors)}",
        smaller=tensors_read(context, "build", "inputs", node, "From each of them leads an edge."),
    )


def _edges(context: Context, record: NodeRecord, source: int) -> str:
    node = record["id"]
    name, own = context.name(node), context.name(source)
    places = [k for k, s in enumerate(record["inputs"]) if s.get("node") == source]
    edges = [context.edge(node, place) for place in places]
    marks: list[Mark] = [
        {"kind": "look", "edge": edge, "text": f"use {k}"}
        for k, edge in enumerate(edges, 1)
        if edge
    ]
    count = len(places)
    text = f"`{name}` reads `{own}` {times(count)}, and each use is an edge of its own."
    return context.task(
        "build",
        "edges",
        "choice",
        f"How many edges lead from `{own}` to `{name}`?",
        [{"one": str(count)}],
        options=[{"value": str(k), "text": str(k)} for k in range(count + 2)],
        slips=[slip({"one": "1"}, text, "counts_once", marks=marks)],
        otherwise=f"Count how often the expression `{context.names.text(node)}` reads `{own}`.",
        right=text,
        reveal=str(count),
        node=context.box(node),
        where=record["where"],
        smaller=places_read(context, "build", "edges", node, own),
    )


def _is_integer(record: NodeRecord) -> bool:
    return not record["value"]["dtype"].startswith(("float", "complex", "bfloat"))


def why_closed(context: Context, node: int) -> tuple[str, str]:
    """Return why no gradient flows into a node, and the misconception of those who think so."""
    record = context.nodes[node]
    name = context.name(node)
    if record["kind"] == "leaf":
        return f"`{name}` is data: it does not require a gradient.", "constant_as_leaf"
    if record["op"] == "detach":
        return f"`{name}` is cut from the graph: no gradient flows through detach.", "flows_through"
    if _is_integer(record):
        kind = record["value"]["dtype"]
        return f"`{name}` is of dtype {kind}: such a result has no gradient.", "flows_through"
    inputs = context.tensors(record)
    if any(context.nodes[source]["requires_grad"] for source in inputs):
        mode = "inference_mode" if record.get("mode") == "inference_mode" else "no_grad"
        return f"`{name}` was computed inside of {mode}: nothing is recorded.", "flows_through"
    ops = [source for source in inputs if context.nodes[source]["kind"] == "op"]
    if ops:
        text, kind = why_closed(context, ops[0])
        return f"`{name}` has no input that requires a gradient. {text}", kind
    return f"`{name}` is computed from data alone, so it requires no gradient.", "constant_as_leaf"


def _recorded(context: Context, record: NodeRecord) -> str:
    node = record["id"]
    name = context.name(node)
    is_recorded = record["recorded"]
    if is_recorded:
        sources = [n for n in context.tensors(record) if context.nodes[n]["requires_grad"]]
        fits = f"{code(*map(context.name, sources))} require" + "s" * (len(sources) == 1)
        right = f"{fits} a gradient, so `{name}` is recorded." if sources else ""
        slips: list[Slip] = []
        otherwise = right
    else:
        reason, kind = why_closed(context, node)
        marks: list[Mark] = [
            {"kind": "stop", "edge": edge, "text": "no gradient"}
            for place in range(len(record["inputs"]))
            if (edge := context.edge(node, place))
        ]
        right = otherwise = reason
        slips = [slip({"one": "yes"}, reason, kind, marks=marks)]
    return context.task(
        "build",
        "recorded",
        "choice",
        f"Is `{name}` recorded, so that a gradient can flow back through it?",
        [{"one": "yes" if is_recorded else "no"}],
        options=choice(yes="Yes: it gets a `grad_fn`", no="No: it is not part of the graph"),
        slips=slips,
        otherwise=otherwise,
        right=right,
        reveal="yes" if is_recorded else "no",
        node=context.box(node),
        where=record["where"],
        like=f"op {is_recorded} {slips[0]['is'] if slips else ''}",
        smaller=_smaller_recorded(context, record),
    )


def _smaller_recorded(context: Context, record: NodeRecord) -> Task:
    return yes_no(
        "build",
        "recorded",
        f"Does an input of `{context.name(record['id'])}` require a gradient?",
        any(context.nodes[n]["requires_grad"] for n in context.tensors(record)),
        "Now look at the mode in which the line runs, and at the operation itself.",
        "A tensor requires a gradient if it was made with `requires_grad=True`, or computed with "
        "recording on from a tensor that does.",
    )


def branch_slip(fork: Fork, answer: str) -> Slip:
    """Return the mistake of going down the branch that did not run."""
    if fork.goes_both_ways:  # the line is in the graph, from another round of its loop
        text = f"`{fork.condition}` was {fork.taken} this time: `{fork.other}` did not run now."
        return slip({"one": answer}, text, "other_branch")
    marks: list[Mark] = []
    if fork.other_where:
        marks.append({"kind": "struck", "line": fork.other_where, "text": "did not run"})
    text = (
        f"`{fork.condition}` was {fork.taken} in this run. `{fork.other}` did not run, so it is "
        "not in the graph, and no gradient flows through it."
    )
    return slip({"one": answer}, text, "other_branch", marks=marks)


def branch_tasks(context: Context, event: Branch) -> list[str]:
    """Return the question which branch runs."""
    fork = fork_of(context.recording, event)
    if fork is None or not (fork.ran or fork.other):
        return []
    after = {"if": "Neither: the lines after the `if` run", "while": "The loop ends"}.get(
        fork.kind, ""
    )
    options = [
        {"value": "ran", "text": f"`{fork.ran}`" if fork.ran else after},
        {"value": "other", "text": f"`{fork.other}`" if fork.other else after},
    ]
    if not fork.other:
        other = f"`{fork.condition}` is {fork.taken}, so the line that follows is `{fork.ran}`."
        wrong = slip({"one": "other"}, other, "other_branch")
    else:
        wrong = branch_slip(fork, "other")
    options.sort(key=lambda option: option["text"])
    ran = f"`{fork.ran}`" if fork.ran else "none of its lines"
    return [
        context.task(
            "build",
            "branch",
            "choice",
            f"{context.line(event['where'])}Python asks `{fork.condition}`. What runs next?",
            [{"one": "ran"}],
            options=options,
            slips=[wrong],
            right=f"`{fork.condition}` is {fork.taken}, so {ran} runs.",
            reveal=ran,
            node=context.box(event["node"]),
            where=event["where"],
            like=fork.condition,
            smaller=decided("build", fork.condition, fork.taken),
        )
    ]
