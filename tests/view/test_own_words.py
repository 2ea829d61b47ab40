"""Names in captions are the learner's, else expressions; no step tells what is not so."""

from __future__ import annotations

import re

import pytest

from autodiff_kit.view import build
from autodiff_kit.view.shortening import in_short
from autodiff_kit.view.story import story
from tests.invariants.conftest import LIBRARIES
from tests.view.captions import captions, recorded

BOTH = pytest.mark.parametrize("library", LIBRARIES)
F = "def f(x):\n    return (x * x).sum()\n"
X = "x = torch.tensor([1.0, 2.0])\n"


@BOTH
def test_what_a_loss_makes_on_its_way_has_the_name_of_its_function(library: str) -> None:
    source = """\
x = torch.tensor([[1.0, 2.0]], requires_grad=True)
loss = torch.nn.functional.cross_entropy(x * 2, torch.tensor([0]))
loss.backward()
"""
    steps = captions(source, library)

    assert any(step.startswith("log_softmax(x * 2): log softmax makes") for step in steps)
    assert not any("exp(x" in step for step in steps)


@BOTH
def test_a_tensor_that_is_transposed_twice_is_called_as_it_was(library: str) -> None:
    source = """\
Q, K = (torch.ones(4, 5, requires_grad=True) for _ in range(2))
loss = (Q @ K.T).sum()
loss.backward()
"""
    steps = captions(source, library)

    assert any(step.endswith("@ K, a (4, 5) tensor.") for step in steps)
    assert not any(".T.T" in step for step in steps)


# -- torch.func ------------------------------------------------------------------------------------


def test_a_gradient_of_torch_func_is_of_the_result_of_the_function() -> None:
    steps = captions(F + X + "y = torch.func.grad(f)(x)", "kit")

    # Only what f does, and the rules of that: nothing is differentiated again.
    assert [step.partition(":")[0] for step in steps if " makes " in step] == [
        "x2 * x2",
        "(x2 * x2).sum()",
    ]
    assert steps[1].startswith("x2 = [1.0, 2.0] is a leaf: x1, without a history")
    assert steps[4] == "Backward starts at (x2 * x2).sum() with gradient 1.0."
    assert steps[-1] == "Backward is done: the gradient of x2 is y = [2.0, 4.0]."


def test_what_vmap_takes_from_its_argument_is_called_by_its_index() -> None:
    source = "w = torch.tensor([[1.0, 2.0], [3.0, 4.0]])\nz = torch.func.vmap(f)(w)"
    steps = captions(F + source, "kit")

    assert steps[1].startswith("Inside torch.func.vmap(f), w[0]: pick makes [1.0, 2.0].")
    assert steps[2].startswith("Call 1 of f. w[0] * w[0]: multiply makes [1.0, 4.0].")
    assert steps[-1].startswith("z = torch.func.vmap(f)(w): stack makes [5.0, 25.0].")


@pytest.mark.parametrize(
    "call", ["torch.func.jacrev(f)(x)", "torch.autograd.functional.jacobian(f, x)"]
)
def test_rows_of_a_jacobian_are_not_called_by_its_name(call: str) -> None:
    steps = captions("def f(x):\n    return x * x\n" + X + f"J = {call}", "kit")

    assert [step for step in steps if re.search(r"\bJ\d?\b", step)] == [steps[-1]]
    assert steps[-1].startswith(f"J = {call}: reshape makes [[2.0, 0.0], [0.0, 4.0]].")
    assert "Backward is done: the gradient of x2 is [2.0, 0.0]." in steps


def test_a_leaf_whose_gradient_was_returned_has_lost_none() -> None:
    program = recorded(X + "x.requires_grad_()\ng, = torch.autograd.grad(x.sum(), x)", "kit")

    assert story(program.recording) is None


@BOTH
@pytest.mark.parametrize("scope", [2, 3])
def test_a_pass_that_records_may_go_on_after_the_last_op_of_its_fold(
    scope: int, library: str
) -> None:
    source = "def f(x):\n    return (x ** 3).sum()\n" + X + "x.requires_grad_()\n"
    source += "v = x.view(2)\ng, = torch.autograd.grad(f(v), v, create_graph=True)\n"
    source += "h, = torch.autograd.grad((g * g).sum(), x, create_graph=True)\nh.sum().backward()"
    program = recorded(source, library)

    folded = build(program.recording, fold=[scope])

    # d/dx of 36 x^3, the derivative of the square of 3 x^2
    assert folded.frames[-1]["caption"] == "Backward is done: x.grad is [108.0, 432.0]."


def test_a_shortened_name_closes_no_parenthesis_that_it_has_not_opened() -> None:
    text = "(x ** 2 + 1).view(…).unbind(…)[0]"

    assert in_short(text, 32) == "(x ** 2 + 1)….unbind(…)[0]"
    assert in_short("tanh(" * 12 + "x" + ")" * 12, 32).count(")") <= 5


@pytest.mark.parametrize(
    "text",
    ["exp((a + b) * c).sum(dim=1) + 3 * x", "v * (t + 4) - 4.9 * t ** 2 + v0", "f(g(h(k(a + b))))"],
)
@pytest.mark.parametrize("limit", [12, 16, 20, 24, 28])
def test_parentheses_of_a_shortened_name_go_in_pairs(text: str, limit: int) -> None:
    short = in_short(text, limit)

    assert short.count("(") == short.count(")")


def test_a_method_after_a_parenthesis_that_was_cut_out_stands_behind_a_dot() -> None:
    text = "(a.permute((0, 1)).sum((0,)).permute((1, 0))).view((1, 1, 2))"

    assert in_short(text, 34) == "(a.permute((0, 1)…)).view((1, 1, 2))"


# -- numbers in names ------------------------------------------------------------------------------

X2 = "x1 = torch.tensor(1.0, requires_grad=True)\n"


@BOTH
def test_the_number_of_a_name_that_ends_in_a_digit_stands_apart(library: str) -> None:
    source = X2 + "x2 = x1 * 2\nx2 = x2 * x1\nx2.backward()"
    steps = captions(source, library)

    assert steps[1].startswith("x2_1 = x1 * 2: multiply makes 2.0")
    assert "x2_1 is the first of 2 results the code calls x2." in steps[1]
    assert steps[2].startswith("x2_2 = x2_1 * x1: multiply makes 2.0")
    assert steps[3] == "Backward starts at x2_2 with gradient 1.0."  # no need to say: x2 is x2_2


@BOTH
def test_a_numbered_name_is_none_of_the_learners(library: str) -> None:
    source = X2 + "x2_1 = x1 * 5\nx2 = x1 * 2\nx2 = x2 * x2_1\nx2.backward()"
    steps = captions(source, library)

    assert steps[1].startswith("x2_1 = x1 * 5")
    assert steps[2].startswith("x2_2 = x1 * 2")
    assert steps[3].startswith("x2_3 = x2_2 * x2_1")


# -- changes in place ------------------------------------------------------------------------------

Y = "x = torch.ones(3, requires_grad=True)\ny = x * 2\n"


@BOTH
@pytest.mark.parametrize(
    ("change", "caption"),
    [
        ("y[1] = 5.0", "y[1] = 5. changes y in place: [2.0, 2.0, 2.0] becomes [2.0, 5.0, 2.0]."),
        ("y.mul_(2)", "mul_ changes y in place: [2.0, 2.0, 2.0] becomes [4.0, 4.0, 4.0]."),
    ],
)
def test_a_result_that_is_changed_under_no_grad_is_one_with_its_views(
    change: str, caption: str, library: str
) -> None:
    source = Y + f"v = y[0]\nwith torch.no_grad():\n    {change}\nz = v * 2\nz.backward()"
    steps = captions(source, library)

    assert steps[1].startswith("y = x * 2: multiply makes [2.0, 2.0, 2.0] and saves")
    assert caption in steps
    assert any(step.startswith("v2 = y[0]: view again makes ") for step in steps)
    assert not any("__" in step for step in steps)
    # d/dx of 2 * (2 x)[0]: what was written over under no_grad has no part in it
    assert steps[-1] == "Backward is done: x.grad is [4.0, 0.0, 0.0]."


@BOTH
def test_a_change_under_no_grad_is_told_of_the_views_by_the_statement(library: str) -> None:
    source = Y + "v = y[1]\nwith torch.no_grad():\n    y[1] = 5.0\nz = v * 2"

    assert "y[1] = 5. changes v1 in place: 2.0 becomes 5.0." in captions(source, library)


@BOTH
def test_an_item_that_is_changed_by_an_operator_is_told_as_it_is_written(library: str) -> None:
    steps = captions("x = torch.ones(2, 2, requires_grad=True)\nb = x * 2\nb[1] *= b[0]", library)

    assert any(step.startswith("b2, changed by b1[1] *= b1[0]: ") for step in steps)
    assert any(step.startswith("b3, at the end of b[1] *= b[0]: assign makes ") for step in steps)
    seen_again = [step for step in steps if ": view again makes " in step]
    assert seen_again
    assert not any("written" in step for step in seen_again)


@BOTH
@pytest.mark.parametrize("statement", ["w.t()[1] -= 0.5", "v = w.t(); v[1] -= 0.5"])
def test_an_item_of_a_view_may_be_changed_under_no_grad(statement: str, library: str) -> None:
    source = "w = torch.ones(2, 3, requires_grad=True)\nwith torch.no_grad():\n"
    steps = captions(f"{source}    {statement}\n(w * 2).sum().backward()", library)

    changed = "-= changes w in place: [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]] becomes [[1.0, 0.5, 1.0], "
    assert f"{changed}[1.0, 0.5, 1.0]]." in steps
    assert steps[-1] == "Backward is done: w.grad is [[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]."


@BOTH
@pytest.mark.parametrize(
    ("change", "op"), [("y.t().exp_()", "exp"), ("y.sqrt_()", "sqrt"), ("y.t().tanh_()", "tanh")]
)
def test_the_op_that_saved_its_result_in_a_view_is_the_one_an_error_tells_of(
    change: str, op: str, library: str
) -> None:
    source = "x = torch.ones(4, requires_grad=True) * 1\ny = x[1:]\ny.mul_(2)\n"
    source += f"{change}\nx[0] = 7.0\nx.sum().backward()"
    program = recorded(source, library)

    explanation = story(program.recording)

    title = f"A value that backward needs was changed after {op} had saved it"
    assert explanation is not None
    assert explanation.title == title
    assert program.picture.frames[-1]["caption"].endswith(f"{title}.")
    # PyTorch's message: "is at version 3; expected version 2 instead"
    assert [chapter.words.rpartition(": ")[2] for chapter in explanation.chapters[:2]] == [
        "version 2.",
        "version 3.",
    ]
    assert "`x[0] = 7.0` writes into the same storage" in explanation.chapters[1].words
    assert explanation.fix.endswith("`x = x.clone()` on the line before `x[0] = 7.0`")


@BOTH
def test_the_end_of_an_operator_on_an_item_of_a_leaf_changes_nothing_again(library: str) -> None:
    source = "w = torch.ones(2, requires_grad=True)\nwith torch.no_grad():\n    w[0] -= 0.5"
    steps = captions(source, library)

    assert [step for step in steps if "changes w in place" in step] == [
        "-= changes w in place: [1.0, 1.0] becomes [0.5, 1.0]."
    ]
    assert steps[-1].startswith("End of w[0] -= 0.5: assign makes [0.5, 1.0].")
    assert steps[1].startswith("w[0]: pick makes 1.0.")


# -- several results -------------------------------------------------------------------------------

TWO = """class Two(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, g, h):
        return 2 * g + 3 * h


x = torch.tensor(1.0, requires_grad=True)
"""


@BOTH
@pytest.mark.parametrize(
    ("source", "results"),
    [
        ("p, q = Two.apply(x)\ny = q * 2", "p, q"),
        ("p, q = Two.apply(x)\ny = p * 2", "p, q"),
        ("_, q = Two.apply(x)\ny = q * 2", "Two.apply(x)[0], q"),
        ("both = Two.apply(x)\ny = both[1] * 2", "both[0], both[1]"),
    ],
)
def test_all_results_of_a_function_are_told_whichever_are_used(
    source: str, results: str, library: str
) -> None:
    steps = captions(TWO + source, library)

    assert steps[1].startswith(f"{results} = Two.apply(x): Two makes 2.0 and 3.0, 2 outputs")


@BOTH
def test_calls_of_one_function_keep_their_places(library: str) -> None:
    source = "p, q = Two.apply(x)\na = p * 1\nr, s = Two.apply(a)\nb = q * s\nb.backward()"
    steps = captions(TWO + source, library)

    assert steps[1].startswith("p, q = Two.apply(x)")
    assert steps[3].startswith("r, s = Two.apply(a)")
    # b = 3 x * 3 * 2 x = 18 x ** 2
    assert steps[-1] == "Backward is done: x.grad is 36.0."


@BOTH
def test_a_tuple_of_results_gives_them_names_by_their_places(library: str) -> None:
    source = "x = torch.ones(2, requires_grad=True)\nparts = x.split(1)\ny = parts[0] * parts[1]"
    steps = captions(source, library)

    assert steps[1].startswith("parts[0], parts[1] = x.split(1): split makes ")
    assert steps[2].startswith("y = parts[0] * parts[1]: ")


# -- as it is written ------------------------------------------------------------------------------

XG = "x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n"


@BOTH
@pytest.mark.parametrize(
    ("source", "caption"),
    [
        ("y = (x\n     .exp()\n     .sum())", "y = x.exp().sum(): sum makes "),
        (
            "def f(a, b):\n    return a * b\ny = f(x, x)",
            "y = x * x: multiply makes [1.0, 4.0, 9.0]",
        ),
        ("a, *rest = x", "a, rest[0], rest[1] = unbind(x): "),
        ("p = x\np.data -= 1", "p.data: x.data -= 1: subtract makes [0.0, 1.0, 2.0]."),
    ],
    ids=["a chain", "one tensor twice", "the rest", ".data"],
)
def test_a_result_is_told_as_it_is_written(source: str, caption: str, library: str) -> None:
    if "rest" in source:
        source += "\ny = a * rest[0] * rest[1]"

    assert any(step.startswith(caption) for step in captions(XG + source, library))


@BOTH
def test_what_a_leaf_was_made_of_has_its_numbers(library: str) -> None:
    source = "x = torch.tensor(1.0, requires_grad=True)\ny = x * x\n"
    source += "x = (x - y).detach().requires_grad_()\nz = x * 2"
    steps = captions(source, library)

    assert any("is a leaf: (x1 - y).detach(), without a history" in step for step in steps)


@pytest.mark.parametrize("library", ["PyTorch"])
def test_a_tensor_of_a_transform_is_not_told_as_the_number_beside_it(library: str) -> None:
    steps = captions(XG + "y = torch.func.grad(lambda t: (t ** 3).sum())(x)", library)

    assert not any("t is 3" in step for step in steps)


FUNCTION = """
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g
"""


@BOTH
def test_a_result_of_a_function_is_made_by_the_function(library: str) -> None:
    text = recorded(FUNCTION + XG + "y = Square.apply(x)", library).recording.to_text()

    assert re.search(r"y = Square.apply\(x\) +Square ", text)


@BOTH
@pytest.mark.parametrize("number", [1, 2])
def test_a_quotient_that_is_computed_as_a_product_says_so(number: int, library: str) -> None:
    steps = captions(XG + f"y = {number} / x\nz = 3 * x", library)

    texts = [step for step in steps if "a number divided by a tensor is" in step]
    assert len(texts) == 1 and texts[0].startswith(f"y = {number} / x: multiply makes ")


@BOTH
def test_an_update_by_a_gradient_that_autograd_grad_returned_is_no_forward_step(
    library: str,
) -> None:
    source = XG + "(g,) = torch.autograd.grad((x * x).sum(), x)\n"
    source += "with torch.no_grad():\n    x -= 0.1 * g"
    frames = recorded(source, library).picture.frames

    end = next(k for k, frame in enumerate(frames) if frame["kind"] == "finish")
    assert {frame["phase"] for frame in frames[end + 1 :]} == {"update"}


@BOTH
def test_a_change_of_data_names_it_once(library: str) -> None:
    texts = captions("w = torch.tensor([1., 2.], requires_grad=True)\nw.data -= 0.5", library)

    assert [line for line in texts if line.startswith("w.data -= 0.5: subtract makes [0.5, 1.5]")]


@BOTH
def test_a_linear_layer_is_told_as_it_is_called_and_not_as_addmm(library: str) -> None:
    source = """\
F = torch.nn.functional
net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh())
x = torch.ones(1, 2)
y = net(x) + F.linear(x, torch.ones(3, 2), torch.ones(3, requires_grad=True))
z = torch.addmm(y, x, torch.ones(2, 3))
z.sum().backward()
"""
    frames = build(recorded(source, library).recording, fold=False).frames
    steps = [frame["caption"] for frame in frames]

    assert any("The rule of net.0 for net.0.bias passes" in step for step in steps)
    assert any("net.0 no longer keeps x." in step for step in steps)
    assert any(": linear makes" in step for step in steps)
    mentions = [step for step in steps if re.search(r"\baddmm\b", step, re.IGNORECASE)]
    assert mentions
    assert all(step.startswith("z = torch.addmm(") or "for y" in step for step in mentions)
