"""Asking: what the learner is told, what is kept, and an output that is the same for everyone."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autodiff_kit.lessons import predict, progress, show_progress
from autodiff_kit.lessons.bank import LESSONS, QUESTIONS
from autodiff_kit.lessons.cards import Card, QuestionCard
from autodiff_kit.lessons.progress import Answer

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "progress.json"
    monkeypatch.setenv("ADK_PROGRESS", str(file))
    return file


def output(card: Card) -> dict[str, Any]:
    """What stays in the notebook: the widget's view is left out, as nbval leaves it out."""
    bundle = card._repr_mimebundle_()
    assert bundle is not None
    return {kind: value for kind, value in bundle[0].items() if "widget-view" not in kind}


def own_question(**parts: Any) -> QuestionCard:
    return predict("What is `2 + 2`?", number=4, why={22: "That is text."}, right="Yes.", **parts)


def test_a_question_of_the_lessons_is_asked_by_its_key() -> None:
    assert predict("03.adds").question is QUESTIONS["03.adds"]


def test_a_key_with_a_slip_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(ValueError, match=r"no question '03\.ads'") as caught:
        predict("03.ads")

    assert "Did you mean '03.adds'?" in str(caught.value)


def test_a_question_without_any_answer_is_told_what_it_needs() -> None:
    with pytest.raises(ValueError, match="needs choices=, number= or code="):
        predict("What is the meaning of it all?")


@pytest.mark.parametrize(
    "parts",
    [
        {"number": 4, "code": "4"},
        {"choices": ["3", "4"]},
        {"choices": ["3", "4"], "answer": "4", "number": 4},
        {"number": 4, "answer": "4"},
    ],
)
def test_a_question_has_one_kind_of_answer(parts: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="either choices and an answer, or a number, or code"):
        predict("What is 2 + 2?", **parts)


def test_a_question_of_ones_own_can_have_choices_a_number_or_code() -> None:
    by_choice = predict("?", choices=["3", "4"], answer="4", why={"3": "Count again."})
    by_number = predict("?", number=0)
    by_code = predict("?", code=["2 + 2", "4"])

    assert by_choice.answer("4") == "right"
    assert by_number.answer("0") == "right"
    assert by_code.answer("4") == "right"


def test_a_wrong_answer_is_explained_and_the_first_one_is_shown() -> None:
    card = own_question()

    card.answer("22")

    assert card.state["outcome"] == "wrong"
    assert card.state["feedback"] == "<p><strong>Not quite.</strong></p><p>That is text.</p>"
    assert card.state["note"] == "<p>Your first prediction: <code>22</code></p>"


def test_one_can_try_again_and_the_first_answer_stays_in_sight() -> None:
    card = own_question()

    card.answer("22")
    card.answer("4")

    assert card.state["outcome"] == "right"
    assert "Yes." in card.state["feedback"]
    assert "<code>22</code>" in card.state["note"]


def test_one_can_look_instead_of_trying_again() -> None:
    card = own_question()

    card.answer("22")
    card.look()

    assert card.state["outcome"] == "looked"
    assert card.state["feedback"] == (
        "<p><strong>The answer:</strong></p><p><code>4</code></p><p>Yes.</p>"
    )


def test_what_cannot_be_read_is_no_prediction() -> None:
    card = own_question(key="own.four")

    card.answer("four")

    assert card.state["outcome"] == "unclear"
    assert card.state["note"] == ""
    assert progress.read() == ({}, "")


def test_each_reaction_is_a_new_state_even_when_nothing_else_changed() -> None:
    card = own_question()
    states: list[int] = []
    card.observe(lambda change: states.append(change["new"]["count"]), "state")

    card.answer("22")
    card.answer("22")

    assert states == [1, 2]


def test_messages_of_the_browser_are_answers_or_a_wish_to_look() -> None:
    card = own_question()

    card._on_message(card, {"answer": "22"}, [])
    after_answer = card.state["outcome"]
    card._on_message(card, {"look": True}, [])
    after_look = card.state["outcome"]
    card._on_message(card, {"something": "else"}, [])

    assert (after_answer, after_look, card.state["count"]) == ("wrong", "looked", 2)


def test_what_the_learner_typed_is_shown_as_text_and_never_as_html() -> None:
    card = predict("Which code?", code="x")

    card.answer("<img src=x>")  # no Python
    unread = card.state["feedback"]
    card.answer("'<img src=x>'")

    assert "&lt;img src=x&gt;" in unread and "<img" not in unread
    assert "&lt;img src=x&gt;" in card.state["note"]
    assert "<img" not in card.state["note"] + card.state["feedback"]


def test_an_answer_is_kept_under_its_key() -> None:
    predict("03.adds").answer(" 4 ")

    assert progress.read() == ({"03.adds": Answer("4", right=False)}, "")


def test_a_question_without_a_key_is_asked_and_nothing_is_kept(file: Path) -> None:
    own_question().answer("22")

    assert not file.exists()


def test_asking_alone_writes_nothing(file: Path) -> None:
    predict("03.adds")
    show_progress()

    assert list(file.parent.iterdir()) == []


def test_a_question_asked_again_shows_the_first_prediction() -> None:
    predict("03.adds").answer("4")

    again = predict("03.adds")

    assert "Your first prediction: <code>4</code>" in again.state["note"]
    assert again.state["outcome"] == ""


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        (["5"], "It was right."),
        (["4", "5"], "You have found the right answer since."),
        (["4"], "It is not solved yet."),
        (["4", "look"], "You have seen the answer since."),
    ],
)
def test_a_question_asked_again_says_what_came_of_it(answers: list[str], words: str) -> None:
    card = predict("03.adds")
    for answer in answers:
        card.look() if answer == "look" else card.answer(answer)

    note = predict("03.adds").state["note"]

    assert note == f"<p>Your first prediction: <code>{answers[0]}</code>. {words}</p>"


def test_every_choice_that_was_tried_has_its_mark() -> None:
    card = predict("02.spread")
    for choice in ("both", "only `h`", "neither: they were not asked to", ""):
        card.answer(choice)

    assert card.state["marks"] == {
        "both": "wrong",
        "only `h`": "right",
        "neither: they were not asked to": "wrong",
    }


def test_a_first_prediction_that_was_a_choice_is_shown_as_it_was_worded() -> None:
    predict("02.spread").answer("only `h`")

    assert "Your first prediction: only <code>h</code>" in predict("02.spread").state["note"]


def test_a_question_works_where_nothing_can_be_kept_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in the way").touch()
    monkeypatch.setenv("ADK_PROGRESS", str(tmp_path / "in the way" / "progress.json"))
    card = predict("03.adds")

    assert card.answer("5") == "right"
    assert "This answer cannot be kept" in card.state["note"]


def test_a_damaged_file_is_told_on_the_card_and_not_in_the_output(file: Path) -> None:
    usual = output(predict("03.adds"))
    file.write_text("{")

    card = predict("03.adds")

    assert "damaged" in card.state["note"]
    assert output(card) == usual


@pytest.mark.parametrize("key", QUESTIONS)
def test_the_output_of_a_question_is_the_same_whatever_was_answered(key: str) -> None:
    usual = output(predict(key))
    card = predict(key)
    card.answer(str(card.question.answer))

    assert output(card) == usual
    assert output(predict(key)) == usual


def test_the_output_of_the_progress_table_is_the_same_whatever_was_answered(file: Path) -> None:
    usual = output(show_progress())
    predict("03.adds").answer("4")

    card = show_progress()

    assert output(card) == usual
    assert str(file) in card.body
    assert str(file) not in str(usual)


def test_the_output_does_not_give_the_answer_away() -> None:
    card = predict("03.adds")

    assert "5" not in output(card)["text/plain"] + output(card)["text/html"]
    assert card.question.right not in str(card.get_state(["body", "form", "state"]))


def test_the_output_without_a_widget_has_the_question_and_its_choices() -> None:
    still = output(predict("02.spread"))

    for choice in ("both", "only <code>h</code>", "only <code>k</code>", "neither"):
        assert choice in still["text/html"]
    assert "Question: Only `w` asks for a gradient" in still["text/plain"]
    assert "/ both / only `h`" in still["text/plain"]


def test_the_progress_table_counts_answers_and_first_ones_that_were_right() -> None:
    predict("03.adds").answer("5")
    predict("03.again").answer("3")
    before = show_progress().body
    predict("03.again").answer(str(QUESTIONS["03.again"].answer))

    total = sum(key.startswith("03.") for key in QUESTIONS)
    assert f"2 of {total} answered: 1 right at first<" in before
    assert f"2 of {total} answered: 1 right at first, 1 later<" in show_progress().body


def test_the_progress_table_leads_to_the_lessons_that_lie_beside_it(file: Path) -> None:
    for name in ("03_the_backward_pass.new-0.2.0.ipynb", "03_the_backward_pass.ipynb"):
        (file.parent / name).write_text("{}")

    body = show_progress().body

    assert '<a href="03_the_backward_pass.ipynb">03 ' in body
    assert body.count("<a ") == 1


def test_the_field_for_an_answer_says_what_is_typed_there() -> None:
    kinds = {key: predict(key).form["placeholder"] for key in ("03.adds", "01.last", "01.task")}

    assert kinds == {"03.adds": "a number", "01.last": "a name", "01.task": "a list"}


def test_a_lesson_with_all_questions_answered_has_a_tick() -> None:
    for key in QUESTIONS:
        if key.startswith("00."):
            predict(key).answer("1")

    rows = show_progress().body.split("<tr>")

    assert [row.count("✓") for row in rows if "Start here" in row] == [1]
    assert sum(row.count("✓") for row in rows) == 1


def test_the_progress_table_tells_of_a_damaged_file(file: Path) -> None:
    file.write_text("{")

    assert "damaged" in show_progress().body


def test_every_question_belongs_to_a_lesson() -> None:
    numbers = {lesson.number for lesson in LESSONS}

    assert {key.partition(".")[0] for key in QUESTIONS} == numbers


def test_the_lessons_module_loads_no_widget_before_something_is_asked() -> None:
    code = (
        "import sys, autodiff_kit.lessons, autodiff_kit.lessons.predict\n"
        "from autodiff_kit.lessons import predict\n"
        "assert callable(predict)\n"
        "print([m for m in ('IPython', 'anywidget', 'ipywidgets') if m in sys.modules])"
    )

    process = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert process.stdout.strip() == "[]"


def order_of(key: str) -> list[str]:
    return [choice["value"] for choice in predict(key).form["choices"]]


def test_choices_have_an_order_of_their_own_for_each_learner_and_a_fixed_one_for_one_learner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders, firsts = set(), set()
    for learner in range(40):
        monkeypatch.setenv("ADK_PROGRESS", str(tmp_path / str(learner) / "progress.json"))
        assert order_of("03.order") == order_of("03.order")
        orders.add(tuple(order_of("03.order")))
        firsts.add(order_of("03.order")[0])

    choices = QUESTIONS["03.order"].choices
    assert all(sorted(order) == sorted(choices) for order in orders)
    assert len(orders) > 10  # of 24
    assert firsts == set(choices)  # the right one is anywhere


def test_the_stored_words_and_a_teachers_own_choices_have_the_order_that_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stills = set()
    for learner in range(5):
        monkeypatch.setenv("ADK_PROGRESS", str(tmp_path / str(learner) / "progress.json"))
        stills.add(predict("03.order").still())
        own = predict("?", choices=list("dacb"), answer="a", why=dict.fromkeys("bcd", "No."))
        assert [choice["value"] for choice in own.form["choices"]] == list("dacb")

    assert len(stills) == 1
