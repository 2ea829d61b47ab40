"""From a running instruction to the learner's source: which characters, which name, which loops.

After reading this file you know how ``2 * x`` lights up: Python knows the columns of every
instruction (``co_positions``); the syntax tree of the same text says what name the result is given,
what the operands are called, and which loops are around. Read next: ``scopes.py``.
"""

from __future__ import annotations

import os
from dis import opmap
from types import CodeType, FrameType
from typing import Any

from autodiff_kit.record.events import SourceRecord, Where
from autodiff_kit.record.source_files import LearnersFiles, cell_name, read_lines
from autodiff_kit.record.source_tree import Loop, Source, is_within, source_of

__all__ = ["Place", "Sources"]

_FOR_ITER, _GET_ITER, _CACHE = opmap["FOR_ITER"], opmap["GET_ITER"], 0
_UNPACK = (opmap["UNPACK_SEQUENCE"], opmap["UNPACK_EX"])


class Place:
    """What is known of one instruction.

    Attributes
    ----------
    where : list or None
        [source, line, column, end line, end column].
    text : str
        The characters there.
    name : str or None
        What the result is assigned to.
    operands : tuple of str
        The operands' text, as far as they are names: ``x``, ``self.w``, ``params[0]``.
    is_plain : bool
        Whether that is nothing of what follows.
    is_item : bool
        Whether that may be an item of a tensor: ``y[0]``.
    parts : tuple of str
        What the parts of the result are assigned to, as in ``a, b = f()``; "" for one without.
    loops : tuple of Loop
        The loops around it within its frame, outermost first.
    begins_round : bool
        Whether it takes the next item for the innermost of them.
    test : Loop or None
        The ``while`` among them whose test it is a part of.
    is_ahead : bool
        Whether Python asks that test below the body, before the jump that begins the next round.
    calls_back : bool
        Whether it may do the same thing several times before it is over, as ``sum(x)`` does.
    collects : bool
        Whether it returns a collection of such results, as ``list(map(f, xs))`` does.
    returned : bool
        Whether the function of it returns the result.
    scope, number : int
        The recorder's note to itself: where this place last gave its name, and to which node.
    drafts : dict
        Likewise: what the entries of the ops that run here have in common.
    """

    __slots__ = (
        "begins_round",
        "calls_back",
        "collects",
        "drafts",
        "is_ahead",
        "is_item",
        "is_plain",
        "loops",
        "name",
        "number",
        "operands",
        "parts",
        "returned",
        "scope",
        "test",
        "text",
        "where",
    )

    def __init__(self) -> None:
        self.where: Where | None = None
        self.text = ""
        self.name: str | None = None
        self.operands: tuple[str, ...] = ()
        self.parts: tuple[str, ...] = ()
        self.loops: tuple[Loop, ...] = ()
        self.test: Loop | None = None
        self.is_ahead = self.begins_round = self.calls_back = self.collects = False
        self.returned = self.is_item = False
        self.is_plain = True
        self.scope = self.number = -1
        self.drafts: dict[Any, Any] = {}

    def text_of(self, op: str, *, is_bool: bool) -> str:
        """Return the source of an op; "" where that is the source of something else."""
        if is_bool and self.calls_back:
            return ""  # max(a, b) is not the comparison of the two
        if self.collects or (op == "unbind" and "unbind" not in self.text):
            return ""  # of list(x): each op is one element
        return self.text


class _Code:
    """A code object, kept alive so that its id stays its own, and what is known of it."""

    def __init__(self, code: CodeType) -> None:
        self.code, self.opcodes = code, code.co_code
        self.positions = list(code.co_positions())
        self.places: dict[int, Place] = {}


class Sources:
    """All sources of a recording, and what is known of their instructions, cached.

    Attributes
    ----------
    is_learners : dict from str to bool
        Whether a file is the learner's and can be shown; it knows every file.
    nowhere : Place
        Where things happen that happen in none of them.
    """

    def __init__(self) -> None:
        self.is_learners = LearnersFiles()
        self.nowhere = Place()
        self._sources: dict[str, Source] = {}
        # By id, because the hash of a code object would look at all of its constants.
        self._codes: dict[int, _Code] = {}

    def places(self, code: CodeType) -> dict[int, Place]:
        """Return what is known so far of the instructions of some code."""
        if id(code) not in self._codes:
            self._codes[id(code)] = _Code(code)
        return self._codes[id(code)].places

    def targets(self, filename: str, *, inlined: bool = False) -> set[str]:
        """Return the variables that the loops of a source assign; or only its comprehensions."""
        source = self._sources.get(filename) or source_of(0, tuple(read_lines(filename)))
        loops = [region for region in source.regions if isinstance(region, Loop)]
        return {name for loop in loops if loop.frame or not inlined for name in loop.targets}

    def place(self, frame: FrameType) -> Place:
        """Return what is known of the instruction at which ``frame`` is."""
        place = self.places(frame.f_code).get(frame.f_lasti)
        return place or self.at(frame.f_code, frame.f_lasti, frame.f_lineno)

    def at(self, code: CodeType, instruction: int, line: int | None) -> Place:
        """Return what is known of one instruction of some code."""
        places = self.places(code)
        about = self._codes[id(code)]
        start = instruction
        while start > 0 and about.opcodes[start] == _CACHE:
            start -= 2
        position = about.positions[instruction // 2]
        place = places[instruction] = self._find(
            code, instruction, position, line, about.opcodes[start]
        )
        return place

    def plain(self) -> list[SourceRecord]:
        """Return the sources as plain data."""
        cells = 0
        records: list[SourceRecord] = []
        for filename, source in self._sources.items():
            name = os.path.basename(filename)
            if filename.startswith("<") or "ipykernel" in filename:
                cells += 1  # a cell: its file name has a number that changes from run to run
                name = cell_name(filename) or f"cell {cells}"
            records.append({"name": name, "text": "".join(source.visible), "first_line": 1})
        return records

    def _find(
        self, code: CodeType, at: int, position: Any, line_number: int | None, opcode: int
    ) -> Place:
        line, end_line, column, end_column = position
        source = self._source(code.co_filename)
        place = Place()
        line = line or line_number
        if line is None or not 0 < line <= len(source.lines):
            return place
        if end_line is None or column is None or end_column is None:  # python -X no_debug_ranges
            content = source.lines[line - 1].rstrip("\n").encode()
            span = (line, len(content) - len(content.lstrip()), line, len(content))
        else:
            span = (line, column, end_line, end_column)
            span = source.whole.get(span, span)
        if opcode == _GET_ITER:  # takes all items of a tensor at once, before the first round
            span = next((loop.head for loop in source.loops_at(span)), span)
        # The jump after a test that is a call has the place of the whole statement (Python 3.11).
        span = next(
            (x.head for x in source.loops_at(span) if x.whole == span and not x.steps), span
        )
        place.loops, place.begins_round = source.loops(span, code, opcode == _FOR_ITER)
        if place.begins_round:
            loop = place.loops[-1]
            place.where = source.where(loop.head)
            place.name = loop.targets[0] if len(loop.targets) == 1 else None
            return place
        for loop in place.loops:
            if not loop.steps and is_within(span, loop.head):
                place.test, place.is_ahead = loop, at >= self._first_of_body(code, loop)
        place.name = source.names.get(span)
        place.is_item = place.name is not None and place.name.endswith("]")
        place.operands = source.operands.get(span, ())
        place.parts = source.parts.get(span, ())
        place.calls_back = span in source.calls_back
        place.collects = span in source.collects
        place.returned = span in source.returned
        place.is_plain = not (place.is_item or place.calls_back)
        place.where = source.where(span)
        place.text = "" if opcode in _UNPACK else source.text(place.where)  # `a, b = x`
        return place

    def _first_of_body(self, code: CodeType, loop: Loop) -> int:
        """Return the first instruction of a loop's body."""
        positions = enumerate(self._codes[id(code)].positions)
        inside = (
            i
            for i, (line, end, column, end_column) in positions
            if None not in (line, end, column, end_column)
            and is_within((line, column, end, end_column), loop.body)  # type: ignore[arg-type]
        )
        return 2 * next(inside, 0)

    def _source(self, filename: str) -> Source:
        source = self._sources.get(filename)
        if source is None:
            source = source_of(len(self._sources), tuple(read_lines(filename)))
            self._sources[filename] = source
        return source
