"""Find the lessons that came with the kit, and make the learner's own copy of them.

After reading this file you can say where the lessons lie, and what happens to each file when
``autodiff-kit lab`` runs again after an upgrade. One promise stands above all: nothing that the
learner changed is ever overwritten. Read next: ``autodiff_kit/cli.py``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from autodiff_kit.files import written_whole
from autodiff_kit.lessons import renamed

__all__ = [
    "FIRST_LESSON",
    "LibraryError",
    "Report",
    "copy_lessons",
    "find",
    "progress_file",
    "write_atomically",
]

FIRST_LESSON = "00_start_here.ipynb"
RECORD = ".autodiff-kit.json"
_EXERCISE = re.compile(rb"\]\(\.\./exercises/release/\w+/")
_PACKAGE = Path(__file__).resolve().parents[1]


class LibraryError(Exception):
    """Something a learner can fix: lessons not found, or a folder that cannot be written."""


@dataclass
class Report:
    """What a copy did, as lists of file names relative to the learner's folder.

    Attributes
    ----------
    new : list of str
        Files that were not there before.
    updated : list of str
        Older versions that the learner had not changed, replaced by this one.
    offered : dict of str to str
        Files that the learner changed (left alone) -> the new version put beside them.
    same : list of str
        Files with nothing to do.
    retired : dict of str to str
        Lessons of the first edition that the learner changed (left alone) -> the lesson of today.
    record_was_damaged : bool
        The hidden record could not be read, so every file that differs counted as the learner's.
    """

    new: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    offered: dict[str, str] = field(default_factory=dict)
    same: list[str] = field(default_factory=list)
    retired: dict[str, str] = field(default_factory=dict)
    record_was_damaged: bool = False


def find(what: str = "notebooks", package: Path = _PACKAGE) -> Path:
    """Return the folder of the lessons or exercises of this installation.

    Parameters
    ----------
    what : str
        ``"notebooks"`` or ``"exercises"``.
    package : Path
        The package's own folder.

    Returns
    -------
    Path

    Raises
    ------
    LibraryError
        If this installation has none.
    """
    # An installed wheel has them inside the package. That place comes first: the folder around an
    # installed package is site-packages, where a stranger's `notebooks` may lie.
    for folder in (package / f"_{what}", package.parent / what):
        if folder.is_dir():
            return folder
    raise LibraryError(
        f"This installation of autodiff_kit has no {what}: neither {package / f'_{what}'} nor "
        f"{package.parent / what} exists.\n"
        "-> Install it again: pip install --force-reinstall autodiff_kit"
    )


def copy_lessons(
    source: Path, folder: Path, version: str, exercises: Mapping[str, bytes] | None = None
) -> Report:
    """Bring the learner's folder up to date without touching what the learner changed.

    The learner's lessons hold no outputs: a prediction comes before what it is about can be seen.

    A file the learner does not have is put there (also one that was deleted: that is how to start
    a lesson afresh). A file still as the kit wrote it is replaced. A file that was changed stays,
    and a version that was not offered before is put beside it: ``03_x.new-0.2.0.ipynb``. A lesson
    that has another name today is taken away, unless the learner changed it.

    Every file is written whole or not at all. A copy that was interrupted is finished by the next
    one, because each decision looks at what is really there.

    Parameters
    ----------
    source : Path
        Folder of the lessons, as :func:`find` returns it.
    folder : Path
        The learner's folder; made if missing.
    version : str
        Version of the kit, for the names of the files put beside changed ones.
    exercises : mapping of str to bytes, optional
        Path in the learner's folder -> notebook. They are treated like the lessons; but one that
        was there before this folder's record knows of it is the learner's, and stays alone.

    Returns
    -------
    Report

    Raises
    ------
    LibraryError
        If the folder cannot be made or written (nothing was changed then), if it is the kit's own
        folder of lessons, or if the disk gives out half way (whole files are there, no half ones).
    """
    if folder.resolve().is_relative_to(source.resolve()):
        raise LibraryError(
            f"{folder} is where the kit keeps its own lessons; your work would mix with them.\n"
            "-> Name a folder of your own: autodiff-kit lab FOLDER"
        )
    _require_writable(folder)
    digests, damaged = _read_record(folder / RECORD)
    report = Report(record_was_damaged=damaged)
    try:
        for path in _files(source):
            name = path.relative_to(source).as_posix()
            data = (
                _without_answers(path.read_bytes())
                if path.suffix == ".ipynb"
                else path.read_bytes()
            )
            digests[name] = _bring(name, data, folder, version, digests.get(name, []), report)
        for name, data in (exercises or {}).items():
            if name not in digests and (folder / name).exists():
                digests[name] = [_digest(data)]  # `start` put it there, in earlier versions
                report.same.append(name)
            else:
                digests[name] = _bring(name, data, folder, version, digests.get(name, []), report)
        for old, new in renamed.LESSONS.items():
            if (source / f"{new}.ipynb").exists():
                _retire(f"{old}.ipynb", f"{new}.ipynb", folder, digests, report)
        record = {"about": "Which versions of the lessons autodiff-kit put here.", "files": digests}
        text = json.dumps(record, indent=1, sort_keys=True) + "\n"
        write_atomically(folder / RECORD, text.encode())
    except OSError as error:
        raise LibraryError(
            f"The copy of the lessons stopped half way: {error.filename} ({error.strerror}).\n"
            "-> Every file there is whole. Make room or repair the folder, then run it again."
        ) from error
    return report


def progress_file(folder: Path | None = None) -> Path:
    """Return where the learner's answers are kept: beside the lessons they belong to.

    Parameters
    ----------
    folder : Path, optional
        The learner's folder. The default is the current one: a notebook runs in its own folder.

    Returns
    -------
    Path
        The file that the environment variable ``ADK_PROGRESS`` names, if it is set.
    """
    path = os.environ.get("ADK_PROGRESS")
    return Path(path) if path else (folder or Path()) / ".autodiff-kit-progress.json"


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file whole or not at all.

    Parameters
    ----------
    path : Path
        Where to; its folder is made if missing. A file that is there is replaced in one step.
    data : bytes
        The content.

    Raises
    ------
    OSError
        If it cannot be written; what was there is unchanged and no part of the new file is left.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as file:
        file.write(data)


def _without_answers(data: bytes) -> bytes:
    """Return a lesson as a learner gets it: nothing is answered, and exercises lie beside it."""
    data = _EXERCISE.sub(rb"](autodiff-kit-exercises/", data)
    try:
        notebook = json.loads(data)
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell["outputs"], cell["execution_count"] = [], None
    except (ValueError, KeyError, TypeError):
        return data  # no notebook: then nothing in it was run
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def _bring(
    name: str, data: bytes, folder: Path, version: str, ours: list[str], report: Report
) -> list[str]:
    """Decide about one file, note it in the report, and return the versions of ours from now on."""
    target = folder / name
    shipped = _digest(data)
    digest = _digest(target.read_bytes()) if target.is_file() else None
    if digest == shipped:
        report.same.append(name)
    elif digest is None and not target.exists():
        write_atomically(target, data)
        report.new.append(name)
    elif digest in ours:
        write_atomically(target, data)
        report.updated.append(name)
    elif shipped in ours:  # changed by the learner, and this version was offered before
        report.same.append(name)
    else:
        report.offered[name] = _put_beside(folder, name, version, data)
    # Put here or offered: the learner may have taken the offer, so an unchanged copy of any of
    # these versions may be replaced by the next one.
    return [*(digest for digest in ours if digest != shipped), shipped]


def _retire(
    old: str, new: str, folder: Path, digests: dict[str, list[str]], report: Report
) -> None:
    """Take a lesson of the first edition away, or say what it is called today."""
    target = folder / old
    if not target.is_file():
        digests.pop(old, None)
    elif _digest(target.read_bytes()) in digests.get(old, []):
        target.unlink()
        del digests[old]
    else:
        report.retired[old] = new


def _require_writable(folder: Path) -> None:
    """Raise before the first lesson is copied, rather than half way."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".autodiff-kit-probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise LibraryError(
            f"Cannot write in the folder {folder} ({error.strerror}); nothing was changed.\n"
            "-> Name a folder of your own: autodiff-kit lab FOLDER"
        ) from error


def _files(source: Path) -> Iterator[Path]:
    """All files of the lessons, without what editors and Jupyter leave behind."""
    for path in sorted(source.rglob("*")):
        parts = path.relative_to(source).parts
        if path.is_file() and not any(p.startswith(".") or p == "__pycache__" for p in parts):
            yield path


def _put_beside(folder: Path, name: str, version: str, data: bytes) -> str:
    """Write a new version beside the learner's file, and return its name."""
    old = PurePosixPath(name)
    number = 1
    while True:
        ending = "" if number == 1 else f"-{number}"
        beside = old.with_name(f"{old.stem}.new-{version}{ending}{old.suffix}")
        target = folder / beside
        if not target.exists():
            write_atomically(target, data)
            return str(beside)
        if target.is_file() and target.read_bytes() == data:  # an interrupted copy put it there
            return str(beside)
        number += 1


def _read_record(path: Path) -> tuple[dict[str, list[str]], bool]:
    """Return file name -> digests of our versions, and whether the record was unreadable."""
    try:
        files = json.loads(path.read_text(encoding="utf-8"))["files"]
        return {str(name): [str(digest) for digest in ours] for name, ours in files.items()}, False
    except FileNotFoundError:
        return {}, False
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}, True


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
