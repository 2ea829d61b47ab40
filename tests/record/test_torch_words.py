"""What is said of PyTorch's nodes and errors: in the learner's words, or the kit's."""

import re
from typing import Any

import pytest

import autodiff_kit as ak
from autodiff_kit.record import Recording
from autodiff_kit.view import build
from autodiff_kit.view.names import Names
from autodiff_kit.view.text import facts
from tests.record.cells import cell
from tests.record.libraries import LIBRARIES, V, recorded, torch

pytestmark = pytest.mark.parity


def saved_at(rec: Recording, node: dict[str, Any]) -> set[str]:
    """Return what the inspector calls the things that a node saves."""
    data = rec.to_dict()
    lines = dict(facts(data, [node["id"]], Names(data)))["saved"].split("\n")
    return {re.split(r" = | \((?=\d+ byte)| \[|(?<=result) ", line)[0] for line in lines}


@LIBRARIES
@pytest.mark.parametrize(
    ("call", "things"),
    [
        ("F.nll_loss(torch.log_softmax(x, 0), t)", {"log_softmax(x, 0)", "t"}),
        ("F.cross_entropy(x, t, weight=w)", {"log_softmax(x)", "t", "w"}),
        ("F.cross_entropy(input=x, target=t)", {"log_softmax(x)", "t"}),
        ("2 ** x", {"x", "its result"}),
    ],
)
def test_what_is_saved_has_the_learners_names(call: str, things: set[str], library: Any) -> None:
    start = "F = torch.nn.functional\nt = torch.tensor(1)\nw = torch.tensor([1., 3.])\n"
    rec = recorded(V + start + f"out = {call}", library)

    whole = "the sum of the weights of the classes"  # PyTorch's node keeps it
    assert saved_at(rec, rec.nodes[-1]) - {whole} == things


SAVED_RESULTS = {
    "torch.linalg.svd(x @ x.T)[1].sum()": {
        *("torch.linalg.svd(x @ x.T)[0]", "torch.linalg.svd(x @ x.T)[1]"),
        "a further result",  # which the code does not use
    },
    "torch.linalg.qr(x).R.sum()": {"torch.linalg.qr(x)[0]", "torch.linalg.qr(x)[1]"},
    "torch.linalg.inv(x).sum()": {"its result"},
    "torch.nn.functional.logsigmoid(x).sum()": {"x", "a further result"},
}


@pytest.mark.parametrize("call", SAVED_RESULTS)
def test_a_result_that_is_saved_is_called_so(call: str) -> None:
    rec = recorded(f"x = torch.tensor([[1., 2.], [3., 5.]], requires_grad=True)\nout = {call}")

    saved = set().union(*(saved_at(rec, node) for node in rec.nodes if node["saved"]))
    assert SAVED_RESULTS[call] <= saved
    assert all(
        re.match(r"x|its result|torch|a further|the (number|indices)", what) for what in saved
    )


@pytest.mark.parametrize(
    ("change", "saved"),
    [
        ("y.mul_(2)", "the number 2 (the rule for x1 reads it)"),
        (
            "y *= w",
            "w = [1.0, 1.0] (the rule for x1 reads it) and the view as it was (the rule for w",
        ),
        ("y.exp_()", "its own result (the rule for x1 reads it)"),
        ("y.sin_()", "the view as it was (the rule for x1 reads it)"),
        ("y.add_(2)", ""),
    ],
)
def test_a_write_into_a_view_saves_what_its_rule_reads(change: str, saved: str) -> None:
    start = "w = torch.ones(2, requires_grad=True)\nx = torch.ones(3, requires_grad=True) * 1\n"
    rec = recorded(start + f"y = x[1:]\n{change}\nx.sum().backward()")

    texts = [f["caption"] for f in build(rec).frames]
    (caption,) = (c for c in texts if c.startswith("x2, changed by"))
    assert (f"saves {saved}" in caption) if saved else "saves nothing" in caption
    assert any(
        c.endswith("Write into a view no longer keeps " + saved.split(" (")[0] + ".") for c in texts
    ) == (saved.count("rule") == 1)


ERRORS = {
    "torch.ones(2, 3) @ torch.ones(2, 3)": "The columns of the left matrix must be as many",
    "torch.ones(3) + torch.ones(4)": "Compared from the right, sizes must be equal or 1.",
    "torch.cat([torch.ones(2, 3), torch.ones(3)])": "cat joins along an existing dimension",
    "torch.ones(2, 2) @ torch.ones(2, 2).double()": "A product does not convert its operands",
    "if torch.ones(2): pass": "`if` needs one answer",
}


@LIBRARIES
@pytest.mark.parametrize("line", ERRORS)
def test_an_error_has_the_same_advice_from_both(line: str, library: Any) -> None:
    rec = recorded(f"x = torch.ones(1, requires_grad=True)\n{line}", library)

    assert ERRORS[line] in build(rec).frames[-1]["explanation"]["fix"]


@pytest.mark.parametrize("line", ["torch.ones(2)[5]", "torch.embedding(torch.ones(2, 2), x)"])
def test_words_of_several_errors_get_no_advice_of_one(line: str) -> None:
    start = "x = torch.tensor([7])\n"
    try:
        with ak.record(torch) as rec:
            cell(start + line, {"torch": torch})
    except IndexError:
        pass

    assert build(rec).frames[-1]["explanation"]["fix"] == ""


TWO_RESULTS = """
class Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2, x * 3
    @staticmethod
    def backward(ctx, g, h):
        return g * 2 + h * 3
a, b = Both.apply(x)
(a * b).sum().backward()
"""


@LIBRARIES
def test_the_backward_of_a_function_is_told_as_the_learners(library: Any) -> None:
    captions = [f["caption"] for f in build(recorded(V + TWO_RESULTS, library)).frames]

    assert any(caption.startswith("Your backward of Both for x gives") for caption in captions)


COPIES = """
import copy
model = copy.deepcopy(torch.nn.Linear(2, 1))
spare = copy.deepcopy(model)
out = model(x)
"""


@LIBRARIES
def test_a_copy_of_a_module_is_told_by_its_parameters_and_when_it_is_used(library: Any) -> None:
    rec = recorded(V + COPIES, library)

    assert {n["name"] for n in rec.nodes if n["kind"] == "leaf"} == {
        "x",
        "model.weight",
        "model.bias",
    }
    assert "clone" not in [node["op"] for node in rec.nodes]


VIEWS = {
    "y[1:] *= 2": {"y3, at the end of y[1:] *= 2"},
    "row = y[1:]\npart = row[1:]\ny.mul_(3)\nz = part.sum()": {"part2 = y2[1:][1:]"},
    "row = y[0:][1:]\npart = row[1:]\ny.mul_(3)\nz = part.sum()": {"part2 = y2[0:][1:][1:]"},
    "row = y[1:]\ny.mul_(3)\nz = row.sum()": {"row2 = y2[1:]"},
}


@LIBRARIES
@pytest.mark.parametrize("source", VIEWS)
def test_a_view_of_a_changed_base_is_a_part_of_what_the_base_is_now(
    source: str, library: Any
) -> None:
    data = recorded(f"{V}y = x * 2\n{source}", library).to_dict()
    names = Names(data)

    titles = {names.title(node["id"]) for node in data["nodes"]}
    assert VIEWS[source] <= titles


VIEWED = """
x = torch.tensor([1., 2.], requires_grad=True)
y = x.view(2, 1)
with torch.no_grad():
    {change}
(x * x).sum().backward()
"""


@pytest.mark.parametrize("change", ["y.mul_(7)", "y[:] = x.view(2, 1) * 7"])
@LIBRARIES
def test_a_change_through_a_view_is_told_of_what_it_looks_into(library: Any, change: str) -> None:
    text = recorded(VIEWED.format(change=change), library).to_text()

    assert "changes x in place: [1.0, 2.0] becomes [7.0, 14.0]" in text
    assert "gives [1.0, 1.0] × [7.0, 14.0] = [7.0, 14.0]" in text


@LIBRARIES
def test_data_is_told_with_the_optimizers_step_on_the_leaf_whose_it_is(library: Any) -> None:
    start = "w = torch.tensor([1.], requires_grad=True)\nd = w.detach()\n(w * 2).sum().backward()\n"
    text = recorded(start + "torch.optim.SGD([w], lr=.25).step()", library).to_text()

    assert "changes d in place: [1.0] becomes [0.5]" in text  # 1 - 0.25 * 2


@LIBRARIES
def test_a_result_that_is_cut_off_in_place_is_told_so(library: Any) -> None:
    text = recorded(V + "y = x * x\ny.detach_()\nz = y * x\n", library).to_text()

    assert "y2 = y1.detach_(): detach makes [1.0, 4.0]. This cuts y1 off from what made it" in text
    assert "data" not in text


@LIBRARIES
def test_a_whole_tensor_that_is_assigned_is_told_with_what_it_is_given(library: Any) -> None:
    text = recorded(V + "y = x * 1\ny[:] = y * 2\ny[...] = 0.\n", library).to_text()

    assert "y2: y1[:] = y1 * 2: " in text
    assert "y3: y2[...] = 0.: " in text
    assert "data" not in text
