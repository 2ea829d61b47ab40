"""The tasks of the last part: what .grad holds, what was freed, and what a second pass would do.

After reading you can say what is left of a backward pass. Read next: ``walk.py``.
"""

from __future__ import annotations

from autodiff_kit.record.events import Value
from autodiff_kit.view.perform.context import Context, choice, code, slip
from autodiff_kit.view.perform.mistakes import as_text, distinct, only_apart
from autodiff_kit.view.perform.reaching import passes, why_none
from autodiff_kit.view.perform.replay import LARGEST, array_of, is_whole, tensor
from autodiff_kit.view.perform.script import Details, Mark, Slip, Stage, Task
from autodiff_kit.view.perform.smaller import adds, counted, one_of, yes_no

__all__ = ["state_stages"]

LEAVES = 8  # whose .grad is asked for


def state_stages(context: Context) -> list[Stage]:
    """Return what is asked after the last backward pass."""
    frame = len(context.picture.frames) - 1
    if not passes(context) or context.recording["error"]:
        return []
    tasks = [*_leaves(context), *_freed(context)]
    return [{"part": "state", "frame": frame, "tasks": tasks}] if tasks else []


def _leaves(context: Context) -> list[str]:
    tasks: list[str] = []
    for box in context.picture.outline.boxes:
        record = context.nodes[box.nodes[-1]]
        is_own = record["kind"] == "leaf" and not record.get("older")
        is_own = is_own and _is_met(context, record["id"])
        if is_own and context.names.name(record["id"]).isidentifier() and len(tasks) < LEAVES:
            task = _leaf(context, record["id"])
            tasks += [task] if task else []
    return tasks


def _is_met(context: Context, leaf: int) -> bool:
    """Return whether a leaf is asked about, or all operations that read it."""
    reading = [n["id"] for n in context.nodes if leaf in context.tensors(n)]
    return context.is_asked(leaf) or (bool(reading) and all(map(context.is_asked, reading)))


def _leaf(context: Context, node: int) -> str | None:
    name, grad = context.name(node), None
    arrivals: list[tuple[int, Value]] = []
    number, changed = -1, ""
    parts: dict[int, list[Value]] = {}
    for event in context.events:
        if event["kind"] == "backward":
            number += 1
        elif event["kind"] == "accumulate" and event["node"] == node:
            if event["before"] is None:
                arrivals.clear()
            grad = event["grad"]
            arrivals.append((number, event["g"]))
        elif event["kind"] == "grad" and event["node"] == node:
            grad = event["grad"]
            arrivals.clear()
            changed = f"{context.line(event['where'])}`{name}.grad` is changed. Begin with what it "
            changed += "is after that, and add what arrives later."
        elif event["kind"] == "contribution" and event["to"] == node:
            parts.setdefault(number, []).append(event["after"])
    if grad is None:
        return _none(context, node)
    if not is_whole(grad) or len(grad["data"]) > LARGEST:
        return None
    right = array_of(grad)
    box = context.box(node)
    slips: list[Slip] = []
    if len(arrivals) > 1:
        marks: list[Mark] = [{"kind": "lost", "node": box, "text": "earlier passes lost"}]
        text = (
            f"That is what one backward pass brings. There were {len(arrivals)}, and each adds to "
            f"`{name}.grad`."
        )
        slips += [
            slip({"at": [tensor(array_of(g))]}, text, "grad_replaced", marks=marks)
            for _, g in arrivals
            if is_whole(g)
        ]
    elif arrivals:
        own = parts.get(arrivals[0][0], [])
        marks = [{"kind": "lost", "node": box, "text": "another contribution lost"}]
        text = f"That is one contribution. `{name}` got {len(own)}, and they add up."
        if len(own) > 1:
            slips += [
                slip({"at": [tensor(array_of(part))]}, text, "overwrites", marks=marks)
                for part in own
                if is_whole(part)
            ]
    value = context.replay.values.get(node)
    if value is not None:
        text = f"That is the value of `{name}`. Its gradient is in `{name}.grad`."
        slips.append(slip({"at": [tensor(value)]}, text))
    return context.value_task(
        "state",
        "leaf",
        f"What is `{name}.grad` at the end?",
        [right],
        only_apart(distinct(slips, [right])),
        otherwise=changed or f"Add up all that has arrived at `{name}`, in all passes.",
        right=f"`{name}.grad` is `{as_text(right)}`.",
        node=box,
        smaller=_smaller_leaf(context, node, 0 if changed else len(arrivals), parts),
    )


def _none(context: Context, node: int) -> str | None:
    """Ask for a .grad that is None."""
    name, box = context.name(node), context.box(node)
    reason = why_none(context, node)
    text = reason.text
    marks: list[Mark] = [{"kind": "wrong", "node": box, "text": f"{name}.grad is None"}]
    kinds = (reason.misconception,) if reason.misconception else ()
    smaller = _smaller_stays(name) if reason.has_path else _smaller_none(context, name)
    return context.task(
        "state",
        "leaf",
        "value",
        f"What is `{name}.grad` at the end?",
        [{"none": True}],
        options=[{"value": v, "text": f"`{v}`"} for v in ("None", "0.", "1.")],
        slips=[slip({"number": True}, f"{text} `{name}.grad` is `None`.", *kinds, marks=marks)],
        right=f"`{name}.grad` is `None`. {text}",
        reveal="`None`",
        node=box,
        like="none",
        smaller=smaller,
    )


def _smaller_leaf(
    context: Context, node: int, passes_to: int, parts: dict[int, list[Value]]
) -> Task:
    """Ask how many contributions there were; after several passes, or a change, what they do."""
    name = context.name(node)
    if passes_to != 1 or not any(parts.values()):
        return adds("state", "leaf", name)
    return counted(
        "state",
        "leaf",
        f"How many contributions has `{name}` got?",
        len(next(iter(parts.values()))),
        f"Their sum is in `{name}.grad`.",
        f"Count the arrows that have brought a number to `{name}`.",
        node=context.box(node),
    )


def _smaller_stays(name: str) -> Task:
    return yes_no(
        "state",
        "leaf",
        f"Has a backward pass added to `{name}.grad`, and has no line cleared it since?",
        False,
        "Then nothing is there.",
        "Look at what the lines with the backward passes ask for, and at the lines after them.",
    )


def _smaller_none(context: Context, name: str) -> Task:
    roots = dict.fromkeys(root for record in passes(context) for root in record.start["roots"])
    begin = code(*map(context.name, roots))
    begin = begin if len(roots) == 1 else f"one of {begin}"
    return one_of(
        "state",
        "leaf",
        f"Does `{name}` require a gradient, and does a path lead from {begin} to it?",
        "no",
        {"yes": "Yes, both", "no": "No, at least one of them fails"},
        right="So no backward pass writes to its .grad, and that is not the same as 0.",
        otherwise=f"Look at the line that makes `{name}`, and at the edges that leave it.",
    )


def _freed(context: Context) -> list[str]:
    last = max(k for k, e in enumerate(context.events) if e["kind"] == "backward")
    events = context.events[last:]
    visited = [e["node"] for e in events if e["kind"] == "visit"]
    saving = [n for n in visited if context.nodes[n]["saved"]]
    released = {e["node"] for e in events if e["kind"] == "release"}
    is_freed = bool(released & set(saving))
    # Known if all of them have released what they saved, or none has.
    is_known = not released or released >= set(saving)
    root = context.name(context.events[last]["roots"][0])  # type: ignore[typeddict-item]
    if not is_known:
        return []
    shared: Details = {"where": context.events[last].get("where")}
    tasks = []
    if saving:
        names = ", ".join(f"`{context.name(n)}`" for n in saving[:3])
        more = " and others" if len(saving) > 3 else ""
        sentence = (
            "The pass frees what a node has saved as soon as its rules have run."
            if is_freed
            else "`retain_graph=True` keeps what the nodes have saved."
        )
        tasks.append(
            context.task(
                "state",
                "freed",
                "choice",
                f"{names}{more} saved values for the backward pass. Are they still there?",
                [{"one": "no" if is_freed else "yes"}],
                options=choice(yes="Yes, they are kept", no="No, the pass has freed them"),
                otherwise=sentence,
                right=sentence,
                reveal="no, they are freed" if is_freed else "yes, they are kept",
                smaller=yes_no(
                    "state",
                    "freed",
                    "Does the call say `retain_graph=True` or `create_graph=True`?",
                    not is_freed,
                    "Without it, a pass frees what it has used.",
                    "Look at the line that is marked in the code.",
                    **shared,
                ),
                **shared,
            )
        )
    fills = any(context.nodes[n]["kind"] == "leaf" for n in visited)
    if fills and not passes(context)[-1].results:  # autograd.grad would add to no .grad
        tasks.append(_again(context, root, is_freed, shared))
    return tasks


def _again(context: Context, root: str, is_freed: bool, shared: Details) -> str:
    text = (
        "A backward pass never sets .grad anew: what it brings is added to what is there."
        if not is_freed
        else "No: the values that the rules need are freed, so a second pass cannot run."
    )
    kinds = () if is_freed else ("grad_replaced",)
    right = (
        "It stops with an error: the saved values are freed. `retain_graph=True` keeps them."
        if is_freed
        else "It adds the same gradients once more to each .grad."
    )
    return context.task(
        "state",
        "again",
        "choice",
        f"What does the same backward pass from `{root}` do if it is run once more?",
        [{"one": "error" if is_freed else "adds"}],
        options=choice(
            error="It stops with an error",
            adds="It adds the same gradients to each `.grad`",
            sets="It sets each `.grad` to the same gradient as before",
        ),
        slips=[slip({"one": "sets"}, text, *kinds)],
        otherwise=right,
        right=right,
        reveal=right,
        smaller=yes_no(
            "state",
            "again",
            "Are all values that the backward rules need still there?",
            not is_freed,
            "A pass cannot run without them." if is_freed else "So it runs as the first one did.",
            "Without `retain_graph=True`, a pass frees what the nodes have saved.",
        ),
        **shared,
    )
