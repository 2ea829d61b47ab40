"""The drawing keeps its promises: for the graphs of the lessons and for random ones.

The counts of crossings are recorded next to those of graphviz `dot` 2.43 and of ELK.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autodiff_kit.view.layout import Layout, crossings, layout, least_height
from tests.gate import IN_THE_GATE
from tests.view import graphs
from tests.view.graphs import Edges, Graph, Nodes, Sketch

FIXTURES: dict[str, Graph] = {
    **{name: build() for name, build in graphs.LESSONS.items()},
    "chain": graphs.chain(30),
    "mlp": graphs.mlp(3, 3, 3, 2),
    "rnn": graphs.rnn(16),
    "two parts": graphs.two_parts(),
    "resnet": graphs.resnet(4),
    "shared resnet": graphs.shared_resnet(6),
    "lstm": graphs.lstm(3),
    "stack": graphs.stack(60),
}

every_fixture = pytest.mark.parametrize("graph", FIXTURES.values(), ids=FIXTURES.keys())
random_graphs = settings(
    max_examples=40 if IN_THE_GATE else 12, deadline=None, derandomize=True, database=None
)


@st.composite
def dags(draw: st.DrawFn) -> tuple[Nodes, Edges]:
    """Up to 25 boxes; an op has up to four arguments, equal ones too."""
    count = draw(st.integers(1, 25))
    box = st.tuples(st.integers(60, 170).map(float), st.integers(34, 58).map(float))
    nodes = [draw(box) for _ in range(count)]
    edges = [
        (source, target)
        for target in range(1, count)
        for source in draw(st.lists(st.integers(0, target - 1), max_size=4))
    ]
    return nodes, edges


@st.composite
def trees(draw: st.DrawFn) -> tuple[Nodes, Edges]:
    """An expression that uses each value once."""
    s = Sketch()
    values = [s.leaf("x") for _ in range(draw(st.integers(1, 12)))]
    while len(values) > 1:
        first = draw(st.integers(0, len(values) - 2))
        values[first : first + 2] = [s.op("add", values[first], values[first + 1])]
    return s.nodes, s.edges


# What is checked of every drawing


@cache
def _drawn(nodes: tuple[Any, ...], edges: tuple[Any, ...]) -> Layout:
    return layout(nodes, edges)


def drawn(nodes: Nodes, edges: Edges) -> Layout:
    """Lay a graph out, once for all checks."""
    return _drawn(tuple(nodes), tuple(edges))


def boxes(drawing: Layout, nodes: Nodes) -> list[tuple[float, float, float, float]]:
    """Left, top, right, bottom of each box."""
    corners = zip(drawing.positions, nodes, strict=True)
    return [(x, y, x + w, y + h) for (x, y), (w, h) in corners]


def check_no_overlap(nodes: Nodes, edges: Edges) -> None:
    for a, b in combinations(boxes(drawn(nodes, edges), nodes), 2):
        apart = max(b[0] - a[2], a[0] - b[2], b[1] - a[3], a[1] - b[3])
        assert apart >= 20


def check_routes_go_down(nodes: Nodes, edges: Edges) -> None:
    drawing = drawn(nodes, edges)
    sides = boxes(drawing, nodes)
    for (source, target), route in zip(edges, drawing.routes, strict=True):
        (start_x, start_y), (end_x, end_y) = route[0], route[-1]
        assert start_y == pytest.approx(sides[source][3])
        assert end_y == pytest.approx(sides[target][1])
        assert sides[source][0] < start_x < sides[source][2]
        assert sides[target][0] < end_x < sides[target][2]
        assert all(above[1] <= below[1] for above, below in pairwise(route))


def check_routes_avoid_boxes(nodes: Nodes, edges: Edges) -> None:
    drawing = drawn(nodes, edges)
    sides = boxes(drawing, nodes)
    for (source, target), route in zip(edges, drawing.routes, strict=True):
        for v, box in enumerate(sides):
            if v not in (source, target):
                assert not any(enters(start, end, box) for start, end in pairwise(route))


def enters(
    start: tuple[float, float], end: tuple[float, float], box: tuple[float, float, float, float]
) -> bool:
    """Whether a segment that goes down passes through the inside of a box."""
    left, top, right, bottom = box
    from_y, to_y = max(start[1], top), min(end[1], bottom)
    if from_y >= to_y:
        return False
    share = (end[0] - start[0]) / (end[1] - start[1])
    xs = [start[0] + share * (y - start[1]) for y in (from_y, to_y)]
    return max(xs) > left and min(xs) < right


def check_all_inside(nodes: Nodes, edges: Edges) -> None:
    drawing = drawn(nodes, edges)
    for left, top, right, bottom in boxes(drawing, nodes):
        assert left >= 0 and top >= 0 and right <= drawing.width and bottom <= drawing.height
    for route in drawing.routes:
        assert all(0 <= x <= drawing.width and 0 <= y <= drawing.height for x, y in route)


def check_one_bus(nodes: Nodes, edges: Edges) -> None:
    """At the height of any box, all passing routes of one source are at the same place."""
    drawing = drawn(nodes, edges)
    for _, top, _, bottom in boxes(drawing, nodes):
        at: dict[int, set[float]] = {}
        for (source, _), route in zip(edges, drawing.routes, strict=True):
            for (x, y), (_, end_y) in pairwise(route):
                if y <= top and end_y >= bottom:
                    at.setdefault(source, set()).add(x)
        assert all(len(places) == 1 for places in at.values())


def check_heads_apart(nodes: Nodes, edges: Edges) -> None:
    ends: dict[int, list[float]] = {}
    for (_, target), route in zip(edges, drawn(nodes, edges).routes, strict=True):
        ends.setdefault(target, []).append(route[-1][0])
    for target, xs in ends.items():
        room = nodes[target][0] - 28
        assert all(b - a >= min(15, room / len(xs)) for a, b in pairwise(sorted(xs)))


def check_same_again(nodes: Nodes, edges: Edges) -> None:
    assert layout(nodes, edges) == drawn(nodes, edges)


Check = Callable[[Nodes, Edges], None]
PROMISES: list[Check] = [
    check_no_overlap,
    check_routes_go_down,
    check_routes_avoid_boxes,
    check_all_inside,
    check_one_bus,
    check_heads_apart,
    check_same_again,
]

every_promise = pytest.mark.parametrize("check", PROMISES, ids=lambda check: check.__name__)


@every_promise
@every_fixture
def test_every_fixture_keeps_every_promise(check: Check, graph: Graph) -> None:
    nodes, edges, _ = graph

    check(nodes, edges)


@random_graphs
@given(dags())
def test_every_random_graph_keeps_every_promise(graph: tuple[Nodes, Edges]) -> None:
    for check in PROMISES:
        check(*graph)


# Rows


@pytest.mark.parametrize("name", sorted(FIXTURES.keys() - {"isolated", "two parts"}))
def test_a_leaf_stands_just_above_its_first_consumer(name: str) -> None:
    nodes, edges, _ = FIXTURES[name]
    sides = boxes(layout(nodes, edges), nodes)
    consumers: dict[int, list[int]] = {}
    for source, target in edges:
        consumers.setdefault(source, []).append(target)

    for leaf in consumers.keys() - {target for _, target in edges}:
        first = min(sides[consumer][1] for consumer in consumers[leaf])
        assert not any(sides[leaf][3] < top and bottom < first for _, top, _, bottom in sides)


def test_a_product_of_leaves_stands_just_above_the_sum_that_uses_it() -> None:
    s = Sketch()
    slow = s.op("exp", s.op("sin", s.op("tanh", s.leaf("x"))))
    product = s.op("mul", s.leaf("w"), s.leaf("v"))
    s.op("add", slow, product)

    positions = layout(s.nodes, s.edges).positions

    assert positions[product][1] == positions[slow][1]


def test_what_two_shared_values_make_does_not_tear_off_from_its_own_consumer() -> None:
    """z @ W waits for nobody; its sigmoid, needed much later, stays next to it."""
    s = Sketch()
    z, w = s.leaf("z"), s.leaf("W")
    gate = s.op("sigmoid", s.op("matmul", z, w))
    slow = s.op("exp", s.op("exp", s.op("exp", s.op("add", z, w))))
    s.op("mul", gate, slow)

    positions = layout(s.nodes, s.edges).positions

    assert positions[gate][1] - positions[gate - 1][1] < 58 + 60


# Left and right


@given(dags(), st.integers(0, 3), st.booleans())
@random_graphs
def test_a_drawing_is_not_lower_than_its_least_height(
    graph: tuple[Nodes, Edges], every: int, is_dense: bool
) -> None:
    nodes, edges = graph
    labels = [(70.0, 24.0) if every and k % every == 0 else None for k in range(len(edges))]

    least = least_height(nodes, edges, labels, is_dense=is_dense)

    assert least <= layout(nodes, edges, labels, is_dense=is_dense).height


def test_the_least_height_of_a_chain_is_near_its_height() -> None:
    nodes, edges, _ = FIXTURES["chain"]
    labels = [(70.0, 24.0)] * len(edges)

    least = least_height(nodes, edges, labels)

    assert least > 0.95 * layout(nodes, edges, labels).height


@given(trees())
@random_graphs
def test_a_tree_is_drawn_without_crossings(tree: tuple[Nodes, Edges]) -> None:
    assert crossings(layout(*tree), tree[1]) == 0


@given(trees())
@random_graphs
def test_arrow_heads_of_a_tree_stand_in_the_order_of_the_arguments(
    tree: tuple[Nodes, Edges],
) -> None:
    assert heads_in_order(*tree)


@pytest.mark.parametrize("name", ["line", "square", "diamond", "neuron", "skip", "loop", "stack"])
def test_the_left_operand_comes_from_the_left(name: str) -> None:
    nodes, edges, _ = FIXTURES[name]

    assert heads_in_order(nodes, edges)


def heads_in_order(nodes: Nodes, edges: Edges) -> bool:
    heads: dict[int, list[float]] = {}
    for (_, target), route in zip(edges, layout(nodes, edges).routes, strict=True):
        heads.setdefault(target, []).append(route[-1][0])
    return all(a < b for xs in heads.values() for a, b in pairwise(xs))


def test_a_chain_is_one_vertical_line() -> None:
    nodes, edges, _ = FIXTURES["chain"]
    drawing = layout(nodes, edges)

    middles = {left + right for left, _, right, _ in boxes(drawing, nodes)}

    assert len(middles) == 1
    assert all(len(route) == 2 for route in drawing.routes)


def test_a_sum_stands_below_the_product_it_continues_and_the_leaf_stands_beside() -> None:
    """tanh(x * w + b): mul, add and tanh are a chain, b is at the height of mul."""
    nodes, edges, labels = graphs.neuron()
    sides = dict(zip(labels, boxes(layout(nodes, edges), nodes), strict=True))

    middles = {label: (left + right) / 2 for label, (left, _, right, _) in sides.items()}

    assert middles["mul"] == middles["add"] == middles["tanh"]
    assert (middles["x"] + middles["w"]) / 2 == middles["mul"]
    assert sides["mul"][1] < sides["b"][3] and sides["b"][1] < sides["mul"][3]


@pytest.mark.parametrize(
    "graph",
    [graphs.scale_chain(100), graphs.rnn(40), graphs.shared_resnet(30)],
    ids=["loop", "rnn", "shared resnet"],
)
def test_a_shared_leaf_is_one_vertical_line_with_exits(graph: Graph) -> None:
    nodes, edges, labels = graph
    shared = [v for v, label in enumerate(labels) if label in ("w", "W", "U", "b")]

    bus: dict[int, set[float]] = {}
    for (source, _), route in zip(edges, layout(nodes, edges).routes, strict=True):
        for (x, top), (end_x, bottom) in pairwise(route):
            if x == end_x and bottom - top > 100:  # it passes a row at least
                bus.setdefault(source, set()).add(x)

    assert [len(bus[v]) for v in shared] == [1] * len(shared)


def test_a_chain_with_edges_around_it_does_not_drift_sideways() -> None:
    nodes, edges, labels = graphs.shared_resnet(12)
    sides = zip(labels, boxes(layout(nodes, edges), nodes), strict=True)

    sums = [(left + right) / 2 for label, (left, _, right, _) in sides if " = add" in label]

    assert max(sums[1:]) - min(sums[1:]) <= 24  # not half a box on all the way


@every_fixture
def test_no_route_has_a_bend_that_is_none(graph: Graph) -> None:
    nodes, edges, _ = graph

    for route in layout(nodes, edges).routes:
        for (ax, ay), (bx, by), (cx, cy) in zip(route, route[1:], route[2:], strict=False):
            assert (bx - ax) * (cy - by) != (by - ay) * (cx - bx)


def test_both_edges_of_x_times_x_can_be_seen() -> None:
    nodes, edges, _ = graphs.square()

    first, second = layout(nodes, edges).routes

    assert second[-1][0] - first[-1][0] >= 20


def test_parts_without_a_connection_stand_side_by_side_in_the_order_of_creation() -> None:
    nodes, edges, labels = graphs.two_parts()
    sides = dict(zip(labels, boxes(layout(nodes, edges), nodes), strict=True))

    assert sides["w"][2] < sides["unused"][0]
    assert sides["unused"][2] < sides["y"][0]


def test_many_unconnected_boxes_wrap_into_lines() -> None:
    nodes, edges, _ = graphs.isolated(100)
    drawing = layout(nodes, edges)

    assert drawing.width < 3 * drawing.height


# Crossings.
#
# `dot` 2.43 and ELK's layered algorithm (elkjs 0.12.1, thoroughness 50, orthogonal lines; polylines
# cross as often) were given the same boxes; their own lines of different sources were counted
# against our routes, as they are drawn.
#
#                               ours   dot   ELK
#   mlp(3, 3, 3, 1)   80 nodes     8    11    19
#   mlp(3, 3, 3, 2)   91 nodes    10    17    22
#   rnn(14)           88 nodes    13   131    91
#   rnn(16)          100 nodes    15   202   120
#   lstm(3)           51 nodes    14    14    15
#   shared_resnet(12)             11     -    29
#
# Nothing is said of straight lines between the middles of boxes: nobody sees them, and a bus that
# runs straight, which everybody sees, has more of them cross.


@pytest.mark.parametrize(
    ("graph", "recorded"),
    [
        (graphs.mlp(3, 3, 3, 1), 8),
        (graphs.mlp(3, 3, 3, 2), 10),
        (graphs.rnn(14), 13),
        (graphs.rnn(16), 15),
        (graphs.lstm(3), 14),
        (graphs.resnet(4), 0),
        (graphs.shared_resnet(12), 11),
        (graphs.scale_chain(30), 0),
        (graphs.stack(60), 0),
    ],
    ids=[
        "mlp 80",
        "mlp 91",
        "rnn 88",
        "rnn 100",
        "lstm",
        "resnet",
        "shared resnet",
        "loop",
        "stack",
    ],
)
def test_lines_cross_no_more_often_than_recorded(graph: Graph, recorded: int) -> None:
    nodes, edges, _ = graph

    assert crossings(layout(nodes, edges), edges) <= recorded


def test_two_lines_that_cross_once_are_counted_once() -> None:
    cross = Layout([], [[(0.0, 0.0), (10.0, 10.0)], [(10.0, 0.0), (0.0, 10.0)]], 10.0, 10.0)

    assert crossings(cross, [(0, 2), (1, 3)]) == 1


def test_a_bus_that_is_crossed_counts_once_for_all_its_edges() -> None:
    bus = [(5.0, 0.0), (5.0, 10.0)]
    longer = [(5.0, 0.0), (5.0, 20.0)]
    cross = Layout([], [bus, longer, [(0.0, 3.0), (10.0, 6.0)]], 10.0, 20.0)

    assert crossings(cross, [(0, 2), (0, 3), (1, 4)]) == 1


def test_lines_that_meet_at_an_end_do_not_cross() -> None:
    fork = Layout([], [[(0.0, 0.0), (5.0, 9.0)], [(10.0, 0.0), (5.0, 9.0)]], 10.0, 9.0)

    assert crossings(fork, [(0, 2), (1, 2)]) == 0


# Edges of the world


def test_an_empty_graph_is_an_empty_picture() -> None:
    drawing = layout([], [])

    assert drawing.positions == [] and drawing.routes == []
    assert drawing.width > 0 and drawing.height > 0


def test_an_edge_that_runs_backwards_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"edge \(1, 0\) does not lead from an earlier node"):
        layout([(60.0, 40.0)] * 2, [(1, 0)])


def test_a_chain_of_five_thousand_boxes_needs_no_recursion() -> None:
    nodes, edges, _ = graphs.chain(5000)

    assert len(layout(nodes, edges).positions) == 5001
