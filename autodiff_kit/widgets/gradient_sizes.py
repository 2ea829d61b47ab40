"""What is noted while a model is trained: gradients' sizes, and how far the signal comes.

After reading you know when a size is noted: by a hook, when the gradient is in ``.grad``; and what
the signal of a layer is, which another hook sees. Read next: ``training.py``, which draws both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import autodiff_kit as ak
from autodiff_kit.tensor import Tensor
from autodiff_kit.widgets.at_points import bounded
from autodiff_kit.widgets.running import Refused, name_of, ran

__all__ = ["Sizes", "TrainingRun", "measure_training"]

TRAINING_SECONDS = 60.0

Sizes = dict[str, list[float | None]]  # one for each backward pass; None where there is none


class TrainingRun(NamedTuple):
    """What was noted.

    Attributes
    ----------
    gradients : dict from str to list of (float or None)
        By the parameters' names, from the first layer to the last; all lists are of one length.
    signals : dict from str to list of (float or None)
        By the paths of the modules that have these parameters.
    value : anything
        What the training returned.
    """

    gradients: Sizes
    signals: Sizes
    value: Any


def measure_training(model: ak.nn.Module, train: Callable[[ak.nn.Module], Any]) -> TrainingRun:
    """Train a model, and note sizes at each backward pass.

    The size of a gradient is the root of the mean of the squares of its numbers, so that large and
    small layers can be compared. What counts is what stands in ``.grad``. A pass is over when a
    parameter gets its next gradient; one that got none in a pass has the size None there, and one
    that never gets any has it everywhere.

    The signal of a layer is how much its results differ from example to example: the standard
    deviation over the first dimension of its output, in the mean of all units. It is that of the
    layer's last call before the pass; None where there was no call, or one example only.

    Parameters
    ----------
    model : Module
        Has parameters; is trained, and thus changed.
    train : callable
        Called with the model; does what a training loop does.

    Returns
    -------
    TrainingRun

    Raises
    ------
    Refused
        If the training takes more than a minute, or no gradient reached any parameter.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> model = torch.nn.Linear(2, 1)
    >>> x = torch.tensor([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    >>> run = measure_training(model, lambda model: model(x).sum().backward())
    >>> run.gradients
    {'weight': [3.0], 'bias': [3.0]}
    >>> run.signals  # all three examples are the same one
    {'': [0.0]}
    """
    gradients: Sizes = {name: [] for name, _ in model.named_parameters()}
    modules = dict(model.named_modules())
    signals: Sizes = {name.rpartition(".")[0]: [] for name in gradients}
    latest: dict[str, float | None] = {}
    passes = 0

    def note_signal(path: str) -> Callable[..., None]:
        def hook(module: ak.nn.Module, args: Any, output: Any) -> None:
            latest[path] = _spread(output)

        return hook

    def note_gradient(name: str) -> Callable[[Tensor], None]:
        def hook(parameter: Tensor) -> None:
            nonlocal passes
            sizes = gradients[name]
            if len(sizes) == passes:
                passes += 1
                for path, values in signals.items():
                    values.append(latest.pop(path, None))
            sizes += [None] * (passes - 1 - len(sizes))
            size = None  # where a hook of the learner's has taken the gradient away
            if parameter.grad is not None:
                with np.errstate(all="ignore"):
                    squares = np.square(parameter.grad.numpy(), dtype="float64")
                    size = float(np.sqrt(np.mean(squares)))
            sizes.append(size)

        return hook

    hooks = [
        parameter.register_post_accumulate_grad_hook(note_gradient(name))
        for name, parameter in model.named_parameters()
        if parameter.requires_grad
    ]
    has_hooks = bool(hooks)
    hooks += [modules[path].register_forward_hook(note_signal(path)) for path in signals]
    try:
        value = ran(bounded(TRAINING_SECONDS, train, model), train)
    finally:
        for hook in hooks:
            hook.remove()
    if not passes:
        if not has_hooks:
            raise Refused(
                "No parameter of the model requires a gradient.\n"
                "-> Give a model with layers whose parameters are to be trained."
            )
        raise Refused(
            f"{name_of(train)} ran, but no gradient reached any parameter of the model.\n"
            f"-> In {name_of(train)}, call .backward() on a loss that this very model has made."
        )
    whole = {name: sizes + [None] * (passes - len(sizes)) for name, sizes in gradients.items()}
    return TrainingRun(whole, signals, value)


def _spread(output: Any) -> float | None:
    """Return how much the results for different examples differ; None if there is only one."""
    while isinstance(output, tuple | list) and output:  # as of an RNN
        output = output[0]
    if not isinstance(output, Tensor) or output.ndim < 2 or len(output) < 2:
        return None
    with np.errstate(all="ignore"):
        numbers = np.asarray(output.detach().numpy(), dtype="float64")
        return float(np.std(numbers, axis=0, ddof=1).mean())
