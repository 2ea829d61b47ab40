"""The recorder: watches the core at work and writes down what happens.

After reading this file you know how a learner's run becomes a recording: every op with its place
in the source, its names, values and saved values, and every single contribution of the backward
pass. It holds tensors weakly and nodes by number, so that it keeps no graph alive. Read next:
``source.py`` or, for what becomes of a recording, ``view/frames.py``.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Sequence
from operator import is_not
from types import CodeType, FrameType
from typing import Any

import autodiff_kit
from autodiff_kit.autograd.grad_mode import local
from autodiff_kit.autograd.node import AccumulateGrad, Node
from autodiff_kit.autograd.observer import Observer
from autodiff_kit.ops.table import Op
from autodiff_kit.record.recording import Recording
from autodiff_kit.record.source import Loop, Place, Sources
from autodiff_kit.record.values import Snapshot, snapshot
from autodiff_kit.tensor import Tensor

__all__ = ["record"]

_KIT = os.path.dirname(autodiff_kit.__file__) + os.sep
_NOWHERE = Place()


class _Iteration:
    """A loop that is running in a frame."""

    __slots__ = ("count", "last", "loop", "scope", "scope_of_loop", "values")

    def __init__(self, loop: Loop, scope_of_loop: int) -> None:
        self.loop, self.scope_of_loop = loop, scope_of_loop
        self.count, self.last, self.scope = -1, -1, -1
        self.values: tuple[Any, ...] = ()


class _Call:
    """A frame of the learner's code that is running, with its loops, outermost first."""

    __slots__ = ("frame", "loops", "scope")

    def __init__(self, frame: FrameType, scope: int) -> None:
        self.frame, self.scope = frame, scope
        self.loops: list[_Iteration] = []


class record(Observer):
    """Record everything that tensors do inside a ``with`` block.

    Parameters
    ----------
    limit : int, default 100_000
        Stop recording after so many events; the run itself goes on. A loop that never ends thus
        fills no memory; ``Recording.note`` says so.

    Returns
    -------
    Recording - given to ``as``; complete when the block ends. If the block raises, it holds
    everything up to there and the error, and the exception goes on.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> with record() as rec:
    ...     y = x * x
    ...     y.backward()
    >>> [event["kind"] for event in rec.events]  # doctest: +NORMALIZE_WHITESPACE
    ['leaf', 'op', 'backward', 'visit', 'contribution', 'contribution', 'release', 'visit',
     'accumulate', 'finish']
    """

    def __init__(self, *, limit: int = 100_000) -> None:
        self.limit = limit

    # -- the block -------------------------------------------------------------------------------

    def __enter__(self) -> Recording:
        mode = local.mode
        self._outer = mode.observer  # an outer recorder hears everything, too
        self._recording = Recording()
        self._events = self._recording.events
        self._sources = Sources()
        self._inside: dict[int, tuple[bool, CodeType]] = {}  # id(code) -> whether the kit's
        self._globals: dict[str, Any] | None = None  # of the learner's cell or module
        self._tensors: dict[int, tuple[weakref.ref[Tensor], int]] = {}  # id -> (it, our number)
        self._nodes: dict[int, int] = {}  # Node.number -> our number
        self._saves: dict[Any, list[tuple[str, list[str], str]]] = {}  # what nodes of an op save
        self._entries: dict[Any, list[dict[str, Any]]] = {}
        self._bound: dict[str, list[int]] = {}  # name -> our numbers, in order
        self._named: set[int] = set()
        self._calls: list[_Call] = []
        self._base: FrameType | None = self._frame()
        self._last_op = -1
        self._backward_scope: int | None = None
        self._grad_before: Any = None  # the .grad of the leaf that is being visited
        self._scope("root", "", None, None)
        mode.observer = self
        return self._recording

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        local.mode.observer = self._outer
        if error is not None:
            self.failed(error)
        self._finish()

    def failed(self, error: BaseException) -> None:
        """Note the exception that ended the run, with the learner's line that raised it."""
        self._recording.error = {
            "type": type(error).__name__,
            "message": str(error),
            "where": self._where_raised(error.__traceback__),
        }
        self._events.append({"kind": "error"})

    def _finish(self) -> None:
        """Turn snapshots into plain data, number repeated names, and let go of the run."""
        recording = self._recording
        self._name_results()
        for name, numbers in self._bound.items():
            for count, number in enumerate(numbers, 1):
                many = len(numbers) > 1
                recording.nodes[number]["name"] = f"{name}{count}" if many else name
        for entry in (*recording.nodes, *recording.events):
            for key, value in entry.items():
                if type(value) is Snapshot:
                    entry[key] = value.plain()
                elif key == "seed":
                    entry[key] = [v.plain() if type(v) is Snapshot else v for v in value]
        recording.sources = self._sources.plain()
        for attribute in ("_base", "_globals", "_calls", "_tensors", "_nodes", "_outer"):
            delattr(self, attribute)

    def _name_results(self) -> None:
        """Name what a call has returned, ``z = f(x)``, by the variable that holds it now."""
        spaces = [self._globals or {}]
        if self._base is not None and self._base.f_code.co_name != "<module>":
            spaces.insert(0, self._base.f_locals)
        for space in spaces:
            for name, value in list(space.items()):
                if isinstance(value, Tensor) and not name.startswith("_"):
                    known = self._tensors.get(id(value))
                    if known is not None and known[0]() is value and known[1] not in self._named:
                        self._bind(known[1], name)

    # -- what the core tells ---------------------------------------------------------------------

    def created(self, tensor: Tensor) -> None:
        """Write down a new leaf, with the name it is given."""
        if self._outer is not None:
            self._outer.created(tensor)
        if self._is_full():
            return
        place = self._place()
        number = self._add_leaf(tensor, place, place.where)
        self._bind(number, place.name)
        self._event("leaf", node=number)

    def applied(
        self, op: Op, inputs: Sequence[Any], params: dict[str, Any], out: Tensor, node: Node | None
    ) -> None:
        """Write down an op: its place, its inputs, its value and what its node saves."""
        if self._outer is not None:
            self._outer.applied(op, inputs, params, out, node)
        if self._is_full():
            return
        place = self._place()
        operands = place.operands
        sources = []
        names = op.inputs
        if op.is_variadic:
            names = tuple(f"{op.inputs[0]}[{i}]" for i in range(len(inputs)))
        for i, (arg, value) in enumerate(zip(names, inputs, strict=True)):
            if isinstance(value, Tensor):
                text = operands[i] if i < len(operands) else ""
                sources.append({"arg": arg, "node": self._number(value, text)})
            elif value is not None:
                sources.append({"arg": arg, "value": _plain(value)})
        number = len(self._recording.nodes)
        saved: list[dict[str, Any]] = []
        if node is not None:
            self._nodes[node.number] = number
            saved = self._saved_by(op, node)
        array = out._array
        self._recording.nodes.append(
            {
                "id": number,
                "kind": "op",
                "op": op.name,
                "grad_fn": None if node is None else op.node_name,
                "recorded": node is not None,
                "name": None,
                "text": place.text,
                "inputs": sources,
                "params": {n: _plain(v) for n, v in params.items()} if params else {},
                "value": snapshot(array),
                "requires_grad": node is not None,
                "scope": self._current_scope(),
                "where": place.where,
                "saved": saved,
            }
        )
        if op.name not in self._recording.ops:
            self._recording.ops[op.name] = _describe(op)
        self._remember(out, number)
        self._last_op = number
        self._bind(number, place.name)
        self._event("op", node=number)

    def modified(self, tensor: Tensor, how: str) -> None:
        """Write down a change in place; the tensor now holds the result of the last op."""
        if self._outer is not None:
            self._outer.modified(tensor, how)
        if self._is_full() or self._last_op < 0:
            return
        # The result of the op just recorded now lives in this tensor.
        self._remember(tensor, self._last_op)
        self._event(
            "modified",
            node=self._last_op,
            how=how,
            value=snapshot(tensor._array),
            where=self._place().where,
        )

    def branched(self, tensor: Tensor, taken: bool) -> None:
        """Write down that Python looked at a tensor to choose its way."""
        if self._outer is not None:
            self._outer.branched(tensor, taken)
        if self._is_full():
            return
        place = self._place()
        self._event("branch", node=self._number(tensor, ""), taken=taken, where=place.where)

    def backward_started(self, roots: Sequence[tuple[Node, Any]]) -> None:
        """Write down where a backward pass starts, and with which gradients."""
        if self._outer is not None:
            self._outer.backward_started(roots)
        if self._is_full():
            return
        place = self._place()
        self._backward_scope = self._scope("call", "backward", self._current_scope(), place.where)
        self._event(
            "backward",
            roots=[self._node(node) for node, _ in roots],
            seed=[snapshot(_raw(g)) for _, g in roots],
            where=place.where,
        )

    def visited(self, node: Node, g: Any) -> None:
        """Write down that the gradient of a node is complete."""
        if self._outer is not None:
            self._outer.visited(node, g)
        if self._is_full():
            return
        if isinstance(node, AccumulateGrad):
            grad = None if node.leaf is None else node.leaf._grad
            self._grad_before = None if grad is None else snapshot(grad._array)
        self._event("visit", node=self._node(node), g=snapshot(_raw(g)))

    def contributed(
        self, node: Node, index: int, edge: Node, before: Any, after: Any, total: Any
    ) -> None:
        """Write down one contribution, before and after broadcasting was undone."""
        if self._outer is not None:
            self._outer.contributed(node, index, edge, before, after, total)
        if self._is_full():
            return
        before, after, total = _raw(before), _raw(after), _raw(total)
        self._event(
            "contribution",
            node=self._node(node),
            arg=node.edges()[index][0],
            to=self._node(edge),
            before=None if before.shape == after.shape else snapshot(before),
            after=snapshot(after),
            total=None if total is after else snapshot(total),
        )

    def accumulated(self, node: AccumulateGrad, tensor: Tensor | None, g: Any, grad: Any) -> None:
        """Write down what was added to a leaf's ``.grad``, and what it was before."""
        if self._outer is not None:
            self._outer.accumulated(node, tensor, g, grad)
        if self._is_full():
            return
        self._event(
            "accumulate",
            node=self._node(node),
            g=snapshot(_raw(g)),
            before=self._grad_before,
            grad=snapshot(_raw(g if grad is None else grad)),
        )

    def released(self, node: Node) -> None:
        """Write down that saved values were dropped."""
        if self._outer is not None:
            self._outer.released(node)
        if self._is_full():
            return
        number = self._node(node)
        saved = self._recording.nodes[number]["saved"]
        if saved:
            self._event("release", node=number, bytes=sum(entry["bytes"] for entry in saved))

    def backward_finished(self) -> None:
        """Write down the end of a backward pass."""
        if self._outer is not None:
            self._outer.backward_finished()
        self._backward_scope = None
        if not self._is_full():
            self._event("finish")

    # -- events and numbers ----------------------------------------------------------------------

    def _event(self, kind: str, **fields: Any) -> None:
        self._events.append({"kind": kind, **fields})

    def _is_full(self) -> bool:
        if len(self._events) < self.limit:
            return False
        self._recording.note = (
            f"Recording stopped after {self.limit:,} events; the run itself went on. "
            "Record less of it, or give record(limit=...) a larger number."
        )
        return True

    def _remember(self, tensor: Tensor, number: int) -> None:
        key = id(tensor)
        self._tensors[key] = (weakref.ref(tensor), number)

    def _number(self, tensor: Tensor, text: str) -> int:
        """Return our number of a tensor; one that is older than the recording becomes a leaf."""
        known = self._tensors.get(id(tensor))
        if known is not None and known[0]() is tensor:
            return known[1]
        node = tensor._node
        if node is not None and node.number in self._nodes:
            return self._nodes[node.number]
        number = self._add_leaf(tensor, _NOWHERE, None)
        self._bind(number, self._name_in_scope(tensor) or text or None)
        self._event("leaf", node=number)
        return number

    def _node(self, node: Node) -> int:
        """Return our number of a node; one that is older than the recording becomes a leaf."""
        number = self._nodes.get(node.number)
        if number is not None:
            return number
        if isinstance(node, AccumulateGrad):
            return self._number(node.variable, "")
        number = len(self._recording.nodes)
        self._recording.nodes.append(_leaf(number, None, True, self._current_scope(), None))
        self._recording.nodes[number]["grad_fn"] = node.name()
        self._recording.nodes[number]["value"] = {
            "shape": list(node.shape),
            "dtype": "",
            "data": [],
        }
        self._nodes[node.number] = number
        self._event("leaf", node=number)
        return number

    def _add_leaf(self, tensor: Tensor, place: Place, where: Any) -> int:
        number = len(self._recording.nodes)
        node = tensor._node
        if node is not None:
            self._nodes[node.number] = number
        leaf = _leaf(
            number, snapshot(tensor._array), node is not None, self._current_scope(), where
        )
        leaf["text"] = place.text
        grad_fn = tensor.grad_fn
        leaf["grad_fn"] = None if grad_fn is None else grad_fn.name()
        self._recording.nodes.append(leaf)
        self._remember(tensor, number)
        return number

    def _bind(self, number: int, name: str | None) -> None:
        if name is not None and number not in self._named:
            self._named.add(number)
            self._bound.setdefault(name, []).append(number)

    def _name_in_scope(self, tensor: Tensor) -> str | None:
        frames = []
        frame = self._frame()
        while frame is not None:
            frames.append(frame)
            if frame is self._base or frame.f_code.co_name == "<module>":
                break
            frame = frame.f_back
        for frame in reversed(frames):  # a caller's name for it is older than a parameter's
            for names in (frame.f_locals, frame.f_globals):
                for name, value in list(names.items()):
                    if value is tensor and not name.startswith("_"):
                        return name
        return None

    def _saved_by(self, op: Op, node: Node) -> list[dict[str, Any]]:
        # What is saved depends on the op and on which inputs want a gradient; the slots of the
        # node are read directly, because asking it for names takes four times as long.
        key = (op, node.edge0 is None, node.edge1 is None)
        entries = self._saves.get(key)
        if entries is None or node.more:
            wanted = [name for name, edge in node.edges() if edge is not None]
            slots = dict(zip(("out", *op.inputs[:2]), ("out", "x", "y"), strict=False))
            entries = self._saves[key] = [
                (name, [w for w in wanted if w in op.rules and name in op.rules[w].reads], slot)
                for name in node.saved()
                for slot in [slots.get(name, "")]
            ]
        sizes = [
            getattr(getattr(node, slot) if slot else node.saved()[name], "nbytes", 8)
            for name, _, slot in entries
        ]
        # Equal entries are one object: a loop of 10,000 ops saves the same kind of thing each time.
        shared = self._entries.get((key, *sizes))
        if shared is None:
            shared = self._entries[(key, *sizes)] = [
                {"name": name, "for": readers, "bytes": size}
                for (name, readers, _), size in zip(entries, sizes, strict=True)
            ]
        return shared

    # -- places, calls and loops -----------------------------------------------------------------

    def _frame(self) -> FrameType | None:
        """Return the innermost frame that is not the kit's own."""
        frame: FrameType | None = sys._getframe(1)
        inside = self._inside
        while frame is not None:
            code = frame.f_code
            known = inside.get(id(code))  # by id: hashing a code object looks at all of it
            if known is None:
                known = inside[id(code)] = (code.co_filename.startswith(_KIT), code)
            if not known[0]:
                return frame
            frame = frame.f_back
        return None

    def _place(self) -> Place:
        frame = self._frame()
        if frame is None:
            return _NOWHERE
        place = self._sources.place(frame)
        self._enter(frame, place)
        return place

    def _current_scope(self) -> int:
        if self._backward_scope is not None:
            return self._backward_scope
        if not self._calls:
            return 0
        call = self._calls[-1]
        return call.loops[-1].scope if call.loops else call.scope

    def _enter(self, frame: FrameType, place: Place) -> None:
        """Bring the tree of calls and loop iterations to where the run is now."""
        calls = self._calls
        if calls and calls[-1].frame is frame:
            if place.loops or calls[-1].loops:
                self._iterate(calls[-1], place, True)
            return
        chain: list[FrameType] = []
        at: FrameType | None = frame
        while at is not None:
            if not at.f_code.co_filename.startswith(_KIT):
                chain.append(at)
            if at is self._base or at.f_code.co_name == "<module>":
                break  # above a cell's module there is only what runs the cell
            at = at.f_back
        chain.reverse()
        if self._globals is None:
            self._globals = chain[0].f_globals
        same = 0
        while same < min(len(calls), len(chain)) and calls[same].frame is chain[same]:
            same += 1
        del calls[same:]
        for depth, at in enumerate(chain):
            own = place if at is frame else self._sources.place(at)
            if depth >= same:
                scope = 0
                if calls:
                    outer = self._current_scope()
                    where = self._sources.place(chain[depth - 1]).where
                    scope = self._scope("call", _call_name(at), outer, where)
                calls.append(_Call(at, scope))
            if depth >= same - 1 and (own.loops or calls[depth].loops):
                self._iterate(calls[depth], own, at is frame or depth >= same - 1)

    def _iterate(self, call: _Call, place: Place, moved: bool) -> None:
        """Compare the loops around ``place`` with those that were running in this call."""
        frame, at = call.frame, call.frame.f_lasti
        names: dict[str, Any] | None = None
        for depth, loop in enumerate(place.loops):
            if depth < len(call.loops) and call.loops[depth].loop is loop:
                running = call.loops[depth]
            else:
                del call.loops[depth:]
                outer = call.loops[-1].scope if call.loops else call.scope
                running = _Iteration(loop, self._scope("loop", loop.name, outer, loop.where))
                call.loops.append(running)
            values: tuple[Any, ...] = ()
            if loop.targets:
                if names is None:
                    names = frame.f_locals
                values = tuple(map(names.get, loop.targets))
            innermost = depth == len(place.loops) - 1
            turned = running.count < 0 or any(map(is_not, running.values, values))
            if not turned and innermost:
                # The loop's names did not change (a while loop, or equal items in a row): the
                # run has gone back to an earlier instruction, or to the same one.
                turned = at < running.last or (at == running.last and not loop.targets)
            if turned:
                del call.loops[depth + 1 :]
                running.count += 1
                running.scope = self._scope(
                    "iteration", loop.name, running.scope_of_loop, loop.where, running.count
                )
            running.values, running.last = values, at
        del call.loops[len(place.loops) :]

    def _scope(self, kind: str, name: str, parent: int | None, where: Any, index: int = 0) -> int:
        number = len(self._recording.scopes)
        self._recording.scopes.append(
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

    def _where_raised(self, traceback: Any) -> Any:
        """Return the place of the learner's line that raised: the innermost outside the kit."""
        where = None
        while traceback is not None:
            frame = traceback.tb_frame
            if not frame.f_code.co_filename.startswith(_KIT):
                found = self._sources.at(frame.f_code, traceback.tb_lasti, traceback.tb_lineno)
                if found.where is not None and self._is_learners(frame):
                    where = found.where
            traceback = traceback.tb_next
        return where

    def _is_learners(self, frame: FrameType) -> bool:
        known = {call.frame.f_code.co_filename for call in self._calls}
        if self._base is not None:
            known.add(self._base.f_code.co_filename)
        return frame.f_code.co_filename in known


def _leaf(number: int, value: Any, recorded: bool, scope: int, where: Any) -> dict[str, Any]:
    return {
        "id": number,
        "kind": "leaf",
        "op": None,
        "grad_fn": None,
        "recorded": recorded,
        "name": None,
        "text": "",
        "inputs": [],
        "params": {},
        "value": value,
        "requires_grad": recorded,
        "scope": scope,
        "where": where,
        "saved": [],
    }


def _describe(op: Op) -> dict[str, Any]:
    """Return what pictures need to know of an op."""
    return {
        "text": op.text,
        "tex": op.tex,
        "doc": op.doc,
        "node_name": op.node_name,
        "inputs": list(op.inputs),
        "rules": {
            name: {
                "text": rule.text,
                "tex": rule.tex,
                "reads": list(rule.reads),
                "source": rule.source,
            }
            for name, rule in op.rules.items()
        },
    }


def _raw(value: Any) -> Any:
    return value._array if isinstance(value, Tensor) else value


def _plain(value: Any) -> Any:
    """Return a parameter as JSON can hold it."""
    if type(value) in (int, bool, str, type(None)):
        return value
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    return str(value)


def _call_name(frame: FrameType) -> str:
    name = frame.f_code.co_name
    return {"<lambda>": "lambda", "<listcomp>": "list comprehension"}.get(name, name.strip("<>"))
