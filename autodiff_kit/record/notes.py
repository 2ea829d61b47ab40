"""Taking notes of a run: what the kit's recorder and that of real PyTorch have in common.

After reading this file you know what a note is made of - a numbered node or an event, at a place in
the learner's source, in a scope - and why what goes wrong here never reaches the learner's code.
Tensors are known weakly, so that no graph is kept alive. Read next: ``recorder.py``.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, Protocol, runtime_checkable

from autodiff_kit.record import rounds
from autodiff_kit.record.entries import RETURNED, entry_of
from autodiff_kit.record.events import ErrorRecord, Result, Value
from autodiff_kit.record.guard import AtWork, failure, nothing
from autodiff_kit.record.inner import mark_inner
from autodiff_kit.record.ledger import Events, Nodes
from autodiff_kit.record.names import Names
from autodiff_kit.record.operands import operands_at
from autodiff_kit.record.owners import Owners
from autodiff_kit.record.recording import Recording
from autodiff_kit.record.scopes import MODULE_CALLS, Scopes
from autodiff_kit.record.source import Place, Sources
from autodiff_kit.record.source_files import is_foreign
from autodiff_kit.record.values import Values

_NONE: list[Any] = []  # the inputs of a leaf, and what it saves

__all__ = ["Notes", "SecondRun", "learners_frame"]


@runtime_checkable
class SecondRun(Protocol):
    """A checkpoint's (``utils/checkpoint.py``): it stands beside this layer, and is known so."""

    arguments: list[Any]
    computed: dict[int, Any]


def learners_frame(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame from ``frame`` outwards that can be the learner's."""
    while frame is not None and is_foreign(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


class Notes:
    """The notes of one run. Its subclass says how tensors are told apart, and their values.

    Parameters
    ----------
    limit : int
        So many events at the most.
    base : frame or None
        The learner's, whose ``with`` block is recorded.
    kind : type
        The class of the tensors.

    Attributes
    ----------
    recording : Recording
        Complete after ``finish``.
    """

    def __init__(self, limit: int, base: FrameType | None, kind: type) -> None:
        self.recording = Recording()
        self.limit = limit
        # Below are _where, the method, its guard, and what calls that: never the learner's code.
        self._below = 3
        self.is_over = False  # whether nothing more is noted
        self._base, self._kind = base, kind
        self.at_work = AtWork()
        self._values = Values()
        self._nodes = Nodes(self._values)
        self._events = self.events = Events(self._nodes)
        self._sources = Sources()
        self._is_learners = self._sources.is_learners
        self._scopes = Scopes(self._sources, base, (owners := Owners(self._sources)).path_of)
        self._names = Names(self._nodes, self._scopes, owners, kind)
        self.recording.hold(self._nodes, self._events, self._names)
        self._passes: set[int] = set()  # scopes of backward passes
        self._tensors: dict[int, tuple[weakref.ref[Any], int]] = {}  # those without a node: by id
        self._young: list[int] = []  # leaves since the latest backward pass
        self._last_op = -1
        self._grads: dict[int, Any] = {}  # what is known of a leaf's .grad until it accumulates
        # What comes from elsewhere than an op, by id: a name, or "", and what it is.
        self._results: dict[int, tuple[Callable[[], Any], str, str]] = {}
        self._unnamed: list[tuple[Callable[[], Any], Result]] = []  # gradients of torch.func
        self.is_again = False  # whether a checkpoint runs its function once more
        self._adopted: dict[int, bool | None] = {}  # leaves not made here: whether made before

    def _known(self, tensor: Any) -> int | None:
        """Return our number of a tensor, if it has one."""
        raise NotImplementedError

    def _number(self, tensor: Any, scope: int) -> int:
        """Return our number of a tensor; one that is older than the recording becomes a leaf."""
        raise NotImplementedError

    def _add_leaf(self, tensor: Any, scope: int, place: Place | None) -> int:
        """Note a tensor that no recorded op has made."""
        raise NotImplementedError

    def _value(self, tensor: Any) -> Value:
        """Describe what a tensor, or an array, holds now."""
        raise NotImplementedError

    def _noted(self, tensor: Any) -> Any:
        """Return what a tensor, or an array, holds now, to be described once it is read."""
        raise NotImplementedError

    def _is_older(self, tensor: Any) -> bool | None:
        """Return whether a tensor was made before the recording began; None if that is unknown."""
        raise NotImplementedError

    def _adopt(self, tensor: Any, scope: int, origin: int | None = None) -> int:
        """Note a tensor that nothing recorded has made, by the name that it has now.

        Or a leaf of the graph that was made without one, by the op ``origin``.
        """
        number = self._add_leaf(tensor, 0, None)  # it is first used in a scope, not made there
        self._name_adopted(tensor, number, scope)
        if origin is None:
            self._adopted[number] = self._is_older(tensor)
        else:
            self._nodes[number]["from"] = origin
        return number

    def _name_adopted(self, tensor: Any, number: int, scope: int) -> None:
        entry = self._nodes[number]
        name, part = self._result(tensor)
        if part:
            entry["part"] = part
            if name:
                self._names[number] = name
                return
        self._names.name_leaf(number, tensor)
        if number not in self._names and (owner := self._owner_of(tensor)) is not None:
            self._names[number] = f"{self._names[owner]}.grad"
        if not entry["requires_grad"] and self._is_in_pass(scope):
            entry.setdefault("part", "gradient in this backward pass")
        elif number not in self._names and not entry["grad_fn"] and not self._is_older(tensor):
            called = self._names.called(self._sources)  # such as dropout, which makes a mask
            if called and "part" not in entry:
                entry["part"] = f"tensor made inside {called}"

    def _owner_of(self, gradient: Any) -> int | None:
        """Return the number of the tensor with a name that has this in its .grad, if one has."""
        for reference, number in self._tensors.values():
            tensor = reference()
            if number in self._names and tensor is not None and self._grad_of(tensor) is gradient:
                return number
        return None

    def _grad_of(self, leaf: Any) -> Any:
        """Return what a leaf has in its .grad; None for a tensor that is no leaf."""
        raise NotImplementedError

    def _result(self, tensor: Any) -> tuple[str, str]:
        """Return the name and the origin of what an op has returned beside its result."""
        reference, name, part = self._results.get(id(tensor), (nothing, "", ""))
        return (name, part) if reference() is tensor else ("", "")

    def _is_in_pass(self, scope: int | None) -> bool:
        while scope is not None and scope not in self._passes:
            scope = self._scopes.plain[scope]["parent"]
        return scope is not None

    def _note_results(self, inputs: Sequence[Any], gradients: Sequence[Any], at: Any) -> None:
        """Note what autograd.grad returns: told with the end of its backward pass."""
        place, scope = at
        by = "" if self._function_called() == "grad" else self._names.called(self._sources)
        results: list[Result] = []
        for i, (tensor, gradient) in enumerate(zip(inputs, gradients, strict=False)):
            if gradient is None:
                continue
            names = place.parts or ((place.name or "",) if len(gradients) == 1 else ())
            name = names[i] if i < len(names) and not by else ""
            number = self._known(gradient)
            if number is None:
                part = f"gradient that {by} computes" if by else RETURNED
                self._results[id(gradient)] = weakref.ref(gradient), name, part
            elif name and number not in self._names:
                self._names[number] = name
            of, value = self._number(tensor, scope), self._value(gradient)
            result: Result = {"of": of, "name": name, "value": value, "node": number}
            if by:
                result["by"] = by
                self._unnamed.append((weakref.ref(gradient), result))
            results.append(result)
        for event in reversed(self._events):
            if event["kind"] == "finish":
                event["results"] = results
                break
            if event["kind"] == "backward":
                break

    def _function_called(self) -> str:
        """Return the name of the function that the learner's code itself has called."""
        frame, name = sys._getframe(2), ""
        while not self._is_learners[frame.f_code.co_filename]:
            name = frame.f_code.co_name
            if frame.f_back is None:
                break
            frame = frame.f_back
        return name

    def _look_again(self, before: int, number: int) -> None:
        """Call what a tensor is now as it was called; a view is still the one that was written."""
        if before in self._names:
            self._names[number] = self._names[before]
        if self._nodes[number]["op"] == "pick":
            now, then = self._nodes[number], self._nodes[before]
            now["text"], now["where"] = then["text"], then["where"]

    def _create(self, tensor: Any, scope: int, place: Place) -> None:
        """Note a tensor that a factory has made here; a class of the learner's may say so twice."""
        if self._known(tensor) is not None:
            return
        number = self._add_leaf(tensor, scope, place)
        if scope not in self._passes and (place.name is not None or place.returned):
            self._names.name_result(number, place, scope)

    def _put_leaf(self, grad_fn: str | None, value: Any, scope: int, place: Place | None) -> int:
        number = len(self._nodes)
        text, where = ("", None) if place is None else (place.text, place.where)
        entry = self._nodes.noted_entry(entry_of("leaf", text, grad_fn, where), value)
        entry["id"], entry["scope"] = number, scope
        entry["inputs"] = entry["saved"] = _NONE
        self._nodes.append(entry)
        self._events.append(number)
        if grad_fn is None:
            self._young.append(number)
        return number

    def _tell_branch(self, number: int, taken: bool, place: Place) -> None:
        where, scope = place.where, self._scopes.now()
        self._events.append(
            {"kind": "branch", "node": number, "taken": taken, "where": where, "scope": scope}
        )

    def _tell_backward(self, roots: list[int], seed: list[Value], place: Place) -> None:
        where, scope = place.where, self._scopes.now()
        self._events.append(
            {"kind": "backward", "roots": roots, "seed": seed, "where": where, "scope": scope}
        )

    def _begin_backward(self) -> tuple[Place, FrameType | None]:
        """Open the scope of a backward pass; return where it is called."""
        place, _, frame = self._where()
        if frame is not None:
            self._passes.add(self._scopes.begin_backward(frame, place))
        return place, frame

    def _break(self, count: int) -> None:
        """End passes that an exception has ended; one that was refused at once was none."""
        for _ in range(count):
            start = len(self._events)
            while start and self._events[start - 1]["kind"] == "visit":
                start -= 1
            if start and self._events[start - 1]["kind"] == "backward":
                del self._events[start - 1 :]
            else:
                self._events.append({"kind": "broken"})

    # -- where -----------------------------------------------------------------------------------

    def _where(self) -> tuple[Place, int, FrameType | None]:
        """Return the learner's present place, its scope and its frame."""
        frame = sys._getframe(self._below).f_back
        here = self._scopes.here(frame, self._names.doubt)
        if here is not None:  # as in the op before, mostly
            return here
        is_learners = self._is_learners
        modules: Sequence[FrameType] = ()
        while frame is not None and not is_learners[frame.f_code.co_filename]:
            if frame.f_code.co_name in MODULE_CALLS:
                modules = (*modules, frame)
            frame = frame.f_back
        if frame is None:
            return self._sources.nowhere, 0, None
        scopes = self._scopes
        if not (modules or scopes.has_broken):
            here = scopes.here(frame, self._names.doubt)
            if here is not None:
                return here
        place, scope = scopes.enter(frame, modules)
        if scopes.has_broken:
            self._break(scopes.broken())
        doubt = self._names.doubt
        if doubt is not None and (place is not doubt[0] or scope != doubt[1]):
            self._names.settle(self._known)
        return place, scope, frame

    # -- the end ---------------------------------------------------------------------------------

    def end(self, note: str) -> None:
        """Note no more, and say why."""
        self.recording.note, self.is_over = note, True

    def stop(self) -> None:
        """Note no more than the limit allows."""
        del self._events[self.limit :]
        events = f"{self.limit:,} event{'s' * (self.limit != 1)}"
        self.end(
            f"Recording stopped after {events}; the run itself went on. "
            "Record less of it, or give record(limit=...) a larger number."
        )

    def failed(self, error: BaseException) -> None:
        """Note the exception that ended the run, with the learner's line that raised it."""
        self.recording.error = {"type": type(error).__name__, "message": str(error), "where": None}
        try:
            self._place_error(self.recording.error, error)
        except Exception as own:
            self.end(failure(own))

    def _place_error(self, record: ErrorRecord, error: BaseException) -> None:
        """Note the learner's innermost line that an error came through, and what it held."""
        traceback = error.__traceback__
        where: Any = None
        while traceback is not None:  # the learner's innermost line
            code = traceback.tb_frame.f_code
            if self._is_learners[code.co_filename]:
                where = traceback.tb_frame, traceback.tb_lasti, traceback.tb_lineno
                place = self._sources.places(code).get(traceback.tb_lasti)
                if place is not None:
                    self._names.take_back(place, traceback.tb_frame, self._known)
            traceback = traceback.tb_next
        if where is not None:
            frame, *at = where
            place = self._sources.at(frame.f_code, *at)
            record["where"] = place.where
            record["operands"] = operands_at(place.text, frame, self._kind, self._known)

    def begin(self) -> None:
        """Begin to count the rounds of loops."""
        self.recording.is_open = True
        rounds.start(self, self._base)

    def finish(self) -> None:
        """Complete the recording; if that fails, nothing of it can be shown."""
        rounds.stop(self)
        self.recording.is_open = False
        try:
            self._complete()
        except Exception as error:
            self.recording.note = failure(error)
            for part in (self._nodes, self._events, self.recording.scopes):
                part.clear()
            self.recording.hold(self._nodes, self._events, {})
            if self.recording.error is not None:
                self.recording.error["where"] = None
                self.recording.error.pop("operands", None)

    def _complete(self) -> None:
        """Add the names, the scopes and the sources."""
        recording = self.recording
        if recording.note is not None:
            latest = (e["node"] for e in reversed(self._events) if e["kind"] in ("leaf", "op"))
            del self._nodes[next(latest, -1) + 1 :]  # what the limit has cut off
        for operand in recording.error.get("operands", ()) if recording.error is not None else ():
            if operand.get("node", -1) >= len(self._nodes):
                del operand["node"]
        self._names.settle(self._known)
        for number in mark_inner(self._nodes, self._events, self._scopes.plain):
            self._names.pop(number, None)
        self._names.name_rest(list(self._tensors.values()), self._known)
        for reference, result in self._unnamed:
            if (gradient := reference()) is not None:
                result["name"] = self._names.held_as(gradient)
        for number, older in self._adopted.items():
            if number < len(self._nodes):
                entry, name = self._nodes[number], self._names.get(number, "")
                if not entry["recorded"] and name.endswith(".grad"):
                    entry["part"] = "gradient from backward"
                # What the learner has a name for, and no call here has made, was there before.
                is_held = bool(name) and "part" not in entry
                if is_held if older is None else older:
                    entry["older"] = True
        self._names.name_gradients()
        recording.hold(self._nodes, self._events, dict(self._names))
        if recording.error is not None:
            self._events.append({"kind": "error"})
        elif recording.note is None:
            self._break(self._scopes.broken(is_over=True))
        recording.scopes = self._scopes.plain
        recording.sources = self._sources.plain()
