"""Learning rates that rise and fall: cycles, one cycle, and restarts.

After reading this file you know which schedules change the momentum along with the learning rate:
it falls while the rate rises. Read next: ``lr_scheduler.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

from autodiff_kit.errors import error
from autodiff_kit.free_form import StateDict
from autodiff_kit.optim.lr_scheduler import LRScheduler
from autodiff_kit.optim.optimizer import Group, Optimizer

__all__ = ["CosineAnnealingWarmRestarts", "CyclicLR", "OneCycleLR"]


# When a phase of a cycle ends, and between which entries of the groups it goes.
_PHASE = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")


class _WithMomentum(LRScheduler):
    """A scheduler that may change the momentum, too: ``betas[0]`` where that is its name."""

    def _begin_momentum(self, base: Any, most: Any, last_epoch: int) -> tuple[Any, Any]:
        """Set what the groups begin with; return the least and the greatest of each."""
        defaults = self.optimizer.defaults
        if "momentum" not in defaults and "betas" not in defaults:
            raise error("optim.cycle_momentum")
        self.use_beta1 = "betas" in defaults
        each = _for_groups("base_momentum", self.optimizer, base)
        tops = _for_groups("max_momentum", self.optimizer, most)
        if last_epoch == -1:
            for group, least, top in zip(self.optimizer.param_groups, each, tops, strict=True):
                self._set_momentum(group, top)
                group["max_momentum"], group["base_momentum"] = top, least
        return each, tops

    def _set_momentum(self, group: Group, momentum: float) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class CyclicLR(_WithMomentum):
    """Let the learning rates go from ``base_lr`` to ``max_lr`` and back, again and again.

    ``mode`` says how the height of the cycles changes: "triangular" keeps it, "triangular2" halves
    it, "exp_range" multiplies it by gamma at each step; or ``scale_fn`` says it, for the number of
    the cycle or, with ``scale_mode="iterations"``, of the step.

    Source: Smith, Cyclical learning rates for training neural networks (2017).
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.8,
        max_momentum: Any = 0.9,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise error("optim.no_optimizer", kind=type(optimizer).__name__)
        self.optimizer = optimizer
        base_lrs = _for_groups("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups, strict=True):
                group["lr"] = lr
        self.max_lrs = _for_groups("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise error("optim.cycle_mode")
        self.mode, self.gamma = mode, gamma
        self._scale_fn_custom: Any = scale_fn
        if scale_fn is None:
            scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.scale_mode, self.cycle_momentum = scale_mode, cycle_momentum
        if cycle_momentum:
            momentums = self._begin_momentum(base_momentum, max_momentum, last_epoch)
            self.base_momentums, self.max_momentums = momentums
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """Return by what the height of the cycles is multiplied."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        return 1 / 2.0 ** (x - 1) if self.mode == "triangular2" else self.gamma**x

    def _next(self) -> list[float]:
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        is_rising = x <= self.step_ratio
        height = x / self.step_ratio if is_rising else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            groups = zip(
                self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True
            )
            for group, least, top in groups:
                self._set_momentum(group, top - (top - least) * height * scale)
        pairs = zip(self.base_lrs, self.max_lrs, strict=True)
        return [base + (top - base) * height * scale for base, top in pairs]

    def state_dict(self) -> StateDict:
        """Return everything but the optimizer and a plain function as plain data."""
        state = super().state_dict()
        function = state.pop("_scale_fn_custom")  # comes last
        is_plain = function is None or isinstance(function, FunctionType)
        return {**state, "_scale_fn_custom": None if is_plain else dict(vars(function))}

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Take over what ``state_dict`` has returned; a plain function stays."""
        function = self._scale_fn_custom
        super().load_state_dict({**state_dict, "_scale_fn_custom": function})
        if state_dict["_scale_fn_custom"]:
            vars(function).update(state_dict["_scale_fn_custom"])


class OneCycleLR(_WithMomentum):
    """Let the learning rates rise to ``max_lr``, and fall to far below where they have begun.

    They begin at ``max_lr / div_factor``, rise for the part ``pct_start`` of all steps, and fall to
    that, divided by ``final_div_factor``; with ``three_phase``, first as fast as they have risen.
    To be stepped after every batch: ``total_steps`` times, or ``epochs * steps_per_epoch``.

    Source: Smith and Topin, Super-convergence (2018).
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: Any,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.85,
        max_momentum: Any = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise error("optim.no_optimizer", kind=type(optimizer).__name__)
        self.optimizer = optimizer
        if total_steps is not None:
            self.total_steps = _positive("total_steps", total_steps)
        elif epochs is not None and steps_per_epoch is not None:
            self.total_steps = _positive("epochs", epochs)
            self.total_steps *= _positive("steps_per_epoch", steps_per_epoch)
        else:
            raise error("optim.cycle_steps")
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise error("optim.cycle_pct", pct=pct_start)
        if anneal_strategy not in ("cos", "linear"):
            raise error("optim.cycle_anneal", strategy=anneal_strategy)
        rise = ("initial_lr", "max_lr", "max_momentum", "base_momentum")
        fall = ("max_lr", "initial_lr", "base_momentum", "max_momentum")
        rest = ("initial_lr", "min_lr", "max_momentum", "max_momentum")
        steps, last = pct_start * self.total_steps, self.total_steps - 1
        phases: list[tuple[float, tuple[str, ...]]]
        if three_phase:
            phases = [(steps - 1, rise), (2 * steps - 2, fall), (last, rest)]
        else:
            phases = [(steps - 1, rise), (last, (fall[0], "min_lr", *fall[2:]))]
        self._schedule_phases: list[StateDict] = [
            dict(zip(_PHASE, (end, *names), strict=True)) for end, names in phases
        ]
        self._anneal_func_type = anneal_strategy
        tops = _for_groups("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for top, group in zip(tops, optimizer.param_groups, strict=True):
                group["initial_lr"], group["max_lr"] = top / div_factor, top
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._begin_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def _between(self, start: float, end: float, part: float) -> float:
        if self._anneal_func_type == "linear":
            return (end - start) * part + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)

    def _next(self) -> list[float]:
        step, phases = self.last_epoch, self._schedule_phases
        if step > self.total_steps:
            raise error("optim.cycle_over", step=step, total=self.total_steps)
        ends = [phase["end_step"] for phase in phases]
        number = next((i for i, end in enumerate(ends) if step <= end), len(phases) - 1)
        start = ends[number - 1] if number else 0.0
        end, lr, next_lr, momentum, next_momentum = (phases[number][name] for name in _PHASE)
        part, groups = (step - start) / (end - start), self.optimizer.param_groups
        if self.cycle_momentum:
            for group in groups:
                now = self._between(group[momentum], group[next_momentum], part)
                self._set_momentum(group, now)
        return [self._between(group[lr], group[next_lr], part) for group in groups]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Let the learning rates fall to ``eta_min`` along half a cosine, then start from the top.

    The first fall takes ``T_0`` epochs, each further one ``T_mult`` times as long. ``step`` may be
    given the epoch, also with a fraction, to be called after every batch.

    Source: Loshchilov and Hutter, Stochastic gradient descent with warm restarts (2017).
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(T_0, int) or T_0 <= 0:
            raise error("optim.restart_first", value=T_0)
        if not isinstance(T_mult, int) or T_mult < 1:
            raise error("optim.restart_factor", value=T_mult)
        if not isinstance(eta_min, float | int):
            raise error("optim.restart_least", value=eta_min, kind=type(eta_min))
        self.T_0 = self.T_i = T_0
        self.T_mult, self.eta_min = T_mult, eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def _next(self) -> list[float]:
        low, part = self.eta_min, 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [low + (base - low) * part / 2 for base in self.base_lrs]

    def step(self, epoch: Any = None) -> None:
        """Go on by one epoch, or to ``epoch``."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        elif epoch < 0:
            raise error("optim.restart_epoch", epoch=epoch)
        elif epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            grown = epoch / self.T_0 * (self.T_mult - 1) + 1
            factor = self.T_mult ** int(math.log(grown, self.T_mult))
            self.T_cur = epoch - self.T_0 * (factor - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * factor
        self._update_lr(math.floor(epoch))


def _for_groups(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """Return one value for each group of parameters."""
    count = len(optimizer.param_groups)
    if not isinstance(value, list | tuple):
        return [value] * count
    if len(value) != count:
        raise error("optim.group_values", name=name, given=len(value), count=count)
    return list(value)


def _positive(name: str, value: Any) -> int:
    if value <= 0 or not isinstance(value, int):
        raise error("optim.cycle_positive", name=name, value=value)
    return value
