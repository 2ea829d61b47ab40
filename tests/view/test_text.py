"""The picture as text, for terminals and screen readers."""

import pytest

import autodiff_kit as torch
from autodiff_kit.view import build, to_text
from autodiff_kit.view.names import Names
from autodiff_kit.view.text import facts
from tests.view import goldens, recordings


@pytest.mark.parametrize("name", recordings.ALL)
def test_the_text_is_as_it_was_looked_at(name):
    goldens.check(f"{name}.txt", to_text(build(recordings.ALL[name]())))


def test_a_step_is_told_with_its_source_underlined():
    text = to_text(build(recordings.classic()), step=8)

    assert text.endswith(
        "Step 9 of 15 (backward): The rule of multiply for 2 * x + 3 "
        "gives 1.0 \N{MULTIPLICATION SIGN} 4 = 4.0. Multiply no longer keeps the number 4.\n"
        "\n"
        "    z = 4 * (2 * x + 3) - 1\n"
        "        ^^^^^^^^^^^^^^^\n"
    )


def test_a_step_shows_only_what_is_there_by_then():
    text = to_text(build(recordings.classic()), step=1)

    assert "2 * x" in text
    assert "z = 4" not in text.split("Step 2")[0]
    assert "gradient" not in text.split("Step 2")[0]


def test_the_step_is_marked_in_the_table():
    lines = to_text(build(recordings.classic()), step=1).splitlines()

    assert [line for line in lines if line.startswith(">")] == [lines[6]]


def test_wide_characters_take_two_columns():
    tape = recordings.Tape("")
    tape.leaf("重み", 2.0)
    tape.leaf("w", 2.0)

    rows = to_text(build(tape.data), step=-1).splitlines()[5:7]

    # the name takes 4 columns, so "leaf" begins 2 characters earlier in that row
    assert rows[0].index("leaf") == rows[1].index("leaf") - 2


def test_no_line_has_spaces_at_its_end():
    for make in recordings.ALL.values():
        assert all(line == line.rstrip() for line in to_text(build(make())).splitlines())


def test_what_is_overwritten_later_is_shown_as_it_was_when_it_was_saved() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.record() as rec:
        y = x * 2
        z = y * y
        y += 1
        w = y * z
        del w
    names = Names(rec.to_dict())
    saved = {
        n["name"]: dict(facts(rec.to_dict(), [n["id"]], names)).get("saved") for n in rec.nodes
    }

    assert saved["z"] == (
        "y1 = [2., 4.] when it was saved (8 bytes), because the rule for y1 reads it"
    )
    assert "y2 = [3., 5.] (8 bytes)" in str(saved["w"])


def test_what_a_step_has_changed_is_shown_as_each_round_saved_it() -> None:
    w = torch.tensor(2.0, requires_grad=True)
    with torch.record() as rec:
        for _ in range(2):
            loss = w * w
            loss.backward()
            with torch.no_grad():
                w -= 0.25 * w.grad
            w.grad = None
    names = Names(rec.to_dict())
    saved = {
        n["name"]: dict(facts(rec.to_dict(), [n["id"]], names)).get("saved") for n in rec.nodes
    }

    assert str(saved["loss1"]).startswith("w = 2. when it was saved (4 bytes)")
    assert str(saved["loss2"]).startswith("w = 1. when it was saved (4 bytes)")  # 2 - 0.25 * 4
