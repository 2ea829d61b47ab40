"""Benchmarks that print ratios, measured side by side in one run.

    python -m tests.benchmarks                 speed against PyTorch, HIPS autograd, micrograd
    python -m tests.benchmarks growth          cost and bytes per op for chains of 1e3 to 1e6 ops
    python -m tests.benchmarks memory          peak memory of 50 and 200 layers, also under no_grad
    python -m tests.benchmarks import          cost of `import autodiff_kit` over `import numpy`
    python -m tests.benchmarks recorder        cost and bytes of recording an op, over the plain op
    python -m tests.benchmarks large           from 30,000 recorded ops to their first picture
    python -m tests.benchmarks picture         from code to widget and page: time, bytes per op
    python -m tests.browser.latency            from key to picture in a real browser

CPU time, one thread. A ratio below 1 means that the kit is faster. Contenders that are not
installed are left out (`pip install -e ".[bench]"`). Figures move by 5 % between runs; on a busy
machine by more.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")


def contenders() -> dict[str, tuple[str, Any]]:
    """Return name -> (kind, library) for what is installed; the kit comes first."""
    import autodiff_kit

    packages: dict[str, tuple[str, Any]] = {"kit": ("torch", autodiff_kit)}
    for name, kind, module in (
        ("torch", "torch", "torch"),
        ("HIPS", "hips", "autograd"),
        ("micrograd", "micrograd", "micrograd.engine"),
        ("NumPy", "numpy", "numpy"),
    ):
        try:
            library = importlib.import_module(module)
        except ImportError:
            print(f"({name} is not installed and left out)")
            continue
        if name == "HIPS":
            importlib.import_module("autograd.numpy")
        if name == "torch":
            library.set_num_threads(1)
        packages[name] = (kind, library)
    return packages


def speed(rounds: int, only: str) -> None:
    """Print, per workload, the median of the paired ratios kit / contender."""
    from tests.benchmarks.workloads import WORKLOADS

    libraries = contenders()
    others = [name for name in libraries if name != "kit"]
    print(f"whole step, kit / contender, median of {rounds} rounds\n")
    print(f"{'workload':16s}" + "".join(f"{name:>12s}" for name in others) + f"{'kit ms':>12s}")
    for name, kinds in WORKLOADS.items():
        if only not in name:
            continue
        steps, checks = {}, {}
        for library, (kind, module) in libraries.items():
            if kind in kinds:
                step, gradients = kinds[kind](module)
                loss = float(step())
                steps[library], checks[library] = step, (loss, gradients())
        reference = checks["kit"]
        for library, check in checks.items():
            close = all(
                abs(a - b) <= 2e-3 * max(1e-6, abs(b))
                for a, b in zip(check, reference, strict=True)
            )
            if not close:
                print(f"{name}: MISMATCH with {library}: {reference} != {check}")
        inner = _inner_steps(steps["kit"])
        samples: dict[str, list[float]] = {library: [] for library in steps}
        for _ in range(rounds):
            for library, step in steps.items():
                slow = library == "micrograd" and name == "moons_scalar"
                samples[library].append(_sample(step, 1 if slow else inner))
        cells = ""
        for library in others:
            if library in samples:
                pairs = zip(samples["kit"], samples[library], strict=True)
                cells += f"{statistics.median(a / b for a, b in pairs):12.2f}"
            else:
                cells += f"{'-':>12s}"
        print(f"{name:16s}{cells}{statistics.median(samples['kit']) * 1000:12.2f}", flush=True)


def _inner_steps(step: Any) -> int:
    once = _sample(step, 1)
    return max(1, min(20, int(0.03 / max(once, 1e-6))))


def _sample(step: Any, times: int) -> float:
    """Return the median CPU time of one step, in seconds."""
    gc.collect()  # what others have left in cycles, as micrograd does, is not this one's to clear
    samples = []
    for _ in range(times):
        start = time.process_time()
        step()
        samples.append(time.process_time() - start)
    return statistics.median(samples)


GROWTH = """
import resource, sys, time
import autodiff_kit as lib
n = int(sys.argv[1])
def resident():
    for line in open("/proc/self/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
x = lib.tensor(1.0, requires_grad=True)
(x * 1.5).backward()
before = resident()
start = time.process_time()
h = x
for _ in range(n // 2):
    h = h * 1.0000001
    h = h + 1e-9
built = time.process_time()
size = (resident() - before) / n
h.backward()
back = time.process_time()
del h
end = time.process_time()
us = 1e6 / n
print(f"{n:9d} {(built-start)*us:8.2f} {(back-built)*us:9.2f} {(end-back)*us:7.2f} {size:9.0f}")
"""


def growth() -> None:
    """Print microseconds and resident bytes per op of chains, one child process each."""
    print("recursion limit at its default; us per op and bytes per op\n")
    print(f"{'ops':>9s} {'forward':>8s} {'backward':>9s} {'drop':>7s} {'bytes':>9s}")
    for n in (1_000, 10_000, 100_000, 1_000_000):
        subprocess.run([sys.executable, "-c", GROWTH, str(n)], check=True)


MEMORY = """
import sys, tracemalloc
import numpy as np
import autodiff_kit as lib
layers, mode = int(sys.argv[1]), sys.argv[2]
a = np.random.default_rng(0).normal(0, 1, 10**6).astype("float32")
x = lib.from_numpy(a)
tracemalloc.start()
if mode == "numpy":
    h = a
    for _ in range(layers):
        h = np.tanh(np.float32(1.01) * h)
else:
    x.requires_grad_(mode == "grad")
    with lib.set_grad_enabled(mode == "grad"):
        h = x
        for _ in range(layers):
            h = (1.01 * h).tanh()
peak = tracemalloc.get_traced_memory()[1]
print(f"{layers:7d} {mode:>8s} {peak / 2**20:10.1f} MiB {peak / a.nbytes:8.2f} arrays")
"""


def memory() -> None:
    """Print the traced peak of a deep stack of layers on a million numbers."""
    print("h = tanh(1.01 * h) on 1e6 float32 (one array = 3.8 MiB)\n")
    for mode in ("grad", "no_grad", "numpy"):
        for layers in (50, 200):
            subprocess.run([sys.executable, "-c", MEMORY, str(layers), mode], check=True)


def import_cost(rounds: int) -> None:
    """Print the CPU time of `import autodiff_kit` over that of `import numpy`."""

    # Compiled files in a place of their own: an installed package has them, a checkout may not.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    folder = tempfile.TemporaryDirectory()
    environment["PYTHONPYCACHEPREFIX"] = folder.name

    def cpu(statement: str) -> float:
        before = os.times()
        subprocess.run([sys.executable, "-c", statement], check=True, env=environment)
        after = os.times()
        return (
            after.children_user
            + after.children_system
            - (before.children_user + before.children_system)
        )

    statements = {"numpy": "import numpy", "kit": "import autodiff_kit", "python": "pass"}
    samples: dict[str, list[float]] = {name: [] for name in statements}
    for statement in statements.values():
        cpu(statement)
    for _ in range(max(rounds, 21)):
        for name, statement in statements.items():
            samples[name].append(cpu(statement))
    for name in ("kit", "python"):
        pairs = zip(samples[name], samples["numpy"], strict=True)
        print(f"{name:8s} / numpy: {statistics.median(a / b for a, b in pairs):.2f}")
    folder.cleanup()


def picture(rounds: int) -> None:
    """Print the way from code to widget and page for small and large recordings."""
    import pathlib

    import autodiff_kit as ak
    from autodiff_kit.view import build
    from autodiff_kit.widgets import Stepper

    def loop(ops: int) -> ak.record.Recording:
        w = ak.tensor(0.9, requires_grad=True)
        with ak.record() as recording:
            h = w
            for _ in range(ops // 2):
                h = h * w
                h = h.tanh()
            h.backward()
        return recording

    heads = " ".join(f"{head:>9s}" for head in ("record", "widget", "both", "page", "find"))
    print(f"{'ops':>7s} {heads}   bytes per op")
    for ops in (20, 100, 298, 1_000, 10_000):
        rows: list[tuple[float, ...]] = []
        for _ in range(max(1, min(rounds, 3_000 // ops))):
            times = [time.process_time()]
            recording = loop(ops)
            times.append(time.process_time())
            stepper = Stepper(recording)
            stepper._repr_mimebundle_()
            times.append(time.process_time())
            with tempfile.TemporaryDirectory() as folder:
                page = pathlib.Path(folder) / "page.html"
                recording.to_html(page)
                times.append(time.process_time())
                size = page.stat().st_size
            picture = build(recording)
            times.append(time.process_time())
            picture.find("abs(grad) > 1e3")
            times.append(time.process_time())
            rows.append((*(b - a for a, b in itertools.pairwise(times)), size))
        medians = map(statistics.median, zip(*rows, strict=True))
        record_time, widget, page_time, _, find, size = medians
        milliseconds = (record_time, widget, record_time + widget, page_time, find)
        cells = " ".join(f"{t * 1000:6.0f} ms" for t in milliseconds)
        sent = len(stepper.payload) / ops
        print(f"{ops:7d} {cells}   widget {sent:.0f}, page {size / ops:.0f}")


def main() -> None:
    """Read the command line and run one benchmark."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    modes = ("speed", "growth", "memory", "import", "recorder", "large", "picture", "static")
    parser.add_argument("mode", nargs="?", default="speed", choices=modes)
    parser.add_argument("--rounds", type=int, default=11, help="rounds per workload (11)")
    parser.add_argument("--only", default="", help="only workloads whose name contains this")
    chosen = parser.parse_args()
    if chosen.mode == "speed":
        speed(chosen.rounds, chosen.only)
    elif chosen.mode == "growth":
        growth()
    elif chosen.mode == "memory":
        memory()
    elif chosen.mode == "import":
        import_cost(chosen.rounds)
    elif chosen.mode == "recorder":
        from tests.benchmarks.recorder import recorder

        recorder(chosen.rounds)
    elif chosen.mode == "large":
        from tests.benchmarks.large import large

        large(30_000, chosen.only)
    elif chosen.mode == "static":
        from tests.benchmarks.static import static

        static(chosen.rounds)
    else:
        picture(chosen.rounds)


if __name__ == "__main__":
    main()
