"""Make the puzzles of an exercise from its solution and its known mistakes.

After reading this file you can say which of the known mistakes are wrong lines, orders or choices
(those that leave what is given as it is and bring a few lines along), and where a gap begins and
ends: where known mistakes differ from the solution. Read next: ``../puzzles/judge.py``.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import io
import json
import keyword
import re
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import lru_cache

from autodiff_kit.grading.course import Course
from autodiff_kit.grading.course_files import bytes_of
from autodiff_kit.grading.engine_parts import is_engine
from autodiff_kit.grading.exercise import Exercise, Variant
from autodiff_kit.grading.puzzles import TAB, Gap, Line, Place, Puzzle, Section

__all__ = ["mistaken", "packed", "puzzles_for", "puzzles_of"]

MOST_NEW = 3  # lines that a known mistake may bring along, so that it still is one of lines
MOST_CHOICES = 6  # of a gap
_SOLUTION = re.compile(r"(?ms)^([ \t]*)### BEGIN SOLUTION\n(.*?)^[ \t]*### END SOLUTION\n?")


def packed(course: Course) -> bytes | None:
    """Return the puzzles of a course as the file that `build` writes; None if it has none.

    The file contains the solutions of these exercises.
    """
    by_exercise = {
        exercise.id: [asdict(puzzle) for puzzle in puzzles_for(course, exercise)]
        for exercise in course.exercises()
        if exercise.has_puzzles
    }
    if not by_exercise:
        return None
    return (json.dumps(by_exercise, indent=1, ensure_ascii=False) + "\n").encode()


@lru_cache(maxsize=64)
def puzzles_for(course: Course, exercise: Exercise) -> list[Puzzle]:
    """Return the puzzles of an exercise of a course; of code that does not run yet, none."""
    source = bytes_of(course.folder, "source", exercise.name, f"{exercise.name}.ipynb")
    try:  # `verify` says what is wrong
        return puzzles_of(exercise, source)
    except (SyntaxError, tokenize.TokenError):
        return []


def puzzles_of(exercise: Exercise, notebook: bytes) -> list[Puzzle]:
    """Return the puzzles of an exercise, one for each cell with a solution.

    Parameters
    ----------
    exercise : Exercise
    notebook : bytes
        The teacher's, with the marks around its solutions.
    """
    sources = [
        "".join(cell["source"])
        for cell in json.loads(notebook)["cells"]
        # The parts of a whole engine are puzzles of their own exercises.
        if cell["cell_type"] == "code" and not is_engine(cell)
    ]
    return [_puzzle(source, exercise.mutants) for source in sources if _SOLUTION.search(source)]


def _puzzle(cell: str, mutants: Sequence[Variant]) -> Puzzle:
    sections: list[Section] = []
    lines: list[Line] = []
    places: list[Place] = []
    at = 0
    for match in _SOLUTION.finditer(cell):
        level = len(match[1].expandtabs(TAB)) // TAB
        above = "\n".join(text for text in cell[at : match.start()].split("\n") if text.strip())
        for depth, text in _logical(match[2]):
            lines.append(Line(_name(len(lines)), text))
            places.append(Place(len(sections), lines[-1].id, depth - level))
        sections.append(Section(above, level))
        at = match.end()
    names = tuple(part.name for part in _definitions(_without_marks(cell)))
    puzzle = Puzzle(names, tuple(sections), tuple(lines), tuple(places), ())
    wrong: list[Line] = []
    for mutant in mutants:
        new = Counter(_new_texts(_arrangement(puzzle, cell, mutant.code) or []))
        # As many of a line as one mistake has: it may be made in two functions.
        for text in (new - Counter(line.text for line in wrong)).elements():
            wrong.append(Line(_name(len(lines) + len(wrong)), text, mutant.message))
    lines += wrong
    whole = Puzzle(names, tuple(sections), tuple(lines), tuple(places), ())
    gaps = tuple(_gaps(whole, [mistaken(whole, cell, mutant) for mutant in mutants]))
    return Puzzle(names, tuple(sections), tuple(lines), tuple(places), gaps)


def mistaken(puzzle: Puzzle, cell: str, mutant: Variant) -> tuple[Place, ...] | None:
    """Return the arrangement that a known mistake is, or None if it is not one of lines."""
    changed = _arrangement(puzzle, cell, mutant.code)
    if changed is None:
        return None
    ids: dict[str, list[str]] = {}
    for line in puzzle.lines:
        ids.setdefault(line.text, []).append(line.id)
    used_ids = {id for _, id, _, _ in changed if id}
    places = []
    for section, id, text, level in changed:
        if not id:
            free = [name for name in ids.get(text, ()) if name not in used_ids]
            if not free:  # a line that stands there more often than there are of it
                return None
            id = free[0]
            used_ids.add(id)
        places.append(Place(section, id, level))
    return tuple(places)


_Changed = list[tuple[int, str, str, int]]  # section, id of a right line or "", text, level


def _new_texts(changed: _Changed) -> list[str]:
    return [text for _, id, text, _ in changed if not id]


def _arrangement(puzzle: Puzzle, cell: str, code: str) -> _Changed | None:
    """Return where the lines stand in a changed solution, if all that is given stays as it is."""
    before = _rows(_without_marks(cell))
    after = _rows(_with_definitions(_without_marks(cell), code))
    owners = _owners(puzzle)
    if after is None or before is None or before == after or len(before) != len(owners):
        return None
    changed: _Changed = []
    section = -1
    fixed = [number for number, owner in enumerate(owners) if owner is None]
    passed: list[int] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for action, first, last, begin, end in matcher.get_opcodes():
        if action == "equal":
            for number in range(first, last):
                owner = owners[number]
                if owner is None:
                    passed.append(number)
                    section = _section_after(owners, number)
                else:
                    depth, text = before[number]
                    changed.append((*owner, text, depth - puzzle.sections[owner[0]].level))
            continue
        for row in after[begin:end]:
            number = passed[-1] if passed else -1
            is_inside = number + 1 < len(owners) and owners[number + 1] is None
            if section < 0 or is_inside:
                return None
            level = row[0] - puzzle.sections[section].level
            if level < 0:
                return None
            if row[1] != "pass":  # it stands where no line does
                changed.append((section, "", row[1], level))
    if passed != fixed:
        return None
    removed = [o[1] for o in owners if o and o[1] not in {id for _, id, _, _ in changed}]
    changed = _moved(puzzle, changed, removed)
    return changed if len(_new_texts(changed)) <= MOST_NEW else None


def _moved(puzzle: Puzzle, changed: _Changed, removed: list[str]) -> _Changed:
    """Give lines that stand elsewhere, or further in, the id that they had."""
    texts = {line.id: line.text for line in puzzle.lines}
    result: _Changed = []
    for section, id, text, level in changed:
        same = next((name for name in removed if not id and texts[name] == text), "")
        if same:
            removed.remove(same)
        result.append((section, id or same, text, level))
    return result


def _owners(puzzle: Puzzle) -> list[tuple[int, str] | None]:
    """Return for each line of the code, docstrings aside, its section and id; None: given."""
    owners: list[tuple[int, str] | None] = []
    for number, section in enumerate(puzzle.sections):
        owners += [None] * len(list(_undocumented(_logical(section.above))))
        owners += [(number, place.line) for place in puzzle.places if place.section == number]
    return owners


def _section_after(owners: Sequence[tuple[int, str] | None], number: int) -> int:
    return next((owner[0] for owner in owners[number:] if owner), -1)


def _rows(code: str) -> list[tuple[int, str]] | None:
    try:
        return list(_undocumented(_logical(code)))
    except (tokenize.TokenError, IndentationError):
        return None


def _logical(code: str) -> Iterator[tuple[int, str]]:
    """Yield depth and text of each line of code as Python counts them, blank ones left out.

    What goes on in further lines keeps its indentation, seen from the first of them.
    """
    # The first line may be indented, as a part of a function is.
    offset = len(code) - len(code.lstrip(" ")) if code.startswith(" ") else 0
    head = "if 1:\n" if offset else ""
    source = (head + code).split("\n")
    first = 0
    for token in tokenize.generate_tokens(io.StringIO("\n".join(source)).readline):
        if token.type in (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT):
            continue
        if not first:
            first = token.start[0]
        if token.type == tokenize.NEWLINE:
            rows = source[first - 1 : token.end[0]]
            indent = len(rows[0]) - len(rows[0].lstrip())
            if not (head and first == 1):
                yield indent // TAB, "\n".join(row[indent:] for row in rows)
            first = 0


def _undocumented(rows: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    return (row for row in rows if not row[1].startswith('"""'))


def _without_marks(cell: str) -> str:
    return re.sub(r"(?m)^\s*### (BEGIN|END) SOLUTION\n?", "", cell)


def _definitions(code: str) -> list[ast.FunctionDef | ast.ClassDef]:
    body = ast.parse(code).body
    return [part for part in body if isinstance(part, ast.FunctionDef | ast.ClassDef)]


def _with_definitions(code: str, other: str) -> str:
    """Return a code with the functions and classes that the other defines; "" if it has more."""
    rows, others = code.split("\n"), other.split("\n")
    parts = {part.name: part for part in _definitions(other)}
    mine = _definitions(code)
    if len(parts) != len(ast.parse(other).body) or not parts.keys() <= {part.name for part in mine}:
        return ""
    for part in reversed(mine):
        if (new := parts.get(part.name)) is not None:
            rows[part.lineno - 1 : part.end_lineno] = others[new.lineno - 1 : new.end_lineno]
    return "\n".join(rows)


# -- Gaps ------------------------------------------------------------------------------------------


def _gaps(puzzle: Puzzle, mistakes: Sequence[tuple[Place, ...] | None]) -> Iterator[Gap]:
    """Yield a gap for each line that known mistakes write in another way: where they differ."""
    texts = {line.id: line.text for line in puzzle.lines}
    others: dict[str, list[str]] = {place.line: [] for place in puzzle.places}
    for places in mistakes:
        changes = [
            (right.line, texts[wrong.line])
            for wrong, right in zip(places or (), puzzle.places, strict=False)
            if wrong != right and wrong.level == right.level
        ]
        if places and len(places) == len(puzzle.places) and len(changes) == 1:
            others[changes[0][0]].append(changes[0][1])
    if not any(others.values()):  # then lines that begin alike, of whatever mistake
        for line in others:
            alike = [t for t in _wrong_texts(puzzle) if _head(t) == _head(texts[line])]
            alike = [t for t in alike if "\n" not in t]
            others[line] = difflib.get_close_matches(texts[line], alike, n=3, cutoff=0.0)
    for line, wrong in others.items():
        right = texts[line]
        short = [t for t in dict.fromkeys(wrong) if "\n" not in t + right and _may_stand(t, right)]
        if short:
            yield _gap(line, right, short)


def _may_stand(text: str, right: str) -> bool:
    """Tell whether a line is of the same kind as the right one: the learner is to choose a part."""
    (_, _, first), *_ = _tokens(text)
    return right.startswith(first) or (text[-1] == ":" and right[-1] == ":")


def _wrong_texts(puzzle: Puzzle) -> list[str]:
    return [line.text for line in puzzle.lines if line.mistake]


def _head(text: str) -> str:
    """Return what a line is for: `return`, `for`, or the name that gets a value."""
    word, _, rest = text.partition(" ")
    return word if keyword.iskeyword(word) or rest.startswith("= ") else text


def _gap(line: str, right: str, wrong: list[str]) -> Gap:
    wrong = wrong[: MOST_CHOICES - 1]
    tokens = {text: _tokens(text) for text in (right, *wrong)}

    def shared(step: int) -> int:
        rows = [[token for _, _, token in tokens[text]][::step] for text in tokens]
        columns = enumerate(zip(*rows, strict=False))
        return next((i for i, column in columns if len({*column}) > 1), min(map(len, rows)))

    def span(text: str) -> tuple[int, int]:
        own = tokens[text]
        return own[before][0], own[len(own) - behind - 1][1]

    before, behind = shared(1), shared(-1)
    short = min(map(len, tokens.values()))
    while before + behind >= short:  # so that there is something to choose in each
        before, behind = (before - 1, behind) if before else (before, behind - 1)
    while unmatched := [part for text in tokens if (part := _open(text[slice(*span(text))]))]:
        if any(lacks for lacks, _ in unmatched) and before:
            before -= 1
        elif behind:
            behind -= 1
        else:
            break
    return Gap(line, *span(right), tuple(sorted({text[slice(*span(text))] for text in tokens})))


def _open(text: str) -> tuple[int, int] | None:
    """Return how many brackets lack their beginning, and how many their end; None if none does."""
    lacks = depth = 0
    for _, _, token in _tokens(text):
        depth += (token in ("(", "[", "{")) - (token in (")", "]", "}"))
        if depth < 0:
            lacks, depth = lacks + 1, 0
    return (lacks, depth) if lacks or depth else None


def _tokens(text: str) -> list[tuple[int, int, str]]:
    parts = []
    with contextlib.suppress(tokenize.TokenError):  # a bracket without its end, behind all tokens
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.string.strip():
                parts.append((token.start[1], token.end[1], token.string))
    return parts


def _name(number: int) -> str:
    return f"{chr(97 + number % 26)}{number // 26 or ''}"
