"""Tensors that look into one storage: a change through one is told of all, in one event."""

import json
from typing import Any

from autodiff_kit.record import Recording
from autodiff_kit.view import build
from tests.record.libraries import LIBRARIES, V, recorded

LOOP = (
    "w = torch.tensor([1., 2.], requires_grad=True)\n"
    "opt = torch.optim.SGD([w], lr=0.5)\n"
    "kept = []\n"
    "for _ in range(ROUNDS):\n"
    "    opt.zero_grad()\n"
    "    (w * w).sum().backward()\n"
    "    opt.step()\n"
)


def captions(rec: Recording) -> list[str]:
    return [frame["caption"] for frame in build(rec).frames]


@LIBRARIES
def test_a_loop_that_keeps_windows_makes_as_many_events_in_each_round(library: Any) -> None:
    source = f"{LOOP}    kept.append(w.detach())\n"

    few, some, many = (
        len(recorded(source.replace("ROUNDS", str(n)), library).events) for n in (10, 20, 30)
    )

    assert many - some == some - few


@LIBRARIES
def test_windows_in_boxes_hold_what_a_change_through_another_has_put_there(library: Any) -> None:
    source = f"{V}a, b, c = x.detach(), x.detach(), x.detach()\nb.mul_(2)\nd = x.detach()\nd += 1"

    rec = recorded(source, library)

    fields = build(rec).state(-1)["nodes"]
    boxes = build(rec).outline.box_of
    for name in ("x", "a", "c"):
        (node,) = [n["id"] for n in rec.nodes if n["name"] == name]
        assert fields[boxes[node].id]["value"] == "[3., 5.]"
    assert Recording.from_dict(json.loads(json.dumps(rec.to_dict()))).to_dict() == rec.to_dict()


@LIBRARIES
def test_up_to_three_windows_are_named_and_more_are_counted(library: Any) -> None:
    start = f"{V}a = x.detach()\nb = x.detach()\n"

    few = captions(recorded(f"{start}b.mul_(2)", library))
    more = captions(recorded(f"{start}c, d, e = a[:], a[:], a[:]\nb.mul_(2)", library))

    assert "mul_ changes x and a in place: [1.0, 2.0] becomes [2.0, 4.0]." in few
    message = "mul_ changes x and 4 other tensors that share its storage in place"
    assert any(caption.startswith(message) for caption in more)


@LIBRARIES
def test_windows_that_are_gone_are_told_of_no_more(library: Any) -> None:
    rec = recorded(f"{V}a = x.detach()\nb = x.detach()\nb.mul_(2)\ndel a\nb.mul_(3)", library)

    texts = [caption for caption in captions(rec) if " in place: " in caption]
    assert texts == [
        "mul_ changes x and a in place: [1.0, 2.0] becomes [2.0, 4.0].",
        "mul_ changes x in place: [2.0, 4.0] becomes [6.0, 12.0].",
    ]


@LIBRARIES
def test_what_an_op_read_of_a_window_is_what_was_there_then(library: Any) -> None:
    source = f"{V}a, b = x.detach(), x.detach()\ny = a + b\nx.data.mul_(2)\nz = a + b"

    texts = captions(recorded(source, library))

    assert any(caption.startswith("y = a + b: add makes [2.0, 4.0]") for caption in texts)
    assert any(caption.startswith("z = a + b: add makes [4.0, 8.0]") for caption in texts)
