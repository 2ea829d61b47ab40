"""Memory for time: save nothing in forward, and compute it once more in backward.

After reading this file you know all of activation checkpointing: packing (``autograd/graph.py``)
that throws the tensor away, and unpacking that runs the function again. Read next:
``autograd/function.py``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

from autodiff_kit.autograd.grad_mode import enable_grad
from autodiff_kit.autograd.graph import saved_tensors_hooks
from autodiff_kit.core.base import next_number
from autodiff_kit.core.messages import saved_changed
from autodiff_kit.core.mode import local
from autodiff_kit.core.versions import changes_of
from autodiff_kit.errors import error
from autodiff_kit.free_form import Keywords
from autodiff_kit.outside import absent
from autodiff_kit.random import default_generator
from autodiff_kit.tensor import Tensor
from autodiff_kit.views import latest_node, seems_leaf

__all__ = ["CheckpointError", "checkpoint", "checkpoint_sequential"]


class CheckpointError(RuntimeError):
    """The function did something else when it ran again."""


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """Call ``function(*args, **kwargs)`` without keeping what its operations save for backward.

    Parameters
    ----------
    function : callable
        Must compute the same when it is called again.
    use_reentrant : bool
        False: the way that PyTorch recommends, and the kit's only one.

    preserve_rng_state : bool
        Whether random numbers are the same when it is called again.

    Returns
    -------
    What ``function`` returns.

    Raises
    ------
    CheckpointError
        In backward, if the second run saves something else.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> checkpoint(lambda x: x.exp() * x, x, use_reentrant=False).sum().backward()
    >>> x.grad
    tensor([ 5.4366, 22.1672])

    Source: Griewank and Walther, Algorithm 799: Revolve (2000).
    """
    if use_reentrant:
        raise error("graph.reentrant")
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. "
            "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an "
            "exception. use_reentrant=False is recommended, but if you need to preserve the "
            "current default behavior, you can pass use_reentrant=True. Refer to docs for more "
            "details on the differences between the two variants.",
            UserWarning,
            stacklevel=2,
        )
    if not local.mode.grad_enabled:
        return function(*args, **kwargs)
    run = SecondRun(function, args, kwargs, preserve_rng_state)
    with saved_tensors_hooks(run.pack, run.unpack):
        return function(*args, **kwargs)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Call functions one after the other, in segments whose saved tensors are computed again.

    ``functions`` is a Sequential or a list; the last segment saves its tensors as usual.
    """
    steps = list(functions)
    length = len(steps) // segments

    def run(part: list[Callable[[Any], Any]], x: Any) -> Any:
        for step in part:
            x = step(x)
        return x

    for start in range(0, length * (segments - 1), length):
        part = partial(run, steps[start : start + length])
        input = checkpoint(part, input, use_reentrant=use_reentrant, **kwargs)
    return run(steps[length * (segments - 1) :], input)


class _Enough(BaseException):
    """Ends the second run as soon as everything is there."""


class SecondRun:
    """The second run of a function, and what is left of it; ``record/memory.py`` looks at it.

    Attributes
    ----------
    arguments : list of Tensor
        What the function is given again, and is kept for that.
    computed : dict from int to Tensor
        What was computed again and backward has not asked for yet, by its place in the order.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: Keywords,
        preserves_state: bool,
    ) -> None:
        self._call = partial(function, *args, **kwargs)
        self._number = next_number()
        self._arguments = [x for x in args if isinstance(x, Tensor)]  # PyTorch saves no keywords
        if any(x.is_inference() for x in self._arguments):
            raise error("autograd.inference_saved")
        self._had_history = [not seems_leaf(x) for x in self._arguments]
        self._state = deepcopy(vars(default_generator)) if preserves_state else {}
        self._forms: list[tuple[Any, Any]] = []  # shape and dtype of what forward would have saved
        self.arguments = [x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
        self.computed: dict[int, Tensor] = {}

    def pack(self, tensor: Tensor) -> int:
        """Note a tensor's form; return its place in the order."""
        self._forms.append((tensor.shape, tensor.dtype))
        return len(self._forms) - 1

    def unpack(self, place: int) -> Tensor:
        """Return the tensor, which another run has to compute if it is not there."""
        if place not in self.computed:
            self.computed = dict(enumerate(self._saved_again()))
        return self.computed.pop(place)

    def _check_arguments(self) -> None:
        for x, had_history in zip(self._arguments, self._had_history, strict=True):
            if had_history and latest_node(x) is None:
                raise error("autograd.saved_detached", node="checkpoint", op="an argument")
            changes = changes_of(x._array)
            if changes and changes[-1] > self._number:
                origin, saved = changes.node_name, "an argument"
                raise saved_changed(x._array, changes, self._number, origin, "checkpoint", saved)

    def _saved_again(self) -> list[Tensor]:
        self._check_arguments()
        saved: list[Tensor] = []

        def keep(tensor: Tensor) -> None:
            saved.append(tensor.detach())
            if len(saved) == len(self._forms):
                raise _Enough

        after = dict(vars(default_generator))
        vars(default_generator).update(deepcopy(self._state))
        try:
            with enable_grad(), saved_tensors_hooks(keep, _never):
                self._call()
        except _Enough:
            if local.mode.observer is not None:
                local.mode.observer.has_enough()
        finally:
            vars(default_generator).update(after)
        if len(saved) != len(self._forms):
            count = len(self._forms), len(saved)
            exception = error("graph.other_count", before=count[0], again=count[1])
            raise CheckpointError(str(exception))
        for place, (form, tensor) in enumerate(zip(self._forms, saved, strict=True)):
            again = tensor.shape, tensor.dtype
            if form != again:
                exception = error("graph.other_form", place=place, before=form, again=again)
                raise CheckpointError(str(exception))
        return saved


def _never(packed: None) -> Tensor:
    raise AssertionError("the graph of the second run is not used")


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
