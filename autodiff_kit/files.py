"""Files that are written whole or not at all: nothing of yours is ever half overwritten."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["written_whole"]


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Write a binary file that takes the place of ``path`` when the block ends well.

    Until then, and if anything goes wrong, what was there stays as it is, and nothing else is left.

    Parameters
    ----------
    path : path
        A symbolic link stays one: the file that it names is replaced, and keeps its permissions.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{secrets.token_hex(8)}.tmp")  # same folder: same file system
    try:
        with open(draft, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, draft)
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)
