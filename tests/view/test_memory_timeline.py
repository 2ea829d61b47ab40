"""What is saved for backward: counted by hand, by the allocator, and told in words."""

import gc
import re
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

import autodiff_kit as torch
from autodiff_kit.core.mode import local
from autodiff_kit.core.observer import Both, Observer, installed
from autodiff_kit.record import record
from autodiff_kit.record.memory import watch_memory
from autodiff_kit.tensor import Tensor
from autodiff_kit.utils.checkpoint import checkpoint
from autodiff_kit.view.charts import chart_svg
from autodiff_kit.view.memory import Timeline, timeline
from autodiff_kit.view.memory_plot import memory_plot
from autodiff_kit.view.plots import Curve, Group, Plot
from autodiff_kit.view.scales import text_width

FLOAT = 4  # bytes


@pytest.fixture(autouse=True)
def no_garbage_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def seen(function: Callable[[], Any], *, backward: bool = True) -> Timeline:
    with record() as recording, watch_memory() as memory:
        y = function()
        if backward:
            y.backward()
        del y
    return timeline(recording, memory)


def memory_svg(timeline: Timeline, step: int | None = None) -> str:
    return chart_svg(memory_plot(timeline, step))


def leaf(*sizes: int) -> Tensor:
    return torch.ones(sizes, requires_grad=True)


# -- counted by hand -------------------------------------------------------------------------------
def test_an_addition_keeps_nothing_and_exp_keeps_its_result() -> None:
    x = leaf(10)

    assert max(seen(lambda: (x + x).sum()).bytes_saved) == 0
    assert max(seen(lambda: x.exp().sum()).bytes_saved) == 10 * FLOAT


def test_an_array_that_two_nodes_keep_is_counted_once_and_has_both_reasons() -> None:
    x = leaf(10)

    def function() -> Tensor:
        h = x.exp()
        return (h * h).sum()

    result = seen(function)
    (band,) = (band for band in result.bands if not band.before)

    assert max(result.bytes_saved) == 10 * FLOAT
    assert band.reasons == (
        "h = x.exp() saves its result, because the rule for x reads it.",
        "h * h saves h, because the rule for h reads it.",
        "Backward has freed it.",
    )


def test_a_view_counts_as_the_whole_array_that_it_looks_into() -> None:
    x = leaf(100)

    def function() -> Tensor:
        h = x + 1
        return (h[:2] * h[2:4]).sum()

    assert max(seen(function).bytes_saved) == 100 * FLOAT


def test_what_was_there_before_needs_no_new_memory() -> None:
    x, w = leaf(10), leaf(10)

    result = seen(lambda: (x * w).sum())

    assert max(result.bytes_saved) == 0
    assert [(band.title, max(band.sizes), band.before) for band in result.bands] == [
        ("x", 10 * FLOAT, True),
        ("w", 10 * FLOAT, True),
    ]
    assert "80 bytes that were there before the run" in result.summary()


def test_only_the_rules_in_use_keep_something() -> None:
    x, w = torch.ones(10), leaf(10)

    result = seen(lambda: (x * w).sum())

    assert [band.title for band in result.bands] == ["x"]  # the rule for w reads x; x wants none


def test_backward_releases_from_the_last_node_to_the_first() -> None:
    x = leaf(10)
    # x.exp() and its sin() each keep 40 bytes: exp its result, which sin keeps as well, and sin
    # nothing else; cos keeps sin's result.
    result = seen(lambda: x.exp().sin().cos().sum())
    sizes = [
        size
        for size, phase in zip(result.bytes_saved, result.phases, strict=True)
        if phase != "forward"
    ]

    assert result.bytes_saved[:3] == [40, 40, 80]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 0


def test_with_retain_graph_it_is_kept_until_the_graph_goes() -> None:
    x = leaf(10)
    with record() as recording, watch_memory() as memory:
        y = x.exp().sum()
        y.backward(retain_graph=True)
        z = x + 1
        del y
        z = z + 1
    result = timeline(recording, memory)
    after = result.phases.index("backward") + result.phases[::-1].index("backward")

    assert result.bytes_saved[result.phases.index("backward")] == 40
    assert (
        "It was freed with the graph, when nothing referred to that any more."
        in result.bands[0].reasons
    )
    assert result.bytes_saved[-1] == 0
    assert after > 0


def test_a_graph_that_is_dropped_without_backward_gives_its_memory_back() -> None:
    x = leaf(10)
    with record() as recording, watch_memory() as memory:
        for _ in range(3):
            y = x.exp().sum()
        del y
    result = timeline(recording, memory)

    assert (
        max(result.bytes_saved) == 2 * 10 * FLOAT
    )  # the old graph goes when the new one has the name
    assert result.bytes_saved[-1] == 0


def test_under_no_grad_nothing_is_kept() -> None:
    x = leaf(10)

    def function() -> Tensor:
        with torch.no_grad():
            return x.exp().sin().sum()

    result = seen(function, backward=False)

    assert max(result.bytes_saved) == 0
    assert result.summary().startswith("Nothing new was saved for backward. All arrays")
    assert max(result.total) == 2 * 10 * FLOAT  # the result and what it was made from


def test_max_pooling_keeps_its_indices_and_an_index_its_positions() -> None:
    x = leaf(4, 8)

    result = seen(lambda: x.max(dim=1)[0].sum())

    assert max(result.bytes_saved) == 4 * 8  # four indices of 8 bytes


def test_a_function_of_the_learners_own_keeps_what_it_saved() -> None:
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            (x,) = ctx.saved_tensors
            return gradients[0] * 3 * x * x

    x = leaf(10)
    result = seen(lambda: Cube.apply(x + 1).sum())

    assert max(result.bytes_saved) == 10 * FLOAT
    assert result.bytes_saved[-1] == 0


def test_the_graph_of_the_gradient_is_counted_too() -> None:
    x = leaf(10)

    def function() -> Tensor:
        (g,) = torch.autograd.grad(x.exp().sin().sum(), x, create_graph=True)
        return g.sum()

    result = seen(function)

    # exp(x), which exp and sin keep, and cos(exp(x)), which the product with exp(x) keeps: the
    # gradient is exp(x) * cos(exp(x)).
    assert max(result.bytes_saved) == 2 * 10 * FLOAT
    assert result.bytes_saved[-1] == 0


# -- the allocator agrees --------------------------------------------------------------------------
DEPTH, ROWS, WIDTH = 12, 2048, 160


class Network:
    """A deep one, whose arrays are much larger than the Python objects around them."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.weights = [(torch.randn(WIDTH, WIDTH) * 0.2).requires_grad_() for _ in range(DEPTH)]
        self.x = torch.randn(ROWS, WIDTH)

    def layers(self, h: Tensor, start: int, end: int) -> Tensor:
        for w in self.weights[start:end]:
            h = torch.relu(h @ w)
        return h

    def plain(self) -> Tensor:
        return self.layers(self.x, 0, DEPTH).sum()

    def checkpointed(self) -> Tensor:
        h = self.x
        for start in range(0, DEPTH, 4):
            h = checkpoint(self.layers, h, start, start + 4, use_reentrant=False)
        return h.sum()

    def without_grad(self) -> Tensor:
        with torch.no_grad():
            return self.plain()


class Rows(Observer):
    """Reads a size whenever an operation has run, and when the gradient comes to a node."""

    def __init__(self, size: Callable[[], int]) -> None:
        self.size, self.rows = size, list[int]()

    def applied(self, *what: Any) -> None:
        self.rows.append(self.size())

    visited = applied


def run(function: Callable[[], Tensor], observer: Observer) -> None:
    with installed(observer):
        y = function()
        if y.requires_grad:
            y.backward()
        del y


@pytest.mark.parametrize("way", ["plain", "checkpointed", "without_grad"])
def test_the_count_is_within_5_percent_of_what_is_allocated(way: str) -> None:
    run(getattr(Network(), way), Observer())  # once before: caches are full then
    allocating, counting = (getattr(Network(), way) for _ in range(2))

    tracemalloc.start()
    begin = tracemalloc.get_traced_memory()[0]
    allocated = Rows(lambda: tracemalloc.get_traced_memory()[0] - begin)
    try:
        run(allocating, allocated)
        peak = tracemalloc.get_traced_memory()[1] - begin
    finally:
        tracemalloc.stop()
    with watch_memory() as memory:
        counted = Rows(lambda: memory.steps[-1]["total"])
        run(counting, Both(local.mode.observer or Observer(), counted))

    assert len(counted.rows) >= 2 * DEPTH
    assert counted.rows == pytest.approx(allocated.rows, rel=0.05)  # at every step
    assert max(step["total"] for step in memory.steps) == pytest.approx(peak, rel=0.05)


def kept(way: str) -> int:
    network = Network()
    function: Callable[[], Tensor] = getattr(network, way)
    return max(seen(function, backward=way != "without_grad").bytes_saved)


def test_checkpointing_keeps_one_array_per_part_and_those_of_the_part_at_work() -> None:
    size = ROWS * WIDTH * FLOAT

    # relu saves its result, and so does the next layer: one array for each layer.
    assert kept("plain") == DEPTH * size
    # The results of two parts of three, which are arguments, and the four of the last part.
    assert kept("checkpointed") == (2 + 4) * size
    assert kept("without_grad") == 0


def test_a_chain_in_a_checkpoint_keeps_nothing_of_its_own_until_it_runs_again() -> None:
    v = torch.tensor(3.0, requires_grad=True)
    with watch_memory() as memory, torch.record() as recording:
        checkpoint(
            lambda x: (x * x).sin().exp(), v * torch.ones(100), use_reentrant=False
        ).sum().backward()
    result = timeline(recording, memory)

    forward = [
        size
        for size, phase in zip(result.bytes_saved, result.phases, strict=True)
        if phase == "forward"
    ]
    assert max(forward) == 2 * 400  # ones(100), for the rule of v, and the argument
    assert max(result.bytes_saved) == 4 * 400  # and again x * x, for sin, and what exp has made
    assert sorted(band.title for band in result.bands if band.again) == [
        "(x * x).sin().exp() (recomputed)",
        "x * x (recomputed)",
    ]


def test_what_a_checkpoint_keeps_and_computes_again_is_told() -> None:
    result = seen(Network().checkpointed)
    (argument, *_) = (b for b in result.bands if not b.before)
    again = [band for band in result.bands if band.again]

    assert argument.reasons[0] == (
        "A checkpoint holds it as an argument, to run its function again."
    )
    assert len(again) == DEPTH  # every result, each for its own rule
    assert again[0].reasons[-1].startswith("The checkpoint did not save it")


def test_what_a_hook_packs_is_counted_as_what_it_made_of_it() -> None:
    x = leaf(100)

    def function() -> Tensor:
        with torch.autograd.graph.saved_tensors_hooks(
            lambda t: t.to(torch.float16), lambda t: t.to(torch.float32)
        ):
            return x.exp().sum()

    assert max(seen(function).bytes_saved[1:]) == 100 * 2


# -- from a recording alone ------------------------------------------------------------------------
def test_a_recording_alone_gives_the_same_bytes_where_python_frees_nothing_else() -> None:
    x, w = leaf(5, 4), leaf(4, 3)

    def function() -> Tensor:
        return (x @ w).t().sigmoid().exp().sum()

    with record() as recording, watch_memory() as memory:
        y = function()
        y.backward()
        del y
    alone = timeline(recording)

    assert alone.bytes_saved == timeline(recording, memory).bytes_saved
    assert [band.title for band in alone.bands] == [
        band.title for band in timeline(recording, memory).bands
    ]
    assert not alone.total


# -- in words, and as a picture --------------------------------------------------------------------
def test_the_peak_is_said_in_words_with_its_step() -> None:
    x = leaf(250)

    result = seen(lambda: x.exp().sum())

    assert result.summary() == (
        "At most 1,000 bytes were saved for backward, at step 1 of 7 (x.exp()). At the end: "
        "nothing. All arrays of the run together: at most 2,008 bytes."  # sum repeats one number
    )
    assert result.at(0) == (
        "Step 1 of 7, x.exp(): 1,000 bytes saved for backward; "
        "1,000 bytes in all arrays of the run."
    )


@pytest.mark.parametrize("depth", range(1, 12))
@pytest.mark.parametrize("keep", [True, False])
def test_no_line_between_two_phases_runs_through_words(depth: int, keep: bool) -> None:
    x = torch.ones(1000, requires_grad=True)
    with record() as rec:
        h = x
        for _ in range(depth):
            h = h.exp().sin() if keep else h * 2
        h = h.exp()
        h.sum().backward()

    svg = memory_svg(timeline(rec), None)

    number = r"([\d.]+)"
    texts = re.findall(rf'adk-note" x="{number}" y="{number}"[^>]*>([^<]*)<', svg)
    lines = re.findall(rf'class="adk-level" d="M{number} {number}L[\d.]+ {number}"', svg)
    assert texts and lines
    for at, row, words in texts:
        left, right = float(at), float(at) + text_width(words)
        assert right <= 496  # the picture
        for x, top, end in ([float(value) for value in line] for line in lines):
            crosses = left < x < right and top < float(row) and end > float(row) - 11
            assert not crosses, words


def test_each_band_of_the_picture_can_be_picked_and_says_why_it_is_there() -> None:
    x = leaf(250)
    result = seen(lambda: x.exp().sum())

    svg = memory_svg(result, 2)

    assert svg.count("data-id=") == 1
    assert "x.exp() saves its result, because the rule for x reads it." in svg
    assert ">peak: 1,000 bytes<" in svg
    assert svg == memory_svg(result, 2)


def test_where_nothing_new_is_kept_the_picture_shows_what_was_there() -> None:
    x = leaf(10)

    assert memory_svg(seen(lambda: (x * x).sum())).count("data-id=") == 1


def test_a_long_run_is_drawn_together_by_the_line_that_keeps() -> None:
    x, w = leaf(3), leaf(3)

    def function() -> Tensor:
        h = x
        for _ in range(500):
            h = torch.sin(h) * w
        return h.sum()

    result = seen(function)

    # sin keeps its input, the product its factors: two new arrays a round, but the first sin
    # keeps x and the last product is kept by nobody.
    assert max(result.bytes_saved) == (2 * 500 - 1) * 3 * FLOAT
    assert len(result.bands) <= 30
    assert any("499 more" in band.title for band in result.bands)
    assert len(memory_svg(result)) < 500_000


def test_a_run_without_any_operation_has_only_its_end() -> None:
    with record() as recording, watch_memory() as memory:
        pass
    result = timeline(recording, memory)

    assert result.words == ["the end of the run"]
    assert result.summary().startswith("Nothing new was saved for backward.")


def test_words_of_the_learners_are_escaped() -> None:
    x = leaf(200)
    svg = memory_svg(seen(lambda: (x * (x < 2)).exp().sum()))

    assert "x < 2" not in svg


def test_the_watch_tells_whoever_watched_before() -> None:
    texts: list[str] = []

    class Teller(Observer):
        def applied(
            self, op: Any, inputs: Sequence[Any], params: Any, out: Tensor, node: Any
        ) -> None:
            texts.append(op.name)

    x = leaf(3)
    with installed(Teller()), watch_memory() as memory:
        x.exp()

    assert texts == ["exp"]
    assert [step["kind"] for step in memory.steps] == ["op", "end"]


def test_the_key_has_the_peak_of_what_is_saved_and_that_of_all_arrays() -> None:
    def run() -> Tensor:
        x = leaf(1000)
        h = x
        for _ in range(4):
            h = (h * 2).sin() + h  # sin saves h * 2: 4,000 bytes in each round
        return h.sum()

    result = seen(run)
    svg = memory_svg(result, None)

    peaks = [size for line in svg.split("<text") for size in re.findall(r"peak: ([\d,]+) b", line)]
    assert peaks == ["16,000", f"{max(result.total):,}"]
    assert max(result.total) > 16_000  # x, h and gradients besides


def test_a_run_of_which_several_steps_are_one_column_reaches_from_edge_to_edge() -> None:
    x = leaf(3)

    def function() -> Tensor:
        h = x
        for _ in range(700):
            h = torch.sin(h)
        return h.sum()

    result = seen(function)  # of 1,400 steps, three are drawn in one column
    (plot,) = (part for part in memory_plot(result).parts if isinstance(part, Plot))

    areas = [mark for group in plot.marks if isinstance(group, Group) for mark in group.marks]
    places = [x for area in areas for loop in area.loops for x, _ in loop]
    lines = [x for mark in plot.marks if isinstance(mark, Curve) for x in mark.xs]
    assert min(places) >= plot.x.low and max(places) <= plot.x.high + 3
    assert (min(lines), max(lines)) == (plot.x.low, pytest.approx(plot.x.high, abs=3))


def test_what_a_checkpoint_computed_again_is_gone_when_backward_goes_on() -> None:
    x, w = torch.ones(20, 50), leaf(50, 50)

    def layer(h: Tensor) -> Tensor:
        return torch.relu(h @ w)

    def function() -> Tensor:
        h = checkpoint(layer, x, use_reentrant=False)
        return checkpoint(layer, h, use_reentrant=False).sum()

    result = seen(function)  # without the garbage collector: the recorder keeps no frame, either

    assert result.total[-1] == result.gradients[-1] == 50 * 50 * FLOAT  # w.grad is all that is left


@pytest.mark.parametrize("collected", [None, 0, 1, 2])
def test_a_node_that_is_there_keeps_its_values_whatever_was_collected(
    collected: int | None,
) -> None:
    x = torch.ones(1000, requires_grad=True)

    with watch_memory() as memory:
        y = x.exp()
        x.sin()  # its node is gone at once, and with it what it has saved
        if collected is not None:
            gc.collect(collected)
            gc.collect(0)

    ends = {hold["op"]: hold["until"] for hold in memory.holds if hold["slot"] in ("out", "x")}
    assert y.grad_fn is not None
    assert ends[0] is None
    assert ends[1] is not None
