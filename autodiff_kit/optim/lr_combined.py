"""Schedulers made of schedulers: one after the other, or all at once.

After reading this file you know how a warm-up is put before any other schedule. Read next:
``lr_scheduler.py``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from autodiff_kit.errors import error
from autodiff_kit.free_form import StateDict
from autodiff_kit.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau
from autodiff_kit.optim.optimizer import Optimizer

__all__ = ["ChainedScheduler", "SequentialLR"]


class _Combined(LRScheduler):
    """A scheduler that leaves the rates to others, which belong to the same optimizer."""

    _schedulers: Sequence[LRScheduler]

    def _check(self, optimizer: Any) -> None:
        name = type(self).__name__
        for i, scheduler in enumerate(self._schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise error("optim.combined_type", name=name, index=i)
            if isinstance(scheduler, ReduceLROnPlateau):
                raise error("optim.combined_plateau", name=name, index=i)
            if scheduler.optimizer is not optimizer:
                kind, own = type(scheduler).__name__, type(optimizer).__name__
                its = scheduler.optimizer
                raise error(
                    "optim.combined_optimizer", name=name, kind=kind, index=i, its=its, own=own
                )

    def state_dict(self) -> StateDict:
        """Return the states of all schedulers, and its own, as plain data."""
        own = super().state_dict()
        del own["_schedulers"]
        return {**own, "_schedulers": [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Take over what ``state_dict`` has returned."""
        super().load_state_dict({**state_dict, "_schedulers": self._schedulers})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(state)


class SequentialLR(_Combined):
    """Use one scheduler after the other: from each of the ``milestones`` on, the next one.

    ValueError or TypeError if they do not fit each other, or there is not one milestone less.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        if not schedulers:
            raise error("optim.combined_none", name="SequentialLR", be="")
        self._schedulers, self._milestones = schedulers, milestones
        self._check(optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise error("optim.milestones", schedulers=len(schedulers), milestones=len(milestones))
        self.last_epoch, self.optimizer = last_epoch + 1, optimizer
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        _undo(self)
        first = self._current()
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def _current(self) -> LRScheduler:
        return self._schedulers[bisect_right(self._milestones, self.last_epoch)]

    def step(self) -> None:  # type: ignore[override]
        """Go on by one; to be called after ``optimizer.step()``, at the end of each epoch."""
        self.last_epoch += 1
        scheduler = self._current()
        if self.last_epoch in self._milestones:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Combined):
    """Use several schedulers at once: each changes the rates that the one before it has set.

    ValueError or TypeError if they do not fit each other.
    """

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        if not schedulers:
            raise error("optim.combined_none", name="ChainedScheduler", be=" to be chained")
        optimizer = optimizer or schedulers[0].optimizer
        self._schedulers, self.optimizer = schedulers, optimizer
        self._check(optimizer)
        self._last_lr = schedulers[-1]._rates()

    def step(self) -> None:  # type: ignore[override]
        """Go on by one; to be called after ``optimizer.step()``, at the end of each epoch."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._schedulers[-1]._rates()


def _undo(scheduler: LRScheduler) -> None:
    """Take back the first step, which every scheduler takes when it is made."""
    if isinstance(scheduler, _Combined):
        for inner in scheduler._schedulers:
            _undo(inner)
    else:
        scheduler.last_epoch -= 1
