"""The size of every parameter's gradient while a model is trained.

After reading you know when a size is noted: by a hook, when the gradient is in ``.grad``. Read
next: ``training.py``, which draws the sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_kit as ak
from autodiff_kit.tensor import Tensor
from autodiff_kit.widgets.at_points import bounded
from autodiff_kit.widgets.running import Refused, name_of, ran

__all__ = ["gradient_sizes"]

TRAINING_SECONDS = 60.0


def gradient_sizes(
    model: ak.nn.Module, train: Callable[[ak.nn.Module], Any]
) -> dict[str, list[float | None]]:
    """Train a model, and note the size of every parameter's gradient after each backward pass.

    The size is the root of the mean of the squares of its numbers, so that large and small layers
    can be compared. What counts is what stands in ``.grad``. A pass is over when a parameter gets
    its next gradient; one that got none in a pass has the size None there, and one that never gets
    any has it everywhere.

    Parameters
    ----------
    model : Module
        Has parameters; is trained, and thus changed.
    train : callable
        Called with the model; does what a training loop does.

    Returns
    -------
    dict from str to list of (float or None) - by the parameters' names, from the first layer to the
    last; all lists are of one length.

    Raises
    ------
    Refused
        If the training takes more than a minute, or no gradient reached any parameter.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> model = torch.nn.Linear(2, 1)
    >>> gradient_sizes(model, lambda model: model(torch.ones(3, 2)).sum().backward())
    {'weight': [3.0], 'bias': [3.0]}
    """
    sizes: dict[str, list[float | None]] = {name: [] for name, _ in model.named_parameters()}
    passes = 0

    def note(name: str) -> Callable[[Tensor], None]:
        def hook(parameter: Tensor) -> None:
            nonlocal passes
            if len(sizes[name]) == passes:
                passes += 1
            sizes[name] += [None] * (passes - 1 - len(sizes[name]))
            size = None  # where a hook of the learner's has taken the gradient away
            if parameter.grad is not None:
                with np.errstate(all="ignore"):
                    squares = np.square(parameter.grad.numpy(), dtype="float64")
                    size = float(np.sqrt(np.mean(squares)))
            sizes[name].append(size)

        return hook

    hooks = [
        parameter.register_post_accumulate_grad_hook(note(name))
        for name, parameter in model.named_parameters()
        if parameter.requires_grad
    ]
    try:
        ran(bounded(TRAINING_SECONDS, train, model), train)
    finally:
        for hook in hooks:
            hook.remove()
    if not passes:
        if not hooks:
            raise Refused(
                "No parameter of the model requires a gradient.\n"
                "-> Give a model with layers whose parameters are to be trained."
            )
        raise Refused(
            f"{name_of(train)} ran, but no gradient reached any parameter of the model.\n"
            f"-> In {name_of(train)}, call .backward() on a loss that this very model has made."
        )
    return {name: vs + [None] * (passes - len(vs)) for name, vs in sizes.items()}
