"""Numbers, names and rules as text."""

import math

import pytest

import autodiff_kit as torch
from autodiff_kit.record import record
from autodiff_kit.view.labels import label, word
from autodiff_kit.view.names import Names
from autodiff_kit.view.rules import decided, fill, rule_forms, worked_out
from autodiff_kit.view.values import grid, number, short, show, symbol
from tests.view import recordings


def value(data: list[float], *shape: int, dtype: str = "float32") -> dict:
    return {"shape": list(shape), "dtype": dtype, "data": data}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (8.0, "8."),
        (-8.0, "-8."),
        (0.0, "0."),
        (0.5, "0.5"),
        (0.1 + 0.2, "0.3"),
        (math.pi, "3.1416"),
        (1 / 3, "0.3333"),
        (0.0123456, "0.01235"),
        (0.99999, "1."),
        (1234.5678, "1234.57"),
        (99999.5, "99999.5"),
        (1e6, "1e+06"),
        (0.0000015, "1.5e-06"),
        (-2.5e-9, "-2.5e-09"),
        (float("nan"), "nan"),
        ("inf", "inf"),
        ("-inf", "-inf"),
        (3, "3"),
        (True, "True"),
    ],
)
def test_a_number_is_written_in_the_shortest_form_that_still_looks_like_a_float(value, text):
    assert number(value) == text


def test_integers_of_a_float_tensor_have_their_point():
    assert show(value([1, 2], 2)) == "[1., 2.]"


def test_integer_and_bool_tensors_have_none():
    assert show(value([1, 0], 2, dtype="int64")) == "[1, 0]"
    assert show(value([1, 0], 2, dtype="bool")) == "[True, False]"


def test_a_matrix_that_fits_is_shown_with_its_rows():
    assert show(value([1.0, 2.0, 3.0, 4.0], 2, 2)) == "[[1., 2.], [3., 4.]]"


def test_a_tensor_that_does_not_fit_is_shown_by_its_shape():
    large = value([0.0] * 20, 4, 5)

    assert show(large) == "(4, 5) tensor"
    assert symbol(large) == "Tensor(4, 5)"
    assert short(large) is None


def test_a_tensor_without_elements_is_shown_as_such():
    assert show(value([], 0)) == "[]"
    assert show(value([], 2, 0)) == "[[], []]"


def test_an_unknown_value_is_a_question_mark():
    assert show(value([], dtype="")) == "?"


def test_a_grid_lines_up_its_columns_with_equal_decimals():
    assert grid(value([1.0, -2.25, 30.0, 4.0], 2, 2)) == "[[ 1.00, -2.25],\n [30.00,  4.00]]"


def test_a_grid_of_three_dimensions_closes_every_bracket():
    text = grid(value([1.0, 2.0, 3.0, 4.0], 2, 1, 2))

    assert text == "[[[1., 2.]],\n [[3., 4.]]]"


def test_a_large_value_is_described_by_its_statistics():
    stats = {"min": -1.0, "max": 2.0, "mean": 0.5, "std": 0.25, "nan": 3, "inf": 0}
    text = grid({**value([1.0] * 8, 100), "stats": stats})

    assert text.startswith("[1., 1., 1., 1., 1., 1., 1., 1., ...]\nmin -1., max 2., mean 0.5")
    assert text.endswith("\n3 \N{MULTIPLICATION SIGN} nan")


@pytest.mark.parametrize(
    ("rule", "names", "text"),
    [
        ("g * y", {"g": "3.", "y": "2."}, "3. * 2."),
        ("g * y", {"g": "-3.", "y": "2."}, "-3. * 2."),
        ("g * y", {"g": "3.", "y": "-2."}, "3. * (-2.)"),
        ("-g", {"g": "-3."}, "-(-3.)"),
        ("g", {"g": "-3."}, "-3."),
        ("x ** 2", {"x": "-3."}, "(-3.) ** 2"),
        ("a - g * y", {"g": "-3."}, "a - (-3.) * y"),
        ("g * cos(x)", {"g": "1.", "x": "-2."}, "1. * cos(-2.)"),
        ("g * y", {"y": "2 * x"}, "g * (2 * x)"),
        ("g * y", {"y": "f(a + b)"}, "g * f(a + b)"),
        ("g * y", {"y": "h[0]"}, "g * h[0]"),
        ("y.T", {"y": "a @ b"}, "(a @ b).T"),
        ("x.y", {"y": "wrong"}, "x.y"),
        ("cos(x)", {"cos": "wrong"}, "cos(x)"),
        ("mm(x.T, g)", {"g": "z.grad"}, "x.T @ z.grad"),
        ("g * (1 - out * out)", {"g": "1.", "out": "0.5"}, "1. * (1 - 0.5 * 0.5)"),
        ("where(x > 0, g, 0)", {"x": "-1."}, "where(-1. > 0, g, 0)"),
        ("zeros with x", {"x": "3"}, "zeros with x"),
        ("g * größe", {"größe": "2."}, "g * 2."),
    ],
)
def test_names_are_filled_in_with_the_parentheses_they_need(rule, names, text):
    assert fill(rule, names) == text


def test_a_filled_in_rule_means_the_same_number():
    # Python itself is the judge: what stands there must evaluate to the rule's own result.
    for rule in ("-g * y", "g - y * x", "g / (y * y)", "g * (y * x ** (y - 1))", "(g + x) * y"):
        for g, x, y in ((-3.0, -2.0, 4.0), (2.0, 5.0, -1.0), (-1.5, 3.0, 2.0)):
            text = fill(rule, {"g": number(g), "x": number(x), "y": number(y)})

            assert eval(text) == eval(rule, {"g": g, "x": x, "y": y})


def test_a_rule_is_written_with_names_and_with_numbers():
    forms = rule_forms(
        "g * y",
        names={"g": "gradient of z", "y": "2 * b"},
        numbers={"g": "3.", "y": "-2."},
        target="a",
        result="-6.",
    )

    assert forms == ["to a: (gradient of z) × (2 * b)", "to a: 3. × (-2.) = -6."]


def test_a_rule_that_hands_on_is_not_written_as_an_equation_with_itself():
    assert worked_out("g", {"g": "4."}, "4.") == "4."


def test_a_rule_with_names_of_its_own_shows_only_what_it_gives():
    assert worked_out("where(winners, g, 0)", {"g": "4."}, "[0., 4.]") == "[0., 4.]"


def test_a_condition_that_the_parameters_decide_is_left_out():
    rule = "g * 0 if exponent == 0 else g * (exponent * x ** (exponent - 1))"

    assert decided(rule, (("exponent", "0"),)) == "g * 0"
    assert decided(rule, (("exponent", "2"),)) == "g * (exponent * x)"
    assert decided(rule, (("exponent", "3."),)) == "g * (exponent * x ** 2)"
    assert decided(rule, (("exponent", "0.5"),)) == "g * (exponent * x ** -0.5)"


def test_a_condition_on_a_tensor_stays():
    assert decided("g if x > 0 else 0", ()) == "g if x > 0 else 0"


TIMES, MINUS = "\N{MULTIPLICATION SIGN}", "\N{MINUS SIGN}"


@pytest.mark.parametrize(
    ("text", "constants", "expected"),
    [
        ("x * y", {}, TIMES),
        ("x * y", {"x": "2"}, f"2 {TIMES}"),
        ("x + y", {"y": "3"}, "+ 3"),
        ("y - x", {"y": "1"}, f"1 {MINUS}"),
        ("-x", {}, MINUS),
        ("x ** exponent", {"exponent": "2"}, "** 2"),
        ("1 / x", {}, "1 \N{DIVISION SIGN}"),
        ("x + alpha * y", {"alpha": "2"}, f"+ 2 {TIMES}"),
        ("x @ y", {}, "@"),
        ("x > y", {"y": "0"}, "> 0"),
        ("tanh(x)", {}, "tanh"),
        ("x.sum(dim)", {"dim": "(0,)", "keepdim": "False"}, "sum(dim=(0,))"),
        ("clamp(x)", {"min": "0", "max": "None"}, "clamp(min=0)"),
        ("x.view(shape)", {"shape": "(2, 3)"}, "view((2, 3))"),
        ("x[index]", {"index": "0", "dim": "0"}, "[0]"),
        ("x.T", {}, ".T"),
        ("zeros with x at [index]", {}, "pick's rule"),
        ("x.reshape(shape)", {"shape": "(100, 200, 300, 400)"}, "reshape"),
    ],
)
def test_a_box_is_labelled_with_the_symbol_and_the_constants(text, constants, expected):
    assert label(text, constants, "select_backward") == expected


def test_the_parts_of_an_ops_name_that_only_programmers_need_are_not_said():
    assert [word(op) for op in ("mul", "sum_all", "mean_dim", "pow_to_number", "log_softmax")] == [
        "multiply",
        "sum",
        "mean",
        "power",
        "log softmax",
    ]


def test_in_a_loop_an_expression_is_named_by_the_rounds_own_names():
    names = Names(recordings.loop())

    # nodes 3 to 5 are the first round, 6 to 8 the second
    assert [names.name(n) for n in range(3, 9)] == [
        "h * w",
        "h * w + b",
        "h1",
        "h1 * w",
        "h1 * w + b",
        "h2",
    ]
    assert names.title(8) == "h2 = tanh(h1 * w + b)"


def test_a_name_that_ends_in_a_digit_of_its_own_is_not_taken_for_another():
    tape = recordings.Tape("y = x * x1")
    x, x1 = tape.leaf("x", 1.0), tape.leaf("x1", 2.0)
    product = tape.op("mul", x, x1, text="x * x1")

    assert Names(tape.data).name(product) == "x * x1"


def test_one_name_for_two_tensors_is_told_apart_by_the_op_table():
    tape = recordings.Tape("")
    first, second = tape.leaf("h1", 1.0), tape.leaf("h2", 2.0)
    for node in tape.data["nodes"]:
        node["variable"] = "h"
    product = tape.op("mul", first, second, text="h * h")

    assert Names(tape.data).name(product) == "h1 * h2"


def test_an_augmented_assignment_is_told_as_it_is_written():
    tape = recordings.Tape("h *= w")
    product = tape.op("mul", tape.leaf("h1", 1.0), tape.leaf("w", 2.0), name="h2", text="h *= w")

    assert Names(tape.data).title(product) == "h2: h1 *= w"


def test_the_parts_of_one_call_are_not_all_named_after_it():
    tape = recordings.Tape("total = sum(parts)")
    a, b, c = (tape.leaf(name, 1.0) for name in "abc")
    first = tape.op("add", a, b, text="sum(parts)")
    last = tape.op("add", first, c, name="total", text="sum(parts)")

    names = Names(tape.data)

    assert names.name(first) == "a + b"
    assert names.title(last) == "total = sum(parts)"


def test_a_long_expression_without_a_name_is_called_by_its_number():
    tape = recordings.Tape("")
    x = tape.leaf("x", 1.0)
    node = tape.op("mul", x, x, text="a_very_long_function_name(x, another_argument)")

    assert Names(tape.data).name(node) == "a_very_long_function_name(…)"


def test_the_module_is_left_out_of_a_name():
    tape = recordings.Tape("")
    node = tape.op("tanh", tape.leaf("x", 1.0), text="torch.tanh(x)")

    assert Names(tape.data).name(node) == "tanh(x)"


def test_ten_thousand_nested_parts_of_a_call_are_named_without_recursion():
    tape = recordings.Tape("sum(parts)")
    total = tape.leaf("a", 1.0)
    for _ in range(10_000):
        total = tape.op("add", total, 1.0, text="sum(parts)")

    assert Names(tape.data).name(total) == "sum(parts)"


def test_a_name_that_a_comprehension_binds_stays_as_it_is_written():
    with record() as rec:
        ws = [torch.tensor(float(i), requires_grad=True) for i in range(3)]
        s = sum(w * w for w in ws)
        t = s * 2
    names = Names(rec.to_dict())
    titles = [names.title(n["id"]) for n in rec.nodes]

    assert "s = sum(w * w for w in ws)" in titles
    assert {*(f"ws[{i}] * ws[{i}]" for i in range(3)), "t = s * 2"} <= set(titles)
    assert t.item() == 10.0  # 2 (0 + 1 + 4)
