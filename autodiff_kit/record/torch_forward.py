"""PyTorch's forward pass: the learner's calls, and the operations that they are made of.

After reading this file you know what a function mode and a dispatch mode show: which call is
running, and each operation with its operands and its result. The node of an op comes only after
it: it is looked at before the next. Read next: ``torch_ops.py``.
"""

from __future__ import annotations

import sys
import weakref
from types import FrameType
from typing import Any

from autodiff_kit.ops import load_all
from autodiff_kit.record.drafts import OVERWRITING
from autodiff_kit.record.entries import DETACH
from autodiff_kit.record.events import Input
from autodiff_kit.record.guard import guarded, nothing
from autodiff_kit.record.names import note_variables
from autodiff_kit.record.source import Place
from autodiff_kit.record.torch_again import TorchDraft
from autodiff_kit.record.torch_func import Held
from autodiff_kit.record.torch_in_place import TorchInPlace
from autodiff_kit.record.torch_ops import (
    Schema,
    bind,
    describe,
    flat,
    grad_fn_of,
    name_of,
    tensors_in,
)
from autodiff_kit.record.values import parameter

__all__ = ["TorchRecorder"]

# The place in the learner's source, the scope and the frame.
_At = tuple[Place, int, FrameType | None]
# Of the op that runs: its operands, their numbers, by id, where it is, and its name.
_Operands = tuple[list[Any], dict[int, int | None], _At, str]
# Of the call around: its name, whether it is inside of a step, or direct; a transform's, what such
# a one holds back; and of the call itself, what the tensors of an item that it sets were.
_Entered = tuple[str, bool, bool, bool, list[Held] | None, list[int | None] | None]
_ORDINALS = ("second", "third", "fourth", "further")


class TorchRecorder(TorchInPlace):
    """Notes of all that PyTorch does; its methods are called by the modes of ``real_torch.py``."""

    def __init__(self, torch: Any, limit: int, base: FrameType | None) -> None:
        super().__init__(torch, limit, base)
        load_all()
        self._operands: _Operands | None = None
        self._facts: dict[Any, tuple[str, bool, bool]] = {}  # by function, what `_facts_of` returns
        self._first: tuple[int, TorchDraft, Place] | None = None  # the latest op, if it has one
        self._rest: dict[int, tuple[weakref.ref[Any], int, int]] = {}  # results beside the first

    # -- the learner's calls ---------------------------------------------------------------------

    def call(self, func: Any, args: Any, direct: bool) -> _Entered:
        """Note which function is running, and whether the learner has called it."""
        facts = self._facts.get(func)
        if facts is None:
            facts = self._facts[func] = _facts_of(func)
        name, initialises, in_place = facts
        if initialises or (in_place and not direct):
            initialises = bool(args) and isinstance(args[0], self._kind)
            if initialises:
                with self.at_work:  # a layer that is being made
                    initialises = self._known(args[0]) is None and self._holder(args[0]) is None
        own, calls = self._enter_transform(sys._getframe(2), direct)
        outer = self._call, self._is_inside, self._is_direct, own, calls
        self._call, self._is_direct = name, direct
        if initialises:
            self._is_inside = True
        if self._pending:
            self._meet_pending()
        if name != "__setitem__":
            return *outer, None
        before = [*map(self._number_here, args[::2])]
        self._is_inside = self._is_inside or before[0] is not None
        return *outer, before

    def end_call(self, entered: _Entered, args: Any, out: Any, *, has_worked: bool) -> None:
        """Note that the function that ``call`` has noted is over."""
        call, is_inside, is_direct, own, calls, before = entered
        try:
            if self._calls_inside or calls or own or self._is_transforms_own:
                self._leave_transform((own, calls), out)
            else:
                self._calls_inside = calls
            if before is not None and before[0] is not None and has_worked:
                self.set_item(args, before[0], before[1])
        finally:
            self._call, self._is_inside, self._is_direct = call, is_inside, is_direct
            if self._pending:
                self._meet_pending()

    def _number_here(self, tensor: Any) -> int | None:
        """Return our number of a tensor that is about to be changed, if all is well so far."""
        numbers: list[int] = []
        if isinstance(tensor, self._torch.Tensor):
            self._ask(numbers, tensor)
        return numbers[0] if numbers else None

    @guarded
    def _ask(self, numbers: list[int], tensor: Any) -> None:
        if not self._is_inside:
            _, scope, _ = self._where()
            numbers.append(self._number(tensor, scope))

    def called(self, func: Any, args: Any, out: Any, direct: bool) -> None:
        """Note what a call that is over was: a new tensor, a branch, an attribute that was set."""
        is_result = isinstance(out, self._torch.Tensor) and grad_fn_of(out) is not None
        if not is_result:
            self._note_call(func, args, out, direct)

    @guarded
    def _note_call(self, func: Any, args: Any, out: Any, direct: bool) -> None:
        name = getattr(func, "__name__", "")
        if name in ("__set__", "__delete__"):
            self._set_attribute(func, args)
        elif name == "requires_grad_" and not self._is_inside:
            place, _, _ = self._where()
            self._tell_requirement(out, out.requires_grad, place)
        if self._is_inside or not direct:
            return
        before = self._known(out) if name == "detach_" else None
        if before is not None and self._nodes[before]["recorded"]:  # no mode is told of it
            place, scope, _ = self._where()
            self.recording.ops.setdefault("detach", DETACH)
            number = self._put("detach", [{"arg": "x", "node": before}], {}, out, (place, scope))
            self._look_again(before, number)
            self._tensors[id(out)] = (weakref.ref(out), number)
        if name == "__bool__" and not self.is_in_function(sys._getframe(3)):
            place, scope, _ = self._where()
            self._tell_branch(self._number(args[0], scope), bool(out), place)
        elif isinstance(out, self._torch.Tensor) and self._known(out) is None:
            makes = not tensors_in(args, self._torch.Tensor)
            makes = makes or name.endswith("_like") or name.startswith("new_")
            if makes and not self.is_in_function(sys._getframe(3)):
                place, scope, _ = self._where()
                self._create(out, scope, place)

    def _set_attribute(self, func: Any, args: Any) -> None:
        """Note that ``.grad`` was set or cleared, which optimizers do, too; or ``.data`` set."""
        number, attribute = self._known(args[0]), getattr(func, "__self__", None)
        if attribute is self._torch.Tensor.grad and number is not None:
            place, _, _ = self._where()
            self._tell_grad(number, args[1] if len(args) > 1 else None, "", place)
        elif attribute is self._torch.Tensor.requires_grad and not self._is_inside:
            place, _, _ = self._where()
            self._tell_requirement(args[0], bool(args[1]), place)
        elif attribute is self._torch.Tensor.data and not self._is_inside:
            place, scope, _ = self._where()
            self._tell_assignment(args[0], "assignment to .data", place, scope)

    @guarded
    def results(self, inputs: Any, gradients: Any) -> None:
        """Note what autograd.grad has returned."""
        place, scope, _ = self._where()
        self._note_results([*flat((inputs,))], gradients, (place, scope))

    def leave(self) -> None:
        """Take all hooks away again."""
        self.settle()
        self._meet_functions()
        if self._computed:
            self._meet_results()
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    # -- operations ------------------------------------------------------------------------------

    @guarded
    def announced(self, schema: Schema, args: Any) -> None:
        """Look at the operands, before an operation may change them."""
        self._look_at(schema, args)

    def _look_at(self, schema: Schema, args: Any) -> None:
        self._operands = None
        if self._is_told(schema) and self._calls_inside is None and not self._is_hidden(args):
            self._look_at_operands(schema, args)

    def _look_at_operands(self, schema: Schema, args: Any) -> None:
        if schema.is_mutable:
            self._forget_copy_of(args[0])
        self.settle()
        if self._grads:
            self._see_accumulated()
        at = self._where()
        scope = at[1]
        tensors = tensors_in(args, self._torch.Tensor)
        operands = tensors
        numbers: dict[int, int | None] = {}
        name = name_of(schema, self._call)
        if name in OVERWRITING and tensors[0] is args[0] and self._known(args[0]) is None:
            if args[0].requires_grad:  # a leaf, which was there before this
                self._number(args[0], scope)
            numbers[id(args[0])] = None
            operands = tensors[1:]
        positions = [*flat(args[1:2])] if name in ("index", "index_put") else []
        for value in operands:
            # PyTorch makes a tensor of `[0, 2]` in `x[[0, 2]]`: that is none of the learner's.
            is_list = positions and any(value is at for at in positions)
            is_new = (
                is_list and not self._names.is_held(value) and self._known(value) is None
            ) or (scope in self._passes and self._is_seed(value))
            numbers[id(value)] = None if is_new else self._number(value, scope)
        self._operands = tensors, numbers, at, name

    def _forget_copy_of(self, changed: Any) -> None:
        """Forget the copy that the node of an op in place saves: its input as it was."""
        number, copy, of = self._pending[-1] if self._pending else (-1, changed, None)
        is_copy = of.__class__ is Schema and of.name == "aten::clone"
        if not is_copy or self._call == "clone" or number != len(self._nodes) - 1:
            return
        if self._nodes[number]["inputs"][0].get("node") == self._known(changed):
            for known in (self._outputs, self._names):
                known.pop(number, None)
            del self._nodes[-1], self._events[-1], self._pending[-1], self._tensors[id(copy)]

    @guarded
    def ran(self, schema: Schema, args: Any, kwargs: Any, out: Any) -> None:
        """Note an operation."""
        if not schema.may_change:
            if schema.is_operation and not kwargs and self._ran_again(schema, args, out):
                return
            self._look_at(schema, args)
        if self._operands is not None:
            self._note_op(schema, args, kwargs, out, is_new=False)
            self._tell_written(schema, args)
            return
        kind = self._kind
        outs = [out] if isinstance(out, kind) else tensors_in((out,), kind)
        self._note_memory(schema, tensors_in(args, kind), outs)
        if self._running and schema.name == "aten::sum":
            self._sums.append((args[0], out))
        self._tell_written(schema, args)
        if self._calls_inside is not None or self._is_transforms_own:
            self._hold_back(Held(schema, args, kwargs, outs, out), is_told=self._is_told(schema))

    def _note_op(
        self, schema: Schema, args: Any, kwargs: Any, out: Any, *, is_new: bool = True
    ) -> None:
        if is_new:
            self._look_at_operands(schema, args)
        operands, self._operands = self._operands, None
        kind = self._torch.Tensor
        outs = [out] if isinstance(out, kind) else tensors_in((out,), kind)
        assert operands is not None
        self._note_memory(schema, operands[0], outs)
        _, numbers, (place, scope, _), _ = operands
        rest = [] if isinstance(out, list) else outs[1:]  # of a tuple, the first is the result
        for i, result in enumerate(outs[: len(outs) - len(rest)]):
            number = self._add_op(schema, args, kwargs, operands, result, i)
        for i, result in enumerate(rest, 1):
            self._note_rest(schema, result, i, place, number)
        if outs and schema.is_mutable:
            self._change_in_place(schema, args[0], number, (place, scope), numbers)
        elif schema.is_mutable and isinstance(args[0], list | tuple):  # all at once
            how = schema.name.removeprefix("aten::_foreach_")
            if self._nodes and self._nodes[-1]["where"] == place.where:
                self._nodes[-1]["text"] = ""  # a part of the call that changes these
            for tensor in args[0]:
                self._tell_change(self._number(tensor, scope), how, tensor, place)
                self._tell_windows(tensor, how, place)

    def _note_rest(self, schema: Schema, tensor: Any, index: int, place: Place, first: int) -> None:
        """Note what an operation returns beside its result, such as the indices of max."""
        name = place.parts[index] if index < len(place.parts) else ""
        part = f"{_ORDINALS[min(index, 4) - 1]} result of {schema.name[6:]}"
        self._results[id(tensor)] = weakref.ref(tensor), name, part
        self._rest[id(tensor)] = weakref.ref(tensor), first, index

    def _adopt(self, tensor: Any, scope: int, origin: int | None = None) -> int:
        reference, first, index = self._rest.get(id(tensor), (nothing, -1, 0))
        node, output = grad_fn_of(tensor), tensor.output_nr
        if node is None or reference() is not tensor:
            return super()._adopt(tensor, scope, origin)
        result = self._nodes[first]  # the next output of the same node
        params = {**result["params"], "index": index}
        place = self._sources.nowhere, result["scope"]
        number = self._put(str(result["op"]), result["inputs"], params, tensor, place)
        self._nodes[number]["text"], self._nodes[number]["where"] = result["text"], result["where"]
        self._tensors[id(tensor)] = (weakref.ref(tensor), number)
        self._outputs[number] = weakref.ref(tensor)
        self._meet(node, output, number, None)
        return number

    def _add_op(
        self, schema: Schema, args: Any, kwargs: Any, operands: _Operands, out: Any, index: int
    ) -> int:
        _, numbers, (place, scope, frame), name = operands
        if name == "relu_backward" and args[2] != 0:
            name = "threshold_backward"  # of another threshold than relu's
        op = describe(schema, name)
        self.recording.ops.setdefault(name, op)
        kind = self._torch.Tensor
        inputs, params = bind(schema, name, op, args, kwargs, kind, index)
        sources: list[Input] = []
        names: list[str | None] = []  # of the tensors
        is_clear, texts = True, place.operands
        for arg, value in inputs:
            if not isinstance(value, kind):
                sources.append({"arg": arg, "value": parameter(value)})
                continue
            source = numbers.get(id(value))
            known = None if source is None else self._names.get(source)
            if known not in texts or known in names:
                is_clear = False  # each nearly always has its own name here
            names.append(known)
            if source is not None:
                sources.append({"arg": arg, "node": source})
            elif scope in self._passes and self._is_seed(value):
                sources.append({"arg": arg, "value": self._parameter(value), "is_seed": True})
        for arg, value in params.items():  # what is only read, such as the classes of a loss
            source = numbers.get(id(value)) if isinstance(value, kind) else None
            if source is not None and all(value is not x for _, x in inputs):
                sources.append({"arg": arg, "node": source})
        is_own = scope not in self._passes
        if is_own and texts and not is_clear:
            tensors = [x for _, x in inputs]
            note_variables(sources, self._names.name_operands(place, tensors, self._known, frame))
        is_told = bool(params) and name != "detach"
        plain = {key: self._parameter(x) for key, x in params.items()} if is_told else {}
        if schema.is_view:
            self._note_window(out, args[0])
        number = self._put(name, sources, plain, out, (place, scope))
        self._nodes[number]["scope"] = self._scopes.inside
        if is_own and (place.name is not None or place.returned):
            self._names.name_result(number, place, scope)
        if schema.is_mutable and self._stays(out):
            return number
        reference = self._outputs[number] = weakref.ref(out)
        self._tensors[id(out)] = reference, number
        self._pending.append((number, out, schema))
        if is_own and not kwargs and not self._running and out.__class__ is kind:
            draft = self._draft(schema, name, args, sources, params, place)
            self._first = None if draft is None else (number, draft, place)
        return number

    def settle(self) -> None:
        """Look at the nodes of the ops that have just run: now they are there."""
        if self._pending:
            self._meet_pending()

    @guarded
    def _meet_pending(self) -> None:
        pending, self._pending = self._pending, []
        first, self._first = self._first, None
        for number, tensor, of in pending:
            if of.__class__ is TorchDraft:
                self._meet_again(number, tensor, of)
                continue
            node = grad_fn_of(tensor)
            if node is not None:
                self._meet(node, tensor.output_nr, number, of)
            if first is not None and first[0] == number:
                self._keep_draft(first[1], number, node, first[2])

    def _meet(self, node: Any, index: int, number: int, schema: Schema | None) -> None:
        """Get to know the node that made output ``index`` of an op."""
        entry = self._nodes[number]
        entry["grad_fn"], entry["recorded"], entry["requires_grad"] = node.name(), True, True
        entry.pop("mode", None)
        metadata = node.metadata
        numbers = metadata.get(self._key)
        if numbers is not None:  # another result of the same node
            entry["part_of"] = min(numbers.values())
            numbers[index] = number
            return
        metadata[self._key] = {index: number}
        if entry.get("again"):
            return
        entry["saved"] = entry["saved"] or self._saved(node, entry, schema)
        self._meet_edges(node)


def _facts_of(func: Any) -> tuple[str, bool, bool]:
    """Return the name of a function, whether it initialises, and whether it works in place."""
    name = getattr(func, "__name__", "")
    in_place = name.endswith("_") and not name.endswith("__")
    return name, getattr(func, "__module__", "") == "torch.nn.init", in_place
