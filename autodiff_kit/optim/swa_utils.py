"""Averages of a model over training: stochastic weight averaging.

After reading this file you know that the mean of many good parameters is often better than the last
ones: ``AveragedModel`` keeps it, ``SWALR`` goes on at a constant rate meanwhile, and ``update_bn``
gives batch normalization the statistics that belong to it. Read next: ``lr_scheduler.py``.

Source: Izmailov et al., Averaging weights leads to wider optima and better generalization (2018).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.creation import tensor
from autodiff_kit.errors import error
from autodiff_kit.nn.batchnorm import BatchNorm1d, BatchNorm2d
from autodiff_kit.nn.module import Module
from autodiff_kit.optim.lr_scheduler import LRScheduler
from autodiff_kit.optim.optimizer import Optimizer
from autodiff_kit.outside import absent
from autodiff_kit.tensor import Tensor

__all__ = ["SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn"]
__all__ += ["get_swa_multi_avg_fn", "update_bn"]

Average = Callable[[Any, Any, Any], Any]


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """Return the function of an exponential average: ``decay`` of it is kept at each update."""
    _check_decay(decay)

    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged: Any) -> Any:
        with no_grad():
            return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Average:
    """Return the function of the mean of all updates."""

    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged: Any) -> Any:
        with no_grad():
            return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Average:
    """Return what ``get_ema_avg_fn`` does, for lists of parameters, in place."""
    _check_decay(decay)
    return _of_lists(lambda count: 1 - decay)


def get_swa_multi_avg_fn() -> Average:
    """Return what ``get_swa_avg_fn`` does, for lists of parameters, in place."""
    return _of_lists(lambda count: float(1 / (count + 1)))


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise error("optim.decay", decay=decay)


def _of_lists(weight: Callable[[Any], float]) -> Average:
    """Return a function that moves averages towards parameters by a part of the difference."""

    def update(averages: list[Tensor], parameters: list[Tensor], count: Any) -> None:
        with no_grad():
            for average, parameter in zip(averages, parameters, strict=True):
                if average.is_floating_point():
                    average.copy_(average.lerp(parameter, weight(count)))
                else:
                    average.copy_(average + (parameter - average) * weight(count))

    return update


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of the model's at each update.

    Parameters
    ----------
    model : Module
    avg_fn : callable (average, parameter, count) -> average, optional
        Default: the mean of all updates.
    multi_avg_fn : callable (averages, parameters, count), optional
        Instead of it, for lists and in place.
    use_buffers : bool
        Whether buffers are averaged as well; else they are copied.
    """

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: Average | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise error("optim.two_averages")
        self.module = copy.deepcopy(model)
        self.register_buffer("n_averaged", tensor(0, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the averaged model."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Count the parameters that ``model`` has now into the averages."""
        own: Iterable[Any] = self.module.parameters()
        others: Iterable[Any] = model.parameters()
        if self.use_buffers:
            own, others = chain(own, self.module.buffers()), chain(others, model.buffers())
        averages, values = ([t.detach() for t in tensors] for tensors in (own, others))
        if self.n_averaged == 0:
            for average, value in zip(averages, values, strict=False):
                average.copy_(value)
        elif self.avg_fn is None:
            (self.multi_avg_fn or get_swa_multi_avg_fn())(averages, values, self.n_averaged)
        else:
            for average, value in zip(averages, values, strict=True):
                average.copy_(self.avg_fn(average, value, self.n_averaged))
        if not self.use_buffers:
            for average, value in zip(self.module.buffers(), model.buffers(), strict=True):
                average.detach().copy_(value.detach())
        self.n_averaged += 1


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Give batch normalization the statistics of the data, in one pass over it.

    Of batches that are lists or tuples, the first part is the model's input.
    """
    norms = [m for m in model.modules() if isinstance(m, BatchNorm1d | BatchNorm2d)]
    if not norms:
        return
    momenta = [norm.momentum for norm in norms]
    was_training = model.training
    model.train()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # the mean over all batches
    with no_grad():
        for batch in loader:
            model(batch[0] if isinstance(batch, list | tuple) else batch)
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Bring the learning rates to ``swa_lr`` within ``anneal_epochs``, and leave them there."""

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: Any,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        groups = optimizer.param_groups
        rates = swa_lr if isinstance(swa_lr, list | tuple) else [swa_lr] * len(groups)
        if len(rates) != len(groups):
            raise error("optim.swa_rates", expected=len(groups), count=len(rates))
        for rate, group in zip(rates, groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise error("optim.anneal_strategy", strategy=anneal_strategy)
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise error("optim.anneal_epochs", epochs=anneal_epochs)
        self.anneal_epochs, self._anneal_strategy = anneal_epochs, anneal_strategy
        super().__init__(optimizer, last_epoch)

    def _part(self, step: int) -> float:
        """Return how far the rates have come after so many steps: 0 to 1."""
        part = max(0, min(1, step / max(1, self.anneal_epochs)))
        return part if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * part)) / 2

    def _next(self) -> list[float]:
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, part = self._part(step - 1), self._part(step)
        rates = []
        for group in self.optimizer.param_groups:
            lr, end = group["lr"], group["swa_lr"]
            start = end if before == 1 else (lr - before * end) / (1 - before)
            rates.append(end * part + start * (1 - part))
        return rates


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
