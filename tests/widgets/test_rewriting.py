"""Lines of the learner's code are switched, and nothing else of it changes."""

import pytest

import autodiff_kit as torch
from autodiff_kit.record import record
from autodiff_kit.widgets.rewriting import SWITCHES, Lines

SCALE = torch.tensor(2.0)


def line_of(lines, text):
    return lines.first + [written.strip() for written in lines.texts].index(text)


def make():
    factor = torch.tensor(3.0, requires_grad=True)

    def closed(x, *, shift=1.0):
        """Not a line that computes."""
        h = x * factor
        for _ in range(2):
            h *= SCALE
        if h > 3:
            y = h + shift
        elif h > 100:
            y = h
        return y * x

    return closed


def x():
    return torch.tensor(2.0, requires_grad=True)


def test_every_line_that_computes_can_be_switched():
    lines = Lines(make())

    texts = [lines.texts[n - lines.first].strip() for n in lines.statements]
    assert texts == ["h = x * factor", "h *= SCALE", "y = h + shift", "y = h", "return y * x"]


@pytest.mark.parametrize("how", SWITCHES)
def test_no_switch_changes_the_value(how):
    function = make()
    lines = Lines(function)

    for line in lines.statements:
        changed_function = lines.rewritten({line: how})
        assert changed_function(x()).item() == function(x()).item()
        assert changed_function(x(), shift=5.0).item() == function(x(), shift=5.0).item()


def test_no_grad_leaves_one_line_unrecorded():
    lines = Lines(make())
    function = lines.rewritten({line_of(lines, "y = h + shift"): "no_grad"})

    with record() as recording:
        function(x())

    assert [n["text"] for n in recording.nodes if n["op"] and not n["recorded"]] == [
        "h > 3",
        "h + shift",
    ]


def test_detach_cuts_the_graph_at_a_line():
    lines = Lines(make())
    a = x()

    lines.rewritten({line_of(lines, "y = h + shift"): "detach"})(a).backward()

    assert a.grad.item() == 2 * 3 * 2 * 2 + 1  # y is a number: d(y * x) / dx is y, 25


def test_detach_reaches_what_is_assigned_in_place():
    lines = Lines(make())
    a = x()

    lines.rewritten({line_of(lines, "h *= SCALE"): "detach"})(a).backward()

    assert a.grad.item() == 25


def test_requires_grad_begins_a_graph():
    lines = Lines("y = x * 2\ny * y", ("x",))

    assert not lines.function(torch.tensor(3.0)).requires_grad
    assert lines.rewritten({1: "requires_grad_()"})(torch.tensor(3.0)).requires_grad


def test_places_in_the_source_stay_what_they_were():
    function = make()
    lines = Lines(function)

    def places(of):
        with record() as recording:
            of(x())
        return [node["where"] for node in recording.nodes if node["op"]]

    assert places(lines.rewritten({lines.statements[0]: "no_grad"})) == places(function)


def test_the_learners_function_and_its_variables_are_not_touched():
    function = make()
    before = dict(function.__globals__), function.__code__

    Lines(function).rewritten(dict.fromkeys(Lines(function).statements, "no_grad"))(x())

    assert (dict(function.__globals__), function.__code__) == before
    assert torch.is_grad_enabled()


def test_an_error_is_told_at_the_learners_line():
    def wrong(x):
        y = x + 1
        return y @ y

    lines = Lines(wrong)
    with pytest.raises(RuntimeError) as caught:
        lines.rewritten({lines.statements[0]: "detach"})(x())

    assert [entry.lineno for entry in caught.traceback if entry.name == "wrong"] == [
        line_of(lines, "return y @ y") - 1  # pytest counts from 0
    ]


def test_a_cell_gives_its_last_value_or_what_its_last_line_assigns():
    assert Lines("y = x * x\ny + 1", ("x",)).function(x()).item() == 5
    assert Lines("y = x * x", ("x",)).function(x()).item() == 4
    assert Lines("y = x * x\ny += 1", ("x",)).function(x()).item() == 5


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (lambda x: x, "not as a lambda"),
        (len, "rewrites the lines of a function"),
        (torch.ones(1), "rewrites the lines of a function"),
        (torch.no_grad()(lambda x: x), "has a decorator"),
        (torch.sin, r"sin comes from a package.\n-> Write one around it: def f\(x=2.0\): return"),
        ("x = (", "this cell is not Python"),
        ("", "this cell is empty"),
    ],
)
def test_what_has_no_lines_to_rewrite_is_refused_with_the_reason(source, message):
    with pytest.raises(TypeError, match=message):
        Lines(source)


def deep(x, depth=3):
    if depth == 0:
        return x
    return deep(x * 2, depth - 1)


def test_a_function_that_calls_itself_calls_the_switched_one():
    one = torch.tensor(1.0, requires_grad=True)

    as_written = Lines(deep).rewritten({})(one)
    switched = Lines(deep).rewritten(
        {line_of(Lines(deep), "return deep(x * 2, depth - 1)"): "no_grad"}
    )(one)

    assert as_written.item() == switched.item() == 8
    assert as_written.requires_grad
    assert not switched.requires_grad
