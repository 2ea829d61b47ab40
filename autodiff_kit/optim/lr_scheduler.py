"""Learning rates that change during training.

After reading this file you know that a scheduler only writes ``lr`` into the optimizer's groups.
Read next: ``optimizer.py``.
"""

from __future__ import annotations

import math
import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from importlib import import_module
from types import FunctionType
from typing import Any

from autodiff_kit.errors import error
from autodiff_kit.free_form import StateDict
from autodiff_kit.optim.optimizer import Optimizer
from autodiff_kit.outside import absent

__all__ = ["ConstantLR", "CosineAnnealingLR", "ExponentialLR", "LRScheduler", "LambdaLR"]
__all__ += ["LinearLR", "MultiStepLR", "MultiplicativeLR", "PolynomialLR", "ReduceLROnPlateau"]
__all__ += ["StepLR"]

# Loaded when first used.
_LATER = {
    **dict.fromkeys(("CosineAnnealingWarmRestarts", "CyclicLR", "OneCycleLR"), "lr_cycles"),
    **dict.fromkeys(("ChainedScheduler", "SequentialLR"), "lr_combined"),
}
__all__ += [*_LATER]


class LRScheduler:
    """The base class: a subclass says in ``get_lr`` which rates come next.

    ``last_epoch`` is how often ``step`` was called in an earlier run, -1 if there was none.
    TypeError for what is no optimizer; KeyError if the rates at the start of that run are unknown.
    The kit's own subclasses say it in ``_next``, and, where a formula gives the rates of any epoch
    at once, in ``_get_closed_form_lr``.
    """

    _get_lr_called_within_step = False
    _is_initial = False
    _get_closed_form_lr: Callable[[], list[float]] | None = None

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
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self) -> None:
        self.optimizer._expect_step()
        self._step_count, self._is_initial = 0, True
        self.step()
        self._is_initial = False

    def get_lr(self) -> list[float]:
        """Return the rates for ``last_epoch``, one for each group."""
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`.",
                UserWarning,
                stacklevel=2,
            )
        return self._next()

    def _next(self) -> list[float]:
        raise NotImplementedError

    def get_last_lr(self) -> list[float]:
        """Return the rates that are in use, one for each group."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go on by one; to be called after ``optimizer.step()``, at the end of each epoch.

        ``epoch``, which PyTorch no longer recommends, says to which one to go.
        """
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
        self._step_count += 1
        if epoch is not None:
            _warn_of_epoch()
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self._get_lr_called_within_step = True
        if epoch is None or self._get_closed_form_lr is None:
            rates = self.get_lr()
        else:
            rates = self._get_closed_form_lr()
        self._get_lr_called_within_step = False
        for group, lr in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = lr
        self._last_lr = self._rates()

    def _rates(self) -> list[float]:
        """Return the rates that stand in the groups."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> StateDict:
        """Return everything but the optimizer as plain data."""
        return {name: value for name, value in vars(self).items() if name != "optimizer"}

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Take over what ``state_dict`` has returned."""
        vars(self).update(state_dict)


def _warn_of_epoch() -> None:
    warnings.warn(
        "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
        "possible. Please use `scheduler.step()` to step the scheduler. During the deprecation, if "
        "epoch is different from None, the closed form is used instead of the new chainable form, "
        "where available. Please open an issue if you are unable to replicate your use case: "
        "https://github.com/pytorch/pytorch/issues/new/choose.",
        UserWarning,
        stacklevel=3,
    )


class StepLR(LRScheduler):
    """Multiply the learning rates by gamma every ``step_size`` epochs."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _next(self) -> list[float]:
        if self.last_epoch == 0 or self.last_epoch % self.step_size:
            return self._rates()
        return [lr * self.gamma for lr in self._rates()]

    def _get_closed_form_lr(self) -> list[float]:
        factor = self.gamma ** (self.last_epoch // self.step_size)
        return [base * factor for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Multiply the learning rates by gamma at the epochs in ``milestones``."""

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _next(self) -> list[float]:
        if self.last_epoch not in self.milestones:
            return self._rates()
        return [lr * self.gamma ** self.milestones[self.last_epoch] for lr in self._rates()]

    def _get_closed_form_lr(self) -> list[float]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Multiply the learning rates by gamma every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _next(self) -> list[float]:
        return [lr if self._is_initial else lr * self.gamma for lr in self._rates()]

    def _get_closed_form_lr(self) -> list[float]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """Multiply the learning rates by ``factor``, until epoch ``total_iters``."""

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 <= factor <= 1:
            raise error("optim.constant_factor")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _next(self) -> list[float]:
        if self.last_epoch == 0:
            return [lr * self.factor for lr in self._rates()]
        if self.last_epoch != self.total_iters:
            return self._rates()
        return [lr * (1.0 / self.factor) for lr in self._rates()]

    def _get_closed_form_lr(self) -> list[float]:
        factor = self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)
        return [base * factor for base in self.base_lrs]


class LinearLR(LRScheduler):
    """Change the factor of the learning rates evenly, from ``start_factor`` to ``end_factor``."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise error("optim.start_factor")
        if not 0 <= end_factor <= 1:
            raise error("optim.end_factor")
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _next(self) -> list[float]:
        if self.last_epoch == 0:
            return [lr * self.start_factor for lr in self._rates()]
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._rates()
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return [lr * (1.0 + rise / before) for lr in self._rates()]

    def _get_closed_form_lr(self) -> list[float]:
        rise = self.end_factor - self.start_factor
        part = rise * min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * (self.start_factor + part) for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Let the learning rates fall to 0 in ``total_iters`` epochs, along a power of what is left."""

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _next(self) -> list[float]:
        epoch, total = self.last_epoch, self.total_iters
        if self._is_initial or epoch > total:
            return self._rates()
        factor = ((1.0 - epoch / total) / (1.0 - (epoch - 1) / total)) ** self.power
        return [lr * factor for lr in self._rates()]

    def _get_closed_form_lr(self) -> list[float]:
        remaining = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * remaining**self.power for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """Let the learning rates fall to ``eta_min`` along half a cosine, in ``T_max`` epochs.

    Source: Loshchilov and Hutter, Stochastic gradient descent with warm restarts (2017).
    """

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _next(self) -> list[float]:
        epoch, low, pi = self.last_epoch, self.eta_min, math.pi
        if self._is_initial:
            return self._rates()
        if self._step_count == 1 and epoch > 0:
            part = 1 + math.cos(epoch * pi / self.T_max)
            return [low + (base - low) * part / 2 for base in self.base_lrs]
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            pairs = zip(self._rates(), self.base_lrs, strict=True)
            part = 1 - math.cos(pi / self.T_max)
            return [lr + (base - low) * part / 2 for lr, base in pairs]
        now = 1 + math.cos(pi * epoch / self.T_max)
        before = 1 + math.cos(pi * (epoch - 1) / self.T_max)
        return [now / before * (lr - low) + low for lr in self._rates()]

    def _get_closed_form_lr(self) -> list[float]:
        low, part = self.eta_min, 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        return [low + (base - low) * part / 2 for base in self.base_lrs]


class LambdaLR(LRScheduler):
    """Multiply the first learning rates by a function of the epoch, or one for each group."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        self.optimizer, count = optimizer, len(optimizer.param_groups)
        several = isinstance(lr_lambda, list | tuple)
        self.lr_lambdas = list(lr_lambda) if several else [lr_lambda] * count
        if len(self.lr_lambdas) != count:
            raise error("optim.lambdas", count=count, given=len(self.lr_lambdas))
        super().__init__(optimizer, last_epoch)

    def _next(self) -> list[float]:
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [base * function(self.last_epoch) for base, function in pairs]

    def state_dict(self) -> StateDict:
        """Return everything but the optimizer and plain functions as plain data."""
        state = super().state_dict()
        functions = state.pop("lr_lambdas")
        states = [None if isinstance(f, FunctionType) else dict(vars(f)) for f in functions]
        return {**state, "lr_lambdas": states}

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Take over what ``state_dict`` has returned; plain functions stay."""
        super().load_state_dict({**state_dict, "lr_lambdas": self.lr_lambdas})
        for function, state in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            vars(function).update(state or {})


class MultiplicativeLR(LambdaLR):
    """Multiply the learning rates by a function of the epoch, at each epoch after the first."""

    def _next(self) -> list[float]:
        if self._is_initial:
            return self._rates()
        pairs = zip(self._rates(), self.lr_lambdas, strict=True)
        return [lr * function(self.last_epoch) for lr, function in pairs]


class ReduceLROnPlateau(LRScheduler):
    """Multiply the learning rates by ``factor`` when a number has not improved for a while.

    Parameters
    ----------
    mode : {"min", "max"}
        Whether smaller or larger numbers are better.
    factor : float
    patience : int
        For how many epochs without improvement to wait.
    threshold, threshold_mode : float, {"rel", "abs"}
        By how much a number must be better: as a part of the best one, or absolutely.
    cooldown : int
        How many epochs do not count after a change.
    min_lr, eps : float or list of float, float
        Below which rates do not fall; smaller changes are not made.

    ValueError for arguments out of range.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Any = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise error("optim.plateau_factor")
        if not isinstance(optimizer, Optimizer):
            raise error("optim.no_optimizer", kind=type(optimizer).__name__)
        if mode not in ("min", "max"):
            raise error("optim.plateau_mode", what="mode", mode=mode)
        if threshold_mode not in ("rel", "abs"):
            raise error("optim.plateau_mode", what="threshold mode", mode=threshold_mode)
        self.factor, self.optimizer, count = factor, optimizer, len(optimizer.param_groups)
        are_several = isinstance(min_lr, list | tuple)
        self.default_min_lr = None if are_several else min_lr
        self.min_lrs = list(min_lr) if are_several else [min_lr] * count
        self.patience, self.cooldown, self.eps, self.last_epoch = patience, cooldown, eps, 0
        self._last_lr = self._rates()
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.best = self.mode_worse
        self.cooldown_counter = self.num_bad_epochs = 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Go on by one epoch, or to that one, at the end of which the number is ``metrics``."""
        current = float(metrics)
        if epoch is not None:
            _warn_of_epoch()
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group, least in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
                lr = max(float(group["lr"]) * self.factor, least)
                if group["lr"] - lr > self.eps:
                    group["lr"] = lr
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._rates()

    def _is_better(self, current: float) -> bool:
        if self.threshold_mode == "rel":
            if self.mode == "min":
                return current < self.best * (1.0 - self.threshold)
            return current > self.best * (self.threshold + 1.0)
        if self.mode == "min":
            return current < self.best - self.threshold
        return current > self.best + self.threshold


class _LRScheduler(LRScheduler):
    """The name that the base class had."""


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"autodiff_kit.optim.{_LATER[name]}"), name)
    raise absent(__name__, name)
