"""Stories of what cannot be done with this tensor: it is a leaf, a result, or of a wrong kind.

After reading you know what autograd refuses at once, and what a learner would write instead. Read
next: ``story.py``, whose table says which message leads to which story.
"""

from __future__ import annotations

import ast
import re
from math import prod

from autodiff_kit.view.story_code import span_of
from autodiff_kit.view.story_facts import Chapter, Facts, Told
from autodiff_kit.view.story_operands import of_the_library
from autodiff_kit.view.story_paths import lost
from autodiff_kit.view.story_types import no_pass
from autodiff_kit.view.values import shape_text, show

__all__ = [
    "function",
    "hook_shape",
    "inference",
    "leaf_in_place",
    "nan",
    "no_float",
    "no_grad_there",
    "no_scalar",
    "of_a_result",
    "wrong_shape",
]


def no_scalar(facts: Facts, match: re.Match[str]) -> Told | None:
    """Tell that backward has to know what flows into many numbers."""
    node = facts.subject
    if node is None:
        return None
    value = facts.nodes[node]["value"]
    count = prod(value["shape"])
    name, start = facts.base(facts.name(node)), facts.owner(node)
    text = facts.text(facts.error["where"])
    return (
        f"Backward starts with a single 1, and `{name}` has {count} numbers",
        [
            Chapter(
                f"`{facts.titled(node)}` has shape {shape_text(value['shape'])}: {count} numbers.",
                node,
                facts.nodes[node]["where"],
            ),
            Chapter(
                f"`{text}` needs a number to start with at each of them. For a single number "
                "that is 1; for several, only you can say.",
                node,
                facts.error["where"],
            ),
        ],
        f"reduce them to one number: `{start}.sum().backward()` or `{start}.mean().backward()`; or "
        f"say what flows in: `{start}.backward({facts.module}.ones_like({facts.code(node)}))`",
    )


def leaf_in_place(facts: Facts, match: re.Match[str]) -> Told | None:
    """Tell that a leaf is changed in place while that is recorded."""
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
        words = f"`{facts.titled(node)}` is a view: it shares the storage of `{name}`."
        chapters.append(Chapter(words, node, facts.nodes[node]["where"]))
    text = facts.line(facts.error["where"])
    chapters.append(
        Chapter(
            f"`{text}` would write other numbers into `{name}`. Then `{name}` would no longer be "
            "what you made, and its gradient would belong to numbers that are gone.",
            node,
            facts.error["where"],
        )
    )
    return (
        f"A change in place of the leaf `{name}`, while it is being recorded",
        chapters,
        f"if it is an update: put `with {facts.module}.no_grad():` around `{text}`; "
        "otherwise make a new tensor",
    )


def of_a_result(facts: Facts, match: re.Match[str]) -> Told | None:
    """Tell what is done to a result, and is allowed on leaves only."""
    node = facts.subject
    message = facts.error["message"]
    if node is None or (facts.nodes[node]["kind"] != "op" and "numpy()" not in message):
        return None
    name = facts.name(node)
    text = facts.text(facts.error["where"])
    if "numpy()" in message:
        title = f"`{name}` would leave the graph without a trace"
        last = f"`{text}` would go on in NumPy, where nothing is recorded."
        detached = text.replace(".numpy", ".detach().numpy")
        if detached == text:  # NumPy has asked for it: np.sin(x)
            detached = f"{facts.owner(node)}.detach().numpy()"
        fix = f"say that you mean it: `{detached}`"
        if function := of_the_library(facts, text):
            fix = f"use `{function}`, which is recorded; or {fix}"
    elif "optimize" in message:
        title = f"An optimizer was given `{name}`, which is a result"
        last = f"An update of `{name}` would be lost: it is computed from its inputs each time."
        fix = f"give it the leaves that `{name}` is made of; or make it a leaf: "
        fix += f"`{facts.owner(node)}.detach().requires_grad_()`"
    elif "deepcopy" in message:
        title = f"`{name}` cannot be copied with its graph"
        last = f"A copy of `{name}` would need a copy of the node that made it."
        fix = f"copy the numbers alone: `{facts.owner(node)}.detach().clone()`"
    elif "hook" in message:
        title = f"`{name}` accumulates nothing"
        last = "This hook runs after `.grad` was accumulated, and only leaves accumulate."
        fix = f"use `{facts.owner(node)}.register_hook(...)`, "
        fix += "which is called with the gradient as it passes"
    else:
        title = f"`{name}` requires a gradient because its inputs do"
        value = "" if "(" in text else " = False"
        last = f"`{text}{value}` would cut the graph without a trace."
        fix = f"take the numbers out of the graph: `{name} = {name}.detach()`"
    origin = f"`{facts.titled(node)}` is a result: `{facts.nodes[node]['grad_fn']}` made it."
    if facts.nodes[node]["kind"] == "leaf":
        origin = f"`{name}` is a leaf that requires a gradient."
    chapters = [
        Chapter(origin, node, facts.nodes[node]["where"]),
        Chapter(last, node, facts.error["where"]),
    ]
    return title, chapters, fix


def no_grad_there(facts: Facts, match: re.Match[str]) -> Told | None:
    """Tell why ``w.grad`` is None: ``w`` is no leaf any more, or nothing went back to it."""
    where = facts.error["where"]
    grads = re.findall(r"([^\W\d]\w*)\.grad\b", facts.text(where))
    for name in dict.fromkeys(grads):
        node = facts.find(ast.Name(name))
        if node is None or not facts.nodes[node]["requires_grad"]:
            continue
        record = facts.nodes[node]
        if record["kind"] == "leaf":
            cause = lost(facts, record["name"]) or no_pass(facts, record["name"])
            return cause and _noticed(facts, cause, name)
        origin = f"`{facts.titled(node)}` is a result: `{record['grad_fn']}` made it."
        line = facts.line(record["where"])
        fix = f"call `{name}.retain_grad()` before backward, or ask for the gradient of a leaf"
        update = re.fullmatch(rf"{name}\s*=\s*{name}\s*([-+])\s*(.+)", line)
        if update:
            fix = (
                f"update the leaf in place: `{name} {update[1]}= {update[2]}` under "
                f"`with {facts.module}.no_grad():`, and `{name}.grad = None` after it"
            )
            origin += f" From here on `{name}` is no leaf."
        return (
            f"`{name}.grad` is None: `{name}` is a result, and only leaves accumulate",
            [
                Chapter(origin, node, record["where"]),
                Chapter(
                    f"`{facts.text(where)}` needs a gradient, and `{name}.grad` is None: backward "
                    "passes through a result and accumulates nothing in it.",
                    node,
                    where,
                ),
            ],
            fix,
        )
    return None


def _noticed(facts: Facts, cause: Told, name: str) -> Told:
    """Add where the code meets the None, unless that is told already."""
    title, chapters, fix = cause
    where = facts.error["where"]
    if any(chapter.where == where for chapter in chapters):
        return cause
    words = f"`{facts.text(where)}` needs a gradient, and `{name}.grad` is None."
    return title, [*chapters, Chapter(words, None, where)], fix


def no_float(facts: Facts, match: re.Match[str]) -> Told | None:
    """Tell that integers have no gradient."""
    node = facts.subject
    text = facts.text(facts.error["where"])
    chapters = []
    if node is not None and facts.nodes[node]["where"] is not None:
        record = facts.nodes[node]
        words = f"`{facts.name(node)}` holds integers: {record['value']['dtype']}."
        chapters.append(Chapter(words, node, record["where"]))
    words = f"`{text}` asks for a gradient: how much changes if this changes a little? "
    chapters.append(Chapter(words + "Integers cannot change a little.", node, facts.error["where"]))
    fix = "write the numbers with a point where the tensor is made, `1.` instead of `1`"
    return "Integers have no gradient", chapters, fix


def wrong_shape(facts: Facts, match: re.Match[str]) -> Told | None:
    """Tell that a gradient must have the shape of its tensor."""
    node = facts.subject
    if node is None:
        return None
    shape = shape_text(facts.nodes[node]["value"]["shape"])
    name = facts.name(node)
    size = shape_text([int(n) for n in re.findall(r"\d+", match[1])])
    return (
        f"The gradient that flows into `{name}` has another shape than `{name}`",
        [
            Chapter(f"`{facts.titled(node)}` has shape {shape}.", node, facts.nodes[node]["where"]),
            Chapter(
                f"The gradient given here has shape {size}: it must say one number for each "
                f"number of `{name}`.",
                node,
                facts.error["where"],
            ),
        ],
        f"give a gradient of shape {shape}, such as `{facts.module}.ones_like({facts.code(node)})`",
    )


def hook_shape(facts: Facts, match: re.Match[str]) -> Told | None:
    """Tell that a hook may only return a gradient like the one that it is called with."""
    hook = "A hook" if match[1] == "<lambda>" else f"The hook `{match[1]}`"
    words = f"{hook} is called with a gradient, and what it returns takes the place of that."
    return (
        f"{hook} returns a gradient of another shape",
        [
            Chapter(words, None, facts.error["where"]),
            Chapter(
                "A gradient says one number for each number of its tensor, so its shape stays.",
                None,
                facts.error["where"],
            ),
        ],
        "return a gradient of the shape that the hook is called with, such as `grad * 2`; a hook "
        "that only looks at it returns nothing",
    )


def inference(facts: Facts, match: re.Match[str]) -> Told | None:
    """Tell where a tensor was made in inference mode."""
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
        f"`{name}` was made in inference mode, and cannot enter a graph later",
        [
            Chapter(f"`{facts.text(switch)}`: from here on nothing is recorded.", None, switch),
            Chapter(
                f"`{facts.titled(node)}` has no version counter: a change would go unnoticed.",
                node,
                facts.nodes[node]["where"],
            ),
            Chapter(
                f"`{facts.text(facts.error['where'])}` would have to rely on `{name}` as it is.",
                node,
                facts.error["where"],
            ),
        ],
        f"use `{facts.module}.no_grad()` there instead of inference mode, or go on with "
        f"`{facts.owner(node)}.clone()`",
    )


def function(facts: Facts, match: re.Match[str]) -> Told | None:
    """Tell what is wrong with the backward of the learner's own Function."""
    node = facts.stopped_at
    if node is None:
        return None
    record = facts.nodes[node]
    op = record["op"]
    count = len(record["inputs"])
    message = facts.error["message"].splitlines()[0]
    if "number of gradients" in message:
        expected, actual = re.findall(r"\d+", message.rpartition("(")[2])
        title = f"{op} took {expected} arguments, and its backward returns {actual} gradients"
        last = f"The backward of {op} returned {actual}: "
        last += f"each of the {expected} arguments needs its own."
        fix = f"return {expected} values from `backward`, None for those without a gradient"
    elif "invalid gradient" in message:
        actual, required = re.findall(r"\[.*?\]", message)
        title = f"The backward of {op} returns a gradient of another shape than its input"
        last = f"What it returned has shape {actual}, and that input has shape {required}."
        fix = "give each input a gradient of its own shape; sum over what was broadcast"
    else:
        title = f"{op} cannot be differentiated"
        last = f"Backward reaches {op}: {message}"
        fix = f"write a `backward` for {op} that is made of differentiable operations"
    words = f"`{facts.titled(node)}` is applied to {count} tensor{'s' * (count != 1)} of the graph."
    chapters = [
        Chapter(words, node, record["where"]),
        Chapter(last, node, facts.error["where"]),
    ]
    return title, chapters, fix


def nothing_saved(facts: Facts, match: re.Match[str]) -> Told | None:
    """Tell that the learner's own Function reads saved tensors, and its forward saved none."""
    node, where = facts.stopped_at, facts.error["where"]
    if node is None or where is None or facts.nodes[node]["saved"]:
        return None
    if "saved_tensors" not in facts.line(where):
        return None
    op, record = facts.op(node), facts.nodes[node]
    targets = (n for n in facts.walk(where[0]) if isinstance(n, ast.Assign))
    starts = {(n.lineno, n.col_offset): span_of(where[0], n) for n in targets}
    read = starts.get((where[1], where[2]), where)  # not only what it is unpacked into
    classes = [n for n in facts.walk(where[0]) if isinstance(n, ast.ClassDef)]
    around = [n for n in classes if n.lineno <= where[1] <= (n.end_lineno or 0)]
    body = around[-1].body if around else []
    forward = [n for n in body if isinstance(n, ast.FunctionDef) and n.name == "forward"]
    names = [one.arg for one in forward[0].args.args] if forward else []
    call = f"{names[0]}.save_for_backward({', '.join(names[1:])})" if names[1:] else ""
    chapters = [
        Chapter(
            f"`{facts.titled(node)}` runs the forward of {op}, which saves no tensor.",
            node,
            record["where"],
        ),
        Chapter(f"`{facts.line(where)}` reads what was saved, and nothing was.", node, read),
    ]
    fix = f"save in `forward` what `backward` reads: `{call or 'ctx.save_for_backward(...)'}`"
    return f"The backward of {op} reads saved tensors, and its forward saved none", chapters, fix


def nan(facts: Facts, match: re.Match[str]) -> Told | None:
    """Tell at which value the rule of an op gives nan."""
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
                f"`{facts.titled(node)}` is computed at {value}. The value is fine; its derivative "
                "there need not be.",
                node,
                record["where"],
            ),
            Chapter(
                f"Backward reaches {op} with gradient {show(visit['g'])}, and its rule makes nan "
                "of it: an infinite derivative times 0, or a derivative where there is none.",
                node,
                facts.error["where"],
            ),
        ],
        f"keep what goes into {op} away from there: add a small number, clamp it, or choose with "
        f"`{facts.module}.where` what goes into {op}, not what comes out",
    )
