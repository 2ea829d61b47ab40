"""Which of PyTorch's operations are the learner's, and which are inside of something else.

After reading this file you know that the stack of frames says it: of an optimizer's step, of a hook
that packs what a node saves, of a copy of a module, and of a Function of the learner's, what is
inside is not told; what a checkpoint runs once more is. Read next: ``torch_func.py``.
"""

from __future__ import annotations

import os
import sys
from inspect import unwrap
from types import FrameType
from typing import Any

from autodiff_kit.record.torch_ops import Schema
from autodiff_kit.record.torch_steps import TorchSteps

__all__ = ["TorchInside"]

_DRAWN = ("aten::normal_", "aten::uniform_", "aten::random_", "aten::bernoulli_")
_BATCH_NORM = "aten::native_batch_norm"
_CHECKPOINT = os.path.join("torch", "utils", "checkpoint.py")


class TorchInside(TorchSteps):
    """Notes that leave out what is inside."""

    def __init__(self, torch: Any, limit: int, base: FrameType | None) -> None:
        super().__init__(torch, limit, base)
        self._call = ""  # the name of the function that the learner has called
        self._is_direct = False  # whether the learner has called that function
        self._copy = torch.nn.Parameter.__deepcopy__.__code__

    def _is_told(self, schema: Schema) -> bool:
        """Return whether an operation is one of the learner's, and not PyTorch's bookkeeping."""
        if not schema.is_operation:
            is_detach = schema.name == "aten::detach" and self._call in ("detach", "__get__")
            is_own = is_detach and self._is_direct and not self._is_inside
            return is_own and not self.is_in_function(sys._getframe(3))
        if self._is_inside or (schema.name == "aten::clone" and self._is_copy()):
            return False
        if self._packing is not None and self._is_packing(self._packing(True)):
            return False
        frame: FrameType | None = sys._getframe(3)
        now = self._running[-1] if self._running else None
        self.is_again = False
        if self._torch.is_grad_enabled():
            # In a backward pass, too: create_graph records that.
            is_in_function, second_run = self._inside(frame)
            self._note_second_run(second_run)
            return now is None or not is_in_function
        is_hook = False
        while frame is not None and (now is None or frame is not now.frame):
            if frame.f_code is self._apply:
                self._note_function(frame)
            if frame.f_code in (self._apply, self._undo):
                return False  # what a Function of the learner's does inside is its own business
            if now is not None and _is_second_run(frame):
                self._note_second_run(frame)
                return True
            is_hook = is_hook or self._is_learners[frame.f_code.co_filename]
            if now is None and frame is self._scopes._base:
                break
            frame = frame.f_back
        return now is None or is_hook

    def _tell_written(self, schema: Schema, args: Any) -> None:
        """Note that known tensors were written to: random numbers, or means of a batch."""
        how, tensors = schema.name[6:], args[:1] if schema.name in _DRAWN else ()
        if schema.name == _BATCH_NORM and args[5]:
            how, tensors = "batch_norm", args[3:5]
        for tensor in tensors if not self._is_inside else ():
            number = None if tensor is None else self._known(tensor)
            if number is not None:
                place, _, _ = self._where()
                self._tell_change(number, how, tensor, place)
                self._tell_windows(tensor, how, place)

    def _is_copy(self) -> bool:
        """Return whether a parameter is copied, as with its module; it is told of when used."""
        frame: FrameType | None = sys._getframe(4)
        while frame is not None and not self._is_learners[frame.f_code.co_filename]:
            if frame.f_code is self._copy:
                return True
            frame = frame.f_back
        return False

    def is_in_function(self, frame: FrameType | None) -> bool:
        """Return whether a Function of the learner's is at work, whose inside is not told."""
        return self._inside(frame)[0]

    def _inside(self, frame: FrameType | None) -> tuple[bool, FrameType | None]:
        """Return that, and the frame in which a checkpoint runs its function once more."""
        now = self._running[-1] if self._running else None
        end = self._base if now is None else now.frame
        while frame is not None and frame is not end:
            if now is not None and _is_second_run(frame):
                return False, frame
            if frame.f_code in (self._apply, self._undo):
                return now is None or not now.arguments.get("create_graph"), None
            frame = frame.f_back
        return False, None

    def _note_second_run(self, frame: FrameType | None) -> None:
        """Note that an operation runs once more, in a checkpoint's second run."""
        if frame is not None:
            self.is_again = True
            # A reentrant checkpoint goes backward through its second run.
            self._is_gone_through = frame.f_code.co_name == "backward"

    def _is_packing(self, hooks: Any) -> bool:
        """Return whether the learner's own hook is at work on what a node saves."""
        # A wrapper, such as those of a checkpoint's hooks, shares its code with others.
        code = getattr(unwrap(hooks[0]), "__code__", None) if hooks else None
        frame: FrameType | None = sys._getframe(4)
        while code is not None and frame is not None and frame is not self._base:
            if frame.f_code is code:
                return True
            frame = frame.f_back
        return False


def _is_second_run(frame: FrameType) -> bool:
    """Return whether a checkpoint runs its function once more here, in a backward pass."""
    return frame.f_code.co_filename.endswith(_CHECKPOINT)
