"""Which boxes are drawn: every node of a small graph, folded boxes of a large one."""

import re
from functools import cache

import pytest

from autodiff_kit.view import build
from autodiff_kit.view.fitting import MOST, WHOLE
from autodiff_kit.view.fold import Parts
from autodiff_kit.view.outline import LIMIT, outline
from tests.gate import some
from tests.record.cells import run
from tests.view import recordings


def position(drawn):
    return {box.id: i for i, box in enumerate(drawn.boxes)}


@cache
def large(name):
    recording = LARGE[name]()
    return recording, outline(recording)


LARGE = {
    "a loop": lambda: recordings.loop(500),
    "a long loop": lambda: recordings.long_loop(),
    "calls": lambda: recordings.calls(40, 12),
    "many calls": lambda: recordings.calls(700, 5),
    "one long chain": lambda: recordings.calls(1, 2000),
    "no structure": lambda: recordings.flat(1000),
    "many leaves": lambda: recordings.many_leaves(1000),
    "leaves of one op each": lambda: recordings.flat(140),
}


@pytest.mark.parametrize("name", [n for n in recordings.ALL if not n.endswith("_folded")])
def test_a_graph_of_few_nodes_is_drawn_whole(name):
    recording = recordings.ALL[name]()

    drawn = outline(recording)

    assert len(recording["nodes"]) <= WHOLE
    assert [box.id for box in drawn.boxes] == [str(n["id"]) for n in recording["nodes"]]


@pytest.mark.parametrize("name", some(LARGE, 4))
def test_a_larger_graph_is_folded_to_at_most_300_boxes(name):
    recording, drawn = large(name)

    assert len(recording["nodes"]) > LIMIT
    assert len(drawn.boxes) <= LIMIT


@pytest.mark.parametrize("name", some(LARGE, 4))
def test_every_node_is_in_exactly_one_box(name):
    recording, drawn = large(name)

    inside = sorted(n for box in drawn.boxes for n in box.nodes)
    assert inside == list(range(len(recording["nodes"])))
    assert all(n in drawn.box_of[n].nodes for n in inside)


@pytest.mark.parametrize("name", some(LARGE, 4))
def test_every_arrow_leads_to_a_later_box(name):
    _, drawn = large(name)
    place = position(drawn)

    assert all(place[e.source] < place[e.target] for e in drawn.edges)


@pytest.mark.parametrize("name", some(LARGE, 4))
def test_every_input_has_its_arrow_unless_it_is_in_the_same_box(name):
    recording, drawn = large(name)

    for node in recording["nodes"]:
        for place, source in enumerate(node["inputs"]):
            if "node" not in source:
                continue
            start, end = drawn.box_of[source["node"]], drawn.box_of[node["id"]]
            edge = drawn.edge_at.get((node["id"], place))
            if start is end:
                assert edge is None
            else:
                assert (edge.source, edge.target) == (start.id, end.id)


def test_a_loop_keeps_its_first_and_last_round():
    drawn = outline(recordings.loop(500))

    # leaves h, w, b; three operations of the first round; the rounds between; the last one
    assert [box.id for box in drawn.boxes] == [str(n) for n in range(6)] + ["fold0", "fold1"]
    fold, last = drawn.boxes[6:]
    assert fold.heading == "iterations 2 to 499 of for i in range(500)"
    assert fold.count == "\N{MULTIPLICATION SIGN} 498"
    assert len(fold.nodes) == 498 * 3
    assert last.heading == "iteration 500 of for i in range(500)"


def test_a_fold_says_what_it_hides():
    recording = recordings.loop(500)
    drawn = outline(recording)

    times = "\N{MULTIPLICATION SIGN}"
    assert drawn.body(drawn.boxes[6], recording["nodes"]) == (
        f"498 {times} multiply, 498 {times} add, 498 {times} tanh"
    )


def test_equal_calls_in_a_row_are_one_box_between_the_first_and_the_last():
    drawn = outline(recordings.calls(40, 12))
    folds = [box.heading for box in drawn.boxes if box.kind == "fold"]

    assert folds == ["layer, call 1", "calls 2 to 39 of layer", "layer, call 40"]


def test_loops_inside_the_first_round_are_folded_in_their_turn():
    tape = recordings.Tape("for epoch in range(20):\n    for i in range(300):\n")
    h = tape.leaf("h", 1.0)
    with tape.scoped("loop", "for epoch in range(20)"):
        for epoch in range(20):
            with (
                tape.scoped("iteration", "for epoch in range(20)", epoch),
                tape.scoped("loop", "for i in range(300)"),
            ):
                for i in range(300):
                    with tape.scoped("iteration", "for i in range(300)", i):
                        h = tape.op("tanh", h)

    folds = [box.heading for box in outline(tape.data).boxes if box.kind == "fold"]

    inner = "iterations 2 to 299 of for i in range(300)"
    assert folds[0] == inner
    assert "iterations 2 to 19 of for epoch in range(20)" in folds


def test_operations_without_a_part_are_folded_fifth_by_fifth():
    tape = recordings.Tape("")
    h = tape.leaf("h", 1.0)
    for _ in range(500):
        h = tape.op("tanh", h)

    drawn = outline(tape.data)

    titles = [box.title for box in drawn.boxes if box.kind == "fold"]
    assert len(titles) == 5
    assert titles[0] == "operations 1 to 100"
    assert titles[-1] == "operations 401 to 500"


def test_recursion_a_thousand_calls_deep_is_folded_below_a_depth():
    tape = recordings.Tape("")
    h = tape.leaf("h", 1.0)
    open_scopes = []
    for _ in range(1000):
        scope = tape.scoped("call", "f")
        scope.__enter__()
        open_scopes.append(scope)
        h = tape.op("tanh", h)
    for scope in reversed(open_scopes):
        scope.__exit__(None, None, None)

    drawn = outline(tape.data)

    assert 4 < len(drawn.boxes) <= MOST
    assert drawn.boxes[-1].title == "f"


def test_rounds_that_overlap_in_time_are_not_folded_as_loops():
    # two generators taking turns: neither loop is a stretch of its own
    tape = recordings.Tape("")
    h = tape.leaf("h", 1.0)
    for loop in (1, 2):
        tape.data["scopes"].append(
            {"id": loop, "parent": 0, "kind": "loop", "name": f"loop {loop}", "index": 0,
             "where": None}
        )  # fmt: skip
    for i in range(200):
        for loop in (1, 2):
            number = len(tape.data["scopes"])
            tape.data["scopes"].append(
                {"id": number, "parent": loop, "kind": "iteration", "name": "", "index": i,
                 "where": None}
            )  # fmt: skip
            tape.scope = number
            h = tape.op("tanh", h)

    drawn = outline(tape.data)

    assert len(drawn.boxes) <= LIMIT
    assert not any("iteration" in box.title for box in drawn.boxes)


def test_a_named_leaf_that_wants_a_gradient_stays_in_sight():
    drawn = outline(recordings.calls(40, 12))

    assert drawn.boxes[0].id == "0"


def test_an_unnamed_leaf_goes_into_the_fold_that_alone_uses_it():
    recording = recordings.calls(40, 12)
    recording["nodes"][0]["name"] = None

    drawn = outline(recording)

    assert 0 in drawn.box_of[1].nodes


def test_leaves_that_the_same_operation_uses_are_folded_together():
    drawn = outline(recordings.many_leaves(1000))

    titles = [box.title for box in drawn.boxes]
    assert titles == ["250 leaves", ""] * 4


def test_false_draws_every_node_up_to_the_limit_and_folds_beyond():
    small, large = recordings.loop(20), recordings.loop(500)

    assert not any(box.kind == "fold" for box in outline(small, fold=False).boxes)
    assert len(outline(large, fold=False).boxes) <= LIMIT


def test_a_chosen_scope_is_folded_even_if_the_graph_is_small():
    recording = recordings.loop(5)

    # scope 1 is the loop: its rounds 2 to 4 become one box; scope 3 is the second round alone
    loop = [b.heading for b in outline(recording, fold=[1]).boxes if b.kind == "fold"]
    round_ = [b.heading for b in outline(recording, fold=[3]).boxes if b.kind == "fold"]

    assert loop == ["iterations 2 to 4 of for i in range(5)"]
    assert round_ == ["iteration 2 of for i in range(5)"]


def test_rounds_between_the_first_and_the_last_are_one_box_from_four_rounds_on():
    three, four = (outline(recordings.loop(n), fold=[1]) for n in (3, 4))

    # what is folded of three is each round alone
    assert [b.heading for b in three.boxes if b.kind == "fold"] == [
        f"iteration {k} of for i in range(3)" for k in (1, 2, 3)
    ]
    assert [b.heading for b in four.boxes if b.kind == "fold"] == [
        "iterations 2 to 3 of for i in range(4)"
    ]


def test_a_round_begins_with_its_test_and_the_test_that_ends_the_loop_is_in_none():
    setup = "import autodiff_kit as torch\nx = torch.ones(1)"
    rec = run(setup, "while (x * 3).sum() < 90:\n    x = x * 2")  # of 3, 6, 12, 24, 48, 96
    drawn = outline(rec.to_dict(), fold=[1])

    folds = [box for box in drawn.boxes if box.kind == "fold"]
    after = [box for box in drawn.boxes if box.ops and box.ops[0] > folds[0].ops[-1]]
    steps = build(rec, fold=False).frames
    starts = re.findall(r"Iteration \d\. [^:]*", "\n".join(step["caption"] for step in steps))

    assert [box.heading for box in folds] == ["iterations 2 to 4 of while (x * 3).sum() < 90"]
    assert [rec.nodes[box.nodes[0]]["text"] for box in after] == [
        *("x * 3", "(x * 3).sum()", "(x * 3).sum() < 90", "x * 2"),  # the fifth round
        *("x * 3", "(x * 3).sum()", "(x * 3).sum() < 90"),
    ]
    assert starts[0] == "Iteration 1. x1 * 3"
    assert starts[1:] == [f"Iteration {k}. x{k} * 3" for k in range(2, 6)]


def test_a_chosen_scope_swallows_chosen_scopes_inside_it():
    drawn = outline(recordings.loop(5), fold=[3, 1])

    assert sum(box.kind == "fold" for box in drawn.boxes) == 1


def test_a_scope_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(ValueError, match=r"names scope 99.*1 \(for i in range\(5\)\)"):
        outline(recordings.loop(5), fold=[99])


def test_an_arrow_into_something_not_recorded_is_a_ghost():
    drawn = outline(recordings.ghost())

    assert all(edge.ghost for edge in drawn.edges)


def test_an_arrow_between_folds_is_solid_if_any_gradient_can_come_back_along_it():
    recording = recordings.loop(500)
    drawn = outline(recording)

    edge = next(e for e in drawn.edges if (e.source, e.target) == ("1", "fold0"))
    assert not edge.ghost


def test_a_recording_of_nothing_has_no_boxes():
    assert outline(recordings.Tape("").data).boxes == []


# Opening folds


def first_key(recording, drawn):
    return next(key for box in drawn.boxes if (key := box.key))


@pytest.mark.parametrize("name", [n for n in LARGE if "leaves" not in n])
def test_any_operation_comes_to_light_by_opening_folds(name):
    recording, drawn = large(name)
    target = next(
        n["id"] for n in reversed(recording["nodes"]) if drawn.box_of[n["id"]].kind == "fold"
    )
    opened = []

    while (box := drawn.box_of[target]).kind == "fold" and box.key:
        opened.append(box.key)
        assert len(opened) < 12
        drawn = outline(recording, None, opened)
        assert len(drawn.boxes) <= LIMIT
        assert drawn.box_of[target] != box  # there is something new in its place
        check_complete(recording, drawn)

    assert drawn.box_of[target].kind != "fold"


def check_complete(recording, drawn):
    """Every node is in one box, and every arrow leads from an earlier box to a later one."""
    assert sorted(n for box in drawn.boxes for n in box.nodes) == list(
        range(len(recording["nodes"]))
    )
    at = position(drawn)
    assert all(at[edge.source] < at[edge.target] for edge in drawn.edges)


def test_opened_rounds_are_folds_of_rounds():
    recording, drawn = large("a loop")
    rounds = next(box for box in drawn.boxes if box.title.startswith("iterations"))

    opened = outline(recording, None, [rounds.key])

    folded = [box.title for box in opened.boxes if box.title.startswith("iterations")]
    assert folded[0].startswith("iterations 2 to")
    assert folded[-1].endswith("to 499")
    assert len(folded) == 5


def test_with_too_many_open_the_first_ones_close():
    recording, drawn = large("no structure")
    nodes, first_open, parts = recording["nodes"], drawn.opened, drawn.parts
    ops = [n["id"] for n in nodes if n["kind"] == "op"]
    opened, kinds = [], []

    for op in ops[::60]:
        while (key := drawn.box_of[op].key) is not None:
            opened.append(key)
            drawn = outline(recording, None, opened, (), first_open, parts)
            assert len(drawn.boxes) <= LIMIT
        assert drawn.box_of[op].kind == "op"
        kinds.append(drawn.box_of[ops[0]].kind)
        if kinds[-1] == "fold":
            break

    assert kinds[0] == "op"
    assert kinds[-1] == "fold"


def test_a_part_that_is_open_can_be_folded_with_all_that_is_in_it():
    recording, drawn = large("a loop")
    rounds = next(box for box in drawn.boxes if box.title.startswith("iterations"))
    key = rounds.key
    opened = outline(recording, None, [key])
    inner = next(box for box in opened.boxes if box.title.startswith("iterations"))
    wider = [key, inner.key]

    assert outline(recording, None, wider, [key]).boxes == drawn.boxes


def test_the_parts_around_an_operation_are_those_that_its_fold_can_be_reached_by():
    recording = recordings.loop(500)
    parts = Parts(recording)

    around = [part.title for part in parts.around(3 * 250)]  # an operation of round 251

    assert around[0] == "iterations 2 to 499"  # the whole run is the loop
    assert around[-1] == "iteration 251"


def test_what_is_around_the_last_one_opened_stays_open():
    recording, drawn = large("a long loop")
    first_open, parts = drawn.opened, drawn.parts
    opened = []
    for op in (30, 900, 1500, 2100):
        while (key := drawn.box_of[op].key) is not None:
            opened.append(key)
            drawn = outline(recording, None, opened, (), first_open, parts)

        assert drawn.box_of[op].kind == "op"
        assert len(drawn.boxes) <= LIMIT


def test_a_key_of_no_fold_opens_nothing():
    recording, drawn = large("a loop")

    assert outline(recording, None, [[3, 7]]).boxes == drawn.boxes


def test_ops_of_one_expression_are_one_box_where_not_all_fit():
    source = (
        "x = torch.ones(2, 3, 4, requires_grad=True)\n"
        "scores = x @ x.transpose(-2, -1)\n"
        "out = scores.softmax(-1) @ x\n"
        "out = (out * out).tanh() @ x.transpose(-2, -1)\n"
        "out = (out + 1).relu() @ x\n"
        "out = (out - 1).exp() @ x.transpose(-2, -1)\n"
        "out.sum().backward()\n"
    )
    rec = run(source)
    picture = build(rec)
    folds = [box for box in picture.outline.boxes if box.kind == "fold"]
    products = ["x @ x.transpose(-2, -1)", "scores.softmax(-1) @ x"]
    texts = dict(zip((box.id for box in picture.outline.boxes), picture.texts, strict=True))

    assert [box.heading for box in folds][:2] == products
    assert [rec.nodes[box.ops[-1]]["name"] for box in folds[:1]] == ["scores"]
    first = texts[folds[0].id]
    assert (first["name"], first["symbol"], first["lines"]) == ("scores", "6 ops", ["(2, 3, 3)"])
    ops = [rec.nodes[n]["op"] for n in folds[0].ops]
    assert "bmm" in ops and all(
        rec.nodes[n]["where"] == rec.nodes[folds[0].ops[0]]["where"] for n in folds[0].ops
    )
    opened = build(rec, opened=[folds[0].key])
    assert {str(n) for n in folds[0].ops} <= {box.id for box in opened.outline.boxes}


def test_a_small_graph_shows_the_ops_of_its_expressions():
    rec = run("x = torch.ones(2, 3, 4, requires_grad=True)\ny = x @ x.transpose(-2, -1)\n")

    assert all(box.kind != "fold" for box in build(rec).outline.boxes)
