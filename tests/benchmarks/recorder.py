"""What it costs to record an op: over the plain op, on the kit and on PyTorch.

A chain of small ops, forward and with its backward pass, and a training loop with a model and an
optimizer. ``run`` is CPU time until the recording's block has ended, ``read`` what it takes to
make plain data of what was noted, and ``bytes`` what the recording holds before and after that.
"""

from __future__ import annotations

import gc
import importlib
import statistics
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

__all__ = ["recorder"]

OPS = 4_000
STEPS = 60


def chain(torch: Any, *, backward: bool) -> None:
    """Compute with numbers of no dimension, two ops a round."""
    h = torch.tensor(1.0, requires_grad=True)
    for _ in range(OPS // 2):
        h = h * 1.0001
        h = h + 0.001
    if backward:
        h.backward()


def training(torch: Any) -> None:
    """Train a small network with an optimizer, as tutorials do."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    x, y = torch.randn(32, 2), torch.randn(32, 1)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()


def recorder(rounds: int) -> None:
    """Print what recording costs per op: each row plain and recorded, in turns."""
    import autodiff_kit as ak

    libraries: dict[str, Any] = {"kit": ak}
    try:
        libraries["PyTorch"] = importlib.import_module("torch")
        libraries["PyTorch"].set_num_threads(1)
    except ImportError:
        print("(PyTorch is not installed and left out)")
    works: dict[str, Callable[[Any], None]] = {
        "forward": lambda torch: chain(torch, backward=False),
        "with backward": lambda torch: chain(torch, backward=True),
        "training loop": training,
    }
    heads = ("plain us", "run us", "ratio", "read us", "bytes", "read")
    print(f"per op, minimum of {rounds} rounds\n")
    print(f"{'':24s}" + "".join(f"{head:>10s}" for head in heads))
    for name, library in libraries.items():
        for title, work in works.items():
            print(f"{name + ', ' + title:24s}" + _row(work, library, ak, rounds), flush=True)


def _row(work: Callable[[Any], None], library: Any, ak: Any, rounds: int) -> str:
    def record() -> Any:
        with ak.record(library) as recording:
            work(library)
        return recording

    count = sum(node["kind"] == "op" for node in record().nodes)
    samples: list[tuple[float, float, float]] = []
    for _ in range(rounds):
        gc.collect()
        times = [time.process_time()]
        work(library)
        times.append(time.process_time())
        recording = record()
        times.append(time.process_time())
        _ = recording.nodes, recording.events
        times.append(time.process_time())
        samples.append((times[1] - times[0], times[2] - times[1], times[3] - times[2]))
        del recording
    plain, run, read = (min(part) / count * 1e6 for part in zip(*samples, strict=True))
    ratio = statistics.median(b / a for a, b, _ in samples)
    sizes = [size / count for size in _sizes(record)]
    return f"{plain:10.2f}{run:10.2f}{ratio:10.1f}{read:10.2f}{sizes[0]:10.0f}{sizes[1]:10.0f}"


def _sizes(record: Callable[[], Any]) -> tuple[int, int]:
    """Return the bytes that a recording holds: as it was noted, and once it was read."""
    gc.collect()
    tracemalloc.start()
    recording = record()
    gc.collect()
    size = tracemalloc.get_traced_memory()[0]
    _ = recording.nodes, recording.events
    gc.collect()
    read = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return size, read
