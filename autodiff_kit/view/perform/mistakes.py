"""The values that known mistakes give for a contribution, each with its sentence and its marks.

After reading you can say what a learner has computed who forgets the gradient flowing in, or sums
over no axis: the same rule, with that one thing changed, wherever the right one is worked out. Read
next: ``contributions.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from autodiff_kit.record.events import Contribution, NodeRecord, Value
from autodiff_kit.view.perform.formulas import UnknownFormula, unbroadcast
from autodiff_kit.view.perform.replay import Point, Replay, tensor
from autodiff_kit.view.perform.script import Answer, Mark, Slip, Tensor
from autodiff_kit.view.values import shape_text, show

__all__ = ["Contributed", "answer_at", "as_text", "at_points", "distinct"]
__all__ += ["only_apart", "right_values", "slips_of"]

APART = 5e-3  # of the largest element: values that are nearer are not told apart
_FACTORS = {"mul", "dot"}  # each input gets the other one as its factor
_PRODUCTS = {"mm", "mv"}


class Contributed(NamedTuple):
    """A contribution that is asked for."""

    number: int  # of the pass
    at: int  # its event
    event: Contribution
    edge: str | None
    name: str  # of its node
    to: str  # the name of the node that gets it
    points: list[Point]  # what its rule reads, as recorded and where names vary; or none


def as_text(array: Any) -> str:
    """Return an array as a learner reads and types it."""
    array = np.asarray(array, dtype=float)
    value: Value = {"shape": list(array.shape), "dtype": "float32", "data": array.ravel().tolist()}
    return show(value, limit=120)


def answer_at(arrays: Sequence[Any]) -> Answer:
    """Return an answer that is a value at each point."""
    return {"at": [tensor(array) for array in arrays]}


def right_values(replay: Replay, question: Contributed) -> list[Any]:
    """Return a contribution at each point; the recorded one alone if its rule is not known."""
    arg, node = question.event["arg"], question.event["node"]
    after = replay.sent[question.at][1]
    more = at_points(
        question.points[1:], lambda point: unbroadcast(replay.rule(node, arg, point), after.shape)
    )
    return [after, *more] if len(more) == len(question.points) - 1 else [after]


def slips_of(replay: Replay, question: Contributed) -> list[Slip]:
    """Return the known mistakes of a contribution, without those that give the right value."""
    slips: list[Slip] = []
    for name, text, marks, compute in _mistakes(replay, question):
        values = at_points(question.points, compute)
        if len(values) < len(question.points):  # not at all points: then as recorded alone
            values = values[:1]
        if values and all(np.isfinite(value).all() for value in values):
            answer = answer_at(values)
            slips.append({"answer": answer, "is": [name], "text": text, "marks": marks})
    unsummed = [slip for slip in slips if slip["is"] == ["broadcast_axis"]]
    # In a sum, what the other input gets is what is not summed yet: one mistake, not two.
    slips = [s for s in slips if s["is"] != ["wrong_input"] or not _is_one_of(s, unsummed)]
    return distinct(slips, right_values(replay, question))


def _is_one_of(slip: Slip, others: Sequence[Slip]) -> bool:
    own = slip["answer"].get("at", [])
    return any(_agree(own, list(map(_array, s["answer"].get("at", [])))) for s in others)


def distinct(slips: Sequence[Slip], right: Sequence[Any]) -> list[Slip]:
    """Leave out what is right at all points, and what is there already as the same mistake."""
    unique: list[Slip] = []
    for slip in slips:
        own = slip["answer"].get("at")
        if own is None or (
            not _agree(own, right)
            and not any(
                other["is"] == slip["is"]
                and _agree(own, [_array(t) for t in other["answer"].get("at", ())])
                for other in unique
            )
        ):
            unique.append(slip)
    return unique


def only_apart(slips: list[Slip]) -> list[Slip]:
    """Leave out a plain mistake that has the same value as a known one."""
    known = [s for s in slips if s["is"]]
    return [*known, *(s for s in slips if not s["is"] and not _is_same(s, known))]


def _is_same(one: Slip, others: list[Slip]) -> bool:
    own = _array(one["answer"]["at"][0])
    return any(
        own.shape == _array(tensors[0]).shape and np.allclose(own, _array(tensors[0]), rtol=1e-2)
        for other in others
        if (tensors := other["answer"].get("at"))
    )


def _array(value: Tensor) -> Any:
    return np.array(value["data"], dtype=float).reshape(value["shape"])


def _agree(own: Sequence[Tensor], arrays: Sequence[Any]) -> bool:
    """Tell whether two answers agree at all points that both have, so nearly that none can say."""
    return bool(arrays) and all(
        _array(one).shape == np.shape(other)
        and (np.abs(_array(one) - other) <= APART * max(np.abs(other).max(initial=0), 1e-6)).all()
        for one, other in zip(own, arrays, strict=False)
    )


def at_points(points: Sequence[Point], compute: Callable[[Point], Any]) -> list[Any]:
    """Return a value at each point, up to the first at which it is not known."""
    values: list[Any] = []
    for point in points:
        try:
            values.append(np.asarray(compute(point), dtype=float))
        except (UnknownFormula, KeyError, TypeError, ValueError):
            break
    return values


Mistake = tuple[str, str, list[Mark], Callable[[Point], Any]]


def _mistakes(replay: Replay, question: Contributed) -> Iterator[Mistake]:
    node = replay.nodes[question.event["node"]]
    yield from _forgotten_gradient(replay, question, node)
    yield from _other_input(replay, question, node)
    yield from _broadcast(replay, question)
    if node["op"] in _PRODUCTS:
        yield from _products(replay, question, node)
    yield from _stale(replay, question, node)


def _edge(question: Contributed, kind: str, text: str) -> list[Mark]:
    mark: dict[str, str] = {"kind": kind, "text": text}
    if question.edge is None:
        return []
    return [{**mark, "edge": question.edge}]  # type: ignore[typeddict-item]


def _ruled(replay: Replay, question: Contributed, arg: str, point: Point, **replaced: Any) -> Any:
    """Return what a rule passes on with something replaced."""
    result = replay.rule(question.event["node"], arg, {**point, **replaced})
    return unbroadcast(result, np.shape(point[arg]))


def _forgotten_gradient(
    replay: Replay, question: Contributed, node: NodeRecord
) -> Iterator[Mistake]:
    g = replay.gradients.get((question.number, node["id"]))
    if g is None:
        return

    def slope(point: Point) -> Any:
        return _ruled(replay, question, question.event["arg"], point, g=np.ones_like(point["g"]))

    text = (
        f"That is the local slope of `{question.name}` alone. The gradient flowing into "
        f"`{question.name}` is `{as_text(g)}`: multiply the slope by it."
    )
    marks: list[Mark] = [
        {"kind": "look", "node": str(node["id"]), "text": f"gradient {as_text(g)}"},
        *_edge(question, "wrong", "slope only"),
    ]
    yield "local_slope", text, marks, slope


def _is_another(replay: Replay, question: Contributed, node: int | None) -> bool:
    """Tell whether an input is another tensor that gets a gradient as well."""
    return node is not None and node != question.event["to"] and replay.nodes[node]["requires_grad"]


def _others(node: NodeRecord, arg: str) -> list[str]:
    return [source["arg"] for source in node["inputs"] if source["arg"] != arg]


def _other_input(replay: Replay, question: Contributed, node: NodeRecord) -> Iterator[Mistake]:
    arg = question.event["arg"]
    own_shape = np.shape(replay.sent[question.at][1])
    for other in _others(node, arg):
        source = next(source for source in node["inputs"] if source["arg"] == other)
        name = replay.names.operand(source)
        own = replay.names.operand(next(s for s in node["inputs"] if s["arg"] == arg))
        if node["op"] in _FACTORS:

            def swapped(point: Point, other: str = other) -> Any:
                return unbroadcast(replay.rule(node["id"], other, point), own_shape)

            text = (
                f"You multiplied by `{own}` itself. The slope of a product is the other factor: "
                f"where `{own}` changes, `{question.name}` changes `{name}` times as much."
            )
            marks = _edge(question, "wrong", f"the factor is {name}")
            if "node" in source:
                marks.append({"kind": "look", "node": str(source["node"]), "text": "other factor"})
            yield "own_factor", text, marks, swapped
        elif _is_another(replay, question, source.get("node")):

            def given(point: Point, other: str = other) -> Any:
                return _ruled(replay, question, other, point)

            text = (
                f"That is what `{question.name}` passes to `{name}`. `{question.to}` is another "
                f"input of it, with a slope of its own."
            )
            marks = [
                *_edge(question, "missing", f"for {question.to}"),
                {"kind": "wrong", "node": str(source["node"]), "text": f"for {name}"},
            ]
            yield "wrong_input", text, marks, given


def _broadcast(replay: Replay, question: Contributed) -> Iterator[Mistake]:
    before, after = replay.sent[question.at]
    if before.shape == after.shape:
        return
    wide, narrow = shape_text(before.shape), shape_text(after.shape) if after.ndim else "()"
    marks = _edge(question, "wrong", f"{narrow} was used as {wide}")
    marks.append({"kind": "look", "node": str(question.event["to"]), "text": f"shape {narrow}"})
    text = (
        f"`{question.to}` has the shape {narrow}, and broadcasting used it as {wide}. Sum over the "
        "axes that broadcasting added, so that the contribution has the shape of its tensor."
    )

    def unsummed(point: Point) -> Any:
        return replay.rule(question.event["node"], question.event["arg"], point)

    yield "broadcast_axis", text, marks, unsummed
    axes = tuple(range(before.ndim - after.ndim))
    axes += tuple(
        d + len(axes) for d, n in enumerate(after.shape) if n == 1 != before.shape[d + len(axes)]
    )
    if len(axes) and before.ndim != after.ndim:
        text = (
            f"The sum is right, but an axis of length 1 is left. `{question.to}` has the shape "
            f"{narrow}: an axis that broadcasting added is not kept."
        )
        yield "broadcast_axis", text, marks, lambda point: unsummed(point).sum(axes, keepdims=True)
    for axis in range(before.ndim):
        text = (
            f"You summed over axis {axis}. `{question.to}` with shape {narrow} was copied along "
            f"another axis to become {wide}: the copies are what is added up."
        )

        def along(point: Point, axis: int = axis) -> Any:
            return unsummed(point).sum(axis=axis)

        yield "broadcast_axis", text, marks, along


def _products(replay: Replay, question: Contributed, node: NodeRecord) -> Iterator[Mistake]:
    arg = question.event["arg"]
    other = _others(node, arg)[0]
    name = replay.names.operand(next(s for s in node["inputs"] if s["arg"] == other))
    own = shape_text(replay.sent[question.at][1].shape)
    g_shape = shape_text(np.shape(replay.gradients.get((question.number, node["id"]), 0)))

    def candidate(how: str) -> Callable[[Point], Any]:
        def compute(point: Point) -> Any:
            g, y = point["g"], point[other]
            if np.ndim(g) == np.ndim(y) == 1:
                return np.outer(y, g) if how[0] == "y" else np.outer(g, y)
            factors = {"g": g, "y": y}
            one, two = (
                np.transpose(factors[part[0]]) if part.endswith("T") else factors[part]
                for part in how.split()
            )
            return np.matmul(one, two)

        return compute

    text = (
        f"These factors are right, but not their order or transpose. The gradient has the shape "
        f"{g_shape}, and the contribution must have that of `{question.to}`, {own}: find the "
        f"product of the gradient and `{name}` whose inner sides match."
    )
    marks = _edge(question, "wrong", f"must be {own}")
    for how in ("g y", "g yT", "gT y", "gT yT", "y g", "y gT", "yT g", "yT gT"):
        yield "transpose", text, marks, candidate(how)
    yield "transpose", text, marks, lambda point: _ruled(replay, question, arg, point).T


def _stale(replay: Replay, question: Contributed, node: NodeRecord) -> Iterator[Mistake]:
    """Compute with what is in a tensor after it was changed in place, or in its variable now."""
    arg = question.event["arg"]
    for source in node["inputs"]:
        if "node" not in source:
            continue
        after = _overwriting(replay, source["node"], node["id"])
        is_in_place = after is not None
        if after is None:
            after = _called_so_later(replay, source["node"], node["id"])
        if after is None:
            continue
        name = replay.names.called(source["node"])

        def later(point: Point, changed: str = source["arg"], after: int = after) -> Any:
            value = point["out"] if after == node["id"] else replay.values[after]
            return _ruled(replay, question, arg, point, **{changed: value})

        if not question.points:
            continue
        was = as_text(question.points[0][source["arg"]])
        variable = replay.nodes[source["node"]].get("variable")
        new = "after the change in place" if is_in_place else f"that `{variable}` has now"
        text = (
            f"You computed with the value {new}. The rule needs `{name}` as it "
            f"was when `{question.name}` was computed: `{was}`."
        )
        later_text = "changed later" if is_in_place else f"{variable} from here on"
        marks: list[Mark] = [
            {"kind": "wrong", "node": str(after), "text": later_text},
            {"kind": "look", "node": str(source["node"]), "text": f"was {was}"},
        ]
        yield "stale_value", text, marks, later


def _overwriting(replay: Replay, source: int, node: int) -> int | None:
    """Return the node that has written over another one."""
    for event in replay.recording["events"]:
        if event["kind"] == "modified" and event["node"] >= node:
            inputs = replay.nodes[event["node"]]["inputs"]
            if inputs and inputs[0].get("node") == source:
                return event["node"]
    return None


def _called_so_later(replay: Replay, source: int, node: int) -> int | None:
    """Return the node that the variable of another one holds since: after ``h = h + 1``."""
    values = replay.values
    if source not in values:
        return None
    later = (n for n in replay.names.namesakes(source) if n > max(source, node) and n in values)
    return next((n for n in later if values[n].shape == values[source].shape), None)
