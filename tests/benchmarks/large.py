"""Recordings of 30,000 ops: what they cost until their first picture is there, on both libraries.

Five kinds of programs, each with its backward pass: a recurrent network, a training loop, a
``Sequential`` of residual blocks, a transformer and a recursion over a tree. ``run`` is what the
recorded program takes per op, ``plain`` what it takes without a recorder, and ``ratio`` the one
over the other; ``picture`` the CPU time from the end of the recording's block to the widget's first
picture, ``page`` the size of that picture as a page, ``bytes`` what the recording holds per op, and
``shown`` what it holds once that picture is there. How long a step takes in that page,
``python -m tests.browser.latency`` says.
"""

from __future__ import annotations

import gc
import importlib
import itertools
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["PROGRAMS", "large"]

LIMIT = 2_000_000  # events: more than these programs have


def recurrent(torch: Any, ops: int) -> None:
    """Run a recurrent network over a long sequence, written out by hand."""
    W, U, b = (torch.randn(*shape, requires_grad=True) for shape in ((4, 4), (4, 4), (4,)))
    xs = torch.randn(ops // 5, 1, 4)
    h = torch.zeros(1, 4)
    for x in xs.unbind():
        h = torch.tanh(x @ W + h @ U + b)
    loss = (h**2).mean()
    loss.backward()


def training(torch: Any, ops: int) -> None:
    """Train a small network with an optimizer."""
    net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    x, y = torch.randn(16, 2), torch.randn(16, 1)
    for _ in range(ops // 8):
        optimizer.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()


def residual(torch: Any, ops: int) -> None:
    """Run a deep stack of residual blocks once."""
    nn = torch.nn

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.LayerNorm(8)
            self.fc = nn.Linear(8, 8)

        def forward(self, x: Any) -> Any:
            return x + torch.relu(self.fc(self.norm(x)))

    net = nn.Sequential(*(Block() for _ in range(ops // 5)))
    x = torch.randn(4, 8)
    loss = net(x).square().mean()
    loss.backward()


def transformer(torch: Any, ops: int) -> None:
    """Run many small transformer blocks once."""
    nn, F = torch.nn, torch.nn.functional

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.ln1, self.ln2 = nn.LayerNorm(8), nn.LayerNorm(8)
            self.q, self.k, self.v, self.out = (nn.Linear(8, 8) for _ in range(4))
            self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)

        def forward(self, x: Any) -> Any:
            h = self.ln1(x)
            q, k, v = self.q(h), self.k(h), self.v(h)
            weights = F.softmax(q @ k.transpose(-2, -1) / 8**0.5, dim=-1)
            x = x + self.out(weights @ v)
            return x + self.down(F.gelu(self.up(self.ln2(x))))

    blocks = nn.ModuleList(Block() for _ in range(ops // 21))
    x = torch.randn(4, 8)
    for block in blocks:
        x = block(x)
    loss = (x**2).mean()
    loss.backward()


def tree(torch: Any, ops: int) -> None:
    """Call a function that calls itself twice."""
    w, x = torch.tensor(0.5, requires_grad=True), torch.tensor(1.0)

    def grow(x: Any, depth: int) -> Any:
        if depth == 0:
            return x * w
        return torch.tanh(grow(x, depth - 1) + grow(x * w, depth - 1))

    y = grow(x, (ops // 4).bit_length() - 1)
    y.backward()


PROGRAMS: dict[str, Callable[[Any, int], None]] = {
    "recurrent": recurrent,
    "training": training,
    "residual": residual,
    "transformer": transformer,
    "tree": tree,
}


def large(ops: int, only: str) -> None:
    """Print the figures of each program on each library."""
    import autodiff_kit as ak

    libraries: dict[str, Any] = {"kit": ak}
    try:
        libraries["PyTorch"] = importlib.import_module("torch")
        libraries["PyTorch"].set_num_threads(1)
    except ImportError:
        print("(PyTorch is not installed and left out)")
    heads = (
        "ops",
        "contrib.",
        "plain us",
        "run us",
        "ratio",
        "picture s",
        "page kB",
        "boxes",
        "bytes",
    )
    print(f"{'':22s}" + "".join(f"{head:>10s}" for head in (*heads, "shown")))
    for title, program in PROGRAMS.items():
        for name, library in libraries.items():
            row = f"{name}, {title}"
            if only in row:
                print(f"{row:22s}{_row(program, library, ak, ops)}", flush=True)


def _row(program: Callable[[Any, int], None], library: Any, ak: Any, ops: int) -> str:
    from autodiff_kit.widgets import Stepper

    def record(count: int) -> Any:
        with ak.record(library, limit=LIMIT) as recording:
            program(library, count)
        return recording

    record(ops // 100)  # what is loaded or worked out once
    library.manual_seed(0)
    gc.collect()
    times = [time.process_time()]
    program(library, ops)
    gc.collect()
    times.append(time.process_time())
    recording = record(ops)
    times.append(time.process_time())
    stepper = Stepper(recording)
    stepper._repr_mimebundle_()
    times.append(time.process_time())
    plain, run, picture_time = (b - a for a, b in itertools.pairwise(times))
    count = sum(node["kind"] == "op" for node in recording.nodes)
    contributions = sum(event["kind"] == "contribution" for event in recording.events)
    boxes = len(stepper.picture.since)
    with tempfile.TemporaryDirectory() as folder:
        recording.to_html(page := Path(folder) / "page.html")
        size = page.stat().st_size / 1000
    del recording, stepper
    recording_size, picture_size = _sizes(lambda: record(ops // 10), Stepper)
    per_op = 1e6 / count
    note = "" if contributions else "  no contribution"
    return (
        f"{count:10d}{contributions:10d}{plain * per_op:10.2f}{run * per_op:10.2f}"
        f"{run / plain:10.1f}{picture_time:10.2f}{size:10.0f}{boxes:10d}"
        f"{recording_size * 10 / count:10.0f}{picture_size * 10 / count:10.0f}{note}"
    )


def _sizes(record: Callable[[], Any], show: Callable[[Any], Any]) -> tuple[int, int]:
    """Return the bytes that a recording holds: as it was noted, and with its first picture."""
    gc.collect()
    tracemalloc.start()
    recording = record()
    gc.collect()
    recording_size = tracemalloc.get_traced_memory()[0]
    picture = show(recording)
    gc.collect()
    whole_size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    del picture
    return recording_size, whole_size
