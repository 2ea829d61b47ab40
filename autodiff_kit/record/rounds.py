"""How often a loop has turned: counted from the instructions that run.

After reading this file you know how a recording can say "iteration 5" although four rounds have
done nothing with tensors: a round ends with a jump back to the head of its loop. Python tells of
every such jump, by ``sys.monitoring`` since Python 3.12 and by a trace function before. Only
frames of the learner's that have loops are watched; where a debugger traces, nothing is counted.
Read next: ``scopes.py``.
"""

from __future__ import annotations

import dis
import sys
import threading
import weakref
from collections.abc import Mapping
from inspect import CO_OPTIMIZED
from sys import getrefcount
from types import CodeType, FrameType
from typing import Any

from autodiff_kit.record.source_files import is_foreign
from autodiff_kit.record.source_tree import Span, is_within, read_source

__all__ = ["Turns", "Variables", "let_go", "start", "stop", "tracer", "turns_of"]

Variables = dict[str, Any]  # of a frame, by their names

_RESUME = dis.opmap["RESUME"]
_NEXT = dis.opmap["FOR_ITER"], dis.opmap["GET_ANEXT"]  # `for`, and `async for`
_EXTENDED_ARG = dis.opmap["EXTENDED_ARG"]


def let_go(frame: FrameType, names: Mapping[str, object]) -> None:
    """Take the variables out of a frame's copy of them."""
    # Until Python 3.13 there is such a copy, and it stays with the frame: tensors in it would live
    # on after the learner dropped them. (With more references the learner holds it, too: they
    # called locals().)
    if not frame.f_code.co_flags & CO_OPTIMIZED or type(names) is not dict:
        return
    owner = getattr(frame.f_trace, "__self__", None)
    turns = owner if isinstance(owner, Turns) else None
    if getrefcount(names) <= 4 + (turns is not None and turns.names is names):
        names.clear()
        if turns is not None:  # then the next call of a trace function fills it once more
            turns.names, turns.refills = names, 1


class Turns:
    """The loops of one frame, and how often each has turned since it began.

    Attributes
    ----------
    counts : dict
        By ``Loop.key``; a loop that has not turned yet is not in there.
    changes : int
        How many turns there were in all.
    latest : str
        The loop that has turned last.
    """

    __slots__ = ("changes", "counts", "last", "latest", "names", "refills", "session", "table")

    def __init__(self, table: _Table, at: int = -1, session: Any = None) -> None:
        self.table, self.last, self.session = table, at, session
        self.counts: dict[Any, int] = {}
        self.changes = 0
        self.latest = ""
        self.names: Variables = {}  # the copy of the frame's variables, if it must be emptied
        self.refills = -1

    def _empty(self) -> None:
        """Empty the copy of the variables, one event after it was filled."""
        self.refills -= 1
        if self.refills < 0 and getrefcount(self.names) <= 3:
            self.names.clear()

    def turn(self, key: Any) -> None:
        """Note that a loop begins its next round; loops inside it begin anew."""
        counts = self.counts
        counts[key] = counts.get(key, 0) + 1
        for inner in self.table.inner[key]:
            counts.pop(inner, None)
        self.changes += 1
        self.latest = key

    def trace(self, frame: FrameType, event: str, argument: Any) -> None:
        """Be told of a new line, or of a jump back (Python 3.11); None leaves it in place."""
        if self.refills >= 0:
            self._empty()
        at = frame.f_lasti
        key = self.table.targets.get(at)
        if key is not None and (at <= self.last or at in self.table.only_back):
            self.turn(key)
        self.last = at

    def trace_jumps(self, frame: FrameType, event: str, argument: Any) -> None:
        """Be told of every instruction, where two loops begin at the same one (Python 3.11)."""
        if self.refills >= 0:
            self._empty()
        if event == "opcode":
            at = frame.f_lasti
            if at <= self.last:
                key = self.table.jumps.get((self.last, at))
                if key is not None:
                    self.turn(key)
            self.last = at


class _Table:
    """Which jumps of some code turn which loop.

    Attributes
    ----------
    jumps : dict
        From (instruction, target) to ``Loop.key``.
    targets : dict
        From target to ``Loop.key``, as far as that is enough.
    only_back : set
        Targets on the line of what stands before them: coming from there is not told.
    inner : dict
        From ``Loop.key`` to the keys of the loops inside it.
    """

    def __init__(self, code: CodeType) -> None:
        self.jumps: dict[tuple[int, int], Any] = {}
        self.targets: dict[int, Any] = {}
        self.only_back: set[int] = set()
        self.inner: dict[Any, list[Any]] = {}
        self.is_plain = True
        source = read_source(code.co_filename)
        loops = [] if source is None else source.loops_of(code)
        if not loops:
            return
        for loop in loops:
            self.inner[loop.key] = [x.key for x in loops if x is not loop and x.is_inside(loop)]
        heads: dict[int, Any] = {}
        key: Any
        firsts = {span: _first_within(code, span) for x in loops for span in (x.whole, x.body)}
        back: list[tuple[int, int, Span | None]] = []
        counts: dict[Span, int] = {}
        start = 0
        line, before = None, None
        for one in dis.get_instructions(code):
            span = _span_of(one)
            line, before = None if one.positions is None else one.positions.lineno, line
            if one.is_jump_target and line == before:
                self.only_back.add(one.offset)
            if one.opcode in _NEXT and span is not None:
                same = [loop for loop in loops if span in loop.steps]
                if same:
                    place = counts[span] = counts.get(span, -1) + 1
                    key = same[place % len(same)].key
                    heads |= dict.fromkeys(range(start, one.offset + 2, 2), key)
            elif one.opcode in dis.hasjrel and one.argval <= one.offset:
                back.append((one.offset, one.argval, span))
            if one.opcode != _EXTENDED_ARG:
                start = one.offset + 2
        whiles = [loop for loop in loops if not loop.steps]
        for at, target, span in back:
            key = heads.get(target)
            around = [
                x for x in whiles if span is not None and key is None and is_within(span, x.whole)
            ]
            for loop in sorted(around, key=lambda loop: loop.whole[:2], reverse=True):
                # What jumps back into the middle of a body, as a handler does, begins no round.
                if firsts[loop.whole] <= target <= firsts[loop.body]:
                    key = loop.key
                    break
            if key is None:
                continue
            self.jumps[at, target] = key
            if self.targets.setdefault(target, key) != key:
                self.is_plain = False


def _first_within(code: CodeType, part: Span) -> int:
    """Return the first instruction of a part of the source."""
    for i, (line, end, column, end_column) in enumerate(code.co_positions()):
        if line is None or end is None or column is None or end_column is None:
            continue
        if is_within((line, column, end, end_column), part):
            return 2 * i
    return -1


def _span_of(one: dis.Instruction) -> Span | None:
    place = one.positions
    if place is None or place.lineno is None or place.col_offset is None:
        return None
    assert place.end_lineno is not None and place.end_col_offset is not None
    return place.lineno, place.col_offset, place.end_lineno, place.end_col_offset


_tables: weakref.WeakKeyDictionary[CodeType, _Table] = weakref.WeakKeyDictionary()
_by_id: dict[int, tuple[weakref.ref[CodeType], _Table]] = {}  # the hash of code is slow


def _table(code: CodeType) -> _Table:
    reference, table = _by_id.get(id(code), (None, None))
    if reference is not None and table is not None and reference() is code:
        return table
    table = _Table(code)
    _by_id[id(code)] = weakref.ref(code), table
    return table


# -- Python 3.11: a trace function ---------------------------------------------------------------


class _Tracing(threading.local):
    session: object = None  # while it is on

    def __init__(self) -> None:
        # Weakly: a recorder that was interrupted before it could stop counts no more.
        self.users: weakref.WeakSet[object] = weakref.WeakSet()


class _Tracer:
    """Counts in this thread, if nothing else traces it."""

    def __init__(self) -> None:
        self._state = _Tracing()
        self.function = self._called  # one object, which ``sys.gettrace`` returns

    def start(self, user: object, base: FrameType | None) -> None:
        state = self._state
        is_first = not state.users
        state.users.add(user)
        if is_first and sys.gettrace() in (None, self.function):
            state.session = object()
            sys.settrace(self.function)
        if state.session is not None and base is not None and self.turns(base) is None:
            base.f_trace = self._local(base)

    def stop(self, user: object) -> None:
        state = self._state
        state.users.discard(user)
        if not state.users and state.session is not None:
            if sys.gettrace() is self.function:
                sys.settrace(None)
            state.session = None  # last: an interrupted call can be made again

    def turns(self, frame: FrameType) -> Turns | None:
        session = self._state.session
        turns = getattr(frame.f_trace, "__self__", None)
        if session is not None and isinstance(turns, Turns) and turns.session is session:
            return turns
        table = _table(frame.f_code)
        return Turns(table) if session is not None and not table.jumps else None

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if is_foreign(code.co_filename):
            frame.f_trace_lines = False  # a third of what tracing takes
            return None
        table = _table(code)
        if not table.jumps:
            return None
        if frame.f_trace is not None and self.turns(frame) is not None:
            return frame.f_trace  # a generator that goes on
        if code.co_code[frame.f_lasti + 1] != 0:
            return None  # a generator that was running before: how far is unknown
        return self._local(frame)

    def _local(self, frame: FrameType) -> Any:
        table = _table(frame.f_code)
        turns = Turns(table, frame.f_lasti, self._state.session)
        if table.is_plain:
            return turns.trace
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return turns.trace_jumps


# -- since Python 3.12: sys.monitoring -----------------------------------------------------------


class _Monitor:
    """Counts in all threads, beside debuggers and others that watch."""

    def __init__(self) -> None:
        self._monitoring: Any = sys.monitoring  # type: ignore[attr-defined, unused-ignore]
        self._tool = -1
        # Weakly: a recorder that was interrupted before it could stop counts no more.
        self._users: weakref.WeakSet[object] = weakref.WeakSet()
        self._lock = threading.Lock()
        # By id: a cell that is run once more gives other code that is equal, and not watched yet.
        self._codes: dict[int, weakref.ref[CodeType]] = {}
        self._frames: dict[int, tuple[CodeType, Turns]] = {}

    def start(self, user: object, base: FrameType | None) -> None:
        monitoring = self._monitoring
        with self._lock:
            self._users.add(user)
            if self._tool < 0:
                free = [i for i in (4, 3, 5) if monitoring.get_tool(i) is None]
                self._tool = free[0] if free else -1
                if free:
                    events = monitoring.events
                    monitoring.use_tool_id(self._tool, "autodiff_kit")
                    monitoring.register_callback(self._tool, events.PY_START, self._started)
                    monitoring.register_callback(self._tool, events.JUMP, self._jumped)
                    monitoring.set_events(self._tool, events.PY_START)
                    for code in self._watched():
                        self._watch(code)
        if self._tool >= 0 and base is not None and not self._counts(base):
            self._begin(base)

    def stop(self, user: object) -> None:
        monitoring = self._monitoring
        with self._lock:
            self._users.discard(user)
            if self._users or self._tool < 0:
                return
            for code in self._watched():
                monitoring.set_local_events(self._tool, code, 0)
            monitoring.set_events(self._tool, 0)
            for event in (monitoring.events.PY_START, monitoring.events.JUMP):
                monitoring.register_callback(self._tool, event, None)
            self._frames.clear()
            tool, self._tool = self._tool, -1  # so that an interrupted call can be made again
            monitoring.free_tool_id(tool)

    function = object()  # nothing traces

    def turns(self, frame: FrameType) -> Turns | None:
        if self._counts(frame):
            return self._frames[id(frame)][1]
        table = _table(frame.f_code)
        return Turns(table) if self._tool >= 0 and not table.jumps else None

    def _counts(self, frame: FrameType) -> bool:
        """Return whether the turns of a frame are being counted."""
        code, _ = self._frames.get(id(frame), (None, None))
        return code is frame.f_code

    def _watched(self) -> list[CodeType]:
        """Return the code that is or was watched and still lives."""
        living = {key: reference for key, reference in self._codes.items() if reference()}
        self._codes = living
        return [code for reference in living.values() if (code := reference()) is not None]

    def _watch(self, code: CodeType) -> None:
        events = self._monitoring.events
        self._monitoring.set_local_events(self._tool, code, events.PY_START | events.JUMP)

    def _begin(self, frame: FrameType) -> bool:
        code = frame.f_code
        table = _table(code)
        if not table.jumps:
            return False
        reference = self._codes.get(id(code))
        if reference is None or reference() is not code:
            self._codes[id(code)] = weakref.ref(code)
            self._watch(code)
        self._frames[id(frame)] = code, Turns(table)
        return True

    def _started(self, code: CodeType, at: int) -> Any:
        return None if self._begin(sys._getframe(1)) else self._monitoring.DISABLE

    def _jumped(self, code: CodeType, at: int, target: int) -> None:
        if target <= at:
            known, turns = self._frames.get(id(sys._getframe(1)), (None, None))
            if turns is not None and known is code:
                key = turns.table.jumps.get((at, target))
                if key is not None:
                    turns.turn(key)


_counter: Any = _Monitor() if hasattr(sys, "monitoring") else _Tracer()


def start(user: object, base: FrameType | None) -> None:
    """Begin to count for a recorder: in this thread, and for the frame of its ``with`` block."""
    _counter.start(user, base)


def stop(user: object) -> None:
    """End what ``start`` began."""
    _counter.stop(user)


def turns_of(frame: FrameType) -> Turns | None:
    """Return the turns of a running frame; None if they are not counted."""
    turns: Turns | None = _counter.turns(frame)
    return turns


# What ``sys.gettrace`` returns while rounds are counted by tracing. The recorder switches that off
# while it works, in a line of its own each time: a call of a function for it would be traced.
tracer = _counter.function
