"""PyTorch's optimizers: what a step changes is told, what it computes is not.

After reading this file you know how a step with a closure is recorded: the closure is the
learner's, all around it is the step's own. Read next: ``torch_inside.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from types import FrameType
from typing import Any

from autodiff_kit.record.changes import settings_of
from autodiff_kit.record.guard import guarded
from autodiff_kit.record.torch_functions import TorchFunctions

__all__ = ["TorchSteps"]


class TorchSteps(TorchFunctions):
    """Notes of optimizers."""

    def __init__(self, torch: Any, limit: int, base: FrameType | None) -> None:
        super().__init__(torch, limit, base)
        self._is_inside = False  # an optimizer's step, or an initialiser
        self._versions: dict[int, int] = {}  # of parameters, by id, as they were told last

    def settle(self) -> None:
        """Look at the nodes of the ops that have just run."""
        raise NotImplementedError

    @contextmanager
    def optimizers(self) -> Iterator[None]:
        """Be told of every optimizer's step."""
        module = sys.modules["torch.optim.optimizer"]
        handles = (
            module.register_optimizer_step_pre_hook(self._steps),
            module.register_optimizer_step_post_hook(self._stepped),
        )
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def _steps(self, optimizer: Any, args: Any, kwargs: Any) -> Any:
        self.settle()
        self._is_inside = True
        groups = optimizer.param_groups
        with self._torch._C.DisableTorchFunction():
            self._versions |= {id(p): p._version for group in groups for p in group["params"]}
        own = [self._watched(x, optimizer) for x in args[1:]]  # the learner's closure
        return (*args[:1], *own), {name: self._watched(x, optimizer) for name, x in kwargs.items()}

    def _watched(self, closure: Any, optimizer: Any) -> Any:
        """Return a closure that is recorded, although the step around it is not."""
        if not callable(closure):
            return closure

        @wraps(closure)
        def watched(*args: Any, **kwargs: Any) -> Any:
            self._tell_step(optimizer)  # LBFGS has changed them already when it asks again
            self._is_inside = False
            try:
                return closure(*args, **kwargs)
            finally:
                self.settle()
                self._is_inside = True

        return watched

    def _stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self._is_inside = False
        self._tell_step(optimizer)

    @guarded
    def _tell_step(self, optimizer: Any) -> None:
        with self._torch._C.DisableTorchFunction():  # no mode is to see what is asked here
            self._tell_changed(optimizer)

    def _tell_changed(self, optimizer: Any) -> None:
        place, scope, _ = self._where()
        for group in optimizer.param_groups:
            for tensor in group["params"]:
                if tensor._version != self._versions.get(id(tensor)):
                    self._versions[id(tensor)] = tensor._version
                    how = f"{type(optimizer).__name__}.step"
                    number, settings = self._number(tensor, scope), settings_of(group)
                    self._tell_change(number, how, tensor, place, settings)
                    self._tell_windows(tensor, how, place)
