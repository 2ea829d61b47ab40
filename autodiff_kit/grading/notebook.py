"""Get the learner's code out of what was handed in, without running or believing any of it.

After reading this file you can say what of a notebook counts: all that the learner wrote. Not every
front end keeps locked cells (given code, tests) from being written in, so what is the teacher's in
them is told by its text and left out; what was added counts as in any other cell. Stored outputs
and settings are ignored; cells may be moved, copied, retyped or gone. A file may be made to harm
its reader, so it is read in the process of the learner's code, under that process's limits; this
file therefore needs the standard library only. Read next: ``child.py``, which runs the cells.
"""

from __future__ import annotations

import ast
import itertools
import json
import re
import symtable
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

__all__ = [
    "MAX_CELLS",
    "MAX_CODE",
    "Cell",
    "Unreadable",
    "binding",
    "bound_by",
    "cells_of",
    "code_of",
    "defined",
    "lines_of",
    "read_by",
    "redefined",
    "text_of",
    "worked_on",
]

MAX_CODE = 2**18  # characters of all cells together
MAX_CELLS = 2_000
MAX_JOINED = 20  # pieces of a script that are tried as one cell
_CELL_MAGIC = re.compile(r"\s*%%(?!time|capture|prun)\w")
# What IPython runs beside Python: a command on a line or behind an "=", "?" behind a name, prompts.
_COMMAND = re.compile(
    r"((?:[ \t\f]|\\\n)*+)(?!#)(?:([^\n=]++=(?:[ \t]|\\\n)*+)(?=[!%])|(?=[!%?,;/]))"
    r"(%time[ \t]+)?((?:\\\n|[^\n])*)"
)
_HELP = re.compile(r"([ \t]*+)()()((?:\\\n|[^\n#])*[\w*\]]\?\??[ \t]*)(?=\n|\Z)")
_FIRST_PROMPT = re.compile(r"\s*(?:>>>|In \[\d+\]:) ")
_LATER_PROMPT = re.compile(r"(?m)^[ \t]*>>> ")
_PROMPT = re.compile(r"(?m)^[ \t]*(?:>>>|\.{3}|In \[\d+\]:|\.{3,}:)(?: |$)")
_TOKEN = re.compile(
    r"""#[^\n]*|\"{3}(?:\\.|[^\\])*?(?:\"{3}|\Z)|'{3}(?:\\.|[^\\])*?(?:'{3}|\Z)"""
    r"""|\"(?:\\.|[^"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?|\\.|[^#"'()\[\]{}\n\\]+|.""",
    re.DOTALL,
)
_DECLARED = re.compile(
    rb"(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n?|\n))?[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-\w.]+)"
)
_MARK = re.compile(r"(?m)^(?=# %%)")
_BEGINS = re.compile(r"(?m)^(?:def|class)\s+(\w+)")
_BINDS = re.compile(r"(?m)^(?:(?:def|class|import)\s+)?(\w+)[ ]*(?==[^=]|[(:]|$)")
_CANNOT_BE_PARSED = (SyntaxError, ValueError, RecursionError, MemoryError)


class Unreadable(Exception):
    """A file with no code to be had from it, and why."""


@dataclass(frozen=True)
class Cell:
    """Source that is run on its own: what is wrong with it takes no other cell with it.

    Attributes
    ----------
    source : str
    above : int
        How many lines of a script stand above it.
    number : int
        Which of a notebook's code cells it is, from 1 on; 0 in a script.
    tree : ast.Module, optional
        None if the source does not compile; then `error` says why.
    error : Exception, optional
    """

    source: str
    above: int = 0
    tree: ast.Module | None = None
    error: BaseException | None = None
    number: int = 0


def cells_of(
    data: bytes, suffix: str, names: Collection[str] = (), locked: Collection[str] = ()
) -> list[Cell]:
    """Return the learner's cells.

    Parameters
    ----------
    data : bytes
        A notebook, or Python source.
    suffix : str
        ``".py"`` tells that it is source.
    names : collection of str
        What the exercise asks for. Of several copies of a cell, only those that were worked on
        count; an untouched one does if there is no other.
    locked : collection of str
        The sources of the teacher's locked cells.

    Returns
    -------
    list of Cell

    Raises
    ------
    Unreadable
        If it is neither, or too long.
    """
    text = _text(data, suffix)
    if suffix == ".py":
        pieces = list(itertools.islice(_pieces(_short(text)), MAX_CELLS + 1))
        if len(pieces) > MAX_CELLS:
            raise Unreadable(f"The script has more than {MAX_CELLS:,} cells.")
        return pieces
    cells = _written(_sources(text), {source.strip() for source in locked})
    tasks = [_top(cell) & set(names) for cell in cells]
    done = [tasks[i] - _stubs(cell) for i, cell in enumerate(cells)]
    solved = set[str]().union(*done)
    return [c for i, c in enumerate(cells) if done[i] or not tasks[i] or not tasks[i] <= solved]


def code_of(data: bytes, suffix: str) -> list[str]:
    """Return the sources of all code cells that were not handed out locked, none of them parsed.

    Raises
    ------
    Unreadable
        If it is neither a notebook nor a script, or too long.
    """
    text = _text(data, suffix)
    if suffix == ".py":
        return [_short(text)]
    return [source for _, source, is_locked in _sources(text) if not is_locked]


def worked_on(data: bytes, suffix: str, names: Collection[str]) -> int:
    """Return how many of the names that an exercise asks for were worked on in a file.

    A name counts if it is defined, but not as it was handed out; also in a cell with a mistake in
    its syntax.

    Raises
    ------
    Unreadable
        As `cells_of`.
    """
    attempted = set[str]()
    for cell in cells_of(data, suffix, names):
        attempted |= (_top(cell) - _stubs(cell)) if cell.tree else {*_BEGINS.findall(cell.source)}
    return len(attempted & set(names))


def binding(code: str) -> set[str]:
    """Return the names to which an expression or cell gives a value (see `bound_by`)."""
    return bound_by(_parsed(code))


@lru_cache(maxsize=1024)  # asked again and again of the same known mistakes
def defined(code: str) -> frozenset[str]:
    """Return the names that a snippet defines at its top; none if it does not compile."""
    return frozenset(_top(_parsed(code)))


def bound_by(cell: Cell | ast.stmt) -> set[str]:
    """Return the names that a cell or statement gives a value: by imports and in branches, too.

    The name ``*`` stands for any: after ``import *`` and ``exec``. What cannot be compiled is
    searched for lines that look like it.
    """
    if isinstance(cell, Cell) and cell.tree is None:
        return {*_BINDS.findall(cell.source)}
    waiting: list[ast.AST] = [cell.tree if isinstance(cell, Cell) else cell]  # type: ignore[list-item]
    names: set[str] = set()
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(part.name)
            continue  # names within it are its own
        if isinstance(part, ast.alias):
            names.add((part.asname or part.name).partition(".")[0])
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            names.add(part.id)
        elif isinstance(part, ast.Name) and part.id == "exec":
            names.add("*")
        waiting += ast.iter_child_nodes(part)
    return names


def redefined(given_code: str, sources: Iterable[str]) -> list[str]:
    """Return the functions and classes of a code that were defined last in another way."""
    definitions = _definitions(given_code)
    last = dict(definitions)
    for source in sources:
        last |= {name: text for name, text in _definitions(source).items() if name in definitions}
    return [name for name in definitions if last[name] != definitions[name]]


def _definitions(source: str) -> dict[str, str]:
    tree = _parsed(source).tree
    parts = (
        p for p in (tree.body if tree else ()) if isinstance(p, ast.FunctionDef | ast.ClassDef)
    )
    return {part.name: text_of(part) for part in parts}


def text_of(part: ast.stmt) -> str:
    """Return a statement as a text that is the same for the same code, wherever it stands.

    It is empty for one that is nested too deeply or has a number of thousands of digits, and so
    for none of a teacher's.
    """
    try:
        return ast.dump(part)
    except (RecursionError, ValueError):
        return ""


def read_by(code: str) -> set[str]:
    """Return the names that a cell reads and that are not its functions' own."""
    try:
        waiting = [symtable.symtable(code, "<cell>", "exec")]
    except _CANNOT_BE_PARSED:
        return set()
    names: set[str] = set()
    while waiting:
        table = waiting.pop()
        is_top = table.get_type() == "module"
        symbols = [s for s in table.get_symbols() if s.is_referenced()]
        names |= {s.get_name() for s in symbols if is_top or s.is_global()}
        waiting += table.get_children()
    return names


def lines_of(source: str) -> list[str]:
    """Return the lines of a source, counted as Python counts them."""
    return re.split(r"\r\n|\r|\n", source)


def _parsed(source: str, above: int = 0) -> Cell:
    try:
        return Cell(source, above, tree=ast.parse(source))
    except _CANNOT_BE_PARSED as error:
        return Cell(source, above, error=error)


def _pieces(text: str) -> Iterator[Cell]:
    """Yield the cells of a script: it whole if it compiles, else what its ``# %%`` lines part."""
    whole = _parsed(text)
    if whole.tree is not None:
        yield whole
        return
    pieces = _MARK.split(text)
    above = start = 0
    while start < len(pieces):
        # A line that looks like a mark may stand within a text of several lines.
        sizes = range(1, min(MAX_JOINED, len(pieces) - start) + 1)
        tried = [_parsed(pieces[start], above)]
        for size in sizes[1:]:
            if tried[-1].tree is not None:
                break
            tried.append(_parsed("".join(pieces[start : start + size]), above))
        size = len(tried) if tried[-1].tree is not None else 1
        yield tried[size - 1]
        above += sum(piece.count("\n") for piece in pieces[start : start + size])
        start += size


def _written(sources: list[tuple[int, str, bool]], locked: set[str]) -> list[Cell]:
    """Return the cells, and of those that were locked what is not the teacher's."""
    theirs: set[str] | None = None
    cells = []
    for number, source, is_locked in sources:
        if is_locked and source.strip() in locked:
            continue
        cell = replace(_plain(source), number=number)
        if is_locked and cell.tree is not None:
            if theirs is None:
                theirs = {text_of(part) for text in locked for part in _parts(text)}
            cell.tree.body = [part for part in cell.tree.body if text_of(part) not in theirs]
        cells.append(cell)
    return cells


def _parts(source: str) -> list[ast.stmt]:
    tree = _plain(source).tree
    return tree.body if tree else []


def _sources(text: str) -> list[tuple[int, str, bool]]:
    """Return number and source of the code cells, and whether they were handed out locked."""
    if not text.strip():
        raise Unreadable("The file is empty.")
    try:
        notebook = json.loads(text)
    except json.JSONDecodeError as error:
        is_cut = "Unterminated" in error.msg or error.pos >= len(text.rstrip())
        why = "it ends before the notebook does; only a part was saved or uploaded"
        raise Unreadable(f"The file is not a notebook: {why if is_cut else error}.") from error
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"The file is not a notebook: {str(error)[:200]}") from error
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if cells is None and isinstance(notebook, dict):
        cells = _of_format_3(notebook.get("worksheets"))
    if not isinstance(cells, list):
        raise Unreadable("The file is not a notebook: it has no cells.")
    if len(cells) > MAX_CELLS:
        raise Unreadable(f"The notebook has more than {MAX_CELLS:,} cells.")
    sources: list[tuple[int, str, bool]] = []
    code = [cell for cell in cells if isinstance(cell, dict) and cell.get("cell_type") == "code"]
    for number, cell in enumerate(code, 1):
        metadata: Any = cell.get("metadata")
        grading = metadata.get("nbgrader") if isinstance(metadata, dict) else None
        is_locked = isinstance(grading, dict) and bool(
            grading.get("locked") and not grading.get("solution")
        )
        source = cell.get("source", cell.get("input", ""))
        if isinstance(source, list):
            source = "".join(part for part in source if isinstance(part, str))
        if isinstance(source, str):
            # Half characters cannot be sent, and no Python source has them.
            sources.append((number, source.encode("utf-8", "replace").decode(), is_locked))
    _short("".join(source for _, source, _ in sources))
    return sources


def _of_format_3(sheets: object) -> list[Any] | None:
    """Return the cells of a notebook of before 2014, which had sheets around them."""
    if not isinstance(sheets, list):
        return None
    lists = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
    return [cell for cells in lists if isinstance(cells, list) for cell in cells]


def _plain(source: str) -> Cell:
    """Return a cell as Jupyter runs it; one for another language is nothing at all."""
    if _CELL_MAGIC.match(source):
        return _parsed("\n" * source.count("\n"))
    if _FIRST_PROMPT.match(source):
        source = _PROMPT.sub("", source)
    cell = _parsed(source)
    # A line that begins with % may go on from the line before: then all is well as it is.
    if cell.tree is None:
        cell = _parsed(_without_commands(_unindented(source)))
    if cell.tree is None and _LATER_PROMPT.search(source):
        cell = _parsed(_without_commands(_PROMPT.sub("", source)))
    return cell


def _unindented(source: str) -> str:
    """Return a cell without the indentation of its first line."""
    first = source[: len(source) - len(source.lstrip())].rpartition("\n")[2]
    return re.sub(f"(?m)^{first}", "", source)


def _without_commands(source: str) -> str:
    """Return a cell with IPython's commands as comments; what they are assigned to has no value."""
    parts: list[str] = []
    place = depth = 0
    begins = True  # whether a statement may begin here
    while place < len(source):
        match = (_COMMAND.match(source, place) or _HELP.match(source, place)) if begins else None
        if match:
            indent, target, timed, command = match.groups(default="")
            value = "pass" if not target else "[]" if command.startswith("!") else "None"
            comment = command.replace("\n", "\n# ")
            # What %time runs is Python, with all that it assigns.
            parts += [indent, target, command if timed else f"{value}  # {comment}"]
        else:
            match = _TOKEN.match(source, place)
            assert match is not None
            token = match.group()
            depth = max(0, depth + (token in "([{") - (token in ")]}"))
            parts.append(token)
            begins = token == "\n" and not depth
        place = match.end()
    return "".join(parts)


def _top(cell: Cell) -> set[str]:
    names: set[str] = set()
    for part in cell.tree.body if cell.tree else ():
        if isinstance(part, ast.FunctionDef | ast.ClassDef):
            names.add(part.name)
        elif isinstance(part, ast.Assign):
            names.update(target.id for target in part.targets if isinstance(target, ast.Name))
    return names


def _stubs(cell: Cell) -> set[str]:
    """Return the functions, and classes with functions, that are still as they were handed out."""

    def is_stub(part: ast.AST) -> bool:
        if not isinstance(part, ast.FunctionDef) or len(part.body) > 2:
            return False  # words on top, and the line that says "not yet": no more
        last = part.body[-1]
        error = last.exc if isinstance(last, ast.Raise) else None
        error = error.func if isinstance(error, ast.Call) else error
        return isinstance(error, ast.Name) and error.id == "NotImplementedError"

    return {
        part.name
        for part in (cell.tree.body if cell.tree else ())
        if isinstance(part, ast.FunctionDef | ast.ClassDef) and any(map(is_stub, ast.walk(part)))
    }


def _text(data: bytes, suffix: str) -> str:
    encodings = ["utf-8-sig", "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"]
    if suffix == ".py" and (declared := _DECLARED.match(data)):
        encodings.insert(0, declared.group(1).decode())
    for encoding in encodings:
        try:
            return data.decode(encoding)
        except (UnicodeError, LookupError):
            continue
    raise Unreadable("The file is no text: it was not saved as UTF-8.")


def _short(code: str) -> str:
    if len(code) > MAX_CODE:
        raise Unreadable(f"The code has more than {MAX_CODE:,} characters.")
    return code
