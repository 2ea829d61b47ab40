"""Build the wheel for learners: no solution, check or known mistake lies open in it.

A learner's `check` judges without a network and needs them: they are packed into one file, which
the kit reads (`autodiff_kit/grading/practice_pack.py`). That keeps nobody from reading what this
repository shows to all; it keeps answers from lying about beside a learner's work.
"""

import runpy
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PracticePack(BuildHookInterface):  # type: ignore[type-arg]
    """Write the pack beside what is built, and take it away again."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the pack to the wheel; one that is editable reads the exercises where they are."""
        if version == "editable":
            return
        root = Path(self.root)
        tools = runpy.run_path(str(root / "autodiff_kit" / "grading" / "practice_pack.py"))
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / tools["PACK"]
        path.write_bytes(tools["pack"](root / "exercises"))
        place = f"autodiff_kit/_exercises/{path.name}"
        build_data["force_include"][str(path)] = place

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was written for the build."""
        if version != "editable":
            self.folder.cleanup()
