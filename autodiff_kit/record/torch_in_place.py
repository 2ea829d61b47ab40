"""What PyTorch's operations change in place: a tensor, and with a view its base.

After reading this file you know why ``y[0] = 5.`` is one op here and several nodes to PyTorch, and
which node a view has after its base has changed. Read next: ``torch_forward.py``.
"""

from __future__ import annotations

import weakref
from typing import Any

from autodiff_kit.record.events import Input
from autodiff_kit.record.guard import guarded
from autodiff_kit.record.source import Place
from autodiff_kit.record.torch_again import TorchAgain
from autodiff_kit.record.torch_ops import Schema, grad_fn_of, unknown
from autodiff_kit.record.values import parameter

__all__ = ["TorchInPlace"]


class TorchInPlace(TorchAgain):
    """Notes of changes in place."""

    def _change_in_place(
        self, schema: Schema, tensor: Any, number: int, at: Any, numbers: Any
    ) -> None:
        """Note that an operation has changed a tensor, and with a view its base."""
        place, scope = at
        how = schema.name[6:]
        is_call = self._call in (how, f"__i{how.rstrip('_')}__", "")
        if not is_call and not self._stays(tensor):
            return  # within a call, on what that call has made
        if self._stays(tensor):
            self._names.pop(number, None)
            number = self._number(tensor, scope)
        elif (before := numbers.get(id(tensor))) in self._names:
            self._names[number] = self._names[before]
        elif number not in self._names and (owner := self._owner_of(tensor)) is not None:
            self._names[number] = f"{self._names[owner]}.grad"
        if scope in self._passes:
            return
        self._tell_in_place(tensor, number, how, at, numbers)
        self._tell_windows(tensor, how, place)

    def _tell_in_place(self, tensor: Any, number: int, how: str, at: Any, numbers: Any) -> None:
        place, _ = at
        base = tensor._base
        if base is None or not base.requires_grad or self._stays(base):
            self._tell_change(number, how, tensor, place)
            return
        self._pending.pop()
        entry = self._nodes[number]
        saved, inputs = self._saved_inside(entry, tensor), entry["inputs"][1:]
        del self._nodes[number], self._events[-1]
        self._names.pop(number, None)
        self._write_into_view(base, tensor, numbers[id(tensor)], inputs, how, at)
        self._nodes[number]["saved"] = saved

    def _write_into_view(
        self, base: Any, view: Any, before: int, inputs: list[Input], how: str, at: Any
    ) -> None:
        """Note what to PyTorch is one node, of the base, and after it a new one of the view."""
        place, scope = at
        self.recording.ops.setdefault("copy_slices", unknown("copy_slices", ["x", "y"]))
        old = self._tensors[id(base)][1] if id(base) in self._tensors else self._number(base, scope)
        number = self._put("copy_slices", [{"arg": "x", "node": old}, *inputs], {}, base, at)
        self._become(base, old, number, how, place)
        self._become(view, before, self._pick(number, view, at), how, place)

    def _become(self, tensor: Any, before: int, number: int, how: str, place: Place) -> None:
        """Note that a tensor is the result of another op now."""
        self._look_again(before, number)
        self._tensors[id(tensor)] = (weakref.ref(tensor), number)
        self._pending.append((number, tensor, None))
        self._tell_change(number, how, tensor, place)
        self._latest[before] = self._latest[number]  # by which PyTorch knows it until it is over

    @guarded
    def set_item(self, args: Any, before: int, of_value: int | None) -> None:
        """Note that the learner has set an item of a tensor; both had these numbers before."""
        tensor, positions, value = args
        place, scope, _ = self._where()
        source: Input = {"arg": "y", "value": parameter(value)}
        if isinstance(value, self._torch.Tensor):
            number = self._number(value, scope) if of_value is None else of_value
            source = {"arg": "y", "node": number}
        inputs: list[Input] = [{"arg": "x", "node": before}, source]
        base = tensor._base
        if base is not None and base.requires_grad and not self._stays(base):
            self._write_into_view(base, tensor, before, [source], "__setitem__", (place, scope))
            self.settle()
            self._tell_windows(tensor, "__setitem__", place)
            return
        params = {"positions": self._parameter(positions)}
        number = self._put("put", inputs, params, tensor, (place, scope))
        if self._stays(tensor):
            self._tell_change(before, "__setitem__", tensor, place)
        else:
            self._become(tensor, before, number, "__setitem__", place)
            self.settle()
        self._tell_windows(tensor, "__setitem__", place)

    def _number(self, tensor: Any, scope: int) -> int:
        node = grad_fn_of(tensor)
        if node is not None and (numbers := node.metadata.get(self._key)) is not None:
            known: int | None = numbers.get(tensor.output_nr)
            if known is not None:  # as nearly always
                return known
        number = super()._number(tensor, scope)
        node, base = grad_fn_of(tensor), tensor._base
        is_new = node is not None and node.metadata.get(self._key) is None
        if not is_new or base is None or any(number == waiting for waiting, _, _ in self._pending):
            return number
        # Its base has changed: to PyTorch that makes a new node of the view, once it is looked at.
        place, scope, _ = self._where()
        again = self._pick(self._number(base, scope), tensor, (place, scope))
        self._look_again(number, again)
        self._tensors[id(tensor)] = (weakref.ref(tensor), again)
        self._meet(node, tensor.output_nr, again, None)
        return again

    def _pick(self, base: int, view: Any, at: Any) -> int:
        source: list[Input] = [{"arg": "x", "node": base}]
        return self._put("pick", source, {}, view, at)
