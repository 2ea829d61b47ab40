"""Give each box its row, and each arrow the rows that it passes on its way.

After reading you can say why a leaf is drawn just above its first use, and what a *waypoint*
is: an arrow that passes rows has one in each of them. All arrows of one box share their
waypoints: a weight used by a hundred steps is one line with a hundred exits (a *bus*), not a
fan of a hundred lines. Read next: ``order.py``, which says who is left of whom in a row.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

__all__ = ["Edge", "Web", "rank"]

Edge = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Web:
    """The graph with waypoints: each link joins two neighbouring rows.

    Items are numbered: first the nodes, then the waypoints. ``above`` keeps the order of the
    arguments; parallel edges occur twice.
    """

    row: list[int]
    depth: list[int]  # edges on the longest way from a leaf; a waypoint has that of its source
    rail: list[list[int]]  # per node: itself, then its waypoints downwards
    above: list[list[int]]
    below: list[list[int]]


def rank(
    count: int, edges: Sequence[Edge], below: Sequence[Edge] = (), labels: Collection[int] = ()
) -> Web:
    """Give each of ``count`` nodes a row, and each arrow its waypoints.

    Parameters
    ----------
    count : int
    edges : sequence of (source, target), with source < target
    below : sequence of (upper, lower), with upper < lower
        Nodes of which the second one stands below the first one, whether an arrow leads there or
        not.
    labels : collection of int
        Nodes whose rows are kept free of leaves, so that these rows are no higher than they are.

    Returns
    -------
    Web
    """
    row, depth = _rows(count, edges, below)
    if labels:
        has_label = {row[v] for v in labels}
        fixed = {lower for _, lower in below}
        for v in range(count):
            if not depth[v] and v not in labels and v not in fixed and row[v] - 1 not in has_label:
                row[v] -= row[v] in has_label and row[v] > 0
    return _thread(row, depth, edges)


def _rows(count: int, edges: Sequence[Edge], below: Sequence[Edge]) -> tuple[list[int], list[int]]:
    """Return the row of each node, and its depth (edges on the longest way from a leaf).

    The depth alone would be a valid row, but it leaves every input at the top, far from its
    use. So, last node first, each one sinks to just above its first consumer, unless that
    makes more lines longer than shorter: it shortens the node's own line and lengthens those
    of its inputs, except inputs that sink along and inputs whose bus runs down there anyway.
    A leaf has no inputs and always sinks. Who combines two shared values is bound to them,
    and with it what is computed from it alone: that must not tear off.
    """
    inputs: list[list[int]] = [[] for _ in range(count)]
    consumers: list[list[int]] = [[] for _ in range(count)]
    for source, target in dict.fromkeys(edges):
        inputs[target].append(source)
        consumers[source].append(target)
    uppers: list[list[int]] = [[] for _ in range(count)]
    lowers: list[list[int]] = [[] for _ in range(count)]
    for upper, lower in below:
        uppers[lower].append(upper)
        lowers[upper].append(lower)
    shared = [len(consumers[v]) > 1 for v in range(count)]
    row = [0] * count
    depth, is_fixed = [0] * count, [False] * count
    for v in range(count):
        depth[v] = 1 + max((depth[u] for u in inputs[v]), default=-1)
        row[v] = 1 + max((row[u] for u in (*inputs[v], *uppers[v])), default=-1)
        is_fixed[v] = any(
            is_fixed[u] or sum(shared[t] for t in inputs[u]) > 1 for u in inputs[v] if not shared[u]
        )
    end = [max((row[c] for c in consumers[v]), default=0) for v in range(count)]
    for v in reversed(range(count)):
        goal = min((row[c] for c in consumers[v]), default=0) - 1
        goal = min([goal, *(row[c] - 1 for c in lowers[v])])
        longer = sum(shared[u] and end[u] < goal for u in inputs[v])
        if goal > row[v] and longer <= 1 and not is_fixed[v]:
            row[v] = goal
            for u in inputs[v]:
                end[u] = max(end[u], goal)
    top = min(row)
    return [r - top for r in row], depth


def _thread(row: list[int], depth: list[int], edges: Sequence[Edge]) -> Web:
    """Give each node one chain of waypoints, down to just above its last consumer."""
    count = len(row)
    end = row.copy()
    for source, target in edges:
        end[source] = max(end[source], row[target])
    web = Web(
        row.copy(),
        depth.copy(),
        [[v] for v in range(count)],
        [[] for _ in range(count)],
        [[] for _ in range(count)],
    )
    for v in range(count):
        for r in range(row[v] + 1, end[v]):
            web.below[web.rail[v][-1]].append(len(web.row))
            web.above.append([web.rail[v][-1]])
            web.below.append([])
            web.rail[v].append(len(web.row))
            web.depth.append(depth[v])
            web.row.append(r)
    for source, target in edges:
        item = web.rail[source][row[target] - 1 - row[source]]
        web.below[item].append(target)
        web.above[target].append(item)
    return web
