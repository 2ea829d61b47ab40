"""What ``torch.func`` does, as far as it can be seen: the operations of the learner's function.

After reading this file you know why a recording of real PyTorch tells what your function computes
inside of ``grad``, ``vmap`` or ``jvp``, but not how the transform goes backward, or carries a
tangent along: PyTorch shows both as operations on plain tensors, under the name of the call that
runs. Of a call of the learner's, what its result is made of is told; and what a transform returns
is told as its result. Read next: ``torch_again.py``.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

from autodiff_kit.record.guard import guarded
from autodiff_kit.record.inner import function_of
from autodiff_kit.record.source import Place
from autodiff_kit.record.torch_inside import TorchInside
from autodiff_kit.record.torch_ops import Schema, grad_fn_of, schema_of, tensors_in
from autodiff_kit.record.torch_values import array_of, unwrapped

__all__ = ["Held", "TorchTransforms"]

_TRANSFORMS = os.path.join("torch", "_functorch", "")
_CONVERSIONS = ("aten::_to_copy", "aten::to")


class Held(NamedTuple):
    """An operation inside of a transform; its call, which is still running, may not need it."""

    schema: Schema
    args: Any
    kwargs: Any
    outs: list[Any]
    out: Any


class TorchTransforms(TorchInside):
    """Notes of transforms."""

    def __init__(self, torch: Any, limit: int, base: FrameType | None) -> None:
        super().__init__(torch, limit, base)
        self._functorch = torch._C._functorch
        self._is_transforms_own = False  # whether a call of the transform's own code runs
        self._calls_inside: list[Held] | None = None  # of the call that runs inside of a transform
        self._transform_scope = 0  # in which the latest transform was called
        # What a transform has computed, by id: it may turn out to be its result.
        self._computed: dict[int, tuple[weakref.ref[Any], Place]] = {}

    def _note_op(
        self, schema: Schema, args: Any, kwargs: Any, out: Any, *, is_new: bool = True
    ) -> None:
        """Note an operation that has run."""
        raise NotImplementedError

    @property
    def is_aside(self) -> bool:
        """Whether what runs is in an optimizer's step, or an initialiser, and is not told."""
        if not self._is_inside:
            return False
        return self._calls_inside is None and not (self._running or self._is_transforms_own)

    @guarded
    def ran_aside(self, func: Any, args: Any, out: Any) -> None:
        """Note the memory of what an operation of a step has made."""
        if not args or out is not args[0]:
            kind = self._torch.Tensor
            outs = [out] if isinstance(out, kind) else tensors_in((out,), kind)
            self._note_memory(schema_of(func), tensors_in(args, kind), outs)

    @contextmanager
    def inside_transform(self) -> Iterator[None]:
        """Be inside of a transform's own code, such as its backward pass."""
        before, self._is_transforms_own = self._is_transforms_own, True
        try:
            yield
        finally:
            self._is_transforms_own = before

    def _is_of_transform(self, frame: FrameType | None) -> bool:
        """Return whether a transform's own code is at work, and none of the learner's in it."""
        while frame is not None and not self._is_learners[frame.f_code.co_filename]:
            if _is_transforms(frame):
                return True
            frame = frame.f_back
        return False

    def _enter_transform(self, frame: FrameType | None, direct: bool) -> tuple[bool, Any]:
        """Note in which transform a call runs; return what was so before."""
        before = self._is_transforms_own, self._calls_inside
        is_active = self._functorch.peek_interpreter_stack() is not None
        if self._computed and direct and not is_active:
            self._meet_results()
        self._is_transforms_own = not direct and self._is_of_transform(frame)
        self._calls_inside = [] if is_active and not self._is_transforms_own else None
        return before

    def _is_hidden(self, args: Any) -> bool:
        """Return whether an operation is a transform's own, and in no graph around that."""
        operands = tensors_in(args, self._torch.Tensor) if self._is_transforms_own else ()
        return self._is_transforms_own and not any(x.requires_grad for x in operands)

    def _hold_back(self, one: Held, *, is_told: bool) -> None:
        """Note an operation inside of a transform, until the call that runs is over."""
        if self._calls_inside is not None and is_told:
            self._calls_inside.append(one)
            return
        if self._is_transforms_own:
            _, self._transform_scope, _ = self._where()  # what it has called is over
        if one.schema.name == "aten::alias":
            # A transform goes on with another object for a tensor of the learner's.
            number = self._known(one.args[0])
            if number is not None:
                self._tensors[id(one.out)] = weakref.ref(one.out), number
        elif self._is_transforms_own and one.schema.is_operation:
            self._note_computed(one.outs)

    def _leave_transform(self, before: tuple[bool, Any], out: Any) -> None:
        calls = self._calls_inside
        self._is_transforms_own, self._calls_inside = before
        if calls:
            self._tell_held(calls, out)

    @guarded
    def _tell_held(self, calls: list[Held], out: Any) -> None:
        """Tell the operations that the result of a call inside of a transform is made of."""
        kind = self._torch.Tensor
        makers = {id(result): i for i, one in enumerate(calls) for result in one.outs}
        results = [unwrapped(t) for t in tensors_in((out,), kind)]
        todo = [makers[id(result)] for result in results if id(result) in makers]
        relevant: set[int] = set()
        while todo:
            last = todo.pop()
            if last not in relevant:
                relevant.add(last)
                operands = tensors_in(calls[last].args, kind)
                todo += [i for x in operands if (i := makers.get(id(x), last)) < last]
        numbers: dict[int, Any] = {}  # tensors that PyTorch has made of a number
        start = len(self._nodes)
        for i, one in enumerate(calls):
            if i not in relevant:
                self._note_computed(one.outs)
            elif one.schema.name in _CONVERSIONS and self._is_number(one.args[0]):
                array = array_of(one.out)
                if array is not None:
                    numbers[id(one.out)] = array.item()
            else:
                args = tuple(numbers.get(id(x), x) for x in one.args)
                self._note_op(one.schema, args, one.kwargs, one.out)
        caller = self._caller_of_transform()
        for node in self._nodes[start:]:
            if caller is not None and node["kind"] == "op":
                node["transform"] = self._called_at(self._sources.place(caller))

    def _is_number(self, tensor: Any) -> bool:
        if not isinstance(tensor, self._torch.Tensor):
            return True
        return not tensor.ndim and self._known(tensor) is None and not self._names.is_held(tensor)

    def _caller_of_transform(self) -> FrameType | None:
        """Return the learner's frame that calls the transform in which code runs."""
        frame: FrameType | None = sys._getframe(1)
        is_inside = False
        while frame is not None:
            if is_inside and self._is_learners[frame.f_code.co_filename]:
                return frame
            is_inside = is_inside or _is_transforms(frame)
            frame = frame.f_back
        return None

    def _called_at(self, place: Place) -> str:
        """Return what is called at a place: ``torch.func.grad(f)``."""
        return function_of(place.text) or place.text

    def _note_computed(self, outs: list[Any]) -> None:
        """Note what a transform has computed for itself, or as its result."""
        caller = self._caller_of_transform()
        if caller is None:
            return
        place = self._sources.place(caller)
        for out in outs:
            self._computed[id(out)] = weakref.ref(out), place

    @guarded
    def _meet_results(self) -> None:
        """Note what transforms have returned, and the learner's variables hold."""
        computed, self._computed = self._computed, {}
        for reference, place in computed.values():
            tensor = reference()
            if tensor is None or self._known(tensor) is not None or grad_fn_of(tensor) is not None:
                continue
            if name := self._names.held_as(tensor) or self._names.item_as(tensor):
                number = self._add_leaf(tensor, self._transform_scope, place)
                self._nodes[number]["part"] = f"result of {self._called_at(place)}"
                self._names[number] = name


def _is_transforms(frame: FrameType) -> bool:
    """Return whether a frame runs code of a transform; ``functional_call`` is none."""
    file = frame.f_code.co_filename
    return _TRANSFORMS in file and not file.endswith("functional_call.py")
