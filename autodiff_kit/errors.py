"""The kit's way of raising errors: PyTorch's words first, then one line that teaches.

After reading this file you can raise an error that a learner can act on. The first line is what
PyTorch 2.13.0 says in the same case, so that what is searched for on the web is found; the line
after it says what to do. Read next: ``dtypes.py``.
"""

from __future__ import annotations

import warnings

__all__ = ["absent", "teach", "warn_of_scalar"]


def teach(message: str, advice: str) -> str:
    """Join PyTorch's message and the kit's advice.

    Parameters
    ----------
    message : str
        PyTorch's words for this case.
    advice : str
        What the learner can do about it, in one or two sentences.

    Returns
    -------
    str

    Examples
    --------
    >>> print(teach("len() of a 0-d tensor", "Use x.item() to get its number."))
    len() of a 0-d tensor
    -> Use x.item() to get its number.
    """
    return f"{message}\n-> {advice}"


def absent(module: str, name: str) -> AttributeError:
    """Return the error for a name that a module of the kit does not have.

    Parameters
    ----------
    module : str
        For example ``"autodiff_kit.autograd"``.
    name : str
    """
    theirs = module.replace("autodiff_kit", "torch", 1)
    return AttributeError(
        teach(
            f"module '{module}' has no attribute '{name}'",
            f"If PyTorch has {theirs}.{name}: it is not part of the kit; PyTorch has it.",
        )
    )


def warn_of_scalar(stacklevel: int) -> None:
    """Warn, in PyTorch's words, that a number has left the graph."""
    warnings.warn(
        "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
        "Consider using tensor.detach() first.",
        UserWarning,
        stacklevel,
    )
