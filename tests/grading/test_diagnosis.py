"""What a learner is told of a wrong answer: the mistake itself, and digits enough to see it."""

from pathlib import Path

import numpy as np
import pytest

from autodiff_kit.grading.answers import Answer
from autodiff_kit.grading.checks import same
from autodiff_kit.grading.course import open_course
from autodiff_kit.grading.exercise import with_checks
from autodiff_kit.grading.marking import Row, grade_code
from autodiff_kit.grading.trusted import Trusted
from autodiff_kit.grading.wording import evidence
from autodiff_kit.grading.worker import Level0
from tests.grading import tiny

COURSE = open_course(Path(__file__).resolve().parents[2] / "exercises")


def rows(key: str, change: str) -> dict[str, Row]:
    """Grade the solution with something put in the place of its parts."""
    exercise = COURSE.exercise(key)
    result = grade_code(exercise, f"{exercise.solution}\n\n{change}", Trusted(), 3)
    return {row.step: row for row in result.rows}


def test_a_mistake_is_named_in_its_step_and_costs_later_ones_nothing() -> None:
    by_step = rows(
        "15.versions",
        "class Saved:\n"
        "    def __init__(self, array):\n        self.array = array\n"
        "    def get(self):\n        return self.array.data\n",
    )

    assert by_step["array"].message == "right"
    assert (by_step["saved"].message, by_step["rules"].message) == (
        "version_not_asked_again",
        "right",
    )


def test_a_mistake_of_the_step_itself_comes_first() -> None:
    by_step = rows(
        "15.versions", "def add(x, y):\n    return Array(x.data + y.data), lambda g: g\n"
    )

    assert by_step["rules"].message == "one_contribution_for_two_inputs"


def test_a_mistake_is_not_named_where_a_check_that_passed_rules_it_out() -> None:
    class_without_wrapping = COURSE.exercise("01.graph").solution.replace(
        "other = as_node(other)", "other = other"
    )

    node = rows("01.graph", class_without_wrapping)["node"]

    # The inputs are nodes, as the check before has seen: only a plain number is not wrapped.
    assert node.failed == ("Numbers",)
    assert node.message == "Numbers"
    assert "the number becomes a node of its own" in node.text


STUB = "def unbroadcast(g, shape):\n    raise NotImplementedError\n"
ONES_ONLY = """
def unbroadcast(g, shape):
    return g.sum(axis=tuple(ax for ax, size in enumerate(shape) if size == 1), keepdims=True)
"""


@pytest.mark.parametrize(
    ("unbroadcast", "earlier"), [(STUB, "not attempted"), (ONES_ONLY, "wrong")]
)
def test_a_step_that_calls_one_which_is_not_right_is_judged_with_a_right_one(
    unbroadcast: str, earlier: str
) -> None:
    code = (
        f"{unbroadcast}\n\ndef multiply_rule(g, x, y):\n"
        "    return unbroadcast(g * y, x.shape), unbroadcast(g * x, y.shape)\n"
    )

    first, second = grade_code(COURSE.exercise("05.broadcast"), code, Level0(), 3).rows

    assert first.status == earlier
    assert (second.status, second.points) == ("right", 2)
    assert second.text == "Right, with a right `unbroadcast` in the place of yours."


@pytest.mark.parametrize("unbroadcast", [STUB, ONES_ONLY])
def test_a_mistake_of_its_own_costs_a_step_its_points_whatever_it_calls(unbroadcast: str) -> None:
    code = (
        f"{unbroadcast}\n\ndef multiply_rule(g, x, y):\n"
        "    return unbroadcast(g * x, x.shape), unbroadcast(g * y, y.shape)\n"
    )

    _, second = grade_code(COURSE.exercise("05.broadcast"), code, Level0(), 3).rows

    assert (second.status in ("wrong", "error"), second.points) == (True, 0)
    assert second.text.startswith("`unbroadcast` is not right yet. If your code calls that here")


def test_a_slip_at_the_edge_of_a_branch_costs_the_edge_alone() -> None:
    solution = COURSE.exercise("08.control_flow").solution

    row = rows("08.control_flow", solution.replace("y.value > 2", "y.value >= 2"))["rounds"]

    assert (row.points, row.message) == (3, "halves_at_two")


def test_who_imports_what_is_not_there_is_told_what_is() -> None:
    code = "import nothing_like_it as t\ndef order(root):\n    return t.sort(root)\n"

    (row,) = grade_code(COURSE.exercise("03.order"), code, Level0(), 3).rows

    assert "No module named 'nothing_like_it'" in row.text
    assert "Only NumPy and Python's own modules are there" in row.text


def test_what_is_never_finite_is_no_difference_and_not_right_elsewhere() -> None:
    by_step = rows("02.rules", "def exp_rule(g, x, out):\n    return g * np.nan\n")

    assert (by_step["exp"].message, by_step["exp"].points) == ("Exp", 0)


@pytest.mark.parametrize(
    ("exercise", "step", "function"),
    [
        ("02.rules", "mul", "mul_rule(g, x, y)"),  # None; pairs are unpacked in the driver
        ("02.rules", "exp", "exp_rule(g, x, out)"),  # with complex numbers an array of objects
        ("02.rules", "pow", "pow_rule(g, x, n)"),  # called twice: (None, None)
        ("03.order", "order", "order(root)"),  # the driver stops
    ],
)
def test_who_forgets_to_return_is_asked_for_it_and_told_what_is_asked_for(
    exercise: str, step: str, function: str
) -> None:
    row = rows(exercise, f"def {function}:\n    1 + 1\n")[step]

    assert "(Is a `return` missing?)" in row.text
    assert COURSE.exercise(exercise).messages[row.message] in row.text


def test_a_name_that_is_misspelt_is_all_that_is_told() -> None:
    code = "def backward(root):\n    for node in ordre(root):\n        node.grad = 1.0\n"
    exercise = COURSE.exercise("04.accumulate")

    row = rows("04.accumulate", f"{exercise.given}\n{code}")["backward"]

    assert "NameError: name 'ordre' is not defined" in row.text
    assert not any(message in row.text for message in exercise.messages.values())


def test_a_number_returned_for_a_node_is_told_as_one() -> None:
    exercise = COURSE.exercise("13.find_the_bug")
    code = "def layers(x, bs):\n    for b in bs:\n        x = tanh(add(x, b))\n    return x.value\n"

    row = rows("13.find_the_bug", f"{exercise.given}\n{code}")["layers"]

    assert "your code returns a number where an object with `.value` is needed" in row.text
    assert "right is value 0.256" in row.text and "gradient of x 0.73" in row.text


def test_answers_about_a_graph_are_told_in_words() -> None:
    exercise = COURSE.exercise("01.graph")
    code = exercise.solution.replace('"mul", (self, other)', '"mul", (self,)')

    row = rows("01.graph", code)["node"]

    assert "right is x and x for x * x; x and y for x * y" in row.text


def test_where_nothing_is_to_be_returned_no_return_is_asked_for() -> None:
    code = "def backward(root):\n    root.grad = 1.0\n"
    text = rows("04.accumulate", COURSE.exercise("04.accumulate").given + "\n" + code)[
        "backward"
    ].text

    assert "None" in text and "return" not in text


@pytest.mark.parametrize(
    "unused",
    [
        "raise NotImplementedError(0x" + "f" * 6000 + ")",  # too many digits to be written
        "raise NotImplementedError(" + " + ".join("a" * 400) + ")",
        "return " + "lambda: " * 90 + "1",
    ],
)
def test_a_function_that_is_never_called_costs_a_right_one_nothing(unused: str) -> None:
    exercise = COURSE.exercise("02.rules")
    solution = exercise.solution + f"\n\ndef unused():\n    {unused}\n"

    graded = grade_code(exercise, solution, Level0(), 3)

    assert [row.status for row in graded.rows] == ["right"] * len(graded.rows)


def test_an_answer_that_is_off_in_a_later_digit_is_shown_with_more_of_them(tmp_path: Path) -> None:
    exercise = tiny.make_course(tmp_path).exercise("01.double")

    code = "def double(x):\n    return 2 * x + 1.00001\n"
    text = grade_code(exercise, code, Trusted(), 1).rows[1].text

    assert "your code gives [3.00001, 5.00001]\n" in text and "\nright is [3, 5]" in text
    assert "\nThe first number that is not right: at [0].\n" in text


FIRST_DIFFERENCES = [
    (["x" * 200, 3.0], ["x" * 200, 4.0], "at [1]: 3", "at [1]: 4"),
    ([*range(40), 7], [*range(40), 8], "at [40]: 7", "at [40]: 8"),
    ([*range(40), 1.0], [*range(40), 1.00001], "at [40]: 1", "at [40]: 1.00001"),
    (np.arange(60.0), np.where(np.arange(60) == 30, -1, np.arange(60.0)), "at [30]: 30", "at [30]"),
    ({"a": "x" * 200, "b": [1]}, {"a": "x" * 200, "b": [2]}, "at ['b'][0]: 1", "at ['b'][0]: 2"),
    (np.eye(9), np.eye(9) - np.eye(9, k=-1) * (np.arange(9) == 3), "at [4, 3]: 0", "at [4, 3]: -1"),
]


@pytest.mark.parametrize(("value", "right_value", "mine", "best"), FIRST_DIFFERENCES)
def test_of_long_answers_that_begin_alike_the_first_difference_is_shown(
    value: object, right_value: object, mine: str, best: str, tmp_path: Path
) -> None:
    (check, _) = tiny.make_course(tmp_path).exercise("01.double").checks

    text = evidence(check, [3.0], [Answer("ok", value)], [Answer("ok", right_value)], True)

    _, yours, right = text.splitlines()
    assert yours.startswith(f"your code gives {mine}")
    assert right.startswith(f"right is {best}")
    assert yours.removeprefix("your code gives ") != right.removeprefix("right is ")


def test_gradients_that_are_all_twice_too_large_fail_where_their_size_is_asked_for() -> None:
    solution = COURSE.exercise("04.accumulate").solution
    twice = solution.replace(
        "node.grad = g if", "g = 2 * g if node is not root else g\n            node.grad = g if"
    )

    assert rows("04.accumulate", twice)["backward"].failed == ("FanOut", "Arrays")


def test_a_leaf_that_is_the_root_keeps_the_gradient_it_had() -> None:
    solution = COURSE.exercise("04.accumulate").solution
    begun = "    gradients = {id(root): 1.0}\n"
    overwritten = f"    if not root.inputs:\n        root.grad = 1.0\n        return\n{begun}"

    row = rows("04.accumulate", solution.replace(begun, overwritten))["backward"]

    assert row.failed == ("Again",)


def test_a_known_mistake_that_divides_by_zero_warns_nobody(recwarn: object) -> None:
    rows("15.versions", "def exp(x):\n    return Array(x.data / 0.0), lambda g: g / 0.0\n")

    assert not list(recwarn)  # type: ignore[call-overload]


LISTS = {
    ("09.variable_length", "states"): "final_states",
    ("09.variable_length", "rule"): "mean_loss_rule",
    ("02.rules", "relu"): "relu_rule",
    ("05.broadcast", "unbroadcast"): "unbroadcast",
    ("16.gradcheck", "numerical"): "numerical",
}


@pytest.mark.parametrize(("key", "step"), LISTS)
def test_right_numbers_in_a_list_are_right(key: str, step: str) -> None:
    name = LISTS[key, step]
    as_list = f"_array = {name}\n\n\ndef {name}(*a):\n    return np.asarray(_array(*a)).tolist()\n"

    row = rows(key, as_list)[step]

    assert (row.status, row.points) == ("right", row.max)


def test_two_gradients_in_one_array_are_right() -> None:
    both = "_two = mul_rule\n\n\ndef mul_rule(*a):\n    return np.array(_two(*a))\n"

    assert rows("02.rules", both)["mul"].status == "right"


def test_wrong_numbers_in_a_list_are_wrong_for_being_wrong() -> None:
    by_step = rows(
        "02.rules", "def relu_rule(g, x):\n    return np.where(x > 0, 1.0, 0.0).tolist()"
    )
    far = rows("02.rules", "def relu_rule(g, x):\n    return [[1.0], [2.0, 3.0]]")

    assert by_step["relu"].message == "relu_without_g"
    assert (far["relu"].status, far["relu"].points) == ("wrong", 0)


@pytest.mark.parametrize("value", [[True, True], ["1", "1"], [1.0], [[1.0, 1.0]], [1.0, None], []])
def test_what_is_no_list_of_these_numbers_is_wrong(value: list) -> None:
    assert not same(value, np.array([1.0, 1.0]))
    assert same([1, 1.0], np.array([1.0, 1.0])) and same(np.array([1, 1]), np.array([1.0, 1.0]))
    assert not same(np.array([True, True]), np.array([1.0, 1.0]))


def test_a_formula_that_gives_nan_is_no_difference() -> None:
    by_step = rows(
        "02.rules", "def pow_rule(g, x, n):\n    return g * n * np.exp((n - 1) * np.log(x))\n"
    )

    assert by_step["pow"].message == "nan_for_negative"


@pytest.mark.parametrize("kind", ["np.ma.array", "np.longdouble"])
def test_right_numbers_of_another_kind_are_right(kind: str) -> None:
    by_step = rows(
        "05.broadcast",
        f"plain = unbroadcast\ndef unbroadcast(g, shape):\n    return {kind}(plain(g, shape))\n",
    )

    assert by_step["unbroadcast"].points == by_step["unbroadcast"].max


def test_of_an_answer_that_cannot_be_read_only_that_is_said() -> None:
    by_step = rows(
        "02.rules", "plain = mul_rule\ndef mul_rule(*a):\n    return map(abs, plain(*a))\n"
    )

    assert "return a list of them" in by_step["mul"].text
    assert "is not right" not in by_step["mul"].text


@pytest.mark.parametrize(
    ("key", "code", "lost"),
    [
        # Known mistakes that show in other checks or steps as well.
        ("05.broadcast", "mean_instead_of_sum", {"unbroadcast": 8}),
        ("07.grad_mode", "exit_turns_on", {"context": 2}),
        ("07.grad_mode", "toggles", {"context": 2}),
        ("12.train", "gradients_not_cleared", {"step": 2}),
        ("12.train", "no_relu", {"loss": 2}),
        ("14.which_program", "nodes_in_the_description", {"describe": 5}),
        ("15.versions", "saves_a_copy", {"saved": 3}),
        ("16.gradcheck", "all_at_once", {"numerical": 3}),
        ("16.gradcheck", "array_of_answers", {"agrees": 2}),
        (  # right numbers, in an engine that hands one g to two inputs
            "02.rules",
            "def relu_rule(g, x):\n    g *= x > 0\n    return g\n",
            {"relu": 0.5},
        ),
        (  # wrong as well: the two are not added up to more than the step has
            "02.rules",
            "def mul_rule(g, x, y):\n    x *= g\n    y *= g\n    return x, y\n",
            {"mul": 2},
        ),
        (  # one kind of input comes out wrong, and nothing is changed
            "09.variable_length",
            "def mean_loss(losses, lengths):\n"
            "    real = np.arange(losses.shape[1]) < lengths[:, None]\n"
            "    return (losses * real).sum() / lengths.sum()\n",
            {"loss": 1},
        ),
        (
            "09.variable_length",
            "def mean_loss(losses, lengths):\n    total, n = 0.0, lengths.sum()\n"
            "    for i in range(len(losses)):\n        while lengths[i]:\n"
            "            lengths[i] -= 1\n            total += losses[i, lengths[i]]\n"
            "    return total / n\n",
            {"loss": 0.5},
        ),
    ],
)
def test_one_mistake_is_one_loss(key: str, code: str, lost: dict[str, float]) -> None:
    known = {mutant.name: mutant.code for mutant in COURSE.exercise(key).mutants}

    by_step = rows(key, known.get(code, code))

    assert {
        step: row.max - row.points for step, row in by_step.items() if row.points < row.max
    } == (lost)


def test_of_several_checks_that_fail_one_with_a_wrong_example_is_shown() -> None:
    solution = COURSE.exercise("05.broadcast").solution.replace(
        "g = g.sum(axis=tuple(range(g.ndim - len(shape))))",
        "g = g.sum(axis=tuple(range(g.ndim - len(shape)))) * (-1 if g.ndim == 4 else 1)\n"
        "    if shape == ():\n        return -g",
    )

    row = rows("05.broadcast", solution)["unbroadcast"]

    assert row.failed[0] == "Leading"
    assert "For g = [1, 2, 3] and shape ():\nyour code gives -6" in row.text


def test_what_prints_without_end_is_told_so(tmp_path: Path) -> None:
    exercise = tiny.make_course(tmp_path).exercise("01.double")
    numbers = with_checks(exercise, ("Numbers",))

    code = "def double(x):\n    while x == 3:\n        print(x)\n"
    row = grade_code(numbers, code, Level0(), 1).rows[0]

    assert row.status == "error"
    assert "`print` was called more than 200,000 times" in row.text
    assert "line 3: print(x)" in row.text


def test_what_is_wrong_from_the_second_call_on_is_not_told_as_a_change_of_inputs() -> None:
    by_step = rows(
        "02.rules",
        "total = np.zeros(1)\n\ndef mul_rule(g, x, y):\n"
        "    total[:] = total + g[0] * y[0]\n    return total + 0 * g, g * x\n",
    )

    assert (by_step["mul"].points, by_step["mul"].message) == (0, "Mul")
    assert "changes its inputs" not in by_step["mul"].text


def test_an_error_from_the_second_call_on_is_not_told_as_a_change_of_inputs() -> None:
    counting = "calls = []\n\ndef exp_rule(g, x, out):\n    calls.append(1)\n"
    by_step = rows("02.rules", f"{counting}    return g * out / (len(calls) < 8)\n")
    stops = rows("02.rules", f"{counting}    return g * out if len(calls) < 8 else calls.x\n")

    for row in (by_step["exp"], stops["exp"]):
        assert row.points < 2
        assert "changes its inputs" not in row.text


def test_short_floats_are_told_as_that() -> None:
    code = "def softplus(x):\n    return np.logaddexp(0.0, x).astype(np.float16)\n"

    row = rows("16.gradcheck", code)["softplus"]

    assert (row.points, row.message) == (0, "Forward")
    assert "3 digits only, as float16" in row.text


def test_a_rule_in_short_floats_is_no_difference_and_no_complex_step() -> None:
    row = rows(
        "02.rules",
        "def mul_rule(g, x, y):\n"
        "    kind = np.complex64 if np.iscomplexobj(g) else np.float32\n"
        "    return (g * y).astype(kind), (g * x).astype(kind)\n",
    )["mul"]

    assert (row.points, row.message) == (0, "Mul")
    assert "as float32" in row.text


def test_a_known_mistake_is_told_where_its_error_names_a_function_of_the_check() -> None:
    exercise = COURSE.exercise("07.grad_mode")
    (mutant,) = [m for m in exercise.mutants if m.name == "named_arguments_lost"]

    result = grade_code(exercise, f"{exercise.solution}\n\n{mutant.code}", Level0(), 3)

    assert [row.message for row in result.rows if row.points < row.max] == [mutant.message]
