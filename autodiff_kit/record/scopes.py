"""Where in the run something happens: in which call, module, and round of which loop.

After reading this file you know how calls, and the rounds of loops that ``rounds.py`` counts,
become the tree of scopes in a recording. A module that is called is a scope by its path,
``net.layers.0``; its ``forward`` has none of its own. Read next: ``recorder.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR, CO_OPTIMIZED
from itertools import pairwise
from opcode import opmap
from types import FrameType
from typing import Any

from autodiff_kit.record.events import ScopeKind, ScopeRecord, Where
from autodiff_kit.record.rounds import Variables, let_go, turns_of
from autodiff_kit.record.source import Place, Sources
from autodiff_kit.record.source_tree import Loop

__all__ = ["MODULE_CALLS", "PathOf", "Scopes", "is_module", "look", "look_up"]

Module = Any  # nn.Module stands beside this layer: it is known by its method
# Return the path of a module that is called, by the one around it and the learner's frames.
PathOf = Callable[[Module, Module | None, Sequence[FrameType]], str]
MODULE_CALLS = ("__call__", "_call_impl")  # what calls a module's forward, here and in PyTorch

# Comprehensions have frames of their own up to Python 3.11, and none later: they are no calls.
_INLINE = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
# Generators and coroutines: they stop in the middle, and go on later.
_RESUMED = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
_YIELD, _RESUME = opmap["YIELD_VALUE"], opmap["RESUME"]
_PASSES = 0  # the key of backward passes, which no code object and no module has


class _Running:
    """A loop that is running: its scope, and that of its present round."""

    __slots__ = ("count", "loop", "outer", "scope")

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.outer = self.scope = -1  # the scopes of the loop and of its present round
        self.count = -1


class _Call:
    """A frame of the learner's that is running, and its loops, outermost first."""

    __slots__ = (
        "backward",
        "changes",
        "frame",
        "inner",
        "loops",
        "modules",
        "nest",
        "outer",
        "outside",
        "places",
        "scope",
        "turns",
    )

    def __init__(
        self, frame: FrameType, places: dict[int, Place], outer: int, scope: int, outside: int
    ) -> None:
        self.frame, self.places, self.outer, self.scope = frame, places, outer, scope
        self.inner = scope  # that of the innermost round, if a loop is running
        self.outside = outside  # so many loops were running before the recording
        self.loops: list[_Running] = []
        self.nest: Sequence[Loop] = ()  # the loops around the latest place
        self.turns, self.changes = turns_of(frame), -1  # as they were then
        self.backward: tuple[int, int] | None = None  # instruction and scope of a backward pass
        # Modules that it calls, and they each other: frame, module, scope; outermost first.
        self.modules: list[tuple[FrameType, Module, int]] = []

    def inside(self) -> int:
        """Return the scope of what the modules do that this frame has called, if it has."""
        return self.modules[-1][2] if self.modules else self.now()

    def now(self) -> int:
        """Return the scope of what happens in this frame now."""
        return self.inner if self.backward is None else self.backward[1]


class Scopes:
    """The tree of calls and loop iterations.

    Parameters
    ----------
    sources : Sources
    base : frame or None
        The one whose ``with`` block is recorded; None for a cell.
    path_of : function
        What a module is called.

    Attributes
    ----------
    plain : list of dict
        The scopes so far, as plain data.
    inside : int
        The scope of what happens now, in the modules that the learner's code calls.
    has_broken : int
        How many backward passes exceptions have ended since ``broken`` was asked last.
    """

    def __init__(self, sources: Sources, base: FrameType | None, path_of: PathOf) -> None:
        self.plain: list[ScopeRecord] = []
        self._sources, self._path_of = sources, path_of
        self._base = base
        self._start = (0, 0) if base is None else (base.f_lasti, base.f_lineno)
        self._calls: list[_Call] = []
        self._suspended: dict[int, _Call] = {}  # by the id of the frame
        self.inside = self.has_broken = 0
        # Calls of each function, by the id of its code, and of each module, by its path.
        self._counts: Counter[int | str] = Counter()
        self._new("root", "", None, None)

    def enter(self, frame: FrameType, modules: Sequence[FrameType] = ()) -> tuple[Place, int]:
        """Go to where the run is now; return the place, and the learner's scope there.

        Parameters
        ----------
        frame : frame
            The learner's innermost.
        modules : sequence of frames
            Those below it that may call a module, innermost first; see ``inside``.
        """
        call = self._calls[-1] if self._calls else None
        if call is None or call.frame is not frame:
            call = self._follow(frame)
        place = call.places.get(frame.f_lasti) or self._sources.place(frame)
        if call.backward is not None:
            self._see_end(call)
        turns = call.turns  # the loop that runs is asked here: mostly it is where it was
        changes = -1 if turns is None else turns.changes
        if place.loops is not call.nest or changes != call.changes or place.test:
            self._turn(call, place)
        if modules or call.modules:
            self._enter_modules(call, modules[::-1], place.where)
        scope = call.inner if call.backward is None else call.backward[1]
        self.inside = call.modules[-1][2] if call.modules else scope
        return place, scope

    def here(self, frame: FrameType | None, doubt: Any) -> tuple[Place, int, FrameType] | None:
        """Return what ``enter`` would, and the frame, if the run is in the same call.

        Unless a name is in doubt, or a backward pass or a module runs there.
        """
        call = self._calls[-1] if self._calls else None
        if call is None or call.frame is not frame or doubt or call.modules or call.backward:
            return None
        place = call.places.get(call.frame.f_lasti)
        if place is None or place.loops is not call.nest or place.test:
            return None
        turns = call.turns
        if turns is not None and turns.changes != call.changes:
            now = call.loops[-1] if call.loops else None
            if (
                now is not None
                and turns.changes == call.changes + 1
                and turns.latest == (loop := now.loop).key
                and now.count >= 0
            ):
                call.changes, now.count = turns.changes, now.count + 1  # its next round, mostly
                now.scope = call.inner = self._new(
                    "iteration", loop.name, now.outer, loop.where, now.count
                )
            else:
                self._turn(call, place)
        self.inside = scope = call.inner
        return place, scope, call.frame

    def _enter_modules(self, call: _Call, frames: Sequence[FrameType], where: Where | None) -> None:
        """Bring the modules that run below a frame of the learner's to where the run is now."""
        running, same = call.modules, 0
        calls = [frame for frame in frames if frame.f_code.co_name in MODULE_CALLS]
        for (frame, _, _), at in zip(running, calls, strict=False):
            if frame is not at:
                break
            same += 1
        del running[same:]
        for at in calls[same:]:
            (module,) = look_up(at, ("self",))
            if not is_module(module):
                continue
            outer = next((m for c in reversed(self._calls) for _, m, _ in c.modules[::-1]), None)
            path = self._path_of(module, outer, self.frames())
            scope = self._new("module", path, call.inside(), where, self._counts[path])
            self.plain[scope]["of"] = type(module).__name__
            self._counts[path] += 1
            running.append((at, module, scope))

    def _see_end(self, call: _Call) -> None:
        """See that a backward pass is over, although no event says so: by an exception."""
        if call.backward is not None and call.backward[0] != call.frame.f_lasti:
            call.backward = None
            self.has_broken += 1

    def begin_backward(self, frame: FrameType, place: Place) -> int:
        """Open a scope for a backward pass at ``place``, which has just been entered."""
        call = self._calls[-1]
        scope = self._new("call", "backward", call.now(), place.where, self._counts[_PASSES])
        self._counts[_PASSES] += 1
        call.backward = (frame.f_lasti, scope)
        return scope

    def broken(self, is_over: bool = False) -> int:
        """Return how many more backward passes exceptions have ended that the learner caught."""
        count, self.has_broken = self.has_broken, 0
        if is_over:
            count += sum(call.backward is not None for call in self._calls)
        return count

    def go_on_backward(self) -> _Call | None:
        """Forget the calls of the latest backward pass, which are over when it goes on.

        A hook, or the second run of a checkpoint: their frames would keep what they have computed.
        Return the call that runs the pass.
        """
        for depth in reversed(range(len(self._calls))):
            if self._calls[depth].backward is not None:
                del self._calls[depth + 1 :], self._calls[depth].modules[:]
                return self._calls[depth]
        return None

    def end_backward(self) -> None:
        """Note that the latest backward pass is over."""
        call = self.go_on_backward()
        if call is not None:
            call.backward = None

    def now(self) -> int:
        """Return the scope of what happens now."""
        return self._calls[-1].now() if self._calls else 0

    def returns_to(self) -> tuple[Place, int, FrameType] | None:
        """Return where what the present call returns is given a name, the scope and the frame."""
        for call, user in pairwise(self._calls[::-1]):
            caller = call.frame.f_back
            while caller is not user.frame:
                if caller is None or caller.f_code.co_name != "__call__":
                    return None  # such as jacobian(f, x): the result is not what f returned
                caller = caller.f_back
            place = self._sources.place(user.frame)
            if place.name is not None and not place.calls_back:
                return place, user.now(), user.frame
            if not place.returned or place.calls_back:
                return None
        return None

    def frame(self) -> FrameType | None:
        """Return the learner's innermost frame."""
        return self._calls[-1].frame if self._calls else self._base

    def is_recursive(self) -> bool:
        """Return whether the present call is one of a function that is running already."""
        code = self._calls[-1].frame.f_code
        return any(call.frame.f_code is code for call in self._calls[:-1])

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
        chain, modules = self._path_to(frame)
        calls = self._calls
        same = 0
        for call, at in zip(calls, chain, strict=False):
            if call.frame is not at:
                break
            same += 1
        for call in calls[same:]:
            if call.frame.f_code.co_flags & _RESUMED:
                self._suspend(call, chain)
        self.has_broken += sum(call.backward is not None for call in calls[same:])
        del calls[same:]
        for at, between in zip(chain[same:], modules[same:], strict=True):
            calls.append(self._call(at, between))
        return calls[-1]

    def _suspend(self, call: _Call, running: Sequence[FrameType]) -> None:
        """Remember a call that may go on; forget those that are over: their frames hold tensors."""
        for key, other in list(self._suspended.items()):
            if not _is_suspended(other.frame) and other.frame not in running:
                del self._suspended[key]
        if _is_suspended(call.frame):
            self._suspended[id(call.frame)] = call

    def _path_to(self, frame: FrameType) -> tuple[list[FrameType], list[Sequence[FrameType]]]:
        """Return the learner's frames down to ``frame``, and before each those of modules."""
        chain = self.around(frame)
        between: list[Sequence[FrameType]] = []
        for k, at in enumerate(chain):
            calls: list[FrameType] = []
            caller = at.f_back if k else None
            while caller is not None and caller is not chain[k - 1]:
                if caller.f_code.co_name in MODULE_CALLS:
                    calls.append(caller)
                caller = caller.f_back
            between.append(calls[::-1])
        return chain, between

    def _call(self, frame: FrameType, modules: Sequence[FrameType]) -> _Call:
        """Return the call of a frame that the innermost one so far has called."""
        outer, where, is_forward = 0, None, False
        if self._calls:
            user = self._calls[-1]
            self._see_end(user)
            place = self._sources.place(user.frame)
            self._turn(user, place)
            where = place.where
            if modules or user.modules:
                self._enter_modules(user, modules, where)
            outer = user.inside()
            is_forward = bool(user.modules) and frame.f_code.co_name == "forward"
        code = frame.f_code
        known = self._suspended.pop(id(frame), None) if code.co_flags & _RESUMED else None
        if known is not None and known.outer == outer:
            return known
        scope, outside = outer, 0
        if frame is self._base:
            outside = len(self._sources.at(code, *self._start).loops)
        elif code.co_flags & CO_OPTIMIZED and code.co_name not in _INLINE and not is_forward:
            name = code.co_qualname.rpartition("<locals>.")[2].rpartition(">.")[2].strip("<>")
            if known is None:
                self._counts[id(code)] += 1
            index = (
                self._counts[id(code)] - 1 if known is None else self.plain[known.scope]["index"]
            )
            scope = self._new("call", name, outer, where, index)
        return _Call(frame, self._sources.places(code), outer, scope, outside)

    def _turn(self, call: _Call, place: Place) -> None:
        """Go to the present rounds of the loops around ``place``."""
        turns, loops, test = call.turns, place.loops, place.test
        changes = -1 if turns is None else turns.changes
        if loops is call.nest and changes == call.changes and not test:
            return
        call.nest, call.changes = loops, changes if not test else -1
        running = call.loops
        if call.outside:
            loops = loops[call.outside :]
        if len(running) > len(loops):
            del running[len(loops) :]
        for depth, loop in enumerate(loops):
            if depth == len(running) or running[depth].loop is not loop:
                running[depth:] = [_Running(loop)]
            now = running[depth]
            if now.outer < 0:
                around = running[depth - 1].scope if depth else call.scope
                now.outer = now.scope = self._new("loop", loop.name, around, loop.where)
            if turns is None:
                continue  # a debugger is at work: the rounds are not counted
            count = turns.counts.get(loop.key, 0)
            count += loop is test and place.is_ahead
            if now.count >= 0 and (count > now.count or loop is not test):
                self.plain[now.scope]["kind"] = "iteration"  # its test was true
            if count != now.count:
                now.count = count
                kind: ScopeKind = "test" if loop is test else "iteration"
                now.scope = self._new(kind, loop.name, now.outer, loop.where, count)
                del running[depth + 1 :]
        call.inner = running[-1].scope if running else call.scope

    def _new(
        self, kind: ScopeKind, name: str, parent: int | None, where: Where | None, index: int = 0
    ) -> int:
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


def _is_suspended(frame: FrameType) -> bool:
    """Return whether a generator or a coroutine has stopped in the middle."""
    if frame.f_lasti < 0:
        return False
    opcode, argument = frame.f_code.co_code[frame.f_lasti :][:2]
    return opcode == _YIELD or (opcode == _RESUME and argument > 0)  # since Python 3.13


def is_module(value: object) -> bool:
    """Return whether a value is a module, the kit's or PyTorch's."""
    return hasattr(type(value), "named_modules")


def look_up(frame: FrameType, variables: Iterable[str]) -> list[Any]:
    """Return what some local variables of a frame are now; None for those it has not."""
    names, optimized = frame.f_locals, frame.f_code.co_flags & CO_OPTIMIZED
    rest = {} if optimized or names is frame.f_globals else frame.f_globals
    # In a cell these are the globals; but since Python 3.13 not while a comprehension runs, whose
    # own variables they are then.
    values = [names[name] if name in names else rest.get(name) for name in variables]
    let_go(frame, names)
    return values


def look(frame: FrameType) -> Variables:
    """Return all local variables of a frame."""
    names = list(frame.f_locals)
    return dict(zip(names, look_up(frame, names), strict=True))
