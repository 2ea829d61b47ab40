"""Operations that the learner wrote as one: those of an expression, and pieces of one tensor.

After reading you can say why ``q @ k`` with batches, six operations, can be one box, and so can
the fifty rows that ``for x in xs`` takes. Read next: ``fold.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from autodiff_kit.record.events import NodeRecord
from autodiff_kit.view.part import Part

__all__ = ["with_expressions", "with_pieces"]

FEWEST_WITHIN = 3  # ops that one expression stands for, such as a product of batches
FEWEST_PIECES = 5  # of one tensor, that one call gives, such as those that a loop goes through

Members = list[Part | int]


def with_expressions(members: Members, ops: Sequence[NodeRecord]) -> Members:
    """Put together the ops of one expression, unless they are all there is."""
    result: Members = []
    for written, alike in groupby(members, lambda member: _written(member, ops)):
        group = list(alike)
        if written is None or len(group) < FEWEST_WITHIN:
            result += group
        else:
            result.append(_part(group, ops, "expression", written[-1]))
    return result if len(result) > 1 else members


def with_pieces(
    members: Members, ops: Sequence[NodeRecord], nodes: Sequence[NodeRecord]
) -> Members:
    """Put together the pieces of a tensor that one call gives: ``for x in xs``."""
    result: Members = []
    for origin, alike in groupby(members, lambda member: _origin(member, ops)):
        group = list(alike)
        if origin is None or len(group) < FEWEST_PIECES:
            result += group
            continue
        first, last = (ops[rank] for rank in (group[0], group[-1]) if isinstance(rank, int))
        whole = nodes[first["inputs"][0]["node"]]
        named = first["name"] and last["name"]
        title = f"{first['name']} to {last['name']}" if named else f"{len(group):,} pieces"
        result.append(_part(group, ops, "pieces", title, whole["name"] or whole["text"]))
    return result


def _written(member: Part | int, ops: Sequence[NodeRecord]) -> tuple[Any, ...] | None:
    """Return where an op is written, and how; pieces of a tensor are put together later."""
    if isinstance(member, Part) or (record := ops[member])["where"] is None:
        return None
    if _origin(member, ops) is not None or not record["text"]:
        return None
    return (*record["where"], record["text"])


def _origin(member: Part | int, ops: Sequence[NodeRecord]) -> tuple[Any, ...] | None:
    """Return what an op has in common with those that give other pieces in the same call."""
    if isinstance(member, Part) or "index" not in (record := ops[member])["params"]:
        return None
    sources = [source.get("node") for source in record["inputs"]]
    return (record["op"], *sources, *(record["where"] or ()))


def _part(
    ranks: Sequence[Part | int], ops: Sequence[NodeRecord], kind: str, title: str, of: str = ""
) -> Part:
    first, last = (rank for rank in (ranks[0], ranks[-1]) if isinstance(rank, int))
    return Part(first, last, kind, title, of, "", ops[first]["where"], -1, tuple(ranks))
