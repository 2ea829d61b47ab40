"""The bank of odd programs, each recorded once, with the kit and with PyTorch."""

from __future__ import annotations

import itertools
import linecache
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import autodiff_kit as ak
from autodiff_kit.view import build
from autodiff_kit.view.names import Names

_numbers = itertools.count(1)
_TEXT = Path(__file__).with_name("programs.txt").read_text(encoding="utf-8")
PROGRAMS = dict(part.split("\n", 1) for part in _TEXT.split("### ")[1:])


@dataclass
class Run:
    """A program that has run: its source, its recording, and what its variables hold."""

    name: str
    source: str
    recording: Any
    space: dict[str, Any]
    torch: Any

    @cached_property
    def data(self) -> Any:
        return self.recording.to_dict()

    @cached_property
    def names(self) -> Names:
        return Names(self.data)

    @cached_property
    def picture(self) -> Any:
        return build(self.recording)

    @property
    def nodes(self) -> list[dict[str, Any]]:
        return self.recording.nodes

    def named(self, name: str) -> dict[str, Any] | None:
        """Return the latest node that has a name, or a numbered one."""
        nodes = [n for n in self.nodes if name in (n["name"], n.get("variable"))]
        return nodes[-1] if nodes else None


def run(name: str, torch: Any, source: str = "", space: dict[str, Any] | None = None) -> Run:
    """Record a program, or another version of it, with the kit or with PyTorch."""
    package = "torch" if torch is not ak else "autodiff_kit"
    source = (source or PROGRAMS[name]).replace("KIT", package)
    file = f"<cell {next(_numbers)} of the bank>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = {"torch": torch} if space is None else space
    code = compile(source, file, "exec")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with ak.record() if torch is ak else ak.record(torch) as recording:
                exec(code, space)
        except RuntimeError:
            assert recording.error is not None
    return Run(name, source, recording, space, torch)
