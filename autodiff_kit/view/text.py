"""The picture in words: facts about one node, and the whole as a table for terminals and readers.

After reading you can say what the inspector shows of a node and where it comes from. Read next:
``svg.py``, which draws what this file says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import prod
from unicodedata import combining, east_asian_width

from autodiff_kit.record.events import Input, NodeRecord, RecordingData, Saved, ScopeRecord
from autodiff_kit.record.source_tree import on_one_line
from autodiff_kit.view.drawn import Drawn
from autodiff_kit.view.explanation import in_sentences
from autodiff_kit.view.labels import word
from autodiff_kit.view.names import Names
from autodiff_kit.view.outline import Box, Outline
from autodiff_kit.view.rule_words import decisions, is_wide, rule_of, worded
from autodiff_kit.view.rules import decided, fill, is_readable, knows
from autodiff_kit.view.shapes import summed
from autodiff_kit.view.shortening import in_short
from autodiff_kit.view.values import TIMES, grid, parameter, shape_text, short, show
from autodiff_kit.view.words import listed, memory, spoken

__all__ = [
    "PART_GRADIENT",
    "aria",
    "facts",
    "fold_facts",
    "no_saved",
    "number",
    "read_by",
    "readers_of",
    "saved_name",
    "to_text",
]
__all__ += ["line_of", "switched_off", "what", "where_made"]

PART_GRADIENT = "gradient from backward"  # what the recorder calls a .grad that the code reads


# What a node saves beside its inputs and its result: of a batch normalization, a loss, a pick.
_SAVED = {
    "own_mean": "the means",
    "own_stretch": "1 / the standard deviations",
    "total_weight": "the sum of the weights of the classes",
    "target": "the target",
    "indices": "the indices",
    "positions": "the positions",
    "before": "the view as it was",
    "weight": "the weights of the classes",
}

# -- one node -----------------------------------------------------------------------------------


def aria(record: NodeRecord, names: Names) -> str:
    """Return what a screen reader says of a node: ``"h1, multiply, value 3.5"``."""
    name = names.called(record["id"])
    what = "leaf" if record["kind"] == "leaf" else word(str(record["op"]))
    ghost = "" if record["recorded"] else ", not recorded"
    return f"{name}, {what}, value {spoken(show(record['value']))}{ghost}"


def facts(recording: RecordingData, outputs: Sequence[int], names: Names) -> list[list[str]]:
    """Return the rows of the inspector that do not change with the steps.

    Returns
    -------
    list of [label, text]
    """
    node = outputs[0]
    record = recording["nodes"][node]
    rows: list[list[str]] = []
    if record["kind"] == "leaf":
        what = f"result of {record['grad_fn']}" if record["grad_fn"] else "leaf"
        rows.append(["what", f"{what}: a {record['part']}" if record.get("part") else what])
        if origin := where_made(recording, record):
            rows.append(["made", origin])
        if "from" in record:
            rows.append(["made", f"by {names.name(record['from'])}, without a history"])
        elif record["op"]:
            rows.append(["made", f"by {names.made_by(node)}, without a history"])
    else:
        name = f"   ({record['grad_fn']})" if record["grad_fn"] else ""
        rows.append(["operation", f"{names.change(node) or word(str(record['op']))}{name}"])
        if plain := names.written.number(node):
            rows.append(["number", f"{plain[0]} is {parameter(plain[1])} here"])
        if not record["recorded"]:
            rows.append(["recorded", "no: backward does not reach it"])
    value = record["value"]
    size = prod(value["shape"])
    if len(outputs) > 1:
        each = (f"{names.name(n)} = {show(recording['nodes'][n]['value'])}" for n in outputs)
        rows.append(["outputs", "\n".join((f"{len(outputs)} of one node", *each))])
    else:
        rows.append(["value", grid(value) if size else "[] (no elements)"])
        rows.append(["shape", shape_text(value["shape"])])
    rows.append(["dtype", str(value["dtype"])])
    rows.append(["requires_grad", _requires_grad(recording, node, names)])
    if record["kind"] == "op" and record["recorded"]:
        rows.append(["saved", _saved(recording, node, names)])
        if not record.get("again"):  # the gradient flows through what was made first
            rows.append(["rules", _rules(recording, node, names)])
    if record["text"]:
        rows.append(["source", on_one_line(str(record["text"]))])
    place = _place(recording["scopes"], record["scope"], names.calls)
    if place and record["where"] is not None:
        rows.append(["in", place])
    return rows


def _requires_grad(recording: RecordingData, node: int, names: Names) -> str:
    """Return ``True``; or ``True, from line 3 on False``, where that was changed."""
    changes = names.requirements.get(node, [])
    if not changes:
        return str(recording["nodes"][node]["requires_grad"])
    parts = [str(not changes[0]["requires_grad"])]
    for change in changes:
        since = f"from{line_of(recording, change['where']).removeprefix(' on')} on "
        parts.append(f"{since if change['where'] else 'later '}{change['requires_grad']}")
    return ", ".join(parts)


def what(recording: RecordingData, box: Box, names: Names) -> str:
    """Say in a sentence what a box is and where it was made: what a student asks first.

    As in "A leaf that you made on line 2." and "The result of w * x, on line 3."
    """
    place = names.place(box.nodes[0]) if box.kind != "fold" else ""
    return _what(recording, box, names) + (f" It is {place}." if place else "")


def _what(recording: RecordingData, box: Box, names: Names) -> str:
    record = recording["nodes"][box.nodes[0]]
    if box.kind == "fold":
        return f"{box.opening}, drawn as one box."
    where = record["where"]
    on = line_of(recording, where)
    if record["kind"] == "op":
        of = names.change(box.nodes[0]) or word(str(record["op"]))
        several = f"{len(box.nodes)} outputs" if len(box.nodes) > 1 else "The result"
        lost = "" if record["recorded"] else " It is not recorded: backward does not reach it."
        return f"{several} of {of},{on}.{lost}" if on else f"{several} of {of}.{lost}"
    if "from" in record:
        return f"The values of {names.name(record['from'])}, without its history{on}."
    needs = "" if record["requires_grad"] else " It needs no gradient."
    if record.get("part") == PART_GRADIENT:
        leaf = names.name(box.nodes[0]).removesuffix(".grad")
        return f"The gradient of {leaf} that backward has accumulated. It has no history."
    if record.get("part"):
        return f"A leaf: a {record['part']}.{needs}"
    kind = f"A result of {record['grad_fn']}" if record["grad_fn"] else "A leaf"
    kind = kind if record["requires_grad"] or record["grad_fn"] else "Data"
    if origin := where_made(recording, record):
        return f"{kind}, made {origin}.{needs}"
    return f"{kind} that you made{on}.{needs}"


def line_of(recording: RecordingData, where: Sequence[int] | None) -> str:
    """Return `` on line 3`` as it is numbered beside the source; nothing for no place."""
    if where is None:
        return ""
    first = int(recording["sources"][where[0]].get("first_line", 1))
    return f" on line {where[1] - 1 + first}"


def where_made(recording: RecordingData, record: NodeRecord) -> str:
    """Return where a leaf comes from, if nothing that was recorded has made it; else "".

    Code has no places where Python keeps no text of it, as at its own prompt.
    """
    if "from" in record:
        return ""
    if record.get("older"):
        return "before the recording"
    has_no_place = record["where"] is None and bool(recording["sources"])
    if record["grad_fn"] or (has_no_place and not record.get("part")):
        return "where the recording could not see it"
    return ""


def _saved(recording: RecordingData, node: int, names: Names) -> str:
    """Return "w = 2., because the rule for h reads it", one line per saved value."""
    record = recording["nodes"][node]
    operands = names.operands(node)
    sources = {source["arg"]: source for source in record["inputs"]}
    lines: dict[str, tuple[int, str | None, dict[str, None]]] = {}
    for saved in names.written.saved(node):
        source = sources.get(saved["name"])
        if (result := names.results.saved(node, saved["name"])) is not None:
            text = short(recording["nodes"][result]["value"])
            what = names.name(result) + (f" = {text}" if text else "")
        elif saved["name"] == "out":
            what = f"its result {short(record['value']) or ''}".strip()
        elif source is None:
            what = saved_name(saved["name"])
        elif "node" in source:
            value, is_overwritten = names.operand_then(node, source["node"])
            text = short(value)
            what = names.name(source["node"]) + (f" = {text}" if text else "")
            if text and is_overwritten:
                what += " when it was saved"
        else:
            what = number(source)
        by = {
            "checkpoint": ": not saved, the checkpoint runs again to get it",
            "hook": ": as your pack hook returned it",
        }.get(saved.get("by", ""))
        size, _, rules = lines.setdefault(what, (0, by, {}))
        lines[what] = size + saved["bytes"], by, rules
        rules.update(dict.fromkeys(operands.get(a, a) for a in readers_of(recording, node, saved)))
    if not lines:
        return no_saved(recording, node, names)
    return "\n".join(
        f"{what}{by or ''}{_size(what, size) if by is None or size else ''}"
        f"{f', because {read_by(rules)}' if rules else ''}"
        for what, (size, by, rules) in lines.items()
    )


def readers_of(recording: RecordingData, node: int, saved: Saved) -> list[str]:
    """Return the arguments whose rules are known to read something that a node has saved.

    PyTorch saves more than that: a normalization that trains has its running means.
    """
    rules = recording["ops"][str(recording["nodes"][node]["op"])]["rules"]
    name = saved["name"].split("[")[0]
    is_inside = recording["nodes"][node]["op"] == "copy_slices"  # of which the recorder knows it
    is_known = is_inside or any(name in rule["reads"] for rule in rules.values())
    return saved["for"] if is_known else []


def read_by(rules: Collection[str]) -> str:
    """Return "the rule for w reads it"."""
    if len(rules) == 1:
        return f"the rule for {listed(rules)} reads it"
    return f"the rules for {listed(rules)} read it"


def number(source: Input) -> str:
    """Return "the number 2", or what such a number was in the backward pass."""
    value = parameter(source["value"])
    return f"the root's gradient, {value}" if source.get("is_seed") else f"the number {value}"


def saved_name(name: str) -> str:
    """Return what is saved beside the inputs and the result, in words."""
    if name.startswith("result"):  # of an op that only PyTorch has
        return "a further result"
    if name.startswith("saved_tensors"):
        return "what forward saved"
    return _SAVED.get(name) or f"the {name.replace('_', ' ')}"


def _size(what: str, size: int) -> str:
    if size:
        return f" ({memory(size)})"
    return "" if what.startswith("the number ") else " (in the same storage)"


def switched_off(recording: RecordingData, node: int, operands: Sequence[int] | None = None) -> str:
    """Return the mode for which alone an op is not recorded, ``"no_grad"``; "" if there is none."""
    record = recording["nodes"][node]
    if record["recorded"] or record["op"] == "detach":
        return ""
    if operands is None:
        operands = [i["node"] for i in record["inputs"] if "node" in i]
    requires_grad = any(recording["nodes"][n]["requires_grad"] for n in operands)
    mode = record.get("mode", "no_grad")
    has_rules = recording["ops"][str(record["op"])]["rules"]
    return mode if requires_grad and has_rules and mode != "grad" else ""


def no_saved(recording: RecordingData, node: int, names: Names) -> str:
    """Say that a node saves nothing; and why, if its rules are known."""
    record = recording["nodes"][node]
    if record.get("again"):
        return "nothing: backward uses it at once"
    rules = recording["ops"][str(record["op"])]["rules"]
    values = {"out", *(i["arg"] for i in record["inputs"])}
    reads = [rules[arg]["reads"] for arg in wanted_of(recording, node, names) if arg in rules]
    if reads and not any(values & set(read) for read in reads):
        return "nothing: the rules read only the gradient"
    return "nothing"


def wanted_of(recording: RecordingData, node: int, names: Names) -> list[str]:
    """Return the arguments of a node's op to which a gradient goes; ``x`` for ``x[0]``, too."""
    inputs = recording["nodes"][node]["inputs"]
    inputs = [i for i in inputs if "node" in i and names.flow.is_open(node, i["node"])]
    return list(dict.fromkeys(i["arg"].split("[")[0] for i in inputs))


def _rules(recording: RecordingData, node: int, names: Names) -> str:
    """Return the op's rules in the learner's names, one line per input that a gradient goes to."""
    record = recording["nodes"][node]
    lines: Counter[str] = Counter()
    nodes = recording["nodes"]
    shapes = {i["arg"]: nodes[i["node"]]["value"]["shape"] for i in record["inputs"] if "node" in i}
    shapes |= {"g": record["value"]["shape"], "out": record["value"]["shape"]}
    for source in names.written.inputs(node):
        if "node" not in source or not names.flow.is_open(node, source["node"]):
            continue
        left, shape = names.called(source["node"]), nodes[source["node"]]["value"]["shape"]
        rule = rule_of(recording["ops"], record, source["arg"])
        right = f"what {record['grad_fn']} computes"
        if rule is not None:
            text = decided(rule["text"], decisions(record))
            known = names.reads(node, rule["reads"])
            if is_readable(text) and knows(text, known):
                right = fill(text, known, TIMES) + summed(text, shapes, shape)
            else:
                right = worded(record, source["arg"], source["node"], names) or right
                if is_wide(record, source["arg"]):
                    right += summed("g", shapes, shape)
        lines[f"to {left}: {right}"] += 1
    times = ("", "", ", twice", ", three times")
    return "\n".join(
        line + (times[n] if n < len(times) else f", {n} times") for line, n in lines.items()
    )


def _place(scopes: Sequence[ScopeRecord], scope: int, calls: Mapping[int, str]) -> str:
    """Return "iteration 2 of for i in range(3), forward": from the inside out, without the root.

    Of a test that no round has followed, "the last test of while x < 5".
    """
    parts: list[str] = []
    at: int | None = scope
    while at is not None and scopes[at]["kind"] != "root" and len(parts) < 4:
        here, at = scopes[at], scopes[at]["parent"]
        if here["kind"] == "iteration" and at is not None:
            parts.append(f"iteration {here['index'] + 1} of {scopes[at]['name']}")
            at = scopes[at]["parent"]
        elif here["kind"] == "test" and at is not None:
            parts.append(f"the last test of {here['name']}")
            at = scopes[at]["parent"]
        else:
            parts.append(calls.get(here["id"], str(here["name"])))
    return ", ".join(parts)


def fold_facts(
    recording: RecordingData, box: Box, outline: Outline, names: Names
) -> list[list[str]]:
    """Return the rows of the inspector for a folded box: what it hides, keeps and ends with."""
    nodes = recording["nodes"]
    rows = [["what", f"{box.heading}, drawn as one box"], ["hides", outline.body(box, nodes)]]
    ops = box.ops
    if box.result is not None:
        what = "ends with" if box.result == ops[-1] else "backward starts at"
        rows.append([what, f"{names.title(box.result)}\n{grid(nodes[box.result]['value'])}"])
        size = sum(s["bytes"] for n in ops for s in nodes[n]["saved"])
        rows.append(["saved", memory(size) if size else "nothing"])
    return rows


# -- the whole ----------------------------------------------------------------------------------

_COLUMN = 44  # characters a cell of the table may take


def to_text(picture: Drawn, step: int | None = None) -> str:
    """Return the graph as a table with one row per box, and a step in words.

    Parameters
    ----------
    picture : Picture
    step : int, optional
        Which step; negative ones count from the end. Without it the last one, and every step
        that led there is listed.

    Returns
    -------
    str - lines without trailing spaces; the lit source is underlined with ``^``.

    Raises
    ------
    IndexError
        If there is no such step.
    """
    state = picture.state(-1 if step is None else step)
    lines = [picture.title, "=" * _cells(picture.title), ""]
    rows = []
    for box, text in zip(picture.outline.boxes, picture.texts, strict=True):
        fields = state["nodes"][box.id]
        if fields["hidden"]:
            continue
        mark = ">" if fields["active"] else " "
        grad = fields.get("g") if fields.get("g") is not None else fields.get("grad")
        value = fields.get("value", text["lines"][-1] if text["lines"] else "")
        notes = text["origin"]
        if text["ghost"]:
            notes += ", not recorded" if box.kind == "op" else ", requires no gradient"
        rows.append([f"{mark} {picture.titles[box.id]}", notes, value, grad or ""])
    heads = ["  node", "made by", "value", "gradient"]
    if not any(row[3] for row in rows):
        heads, rows = heads[:3], [row[:3] for row in rows]
    lines += _table(heads, rows)
    if any(row[0].startswith(">") for row in rows):
        lines += ["(> stands before the node of the step)"]
    if step is None:
        lines += ["", "Steps"]
        lines += [f"{k:4d}. {f['caption']}" for k, f in enumerate(picture.frames, 1)]
    elif picture.frames:
        number = f"Step {state['step'] + 1} of {len(picture.frames)} ({state['phase']})"
        lines += ["", f"{number}: {state['caption']}", *_lit(picture, state["where"])]
    if (explanation := state["explanation"]) is not None:
        lines += ["", *in_sentences(explanation)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _table(heads: list[str], rows: list[list[str]]) -> list[str]:
    cut = [[in_short(cell, _COLUMN) for cell in row] for row in rows]
    widths = [max(map(_cells, column)) for column in zip(heads, *cut, strict=True)]
    lines = [heads, ["-" * width for width in widths], *cut]
    return [
        "   ".join(
            cell + " " * (width - _cells(cell)) for cell, width in zip(r, widths, strict=True)
        )
        for r in lines
    ]


def _lit(picture: Drawn, where: Sequence[int] | None) -> list[str]:
    """Return the first line of the lit source, and the marks below it."""
    if where is None:
        return []
    source, line, column, end_line, end_column = where
    text = picture.sources[source]["lines"][line - 1]
    end = end_column if end_line == line and end_column is not None else len(text)
    start = column or 0
    before = " " * _cells(text[:start])
    return ["", f"    {text}", f"    {before}{'^' * max(1, _cells(text[start:end]))}"]


def _cells(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in text)
