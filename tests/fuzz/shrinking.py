"""Make a program small that still ends at the same difference."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.fuzz.running import Difference, replay
from tests.fuzz.writing import PRELUDE

__all__ = ["as_source", "shrunk"]


def shrunk(lines: list[str], difference: Difference) -> tuple[list[str], Difference]:
    """Return a smaller program with a difference of the same cause, and that difference."""
    last = difference
    changed = True
    while changed:
        changed = False
        for simpler in _simpler(lines):
            other = _same(simpler, difference)
            if other is not None:
                lines, last, changed = simpler, other, True
                break
    return lines, last


def _same(lines: list[str], difference: Difference) -> Difference | None:
    try:
        run = replay(lines)
    except SyntaxError:
        return None
    return next((d for d in run.differences if d.symptom == difference.symptom), None)


def _simpler(lines: list[str]) -> Iterator[list[str]]:
    for i in reversed(range(len(lines))):
        yield lines[:i] + lines[i + 1 :]
    for i, line in enumerate(lines):
        for text in _simpler_lines(line):
            if text != line:
                yield [*lines[:i], text, *lines[i + 1 :]]


def _simpler_lines(line: str) -> Iterator[str]:
    if line.startswith("class "):
        return
    inner = re.fullmatch(r"(?:with|for|if)[^\n]*:\n    ([^\n]*)(\nelse:.*)?", line, re.DOTALL)
    if inner:
        yield inner[1]
    if not re.match(r"[a-z]\d? = torch\.(ones|tensor|arange)\(", line):
        yield re.sub(
            r"^([a-z]\d?) = torch\.\w+\(.*?(, requires_grad=True)?\)(\.reshape\(.*\))?$",
            r"\1 = torch.ones(2\2)",
            line,
        )
    yield re.sub(r"^([a-z]\d?) = torch\.tensor\([^a-z]*", r"\1 = torch.tensor([1., 2.]", line)
    yield line.replace(", requires_grad=True", "")
    for option in re.findall(r", \w+=\w+", line):
        yield line.replace(option, "")
    for option in re.findall(r"\(\w+=\w+\)", line):
        yield line.replace(option, "()")


def as_source(lines: list[str]) -> str:
    """Return the program as a file that runs: with PyTorch, or with the kit under its name."""
    imports = "import numpy as np\nimport torch\nimport torch.nn.functional as F\n"
    text = "\n".join(lines)
    if "checkpoint(" in text:
        imports += "from torch.utils.checkpoint import checkpoint\n"
    return imports + (PRELUDE if re.search(r"\b(log|hook|told)\b", text) else "") + text
