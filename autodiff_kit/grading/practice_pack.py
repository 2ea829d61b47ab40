"""Pack what `check` needs of a course into one file, and read it again.

A learner's own `check` judges without a network, so an installation has to hold what it judges by.
After reading this file you can say what that is (checks, known mistakes, the solutions that stand
in for earlier steps), and what stays with teachers (other right answers, this folder's README).
The file is packed so that no answer lies open beside a learner's work; it is no secret: who can
read this file can unpack that one. Standard library only, as the build of a wheel runs it. Read
next: ``course_files.py``.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path

__all__ = ["PACK", "pack", "unpack"]

PACK = "practice.pack"
MOST = 2**26  # bytes of what is packed
_PARTS = ("checks/*/*.toml", "checks/*/checks.py", "source/*/*.ipynb", "release/puzzles.json")


def pack(folder: Path) -> bytes:
    """Return a course's files as one; the same files give the same bytes.

    Parameters
    ----------
    folder : Path
        With ``checks``, ``source`` and ``release``.
    """
    paths = sorted(path for part in _PARTS for path in folder.glob(part))
    texts = {p.relative_to(folder).as_posix(): p.read_text(encoding="utf-8") for p in paths}
    return zlib.compress(json.dumps(texts, ensure_ascii=False).encode(), 9)


def unpack(data: bytes) -> dict[str, bytes]:
    """Return the files of a pack, by their paths in the course; ValueError if it is none."""
    unpacker = zlib.decompressobj()
    try:
        texts = json.loads(unpacker.decompress(data, MOST))
    except zlib.error as error:
        raise ValueError(f"{PACK} is damaged: {error}") from error
    return {path: text.encode() for path, text in texts.items()}
