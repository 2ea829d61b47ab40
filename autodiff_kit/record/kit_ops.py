"""An op of the kit that ran before at the same place: it is noted without any question.

After reading this file you know why a round of a loop costs less than its first: what the entries
of an op at one place have in common is known, its inputs have their names, and Python need not
trace what the kit itself does. Read next: ``recorder.py``.
"""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import numpy as np

from autodiff_kit.autograd.graph import hooks_of_thread
from autodiff_kit.core.node import Node
from autodiff_kit.core.op import Op
from autodiff_kit.record import rounds
from autodiff_kit.record.drafts import Draft
from autodiff_kit.record.entries import described
from autodiff_kit.record.events import Input
from autodiff_kit.record.kit_backward import KitBackward
from autodiff_kit.record.ledger import input_of
from autodiff_kit.record.source import Place
from autodiff_kit.tensor import Tensor

__all__ = ["KitOps"]

gettrace, settrace, tracer = sys.gettrace, sys.settrace, rounds.tracer
float64, float32 = np.float64, np.float32


class KitOps(KitBackward):
    """Notes of ops."""

    def __init__(self, limit: int, base: FrameType | None) -> None:
        super().__init__(limit, base)
        self._promoted: dict[int, int] = {}
        self._packing = hooks_of_thread()  # empty, unless hooks pack what is saved
        # Made last: no name holds `torch.tensor([0, 1])` inside of a call.
        self._recent: deque[weakref.ref[Tensor]] = deque(maxlen=4)

    def runs(self, function: Callable[..., Any], *inputs: Any, **params: Any) -> Any:
        """Run an op; no code of the learner's runs in it, so it need not be traced."""
        if gettrace() is not tracer or self._packing:  # which would pack at once
            return function(*inputs, **params)
        settrace(None)
        self._below = 5  # the function, this and what has called it are the kit's, too
        try:
            return function(*inputs, **params)
        finally:
            self._below = 3
            settrace(tracer)

    def _applied_again(
        self, draft: Draft, inputs: Any, out: Tensor, node: Node, place: Place, scope: int
    ) -> bool:
        """Note an op that ran here before, if all there is to ask is which nodes are its inputs.

        It is what ``applied`` does to nearly all ops of a loop, without its questions.
        """
        numbers, names, nodes = self._numbers, self._names, self._nodes
        x = inputs[0]
        if not isinstance(x, Tensor):
            return False
        source = numbers.get(getattr(x._node, "number", -1), -1)
        name = names.get(source, "")
        if name not in place.operands or not name:
            return False
        saved = draft.saved(node) if draft.saves else 0
        value = out._array
        if value.__class__ is not float64 and value.__class__ is not float32:
            value = self._values.note(value)
        if len(inputs) == 1:
            note: Any = draft.number, scope, value, saved, None, source
        else:
            y: Any = inputs[1]
            if y.__class__ is float:
                if y - y != 0:
                    return False  # no number of JSON's
            else:
                if not isinstance(y, Tensor):
                    return False
                y = numbers.get(getattr(y._node, "number", -1), -1)
                other = names.get(y, "")
                if other not in place.operands or not other or other == name:
                    return False
            note = draft.number, scope, value, saved, None, source, y
        if scope in self._passes or scope != self._scopes.inside:
            return False
        if saved and self._packing:
            return False
        numbers[node.number] = self._last_op = number = len(nodes)
        if place.name is not None and place.scope != scope:
            place.scope, place.number, names[number] = scope, number, place.name
        elif place.name is not None or place.returned:
            names.name_result(number, place, scope)
        nodes.append(note)
        self._events.append(number)
        return True

    def _draft(self, key: Any, op: Op, node: Node | None, place: Place, count: int) -> Draft:
        """Return what all entries of an op at a place have in common."""
        text = place.text_of(op.name, is_bool=False)
        draft = place.drafts[key] = Draft(op, node, place, text, count, self._nodes)
        if op.name not in self.recording.ops:
            self.recording.ops[op.name] = described(op)
        return draft

    @staticmethod
    def _in_words(draft: Draft, sources: Sequence[Any]) -> list[Input]:
        """Return the inputs so far as an entry has them."""
        return [input_of(arg, x) for arg, x in zip(draft.args, sources, strict=False)]

    def _adopt_as_written(
        self, place: Place, inputs: Sequence[Any], scope: int, frame: FrameType | None
    ) -> None:
        """Note what is older than the recording in the order in which the learner wrote it."""
        tensors = [x for x in inputs if isinstance(x, Tensor) and self._known(x) is None]
        if len(tensors) > 1:
            for tensor in self._names.as_written(place, tensors, frame):
                self._number(tensor, scope)
