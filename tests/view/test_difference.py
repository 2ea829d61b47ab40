"""Two runs over each other: what is the same node, what came, what went, and which way it went."""

import html
import re
from functools import reduce

import pytest

import autodiff_kit as torch
from autodiff_kit.view.difference import branches, difference, mark_lines
from autodiff_kit.view.panels import Line, Marked, graph, listing, page, table, words
from autodiff_kit.widgets.running import run


def power(x, rounds, turned=False):
    y = x
    for _ in range(rounds):
        y = y * x
    if y > 10:
        y = y - 10
    return -y if turned else y


def swapped(x, turned):
    steps = (once, twice) if turned else (twice, once)
    return reduce(lambda h, step: step(h), steps, x)  # no loop: its rounds would differ


def once(x):
    return x.exp()


def twice(x):
    return x.sin()


def until(x):
    while not x > 4:
        x = x * 2
    return x


def recorded(function, *args):
    return run(function, torch.tensor(2.0, requires_grad=True), *args)[1]


def test_more_rounds_of_a_loop_come_and_the_earlier_ones_stay():
    diff = difference(recorded(power, 1), recorded(power, 2))

    assert diff.came == ("y * x",)
    assert diff.went == ()
    assert diff.stayed == ("y * x", "y > 10")
    assert diff.sentence() == "1 operation was added (y * x); 2 unchanged."


def test_fewer_rounds_go_and_are_still_drawn():
    diff = difference(recorded(power, 2), recorded(power, 1))

    assert (diff.came, diff.went) == ((), ("y * x",))
    assert len(diff.picture.outline.boxes) == 1 + 2 + 1


def test_a_branch_taken_the_other_way_comes():
    diff = difference(recorded(power, 2), recorded(power, 3))  # 8 > 10 is False, 16 > 10 is True

    assert diff.came == ("y * x", "y - 10")


def by_turns(x):
    h = x
    for _ in range(3):
        h = h.sqrt() if h > 2 else h * h + x
    return h


@pytest.mark.parametrize("function", [by_turns, lambda x: next(by_turns(x) for _ in range(1))])
def test_what_a_round_does_is_held_against_the_same_round(function):
    # From 1.5: 1.5, 3.75, sqrt: 1.94, 5.25. From -0.5, without a root: -0.25, -0.44, -0.31.
    first, second = (run(function, torch.tensor(x))[1] for x in (1.5, -0.5))

    diff = difference(first, second)

    assert (diff.came, diff.went) == (("h * h", "h * h + x"), ("h.sqrt()",))
    assert diff.stayed == ("h > 2", "h * h", "h * h + x", "h > 2", "h > 2", "h * h", "h * h + x")


def test_a_run_is_the_same_as_itself():
    recording = recorded(power, 2)

    diff = difference(recording, recording)

    assert diff.came == diff.went == ()
    assert diff.edges == {}
    assert diff.sentence() == "No operation was added or removed: 3 operations unchanged."


def test_what_stayed_is_drawn_once_and_its_new_argument_is_marked():
    diff = difference(recorded(power, 1, True), recorded(power, 2, True))

    texts = [box for box in diff.picture.titles.values() if "-y" in box]
    assert len(texts) == 1
    assert sorted(diff.edges.values()) == ["came", "came", "came", "came", "went", "went"]


def test_operations_in_another_order_never_make_a_circle():
    # exp(sin(x)) and sin(exp(x)): were both operations the same, each would need the other.
    diff = difference(recorded(swapped, False), recorded(swapped, True))

    assert len(diff.stayed) == len(diff.came) == len(diff.went) == 1


def test_branches_are_told_with_every_way_they_went():
    (branch,) = branches(recorded(until))  # 2, 4, 8

    assert branch.text == "x > 4"  # Python asks that, and turns the answer round afterwards
    assert branch.ways == (False, False, True)
    assert branch.note() == "→ 2 \N{MULTIPLICATION SIGN} False, then True"


def test_a_not_outside_of_a_test_is_told_with_its_own_answer():
    def turned(x):
        return x * (not x > 4)

    (branch,) = branches(recorded(turned))

    assert (branch.text, branch.note()) == ("not x > 4", "→ True")


def test_lines_are_marked_with_what_came_and_which_way_it_went():
    old, new = recorded(power, 2), recorded(power, 3)
    text = new.sources[0]["text"]
    first = text.splitlines().index("def power(x, rounds, turned=False):") + 1
    lines = text.splitlines()[first - 1 : first + 6]

    marked = mark_lines(lines, first, text, branches(new), difference(old, new))

    by_text = {line.text.strip(): line for line in marked}
    assert by_text["y = y * x"].sign == "±"
    assert (by_text["y = y - 10"].sign, by_text["y = y - 10"].look) == ("+", "came")
    test = by_text["if y > 10:"]
    assert test.note == "→ True"
    assert [test.text[a:b] for a, b in test.lit] == ["y > 10"]


def test_the_same_runs_give_the_same_picture_character_by_character():
    def picture():
        diff = difference(recorded(power, 1), recorded(power, 3))
        return page([[graph("G", diff.picture, diff.edges)]], title="t", description="s")

    assert picture() == picture()


def test_looks_are_written_into_the_drawing_and_said_in_words():
    diff = difference(recorded(power, 1), recorded(power, 2))

    drawn = graph("G", diff.picture, diff.edges).body

    assert len(re.findall(r'<g class="adk-node adk-op[^"]* adk-is-came" data-node=', drawn)) == 1
    assert drawn.count(">+ added</text>") == 1
    assert re.search(r'<path class="adk-edge[^"]* adk-is-came" data-edge=', drawn)


def test_marked_boxes_may_hide_all_other_values():
    recording = recorded(power, 1).to_dict()

    texts = Marked(recording, {1: ("frozen", "frozen")}, hidden=True).texts

    # x is a leaf: 2. stays; y * x is marked; y > 10 is hidden.
    assert [text["lines"] for text in texts] == [["2."], ["4.", "frozen"], []]


def test_source_is_written_as_it_is():
    panel = listing("Code", [Line(3, "if a < b and c > 1:", lit=[(3, 8)], note="→ True")])

    assert "a\u00a0&lt;\u00a0b</tspan>" in panel.body
    assert ">3</text>" in panel.body
    assert "→\u00a0True" in panel.body


@pytest.mark.parametrize("text", ["    x = " + "1 + " * 40 + "1", "x" * 90, " " * 50 + "y" * 90])
def test_long_lines_go_on_in_the_next_row_and_never_reach_into_the_next_panel(text):
    at = len(text) - 3
    panel = listing("Code", [Line(1, text, lit=[(at, at + 3)]), Line(2, "end")])

    inside = re.search('class="adk-code"[^>]*>(.*?)</text>', panel.body)[1]
    visible_text = html.unescape(re.sub("<[^>]*>", "", inside)).replace("\u00a0", " ")
    assert visible_text.replace(" ", "") == text.replace(" ", "")
    assert '"adk-lit">' + text[at:].replace(" ", "\u00a0") + "<" in panel.body
    assert panel.width < 560
    rows = 1 + panel.body.count("dy=")
    assert panel.height == (rows + 1) * 20 + 4  # and a row for the line that follows
    assert f'y="{rows * 20 + 15}"' in panel.body


def test_lines_that_would_take_many_rows_are_cut():
    panel = listing("Code", [Line(1, "x = " + "1 + " * 600 + "1")])

    assert panel.body.count("dy=") == 3
    assert "…" in panel.body
    assert panel.width < 560


@pytest.mark.parametrize("width", [200.0, 600.0])
def test_panels_stand_side_by_side_where_there_is_room(width):
    one, two = words("A", "a", width), words("B", "b", width)

    drawn = page([[one], [two]], title="t", description="s")

    places = re.findall(r'adk-panel" transform="translate\(([\d.]+),([\d.]+)\)', drawn)
    (x1, y1), (x2, y2) = places
    assert (y1 == y2) == (width == 200.0)
    assert (x1 == x2) == (width == 600.0)


def test_a_table_says_in_words_what_it_marks():
    panel = table("T", [["", "a"], ["answer", "<1"]], ["", "wrong"])

    assert "&lt;1" in panel.body
    assert panel.body.count("adk-is-wrong") == 1
