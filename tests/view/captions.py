"""What the steps of a program say, with the kit and with PyTorch."""

from __future__ import annotations

import autodiff_kit as ak
from tests.invariants.running import Run, run
from tests.parity import require_torch


def recorded(source: str, library: str) -> Run:
    program = run("", ak if library == "kit" else require_torch(), source)
    assert program.recording.note is None
    return program


def captions(source: str, library: str) -> list[str]:
    return [frame["caption"] for frame in recorded(source, library).picture.frames]
