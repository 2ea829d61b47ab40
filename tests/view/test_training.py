"""Training loops: rounds stand in the order of time, and an arrow says what leads to the next."""

from itertools import pairwise

import pytest

import autodiff_kit as ak
from autodiff_kit.view import build
from tests.invariants.running import run
from tests.parity import require_torch

BY_HAND = """\
w = torch.tensor([2.0, 1.0], requires_grad=True)
for i in range(3):
    x = torch.tensor([1.0, 3.0])
    loss = ((w * x - 5) ** 2).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
"""
EPOCHS = """\
X = torch.ones(4, 2)
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    for i in range(2):
        x = X[2 * i : 2 * i + 2]
        opt.zero_grad()
        loss = (net(x) ** 2).mean()
        loss.backward()
        opt.step()
"""
GATHER = """\
w = torch.tensor(2.0, requires_grad=True)
for i in range(2):
    loss = w * w
    loss.backward()
"""
APART = """\
for value in (1.0, 2.0):
    x = torch.tensor(value, requires_grad=True)
    y = x * x
    y.backward()
"""
RECURRENT = """\
w = torch.tensor(0.5, requires_grad=True)
h = torch.tensor(1.0)
for i in range(3):
    h = torch.tanh(w * h)
h.backward()
"""
LIBRARIES = ["kit", "torch"]


def picture_of(library, source):
    return run("", ak if library == "kit" else require_torch(), source).picture


def whole(library, source):
    """Return the picture in which no round is folded, though it does not fit."""
    program = run("", ak if library == "kit" else require_torch(), source)
    return build(program.recording, fold=False)


def links(picture):
    """Return the arrows between rounds: from what, by which code, to what."""
    edges = [e for e in picture.outline.edges if e.code]
    return [(picture.titles[e.source], e.code, picture.titles[e.target]) for e in edges]


def extent(picture, ids):
    """Return the upper and the lower end of some boxes."""
    places = [
        (y, y + height)
        for box, (_, y), (_, height) in zip(
            picture.outline.boxes, picture.layout.positions, picture.sizes, strict=True
        )
        if box.id in ids
    ]
    return min(y for y, _ in places), max(y for _, y in places)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("source", [BY_HAND, EPOCHS, GATHER])
def test_each_round_stands_wholly_below_the_one_before_it(library, source):
    picture = picture_of(library, source)

    assert picture.outline.rounds
    for rounds in picture.outline.rounds:
        ends = [extent(picture, own) for own in rounds]
        assert len(ends) > 1
        assert all(upper[1] < lower[0] for upper, lower in pairwise(ends))


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_update_by_hand_leads_to_what_reads_the_parameter_next(library):
    picture = whole(library, BY_HAND)

    updates = [link for link in links(picture) if link[1] == "w -= 0.1 * w.grad"]
    assert len(updates) == 2
    assert [end for _, _, end in updates] == ["w * x2", "w * x3"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_gradient_that_an_update_reads_stands_below_its_backward_pass(library):
    picture = whole(library, BY_HAND)

    passes = [link[2] for link in links(picture) if link[1] == "loss.backward()"]
    assert passes == [f"w.grad in iteration {i}" for i in (1, 2, 3)]


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_step_of_an_optimizer_leads_from_each_round_to_the_next_and_over_an_epoch(library):
    picture = whole(library, EPOCHS)

    assert [code for _, code, _ in links(picture)] == ["opt.step()"] * 3
    assert [len(rounds) for rounds in picture.outline.rounds] == [2, 2, 2]


def test_folded_rounds_stand_in_the_order_of_time_too():
    picture = picture_of("kit", EPOCHS.replace("range(2)", "range(9)"))

    heights = [extent(picture, own) for own in picture.outline.rounds[0]]
    assert len(heights) == 3  # the first, those between, the last
    assert heights == sorted(heights)
    assert {code for _, code, _ in links(picture)} == {"opt.step()"}


def test_gradients_that_add_up_lead_from_round_to_round():
    picture = picture_of("kit", GATHER)

    assert links(picture) == [("loss1 = w * w", "loss.backward()", "loss2 = w * w")]


@pytest.mark.parametrize("source", [APART, RECURRENT])
def test_rounds_that_share_no_change_need_no_such_arrow(source):
    picture = picture_of("kit", source)

    assert links(picture) == []
    assert picture.outline.rounds == []


def test_an_arrow_between_rounds_carries_no_gradient():
    picture = picture_of("kit", BY_HAND)

    codes = {edge.id for edge in picture.outline.edges if edge.code}
    assert codes
    assert not codes & {edge for frame in picture.frames for edge in frame.get("along", {})}
    assert all(edge.ghost for edge in picture.outline.edges if edge.code)


@pytest.mark.parametrize("library", ["kit", "torch"])
def test_a_long_loop_over_a_module_opens_to_its_first_round_and_its_last(library: str) -> None:
    source = """\
x = torch.ones(8, 2)
t = x.sum(1, keepdim=True)
net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.1)
for epoch in range(20):
    opt.zero_grad()
    loss = ((net(x) - t) ** 2).mean()
    loss.backward()
    opt.step()
"""

    picture = picture_of(library, source)

    folds = [box.title for box in picture.outline.boxes if box.kind == "fold"]
    assert folds == ["parameters of net", "iteration 1", "iterations 2 to 19", "iteration 20"]
