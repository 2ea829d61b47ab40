"""Which of PyTorch's tensors is which, and what its nodes keep.

After reading this file you know how a tensor of PyTorch's is recognised - by its node, which can
carry a note, or else by its address while it lives - and how its values and what is saved for
backward are read without leaving a trace. Read next: ``torch_values.py``, ``torch_backward.py``.
"""

from __future__ import annotations

import re
import sys
import weakref
from collections.abc import Sequence
from contextlib import suppress
from inspect import unwrap
from math import prod
from types import FrameType
from typing import Any

import numpy as np

from autodiff_kit.record.entries import PACKED, UNSEEN
from autodiff_kit.record.events import Input, NodeRecord, Packer, Saved, Value
from autodiff_kit.record.guard import nothing
from autodiff_kit.record.source import Place
from autodiff_kit.record.torch_ops import Schema, grad_fn_of, tensors_in
from autodiff_kit.record.torch_values import array_of, extent, memory_of, shape_of
from autodiff_kit.record.values import parameter
from autodiff_kit.record.windows import Windows

__all__ = ["TorchNotes"]

# What the node of a normalization calls what the kit's has saved, too.
_MEANS = {"result1": "own_mean", "result2": "own_stretch"}
_RESULTS = ("indices", "total_weight")  # these have words of their own
_THREADS = re.compile(r"[Tt]hread|Executor")


class TorchNotes(Windows):
    """Notes of what PyTorch does."""

    def __init__(self, torch: Any, limit: int, base: FrameType | None) -> None:
        super().__init__(limit, base, torch.Tensor)
        self._torch = torch
        self._key = object()  # under which a node's metadata has our numbers of its outputs
        self._pending: list[tuple[int, Any, Any]] = []  # ops whose node is still to come
        # By node's class, operation and arguments: what `_attributes` returns.
        self._attributes_of: dict[tuple[Any, ...], list[tuple[str, str]]] = {}
        private = torch._C._autograd
        self.packing = self._packing = getattr(private, "_top_saved_tensors_default_hooks", None)
        self._unpackers: set[Any] = set()  # the code of hooks that unpack what is saved
        self._read: dict[str, dict[str, list[str]]] = {}  # by op and argument, what a rule reads
        self._memory: set[int] = set()  # that of all tensors that were made since the beginning
        self._views_by_id: dict[int, weakref.ref[Any]] = {}  # those that look into older memory

    def _known(self, tensor: Any) -> int | None:
        """Return our number of a tensor, if it has one."""
        node = grad_fn_of(tensor)
        numbers = None if node is None else node.metadata.get(self._key)
        if numbers is not None and tensor.output_nr in numbers:
            return int(numbers[tensor.output_nr])
        reference, number = self._tensors.get(id(tensor), (nothing, -1))
        return number if reference() is tensor else None

    def _number(self, tensor: Any, scope: int) -> int:
        number = self._known(tensor)
        node, requires = grad_fn_of(tensor), _is_wanted(tensor)
        if number is not None:
            entry = self._nodes[number]
            if node is not None or entry["recorded"] or not requires:
                return number
            if any(number == waiting for waiting, _, _ in self._pending):
                return number
            if self._make_leaf(number):
                return number
            self._names.pop(number, None)  # a result was made a leaf: that has the name now
        return self._adopt(tensor, scope, number)

    def _grad_of(self, leaf: Any) -> Any:
        with suppress(RuntimeError):  # PyTorch refuses a view whose base has changed
            return leaf.grad if leaf.is_leaf else None
        return None

    def _elements_of(self, tensor: Any) -> Any:
        with self.at_work:
            try:
                return tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype
            except Exception:  # such as a sparse one; each kind refuses with an error of its own
                return id(tensor)

    def _shares_memory(self, tensor: Any, other: Any) -> bool:
        with self.at_work:
            return memory_of(tensor) == memory_of(other)

    def _stays(self, tensor: Any) -> bool:
        """Return whether a tensor that is changed has the node that it had, as under no_grad."""
        is_recording = self._torch.is_grad_enabled() and not tensor.is_leaf
        return bool(tensor.requires_grad) and not is_recording

    def _is_seen_anew(self, view: Any) -> bool:
        node = grad_fn_of(view)
        is_new = node is not None and self._key not in node.metadata
        return is_new and bool(self._torch.is_grad_enabled())

    def _add_leaf(self, tensor: Any, scope: int, place: Place | None) -> int:
        node, requires = grad_fn_of(tensor), _is_wanted(tensor)
        name = None if node is None else node.name()
        number = self._put_leaf(name, self._noted(tensor), scope, place)
        self._nodes[number]["recorded"] = self._nodes[number]["requires_grad"] = bool(requires)
        self._tensors[id(tensor)] = (weakref.ref(tensor), number)
        if node is not None:
            node.metadata[self._key] = {tensor.output_nr: number}
            self._hook_unseen(node)
        return number

    def _hook_unseen(self, node: Any) -> None:
        """Be told when backward comes to a node that was not seen being made."""
        raise NotImplementedError

    def _numbers_of(self, node: Any, index: int) -> tuple[dict[int, int], int]:
        """Return the numbers of a node's outputs; of one older than the recording, a leaf's."""
        numbers = node.metadata.get(self._key)
        if numbers is None:
            number = self._put_leaf(node.name(), UNSEEN, 0, None)
            self._nodes[number]["recorded"] = self._nodes[number]["requires_grad"] = True
            numbers = node.metadata[self._key] = {index: number}
            self._hook_unseen(node)
            self._adopted[number] = True
        return numbers, index

    def _note_memory(self, schema: Schema, operands: list[Any], outs: list[Any]) -> None:
        """Note the memory of what an operation has made, unless it is that of an operand."""
        name = schema.name
        if name == "aten::set_":  # of a copy, or of what comes from a file
            self._views_by_id[id(outs[0])] = weakref.ref(outs[0])
            return
        for x in outs:
            memory = memory_of(x)
            if memory in self._memory:
                continue
            # Of lift_fresh even the operand was made just now.
            is_new = memory not in [memory_of(operand) for operand in operands]
            if is_new or name == "aten::lift_fresh":
                self._memory.add(memory)
            elif all(x is not operand for operand in operands):
                self._views_by_id[id(x)] = weakref.ref(x)

    def _is_older(self, tensor: Any) -> bool | None:
        if self._views_by_id.get(id(tensor), nothing)() is tensor:
            return False
        memory = memory_of(tensor)
        # Memory that was in use at the beginning is not given to anything new.
        return memory not in self._memory if memory else None

    def _name_adopted(self, tensor: Any, number: int, scope: int) -> None:
        super()._name_adopted(tensor, number, scope)
        hook = self._unpacking() if self._unpackers else None
        if hook is not None and not self._nodes[number]["requires_grad"]:
            self._nodes[number].pop("part", None)  # no gradient in this backward pass
            if any(value is tensor for value in hook.f_locals.values()):
                self._nodes[number]["part"] = PACKED
        if self.is_again and not self._is_older(tensor):  # it begins with inputs without history
            self._nodes[number].setdefault("part", "copy made for the checkpoint's second run")
        if type(tensor) is self._torch.nn.Parameter and not self._is_older(tensor):
            self._nodes[number].setdefault("part", "parameter")  # no mode sees one being made

    def _unpacking(self) -> FrameType | None:
        """Return the frame of the learner's hook that unpacks what a node has saved, if any."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame is not self._base:
            if frame.f_code in self._unpackers:
                return frame
            frame = frame.f_back
        return None

    def _complete(self) -> None:
        super()._complete()
        if any(_THREADS.search(str(source["text"])) for source in self.recording.sources):
            for number in self._adopted:  # another thread may have made it, which is not watched
                if number < len(self._nodes):
                    self._nodes[number].pop("older", None)

    def _saved(self, node: Any, entry: NodeRecord, schema: Schema | None) -> list[Saved]:
        """Return what PyTorch's node says that it keeps."""
        hooks, inputs = self._packing, entry["inputs"]
        now = None if hooks is None else hooks(True)
        if now is not None:
            self._unpackers.add(getattr(unwrap(now[1]), "__code__", None))
        if hooks is None or now is not None:  # asking would call the learner's own hooks
            return self._packed(entry, now)
        args = tuple([i["arg"] for i in inputs])
        extents_by_name: list[
            tuple[str, list[tuple[int, int]]]
        ] = []  # names and extents; numbers have none
        for attribute, name in self._attributes(node.__class__, schema, entry["op"], args):
            try:
                value = getattr(node, attribute)
            except RuntimeError:
                continue  # changed already, which is for backward to complain of
            if isinstance(value, self._torch.Tensor):
                extents_by_name.append((name, [extent(value)]))
            elif type(value) in (int, float):
                if name in args:
                    extents_by_name.append((name, []))
            elif tensors := tensors_in((value,), self._torch.Tensor):  # of a list
                extents_by_name.append((name, [extent(t) for t in tensors]))
        if not extents_by_name:  # such as by a sum
            return []
        numbers = {i["arg"] for i in inputs if "value" in i and "is_seed" not in i}
        receivers = [i["arg"] for i in inputs if self._is_wanted(i)]
        reads = self._reads(entry)
        entries: list[Saved] = []
        arrays: dict[str, list[tuple[int, int]]] = {}
        for name, extents in extents_by_name:
            if not any(size for _, size in extents) and (extents or name not in numbers):
                continue
            readers = [w for w in receivers if name in reads.get(w.split("[")[0], ())]
            if name not in numbers:
                arrays[name] = extents
            entries.append({"name": name, "for": readers or receivers or [name], "bytes": 0})
        if len(entries) > 1:
            order = ["out", *args]
            entries.sort(key=lambda s: order.index(s["name"]) if s["name"] in order else len(order))
        counted: set[tuple[int, int]] = set()
        for saved in entries:  # `x * x` saves one array, for both rules
            own = set(arrays.get(saved["name"], [])) - counted
            saved["bytes"] = sum(size for _, size in own)
            counted |= own
        return entries

    def _attributes(
        self, kind: type, schema: Schema | None, op: str | None, args: tuple[str, ...]
    ) -> Sequence[tuple[str, str]]:
        """Return where a node keeps something, and what the op calls that."""
        key = kind, schema, op, args
        if key not in self._attributes_of:
            inputs = {} if schema is None else schema.inputs_of(str(op))
            returns = [] if schema is None else schema.returns
            pairs = self._attributes_of[key] = []
            for attribute in sorted(vars(kind)):
                if not attribute.startswith("_saved_") or "_sym_" in attribute:
                    continue
                name = attribute.removeprefix("_saved_")
                if name in ("result", "out"):
                    name = "out"
                elif name in inputs or name in args:
                    name = inputs.get(name, name)
                elif name in returns and name not in _RESULTS:
                    place = returns.index(name)
                    name = f"result{place}" if place else "out"
                elif schema is not None and "_norm" in schema.name:
                    name = _MEANS.get(name, name)
                pairs.append((attribute, "out" if name == "result0" else name))
        return self._attributes_of[key]

    def _packed(self, entry: NodeRecord, hooks: Any) -> list[Saved]:
        """Return what the rules read and hooks have packed: for a checkpoint, nothing is kept."""
        module = getattr(hooks[0], "__module__", "") if hooks else ""
        by: Packer = "checkpoint" if module == "torch.utils.checkpoint" else "hook"
        sources = {i["arg"]: i for i in entry["inputs"]}
        saved: list[Saved] = []
        for name, args in self._readers(entry).items():
            if name == "out" or "node" in sources.get(name, ()):
                saved.append({"name": name, "for": args, "bytes": 0, "by": by})
            elif name in sources:  # no hook is called with a number
                saved.append({"name": name, "for": args, "bytes": 0})
        return saved

    def _saved_inside(self, entry: NodeRecord, view: Any) -> list[Saved]:
        """Return what is saved by an op that changes a view: its node is hidden in the base's."""
        sources = {i["arg"]: i for i in entry["inputs"]}
        size = extent(view)[1]
        saved: list[Saved] = []
        for name, args in self._readers(entry).items():
            if name == "x":  # PyTorch copies it, as it is about to change
                saved.append({"name": "before", "for": args, "bytes": size})
            elif name == "out":
                saved.append({"name": "out", "for": args, "bytes": size})
            elif name in sources:
                number = sources[name].get("node")
                value = None if number is None else self._nodes[number]["value"]
                own = (
                    0 if value is None else prod(value["shape"]) * np.dtype(value["dtype"]).itemsize
                )
                saved.append({"name": name, "for": args, "bytes": own})
        return saved

    def _readers(self, entry: NodeRecord) -> dict[str, list[str]]:
        """Return which arguments have a rule that reads something, by what that is."""
        reads = self._reads(entry)
        readers: dict[str, list[str]] = {}
        for source in entry["inputs"]:
            if self._is_wanted(source):
                for name in reads.get(source["arg"].split("[")[0], ()):
                    readers.setdefault(name, []).append(source["arg"])
        return readers

    def _reads(self, entry: NodeRecord) -> dict[str, list[str]]:
        """Return what the rules of an op read, by its arguments."""
        op = str(entry["op"])
        if op not in self._read:
            rules = self.recording.ops[op]["rules"]
            self._read[op] = {arg: rule["reads"] for arg, rule in rules.items()}
        return self._read[op]

    def _is_wanted(self, source: Input) -> bool:
        return "node" in source and bool(self._nodes[source["node"]]["recorded"])

    def _value(self, tensor: Any) -> Value:
        array = array_of(tensor)
        if array is None:
            return {**UNSEEN, "shape": shape_of(tensor)}
        return self._values.of(array if array.ndim else array[()])  # a number needs no copy

    def _noted(self, tensor: Any) -> Any:
        """Return what a tensor holds now, as ``Values.note`` has it."""
        array = array_of(tensor)
        if array is None:
            return {**UNSEEN, "shape": shape_of(tensor)}
        return self._values.note(array if array.ndim else array[()])

    def _is_seed(self, tensor: Any) -> bool:
        """Return whether a tensor of a backward pass is the number that this began with."""
        is_number = not shape_of(tensor) and not tensor.requires_grad
        return is_number and self._known(tensor) is None and not self._names.is_held(tensor)

    def _parameter(self, value: Any) -> Any:
        if isinstance(value, self._torch.Tensor):
            array = array_of(value)
            return f"tensor of shape {shape_of(value)}" if array is None else parameter(array)
        if isinstance(value, self._torch.dtype):
            return str(value).removeprefix("torch.")
        return parameter(value)


def _is_wanted(tensor: Any) -> bool:
    """Return whether a gradient can flow to a tensor.

    A view that was made in ``no_grad`` mode says that it requires grad, as its base does.
    """
    base = tensor._base
    is_ghost = base is not None and base.requires_grad and grad_fn_of(tensor) is None
    return tensor.requires_grad and not is_ghost
