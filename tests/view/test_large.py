"""Large runs: what is looked at for a picture grows with the run, and nothing recurses deeply."""

import ast
import json

import pytest

import autodiff_kit as torch
from autodiff_kit.record import record
from autodiff_kit.record.values import Values
from autodiff_kit.view.names import Names
from autodiff_kit.view.scene import build
from autodiff_kit.view.written import Written
from tests.record.cells import cell

STACK = """\
nn = torch.nn
class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
    def forward(self, x):
        return x + torch.relu(self.fc(x))
net = nn.Sequential(*(Residual() for _ in range(400)))
x = torch.ones(1, 2)
"""
TREE = """\
def tree(x, depth):
    if depth == 0:
        return x * w
    return tree(x, depth - 1) + tree(x * w, depth - 1)
w, x = torch.tensor(0.5, requires_grad=True), torch.tensor(2.0)
"""


def recorded(setup, source):
    space = {"torch": torch}
    cell(setup, space)
    with record() as rec:
        cell(source, space)
    return rec


def test_a_deep_stack_of_the_learners_modules_is_told_without_deep_recursion():
    rec = recorded(STACK, "loss = net(x).sum()\nloss.backward()")

    folds = [b.title for b in build(rec).outline.boxes if b.kind == "fold"]

    assert rec.note is None
    assert folds == ["net.0", "net.1 … net.398", "net.399"]


class Counted(list):
    """A list that counts how often an element of it is read."""

    reads = 0

    def __getitem__(self, at):
        self.reads += 1
        return super().__getitem__(at)


def test_a_name_reads_no_more_of_a_deep_expression_than_it_has_room_for():
    counts = []
    for blocks in (100, 400):
        rec = recorded(STACK.replace("400", str(blocks)), "loss = net(x).sum()")
        recording = {**rec.to_dict(), "nodes": Counted(rec.to_dict()["nodes"])}
        names = Names(recording)
        recording["nodes"].reads = 0
        names.text(next(n["id"] for n in reversed(rec.nodes) if n["op"] == "relu"))
        counts.append(recording["nodes"].reads)

    assert counts[0] == counts[1] > 0


def test_what_a_recursion_computes_inside_is_no_part_of_the_expression_that_calls_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Each call runs the same expression; only the two results that it adds are its operands.
    recording = recorded(TREE, "y = tree(x, 8)").to_dict()
    reads: list[ast.AST] = []
    unparse = ast.unparse
    monkeypatch.setattr(ast, "unparse", lambda part: reads.append(part) or unparse(part))

    written = Written(recording)
    for node in recording["nodes"]:
        written.order(node["id"])

    assert len(reads) <= 4 * len(recording["nodes"])  # a few for each operand


@pytest.mark.parametrize("rounds", [3_000, pytest.param(15_000, marks=pytest.mark.gate)])
def test_many_thousand_operations_are_recorded_whole_with_their_backward_pass(rounds):
    rec = recorded(
        "h = torch.tensor(0.5, requires_grad=True)",
        f"for i in range({rounds}):\n    h = torch.tanh(h * 1.5)\nh.backward()",
    )

    assert rec.note is None
    assert sum(node["kind"] == "op" for node in rec.nodes) == 2 * rounds
    assert sum(event["kind"] == "contribution" for event in rec.events) == 2 * rounds


def test_a_picture_describes_few_of_the_gradients_that_its_folds_hide(monkeypatch):
    rec = recorded(STACK, "loss = net(x).sum()\nloss.backward()")
    reads = []
    describe = Values.kept
    monkeypatch.setattr(Values, "kept", lambda s, note: reads.append(note) or describe(s, note))

    build(rec)
    contributions = sum(event["kind"] == "contribution" for event in rec.noted()[1])
    nodes = len(rec.nodes)

    assert contributions > 2_000
    assert len(reads) < nodes + contributions / 20


def test_events_are_plain_data_also_after_a_picture_has_read_some_of_them():
    source = "loss = net(x).sum()\nloss.backward()"
    setup = f"torch.manual_seed(0)\n{STACK.replace('400', '40')}"
    first, second = recorded(setup, source), recorded(setup, source)

    build(first)

    assert {type(event) for event in first.events} == {dict}
    assert json.dumps(first.to_dict()) == json.dumps(second.to_dict())
