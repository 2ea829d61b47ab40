"""How long a lesson takes: counted in its notebook, not felt.

After reading you know what the minutes in lesson 00 count: words at 180 a minute, 40 seconds for
each question and 60 for each lab. Read next: ``bank/__init__.py``, the lessons and their questions.

Run it to see the minutes of all lessons, or of your own notebooks::

    python -m autodiff_kit.lessons.minutes
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from autodiff_kit import widgets
from autodiff_kit.lessons import library
from autodiff_kit.lessons.recalling import COUNT

__all__ = ["minutes"]

WORDS_A_MINUTE = 180
QUESTION, LAB = 40 / 60, 1.0  # minutes
_LAB = re.compile(rf"^%%(step|engine|beside)|^({'|'.join(widgets.__all__)})\(", re.MULTILINE)
_WORD = re.compile(r"\w[\w'.]*")
_TARGET = re.compile(r"\]\([^)]*\)")  # of a link: not read


def minutes(path: Path) -> int:
    """Return how many minutes a lesson takes.

    Parameters
    ----------
    path : Path
        The notebook.

    Returns
    -------
    int
    """
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    total = 0.0
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            total += len(_WORD.findall(_TARGET.sub("]", source))) / WORDS_A_MINUTE
        elif source.startswith("predict("):
            total += QUESTION
        elif _LAB.search(source):
            total += LAB
        if "\nrecall(" in source:
            total += COUNT * QUESTION
    return round(total)


def main(arguments: list[str]) -> None:
    """Print the minutes of notebooks; of all lessons, if none is named."""
    paths = [Path(name) for name in arguments] or sorted(library.find().glob("*.ipynb"))
    for path in paths:
        print(f"{minutes(path):3} {path.stem}")


if __name__ == "__main__":
    main(sys.argv[1:])
