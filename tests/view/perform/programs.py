"""Scripts of programs that a test writes down."""

from __future__ import annotations

import linecache
from typing import Any

import autodiff_kit
from autodiff_kit.record import Recording, record
from autodiff_kit.view.perform import Script, Task, perform_script

LEAVES = "w = torch.tensor(3.0, requires_grad=True)\nx = torch.tensor(2.0, requires_grad=True)\n"


def recording_of(source: str, torch: Any = autodiff_kit) -> Recording:
    """Record a program, as in a cell."""
    source += "\n"
    name = f"<program {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    with record() as recording:
        exec(compile(source, name, "exec"), {"torch": torch})
    return recording


def script_of(source: str) -> Script:
    """Return the script of a program."""
    return perform_script(recording_of(source))


def tasks(script: Script, about: str) -> list[Task]:
    """Return the tasks of a kind."""
    return [task for task in script["tasks"].values() if task["about"] == about]
