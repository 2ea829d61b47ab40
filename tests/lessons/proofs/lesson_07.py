from typing import Any

import autodiff_kit as torch
from autodiff_kit.static import StaticGraph
from tests.lessons.proofs import calls, proves

# PyTorch has no such class: these proofs run under the kit in any case.


@proves("07.branch")
def _(_: Any) -> str:
    graph = StaticGraph.trace(lambda x: x * x if x > 0 else -x, torch.tensor(3.0))
    return str(graph.run(torch.tensor(-3.0)).item())


@proves("07.loop")
def _(_: Any) -> str:

    def power(x: Any, rounds: int) -> Any:
        y = x
        for _ in range(rounds):
            y = y * x
        return y

    assert power(torch.tensor(2.0), 1).item() == 4
    return str(StaticGraph.trace(lambda x: power(x, 3), torch.tensor(2.0)).run(torch.tensor(2.0)))


@proves("07.calls")
def _(_: Any) -> str:
    calls = []

    def watched(x: Any) -> Any:
        calls.append(x)
        return x * x

    graph = StaticGraph.trace(watched, torch.tensor(2.0))
    assert [graph.run(torch.tensor(value)).item() for value in (3.0, 4.0, 5.0)] == [9, 16, 25]
    return str(len(calls))


@proves("07.faster")
def _(_: Any) -> str:

    def deep(x: Any) -> Any:
        for _ in range(20):
            x = torch.sin(x) * 1.1
        return x.sum()

    def spared(size: int) -> int:
        x = torch.ones(size, requires_grad=True)
        graph = StaticGraph.trace(deep, x)
        return calls(lambda: deep(x).backward()) - calls(lambda: graph.gradient(x))

    spared(1)  # what is done once, at the first call, is no part of it
    # As many calls are spared for a large tensor as for a small one, beside sines of 100,000 times
    # as many numbers: what a replay saves does not grow with them.
    small, large = spared(1), spared(100_000)
    assert small > 0
    if large > small:
        return "with large tensors more than with small ones"
    return "with small tensors more than with large ones"


@proves("07.task")
def _(_: Any) -> str:

    def doubled(x: Any) -> Any:
        y = x.abs()
        return 2 * y if y > 2 else y

    assert doubled(torch.tensor(3.0)).item() == 6
    return str(StaticGraph.trace(doubled, torch.tensor(-1.0)).run(torch.tensor(3.0)))
