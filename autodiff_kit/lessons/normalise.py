"""Keep the lessons' notebook files free of noise, so that a change shows only what was changed.

After reading this file you can say which parts of a notebook are the lesson (sources, tags,
outputs) and which are noise (ids, run counters, widget models, paths of one machine). Lessons
are committed with their outputs, because the tests compare them. Read next: ``library.py``.

Run it before a commit::

    python -m autodiff_kit.lessons.normalise notebooks
    python -m autodiff_kit.lessons.normalise --execute notebooks/03_backward_pass.ipynb
    python -m autodiff_kit.lessons.normalise --check notebooks
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from autodiff_kit.lessons.library import write_atomically

__all__ = ["NotebookError", "execute", "main", "normalise", "read", "to_text"]

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
# What stands before a package's own path in a traceback belongs to one machine only.
_MACHINE_PATH = re.compile(
    r"(^|[\s'\"(]|\x1b\[[\d;]*m)"  # a path starts here: at a blank, a quote or a change of colour
    r"(?:~|[A-Za-z]:)?[/\\](?:[^\s\x1b'\"]*[/\\])?"
    r"(?=(?:autodiff_kit|site-packages)[/\\])"
)


class NotebookError(Exception):
    """A notebook that cannot be read or run; the message names the file."""


def read(path: Path) -> Any:
    """Read a notebook and check its form.

    Parameters
    ----------
    path : Path
        The notebook.

    Returns
    -------
    nbformat.NotebookNode

    Raises
    ------
    NotebookError
        If the file cannot be read or is not a notebook.
    """
    import nbformat

    try:
        text = path.read_text(encoding="utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # missing cell ids: they are given below
            notebook = nbformat.reads(text, as_version=4)
            nbformat.validate(notebook)
    except Exception as error:  # nbformat raises many kinds; each means "not a notebook"
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise NotebookError(
            f"{path} is not a valid notebook: {reason[:200]}\n"
            "-> The file was left as it is. Fix it in an editor, or take it from history."
        ) from error
    return notebook


def execute(notebook: Any, path: Path) -> None:
    """Run all cells in a fresh kernel, in the notebook's own folder.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        Its outputs are replaced.
    path : Path
        Where the notebook lies; nothing is written.

    Raises
    ------
    NotebookError
        If a cell raises and has no tag ``raises-exception``, or takes more than 60 s.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellControlSignal, DeadKernelError

    resources = {"metadata": {"path": str(path.resolve().parent)}}

    def run() -> None:
        NotebookClient(
            notebook, timeout=60, kernel_name=KERNEL["name"], resources=resources
        ).execute()

    try:
        try:
            run()
        except RuntimeError as error:
            # Jupyter chooses free ports before the kernel opens them: another program was faster.
            if isinstance(error, DeadKernelError) or "before replying" not in str(error):
                raise
            run()
    except (CellControlSignal, DeadKernelError) as error:
        raise NotebookError(
            f"{path} did not run to its end: {error}\n-> The file was left as it is."
        ) from error


def normalise(notebook: Any) -> None:
    """Remove the noise, in place. Doing it twice changes nothing more.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        Of format 4.
    """
    notebook.metadata = {"kernelspec": dict(KERNEL)}
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    count = 0
    for index, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{index:02d}"
        tags = cell.metadata.get("tags")
        cell.metadata = {"tags": list(tags)} if tags else {}
        if cell.cell_type == "code":
            runs = bool(cell.source.strip())
            count += runs
            cell.execution_count = count if runs else None
            cell.outputs = list(_clean(cell.outputs, cell.execution_count))


def _clean(outputs: Iterable[Any], count: int | None) -> Iterator[Any]:
    previous: Any = None
    for output in outputs:
        if output.output_type == "stream":
            # One print may arrive in several pieces, depending on the clock.
            if previous is not None and previous.get("name") == output.name:
                previous.text += output.text
                continue
        elif output.output_type == "error":
            output.traceback = [_MACHINE_PATH.sub(r"\1", line) for line in output.traceback]
        else:
            output.data.pop(WIDGET_VIEW, None)  # the id of a model in a kernel that is gone
            if not output.data:
                continue
            output.metadata = {}
            if output.output_type == "execute_result":
                output.execution_count = count
        previous = output
        yield output


def to_text(notebook: Any) -> str:
    """Write a notebook as the text of its file, with one newline at the end."""
    import nbformat

    return str(nbformat.writes(notebook)).rstrip("\n") + "\n"


def _find(paths: Sequence[Path]) -> list[Path]:
    """Name all notebooks in files and folders, without Jupyter's own copies."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = (p for p in path.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)
            files.extend(sorted(inside))
        else:
            files.append(path)
    return files


def main(arguments: Sequence[str] | None = None) -> int:
    """Normalise notebooks, or check that they are.

    Parameters
    ----------
    arguments : sequence of str, optional
        As on the command line, which is the default.

    Returns
    -------
    int
        0 if all is well, 1 if ``--check`` found files that would change or a notebook is broken.
    """
    parser = argparse.ArgumentParser(
        prog="python -m autodiff_kit.lessons.normalise",
        description="Remove ids, counters and widget models from notebooks; keep their outputs.",
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="FILE_OR_FOLDER")
    parser.add_argument(
        "--check", action="store_true", help="list what would change, write nothing"
    )
    parser.add_argument("--execute", action="store_true", help="run the notebooks first")
    options = parser.parse_args(arguments)

    changed = broken = 0
    notebooks = _find(options.paths)
    for path in notebooks:
        try:
            notebook = read(path)
            if options.execute:
                start = perf_counter()
                execute(notebook, path)
                print(f"ran: {path} in {perf_counter() - start:.1f} s")
        except NotebookError as error:
            print(error, file=sys.stderr)
            broken += 1
            continue
        normalise(notebook)
        data = to_text(notebook).encode()
        if data != path.read_bytes():
            changed += 1
            print(f"{'would change' if options.check else 'normalised'}: {path}")
            if not options.check:
                write_atomically(path, data)
    print(f"{len(notebooks)} notebooks: {changed} changed, {broken} broken.")
    return 1 if broken or (options.check and changed) else 0


if __name__ == "__main__":
    sys.exit(main())
