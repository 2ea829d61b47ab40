"""What stands in a box: a name with its expression, a value, what the gradient is called.

After reading you can say why a result without a name is called by its expression, and what a fold
says of what it hides. Read next: ``chips.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autodiff_kit.record.events import RecordingData
from autodiff_kit.view.detail import Detail
from autodiff_kit.view.heat import cells
from autodiff_kit.view.labels import LABEL, label, word
from autodiff_kit.view.names import NAME, REBUILT, Names
from autodiff_kit.view.outline import Box, Outline
from autodiff_kit.view.parameters import parameters_of, size_of
from autodiff_kit.view.payload import GRADIENT, BoxText, Frame
from autodiff_kit.view.rules import decided
from autodiff_kit.view.shortening import in_short
from autodiff_kit.view.subscripts import in_box
from autodiff_kit.view.text import switched_off
from autodiff_kit.view.values import parameter
from autodiff_kit.view.words import box_line, box_value

__all__ = ["box_text", "box_texts"]

EXPRESSION = 24  # characters of an expression beside it


# What a step brings to a box, by the field, and what of it a box has room for.
_BROUGHT = {"g": "grads", "grad": "grads", "value": "values", "cells": "cells", "map": "maps"}


def box_texts(
    recording: RecordingData,
    drawing: Outline,
    names: Names,
    frames: Sequence[Frame],
    slots: Mapping[str, dict[str, str]],
) -> list[BoxText]:
    """Return what stands in each box, with all that the steps bring."""
    texts_by_kind: dict[str, dict[str, dict[str, None]]] = {kind: {} for kind in _BROUGHT.values()}
    for frame in frames:
        for name, fields in frame["set"].items():
            by_field: dict[str, object] = {**fields}
            if name in slots:
                by_field |= {"g": fields.get("total"), "grad": None}
            for field, kind in _BROUGHT.items():
                if isinstance(text := by_field.get(field), str):
                    texts_by_kind[kind].setdefault(name, {})[text] = None
    texts = []
    for box in drawing.boxes:
        words = box_text(recording, box, names, detail=drawing.detail)
        words["grads"] = list(texts_by_kind["grads"].get(box.id, ()))
        words["values"] = list(texts_by_kind["values"].get(box.id, ()))
        words["maps"] = list(texts_by_kind["maps"].get(box.id, ()))
        if words["cells"]:  # else there is no room for later ones
            words["cells"] += texts_by_kind["cells"].get(box.id, ())
        words["slots"] = slots.get(box.id, {})
        texts.append(words)
    return texts


def box_text(recording: RecordingData, box: Box, names: Names, *, detail: Detail) -> BoxText:
    """Return what stands in a box, but for what the steps bring: gradients, values, slots."""
    if box.kind == "fold":
        text = _fold_text(recording, box, names)
    else:
        text = _node_text(recording, box.nodes, names, detail == Detail.PICTURES)
    text["is_dense"] = detail == Detail.DENSE
    return text


def _node_text(
    recording: RecordingData, outputs: Sequence[int], names: Names, has_pictures: bool
) -> BoxText:
    node = outputs[0]
    record = recording["nodes"][node]
    of_gradient = GRADIENT
    origin = ""
    if record["kind"] == "leaf":
        name, of = names.name(node), "leaf" if record["requires_grad"] else "data"
        symbol, origin = record["grad_fn"] or of, record["grad_fn"] or "leaf"
        if all(map(str.isidentifier, name.split("."))) and not record["grad_fn"]:
            of_gradient = f"{name}.grad"
    elif record["name"]:
        name, symbol, origin = record["name"], names.change(node), _op_label(recording, node, names)
        if len(symbol) > EXPRESSION:
            symbol = origin
    else:
        name, origin = names.name(node), _op_label(recording, node, names)
        symbol = names.additions.get(node, "").strip()
        if names.modules.output(node):
            symbol = f"{origin} {symbol}".rstrip()
    if record["kind"] == "op" and (mode := switched_off(recording, node)):
        symbol = f"{mode}: {symbol}" if record["name"] else ", ".join(filter(None, (mode, symbol)))
    picture = cells(record["value"]) if has_pictures and len(outputs) == 1 else None
    lines = [box_line(record["value"], picture)]
    if len(outputs) > 1:  # one node of PyTorch's
        name, symbol = ", ".join(map(names.name, outputs)), word(str(record["op"]))
        origin = symbol
        values = [box_value(recording["nodes"][n]["value"]) for n in outputs]
        lines = [
            ", ".join(values) if sum(map(len, values)) < 2 * NAME else f"{len(values)} outputs"
        ]
    name = in_short(name, NAME)
    text = _text(
        name, symbol, lines, origin=origin, ghost=not record["recorded"], label=of_gradient
    )
    text["cells"] = [picture] if picture else []
    return text


def _op_label(recording: RecordingData, node: int, names: Names) -> str:
    """Return what an op does, ``** 2``: where its expression is too long for its box."""
    record = recording["nodes"][node]
    constants = {i["arg"]: parameter(i["value"]) for i in record["inputs"] if "value" in i}
    params = {k: parameter(v) for k, v in record["params"].items()}
    formula = recording["ops"][str(record["op"])]["text"]
    formula = decided(formula, tuple(sorted(params.items())))
    order = names.written.order(node)
    is_mirrored = len(order) == 2 and order[0] == 1
    nodes, expression = recording["nodes"], names.text(node)
    symbol = in_box(record, nodes, expression, LABEL)
    if symbol or record["op"] in REBUILT:
        return symbol or word(str(record["op"]))
    return label(formula, constants | params, str(record["op"]), reverse=is_mirrored)


def _fold_text(recording: RecordingData, box: Box, names: Names) -> BoxText:
    nodes = recording["nodes"]
    ops = box.ops
    own = parameters_of(box, nodes)
    ghost = not any(nodes[n]["recorded"] for n in box.nodes)
    title, symbol, label = box.title, box.count, "gradient"
    is_expression = box.part is not None and box.part.kind == "expression"
    if box.part is not None and box.part.kind in ("module", "equal", "modules"):
        symbol = f"{box.count} {box.of}" if box.part.kind == "equal" else box.of
        if box.count.startswith("call"):
            title = f"{title}, {box.count}"
        each = f"{len(ops) // len(box.part.members):,} ops each" if box.part.members else ""
        lines = [each if each and box.part.kind == "equal" else _ops(len(ops))]
    elif is_expression:
        title, symbol = names.name(ops[-1]), _ops(len(ops))
        lines = []
    elif box.part is not None and box.part.kind in ("iteration", "rounds"):
        lines = [in_short(box.of, 2 * NAME)]
        symbol = ", ".join(filter(None, (box.count, _ops(len(ops)))))
    else:
        lines = [f"of {box.of}"] if box.of and box.of != box.title else []
        lines = [in_short(line, 2 * NAME) for line in lines]
        if ops:
            lines.append(_ops(len(ops)))
    if own:
        lines[-1:] = [", ".join([*lines[-1:], f"{size_of(own, nodes):,} parameters"])]
        label = "gradient norm"
    if is_expression:
        lines.append(box_value(nodes[ops[-1]]["value"]))
    elif not own and box.result is not None and (record := nodes[box.result])["name"]:
        lines.append(f"{record['name']} = {box_value(record['value'])}")
    return _text(in_short(title, NAME), symbol, lines, origin=symbol, ghost=ghost, label=label)


def _ops(count: int) -> str:
    return f"{count:,} op{'s' * (count != 1)}"


def _text(
    name: str, symbol: str, lines: list[str], *, origin: str, ghost: bool, label: str = GRADIENT
) -> BoxText:
    return {
        "name": name,
        "symbol": symbol,
        "origin": origin,
        "lines": lines,
        "ghost": ghost,
        "label": label,
        "grads": [],
        "values": [],
        "cells": [],
        "maps": [],
        "slots": {},
        "is_dense": False,
    }
