"""Modules are folded by their path; their box tells of their parameters and gradients."""

import math

import pytest

import autodiff_kit as torch
from autodiff_kit.record import record
from autodiff_kit.view.outline import outline
from autodiff_kit.view.parameters import norm
from autodiff_kit.view.scene import build
from autodiff_kit.view.values import TIMES
from tests.record.cells import cell
from tests.view.programs import SETUP, STEP, residual_net


def fold_of(drawn, title):
    return next(box for box in drawn.boxes if box.title == title)


def test_a_stack_of_modules_opens_to_what_fits_with_equal_blocks_as_one_box():
    folds = [b for b in outline(residual_net()[1].to_dict()).boxes if b.kind == "fold"]

    assert [(b.title, b.of, b.count) for b in folds] == [
        ("net.0", "Linear", ""),
        ("net.1 … net.12", "Residual", f"{TIMES} 12"),
        ("net.13", "Linear", ""),
    ]


def test_parameters_are_in_the_box_of_their_module_and_data_is_not():
    recording = residual_net()[1].to_dict()
    drawn = outline(recording)

    outside = [recording["nodes"][b.nodes[0]]["name"] for b in drawn.boxes if b.kind == "leaf"]

    assert outside == ["X"]


def opened(picture, *titles):
    """Open one fold after the other, each by its title."""
    for title in titles:
        box = fold_of(picture.outline, title)
        picture = picture.opened(picture.outline.parts.key(box.part))
    return picture


def test_a_stack_opens_down_to_a_single_operation():
    picture = build(residual_net()[1])

    for title in ("net.1 … net.12", "net.7", "net.7.fc2"):
        assert any(box.title == title for box in picture.outline.boxes)
        picture = opened(picture, title)

    names = set(picture.titles.values())
    assert {"net.7.fc2.weight", "net.7.fc2.bias"} <= names
    assert not any(box.title == "net.7.fc2" for box in picture.outline.boxes)


def test_a_residual_connection_runs_past_the_modules_of_its_block():
    picture = opened(build(residual_net()[1]), "net.1 … net.12", "net.7")
    boxes, edges = picture.outline.boxes, picture.outline.edges

    before, after = (fold_of(picture.outline, title).id for title in ("net.6", "net.8"))
    into = {
        e.source
        for e in edges
        if e.target == next(e.source for e in edges if e.target == after and e.source != before)
    }
    assert before in into  # the addition at the end of net.7 reads what net.6 made
    assert fold_of(picture.outline, "net.7.fc2").id in into
    assert len(boxes) > 12


def test_the_box_of_a_module_tells_how_large_the_gradients_of_its_parameters_are():
    net, rec = residual_net()
    picture = build(rec)
    box = fold_of(picture.outline, "net.0")

    size = math.sqrt(sum(float((p.grad * p.grad).sum()) for p in net[0].parameters()))
    text = picture.texts[picture.outline.boxes.index(box)]
    assert text["lines"] == ["2 ops, 40 parameters"]  # 4 * 8 weights and 8 biases
    assert text["label"] == "gradient norm"
    assert float(picture.state(-1)["nodes"][box.id]["grad"]) == pytest.approx(size, rel=1e-3)
    texts = picture.state(-1)["nodes"][box.id]["gradient"]  # by the inspector
    assert texts.endswith("the norm of its parameters' gradients")
    turn = picture.payload()["turn"]
    assert picture.state(turn)["nodes"][box.id].get("grad") is None  # not yet


def test_clearing_gradients_clears_what_the_box_tells():
    space = {"torch": torch}
    cell(SETUP, space)
    with record() as rec:
        cell(STEP + "\nnet.zero_grad()\nz = X * 2", space)
    picture = build(rec)
    box = fold_of(picture.outline, "net.0")

    assert picture.state(-1)["nodes"][box.id].get("grad") is None


def test_the_norm_of_a_large_tensor_is_known_from_its_statistics():
    values = [float(x) for x in range(1, 101)]
    mean = sum(values) / 100
    std = math.sqrt(sum((x - mean) ** 2 for x in values) / 100)
    stats = {"min": 1.0, "max": 100.0, "mean": mean, "std": std, "nan": 0, "inf": 0}
    large = {"shape": [100], "dtype": "float64", "data": values[:8], "stats": stats}

    size = math.sqrt(sum(x * x for x in values))

    assert float(norm([large])) == pytest.approx(size, rel=1e-4)
    assert norm([{**large, "stats": {**stats, "nan": 3}}]) == "nan"


def test_a_result_inside_a_call_is_called_by_its_module():
    space = {"torch": torch}
    cell(
        "net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())\nx = torch.ones(2)",
        space,
    )
    with record() as rec:
        cell("loss = net(x).sum()\nloss.backward()", space)
    captions = [frame["caption"] for frame in build(rec, fold=False).frames]

    assert any(c.startswith("net.0's output = ") for c in captions)
    assert any(c.startswith("net(x): relu makes ") for c in captions)
    assert any("The rule of relu for net.0's output gives" in c for c in captions)
