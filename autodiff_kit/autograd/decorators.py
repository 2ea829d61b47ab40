"""Modes as decorators, of generator functions too.

After reading this file you know why a decorated generator must put the mode back at every
``yield``. Read next: ``grad_mode.py``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from typing import Any, TypeVar

__all__ = ["AsDecorator"]

_GENERATOR = 0x20  # inspect.CO_GENERATOR; importing inspect takes a tenth of what NumPy takes

F = TypeVar("F", bound=Callable[..., Any])


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
                    sent = yield item
                    resume = functools.partial(generator.send, sent)
                except GeneratorExit:
                    with self._fresh():
                        generator.close()
                    raise
                except BaseException as raised:
                    resume = functools.partial(generator.throw, raised)

        return in_mode
