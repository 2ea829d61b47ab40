"""Goldens: pictures and texts that were looked at once and must stay as they are.

``ADK_UPDATE_GOLDENS=1 pytest tests/view`` writes them anew; look at each that changed before it is
committed. The style in a picture comes from kit.css and is tested by itself, so it is left out of
the comparison, but kept in the file so that it can be looked at.
"""

import os
import re
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "goldens"


def check(name: str, text: str) -> None:
    """Compare with the golden of that name."""
    path = FOLDER / name
    if os.environ.get("ADK_UPDATE_GOLDENS") == "1":
        path.write_text(text, encoding="utf-8", newline="\n")
    assert path.exists(), f"no golden {name} yet: see {Path(__file__).name}"
    assert _plain(text) == _plain(path.read_text(encoding="utf-8"))


def _plain(text: str) -> str:
    return re.sub(r"<style>.*?</style>|adk-s[0-9a-f]{8}", "", text, flags=re.DOTALL)
