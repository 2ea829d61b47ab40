"""The costs lab: what is counted is exact, and what is timed stays out of the still picture."""

import re
from typing import Any

import pytest

import autodiff_kit as torch
from autodiff_kit.static import StaticGraph
from autodiff_kit.widgets import Costs


def waves(x: Any) -> Any:
    for _ in range(10):
        x = torch.sin(x)
    return x


def inputs(*sizes: int) -> list[Any]:
    return [torch.ones(size, requires_grad=True) for size in sizes]


def test_ten_sines_keep_ten_inputs_of_four_bytes_a_number() -> None:
    lab = Costs(inputs(1, 1000), recorded=waves, no_grad=torch.no_grad()(waves))

    assert lab.nodes == {"recorded": [10, 10], "no_grad": [0, 0]}
    assert lab.bytes_saved == {"recorded": [40, 40_000], "no_grad": [0, 0]}


def test_what_backward_releases_counts_as_long_as_it_was_kept() -> None:
    lab = Costs(inputs(1000), there_and_back=lambda x: waves(x).sum().backward())

    assert lab.nodes == {"there_and_back": [11]}
    assert lab.bytes_saved == {"there_and_back": [40_000]}


def test_memory_that_is_used_again_does_not_add_up() -> None:
    def twice(x: Any) -> None:
        for _ in range(2):
            (x * 2).exp().sum().backward()

    lab = Costs(inputs(1000), twice=twice)

    assert lab.bytes_saved == {
        "twice": [4000]
    }  # exp keeps its result; one is released before the next


def test_an_array_that_two_nodes_keep_counts_once() -> None:
    lab = Costs(inputs(1000), shared=lambda x: torch.sin(x) + torch.cos(x))

    assert lab.bytes_saved == {"shared": [4000]}


def test_a_replay_builds_no_node() -> None:
    (x,) = inputs(3)
    graph = StaticGraph.trace(lambda x: waves(x).sum(), x)

    lab = Costs([x], static=lambda x: graph.gradient(x))

    assert lab.nodes == {"static": [0]}
    assert "no nodes" in lab.canvas.svg and "0 bytes" not in lab.canvas.svg  # it holds arrays


def test_a_replay_that_returns_nothing_is_counted_like_any_other() -> None:
    (x,) = inputs(3)
    graph = StaticGraph.trace(lambda x: waves(x).sum(), x)

    def static(x: Any) -> None:
        graph.gradient(x)

    lab = Costs([x], static=static)

    assert (lab.message, lab.nodes) == ("", {"static": [0]})


def test_every_way_is_timed_with_every_input_and_the_picture_is_the_same_every_time() -> None:
    labs = [Costs(inputs(1, 10), one=torch.sin, other=torch.cos) for _ in range(2)]

    assert all(seconds > 0 for times in labs[0].seconds.values() for seconds in times)
    assert [len(times) for times in labs[0].seconds.values()] == [2, 2]
    assert "Compared with one" in labs[0].times.svg
    assert labs[0].still() == labs[1].still()
    words = "one: 1 node, saving 4 bytes or 40 bytes. other: 1 node, saving 4 bytes or 40 bytes."
    assert repr(labs[0]) == repr(labs[1]) == f"Costs({words})"


def test_the_button_measures_again() -> None:
    called: list[int] = []

    lab = Costs(inputs(2), one=lambda x: called.append(1) or x * 2)  # type: ignore[func-returns-value]
    called.clear()
    lab.controls["measure again"].click()

    assert called


def test_weights_outside_keep_the_gradient_that_they_had() -> None:
    w = torch.tensor([2.0], requires_grad=True)
    (w * 3).sum().backward()

    Costs(inputs(1), trained=lambda x: (w * x).sum().backward())

    assert w.grad.tolist() == [3.0]


def test_a_function_that_prints_is_counted_and_not_timed(capsys: Any) -> None:
    def told(x: Any) -> Any:
        print("here")
        return x * 2

    lab = Costs(inputs(1), told=told)

    assert lab.nodes == {"told": [1]}
    assert lab.seconds == {}
    assert lab.times.caption.startswith("Not timed")
    assert capsys.readouterr().out == "here\n" * 2  # counted in two runs


def test_an_error_is_said_in_the_lab() -> None:
    lab = Costs(inputs(1), wrong=lambda x: x.view(7))

    assert lab.message.startswith("RuntimeError: shape '[7]' is invalid")


@pytest.mark.parametrize(
    ("function", "ways", "words"),
    [
        (torch.ones(1), {"sine": torch.sin}, "Costs takes a list of tensors first."),
        ([], {"sine": torch.sin}, "Costs takes a list of tensors first."),
        ([1.0], {"sine": torch.sin}, "Costs measures with tensors, and 1.0 is none."),
        ([torch.ones(1)], {}, "Costs needs a function, by a name of your choice."),
        ([torch.ones(1)], {"sine": 3}, "sine is no function: it is 3."),
    ],
)
def test_what_it_cannot_measure_is_said_with_an_example(
    function: Any, ways: Any, words: str
) -> None:
    with pytest.raises(TypeError) as error:
        Costs(function, **ways)

    assert str(error.value).startswith(words + "\n-> For example: Costs(")


def test_a_function_that_returns_nothing_is_said_to() -> None:
    def nothing(x: Any) -> None:
        pass

    def forgets(x: Any) -> None:
        x.sin()

    lab = Costs([torch.ones(3, requires_grad=True)], nothing=nothing, forgets=forgets)

    assert lab.canvas.caption == (
        "nothing: no nodes; it returned None, and no operation on tensors was seen. "
        "forgets: 1 node, saving 12 bytes; it returned None."
    )


def test_a_way_that_takes_longer_is_not_0_times_as_fast() -> None:
    def slow(x: Any) -> Any:
        for _ in range(200):
            x = x * 1
        return x

    lab = Costs([torch.ones(3, requires_grad=True)], quick=torch.sin, slow=slow)

    assert re.search(r"\d+\u00a0times\u00a0as\u00a0long<", lab.times.svg)
    assert "0.0" not in lab.times.svg
