"""The steps, and the words they are told in."""

import re
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import autodiff_kit as torch
from autodiff_kit.record import record
from autodiff_kit.view import build
from autodiff_kit.view.frames import frames
from autodiff_kit.view.names import Names
from autodiff_kit.view.outline import outline
from autodiff_kit.view.values import grid, short
from autodiff_kit.view.words import memory, sentence
from tests.invariants.running import run
from tests.record import cells
from tests.view import recordings


def told(recording):
    return frames(recording, outline(recording), Names(recording))


def captions(recording, kind=None):
    return [f["caption"] for f in told(recording) if kind in (None, f["kind"])]


def test_forward_tells_each_leaf_and_op_with_name_number_and_what_is_remembered():
    assert captions(recordings.line()) == [
        "x = 2.0 is a leaf: you made it, and it requires a gradient.",
        "2 * x: multiply makes 4.0 and saves the number 2 (the rule for x reads it) "
        "for the backward pass.",
        "y = 2 * x + 3: add makes 7.0, and saves nothing: the rules read only the gradient.",
    ]


def test_the_classic_example_is_told_back_to_a_gradient_of_8():
    assert captions(recordings.classic())[5:] == [
        "Backward starts at z with gradient 1.0.",
        "The rule of subtract for 4 * (2 * x + 3) passes the gradient on as it is: 1.0.",
        "Next comes 4 * (2 * x + 3): its gradient is complete, 1.0.",
        "The rule of multiply for 2 * x + 3 gives 1.0 \N{MULTIPLICATION SIGN} 4 = 4.0. "
        "Multiply no longer keeps the number 4.",
        "Next comes 2 * x + 3: its gradient is complete, 4.0.",
        "The rule of add for 2 * x passes the gradient on as it is: 4.0.",
        "Next comes 2 * x: its gradient is complete, 4.0.",
        "The rule of multiply for x gives 4.0 \N{MULTIPLICATION SIGN} 2 = 8.0. "
        "Multiply no longer keeps the number 2.",
        "x.grad: nothing before, now 8.0.",
        "Backward is done: x.grad is 8.0.",
    ]


def test_a_leaf_that_requires_no_gradient_says_so():
    assert "It requires no gradient" in captions(recordings.ghost())[0]


def test_what_two_rules_read_is_said_for_each():
    caption = captions(recordings.loop())[6]

    assert caption == (
        "Iteration 2. h1 * w: multiply makes 0.0 and saves h1 = 0.0 (the rule for w reads it) "
        "and w = 2.0 (the rule for h1 reads it) for the backward pass."
    )


def test_an_op_that_keeps_its_own_result_says_so():
    caption = captions(recordings.loop())[5]

    assert "saves its own result (the rule for h * w + b reads it)" in caption


def test_each_round_of_a_loop_is_announced_once():
    rounds = [c[:12] for c in captions(recordings.loop()) if c.startswith("Iteration")]

    assert rounds == ["Iteration 1.", "Iteration 2.", "Iteration 3."]


def test_the_two_contributions_of_a_square_add_up_in_a_step_of_their_own():
    assert captions(recordings.square())[3:6] == [
        "The rule of multiply for x, its first input, gives 1.0 \N{MULTIPLICATION SIGN} 3.0 = 3.0.",
        "The rule of multiply for x, its second input, "
        "gives 1.0 \N{MULTIPLICATION SIGN} 3.0 = 3.0.",
        "x is used more than once, so its gradients add up: 3.0 + 3.0 = 6.0. "
        "Multiply no longer keeps x.",
    ]


def test_the_two_contributions_of_a_square_go_back_along_different_arrows():
    steps = [f for f in told(recordings.square()) if f["kind"] == "contribution"]

    assert [step["edge"] for step in steps] == ["0", "1"]


def test_a_negative_contribution_is_added_in_parentheses():
    tape = recordings.Tape("")
    x = tape.leaf("x", 3.0)
    tape.backward(tape.op("sub", x, x))

    assert captions(tape.data, "add") == [
        "x is used more than once, so its gradients add up: 1.0 + (-1.0) = 0.0."
    ]


def test_a_second_backward_adds_to_the_gradient_that_is_there():
    assert captions(recordings.square(passes=2), "accumulate") == [
        "x.grad: nothing before, now 6.0.",
        "x.grad holds 6.0 from before, and gradients add up: 6.0 + 6.0 = 12.0.",
    ]


def test_a_second_backward_shows_what_waits_beside_what_is_there():
    steps = told(recordings.square(passes=2))
    second = [f["set"]["0"] for f in steps[8:] if f["set"].get("0", {}).keys() & {"g", "grad"}]

    assert [fields.get("g") or fields.get("grad") for fields in second] == [
        "6.",
        "3., .grad 6.",
        "6., .grad 6.",
        "6. + 6. = 12.",
    ]
    assert second[-1]["g"] is None
    assert second[-1]["why"][0] == ["before", "6."]


def test_a_second_backward_clears_what_the_first_left_in_the_boxes():
    start = [f for f in told(recordings.square(passes=2)) if f["kind"] == "backward"][1]

    assert start["set"]["0"]["g"] is None
    assert start["set"]["1"] == {
        "g": "1.",
        "rule": None,
        "visited": True,
        "why": [["backward starts here", "1."]],
    }


def test_undoing_a_broadcast_is_a_step_of_its_own_that_names_shapes_and_dimension():
    assert captions(recordings.broadcast(), "unbroadcast") == [
        "w (3,) was used for each of the 2 rows of (2, 3), so its gradients add up: "
        "the sum over dimension 0 is [5.0, 7.0, 9.0]. Multiply no longer keeps x."
    ]


def test_before_a_broadcast_is_undone_nothing_has_arrived_at_its_source():
    steps = told(recordings.broadcast())
    at = next(k for k, f in enumerate(steps) if f["kind"] == "unbroadcast")

    assert "0" not in steps[at - 1]["set"]
    assert steps[at]["set"]["0"]["g"] == "[5., 7., 9.]"


def test_dimensions_of_size_1_are_counted_among_those_summed_over():
    tape = recordings.Tape("")
    w, x = tape.leaf("w", [[1.0], [2.0]]), tape.leaf("x", [[[1.0, 2.0], [3.0, 4.0]]] * 3, False)
    product = tape.op("mul", w, x)
    tape.backward(tape.op("sum_all", product))

    # (2, 1) was copied three times along a new dimension 0 and twice along dimension 2
    assert "w (2, 1) was used for each of the 6 parts" in captions(tape.data, "unbroadcast")[0]
    assert "over dimensions 0 and 2" in captions(tape.data, "unbroadcast")[0]


def test_the_rule_of_a_contribution_is_set_in_three_forms():
    steps = [f for f in told(recordings.classic()) if f["kind"] == "contribution"]

    assert steps[1]["set"]["3"]["rule"] == [
        "to 2 * x + 3: (gradient of 4 * (2 * x + 3)) \N{MULTIPLICATION SIGN} 4",
        "to 2 * x + 3: 1. \N{MULTIPLICATION SIGN} 4 = 4.",
    ]


def test_a_rule_on_matrices_is_told_with_names_and_checked_with_shapes():
    steps = told(recordings.layers())
    step = next(f for f in steps if "matrix multiply for W" in f["caption"])

    assert step["caption"].startswith(
        "The rule of matrix multiply for W gives x.T @ (gradient of x @ W), a (3, 5) tensor."
    )
    assert step["set"]["3"]["rule"][1] == "to W: Tensor(4, 3).T @ Tensor(4, 5) = Tensor(3, 5)"


def test_the_whole_of_a_gradient_that_does_not_fit_a_box_is_kept_for_the_inspector():
    steps = told(recordings.layers())
    fields = [f["set"]["1"] for f in steps if "1" in f["set"]]

    assert [f.get("g") or f["grad"] for f in fields] == ["(3, 5)", "(3, 5)"]
    assert fields[0]["gradient"].count("\n") == 2  # three rows
    assert "gradient" not in fields[1]  # the same, and still there


def test_a_node_with_several_uses_says_that_all_of_them_have_arrived():
    tape = recordings.Tape("")
    a = tape.op("tanh", tape.leaf("x", 0.0), name="a")
    tape.backward(tape.op("mul", a, a))

    assert "Next comes a: its gradient is complete with both contributions, 0.0." in captions(
        tape.data, "visit"
    )


def test_where_backward_starts_is_not_told_twice():
    steps = told(recordings.square())

    assert [f["kind"] for f in steps].count("visit") == 0
    start = next(f for f in steps if f["kind"] == "backward")
    assert start["set"]["1"].items() >= {"g": "1.", "visited": True}.items()


def test_under_no_grad_nothing_is_recorded_and_the_reason_is_given():
    assert captions(recordings.ghost())[2:] == [
        "a = x * w: multiply makes 6.0. Nothing is recorded here: no_grad switches gradients off.",
        "c = x * 2: multiply makes 6.0. Nothing is recorded here: no input requires a gradient.",
    ]


def test_a_comparison_is_not_blamed_on_no_grad():
    assert captions(recordings.branch())[1].endswith("compare has no gradient.")


@pytest.mark.parametrize(
    ("x", "went"), [(3.0, "so the body runs"), (-3.0, "so the else branch runs")]
)
def test_a_branch_says_what_it_tests_and_what_follows(x, went):
    assert captions(recordings.branch(x), "branch") == [f"if tests x > 0: it is {x > 0}, {went}."]


def test_a_while_says_whether_its_body_runs():
    tape = recordings.Tape("while x > 0:\n    pass\n")
    test = tape.op("gt", tape.leaf("x", 1.0), 0, text="x > 0")
    tape.branch(test, True, "x > 0")
    tape.branch(test, False, "x > 0")

    assert captions(tape.data, "branch") == [
        "while tests x > 0: it is True, so the body runs.",
        "while tests x > 0: it is False, so the loop ends.",
    ]


def test_an_error_is_the_last_step_and_says_its_first_line_and_the_kits_hint():
    last = told(recordings.error())[-1]

    assert last["kind"] == "error"
    assert last["caption"] == (
        "The code stopped here with RuntimeError: "
        "The size of tensor a (2) must match the size of tensor b (3)."
    )
    assert last["explanation"]["fix"] == "Look at the shapes."
    assert last["where"] == [0, 2, 4, 2, 9]


def test_a_change_in_place_changes_the_value_in_the_box():
    step = next(f for f in told(recordings.in_place()) if f["kind"] == "modified")

    assert step["caption"] == "-= changes w in place: 2.0 becomes 1.5."
    assert step["set"]["0"] == {"value": "1.5", "tensor": "1.5"}


def test_a_change_is_one_of_digits_that_are_not_shown_only_if_the_numbers_look_alike():
    w = torch.tensor([[0.72, -1.42], [0.5, 2.25]], requires_grad=True)
    v = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.record() as recording, torch.no_grad():
        w.sub_(torch.tensor([[0.0321, 0.0482], [0.0123, 0.0104]]))  # too long to be shown
        v.sub_(1e-6)
    large, small = [f["caption"] for f in build(recording).frames if f["kind"] == "modified"]

    assert large == "sub_ changes w in place."
    assert small == "sub_ changes v in place, in digits of [1.0, 2.0] that are not shown."


def test_rules_read_the_value_an_input_had_when_the_op_ran():
    texts = captions(recordings.in_place(), "contribution")

    assert "gives 1.0 \N{MULTIPLICATION SIGN} 3 = 3.0. Multiply" in texts[0]
    assert texts[1].endswith("gives 1.0 \N{MULTIPLICATION SIGN} 1.5 = 1.5.")


def test_a_hook_that_changes_a_gradient_is_told():
    recording = recordings.classic()
    visit = next(e for e in recording["events"] if e["kind"] == "visit" and e["node"] == 2)
    visit["g"] = {"shape": [], "dtype": "float32", "data": [40.0]}

    assert "A hook changes the gradient of 2 * x + 3: 4.0 becomes 40.0." in captions(recording)


def test_a_node_that_was_made_before_the_recording_began_is_told_as_such():
    recording = recordings.classic()
    recording["nodes"][0] |= {"grad_fn": "AddBackward0", "name": None}
    recording["nodes"][0]["value"] = {"shape": [], "dtype": "", "data": []}

    first = captions(recording)[0]

    assert (
        first
        == "a tensor from elsewhere (AddBackward0) was made where the recording could not see it."
    )
    recording["nodes"][0]["older"] = True
    assert captions(recording)[0] == (
        "a tensor from before (AddBackward0) was made before the recording."
    )


def test_steps_know_their_phase_and_the_source_they_stand_for():
    steps = told(recordings.classic())

    assert [f["phase"] for f in steps] == ["forward"] * 5 + ["backward"] * 10
    assert steps[1]["where"] == [0, 2, 9, 2, 14]
    assert steps[5]["where"] == [0, 3, 0, 3, 12]


def test_forward_goes_on_after_backward():
    steps = told(recordings.in_place())

    assert [f["phase"] for f in steps[6:8]] == ["update", "forward"]


def test_released_is_set_with_the_last_step_of_the_node():
    steps = told(recordings.square())
    released = [k for k, f in enumerate(steps) if f["set"].get("1", {}).get("released")]

    assert released == [5]


@pytest.mark.parametrize("name", recordings.ALL)
def test_every_caption_is_a_sentence(name):
    for caption in captions(recordings.ALL[name]()):
        assert caption.endswith(".")
        assert not re.search(r"[^.]\.\.(?!\.)|None|  ", caption), caption


@pytest.mark.parametrize("name", recordings.ALL)
def test_fields_are_only_set_on_boxes_that_are_drawn(name):
    recording = recordings.ALL[name]()
    drawn = {box.id for box in outline(recording).boxes}

    for frame in told(recording):
        assert set(frame["set"]) <= drawn


def test_a_fold_is_one_step_forward_and_one_step_back():
    recording = recordings.loop(500)

    texts = [caption for caption in captions(recording, "fold") if "2 to 499" in caption]
    assert texts == [
        "Iterations 2 to 499 of for i in range(500): 1,494 ops, drawn as one box. "
        "The last op makes h499 = -0.995.",
        "Backward runs through iterations 2 to 499 of for i in range(500): 1,494 ops, newest "
        "first. Gradients so far: b 0.01027, w -0.01022, h1 0.0. What it saved is no longer kept.",
    ]


def test_the_backward_passes_inside_a_folded_loop_are_told_with_it():
    steps = told(recordings.training())
    fold = next(f for f in steps if f["kind"] == "fold")

    # 98 rounds of 3 operations; w was 2 and has lost 0.1 in each of 98 rounds when round 99 begins:
    # (2 * -7.8 - 1) ** 2 = 275.56
    assert fold["caption"] == (
        "Iterations 2 to 99 of for epoch in range(100): 294 ops and 98 backward passes, drawn as "
        "one box. The last op makes loss99 = 275.56."
    )
    assert fold["set"]["0"]["value"] == "-7.9"
    assert [f["kind"] for f in steps].count("backward") == 2  # the first round and the last


def test_a_change_in_place_that_an_op_was_recorded_for_is_told_with_it():
    tape = recordings.Tape("w -= 0.5")
    tape.grad_mode = False
    w = tape.leaf("w", 2.0)
    new = tape.op("sub", w, 0.5, name="w2")
    tape.modified(new, "sub_", 1.5, "w -= 0.5")

    assert captions(tape.data)[1:] == [
        "w2 = w - 0.5: subtract makes 1.5. Nothing is recorded here: no_grad switches gradients "
        "off. It is written over w, in place."
    ]


def test_a_tensor_that_came_from_nowhere_is_not_said_to_be_the_learners():
    tape = recordings.Tape("")
    tape.leaf(None, 2.0, wants=False)

    assert captions(tape.data) == [
        "2.0 is data, made where the recording could not see it. It requires no gradient, "
        "so none flows into it."
    ]


def test_a_gradient_that_was_reset_does_not_wait_beside_the_new_one():
    recording = recordings.square(passes=2)
    second = [e for e in recording["events"] if e["kind"] == "accumulate"][1]
    second |= {"before": None, "grad": second["g"]}

    changes = [f["set"]["0"] for f in told(recording) if "0" in f["set"]]
    grads = [fields.get("grad") for fields in changes if fields.keys() & {"g", "grad"}]

    assert grads == [None, None, "6.", None, None, None, "6."]


def test_a_node_in_a_fold_without_a_name_is_called_after_its_box():
    recording = recordings.calls(40, 12)
    tape_last = recording["nodes"][-1]["id"]
    texts = captions(recording, "fold")

    assert f"tanh(v{tape_last - 12})" not in " ".join(texts)
    assert "Gradients so far: calls 2 to 39 of layer" in texts[3]


def test_ten_thousand_operations_are_told_in_a_few_hundred_steps_at_most():
    assert len(told(recordings.long_loop())) < 100
    assert len(told(recordings.flat(2000))) < 400
    assert len(told(recordings.calls(800))) < 400


def test_a_sentence_ends_with_one_point():
    assert sentence("is 8.") == "is 8."
    assert sentence("is 8.5") == "is 8.5."


def test_bytes_are_said_in_the_unit_that_fits():
    assert [memory(n) for n in (1, 8, 999, 1000, 40_000, 1536, 5_000_000, 3 * 10**9)] == [
        "1 byte",
        "8 bytes",
        "999 bytes",
        "1 kB",
        "40 kB",
        "1.5 kB",
        "5 MB",
        "3 GB",
    ]


def test_what_an_earlier_pass_left_in_the_boxes_of_another_graph_stays():
    with record() as rec:
        w = torch.tensor(2.0, requires_grad=True)
        for _ in range(2):
            h = w * 3
            loss = h * h
            loss.backward()
    boxes: dict[str, dict[str, Any]] = {}
    for step in told(rec.to_dict()):
        for box, fields in step["set"].items():
            boxes.setdefault(box, {}).update(fields)
    names = {n["name"]: n["id"] for n in rec.nodes}

    # d loss / d h = 2 h = 12; d loss / d loss = 1: of both rounds, at the end.
    for number in "12":
        assert boxes[str(names[f"h{number}"])]["g"].startswith("12.")
        assert boxes[str(names[f"loss{number}"])]["g"] == "1."
        assert boxes[str(names[f"h{number}"])]["rule"]


CODE = {
    "f": "a = torch.tensor(3.0, requires_grad=True)\ndef f(x):\n    for i in range(2):\n"
    "        x = x * x\n    return x\nr = f(a)\nr.backward()\n",
    "else": "a = torch.tensor(3.0, requires_grad=True)\nif a > 5:\n    y = a\nelif a > 4:\n"
    "    y = a * 2\nelse:\n    y = a * 3\n",
}


def of_code(name):
    return [f["caption"] for f in run(name, torch, CODE[name]).picture.frames]


def test_a_name_that_stands_for_another_is_said_once_in_a_call():
    steps = of_code("f")

    assert [c.count("x is a") for c in steps if "x is a" in c] == [1]
    assert "Backward starts at x2 with gradient 1.0. Here, r is x2." in steps


def test_a_condition_that_is_false_says_which_branch_runs():
    tests = [c.split(", so ")[1] for c in of_code("else") if " tests " in c]

    assert tests == ["elif is tested next.", "the else branch runs."]


def test_a_tensor_is_written_with_the_decimals_of_its_grid():
    value = {"shape": [1, 3], "dtype": "float32", "data": [-0.10694, 0.04380, 0.033521]}

    assert short(value) == "[[-0.1069, 0.0438, 0.0335]]"  # as PyTorch prints it
    assert short(value).replace(" ", "") == grid(value).replace(" ", "")


def test_what_an_earlier_pass_has_left_on_other_arrows_is_marked_as_earlier() -> None:
    with record() as rec:
        w = torch.tensor(2.0, requires_grad=True)
        for _ in range(2):
            loss = (w - 5) ** 2
            loss.backward()

    steps = told(rec.to_dict())
    first, second = (k for k, step in enumerate(steps) if step["kind"] == "backward")
    passed = {edge for step in steps[first:second] for edge in step.get("along", {})}

    assert len(passed) == 2
    assert steps[second]["along"] == {edge: {"earlier": True} for edge in passed}
    later = {edge for step in steps[second + 1 :] for edge in step.get("along", {})}
    assert not later & passed


@pytest.mark.parametrize("factor", ["16.2652", "16.27", "3.3334"])
def test_the_parts_in_a_box_have_the_digits_it_takes_for_them_to_add_up(factor):
    tape = cells.run(
        f"x = torch.tensor(16.265178, requires_grad=True)\n(x * x * {factor}).backward()"
    )
    steps = build(tape).frames
    added = next(f for f in steps if f["kind"] == "add")
    arrived = {}
    for step in steps[: steps.index(added) + 1]:
        for edge, fields in step.get("along", {}).items():
            arrived[edge] = fields.get("arrived", arrived.get(edge))
    for fields in added.get("along", {}).values():
        assert fields["sent"].split(" = ")[-1] == fields["arrived"]
    fields = next(f for f in added["set"].values() if f.get("total"))
    rows = fields["why"]

    total = Decimal(fields["total"].removeprefix("= "))
    assert sum(Decimal(arrived[edge]) for edge in rows[:2]) == total
    assert rows[-1] == ["sum", str(total)]
    assert f"{arrived[rows[0]]} + {arrived[rows[1]]} = {total}" in added["caption"]
    exact = 2 * np.float32(16.265178) * np.float32(factor)
    assert float(total) == pytest.approx(exact, rel=1e-6)


def test_a_step_without_an_expression_of_its_own_lights_the_line_that_runs():
    source = (
        "model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))"
        "\nopt = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "x = torch.ones(8, 2)\n"
        "for epoch in range(8):\n"
        "    loss = model(x).square().mean()\n"
        "    opt.zero_grad()\n"
        "    loss.backward()\n"
        "    opt.step()\n"
    )
    lines = [f"{step['where'][1]} {step['caption']}" for step in build(cells.run(source)).frames]

    inside = [line for line in lines if "Backward runs through iteration" in line]
    assert any("4 parameters of model have their gradient" in line for line in inside)
    assert {line[0] for line in inside} == {"7"}  # loss.backward()
    creation = next(line for line in lines if "Parameters of model: drawn" in line)
    assert creation[0] == "5"  # model(x) asks for them


def test_a_box_that_only_a_mode_keeps_out_of_the_graph_names_the_mode():
    source = (
        "w = torch.tensor(1.0, requires_grad=True)\n"
        "(w * 2).backward()\n"
        "with torch.no_grad():\n"
        "    w -= 0.1 * w.grad\n"
        "    y = w * 3\n"
        "    z = y * 4\n"
    )
    texts = {text["name"]: text["symbol"] for text in build(cells.run(source)).texts}

    assert texts["w - 0.1 * w.grad"] == "no_grad"
    assert texts["y"] == "no_grad: w * 3"
    assert texts["0.1 * w.grad"] == ""  # w.grad requires no gradient: any mode would do
    assert texts["z"] == "y * 4"


def test_a_folded_box_shows_the_gradient_of_the_value_it_shows_and_of_no_other():
    rec = cells.run(
        "w = torch.tensor(0.5, requires_grad=True)\n"
        "total = 0.0\n"
        "for x in (1.0, 2.0, 3.0, 4.0):\n"
        "    total += torch.log(1 + torch.exp(w * x)) ** 2\n"
        "g, = torch.autograd.grad(total, w, create_graph=True)\n"
        "(g * g).backward()\n"  # reaches what was computed for total, but not total itself
    )
    picture = build(rec)
    last = next(box.id for box in picture.outline.boxes if "iteration 4 of" in box.heading)
    second = [step["kind"] for step in picture.frames].index("backward", 6)
    first_pass, second_pass = picture.frames[:second], picture.frames[second:]

    assert "1." in [step["set"].get(last, {}).get("g") for step in first_pass]
    assert {step["set"].get(last, {}).get("g") for step in second_pass} == {None}
    assert not any("are accumulated" in step["caption"] for step in first_pass)
    *parts, total = [
        step["set"]["0"]["why"] for step in first_pass if "why" in step["set"].get("0", {})
    ][-1]
    assert total[0] == "sum" and len(parts) == 2
    assert sum(float(part) for _, part in parts) == pytest.approx(float(total[1]), rel=1e-4)


def test_a_folded_round_of_training_shows_its_loss_and_ends_with_what_changes_last():
    source = (
        "ws = [torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)]\n"
        "for epoch in range(2):\n"
        "    loss = (ws[0] * ws[1]).sum()\n"
        "    loss.backward()\n"
        "    with torch.no_grad():\n"
        "        for w in ws:\n"
        "            w -= 0.25 * w.grad\n"
        "            w.grad.zero_()\n"
    )
    rec = cells.run(source)
    picture = build(
        rec, fold=[s["id"] for s in rec.scopes if s["kind"] == "iteration" and s["parent"] == 1]
    )
    state = picture.state(-1)["nodes"]
    rounds = [box for box in picture.outline.boxes if box.title.startswith("iteration")]
    texts = dict(zip((b.id for b in picture.outline.boxes), picture.texts, strict=True))

    # both weights are 1, then 0.75: the losses are 2 * 1 * 1 and 2 * 0.75 * 0.75
    assert [texts[box.id]["lines"][-1] for box in rounds] == ["loss1 = 2.", "loss2 = 1.125"]
    assert [state[box.id]["g"] for box in rounds] == ["1.", "1."]
    assert [step["kind"] for step in picture.frames].count("grad") == 0
    assert [step["kind"] for step in picture.frames].count("modified") == 0
