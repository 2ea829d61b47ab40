"""What opens first fits the pane: by the drawing itself, not by an estimate of it."""

import pytest

import autodiff_kit as ak
from autodiff_kit.view import build
from autodiff_kit.view.fitting import HEIGHT, WHOLE, WIDTH
from tests.invariants.running import run
from tests.view import recordings

LSTM = """\
H = 2
Wf, Wi, Wg, Wo = (torch.ones(4, H, requires_grad=True) for _ in range(4))
h, c = torch.zeros(1, H), torch.zeros(1, H)
for t in range({steps}):
    z = torch.cat([h, torch.ones(1, 2)], 1)
    f, i, o = torch.sigmoid(z @ Wf), torch.sigmoid(z @ Wi), torch.sigmoid(z @ Wo)
    c = f * c + i * torch.tanh(z @ Wg)
    h = o * torch.tanh(c)
loss = h.sum()
loss.backward()
"""
RECURRENT = """\
W, U, b = (torch.ones(s, requires_grad=True) for s in ((3, 3), (2, 3), (3,)))
h, loss = torch.zeros(1, 3), 0
for t in range(60):
    h = torch.tanh(h @ W + torch.ones(1, 2) @ U + b)
    loss = loss + h.sum()
loss.backward()
"""
TRAINING = """\
net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(4):
    for i in range(5):
        opt.zero_grad()
        loss = (net(torch.ones(4, 2)) ** 2).mean()
        loss.backward()
        opt.step()
"""
BY_HAND = """\
w = torch.tensor([2.0, 1.0], requires_grad=True)
for i in range(12):
    loss = ((w - 5) ** 2).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
"""
STACK = """\
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    def forward(self, x):
        return x + self.outer(torch.relu(self.inner(x)))
net = torch.nn.Sequential(*(Block() for _ in range(20)))
loss = net(torch.ones(1, 2)).sum()
loss.backward()
"""
TREE = """\
w = torch.tensor(0.5, requires_grad=True)
def tree(x, depth):
    return x * w if depth == 0 else tree(x, depth - 1) + tree(x, depth - 1)
y = tree(torch.tensor(2.0), 7)
y.backward()
"""
PROGRAMS = {
    "an LSTM": LSTM.format(steps=3),
    "a long LSTM": LSTM.format(steps=30),
    "a recurrent net": RECURRENT,
    "epochs of steps": TRAINING,
    "updates by hand": BY_HAND,
    "a stack of blocks": STACK,
    "a recursion": TREE,
}
LARGE = {
    **{
        name: lambda source=source: run("", ak, source).recording
        for name, source in PROGRAMS.items()
    },
    "a loop": lambda: recordings.loop(500),
    "a long loop": lambda: recordings.long_loop(),
    "training": lambda: recordings.training(),
    "calls": lambda: recordings.calls(40, 12),
    "a chain": lambda: recordings.calls(1, 2000),
}


@pytest.mark.parametrize("name", LARGE)
def test_what_opens_first_fits_at_seventy_percent_in_a_window_of_900_pixels(name):
    picture = build(LARGE[name]())

    assert picture.layout.width <= WIDTH
    assert picture.layout.height <= HEIGHT


@pytest.mark.parametrize("name", LARGE)
def test_a_recording_is_never_one_box(name):
    picture = build(LARGE[name]())

    assert sum(box.kind == "fold" for box in picture.outline.boxes) > 1


def test_leaves_that_the_same_folds_use_are_one_box_only_where_they_do_not_fit():
    wide = build(LARGE["an LSTM"]())
    narrow = build(LARGE["a loop"]())

    assert "Wf, Wi, Wg, Wo" in [box.title for box in wide.outline.boxes]
    assert sorted(narrow.texts[i]["name"] for i in range(3)) == ["b", "h", "w"]


def test_opening_one_part_leaves_the_others_as_they_were():
    picture = build(LARGE["a recurrent net"]())
    first, *others = (box for box in picture.outline.boxes if box.part)

    wider = picture.opened(picture.outline.parts.key(first.part))

    kept = [box.title for box in others]
    assert kept
    assert set(kept) <= {box.title for box in wider.outline.boxes}


def test_few_nodes_are_drawn_whole_even_where_they_do_not_fit():
    picture = build(run("", ak, "x = torch.tensor(1.0)\n" + "x = x * 2.0\n" * 20).recording)

    assert picture.size <= WHOLE
    assert picture.layout.height > HEIGHT
    assert not any(box.kind == "fold" for box in picture.outline.boxes)


def test_of_a_small_run_something_is_open_to_be_stepped_through():
    for rounds in (2, 4, 6):
        picture = build(run("", ak, BY_HAND.replace("range(12)", f"range({rounds})")).recording)

        assert picture.size <= WHOLE
        assert sum(box.kind == "op" for box in picture.outline.boxes) >= 3
        assert {"visit", "contribution"} <= {frame["kind"] for frame in picture.frames}


def test_a_small_graph_has_pictures_of_matrices_only_where_it_fits_with_them():
    chain = "w = torch.ones(2, 2, requires_grad=True)\ny = w{}\ny.sum().backward()"
    short, long = (build(run("", ak, chain.format(" * w" * n)).recording) for n in (1, 4))

    assert any(text["cells"] for text in short.texts)
    assert short.layout.height <= HEIGHT
    assert not any(text["cells"] or text["maps"] for text in long.texts)
