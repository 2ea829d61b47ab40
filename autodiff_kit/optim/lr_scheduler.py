"""Learning rates that change during training.

After reading this file you know that a scheduler only writes ``lr`` into the optimizer's groups.
Read next: ``optimizer.py``.
"""

from __future__ import annotations

import warnings
from typing import Any

from autodiff_kit.errors import error
from autodiff_kit.optim.optimizer import Optimizer

__all__ = ["LRScheduler", "StepLR"]


class LRScheduler:
    """The base class: a subclass says in ``get_lr`` which rates come next.

    ``last_epoch`` is how often ``step`` was called in an earlier run, -1 if there was none.
    TypeError for what is no optimizer; KeyError if the rates at the start of that run are unknown.
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise error("optim.no_optimizer", kind=type(optimizer).__name__)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise error("optim.no_initial_lr", index=i)
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch, self._step_count = last_epoch, 0
        self._go_on()

    def get_lr(self) -> list[float]:
        """Return the rates for ``last_epoch``, one for each group."""
        raise NotImplementedError

    def get_last_lr(self) -> list[float]:
        """Return the rates that are in use, one for each group."""
        return self._last_lr

    def step(self) -> None:
        """Go on by one; to be called after ``optimizer.step()``, at the end of each epoch."""
        if self._step_count == 1 and not self.optimizer._opt_called:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch "
                "1.1.0 and later, you should call them in the opposite order: `optimizer.step()` "
                "before `lr_scheduler.step()`.  Failure to do this will result in PyTorch skipping "
                "the first value of the learning rate schedule. See more details at "
                "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate",
                UserWarning,
                stacklevel=2,
            )
        self._go_on()

    def _go_on(self) -> None:
        self.last_epoch += 1
        self._step_count += 1
        for group, lr in zip(self.optimizer.param_groups, self.get_lr(), strict=True):
            group["lr"] = lr
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Return everything but the optimizer as plain data."""
        return {name: value for name, value in vars(self).items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict`` has returned."""
        vars(self).update(state_dict)


class StepLR(LRScheduler):
    """Multiply the learning rates by gamma every ``step_size`` epochs."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the rates for ``last_epoch``, one for each group."""
        falls = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        factor = self.gamma if falls else 1
        return [group["lr"] * factor for group in self.optimizer.param_groups]
