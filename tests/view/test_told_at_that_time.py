"""Each step is true when it is told: what is written, changed and called so at that time."""

from __future__ import annotations

import re

import pytest

from autodiff_kit.view.names import Names
from autodiff_kit.view.shortening import in_outline, in_short
from autodiff_kit.view.text import facts
from tests.invariants.conftest import LIBRARIES
from tests.view.captions import captions, recorded

BOTH = pytest.mark.parametrize("library", LIBRARIES)
NO_GRADIENT = "It requires no gradient, so none flows into it."
X = "x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n"


# -- views -----------------------------------------------------------------------------------------


@BOTH
def test_a_change_through_a_view_is_told_once(library: str) -> None:
    steps = captions(X + "y = x * 2\ny[1:] *= 3\ny.sum().backward()", library)

    assert not [step for step in steps if "in place: " in step]  # it is a step of its own


@BOTH
def test_a_view_that_is_not_used_again_gets_no_new_node(library: str) -> None:
    steps = captions(X + "y = x * 2\nrow = y[1:]\ny.mul_(3)\ny.sum().backward()", library)

    assert not [step for step in steps if "view again" in step]
    assert [step for step in steps if re.match(r"row\d? = y1\[1:\]: slice", step)]


# -- expressions -----------------------------------------------------------------------------------


@BOTH
def test_spaces_inside_of_a_string_stay(library: str) -> None:
    source = 'w = x * len("a  b") + len("""c\n\nd""")'
    steps = captions(X + source, library)

    assert [step.partition(":")[0] for step in steps[1:]] == [
        'x * len("a  b")',
        r"w = x * len('a  b') + len('c\n\nd')",
    ]


def test_what_is_left_out_takes_its_own_parentheses_along() -> None:
    quotient = "1 / ((stack(…).norm(…)) + 1e-06) * 1."

    assert in_short(quotient, 32) == "1 / ((stack(…).…) + 1e-06) * 1."
    assert in_short(f"clamp({quotient}, -inf, 1.)", 32) == "clamp(1 / ((…)) * 1., -inf, 1.)"
    assert (
        in_short("where([True], -((p - log(…)).sum(…)), 0)", 32) == "where([True], -(….sum(…)), 0)"
    )


def test_an_outline_leaves_all_but_arguments_as_it_is_written() -> None:
    text = 'params["w"] * 3. + f(x, 1)(y).sum(dim=1)'

    assert in_outline(text, 39) == 'params["w"] * 3. + f(…)(…).sum(…)'


@BOTH
def test_what_a_loss_was_not_given_is_not_told(library: str) -> None:
    loss = "torch.nn.functional.cross_entropy(x[None], torch.tensor([1]), label_smoothing=0.1)"
    steps = captions(X + f"loss = {loss}", library)

    assert [step for step in steps if "nll loss makes" in step]
    assert not [step for step in steps if "None)" in step or "(1,)," in step]


@BOTH
def test_dimensions_of_a_reduction_are_told_by_their_numbers(library: str) -> None:
    steps = captions(
        "x = torch.ones(2, 3, requires_grad=True)\nx.amax(1).sum().backward()", library
    )

    assert [step for step in steps if "the largest elements along dim 1, 0 for" in step]


# -- requires_grad ---------------------------------------------------------------------------------


@BOTH
def test_a_leaf_that_ceases_to_require_a_gradient_is_told_when_it_does(library: str) -> None:
    source = "(x * x).sum().backward()\nx.requires_grad_(False)\ny = x * 3\n"
    program = recorded(X + source + "x.requires_grad = True\nz = x * 5", library)

    steps = [frame["caption"] for frame in program.picture.frames]
    assert "it requires a gradient" in steps[0]
    assert [step for step in steps if step.startswith("x.requires_grad is set to")] == [
        "x.requires_grad is set to False: from the operations that follow, no gradient flows to x.",
        "x.requires_grad is set to True: from the operations that follow, a gradient flows to x.",
    ]
    data = program.recording.to_dict()
    rows = dict(facts(data, [0], Names(data)))
    assert rows["requires_grad"] == "True, from line 3 on False, from line 5 on True"


@BOTH
def test_a_parameter_that_was_frozen_before_it_was_used_is_data_then(library: str) -> None:
    source = """lin = torch.nn.Linear(1, 1)
lin.requires_grad_(False)
y = lin(x[:1])
lin.requires_grad_(True)
lin(x[:1]).backward()
"""
    steps = captions(X + source, library)

    (caption,) = (step for step in steps if step.startswith("lin.weight = "))
    assert caption.endswith("is data: a parameter of Linear. " + NO_GRADIENT)
    (text,) = (step for step in steps if "set to True" in step)
    assert text.startswith("lin.weight.requires_grad and lin.bias.requires_grad are set to True")
    assert [step for step in steps if step.startswith("lin.bias.grad: nothing before")]


@BOTH
def test_a_detached_result_that_requires_a_gradient_at_once_is_a_leaf(library: str) -> None:
    steps = captions(X + "y = (x * 2).detach().requires_grad_()", library)

    assert steps[-1].startswith(
        "y = [2.0, 4.0, 6.0] is a leaf: (x * 2).detach(), without a history"
    )


@BOTH
def test_what_requires_a_gradient_later_is_data_first(library: str) -> None:
    steps = captions("w = torch.ones(2)\ny = w * 2\nw.requires_grad_()\nz = w * 3", library)

    assert steps[0] == f"w = [1.0, 1.0] is data: you made it. {NO_GRADIENT}"
    assert steps[2].startswith("w.requires_grad is set to True")


# -- names -----------------------------------------------------------------------------------------

AB = "a = torch.tensor(2.0, requires_grad=True)\nb = torch.tensor(3.0, requires_grad=True)\n"


@BOTH
def test_after_a_swap_each_step_says_what_the_code_calls_what(library: str) -> None:
    steps = captions(f"{AB}a, b = b, a\nc = a * a + b", library)

    assert steps[2].startswith("b * b: multiply makes 9.0")
    assert steps[2].endswith('Here, the code calls b "a" now.')
    assert steps[3].endswith('Here, the code calls a "b" now.')


@BOTH
def test_items_of_a_list_are_called_by_their_places_when_they_are_made(library: str) -> None:
    source = (
        "ws = [x * 2, (x + 1).sum()]\np = {'w': x[0], 'b': torch.zeros(())}\nws[0].sum() * p['w']"
    )
    steps = captions(X + source, library)

    texts = [re.match(r"[^=]*?(?= =)", step) for step in steps]
    names = [match[0] for match in texts if match and ":" not in match[0]]
    assert names == ["x", "ws[0]", "ws[1]", "p['w']", "p['b']"]
    assert "(the rule for p['w'] reads it)" in steps[-1]


@BOTH
def test_items_that_have_changed_places_are_told_so(library: str) -> None:
    source = "ws = [x[0] * 2, x[1] * 3]\nws[0], ws[1] = ws[1], ws[0]\ny = ws[0] * 10"
    steps = captions(X + source, library)

    assert "ws[0] * 10: multiply makes 60.0" in steps[-1]
    assert steps[-1].endswith('Here, the code calls ws[1] "ws[0]" now.')


@BOTH
def test_an_entry_is_called_so_in_every_round(library: str) -> None:
    source = "s = {'h': x}\nfor t in range(2):\n    s['h'] = s['h'] * 2\ns['h'].sum().backward()"
    steps = captions(X + source, library)

    texts = [step for step in steps if "multiply makes" in step]
    assert [step.partition(":")[0] for step in texts] == [
        "Iteration 1. s['h'] = s['h'] * 2",
        "Iteration 2. s['h'] = s['h'] * 2",
    ]
    assert texts[0].endswith("Here, s['h'] is x.")
    assert [step for step in steps if step.startswith("Next comes s['h'] in iteration 1")]


# -- hooks that unpack -----------------------------------------------------------------------------


@BOTH
def test_what_the_learners_unpack_hook_does_is_told(library: str) -> None:
    source = """hooks = torch.autograd.graph.saved_tensors_hooks(lambda t: t / 2, lambda t: t * 2)
with hooks:
    y = x.exp()
y.sum().backward()
"""
    steps = captions(X.replace("3.0", "0.0") + source, library)

    at = next(i for i, step in enumerate(steps) if "your pack hook returned" in step)
    assert steps[at].startswith("t = [1.3591, 3.6945, 0.5] is data: a tensor that your pack hook")
    assert "t * 2: multiply makes [2.7183, 7.3891, 1.0]" in steps[at + 1]
    assert steps[at + 2].startswith(
        "The rule of exp for x gives [1.0, 1.0, 1.0] × [2.7183, 7.3891, 1.0]"
    )


@BOTH
def test_what_an_unpack_hook_makes_of_a_number_was_not_packed(library: str) -> None:
    source = """kept = []
def pack(t):
    kept.append(t.detach().numpy().copy())
    return len(kept) - 1
def unpack(i):
    return torch.from_numpy(kept[i]) * 1
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    y = x.exp()
y.sum().backward()
"""
    steps = captions(X + source, library)

    assert [step for step in steps if "from_numpy(kept[i]) * 1: multiply makes" in step]
    assert not [step for step in steps if "your pack hook returned" in step]
    assert not [step for step in steps if "is data: a gradient" in step]


# -- several results of one node -------------------------------------------------------------------


@BOTH
def test_results_that_a_node_saves_are_called_by_their_names(library: str) -> None:
    source = "low, high = torch.aminmax(x)\n(high - low).backward()"
    steps = captions(X + source, library)

    assert "high = 3." in steps[1]
    assert "low = 1." in steps[1]
    assert "result" not in steps[1]
    (released,) = (step for step in steps if "no longer keeps" in step)
    assert "low" in released and "high" in released and "result" not in released


@BOTH
def test_a_part_of_a_call_that_changes_tensors_is_not_called_by_all_of_it(library: str) -> None:
    source = "(x * x).sum().backward()\nnorm = torch.nn.utils.clip_grad_norm_([x], 1.0)"
    steps = captions(X + source, library)

    (clamped,) = (step for step in steps if "clamp makes" in step)
    assert clamped.startswith("clamp(")
    # (2 ** 2 + 4 ** 2 + 6 ** 2) ** 0.5
    assert [step for step in steps if step.startswith("norm = ") and "norm makes 7.4833" in step]


# -- what is saved, and for what -------------------------------------------------------------------

NORM = """torch.manual_seed(0)
norm = torch.nn.BatchNorm1d(2)
norm(torch.randn(3, 2)).pow(2).sum().backward()
"""


@BOTH
def test_running_means_are_not_said_to_be_read_by_rules_of_a_batch_that_trains(
    library: str,
) -> None:
    steps = captions(NORM, library)

    (caption,) = (step for step in steps if "batch norm makes" in step)
    assert not re.search(r"running_\w+ = \[[^]]*\] \(the rule", caption)
    texts = [step for step in steps if step.startswith("The rule of batch norm for norm.weight")]
    assert "times the normalized" in texts[0]


@BOTH
def test_a_clamp_with_one_bound_is_told_with_this_one(library: str) -> None:
    steps = captions(
        X + "y = x.clamp(max=2.5)\nz = x.clamp(min=1.5)\n(y + z).sum().backward()", library
    )

    rules = [step for step in steps if step.startswith("The rule of clamp for x")]
    assert "([1.0, 2.0, 3.0] >= 1.5) = [0.0, 1.0, 1.0]" in rules[0]
    assert "([1.0, 2.0, 3.0] <= 2.5) = [1.0, 1.0, 0.0]" in rules[1]


@BOTH
def test_what_a_learners_function_saves_is_not_said_to_be_read(library: str) -> None:
    source = """class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        ctx.save_for_backward(t)
        return t * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2  # it reads nothing
y = Double.apply(x)
"""
    assert "reads it" not in captions(X + source, library)[1]


# -- requires_grad -------------------------------------------------------------------------------


FROZEN = """
w = torch.tensor(2.0, requires_grad=True)
y = w * 3
w.requires_grad_(False)
out = y * w
out.backward()
"""


@BOTH
def test_a_leaf_that_is_frozen_before_backward_gains_nothing(library: str) -> None:
    program = recorded(FROZEN, library)
    steps = [frame["caption"] for frame in program.picture.frames]

    assert program.space["w"].grad is None
    assert not [
        step for step in steps if step.startswith("w.grad") or "no gradient reaches" in step
    ]
    assert steps[-2].endswith("but w requires none any more: w.grad is not changed.")
    assert steps[-1] == "Backward is done."


@BOTH
def test_no_gradient_is_drawn_to_flow_where_an_operation_read_a_frozen_leaf(library: str) -> None:
    outline = recorded(FROZEN, library).picture.outline

    to_w = {edge.target: edge.ghost for edge in outline.edges if edge.source == "0"}
    boxes = {box.id: box.nodes[0] for box in outline.boxes}
    nodes = recorded(FROZEN, library).nodes
    assert {nodes[boxes[box]]["text"]: ghost for box, ghost in to_w.items()} == {
        "w * 3": False,
        "y * w": True,
    }


# -- names that move -----------------------------------------------------------------------------


@BOTH
def test_after_a_swap_each_grad_is_told_with_the_name_by_which_the_code_has_it(
    library: str,
) -> None:
    a, b = "a = torch.tensor(2.0, requires_grad=True)", "b = torch.tensor(5.0, requires_grad=True)"
    program = recorded(f"{a}\n{b}\na, b = b, a\nout = a * a + b\nout.backward()", library)
    last = program.picture.frames[-1]["caption"]

    grads = dict(re.findall(r"\(in the code now: (\w)\.grad\) is ([\d.]+\d)", last))
    assert grads == {name: str(program.space[name].grad.item()) for name in ("a", "b")}


@BOTH
def test_a_name_that_is_swapped_back_is_told_alone(library: str) -> None:
    steps = captions(
        X + "z = torch.ones(3, requires_grad=True)\nx, z = z, x\ny = x * 2\nx, z = z, x\n"
        "(y * x * z).sum().backward()",
        library,
    )

    assert "in the code now" not in "".join(steps)


@BOTH
def test_a_pass_adds_to_the_gradient_that_was_written_last(library: str) -> None:
    source = """w = torch.tensor(5., requires_grad=True)
for i in range(3):
    ((w - 2) ** 2).backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad.zero_()
"""
    table = recorded(source, library).recording.to_text().partition("\nSteps\n")[0]
    rows = table.splitlines()

    # 2 (w - 2), for w = 5, 4.4 and 3.92; each time 0.1 of that is what is subtracted.
    gradients = [re.split("  +", row.lstrip("> "))[-1] for row in rows if "w.grad" in row[:12]]
    assert gradients == ["6., overwritten", "4.8, overwritten", "3.84, overwritten", "0."]
