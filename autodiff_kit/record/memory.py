"""What the graph keeps in memory: which array, for which rule, from when to when.

After reading this file you know how bytes are counted: each array once, however many nodes, views
and variables share it, and from the moment when it is made to the moment when Python frees it.
Arrays are only watched, never held. Read next: ``view/memory.py``, which draws it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict

import numpy as np

from autodiff_kit.autograd.graph import Packed, current_hooks
from autodiff_kit.core.base import ARRAYS
from autodiff_kit.core.hooks import Gradients
from autodiff_kit.core.mode import local
from autodiff_kit.core.node import AccumulateGrad, Node
from autodiff_kit.core.observer import Both, Observer
from autodiff_kit.core.op import Op
from autodiff_kit.record.events import Params
from autodiff_kit.record.guard import nothing
from autodiff_kit.record.new_nodes import collections, nodes_since
from autodiff_kit.record.notes import SecondRun
from autodiff_kit.tensor import Tensor

__all__ = [
    "Hold",
    "Memory",
    "MemoryStep",
    "WatchedArray",
    "arrays_in",
    "parameters_of",
    "watch_memory",
]


ArrayKind = Literal["value", "leaf", "gradient"]
Ending = Literal["release", "gone", "used", "packed"]
StepKind = Literal["op", "visit", "release", "end"]


class WatchedArray(TypedDict):
    """Memory, however many arrays look into it."""

    bytes: int
    kind: ArrayKind
    before: bool  # whether it was there before the watch began


Hold = TypedDict(
    "Hold",
    {
        "array": int,  # its place in Memory.arrays
        "op": int,
        "slot": str,  # "x", "out" ..., and "" for an argument that a checkpoint keeps
        "for": list[str],  # the inputs whose rules read it
        "since": int,  # a step
        "until": int | None,  # None: still held
        "how": Ending | None,  # it ended: gone with its node
        "again": bool,  # whether it is what a checkpoint has computed once more
    },
)


class MemoryStep(TypedDict):
    """Something that ran, and the bytes of all arrays made since the beginning that were alive."""

    kind: StepKind
    op: int | None  # None: of a leaf
    backward: bool  # whether it is inside of a backward pass
    total: NotRequired[int]
    gradients: NotRequired[int]


class Memory:
    """What was held, as plain data; operations are numbered in the order in which they ran."""

    def __init__(self) -> None:
        self.arrays: list[WatchedArray] = []
        self.holds: list[Hold] = []
        self.steps: list[MemoryStep] = []
        self.ops: dict[int, int] = {}  # the number of the operation, by Node.number


class watch_memory:
    """Watch the memory of everything that happens inside the ``with`` block.

    Only arrays are counted: a node itself is a small Python object besides.

    Attributes
    ----------
    memory : Memory
        Given to ``as``; it is complete when the block ends.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> x = torch.ones(1000, requires_grad=True)
    >>> with watch_memory() as memory:
    ...     y = x.exp().sum()
    >>> [(hold["slot"], memory.arrays[hold["array"]]["bytes"]) for hold in memory.holds]
    [('out', 4000)]
    """

    def __init__(self) -> None:
        self.memory = Memory()

    def __enter__(self) -> Memory:
        self._watch, self._outer = _Watch(self.memory), local.mode.observer
        outer = self._outer
        local.mode.observer = self._watch if outer is None else Both(outer, self._watch)
        return self.memory

    def __exit__(self, *error: object) -> None:
        local.mode.observer = self._outer
        self._watch.finish()
        del self._watch, self._outer


class _Again(NamedTuple):
    """A value that a checkpoint did not keep, and its place in the second run."""

    run: Callable[[], Any]
    place: int
    hold: Hold  # what begins whenever it is there


class _Watch(Observer):
    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._arrays, self._steps = self.memory.arrays, self.memory.steps
        self._known: dict[int, tuple[Callable[[], Any], int]] = {}  # id -> weak reference, number
        self._living: set[int] = set()
        self._alive = {"value": 0, "leaf": 0, "gradient": 0}
        self._ops = self.memory.ops
        self._count = 0
        self._by_op: dict[int, dict[int, Hold]] = {}  # open holds, by their id
        self._by_array: dict[int, dict[int, Hold]] = {}  # the same
        self._again: dict[int, list[_Again]] = {}
        self._there_again: dict[tuple[int, str], Hold] = {}
        self._runs: dict[int, Callable[[], Any]] = {}  # weak references to checkpoints' second runs
        self._unseen: tuple[Node, list[Hold]] | None = None
        self._rules_left = self._passes = 0
        # Of 0-d tensors: how many there are of each value; gradients that wait at a node, of the
        # node at work, and in .grad.
        self._tensors: dict[int, int] = {}
        self._references: list[weakref.ref[Tensor]] = []
        self._zero_dim: dict[int, weakref.ref[Tensor]] = {}  # 0-d tensors, by id
        self._waiting: dict[int, dict[int, int]] = {}  # by node, and number of its output
        self._grads: dict[int, int] = {}
        self._visited = 0
        self._collections = collections()

    # -- arrays ----------------------------------------------------------------------------------

    def _number(self, array: Any, kind: ArrayKind, before: bool = False) -> int:
        """Return the number of the memory that an array looks into."""
        while isinstance(getattr(array, "base", None), np.ndarray):
            array = array.base
        reference, number = self._known.get(id(array), (nothing, -1))
        if reference() is array:
            return number
        number = len(self._arrays)
        self._arrays.append({"bytes": int(array.nbytes), "kind": kind, "before": before})
        self._living.add(number)
        if isinstance(array, np.ndarray):
            self._known[id(array)] = weakref.ref(array, lambda _: self._freed(number)), number
            self._alive[kind] += 0 if before else array.nbytes
        else:  # the value of a 0-d tensor cannot be referred to weakly: its tensors can
            self._known[id(array)] = (lambda: array), number
            if kind != "gradient":
                self._alive[kind] += 0 if before else array.nbytes
        return number

    def _hold_number(self, tensor: Tensor) -> None:
        """Count the value of a 0-d tensor as alive while the tensor or a node holds it."""
        if isinstance(tensor._array, np.ndarray):
            return
        number = self._number(tensor._array, "value")
        self._tensors[number] = self._tensors.get(number, 0) + 1
        reference = weakref.ref(tensor, lambda _: self._dropped(number))
        self._references.append(reference)
        self._zero_dim[id(tensor)] = reference

    def _dropped(self, number: int, tensors: int = 1) -> None:
        left = self._tensors[number] = self._tensors.get(number, 0) - tensors
        if left <= 0 and number in self._living and not self._by_array.get(number):
            array = self._arrays[number]
            self._alive[array["kind"]] -= 0 if array["before"] else array["bytes"]
            self._living.discard(number)

    def _freed(self, number: int) -> None:
        array = self._arrays[number]
        self._alive[array["kind"]] -= 0 if array["before"] else array["bytes"]
        self._living.discard(number)
        for hold in list(self._by_array.get(number, {}).values()):
            if not hold["again"]:  # else it stands for another array, which has taken its place
                for other in list(self._by_op[hold["op"]].values()):  # the node itself is gone
                    self._end(other, "gone")

    def _begin(self, hold: Hold) -> None:
        self.memory.holds.append(hold)
        self._by_op.setdefault(hold["op"], {})[id(hold)] = hold
        self._by_array.setdefault(hold["array"], {})[id(hold)] = hold

    def _end(self, hold: Hold, how: Ending) -> None:
        hold["until"], hold["how"] = len(self._steps), how
        del self._by_op[hold["op"]][id(hold)], self._by_array[hold["array"]][id(hold)]
        if hold["array"] in self._tensors:
            self._dropped(hold["array"], 0)

    def _step(self, kind: StepKind, op: int | None) -> None:
        total, gradients = self._sizes()
        is_inside = self._passes > 0
        self._steps.append(
            {"kind": kind, "op": op, "backward": is_inside, "total": total, "gradients": gradients}
        )

    def _sizes(self) -> tuple[int, int]:
        """Return the bytes of all arrays, and of gradients alone."""
        total = sum(self._alive.values())
        for number in {hold["array"] for hold in self._there_again.values()} - self._living:
            total += self._arrays[number]["bytes"]
        numbers = sum(self._grads.values()) + self._visited
        numbers += sum(sum(parts.values()) for parts in self._waiting.values())
        return total + numbers, self._alive["gradient"] + numbers

    # -- forward ---------------------------------------------------------------------------------

    def created(self, tensor: Tensor) -> None:
        self._number(tensor._array, "leaf")
        self._hold_number(tensor)

    def applied(
        self, op: Op, inputs: Sequence[Any], params: Params, out: Tensor, node: Node | None
    ) -> None:
        self._see_packed()
        for value in inputs:
            if isinstance(value, Tensor):
                is_new = (
                    self._zero_dim.get(id(value), nothing)() is value
                )  # a node asked for an array
                self._number(value._array, "leaf", before=not is_new)
        self._number(out._array, "value")
        self._hold_number(out)
        number, self._count = self._count, self._count + 1
        if node is not None:
            node = node.whole
            is_first = self._ops.setdefault(node.number, number) == number  # of its outputs
            receivers = [name.split("[")[0] for name, edge in node.edges() if edge is not None]
            receivers = [name for name in dict.fromkeys(receivers) if name in op.rules]
            holds: list[Hold] = [
                {
                    "array": self._number(array, "value"),
                    "op": number,
                    "slot": slot,
                    "for": [name for name in receivers if slot in op.rules[name].reads],
                    "since": len(self._steps),
                    "until": None,
                    "how": None,
                    "again": False,
                }
                for slot, array in (_kept(node) if is_first else ())
            ]
            for hold in holds:
                self._begin(hold)
            if holds and current_hooks() is not None:
                self._unseen = node, holds  # by the next event they have packed it
        self._step("op", number)

    def _see_packed(self) -> None:
        """Find out what hooks, such as those of a checkpoint, have made of what a node saved."""
        if self._unseen is None:
            return
        (node, holds), self._unseen = self._unseen, None
        saved = node.saved()
        for hold in holds:
            packed = saved.get(hold["slot"])
            if not isinstance(packed, Packed) or hold["how"] == "release":
                continue
            if hold["until"] is None:  # else nothing but this event has kept the array
                self._end(hold, "packed")
            written = self.memory.holds
            del written[next(i for i in range(len(written) - 1, -1, -1) if written[i] is hold)]
            hold |= {"until": None, "how": None}
            run = getattr(packed.unpack, "__self__", None)
            if isinstance(packed.packed, Tensor):
                self._begin({**hold, "array": self._number(packed.packed._array, "value")})
            elif isinstance(run, SecondRun):  # of a checkpoint
                again = _Again(self._reference(run, hold), packed.packed, hold.copy())
                self._again.setdefault(hold["op"], []).append(again)

    def _reference(self, run: SecondRun, hold: Hold) -> Callable[[], Any]:
        """Return a weak reference to the second run of a checkpoint, which keeps its arguments."""
        known = self._runs.get(id(run), nothing)
        if known() is run:
            return known
        arguments: list[Hold] = []
        for array in {self._number(tensor._array, "value") for tensor in run.arguments}:
            arguments.append({**hold, "array": array, "slot": "", "for": []})
            self._begin(arguments[-1])

        def gone(_: Any) -> None:
            for hold in arguments:
                if hold["until"] is None:
                    self._end(hold, "gone")

        self._runs[id(run)] = weakref.ref(run, gone)
        return self._runs[id(run)]

    def returned(self, out: Tensor, array: Any) -> None:
        self._number(array, "value")

    # -- backward --------------------------------------------------------------------------------

    def backward_started(self, roots: Sequence[tuple[Node, Any]]) -> None:
        self._see_packed()
        self._passes += 1

    def backward_finished(self) -> None:
        self._passes -= 1
        self._visited = 0

    def visited(self, node: Node, g: Any) -> None:
        self._see_packed()
        self._add_gradient(g)
        self._waiting.pop(node.number, None)
        self._visited = sum(map(_bytes_of_number, _parts(g)))
        self._rules_left = sum(edge is not None for _, edge in node.edges())
        self._step("visit", self._ops.get(node.number))

    def contributed(
        self, node: Node, index: int, edge: Node, before: Any, after: Any, total: Any
    ) -> None:
        self._add_gradient(total)
        waiting = self._waiting.setdefault(edge.whole.number, {})
        waiting[edge.output_nr] = _bytes_of_number(total)
        self._rules_left -= 1
        number = self._ops.get(node.number, -1)
        run = self._again[number][0].run() if number in self._again else None
        if run is not None:
            self._see_again(run, number)
        step, (size, gradients) = self._steps[-1], self._sizes()
        if step["kind"] == "visit" and size > step["total"]:
            # Of a visit, the moment counts when most is alive.
            step["total"], step["gradients"] = size, gradients
        if run is not None and not self._rules_left:
            self._see_again(run, -1)

    def _add_gradient(self, g: Any) -> None:
        for part in _parts(g):
            self._number(getattr(part, "_array", part), "gradient")

    def _see_again(self, run: SecondRun, at_work: int) -> None:
        """See what a checkpoint has computed again, what is in use now, and what is used up."""
        for op, entries in self._again.items():
            for entry in (entry for entry in entries if entry.run() is run):
                key = op, entry.hold["slot"]
                is_there = entry.place in run.computed or op == at_work
                if is_there and key not in self._there_again:
                    # An argument, or a weight, was there all the time.
                    again = entry.hold["array"] not in self._living
                    hold: Hold = {**entry.hold, "since": len(self._steps) - 1, "again": again}
                    self._there_again[key] = hold
                    self._begin(hold)
                elif not is_there and key in self._there_again:
                    self._end(self._there_again.pop(key), "used")

    def accumulated(self, node: AccumulateGrad, tensor: Tensor, g: Any, grad: Any) -> None:
        self._add_gradient(g if grad is None else grad)
        self._grads[node.number] = _bytes_of_number(g)
        self._visited = 0

    def released(self, node: Node) -> None:
        number = self._ops.get(node.number, -1)
        holds = list(self._by_op.get(number, {}).values())
        for hold in holds:
            self._end(hold, "release")
        if holds:
            self._step("release", number)

    def finish(self) -> None:
        """Note what is left when the watch is over; forget the arrays."""
        self._see_packed()
        left = {op for op, holds in self._by_op.items() if holds}
        if left:  # arrays of leaves outlive a node that kept them, so they tell nothing of it
            nodes = nodes_since(self._collections)
            for op in left - {self._ops.get(getattr(node, "number", -1), -1) for node in nodes}:
                for hold in list(self._by_op[op].values()):
                    self._end(hold, "gone")
        self._step("end", None)
        self._known.clear()


def _parts(g: Any) -> list[Any]:
    """Return the gradients of all outputs of a node."""
    return list(g.values()) if isinstance(g, Gradients) else [g]


def _bytes_of_number(g: Any) -> int:
    """Return the bytes of a gradient that is no array; arrays are counted by themselves."""
    array = getattr(g, "_array", g)
    return int(array.nbytes) if isinstance(array, np.generic) else 0


def _kept(node: Node) -> Iterator[tuple[str, Any]]:
    """Yield what a node keeps: tensors' values, by-products, and arrays given as parameters."""
    yield from (pair for pair in node.saved().items() if isinstance(pair[1], ARRAYS))
    known = parameters_of(node.op)
    for name, value in zip(node.op.rest, node.rest, strict=False):
        if name in known:
            yield from ((name, part) for part in arrays_in(value))


def parameters_of(op: Op) -> list[str]:
    """Return the parameters that a node of an op keeps beside its inputs and by-products."""
    return [n for n in op.rest if n not in op.inputs and n not in op.by_products]


def arrays_in(value: Any) -> list[Any]:
    """Return the arrays in a parameter: what an index takes, and the tensors it was made of."""
    own = value if isinstance(value, tuple) else (value,)
    parts = (*own, *getattr(value, "sources", ()))
    return list({id(part): part for part in parts if isinstance(part, np.ndarray)}.values())
