"""Operands are drawn and told from left to right as the learner wrote them."""

import re
from typing import Any

import pytest

import autodiff_kit as ak
from autodiff_kit.view.scene import Picture, build
from autodiff_kit.view.text import facts
from tests.invariants.conftest import LIBRARIES
from tests.invariants.running import run
from tests.parity import require_torch

MADE = """
import KIT.nn.functional as F
b = torch.tensor([1.0, 2.0], requires_grad=True)
x = torch.tensor([[1.0, 2.0]], requires_grad=True)
w = torch.tensor([[0.5, 1.0], [1.0, 3.0]], requires_grad=True)
u = torch.tensor([3.0, 4.0], requires_grad=True)
def linear(x, w, b):
    return F.linear(x, w, b)
"""
EXPRESSIONS = [
    *("w * x", "x * w", "b + x", "x + b", "b - u", "u / b", "b ** u", "x @ w", "u > b"),
    *("F.linear(x, w, b)", "F.linear(x, w, bias=b)", "linear(x, w, b)", "torch.addmm(b, x, w)"),
    *("torch.where(u > 3, b, u * 2)", "torch.stack([u, b])", "torch.cat((b, u))", "u.add(b)"),
    *("torch.maximum(u, b)", "F.mse_loss(u, b)", "torch.matmul(w, b)", "(u * 2) * b.exp()"),
    *("u - (b * 3)", "[b, u][0] * u", "F.layer_norm(x, (2,), u, b)"),
]


def picture(expression: str, library: str) -> tuple[Picture, Any]:
    torch = ak if library == "kit" else require_torch()
    program = run("written", torch, f"{MADE}out = {expression}\n")
    assert program.recording.note is None
    return program.picture, program


def last_op(drawing: Picture) -> Any:
    return [box for box in drawing.outline.boxes if box.kind == "op"][-1]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_operands_are_drawn_from_left_to_right(expression: str, library: str) -> None:
    drawing, program = picture(expression, library)
    boxes = drawing.outline.boxes
    middle = {b.id: drawing.layout.positions[k][0] + drawing.sizes[k][0] / 2
              for k, b in enumerate(boxes)}  # fmt: skip
    leaf_of: dict[str, str] = {}
    for box in boxes:  # of `b * 3`, what it is made of
        sources = [edge.source for edge in drawing.outline.edges if edge.target == box.id]
        name = program.nodes[box.nodes[0]]["name"]
        leaf_of[box.id] = leaf_of[sources[-1]] if sources else name

    sources = [e.source for e in drawing.outline.edges if e.target == last_op(drawing).id]

    drawn = [leaf_of[s] for s in sorted(dict.fromkeys(sources), key=middle.__getitem__)]
    written = [name for name in re.findall(r"\b[bxwu]\b", expression) if name in drawn]
    assert [*dict.fromkeys(drawn)] == [*dict.fromkeys(written)]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("expression", "symbol"),
    [
        *(("2 * u", "2 ×"), ("u * 2", "× 2"), ("1 + u", "1 +"), ("u + 1", "+ 1")),
        *(("3 > u", "3 >"), ("u < 3", "< 3"), ("3 - u", "3 \N{MINUS SIGN}"), ("2 ** u", "2 **")),
    ],
)
def test_a_constant_stands_on_the_side_where_it_was_written(
    expression: str, symbol: str, library: str
) -> None:
    drawing, _ = picture(expression, library)
    assert drawing.texts[[*drawing.outline.boxes].index(last_op(drawing))]["origin"] == symbol


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("expression", ["w * x", "x * w", "F.linear(x, w)", "x @ w", "u / b"])
def test_rules_and_saved_values_are_told_in_this_order(expression: str, library: str) -> None:
    drawing, program = picture(expression, library)
    data, node = program.recording.to_dict(), last_op(drawing).nodes[0]
    rows = dict(facts(data, [node], drawing._names))
    written = re.findall(r"\b[bxwu]\b", expression)

    rules = re.findall(r"^to ([bxwu])\b", rows["rules"], re.M)
    saved = re.findall(r"^([bxwu])\b", rows["saved"], re.M)

    assert rules == written
    assert saved == [name for name in written if name in saved]
    caption = next(f["caption"] for f in drawing.frames if f["node"] == last_op(drawing).id)
    assert [n for n in re.findall(r"\b([bxwu])(?:\.t\(\))? = ", caption) if n in saved] == saved


def test_leaves_are_told_in_this_order() -> None:
    space: dict[str, Any] = {"torch": ak}
    exec(MADE.replace("KIT", "autodiff_kit"), space)

    program = run("before", ak, "out = w * x\nnext = torch.stack([u, b])\n", space)

    assert [n["name"] for n in program.nodes if n["kind"] == "leaf"] == ["w", "x", "u", "b"]
    assert build(program.recording).frames[0]["caption"].startswith("w = ")
