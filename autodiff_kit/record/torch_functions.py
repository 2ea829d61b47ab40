"""A Function of the learner's in PyTorch: where it is applied, and what its node keeps.

After reading this file you know how ``Square.apply(x)`` becomes one op of the recording, although
no mode sees it: the frame of ``apply`` says where, and the node shows up with its result. Read
next: ``torch_steps.py``.
"""

from __future__ import annotations

import weakref
from types import FrameType
from typing import Any

from autodiff_kit.core.op import OPS
from autodiff_kit.record.entries import described, entry_of
from autodiff_kit.record.events import Input
from autodiff_kit.record.guard import guarded
from autodiff_kit.record.scopes import look, look_up
from autodiff_kit.record.source import Place
from autodiff_kit.record.torch_backward import TorchBackward
from autodiff_kit.record.torch_ops import (
    grad_fn_of,
    unknown,
)
from autodiff_kit.record.torch_values import extent

__all__ = ["TorchFunctions"]


class TorchFunctions(TorchBackward):
    """Notes of the learner's Functions."""

    def __init__(self, torch: Any, limit: int, base: FrameType | None) -> None:
        super().__init__(torch, limit, base)
        self._applied: list[tuple[FrameType, str, Place, int]] = []  # Function.apply
        self._is_gone_through = False  # whether a checkpoint's second run has a graph that is used
        self._apply = torch.autograd.Function.apply.__func__.__code__
        self._undo = torch.autograd.function.BackwardCFunction.apply.__code__

    def _put(self, op: str, inputs: list[Input], params: Any, out: Any, at: Any) -> int:
        """Add an op; its node shows up later."""
        place, scope = at
        if op not in self.recording.ops:
            self.recording.ops[op] = described(OPS[op])
        number = self._last_op = len(self._nodes)
        text = ""  # y.backward() is not what this op computes
        if scope not in self._passes:
            is_bool = place.calls_back and out.dtype == self._torch.bool
            text = place.text_of(op, is_bool=is_bool)
        entry = entry_of("op", text, None, place.where)
        entry["id"], entry["op"], entry["inputs"] = number, op, inputs
        entry["scope"], entry["params"], entry["value"] = scope, params, self._value(out)
        if self.is_again:
            entry["again"] = not self._is_gone_through
        if self._torch.is_inference_mode_enabled():
            entry["mode"] = "inference_mode"
        elif self._torch.is_grad_enabled():
            entry["mode"] = "grad"  # until its node is met
        self._nodes.append(entry)
        self._events.append(number)
        return number

    def _adopt(self, tensor: Any, scope: int, origin: int | None = None) -> int:
        with self.at_work:
            node = grad_fn_of(tensor)
        if isinstance(node, self._torch.autograd.function.BackwardCFunction):
            return self._add_function(tensor, node, scope)
        return super()._adopt(tensor, scope, origin)

    @guarded
    def _meet_functions(self) -> None:
        """Note the ops of Functions whose results nothing has used, but a variable holds."""
        for frame in self._scopes.frames() if self._applied else ():
            for value in look(frame).values():
                if isinstance(value, self._torch.Tensor) and self._known(value) is None:
                    with self.at_work:
                        node = grad_fn_of(value)
                    if isinstance(node, self._torch.autograd.function.BackwardCFunction):
                        self._number(value, 0)

    def _note_function(self, frame: FrameType) -> None:
        """Note where a Function of the learner's is applied; its node shows up later."""
        if any(known is frame for known, _, _, _ in self._applied):
            return
        caller = frame.f_back
        while caller is not None and not self._is_learners[caller.f_code.co_filename]:
            caller = caller.f_back
        if caller is not None:
            place, scope = self._scopes.enter(caller)
            name = look_up(frame, ("cls",))[0].__name__
            self._applied.append((frame, name, place, scope))

    def _add_function(self, tensor: Any, node: Any, scope: int) -> int:
        """Note the op of a Function of the learner's, when one of its results is first used."""
        name = node.name().removesuffix("Backward")
        op = "checkpoint" if name == "CheckpointFunction" else name
        with self.at_work:
            known = node.metadata.get(self._key)
        if known is not None:  # another result, which is held only now
            first = self._nodes[min(known.values())]
            params = {"index": tensor.output_nr}
            number = self._put(op, first["inputs"], params, tensor, (self._sources.nowhere, 0))
            entry = self._nodes[number]
            entry["text"], entry["where"], entry["scope"] = (
                first["text"],
                first["where"],
                first["scope"],
            )
            self._meet_output(tensor, node, number)
            return number
        places = [i for i, (_, known, _, _) in enumerate(self._applied) if known == name]
        place, at = (self._sources.nowhere, scope)
        if places:
            _, _, place, at = self._applied.pop(places[0])
        inputs: list[Input] = []
        for following, index in node.next_functions:
            if following is not None:
                if hasattr(following, "variable"):
                    self._watch(following)
                numbers, index = self._numbers_of(following, index)
                source = numbers.get(index, next(iter(numbers.values())))
                inputs.append({"arg": f"inputs[{len(inputs)}]", "node": source})
        self.recording.ops.setdefault(op, unknown(op, ["inputs"]))
        results = self._results_of(node)
        results[tensor.output_nr] = tensor
        for index in sorted(results):
            params = {"index": index} if len(results) > 1 or index else {}
            number = self._put(op, inputs, params, results[index], (place, at))
            name = place.parts[index] if index < len(place.parts) else ""
            if name:
                self._names[number] = name
            elif place.name is not None or place.returned:
                self._names.name_result(number, place, at)
            self._meet_output(results[index], node, number)
        with self.at_work:
            numbers = node.metadata[self._key]
            try:
                tensors = node.saved_tensors
            except RuntimeError:
                tensors = ()
            readers = [i["arg"].split("[")[0] for i in inputs][:1]
            self._nodes[min(numbers.values())]["saved"] = [
                {
                    "name": f"saved_tensors[{i}]",
                    "for": readers,
                    "bytes": extent(t)[1],
                }
                for i, t in enumerate(tensors)
                if t is not None and readers
            ]
            self._meet_edges(node)
        return int(numbers[tensor.output_nr])

    def _meet_output(self, tensor: Any, node: Any, number: int) -> None:
        entry = self._nodes[number]
        self._tensors[id(tensor)] = (weakref.ref(tensor), number)
        with self.at_work:
            entry["grad_fn"], entry["recorded"], entry["requires_grad"] = node.name(), True, True
            entry.pop("mode", None)
            numbers = node.metadata.setdefault(self._key, {})
            if numbers:
                entry["part_of"] = min(numbers.values())
            numbers[tensor.output_nr] = number

    def _results_of(self, node: Any) -> dict[int, Any]:
        """Return what the learner's variables hold of the results of a node, by their places."""
        results: dict[int, Any] = {}
        for frame in self._scopes.frames():
            for value in look(frame).values():
                for tensor in value if isinstance(value, list | tuple) else [value]:
                    with self.at_work:
                        if isinstance(tensor, self._torch.Tensor) and grad_fn_of(tensor) is node:
                            results[tensor.output_nr] = tensor
        return results
