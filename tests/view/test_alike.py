"""What steps and boxes say of a run, word for word the same with the kit and with PyTorch."""

from __future__ import annotations

import re

import pytest

from autodiff_kit.view import build
from autodiff_kit.view.names import Names
from tests.invariants.conftest import LIBRARIES
from tests.invariants.running import Run
from tests.view.captions import captions, recorded

W = "w = torch.tensor([1.0, 2.0], requires_grad=True)\n"
SGD = "optimizer = torch.optim.SGD([w], lr=0.1)\n"


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
        ("w.detach().mul_(2)", "mul_ changes w in place: [1.0, 2.0] becomes [2.0, 4.0]"),
        ("w.data -= 1", "-= changes w in place: [1.0, 2.0] becomes [0.0, 1.0]"),
        ("w.data[0] = 9.0", "w.data[0] = 9. changes w in place: [1.0, 2.0] becomes [9.0, 2.0]"),
        (
            "w.data = w.data * 3",
            "assignment to .data changes w in place: [1.0, 2.0] becomes [3.0, 6.0]",
        ),
        (
            "d = w.detach()\nd[1:] += 5",
            "+= changes w and d1 in place: [1.0, 2.0] becomes [1.0, 7.0]",
        ),
    ],
)
def test_a_write_into_the_memory_of_a_leaf_is_told_of_the_leaf(
    change: str, caption: str, library: str
) -> None:
    texts = captions(W + change, library)

    assert [line for line in texts if " changes w " in line] == [f"{caption}."]


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
    frames = build(recorded(NET, library).recording, fold=False).frames
    first, second = (f["caption"] for f in frames if f["caption"].startswith("Iteration "))

    assert first.startswith("Iteration 1. x * self.w: multiply makes 6.")
    assert second.startswith("Iteration 2. x * self.w: multiply makes 6.")


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_list_of_positions_is_no_leaf(library: str) -> None:
    program = recorded(f"{W}out = w[[1, 0]]\n", library)

    assert [node["name"] for node in program.nodes] == ["w", "out"]
    assert program.picture.texts[1]["symbol"] == "w[[1, 0]]"


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_item_of_a_view_is_set_in_its_base(library: str) -> None:
    source = f"{W}y = w * 1\npart = y[:1]\npart[0] = 5.0\n(y * 3).sum().backward()\n"

    texts = captions(source, library)

    assert not any("before the recording" in caption for caption in texts)
    assert texts[-1] == "Backward is done: w.grad is [0.0, 3.0]."


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("a, b = b, a\nd = a - c\n", "d = b - c"),  # 3 - 6, and not 2 - 6
        ("def sub(b, a): return b - a\nd = sub(a, b)\n", "d = a - b"),
        ("a, b = b, a\nd = a * 2\n", "d = b * 2"),
        ("a, b = b, a\nd = (a - c) * 2\n", "d = (b - c) * 2"),
        ("k = a\nd = k - c\n", "d = a - c"),  # one tensor has one name
        ("def f(b, a): return a.exp() / b.exp()\nd = f(a, b)\n", "d = b.exp() / a.exp()"),
        ("def f(c): return (c + 1) * c\nd = f(a) - f(b)\n", "d = f(a) - f(b)"),
        ("def f(t): return t.sin()\nd = f(a * 3)\n", "d = (a * 3).sin()"),
        ("def f(t): return torch.sin(t)\nd = f(a * 3)\n", "d = torch.sin(a * 3)"),
        ("d = (lambda g, t: g(g(t)))(lambda t: t * 2, b)\n", "d = (b * 2) * 2"),
        ("a = a * 2\nd = a - c\n", "d = a2 - c"),  # a1 is the leaf
        ("k = a\nd = k * a\n", "d = a * a"),
        ("k = a\na = a * 2\nd = (k - a).abs()\n", "d = (a1 - a2).abs()"),
        ("k = 1.0\nt = a\nd = k * 3 + t\n", "d = k * 3 + a"),
        ("d = torch.stack((a * 1, b)).sum()\n", "d = torch.stack((a * 1, b)).sum()"),
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

    assert captions(source, library)[-1] == "Backward is done: b.grad is [-0.0]."


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_no_line_made_has_no_name_of_the_kits(library: str) -> None:
    source = "b = w.clone(); v = b[1:]; v.mul_(10)\n"  # which line made it cannot be told

    program = recorded(W + source, library)

    words = " ".join(str(text) for text in program.picture.texts) + " ".join(
        captions(W + source, library)
    )
    for internal in ("copy_slices", "positions]", "((", " with "):
        assert internal not in words


POWER = "x = torch.tensor(2.0, requires_grad=True)\n"


def forward_steps(source: str, library: str) -> list[str]:
    """Return how each step begins: what it says of the call, and the title."""
    return [caption.split(": ")[0] for caption in captions(source, library)]


@pytest.mark.parametrize("library", LIBRARIES)
def test_in_a_recursion_a_parameter_is_numbered_like_a_variable_of_a_loop(library: str) -> None:
    source = f"{POWER}def f(x, n): return x if n == 0 else f(x.sin(), n - 1)\ny = f(x, 3)\n"

    assert forward_steps(source, library)[1:] == [
        "Call 1 of f. x2 = x1.sin()",
        "Call 2 of f. x3 = x2.sin()",
        "Call 3 of f. y = x3.sin()",
    ]


@pytest.mark.parametrize("library", LIBRARIES)
def test_calls_have_numbers_where_a_function_is_called_more_than_once(library: str) -> None:
    source = (
        f"{POWER}def f(t):\n    a = t * t\n    return a + 1\n"
        "def once(t): return t.exp()\n"
        "for i in range(2):\n    y = once(f(x)) - f(x * 3)\n"
    )

    assert forward_steps(source, library)[1:7] == [
        "Iteration 1. Call 1 of f. a1 = x * x",
        "a1 + 1",
        "(a1 + 1).exp()",
        "x * 3",
        "Call 2 of f. a2 = (x * 3) * (x * 3)",
        "a2 + 1",
    ]
    assert forward_steps(source, library)[8].startswith("Iteration 2. Call 3 of f. a3 = x * x")


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_pass_that_is_refused_at_once_is_not_told_and_one_that_breaks_off_is(
    library: str,
) -> None:
    refused = f"{POWER}y = x * x\ny.backward()\ntry: y.backward()\nexcept RuntimeError: z = x * 3\n"
    broken = (
        f"{POWER}y = x.exp()\nz = y * 1\ny.mul_(2)\ntry: (z * y).backward()\n"
        "except RuntimeError: z = x * 3\n"
    )

    texts = captions(refused, library)
    assert sum(caption.startswith("Backward starts at y") for caption in texts) == 1
    assert not any("error" in caption for caption in texts)
    assert any(
        caption == "An error ends the backward pass here. It was caught: the code goes on."
        for caption in captions(broken, library)
    )


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_create_graph_saves_of_the_seed_is_called_the_gradient_of_the_root(
    library: str,
) -> None:
    source = (
        f"{POWER}y = x ** 3\n(g,) = torch.autograd.grad(y, x, create_graph=True)\ng.backward()\n"
    )

    texts = captions(source, library)

    assert sum("saves the root's gradient, 1.0 (" in caption for caption in texts) == 1
    assert sum("Multiply no longer keeps the root's gradient." in c for c in texts) == 1
    assert not any("number 1." in caption for caption in texts)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("x = torch.ones(2)\ny = x * 2\nx.requires_grad_()\nx * y\n",
         "no input required a gradient at that time"),
        ("x = torch.ones(2, requires_grad=True)\nwith torch.no_grad(): y = x * 2\n",
         "no_grad switches gradients off"),
        ("x = torch.ones(2, requires_grad=True)\nwith torch.inference_mode(): y = x * 2\n",
         "inference_mode switches gradients off"),
    ],
)  # fmt: skip
def test_why_nothing_is_recorded_is_what_was_so_then(source: str, why: str, library: str) -> None:
    (text,) = [c for c in captions(source, library) if c.startswith("y = x * 2")]

    assert text.endswith(f"Nothing is recorded here: {why}.")


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_leaf_that_a_loop_gives_has_the_name_of_the_list(library: str) -> None:
    source = (
        "xs = [torch.tensor(float(i), requires_grad=True) for i in range(2)]\n"
        "y = 0.0\nfor x, k in list(zip(xs, (3.0, 4.0))): y = y * k + x\n"
    )

    assert forward_steps(source, library)[2:4] == [
        "Iteration 1. y1 = y * k + xs[0]",
        "Iteration 2. y1 * k",
    ]


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_a_call_that_the_learner_did_not_write_stacks_is_told(library: str) -> None:
    package = "autodiff_kit" if library == "kit" else "torch"
    source = (
        f"from {package}.utils.data import DataLoader, TensorDataset\n"
        "X = torch.tensor([1.0, 2.0])\n"
        "for (b,) in DataLoader(TensorDataset(X), batch_size=2): b * 2\n"
    )

    assert "b = stack([X[0], X[1]])" in " ".join(forward_steps(source, library))


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_chain_of_comparisons_is_told_part_by_part(library: str) -> None:
    texts = captions(f"{POWER}if 0 < x < 1: y = x * 3\n", library)

    assert [caption.split(": compare")[0] for caption in texts[1::2]] == ["x > 0", "x < 1"]
    assert texts[2] == "if tests x > 0: it is True."  # which does not say that the body runs
    assert texts[4] == "if tests x < 1: it is False, so the body is skipped."


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_leaf_has_its_gradient_before_the_hooks_that_wait_for_that(library: str) -> None:
    source = (
        f"{POWER}def look(p): p.grad.clone()\n"
        "x.register_post_accumulate_grad_hook(look)\n(x * x).backward()\n"
    )

    texts = captions(source, library)

    after = texts.index("x.grad: nothing before, now 4.0.")
    (hook,) = [i for i, caption in enumerate(texts) if caption.startswith("p.grad.clone(): clone")]
    assert after < hook


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_is_set_by_a_mask_keeps_its_name(library: str) -> None:
    source = "x = torch.ones(2, requires_grad=True)\ny = x * 2\ny[y > 5] = 0.0\nz = y.sum()\n"

    texts = captions(source, library)

    assert texts[3].startswith("y2: y1[y1 > 5] = 0.: assign")
    assert texts[4].startswith("z = y2.sum(): ")


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_node_has_one_name_wherever_it_is_told(library: str) -> None:
    long = "x * 2 + x * 3 + x * 4 + x * 5 + x * 6"
    source = f"{POWER}y = torch.exp(torch.tanh(x).reshape(1)) * ({long})\ny.backward()\n"

    program = recorded(source, library)

    recording = program.recording.to_dict()
    names = [Names(recording).name(node["id"]) for node in program.nodes]
    caption = " ".join(frame["caption"] for frame in program.picture.frames)
    shortened = re.findall(r"\S*…\S*", caption)
    assert shortened
    for word in shortened:
        assert any(word.strip(":,.") in name for name in names), word
    assert "torch.tanh" not in caption.replace("y = torch.exp(torch.tanh", "")
    for text in program.picture.texts:
        assert not text["name"] or text["name"] in names


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_item_changed_in_place_is_told_of_what_it_was(library: str) -> None:
    source = (
        "x = torch.ones(3, requires_grad=True)\ny = x * 2\ny[1:] += x[1:]\n"
        "(y * y).sum().backward()\n"
    )

    program = recorded(source, library)

    texts = [frame["caption"] for frame in program.picture.frames]
    assert any(caption.startswith("y2, changed by y1[1:] += x[1:]: ") for caption in texts)
    assert not any("hook" in caption or "before the recording" in caption for caption in texts)
    assert (
        texts[-1] == "Backward is done: x.grad is [8.0, 18.0, 18.0]."
    )  # 2 * 2 * 2; 2 * 3 * (2 + 1)
