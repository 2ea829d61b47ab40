"""Where in the run something happens: in which call, in which round of which loop.

After reading this file you know how a recording can say "iteration 3", which Python tells nobody:
a loop has turned when its variables have changed, or when the run is back at an earlier place.
Read next: ``recorder.py``.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from inspect import CO_GENERATOR, CO_OPTIMIZED
from itertools import pairwise
from operator import is_, is_not
from sys import getrefcount
from types import FrameType
from typing import Any

from autodiff_kit.record.source import Loop, Place, Sources

__all__ = ["Scopes", "look", "look_up"]

# Comprehensions have frames of their own up to Python 3.11, and none later: they are no calls.
_INLINE = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}


class _Mark:
    """Left in the frame of a call; when the call is over, it is gone."""

    __slots__ = ("__weakref__",)


class _Running:
    """A loop that is running, and what its present round has done so far."""

    __slots__ = (
        "asks",
        "assigned",
        "call",
        "count",
        "first",
        "key",
        "loop",
        "outer",
        "scope",
        "test",
        "tested",
        "values",
    )

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.outer = self.scope = -1  # the scopes of the loop and of its present round
        self.count = -2
        self.values: Sequence[Any] | None = None  # of its variables; None: not known yet
        self.first: Sequence[Any] | None = None  # in the first round
        self.assigned: Sequence[int] = ()
        self.begin()

    def begin(self) -> None:
        """Begin a round."""
        self.count += 1
        self.key: tuple[int, int] | None = None  # of the latest place in its body
        self.test = -1  # the latest instruction in the test of a while
        self.tested = False  # whether that came after the body
        self.call: weakref.ref[_Mark] | None = None  # which did the latest
        self.asks = False  # whether that asked for a truth value

    def is_back(self, place: Place, call: _Call, innermost: bool, asks: bool) -> bool:
        """Return whether the run must have gone back to get to ``place``."""
        at = call.frame.f_lasti
        again = innermost and (self.call is None or self.call() is None)
        again = again and (self.asks or not asks)  # a truth value is asked for after `x < 5`
        if again and place.calls_back:  # may be just another part of one call: sum(x) in a while
            again = self.assigned != self.assigned_in(call)
        if innermost and place.is_test:
            # Python tests before the first round and after each: that is still the same round.
            return self.key is None and (at < self.test or (at == self.test and again))
        key, before = (place.order, at), self.key
        return self.tested or (before is not None and (key < before or (key == before and again)))

    def restarts(self, values: Sequence[Any]) -> bool:
        """Return whether the loop's variables are again what they were in its first round."""
        return self.count > 0 and self.first is not None and all(map(is_, self.first, values))

    def assigned_in(self, call: _Call) -> list[int]:
        """Return the ids of what the loop's body has assigned."""
        return [id(value) for value in look_up(call.frame, self.loop.assigns)]

    def reach(self, place: Place, call: _Call, innermost: bool) -> None:
        """Note that the round has come to ``place``."""
        at = call.frame.f_lasti
        if place.calls_back:
            self.assigned = self.assigned_in(call)
        if innermost and place.is_test:
            self.test, self.tested = at, self.key is not None
        else:
            self.key = (place.order, at)


class _Call:
    """A frame of the learner's that is running, and its loops, outermost first."""

    __slots__ = (
        "backward",
        "frame",
        "loops",
        "nest",
        "outer",
        "outside",
        "places",
        "scope",
        "suspended",
    )

    def __init__(
        self, frame: FrameType, places: dict[int, Place], outer: int, scope: int, outside: int
    ) -> None:
        self.frame, self.places, self.outer, self.scope = frame, places, outer, scope
        self.outside = outside  # so many loops were running before the recording
        self.suspended: dict[int, _Call] = {}  # generators that it uses, by their code
        self.loops: list[_Running] = []
        self.nest: Sequence[Loop] = ()  # the loops around the latest place
        self.backward: tuple[int, int] | None = None  # instruction and scope of a backward pass

    def now(self) -> int:
        """Return the scope of what happens in this frame now."""
        if self.backward is not None:
            return self.backward[1]
        return self.loops[-1].scope if self.loops else self.scope


class Scopes:
    """The tree of calls and loop iterations.

    Parameters
    ----------
    sources : Sources
    base : frame or None
        The one whose ``with`` block is recorded; None for a cell.

    Attributes
    ----------
    plain : list of dict
        The scopes so far, as plain data.
    """

    def __init__(self, sources: Sources, base: FrameType | None) -> None:
        self.plain: list[dict[str, Any]] = []
        self._sources = sources
        self._base = base
        self._start = (0, 0) if base is None else (base.f_lasti, base.f_lineno)
        self._calls: list[_Call] = []
        self._new("root", "", None, None)

    def enter(
        self, frame: FrameType, entry: FrameType | None, asks: bool = False
    ) -> tuple[Place, int]:
        """Go to where the run is now; return the place, and the scope of what happens there.

        Parameters
        ----------
        frame : frame
            The learner's innermost.
        entry : frame or None
            The frame that it has called, and that is not the learner's.
        asks : bool
            Whether a tensor is asked for its truth value: since Python 3.13 by the instruction
            that has just computed it, as in ``if x < 5``.
        """
        call = self._calls[-1] if self._calls else None
        if call is None or call.frame is not frame:
            call = self._follow(frame)
        place = call.places.get(frame.f_lasti) or self._sources.place(frame)
        if call.backward is not None and call.backward[0] != frame.f_lasti:
            call.backward = None  # an exception has ended it
        if (place.loops or call.loops) and not self._is_told(call, place, entry, asks):
            self._turn(call, place, entry, asks)
        return place, call.now()

    def begin_backward(self, frame: FrameType, place: Place) -> int:
        """Open a scope for a backward pass at ``place``, which has just been entered."""
        call = self._calls[-1]
        scope = self._new("call", "backward", call.now(), place.where)
        call.backward = (frame.f_lasti, scope)
        return scope

    def end_backward(self) -> None:
        """Note that the latest backward pass is over."""
        for call in reversed(self._calls):
            if call.backward is not None:
                call.backward = None
                return

    def returns_to(self) -> tuple[Place, int] | None:
        """Return where what the present call returns is given a name, and the scope of that."""
        for call, user in pairwise(self._calls[::-1]):
            caller = call.frame.f_back
            while caller is not user.frame:
                if caller is None or caller.f_code.co_name != "__call__":
                    return None  # such as jacobian(f, x): what comes back is not what f returned
                caller = caller.f_back
            place = self._sources.place(user.frame)
            if place.name is not None and not place.calls_back:
                return place, user.now()
            if not place.returned or place.calls_back:
                return None
        return None

    def has_seen(self, scope: int) -> bool:
        """Return whether ``scope`` belongs to the present call or to one that this has made."""
        outer: int | None = scope
        while outer is not None and outer != self._calls[-1].scope:
            outer = self.plain[outer]["parent"]
        return outer is not None

    def frames(self) -> list[FrameType]:
        """Return the learner's frames that are running, outermost first."""
        frames = [call.frame for call in self._calls]
        if self._base is not None and self._base is not next(iter(frames), None):
            frames.insert(0, self._base)
        return frames

    def around(self, frame: FrameType) -> list[FrameType]:
        """Return the learner's frames down to ``frame``, outermost first."""
        chain: list[FrameType] = []
        at: FrameType | None = frame
        while at is not None:
            if self._sources.is_learners[at.f_code.co_filename]:
                chain.append(at)
            if at is self._base or at.f_code.co_name == "<module>":
                break  # above a cell's module there is only what runs the cell
            at = at.f_back
        return chain[::-1]

    def _follow(self, frame: FrameType) -> _Call:
        """Bring the calls to where the run is now."""
        chain = self.around(frame)
        calls = self._calls
        same = 0
        for call, at in zip(calls, chain, strict=False):
            if call.frame is not at:
                break
            same += 1
        for user, call in pairwise(calls[max(same - 1, 0) :]):
            if call.frame.f_code.co_flags & CO_GENERATOR:
                user.suspended[id(call.frame.f_code)] = call
        del calls[same:]
        for at in chain[same:]:
            calls.append(self._call(at))
        return calls[-1]

    def _call(self, frame: FrameType) -> _Call:
        """Return the call of a frame that the innermost one so far has called."""
        outer, where, known = 0, None, None
        if self._calls:
            user = self._calls[-1]
            place = self._sources.place(user.frame)
            if (place.loops or user.loops) and not self._is_told(user, place, None, False):
                self._turn(user, place, None, False)
            outer, where = user.now(), place.where
            known = user.suspended.pop(id(frame.f_code), None)
        if known is not None and known.frame is frame and known.outer == outer:
            return known
        code = frame.f_code
        scope, outside = outer, 0
        if frame is self._base:
            outside = len(self._sources.at(code, *self._start).loops)
        elif code.co_flags & CO_OPTIMIZED and code.co_name not in _INLINE:  # a function
            scope = self._new("call", code.co_name.strip("<>"), outer, where)
        call = _Call(frame, self._sources.places(code), outer, scope, outside)
        if known is not None and known.frame is frame:
            # A generator goes on, in another round of the loop that uses it.
            call.loops = known.loops
            for running in call.loops:
                running.outer = running.scope = -1
        return call

    def _is_told(self, call: _Call, place: Place, entry: FrameType | None, asks: bool) -> bool:
        """Do at once what is quickly told: no loop has turned, or the innermost by its variables.

        Return False if it is not that, which is left to ``_turn``.
        """
        is_same = place.loops and place.loops is call.nest and not call.outside
        if not is_same or place.begins_round:
            return False
        frame, running = call.frame, call.loops
        names, at, innermost = frame.f_locals, frame.f_lasti, running[-1]
        by_place: list[_Running] = []
        for now in running:
            loop, before = now.loop, now.values
            if before is None:
                return False
            values = list(map(names.get, loop.targets))
            counts = loop.counts and values[0] is not None
            if not counts:
                if place.calls_back or (now is innermost and (place.is_test or now.tested)):
                    return False
                by_place.append(now)
            if any(map(is_not, before, values)):
                if now is not innermost or now.restarts(values):
                    return False
                self._begin_round(call, len(running) - 1)
                now.values = values
            elif not counts and now is innermost and (not now.key or (place.order, at) <= now.key):
                return False
        for now in by_place:
            now.key = (place.order, at)
            now.call, now.asks = (_mark(entry), asks) if now is innermost else (None, False)
        _let_go(frame, names)
        return True

    def _turn(self, call: _Call, place: Place, entry: FrameType | None, asks: bool) -> None:
        """Compare the loops around ``place`` with those that were running in this call."""
        running = call.loops
        call.nest = place.loops
        loops = place.loops[call.outside :] if call.outside else place.loops
        last = len(loops) - 1
        for depth, (loop, values) in enumerate(zip(loops, _values(call.frame, loops), strict=True)):
            if depth == len(running) or running[depth].loop is not loop:
                running[depth:] = [_Running(loop)]
            now = running[depth]
            changed = now.values is not None and any(map(is_not, now.values, values))
            if changed and depth and now.restarts(values) and not running[depth - 1].loop.targets:
                # An inner loop starts again: so the while around it has turned unnoticed.
                self._begin_round(call, depth - 1)
                now = _Running(loop)
                running.append(now)
            steps = place.begins_round and depth == last
            turned = now.count < 0 or changed or steps
            by_place = not (loop.counts and values[0] is not None)
            if by_place and not turned and not self._is_inside(running, loops, depth):
                turned = now.is_back(place, call, depth == last, asks)
            if turned or now.scope < 0:
                self._begin_round(call, depth, turned)
            now.values = None if steps else values
            now.first = now.values if now.first is None else now.first
            if by_place:
                now.reach(place, call, depth == last)
                now.call, now.asks = (_mark(entry), asks) if depth == last else (None, False)
        del running[last + 1 :]

    @staticmethod
    def _is_inside(running: list[_Running], loops: Sequence[Loop], depth: int) -> bool:
        """Return whether an inner loop runs on: then places tell nothing of the one around."""
        inner = depth + 1
        return inner < min(len(loops), len(running)) and running[inner].loop is loops[inner]

    def _begin_round(self, call: _Call, depth: int, turned: bool = True) -> None:
        """Open the scope of a round, and that of its loop if this is the first one."""
        now = call.loops[depth]
        loop, where = now.loop, now.loop.where
        if now.outer < 0:
            around = call.loops[depth - 1].scope if depth else call.scope
            now.outer = self._new("loop", loop.name, around, where)
        if turned:
            now.begin()
            del call.loops[depth + 1 :]
        now.scope = self._new("iteration", loop.name, now.outer, where, now.count)

    def _new(self, kind: str, name: str, parent: int | None, where: Any, index: int = 0) -> int:
        number = len(self.plain)
        self.plain.append(
            {
                "id": number,
                "parent": parent,
                "kind": kind,
                "name": name,
                "index": index,
                "where": where,
            }
        )
        return number


def _mark(frame: FrameType | None) -> weakref.ref[_Mark] | None:
    """Leave a mark in the frame of a call, to see later whether it is still going on."""
    if frame is None:
        return None
    mark = frame.f_locals["a mark of the recorder"] = _Mark()
    return weakref.ref(mark)


def _values(frame: FrameType, loops: Sequence[Loop]) -> list[list[Any]]:
    """Return what the variables of each loop are now."""
    for loop in loops:
        if loop.targets:
            break
    else:
        return [[] for _ in loops]
    found = iter(look_up(frame, [name for loop in loops for name in loop.targets]))
    return [[next(found) for _ in loop.targets] for loop in loops]


def look_up(frame: FrameType, variables: Iterable[str]) -> list[Any]:
    """Return what some local variables of a frame are now; None for those it has not."""
    names, optimized = frame.f_locals, frame.f_code.co_flags & CO_OPTIMIZED
    rest = {} if optimized or names is frame.f_globals else frame.f_globals
    # In a cell these are the globals; but since Python 3.13 not while a comprehension runs, whose
    # own variables they are then.
    found = [names[name] if name in names else rest.get(name) for name in variables]
    _let_go(frame, names)
    return found


def _let_go(frame: FrameType, names: Mapping[str, Any]) -> None:
    """Take the variables out of a frame's copy of them."""
    if frame.f_code.co_flags & CO_OPTIMIZED and type(names) is dict and getrefcount(names) <= 4:
        # Until Python 3.13 there is such a copy, and it stays with the frame: tensors in it would
        # live on after the learner dropped them. (With more than four references the learner
        # holds it, too: they called locals().)
        names.clear()


def look(frame: FrameType) -> dict[str, Any]:
    """Return all local variables of a frame."""
    names = list(frame.f_locals)
    return dict(zip(names, look_up(frame, names), strict=True))
