"""The static graph beside the dynamic one: the same work, the same numbers, in one run.

After reading this file you know what is counted: CPU time of a whole step (value and gradients),
nodes built, and the most memory that a step holds at once.
"""

from __future__ import annotations

import statistics
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.workloads import _mlp, _rnn_data, moons


def _cases(ak: Any) -> dict[str, tuple[Callable[..., Any], list[Any]]]:
    points, labels = moons()
    x, s = ak.tensor(points), ak.tensor(labels[:, None])

    def of_moons(w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any) -> Any:
        h = (x @ w1 + b1).relu()
        h = (h @ w2 + b2).relu()
        y = h @ w3 + b3
        loss = (1 - y * s).relu().mean()
        for p in (w1, b1, w2, b2, w3, b3):
            loss = loss + 1e-4 * (p * p).sum()
        return loss

    def chain(h: Any, w: Any, b: Any) -> Any:
        for _ in range(500):
            h = h * w
            h = h + b
        return h.sum()

    weights, sequences, targets = _rnn_data()
    xs = [[ak.tensor(x) for x in sequence] for sequence in sequences]
    ys = [ak.tensor(y) for y in targets]
    start = ak.zeros(8, 32)

    def rnn(wx: Any, wh: Any, b: Any, head: Any) -> Any:
        loss = 0.0
        for sequence, y in zip(xs, ys, strict=True):
            h = start
            for part in sequence:
                h = (part @ wx + h @ wh + b).tanh()
            error = h @ head - y
            loss = loss + (error * error).mean()
        return loss

    def leaves(arrays: Any) -> list[Any]:
        return [ak.tensor(a, requires_grad=True) for a in arrays]

    numbers = (1.0, 0.999, 0.001)
    return {
        "chain0d": (chain, leaves(numbers)),
        "chain100": (chain, leaves([np.full(100, v) for v in numbers])),
        "moons_vec": (of_moons, leaves(_mlp((2, 16, 16, 1)))),
        "rnn_f32": (rnn, leaves(weights)),
    }


def static(rounds: int) -> None:
    """Print static / dynamic, per workload."""
    import autodiff_kit as ak
    from autodiff_kit.core.base import next_number
    from autodiff_kit.static import StaticGraph

    print(f"whole step, static / dynamic, median of {rounds} rounds\n")
    heads = ("static ms", "ops", "nodes dynamic", "static", "peak kB dyn.", "static", "trace ms")
    print(f"{'workload':12s}{'ratio':>8s}" + "".join(f"{head:>15s}" for head in heads))
    for name, (function, inputs) in _cases(ak).items():
        begin = time.process_time()
        graph = StaticGraph.trace(function, *inputs)
        traced = time.process_time() - begin

        def dynamic_step(function: Any = function, inputs: Any = inputs) -> Any:
            for x in inputs:
                x.grad = None
            value = function(*inputs)
            value.backward()
            return value, [x.grad for x in inputs]

        def static_step(graph: Any = graph, inputs: Any = inputs) -> Any:
            return graph.gradient(*inputs)

        value, gradients = dynamic_step()
        again, gradient = static_step()
        pairs = zip([value, *gradients], [again, *gradient], strict=True)
        if not all(np.array_equal(a.detach().numpy(), b.numpy()) for a, b in pairs):
            print(f"{name}: MISMATCH")
        counts, peaks, times = [], [], []
        for step in (dynamic_step, static_step):
            before = next_number()
            step()
            counts.append(next_number() - before - 1)
            tracemalloc.start()
            step()
            peaks.append(tracemalloc.get_traced_memory()[1] / 1000)
            tracemalloc.stop()
        for _ in range(rounds):
            sample = []
            for step in (dynamic_step, static_step):
                start = time.process_time()
                for _ in range(5):
                    step()
                sample.append((time.process_time() - start) / 5)
            times.append(sample)
        ratio = statistics.median(b / a for a, b in times)
        print(
            f"{name:12s}{ratio:8.2f}{statistics.median(b for _, b in times) * 1e3:15.2f}"
            f"{len(graph._steps):15d}{counts[0]:15d}{counts[1]:15d}"
            f"{peaks[0]:15.0f}{peaks[1]:15.0f}{traced * 1e3:15.0f}"
        )
