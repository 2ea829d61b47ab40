"""What stands between the brackets of ``x[1:]``, and expressions without doubled parentheses.

After reading you can say why the box of ``b[1:]`` says ``[1:]``, as the learner wrote it; and how a
part of ``m[0:2, 1]``, which stands nowhere by itself, is written from the numbers of its op. Read
next: ``names.py``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from functools import lru_cache

from autodiff_kit.record.events import NodeRecord
from autodiff_kit.record.source_tree import on_one_line
from autodiff_kit.view.rules import parsed

__all__ = [
    "ITEMS",
    "PARTS",
    "from_base",
    "in_box",
    "is_assigned",
    "subscript",
    "tidy",
    "variable_of",
]

ITEMS = ("put", "index_put", "copy_slices")  # `y[0] = 5.`, or a view changed in place
_WHOLE = ("copy_from", "fill_with")  # `y[:] = z`, `y[...] = 0.`; and `y.copy_(z)`
PARTS = ("index", "pick", "select", "slice_dim")
_SUBSCRIPTS = (*PARTS, *ITEMS, *_WHOLE)
_ROOT = re.compile(r"[^\W\d]\w*(?=\[)")


def in_box(record: NodeRecord, nodes: Sequence[NodeRecord], text: str, limit: int) -> str:
    """Return the brackets of ``x[1:]``, and of ``x[1:] = y``; "" where there are none.

    Parameters
    ----------
    record, nodes
        As for ``subscript``.
    text : str
        The node's expression.
    limit : int
        So many characters at the most.
    """
    if record["op"] not in _SUBSCRIPTS:
        return ""
    at = _written(text)
    tree = parsed(at)
    varies = tree is not None and any(isinstance(part, ast.Name) for part in ast.walk(tree))
    sources = [nodes[source["node"]] for source in record["inputs"] if "node" in source]
    is_rest = bool(sources) and sources[0]["where"] == record["where"]  # `m[1, 2]` picks from m[1]
    if not at or is_rest or (varies and "," not in at):  # in `x[i]` the number says more
        at = subscript(record, nodes) or at
    at = at if len(at) <= limit else "[…]"
    return f"{at} =" if at and is_assigned(record) else at


def is_assigned(record: NodeRecord) -> bool:
    """Return whether an op sets items, as ``y[0] = 5.`` does, or changes a view in place."""
    if not record["text"] or record["op"] in ITEMS:
        return bool(record["text"])
    return record["op"] in _WHOLE and bool(_written(tidy(on_one_line(record["text"]))))


def subscript(record: NodeRecord, nodes: Sequence[NodeRecord]) -> str:
    """Return ``[:, 1:]`` for a slice, or a pick, of one dimension; "" for any other op.

    Parameters
    ----------
    record : dict
        The node.
    nodes : sequence of dict
        All nodes: the shape of what is sliced says where a slice ends.
    """
    sources = [source["node"] for source in record["inputs"] if "node" in source]
    params = record["params"]
    if record["op"] not in ("select", "slice_dim") or not sources or "dim" not in params:
        return ""
    shape = nodes[sources[0]]["value"]["shape"]
    if not shape:  # what was made where the recording could not see it
        return ""
    dim = params["dim"] % len(shape)
    if record["op"] == "select":
        at = str(params.get("index", 0))
    else:
        start, end, step = (params.get(key) for key in ("start", "end", "step"))
        at = f"{start or ''}:{'' if end is None or end >= shape[dim] else end}"
        at += f":{step}" if step not in (None, 1) else ""
    return f"[{':, ' * dim}{at}]"


def from_base(record: NodeRecord, nodes: Sequence[NodeRecord], text: str) -> str:
    """Return ``y[1:][0]`` for ``row[0]``, where that is seen again as a part of y, not of row.

    Parameters
    ----------
    record, nodes
        As for ``subscript``.
    text : str
        The node's expression.
    """
    sources = [source["node"] for source in record["inputs"] if "node" in source]
    base = variable_of(nodes[sources[0]]) if record["op"] == "pick" and sources else ""
    parts, at, rest = "", record["id"], text
    while base and (root := _ROOT.match(rest)) and root[0] != base:
        earlier = (n for n in reversed(nodes[:at]) if variable_of(n) == root[0])
        view = next(earlier, record)
        if view is record or view["op"] not in PARTS:
            return text
        parts, at, rest = rest[root.end() :] + parts, view["id"], str(view["text"])
    return rest + parts if base and root else text


def variable_of(record: NodeRecord) -> str:
    """Return what the code calls a node: ``h`` of ``h2``, where that name is numbered; or ""."""
    return str(record.get("variable") or record["name"] or "")


def _written(text: str) -> str:
    """Return the brackets of an expression that ends in some, as they were written; else "".

    Examples
    --------
    >>> _written("m[0][1:, -1]"), _written("m.sum()")
    ('[1:, -1]', '')
    """
    tree = parsed(text)
    if not isinstance(tree, ast.Subscript):
        return ""
    owner = tree.value.end_col_offset or 0
    return text.encode()[owner:].decode().strip()


@lru_cache(maxsize=1024)
def tidy(text: str) -> str:
    """Return an expression without parentheses directly inside of others that mean nothing.

    Examples
    --------
    >>> tidy("((x * 2)) + f((x + 1), ((1, 2)))")
    '(x * 2) + f((x + 1), (1, 2))'
    """
    tree = parsed(text) if "((" in text else None
    if tree is None:
        return text
    meaning = ast.dump(tree)
    at = text.find("((")
    while at >= 0:
        end = _end(text, at + 1)
        if text[end + 1 : end + 2] == ")":
            shorter = text[: at + 1] + text[at + 2 : end] + text[end + 1 :]
            new = parsed(shorter)
            if new is not None and ast.dump(new) == meaning:
                text = shorter
                continue
        at = text.find("((", at + 1)
    return text


def _end(text: str, start: int) -> int:
    """Return where the parenthesis that opens at ``start`` is closed; -1 for nowhere."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if not depth:
            return i
    return -1
