"""``python -m tests.fuzz``: run many programs, show what differs, count."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

from tests.fuzz.known import REASONS, reason_for
from tests.fuzz.rounding import is_rounding
from tests.fuzz.running import ENDING, KINDS, Difference, Run, run_seed
from tests.fuzz.shrinking import as_source, shrunk
from tests.fuzz.writing import FLAVOURS

CHUNK = 500


class Result(NamedTuple):
    """Of a number of programs: counts, and an example (seed) for each cause."""

    programs: int
    lines: int
    checks: Counter[str]
    disagreements: Counter[str]
    kinds: Counter[str]  # programs with a difference of this kind
    known: Counter[str]  # differences on purpose, by name
    causes: dict[tuple[str, ...], list[tuple[int, Difference, list[str]]]]


def run_chunk(first: int, count: int, flavour: str) -> Result:
    """Run the programs of some seeds."""
    result = Result(0, 0, Counter(), Counter(), Counter(), Counter(), {})
    programs = lines = 0
    for seed in range(first, first + count):
        run = run_seed(seed, flavour)
        programs += 1
        lines += len(run.lines)
        result.checks.update(run.checks)
        fresh = []
        for difference in run.differences:
            reason = reason_for(difference, run.lines)
            if reason is None and is_rounding(run.lines, difference):
                reason = "rounding"
            if reason is None:
                fresh.append(difference)
            else:
                result.known[reason] += 1
        if fresh:
            kinds = {d.kind for d in fresh}
            result.disagreements.update({k: run.disagreements[k] for k in kinds})
            result.kinds.update(kinds)
        for difference in fresh:
            examples = result.causes.setdefault(difference.cause, [])
            if len(examples) < 3:
                examples.append((seed, difference, run.lines))
    return result._replace(programs=programs, lines=lines)


def _add(total: Result, part: Result) -> Result:
    for mine, theirs in zip(total[2:6], part[2:6], strict=True):
        mine.update(theirs)
    for cause, examples in part.causes.items():
        total.causes[cause] = sorted(
            total.causes.get(cause, []) + examples, key=lambda e: len("".join(e[2]))
        )[:3]
    return total._replace(programs=total.programs + part.programs, lines=total.lines + part.lines)


def run_many(programs: int, seed: int, processes: int, flavour: str, show: Any = None) -> Result:
    """Run programs in chunks, in one or more processes."""
    total = Result(0, 0, Counter(), Counter(), Counter(), Counter(), {})
    firsts = range(seed, seed + programs, CHUNK)
    jobs = [(first, min(CHUNK, seed + programs - first), flavour) for first in firsts]
    if processes == 1:
        for job in jobs:
            total = _add(total, run_chunk(*job))
            if show:
                show(total)
        return total
    with ProcessPoolExecutor(processes) as pool:
        for part in pool.map(run_chunk, *zip(*jobs, strict=True)):
            total = _add(total, part)
            if show:
                show(total)
    return total


def table(result: Result, seconds: float) -> str:
    """Return the counts as text."""
    rows = [
        f"{result.programs} programs, {result.lines} lines, {seconds:.0f} s",
        f"{'kind':14} {'programs':>9} {'checks':>10} {'differ':>8} {'agree':>10}",
    ]
    for kind in KINDS:
        counted = "message" if kind in ("accepted", "refused", "class") else kind
        counted = "value" if kind in ("dtype", "shape") else counted
        checks, differ = result.checks[counted], result.disagreements[kind]
        share = f"{100 * (1 - differ / checks):.3f} %" if checks else ""
        rows.append(f"{kind:14} {result.kinds[kind]:9} {checks:10} {differ:8} {share:>10}")
    rows.append("\nDifferent on purpose or by rounding:")
    for name, reason in {
        **REASONS,
        "rounding": "PyTorch's own results differ as much where last digits are moved.",
    }.items():
        rows.append(f"{result.known[name]:8}  {name}: {reason}")
    return "\n".join(rows)


def main() -> int:
    """Run as the arguments say; return 1 if a program ends at a difference."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--kinds", default="", help="show only these, with commas between")
    parser.add_argument("--flavour", default="", choices=["", *FLAVOURS])
    parser.add_argument("--examples", type=int, default=20, help="how many causes to show")
    parser.add_argument("--observed", action="store_true", help="with an observer, as recordings")
    options = parser.parse_args()
    Run.observed = options.observed
    started = time.perf_counter()

    def show(total: Result) -> None:
        total_found = sum(total.kinds[kind] for kind in ENDING)
        seconds = time.perf_counter() - started
        text = f"{total.programs} programs, {total.programs / seconds:.0f}/s, {total_found} differ"
        print(f"\r{text}", end="", file=sys.stderr, flush=True)

    result = run_many(options.programs, options.seed, options.processes, options.flavour, show)
    print(file=sys.stderr)
    kinds = options.kinds.split(",") if options.kinds else KINDS
    causes = sorted((c for c in result.causes if c[0] in kinds), key=lambda c: KINDS.index(c[0]))
    for cause in causes[: options.examples]:
        (seed, difference, lines), *others = result.causes[cause]
        small, last = shrunk(lines, difference)
        seeds = ", ".join([f"seed {seed}", *(str(other) for other, *_ in others)])
        print(f"# {last.kind} of {last.what} after `{last.line}` ({seeds})")
        print(f"#   PyTorch: {last.torch[:300]}\n#   the kit: {last.kit[:300]}")
        print(f"{as_source(small)}\n")
    if len(causes) > options.examples:
        print(f"... and {len(causes) - options.examples} more causes (--examples)\n")
    print(table(result, time.perf_counter() - started))
    return int(any(result.kinds[kind] for kind in ENDING))


if __name__ == "__main__":
    sys.exit(main())
