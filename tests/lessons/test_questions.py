"""When two answers count as the same, and what is said to each wrong one."""

from pathlib import Path
from typing import Any

import pytest

from autodiff_kit.lessons.questions import Question, to_html


def choice(**parts: Any) -> Question:
    whole: dict[str, Any] = {
        "text": "What is `2 + 2`?",
        "kind": "choice",
        "choices": ("3", "4"),
        "answer": "4",
        "why": {"3": "That is 1 + 2."},
        "right": "Two and two.",
    }
    return Question(**(whole | parts))


def number(answer: float = 8.0, **parts: Any) -> Question:
    return Question(text="How much?", kind="number", answer=answer, **parts)


def code(answer: str, *also: str, **parts: Any) -> Question:
    return Question(text="Which code?", kind="code", answer=answer, also=also, **parts)


def test_the_right_choice_is_right_and_says_why() -> None:
    assert choice().judge("4") == ("right", "Two and two.")


def test_a_wrong_choice_gets_its_own_explanation() -> None:
    assert choice().judge("3") == ("wrong", "That is 1 + 2.")


@pytest.mark.parametrize(
    ("question", "verb"), [(choice(), "Choose"), (number(), "Type"), (code("x"), "Type")]
)
def test_no_answer_is_no_wrong_answer(question: Question, verb: str) -> None:
    verdict = question.judge("  \n")

    assert verdict == ("unclear", f"{verb} an answer first. A guess is fine.")


@pytest.mark.parametrize(
    "answer",
    [
        "8",
        "8.",
        " 8.0 ",
        "+8",
        "16/2",
        "8e0",
        "tensor(8.)",
        "torch.tensor( 8 )",
        "`8`",
        "08",
        "4+4",
        "2 * 4",
        "2 ** 3",
        "2*(3 + 1)",
        "-(-8)",
        "9 - 2/2",
        "64 ** 0.5",
        "tensor(4 + 4)",
    ],
)
def test_a_number_may_be_written_in_many_ways(answer: str) -> None:
    assert number(8.0).judge(answer).outcome == "right"


@pytest.mark.parametrize(
    "answer",
    [
        "9**9**9",
        "((9**99)**99)**99",
        "9**-9**9",
        "(-1)**0.5",
        "1e999*2",
        "0**-1",
        "(" * 99,
        "8" * 199,
        "-" * 180 + "x",
        "len('12345678')",
        "int(8)",
        "abs(-8)",
        "8 if 1 else 8",
        "4 .real",
    ],
)
def test_what_would_take_long_or_call_something_is_no_number(answer: str) -> None:
    assert number().judge(answer).outcome != "right"


def test_a_minus_sign_from_a_book_is_a_minus() -> None:
    assert number(-2.0).judge("\N{MINUS SIGN}2").outcome == "right"


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        *(("0.3333", "right"), ("0.33", "right"), (".333", "right"), ("0.3", "wrong")),
        *(("0.34", "wrong"), ("0.332", "wrong"), ("0.3300", "wrong"), ("0", "wrong")),
        *(("-0.33", "wrong"), ("1/3", "right"), ("10/30", "right"), ("0.33/1", "wrong")),
    ],
)
def test_a_number_may_be_rounded_to_the_digits_that_were_typed(answer: str, outcome: str) -> None:
    assert number(1 / 3).judge(answer).outcome == outcome


def test_two_thirds_with_three_digits_is_right_and_cut_off_it_is_not() -> None:
    verdicts = [number(2 / 3).judge(answer).outcome for answer in ("0.667", "0.67", "0.66", "0.7")]

    assert verdicts == ["right", "right", "wrong", "wrong"]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        *((40000.0, "40,000"), (40000.0, "40_000"), (40000.0, "10 * 1,000 * 4")),
        *((16384.0, "16,384"), (16384.0, "4**7"), (16384.0, "16,384.0")),
        *((-0.125, "-1/8"), (-0.125, "-(2**-3)"), (1234567.0, "1,234,567")),
    ],
)
def test_thousands_and_powers_are_read(answer: float, text: str) -> None:
    assert number(answer).judge(text).outcome == "right"


@pytest.mark.parametrize("answer", ["1,00", "1,0000", "0,5", "8,", "1,2,3"])
def test_a_comma_that_parts_no_thousands_is_no_number(answer: str) -> None:
    assert number().judge(answer).outcome == "unclear"


@pytest.mark.parametrize(("answer", "text"), [(float("inf"), "inf"), (float("nan"), "nan")])
def test_infinity_and_nan_are_numbers_too(answer: float, text: str) -> None:
    assert number(answer).judge(text).outcome == "right"
    assert number(answer).judge("8").outcome == "wrong"
    assert number(8.0).judge(text).outcome == "wrong"


@pytest.mark.parametrize(
    "answer", ["eight", "8 apples", "0,5", "1/0", "8;8", "[8]", "2 ^ 3", "x", "True"]
)
def test_what_is_no_number_is_told_so_and_is_no_wrong_answer(answer: str) -> None:
    verdict = number().judge(answer)

    assert verdict.outcome == "unclear"
    assert answer in verdict.text


def test_a_wrong_number_that_was_foreseen_gets_its_own_explanation() -> None:
    question = number(8.0, why={4.0: "Only half of the way."}, otherwise="Look at the chain.")

    assert question.judge("4") == ("wrong", "Only half of the way.")
    assert question.judge("5") == ("wrong", "Look at the chain.")


@pytest.mark.parametrize(
    "answer",
    [
        "z = 4 * (2 * x + 3) - 1",
        "z=4*(2*x+3)-1",
        "  z = 4*(3 + x*2) - 1  ",
        "z = (2. * x + 3.) * 4. - 1.",
        "`z = 4 * (2 * x + 3) - 1`",
        "z = (4 * ((2 * x) + 3)) - 1  # mended",
        "z = 8*x + 12 - 1",
        "z = 8 * x + 11",
        "z = 4*2*x + 4*3 - 1",
        "z = -1 + 2 * (4*x + 6)",
    ],
)
def test_code_may_be_written_in_many_ways(answer: str) -> None:
    assert code("z = 4 * (2 * x + 3) - 1").judge(answer).outcome == "right"


@pytest.mark.parametrize(
    "answer",
    [
        "z = 4 * 2 * x + 3 - 1",
        "z = 4 * (2 * x + 3) + 1",
        "z = 1 - 4 * (2 * x + 3)",
        "z = 8 * y + 11",
        "y = 8 * x + 11",
        "z = 8 * x + 11.001",
        "z = 8 * x ** 2 + 11",
        "z = 8 @ x + 11",
    ],
)
def test_code_that_means_something_else_is_wrong(answer: str) -> None:
    assert code("z = 4 * (2 * x + 3) - 1").judge(answer).outcome == "wrong"


@pytest.mark.parametrize("answer", ["['a', 'b']", '["a","b"]', "[ 'a', 'b' , ]"])
def test_values_are_compared_as_values(answer: str) -> None:
    assert code("['a', 'b']").judge(answer).outcome == "right"


@pytest.mark.parametrize("answer", ["<AddBackward0>", "< AddBackward0 >", "`<AddBackward0>`"])
def test_what_is_no_python_is_compared_without_its_blanks(answer: str) -> None:
    assert code("<AddBackward0>").judge(answer).outcome == "right"


@pytest.mark.parametrize(
    ("typed", "advice"),
    [
        ("8x + 11", "write `8 * x`"),
        ("4 * (2x + 3) - 1", "write `2 * x`"),
        ("4(2 * x + 3) - 1", "write `4 * (`"),
        ("z = 4 * (2 * x + 3 - 1", "is not Python: look at its brackets"),
        ("x^2", "`x**2`, not `x^2`"),
    ],
)
def test_code_in_the_notation_of_mathematics_is_told_so_and_is_no_try(
    typed: str, advice: str
) -> None:
    verdict = code("z = 4 * (2 * x + 3) - 1").judge(typed)

    assert verdict.outcome == "unclear"
    assert advice in verdict.text


@pytest.mark.parametrize(
    ("typed", "advice"),
    [
        ("AddBackward0, AccumulateGrad", "in brackets"),
        ("'AddBackward0', 'AccumulateGrad'", "in brackets"),
        ("['AddBackward0', 'AccumulateGrad'", "look at its brackets"),
    ],
)
def test_a_list_of_names_without_brackets_is_told_so_and_is_no_try(typed: str, advice: str) -> None:
    verdict = code("['AddBackward0', 'AccumulateGrad']").judge(typed)

    assert verdict.outcome == "unclear"
    assert advice in verdict.text


def test_what_was_foreseen_or_is_a_list_is_judged_as_it_is() -> None:
    question = code("['a', 'b']", why={"[a, b": "Foreseen."})

    assert question.judge("[a, b").text == "Foreseen."
    assert question.judge("['b', 'a']").outcome == "wrong"
    assert code("[3, 1]").judge("3, 2").outcome == "wrong"
    assert code("<AddBackward0>").judge("<MulBackward0>").outcome == "wrong"
    assert "one name" in code("AddBackward0").judge("Add Backward0").text


def test_there_may_be_several_right_answers_in_code() -> None:
    assert code("4 * x", "x + x + x + x").judge("x + x + x + x").outcome == "right"


def test_an_answer_in_code_is_never_run(tmp_path: Path) -> None:
    trace = tmp_path / "trace"

    verdict = code("x").judge(f"open({str(trace)!r}, 'w')")

    assert verdict.outcome == "wrong"
    assert not trace.exists()


@pytest.mark.parametrize(
    "answer",
    [
        "9**9**9",
        "x**9**9",
        "x / (y - y)",
        "(" * 150,
        "-" * 180 + "1",
        "[" * 90 + "]" * 90,
        "\0",
        "x" * 199,
        "λ = 1",
    ],
)
def test_an_odd_answer_in_code_is_only_wrong_or_no_python(answer: str) -> None:
    is_python = answer not in ("(" * 150, "\0")
    assert code("x").judge(answer).outcome == ("wrong" if is_python else "unclear")


def test_a_very_long_answer_is_refused_in_words() -> None:
    verdict = code("x").judge("x + " * 1000 + "x")

    assert verdict.outcome == "unclear"
    assert "too long" in verdict.text


def test_a_question_must_say_something_to_every_wrong_choice() -> None:
    with pytest.raises(ValueError, match="says nothing to the wrong choice '3'"):
        choice(why={})


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"answer": "5"}, "its answer '5' is not one of its choices"),
        ({"choices": ("4",)}, "two or more choices"),
        ({"choices": ("3", "4", "4")}, "each of them once"),
        ({"why": {"3": "no", "5": "no"}}, "explains '5', which is not one of its choices"),
        ({"why": {"3": "no", "4": "no"}}, "explains '4' as wrong, but it is right"),
        ({"kind": "number", "answer": 4.0}, "has choices, so its kind is 'choice'"),
    ],
)
def test_a_question_whose_parts_do_not_fit_is_refused(parts: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        choice(**parts)


def test_a_number_cannot_be_right_and_explained_as_wrong() -> None:
    with pytest.raises(ValueError, match=r"explains 8\.0 as wrong, but it is right"):
        number(8.0, why={8.0: "no"})


def test_markup_knows_paragraphs_code_and_emphasis_and_nothing_else() -> None:
    text = "Is `a < b` *always*\ntrue?\n\n    if a < b:\n        c = 4 * a * b\n\n<b>2 * 3 * 4</b>"

    assert to_html(text) == (
        "<p>Is <code>a &lt; b</code> <em>always</em> true?</p>"
        "<pre><code>if a &lt; b:\n    c = 4 * a * b</code></pre>"
        "<p>&lt;b&gt;2 * 3 * 4&lt;/b&gt;</p>"
    )


def test_in_code_an_asterisk_is_an_asterisk() -> None:
    assert to_html("`2 * x` and `4*y*z`") == "<p><code>2 * x</code> and <code>4*y*z</code></p>"


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        ("[AddBackward0, AccumulateGrad]", "right"),
        ("['AddBackward0', AccumulateGrad]", "right"),
        ("[AccumulateGrad, AddBackward0]", "wrong"),
        ("[AddBackward0, None]", "wrong"),
        ("[addbackward0, AccumulateGrad]", "wrong"),
    ],
)
def test_names_in_a_list_need_no_quotes(response: str, outcome: str) -> None:
    verdict = code("['AddBackward0', 'AccumulateGrad']").judge(response)

    assert verdict.outcome == outcome
    assert "quotes" not in verdict.text
