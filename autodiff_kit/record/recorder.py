"""The recorder: watches the core at work and writes down what happens.

After reading this file you know how a learner's run becomes a recording: every op with its place
in the source, its names, values and saved values, and every single contribution of the backward
pass. It knows nodes by number and other tensors weakly, so that it keeps no graph alive. Read next:
``source.py`` or, for what becomes of a recording, ``view/frames.py``.

It is longer than other files: one observer, with a method for each thing that the core tells.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Sequence
from types import FrameType
from typing import Any

import numpy as np

from autodiff_kit.autograd.graph import Packed, current_hooks
from autodiff_kit.core.base import next_number
from autodiff_kit.core.hooks import Gradients
from autodiff_kit.core.mode import local
from autodiff_kit.core.node import AccumulateGrad, Node
from autodiff_kit.core.observer import Both, Observer
from autodiff_kit.core.op import Op
from autodiff_kit.core.view_nodes import Nowhere
from autodiff_kit.record import rounds
from autodiff_kit.record.events import Input, Packer, Params, Saved, Value
from autodiff_kit.record.memory import arrays_in, parameters_of
from autodiff_kit.record.notes import (
    DETACH,
    GIVEN_NUMBERS,
    OVERWRITING,
    UNSEEN,
    Notes,
    SecondRun,
    described,
    entry_of,
    guarded,
    learners_frame,
    nothing,
)
from autodiff_kit.record.recording import Recording
from autodiff_kit.record.source import Place
from autodiff_kit.record.values import parameter
from autodiff_kit.tensor import Tensor

__all__ = ["record"]

_NOTHING_SAVED: list[Saved] = []
_SLOTS = ("x", "y", "out")  # of a node, for what it saves


class record:
    """Record everything that tensors do inside a ``with`` block.

    Parameters
    ----------
    limit : int, default 100_000
        Stop recording after so many events; the run itself goes on. A loop that never ends thus
        fills no memory; ``Recording.note`` says so.

    Returns
    -------
    Recording - given to ``as``; it is filled when the block ends. If the block raises, it holds
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

    def __enter__(self) -> Recording:
        self._recorder = _Recorder(self.limit, learners_frame(sys._getframe(1)))
        mode = local.mode
        self._outer = mode.observer
        mode.observer = self._recorder
        if self._outer is not None:
            mode.observer = Both(self._outer, self._recorder)
        self._recorder.begin()
        return self._recorder.recording

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        local.mode.observer = self._outer
        if error is not None:
            self.failed(error)
        self._recorder.finish()
        del self._recorder, self._outer  # it knows frames, and they know tensors

    def abandon(self) -> None:
        """Stop counting rounds, where an interruption has kept the block from doing so."""
        if hasattr(self, "_recorder"):
            rounds.stop(self._recorder)

    def failed(self, error: BaseException) -> None:
        """Note the exception that ended the run, with the learner's line that raised it."""
        self._recorder.failed(error)


class _Draft:
    """What the entries of one op at one place have in common.

    Attributes
    ----------
    args : sequence of str
        What the op calls its inputs.
    entry : dict
        To be copied and completed.
    """

    __slots__ = ("_kept", "_saved", "args", "entry")

    def __init__(self, op: Op, node: Node | None, place: Place, count: int) -> None:
        self.entry = entry_of("op", place.text, None if node is None else op.node_name, place.where)
        self.entry["op"] = op.name
        self.entry["recorded"] = self.entry["requires_grad"] = node is not None
        self.args: Sequence[str] = op.inputs
        if op.is_variadic:
            self.args = [f"{op.inputs[0]}[{i}]" for i in range(count)]
        # What the node saves: the name, the inputs whose rules read it, the slot of the node, or
        # the place of a parameter, such as the indices that a gradient is put back to.
        self._kept: list[tuple[str, list[str], str | int]] = []
        self._saved: dict[tuple[int | None, ...], list[Saved]] = {}
        if node is not None:
            slots = dict(zip(("out", *op.inputs[:2]), ("out", "x", "y"), strict=False))
            node = node.whole
            wanted = [name.split("[")[0] for name, edge in node.edges() if edge is not None]
            places = {name: op.rest.index(name) for name in parameters_of(op)}
            for name in (*node.saved(), *places):
                readers = [w for w in wanted if name in op.rules[w].reads]
                self._kept.append((name, readers, places.get(name, slots.get(name, ""))))

    def saved(self, node: Node) -> list[Saved]:
        """Return what a node saves; equal answers are one object, as loops give thousands."""
        if not self._kept:
            return _NOTHING_SAVED
        # Asking the node for names takes four times as long.
        node = node.whole
        seen: list[Any] = []  # `x * x` saves one array, for both rules
        sizes: list[int | None] = []
        for name, _, slot in self._kept:
            value = getattr(node, slot) if slot in _SLOTS else None
            if value is None or seen:
                sizes.append(self._size(node, name, slot, seen))
            elif type(value) is float:
                sizes.append(0)
            else:  # the first one, which nearly always is the only one
                seen.append(value)
                sizes.append(getattr(value, "nbytes", 0))
        key = tuple(sizes)
        found = self._saved.get(key)
        if found is None:
            found = self._saved[key] = [
                {"name": name, "for": readers, "bytes": size}
                for (name, readers, _), size in zip(self._kept, sizes, strict=True)
                if size is not None
            ]
        return found

    def _size(self, node: Node, name: str, slot: str | int, seen: list[Any]) -> int | None:
        """Return the bytes of one thing that are not counted yet; None for no tensor."""
        if isinstance(slot, int):
            parts = arrays_in(node.rest[slot])
            if not parts:
                return None
        else:
            value = getattr(node, slot) if slot else node.saved()[name]
            if type(value) is float:
                return 0
            parts = [value]
        size = 0
        for part in parts:
            if all(part is not other for other in seen):
                seen.append(part)
                size += getattr(part, "nbytes", 0)
        return size


class _Again(Observer):
    """Watches a checkpoint that runs its function once more, for backward."""

    def __init__(self, recorder: _Recorder) -> None:
        self._recorder = recorder
        for name in ("created", "copied", "modified", "branched", "detached"):
            setattr(self, name, getattr(recorder, name))

    def applied(self, *what: Any) -> None:
        """Note an op of the second run."""
        recorder, before = self._recorder, self._recorder._is_again
        recorder._is_again = True
        try:
            recorder.applied(*what)
        finally:
            recorder._is_again = before


class _Recorder(Notes, Observer):
    def __init__(self, limit: int, base: FrameType | None) -> None:
        super().__init__(limit, base, Tensor)
        self._numbers: dict[int, int] = {}  # Node.number -> what it is called here
        # Number of a node with several outputs -> what these are called here, by output_nr.
        self._outputs: dict[int, dict[int, int]] = {}
        self._promoted: dict[int, int] = {}
        self._first = next_number()  # nodes of a lower number were there before
        self._unseen_copies: dict[int, weakref.ref[Tensor]] = {}  # that the kit's own code made
        self._copied: tuple[Any, Any] = (nothing, nothing)  # the latest copy, and of what
        self._unseen: tuple[Node, int] | None = None  # it has saved what hooks are about to pack
        self._detached: dict[int, tuple[Any, Any]] = {}  # by id: who looks into whose memory
        self._retained: dict[int, Any] = {}  # .grad of tensors that are no leaves

    # -- what the core tells ---------------------------------------------------------------------

    @guarded
    def created(self, tensor: Tensor) -> None:
        place, scope, _ = self._where()
        self._create(tensor, scope, place)

    @guarded
    def applied(
        self, op: Op, inputs: Sequence[Any], params: Params, out: Tensor, node: Node | None
    ) -> None:
        place, scope, frame = self._where()
        if isinstance(node, Nowhere):
            node = None
        numbers, names = self._numbers, self._names
        key = op if node is None else (op, node.edge0 is None, node.edge1 is None)
        draft = place.drafts.get(key)
        if draft is None or len(inputs) > 2 or op.is_variadic:  # nor does the key tell all of it
            draft = place.drafts[key] = _Draft(op, node, place, len(inputs))
            if op.name not in self.recording.ops:
                self.recording.ops[op.name] = described(op)
        sources: list[Input] = []
        nameless = False
        args = draft.args
        for i, value in enumerate(inputs):
            if isinstance(value, Tensor):
                maker = value._node
                source = None if maker is None else numbers.get(maker.number)
                if source is None:
                    if op.name in OVERWRITING and self._known(value) is None:
                        continue
                    if (op.name in GIVEN_NUMBERS or scope in self._passes) and self._is_number(
                        value
                    ):
                        sources.append({"arg": args[i], "value": parameter(value._array)})
                        continue
                    if place.operands and i + 1 < len(inputs):
                        self._adopt_as_written(place, inputs[i:], scope, frame)
                    source = self._number(value, scope)
                if self._promoted:
                    source = self._promoted.pop(source, source)
                nameless = nameless or source not in names
                sources.append({"arg": args[i], "node": source})
            elif value is not None:
                sources.append({"arg": args[i], "value": parameter(value)})
        is_own = scope not in self._passes  # the learner's code at work, not a backward pass
        if nameless and is_own and place.operands:
            names.name_operands(place, inputs, self._known, frame)
        number = self._last_op = len(self._nodes)
        if op.name == "promote":  # what comes next names its input still as it was before
            self._promoted[sources[0]["node"]] = number
        elif self._promoted:
            self._promoted.clear()
        entry = draft.entry.copy()
        entry["id"], entry["inputs"], entry["scope"] = number, sources, scope
        entry["value"] = self._values.of(out._array)
        if params:
            entry["params"] = {name: parameter(value) for name, value in params.items()}
        if self._unseen is not None:
            self._see_packed()
        if self._is_again:
            entry["again"] = True
        if node is None:
            self._tensors[id(out)] = (weakref.ref(out), number)
        else:
            if others := self._outputs.get(node.whole.number):  # an output of the same node
                entry["part_of"] = min(others.values())
            self._remember(node, number)
            if not self._is_again and not others:
                entry["saved"] = draft.saved(node)
                if entry["saved"] and current_hooks() is not None:
                    self._unseen = node, number  # by the next event they have packed it
        entry["text"] = self._text(op.name, place, scope, is_bool=out._array.dtype.kind == "b")
        if is_own and (place.name is not None or place.returned):
            names.name_result(number, place, scope)
        if op.name == "put" and sources and sources[0].get("node") in names:
            names[number] = names[sources[0]["node"]]  # the base of a view, after a change
        self._nodes.append(entry)
        self._events.append({"kind": "op", "node": number})

    def _adopt_as_written(
        self, place: Place, inputs: Sequence[Any], scope: int, frame: FrameType | None
    ) -> None:
        """Note what is older than the recording in the order in which the learner wrote it."""
        tensors = [x for x in inputs if isinstance(x, Tensor) and self._known(x) is None]
        if len(tensors) > 1:
            for tensor in self._names.as_written(place, tensors, frame):
                self._number(tensor, scope)

    def _see_packed(self) -> None:
        """Find out what hooks, such as those of a checkpoint, have made of what a node saved."""
        if self._unseen is None:
            return
        (node, number), self._unseen = self._unseen, None
        values, entry = node.saved(), self._nodes[number]
        saved: list[Saved] = []
        for one in entry["saved"]:
            packed = values.get(one["name"])
            if isinstance(packed, Packed):
                run = getattr(packed.unpack, "__self__", None)
                by: Packer = "checkpoint" if isinstance(run, SecondRun) else "hook"
                kept = getattr(packed.packed, "_array", packed.packed)
                size = 0 if by == "checkpoint" else int(getattr(kept, "nbytes", 0))
                one = {**one, "bytes": size, "by": by}
            saved.append(one)
        entry["saved"] = saved

    def unpacking(self, packed: Packed) -> Observer | None:
        """Watch the learner's code that makes a saved value again: a checkpoint's function."""
        run = getattr(packed.unpack, "__self__", None)
        return _Again(self) if isinstance(run, SecondRun) else None

    @guarded
    def detached(self, tensor: Tensor, out: Tensor) -> None:
        caller = sys._getframe(2).f_back
        if caller is None or not self._is_learners[caller.f_code.co_filename]:
            self._unseen_copies[id(out)] = weakref.ref(out)  # the kit's own
            return
        place, scope, _ = self._where()
        source = self._number(tensor, scope)
        self._detached[id(out)] = weakref.ref(out), weakref.ref(tensor)
        self.recording.ops.setdefault("detach", DETACH)
        number = len(self._nodes)
        entry = entry_of("op", place.text, None, place.where)
        entry |= {"id": number, "op": "detach", "inputs": [{"arg": "x", "node": source}]}
        entry |= {"scope": scope, "value": self._value(out)}
        self._tensors[id(out)] = (weakref.ref(out), number)
        self._nodes.append(entry)
        self._events.append({"kind": "op", "node": number})
        if scope not in self._passes and (place.name is not None or place.returned):
            self._names.name_result(number, place, scope)

    @guarded
    def copied(self, tensor: Tensor, copy: Tensor) -> None:
        self._copied = weakref.ref(copy), weakref.ref(tensor)

    @guarded
    def modified(self, tensor: Tensor, how: str) -> None:
        place, scope, _ = self._where()
        if how.endswith((".step", ".data")):  # no op has computed the new value in place
            last = self._events[-1] if self._events else None
            if how.endswith(".data") and last and last["kind"] == "modified":
                now, told = self._value(tensor), last["value"]
                is_same = now.get("stats") == told.get("stats") and last["node"] == self._known(
                    tensor
                )
                if is_same and np.array_equal(now["data"], told["data"]):
                    return  # `w.data -= 1` changes the memory, and then assigns it
            self._tell_change(self._number(tensor, scope), how, tensor, place)
            return
        if self._last_op < 0:
            return
        known = self._tensors.get(id(tensor))
        before = known[1] if known is not None and known[0]() is tensor else None
        old = getattr(tensor, "_old", None)
        if before is None and isinstance(old, Node):  # of a view, which has another one now
            before = self._remembered(old)
        # The op that was just recorded computed the new value; a leaf stays itself all the same.
        node = _maker(tensor)
        number = self._last_op if node is None else self._number(tensor, scope)
        if number != self._last_op:
            self._names.pop(self._last_op, None)
        elif before is not None:
            self._look_again(before, number)
        elif number not in self._names and (owner := self._owner_of(tensor)) is not None:
            self._names[number] = f"{self._names[owner]}.grad"
        self._tensors[id(tensor)] = (weakref.ref(tensor), number)
        if scope in self._passes:
            return  # a .grad that gets a graph of its own: nothing the learner has changed
        self._tell_change(number, how, tensor, place)
        base = tensor._base
        if node is None and base is not None:
            self._tell_change(self._number(base, scope), how, base, place)
        root = tensor if base is None else base
        reference, source = self._detached.get(id(root), (nothing, nothing))
        while reference() is not None and (seen := source()) is not None:
            if not np.may_share_memory(seen._array, tensor._array):
                break
            self._tell_change(self._number(seen, scope), how, seen, place)
            reference, source = self._detached.get(id(seen), (nothing, nothing))

    @guarded
    def branched(self, tensor: Tensor, taken: bool) -> None:
        place, scope, _ = self._where()
        number, where = self._number(tensor, scope), place.where
        self._events.append({"kind": "branch", "node": number, "taken": taken, "where": where})

    @guarded
    def returned(self, out: Tensor, array: Any) -> None:
        place, _, _ = self._where()
        name = place.parts[1] if len(place.parts) == 2 else ""
        part = f"second result of {str(self._nodes[self._last_op]['op']).removesuffix('_dim')}"
        reference = weakref.ref(array) if isinstance(array, np.ndarray) else lambda: array
        self._results[id(array)] = reference, name, part

    def _result(self, tensor: Tensor) -> tuple[str, str]:
        name, part = super()._result(tensor)
        if part:
            return name, part
        array = tensor._array
        reference, name, part = self._results.get(id(array), (nothing, "", ""))
        return (name, part) if reference() is array else ("", "")

    @guarded
    def gradients_returned(
        self, inputs: Sequence[Tensor], gradients: Sequence[Tensor | None]
    ) -> None:
        place, scope, _ = self._where()
        self._note_results(inputs, gradients, (place, scope))

    @guarded
    def backward_started(self, roots: Sequence[tuple[Node, Any]]) -> None:
        self._see_packed()
        place, _ = self._begin_backward()
        numbers = [self._node(node) for node, _ in roots]
        seed = [self._value(g) for _, g in roots]
        where = place.where
        self._events.append({"kind": "backward", "roots": numbers, "seed": seed, "where": where})

    @guarded
    def visited(self, node: Node, g: Any) -> None:
        if isinstance(node, Nowhere):
            return
        if not isinstance(g, Gradients):
            self._visit(node, self._node(node), g)
            return
        outputs = self._outputs.get(node.number, {})
        for index in sorted(outputs.keys() & g.keys()):
            # What the node does next is told of the last output that has a gradient.
            number = self._numbers[node.number] = outputs[index]
            self._visit(node, number, g[index], index)

    def _visit(self, node: Node, number: int, g: Any, index: int = 0) -> None:
        if isinstance(node, AccumulateGrad):
            grad = node.variable._grad
            self._grads[number] = None if grad is None else self._value(grad)
        value = self._value(g)
        self._events.append({"kind": "visit", "node": number, "g": value})
        kept = (nothing if node.hooks is None else node.hooks.retain.get(index, nothing))()
        if kept is not None and kept._grad is not None:
            before, now = self._retained.get(number), self._value(kept._grad)
            self._retained[number] = now
            self._tell_accumulation(number, value, before, now)

    @guarded
    def contributed(
        self, node: Node, index: int, edge: Node, before: Any, after: Any, total: Any
    ) -> None:
        op = node.op
        if isinstance(edge, Nowhere):
            return
        self._events.append(
            {
                "kind": "contribution",
                "node": self._node(node),
                "arg": f"{op.inputs[0]}[{index}]" if op.is_variadic else op.inputs[index],
                "to": self._node(edge),
                "before": None if before.shape == after.shape else self._value(before),
                "after": self._value(after),
                "total": None if total is after else self._value(total),
            }
        )

    @guarded
    def accumulated(self, node: AccumulateGrad, tensor: Tensor, g: Any, grad: Any) -> None:
        number = self._node(node)
        # backward(inputs=...) accumulates when the pass is over, which is nothing to tell.
        is_over = self._events[-1]["kind"] == "finish"
        before = self._grads.pop(number, None)
        g, grad = self._value(g), self._value(g if grad is None else grad)
        self._tell_accumulation(number, g, before, grad)
        if is_over:
            self._events[-2:] = self._events[:-3:-1]

    @guarded
    def released(self, node: Node) -> None:
        outputs = self._outputs.get(node.number)
        number = min(outputs.values()) if outputs else self._node(node)
        saved = self._nodes[number]["saved"]
        if saved:
            size = sum(entry["bytes"] for entry in saved)
            self._events.append({"kind": "release", "node": number, "bytes": size})

    @guarded
    def backward_finished(self) -> None:
        self._scopes.end_backward()
        self._events.append({"kind": "finish"})

    def _complete(self) -> None:
        self._see_packed()
        super()._complete()

    # -- which tensor, which node ----------------------------------------------------------------

    def _known(self, tensor: Tensor) -> int | None:
        """Return our number of a tensor, if it has one."""
        if self._copied[0]() is tensor:
            tensor = self._copied[1]()
        node = _maker(tensor)
        number = None if node is None else self._remembered(node)
        if number is not None:
            return number
        reference, number = self._tensors.get(id(tensor), (nothing, -1))
        return number if reference() is tensor else None  # None: another one at its address

    def _is_number(self, tensor: Tensor) -> bool:
        """Return whether a tensor is one that the kit has made of a number: ``y[0] = 5.``."""
        if tensor._node is not None or tensor._array.ndim or type(tensor) is not Tensor:
            return False
        return (
            self._known(tensor) is None
            and not self._result(tensor)[1]
            and not self._names.is_held(tensor)
        )

    def _number(self, tensor: Tensor, scope: int) -> int:
        """Return our number of a tensor; one that is older than the recording becomes a leaf."""
        if self._copied[0]() is tensor:
            tensor = self._copied[1]()
        number, node = self._known(tensor), _maker(tensor)
        if number is not None and (node is None or node.number in self._numbers):
            return number
        if number is not None and self._is_leaf(number) and node is not None:
            # requires_grad_() came after it was made
            self._nodes[number]["recorded"] = self._nodes[number]["requires_grad"] = True
            self._remember(node, number)
            return number
        if number is not None:
            self._names.pop(number, None)  # a result was made a leaf: that has the name now
        return self._adopt(tensor, scope, number)

    def _grad_of(self, leaf: Tensor) -> Any:
        return leaf._grad

    def _remember(self, node: Node, number: int) -> None:
        self._numbers[node.number] = number
        if node.whole is not node:
            self._outputs.setdefault(node.whole.number, {})[node.output_nr] = number

    def _remembered(self, node: Node) -> int | None:
        """Return our number of a node, or of the output that it stands for."""
        number = self._numbers.get(node.number)
        if number is None and node.whole is not node:
            number = self._outputs.get(node.whole.number, {}).get(node.output_nr)
            if number is not None:  # another stands for the same: a Function had saved its output
                self._numbers[node.number] = number
        return number

    def _is_older(self, tensor: Tensor) -> bool | None:
        node = _maker(tensor)
        if node is not None:
            return node.number < self._first
        return False if self._unseen_copies.get(id(tensor), nothing)() is tensor else None

    def _node(self, node: Node) -> int:
        """Return our number of a node; one that is older than the recording becomes a leaf."""
        number = self._remembered(node)
        if number is not None:
            return number
        if isinstance(node, AccumulateGrad):
            return self._number(node.variable, 0)
        value: Value = {**UNSEEN, "shape": list(node.shape)}
        number = self._put_node(node, node.name(), value, 0, None)
        self._adopted[number] = node.number < self._first
        return number

    def _add_leaf(self, tensor: Tensor, scope: int, place: Place | None) -> int:
        grad_fn = tensor.grad_fn
        name = None if grad_fn is None else grad_fn.name()
        number = self._put_node(_maker(tensor), name, self._value(tensor), scope, place)
        self._tensors[id(tensor)] = (weakref.ref(tensor), number)
        return number

    def _put_node(
        self, node: Node | None, name: str | None, value: Any, scope: int, place: Place | None
    ) -> int:
        number = self._put_leaf(name, value, scope, place)
        if node is not None:
            self._remember(node, number)
            self._nodes[number]["recorded"] = self._nodes[number]["requires_grad"] = True
        return number

    def _value(self, tensor: Any) -> Value:
        return self._values.of(getattr(tensor, "_array", tensor))


def _maker(tensor: Tensor) -> Node | None:
    """Return what made a tensor; nothing recorded did where no gradient flows, as to some views."""
    try:
        node = tensor._node
    except RuntimeError:  # a view that may no longer be used: its base has changed
        return None
    return None if isinstance(node, Nowhere) else node
