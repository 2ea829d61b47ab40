"""Which branch of the code has run, and which one has not: read from the source.

After reading you know where the two lines of a question about a branch come from. Read next:
``building.py``.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from autodiff_kit.record.events import Branch, RecordingData, Where

__all__ = ["Fork", "fork_of", "forks"]


class Fork(NamedTuple):
    """A condition of the code, and the line that follows either way."""

    condition: str
    taken: bool
    ran: str  # the first line of what ran; "" if nothing of it is there
    other: str
    ran_where: Where | None
    other_where: Where | None
    kind: str  # "if", "while" or "expression"
    goes_both_ways: bool  # whether the other way was taken, too, in another round or call


def fork_of(recording: RecordingData, event: Branch) -> Fork | None:
    """Return the fork at which Python has asked a tensor.

    It is None if the source does not show it, or if what the tensor said may not be what decides:
    in ``if not y < 3`` or ``if 0 < y < 3``, for example.
    """
    where = event["where"]
    if where is None:
        return None
    source = recording["sources"][where[0]]
    try:
        tree = ast.parse(source["text"])
    except (SyntaxError, ValueError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.While | ast.IfExp) and _covers(node.test, where):
            if not _decides(node.test):
                return None
            body: list[ast.stmt] | list[ast.expr]
            orelse: list[ast.stmt] | list[ast.expr]
            if isinstance(node, ast.IfExp):
                body, orelse, kind = [node.body], [node.orelse], "expression"
            else:
                body, orelse = node.body, node.orelse
                kind = "if" if isinstance(node, ast.If) else "while"
            ran, other = (body, orelse) if event["taken"] else (orelse, body)
            return Fork(
                ast.unparse(node.test),
                event["taken"],
                _first(ran),
                _first(other),
                _place(where[0], ran),
                _place(where[0], other),
                kind,
                _goes_both_ways(recording, event),
            )
    return None


def forks(recording: RecordingData) -> list[Fork]:
    """Return the forks of ``if`` whose two branches both have lines, and only one of them ran."""
    every = [fork_of(recording, e) for e in recording["events"] if e["kind"] == "branch"]
    return [
        fork
        for fork in every
        if fork and fork.ran and fork.other and fork.kind != "while" and not fork.goes_both_ways
    ]


def _goes_both_ways(recording: RecordingData, event: Branch) -> bool:
    return any(
        other["kind"] == "branch"
        and other["where"] == event["where"]
        and other["taken"] != event["taken"]
        for other in recording["events"]
    )


def _decides(test: ast.expr) -> bool:
    """Return whether the truth of the tensor that Python asked is the truth of the condition."""
    if isinstance(test, ast.Compare):
        return len(test.ops) == 1 and not isinstance(test.ops[0], ast.In | ast.NotIn)
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Name):
        return test.func.id == "bool"
    return isinstance(test, ast.Call | ast.Name | ast.Attribute | ast.Subscript | ast.BinOp)


def _covers(test: ast.expr, where: Where) -> bool:
    begin = (test.lineno, test.col_offset)
    end = (test.end_lineno or test.lineno, test.end_col_offset or 0)
    _, line, column, end_line, end_column = where
    return begin <= (line, column or 0) and (end_line, end_column or 0) <= end


def _first(nodes: list[ast.stmt] | list[ast.expr]) -> str:
    return ast.unparse(nodes[0]).splitlines()[0] if nodes else ""


def _place(source: int, nodes: list[ast.stmt] | list[ast.expr]) -> Where | None:
    if not nodes:
        return None
    first, last = nodes[0], nodes[-1]
    end_line, end_column = last.end_lineno or last.lineno, last.end_col_offset or 0
    return [source, first.lineno, first.col_offset, end_line, end_column]
