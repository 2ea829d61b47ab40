"""What tells boxes apart that have one name, and what a numbered name and a plain number mean."""

from typing import Any

from autodiff_kit.record import record
from autodiff_kit.view.scene import Picture, build
from tests.record.cells import cell


def picture(source: str) -> Picture:
    import autodiff_kit as torch

    space: dict[str, Any] = {"torch": torch}
    with record() as rec:
        cell(source, space)
    return build(rec)


SUM = """\
a = torch.tensor(2., requires_grad=True)
s = 0
for i in range(3):
    s = s + a ** 2 * i
s.backward()
"""


def test_boxes_of_one_name_say_in_which_iteration_they_were_made():
    drawing = picture(SUM)

    boxes = [text for text in drawing.texts if text["name"] == "a ** 2"]
    titles = [box["title"] for box in drawing.payload()["nodes"].values()]

    assert [box["symbol"] for box in boxes] == [f"in iteration {i}" for i in (1, 2, 3)]
    assert "a ** 2 in iteration 2" in titles
    uses = drawing.payload()["nodes"]["0"]["uses"]
    assert [words for _, words in uses] == [f"a ** 2 in iteration {i}" for i in (1, 2, 3)]


def test_the_value_of_a_plain_number_is_told_where_it_changes():
    captions = [f["caption"] for f in picture(SUM).frames if f["kind"] == "op"]

    assert next(c for c in captions if "Here, i is 2." in c).startswith("a ** 2 * i: multiply")
    assert [sum(f" i is {i}." in c for c in captions) for i in (0, 1, 2)] == [1, 1, 1]
    assert not any("2 is 2" in c for c in captions)  # it is written there


def test_the_inspector_has_the_value_of_a_plain_number():
    nodes = picture("x = torch.tensor(2.)\nk = 1.5\ny = x - 2 * k\nz = x + 3").payload()["nodes"]
    rows = {box["name"]: dict(box["facts"]) for box in nodes.values()}

    assert rows["y"]["number"] == "2 * k is 3. here"
    assert "number" not in rows["z"]


def test_a_numbered_name_is_explained_once_and_in_the_inspector():
    drawing = picture(SUM)
    captions = " ".join(frame["caption"] for frame in drawing.frames)
    whats = [box["what"] for box in drawing.payload()["nodes"].values()]

    assert captions.count("s1 is the first of 3 results the code calls s.") == 1
    assert any(what.endswith("It is the third of 3 results the code calls s.") for what in whats)


def test_a_number_that_was_saved_is_told_as_released():
    source = "x = torch.tensor(2., requires_grad=True)\ny = x * 3\ny.backward()"
    captions = [frame["caption"] for frame in picture(source).frames]

    assert any(c.endswith("Multiply no longer keeps the number 3.") for c in captions)


def test_which_item_is_picked_in_a_loop_is_told():
    source = "x = torch.tensor([1., 2.])\nfor i in range(2):\n    y = x[i] * 2"
    captions = [frame["caption"] for frame in picture(source).frames]

    assert [("x[i] is x[0]" in c, "x[i] is x[1]" in c) for c in captions if "pick" in c] == [
        (True, False),
        (False, True),
    ]


def test_the_classes_of_a_loss_are_an_input_of_it():
    source = (
        "x = torch.tensor([[1., 2.]], requires_grad=True)\nt = torch.tensor([1])\n"
        "loss = torch.nn.functional.cross_entropy(x, t)"
    )
    drawing = picture(source)
    boxes = {box["name"]: (name, box) for name, box in drawing.payload()["nodes"].items()}

    assert boxes["t"][1]["consumers"] == [boxes["loss"][0]]


def test_iterations_of_loops_in_each_other_are_told_with_their_loops():
    drawing = picture(
        "x = torch.tensor(2., requires_grad=True)\n"
        "fs = [[lambda k=k: x * k for k in range(2)] for _ in range(2)]\n"
        "out = sum(f() for row in fs for f in row)\nout.backward()"
    )

    boxes = [text["symbol"] for text in drawing.texts if text["name"] == "x * k"]
    assert boxes == [
        f"in iteration {f} for f, iteration {r} for row" for r in (1, 2) for f in (1, 2)
    ]
