"""Grad modes by name: ``no_grad`` and ``enable_grad``, as context managers and as decorators.

What they set, and how it is put back, is in ``core/mode.py``; here you see why a decorated
generator must put the mode back at every ``yield``. Read next: ``more_modes.py`` for the rarer
ones.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from autodiff_kit.core.mode import Switch, local

__all__ = ["AsDecorator", "enable_grad", "is_grad_enabled", "is_inference_mode_enabled", "no_grad"]

_GENERATOR = 0x20  # inspect.CO_GENERATOR; importing inspect takes a tenth of what NumPy takes

F = TypeVar("F", bound=Callable[..., Any])


def is_grad_enabled() -> bool:
    """Return whether operations are recorded in this thread, if inference mode does not forbid."""
    return local.mode.grad_enabled is not False


def is_inference_mode_enabled() -> bool:
    """Return whether this thread is in inference mode."""
    return local.mode.inference


class AsDecorator:
    """Mixed into context managers, whose ``_fresh`` makes another one for each call."""

    _fresh: Any

    def __call__(self, function: F) -> F:
        """Return ``function`` as one that runs in this mode."""
        code = getattr(function, "__code__", None)
        if code is not None and code.co_flags & _GENERATOR:
            return self._wrap_generator(function)  # type: ignore[return-value]

        @functools.wraps(function)
        def in_mode(*args: Any, **kwargs: Any) -> Any:
            with self._fresh():
                return function(*args, **kwargs)

        return in_mode  # type: ignore[return-value]

    def _wrap_generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        # The mode holds only while the generator's own code runs: its consumer is between
        # two yields and must find the mode as it was.
        @functools.wraps(function)
        def in_mode(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            generator = function(*args, **kwargs)
            resume: Callable[[], Any] = functools.partial(next, generator)
            while True:
                try:
                    with self._fresh():
                        item = resume()
                except StopIteration as stop:
                    return stop.value
                try:
                    reply = yield item
                    resume = functools.partial(generator.send, reply)
                except GeneratorExit:
                    with self._fresh():
                        generator.close()
                    raise
                except BaseException as raised:
                    resume = functools.partial(generator.throw, raised)

        return in_mode


class _BareSwitch(AsDecorator, Switch):
    """A switch without arguments, usable as ``@no_grad`` and as ``@no_grad()``."""

    def __new__(cls, function: Any = None) -> Any:
        """Make a switch, or wrap the function that stands below ``@no_grad``."""
        return object.__new__(cls) if function is None else cls()(function)

    def _fresh(self) -> Switch:
        return type(self)()


class no_grad(_BareSwitch):
    """Do not record operations inside: no graph, no saved values, no gradient.

    Works as a context manager and as a decorator (of generator functions too). Results inside
    have ``requires_grad=False``; tensors made there with ``requires_grad=True`` keep it.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> with torch.no_grad():
    ...     y = x * 3
    >>> y.requires_grad
    False
    """

    _grad = False


class enable_grad(_BareSwitch):
    """Record operations inside, also within a surrounding ``no_grad``."""

    _grad = True
