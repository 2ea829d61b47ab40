"""The picture: what it holds, its state at a step, and its payload for the browser."""

import json
import types

import pytest

from autodiff_kit.view import build
from autodiff_kit.view.payload import deflate
from autodiff_kit.view.svg import box_size
from autodiff_kit.view.svg_text import text_width
from tests.record.cells import run
from tests.view import recordings


@pytest.fixture(params=recordings.ALL, scope="module")
def picture(request):
    return build(recordings.ALL[request.param]())


def browsers_state(payload, k):
    """Work out frame k as the viewer does: later frames win, hidden before ``since``."""
    nodes = {id: {"hidden": k < node["since"]} for id, node in payload["nodes"].items()}
    for frame in payload["frames"][: k + 1]:
        for id, fields in frame["set"].items():
            nodes[id].update(fields)
    return nodes


def test_the_state_is_what_the_browser_works_out(picture):
    payload = picture.payload()

    for k in range(len(picture.frames)):
        nodes = picture.state(k)["nodes"]
        assert [id for id, n in nodes.items() if n.pop("active")] in (
            [],
            [payload["frames"][k]["node"]],
        )
        assert nodes == browsers_state(payload, k)


def test_the_state_depends_on_nothing_but_the_step(picture):
    last = json.dumps(picture.state(-1))

    for k in range(len(picture.frames)):
        picture.state(k)

    assert json.dumps(picture.state(-1)) == last


def test_boxes_appear_one_by_one_and_with_their_inputs_there(picture):
    earlier = set()
    for k in range(len(picture.frames)):
        state = picture.state(k)
        now = {id for id, node in state["nodes"].items() if not node["hidden"]}
        assert earlier <= now
        earlier = now
        for edge in picture.outline.edges:
            if not state["edges"][edge.id]["hidden"]:
                assert {edge.source, edge.target} <= now
    assert earlier == set(state["nodes"])


def test_the_payload_is_plain_json_without_numbers_that_json_lacks(picture):
    payload = picture.payload()

    assert json.loads(json.dumps(payload, allow_nan=False)) == payload


def test_frames_and_nodes_speak_of_the_same_boxes(picture):
    payload = picture.payload()
    edges = {edge.id for edge in picture.outline.edges}

    assert set(payload["order"]) == set(payload["nodes"])
    for frame in payload["frames"]:
        assert frame["node"] is None or frame["node"] in payload["nodes"]
        assert frame["edge"] is None or frame["edge"] in edges


def test_inputs_and_consumers_mirror_each_other(picture):
    nodes = picture.payload()["nodes"]

    for id, node in nodes.items():
        assert all(id in nodes[other]["consumers"] for other in node["inputs"])
        assert all(id in nodes[other]["inputs"] for other in node["consumers"])


def test_no_box_is_too_narrow_for_what_it_will_ever_show(picture):
    texts = dict(zip((b.id for b in picture.outline.boxes), picture.texts, strict=True))
    for frame in picture.frames:
        for id, fields in frame["set"].items():
            width, _ = box_size(texts[id])
            for key in ("g", "grad", "value"):
                assert text_width(fields.get(key) or "") < width


def test_the_turn_is_the_first_backward_step():
    assert build(recordings.classic()).payload()["turn"] == 5
    assert build(recordings.line()).payload()["turn"] is None


def test_the_title_names_where_backward_starts():
    assert build(recordings.layers()).title == "Computation graph of loss"


def test_without_backward_the_title_names_what_was_made_last():
    assert build(recordings.line()).title == "Computation graph of y"


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("y = torch.tensor(2.0)\nfor i in range(3):\n    y = y * 2.0", "Computation graph of y"),
        ("x = torch.ones(2, requires_grad=True)\n(x * 3).sum().backward()", "(x * 3).sum()"),
    ],
)
def test_the_title_is_what_the_code_calls_the_result(source, title):
    assert build(run(source)).title.endswith(title)


def test_the_title_says_how_many_results_it_leaves_out() -> None:
    lines = [f"{name} = x * 2" for name in "zwug"]

    rec = run("x = torch.tensor(3., requires_grad=True)\n" + "\n".join(lines))

    assert build(rec).title == "Computation graph of z, w and 2 more"


def test_a_recording_object_is_as_good_as_its_data():
    data = recordings.classic()

    assert build(types.SimpleNamespace(**data)).payload() == build(data).payload()


def test_the_inspector_tells_what_is_saved_and_why():
    facts = dict(build(recordings.loop()).payload()["nodes"]["3"]["facts"])

    # w.grad needs h; h itself wants no gradient, so w is not kept in the first round
    assert facts["saved"] == "h = 0.5 (4 bytes), because the rule for w reads it"
    assert facts["operation"] == "h * w   (MulBackward0)"
    assert facts["value"] == "1."
    assert facts["shape"] == "()"
    assert facts["dtype"] == "float32"
    assert facts["requires_grad"] == "True"
    assert facts["source"] == "h * w"
    assert facts["rules"] == "to w: (gradient of h * w) × h"
    assert facts["in"] == "iteration 1 of for i in range(3)"


def test_the_inspector_prints_small_matrices():
    node = build(recordings.broadcast()).payload()["nodes"]["1"]

    assert dict(node["facts"])["value"] == "[[1., 2., 3.],\n [4., 5., 6.]]"


def test_the_inspector_of_a_fold_tells_what_it_hides_and_keeps():
    nodes = build(recordings.loop(500)).payload()["nodes"]
    node = next(n for n in nodes.values() if n["title"].startswith("iterations"))
    facts = dict(node["facts"])

    assert node["title"] == "iterations 2 to 499 of for i in range(500)"
    assert facts["ends with"] == "h499 = tanh(h498 * w + b)\n-0.995"
    assert facts["saved"] == "6 kB"  # 498 rounds of two factors and one result of 4 bytes each


def test_screen_readers_hear_name_op_and_value():
    nodes = build(recordings.ghost()).payload()["nodes"]

    assert nodes["1"]["aria"] == "w, leaf, value 2.0"
    assert nodes["2"]["aria"] == "a, multiply, value 6.0, not recorded"


def test_negative_steps_count_from_the_end():
    picture = build(recordings.classic())

    assert picture.state(-1) == picture.state(14)


@pytest.mark.parametrize("step", [15, -16])
def test_a_step_that_is_not_there_is_refused_with_how_many_there_are(step):
    with pytest.raises(IndexError, match="it has 15 steps, so use 0 to 14, or -1"):
        build(recordings.classic()).state(step)


def test_a_recording_of_nothing_can_be_shown():
    picture = build(recordings.Tape("x = 1\n").data)

    assert picture.state(-1)["caption"].startswith("Nothing was recorded")
    assert picture.payload()["frames"] == []


def test_building_twice_gives_the_same_bytes():
    first, second = (deflate(build(recordings.loop(20)).payload()) for _ in range(2))

    assert first == second


def test_a_picture_of_300_nodes_costs_the_browser_less_than_1_kb_an_op():
    recording = recordings.loop(99)

    size = len(deflate(build(recording).payload()))

    assert size / (3 * 99) < 1000


def test_a_picture_is_known_by_its_words():
    assert repr(build(recordings.square())) == (
        "Picture('Computation graph of y', 2 boxes, 8 steps)"
    )
