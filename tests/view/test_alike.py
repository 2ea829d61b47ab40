"""What steps and boxes say of a run, word for word the same with the kit and with PyTorch."""

from __future__ import annotations

import pytest

import autodiff_kit as ak
from tests.invariants.conftest import LIBRARIES
from tests.invariants.running import Run, run
from tests.parity import require_torch

W = "w = torch.tensor([1.0, 2.0], requires_grad=True)\n"
SGD = "optimizer = torch.optim.SGD([w], lr=0.1)\n"


def recorded(source: str, library: str) -> Run:
    program = run("", ak if library == "kit" else require_torch(), source)
    assert program.recording.note is None
    return program


def captions(source: str, library: str) -> list[str]:
    return [frame["caption"] for frame in recorded(source, library).picture.frames]


def shown(program: Run, name: str) -> str | None:
    """Return which gradient the box of a leaf shows at the end."""
    number = next(node["id"] for node in program.nodes if node["name"] == name)
    fields = program.picture.state(-1)["nodes"][program.picture.outline.box_of[number].id]
    return fields.get("grad") or fields.get("g")


CLEARED = "is cleared: the next backward pass begins with no gradient there."


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    "change", ["optimizer.zero_grad()", "w.grad = None", "del w.grad", "setattr(w, 'grad', None)"]
)
def test_a_gradient_that_was_cleared_is_shown_no_more(change: str, library: str) -> None:
    source = f"{W}{SGD}(w * 3).sum().backward()\n"

    before, after = recorded(source, library), recorded(source + change, library)

    assert shown(before, "w") == "[3., 3.]"
    assert shown(after, "w") is None
    assert after.picture.frames[-1]["caption"] == f"w.grad {CLEARED}"


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("change", "value"),
    [
        ("w.grad.zero_()", "[0., 0.]"),
        ("optimizer.zero_grad(set_to_none=False)", "[0., 0.]"),
        ("w.grad *= 2", "[6., 6.]"),
        ("w.grad.data[0] = 5.0", "[5., 3.]"),
        ("w.grad = torch.tensor([7.0, 8.0])", "[7., 8.]"),
    ],
)
def test_a_gradient_that_was_changed_is_shown_as_it_is(
    change: str, value: str, library: str
) -> None:
    program = recorded(f"{W}{SGD}(w * 3).sum().backward()\n{change}\n", library)

    assert shown(program, "w") == value


@pytest.mark.parametrize("library", LIBRARIES)
def test_gradients_that_one_statement_clears_are_one_step(library: str) -> None:
    parameters = "a, b, c, d = (torch.ones(1, requires_grad=True) for _ in range(4))\n"
    source = parameters + "optimizer = torch.optim.SGD([{names}], lr=0.1)\n"
    source += "(a + b + c + d).sum().backward()\noptimizer.zero_grad()\n"

    two = captions(source.format(names="a, b"), library)
    four = captions(source.format(names="a, b, c, d"), library)

    assert two[-1].startswith("a.grad and b.grad are cleared: ")
    assert four[-1].startswith("4 gradients are cleared: ")
    assert sum("cleared" in caption for caption in four) == 1


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("change", "caption"),
    [
        ("w.detach().mul_(2)", "mul_ changes w in place: [1., 2.] becomes [2., 4.]"),
        ("w.data -= 1", "sub_ changes w in place: [1., 2.] becomes [0., 1.]"),
        ("w.data[0] = 9.0", "__setitem__ changes w in place: [1., 2.] becomes [9., 2.]"),
        (
            "w.data = w.data * 3",
            "assignment to .data changes w in place: [1., 2.] becomes [3., 6.]",
        ),
        ("d = w.detach()\nd[1:] += 5", "add_ changes w in place: [1., 2.] becomes [1., 7.]"),
    ],
)
def test_a_write_into_the_memory_of_a_leaf_is_told_of_the_leaf(
    change: str, caption: str, library: str
) -> None:
    told = captions(W + change, library)

    assert [line for line in told if " changes w in place" in line] == [f"{caption}."]


NET = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor(2.0))
    def forward(self, x):
        return x * self.w
net = Net()
x = torch.tensor(3.0)
for step in range(2):
    loss = net(x) ** 2
    loss.backward()
"""


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_round_begins_with_what_the_first_call_of_it_does(library: str) -> None:
    first, second = (c for c in captions(NET, library) if c.startswith("Iteration "))

    assert first.startswith("Iteration 1. x * self.w: multiply makes 6.")
    assert second.startswith("Iteration 2. x * self.w: multiply makes 6.")


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_list_of_positions_is_no_leaf(library: str) -> None:
    program = recorded(f"{W}out = w[[1, 0]]\n", library)

    assert [node["name"] for node in program.nodes] == ["w", "out"]
    assert program.picture.texts[1]["symbol"] == "[[1, 0]]"


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_item_of_a_view_is_set_in_its_base(library: str) -> None:
    source = f"{W}y = w * 1\npart = y[:1]\npart[0] = 5.0\n(y * 3).sum().backward()\n"

    told = captions(source, library)

    assert not any("before the recording" in caption for caption in told)
    assert told[-1] == "Backward is done: w.grad is [0., 3.]."


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("a, b = b, a\nd = a - c\n", "d = b - c"),  # 3 - 6, and not 2 - 6
        ("def sub(b, a): return b - a\nd = sub(a, b)\n", "d = a - b"),
        ("a, b = b, a\nd = a * 2\n", "d = b * 2"),
        ("a, b = b, a\nd = (a - c) * 2\n", "d = (b - c) * 2"),
        ("k = a\nd = k - c\n", "d = k - c"),  # no other tensor is called so
        ("a = a * 2\nd = a - c\n", "d = a2 - c"),  # a1 is the leaf
    ],
)
def test_a_name_in_a_title_is_that_of_the_node_it_stands_for(
    source: str, title: str, library: str
) -> None:
    leaves = "".join(
        f"{name} = torch.tensor({value}, requires_grad=True)\n"
        for name, value in [("a", 2.0), ("b", 3.0)]
    )

    steps = captions(f"{leaves}c = a * b\n{source}", library)

    assert steps[-1].startswith(f"{title}: ")


@pytest.mark.parametrize("library", LIBRARIES)
def test_zero_keeps_its_sign(library: str) -> None:
    source = "b = torch.tensor([3.0], requires_grad=True)\ny = -b * 0.0\ny.backward()\n"

    assert captions(source, library)[-1] == "Backward is done: b.grad is [-0.]."


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_no_line_made_has_no_name_of_the_kits(library: str) -> None:
    source = "b = w.clone(); v = b[1:]; v.mul_(10)\n"  # which line made it cannot be told

    program = recorded(W + source, library)

    words = " ".join(str(text) for text in program.picture.texts) + " ".join(
        captions(W + source, library)
    )
    for internal in ("copy_slices", "positions]", "((", " with "):
        assert internal not in words
