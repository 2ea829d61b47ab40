"""Options of layers and optimizers: this makes a constructor of a list of them.

After reading this file you know where the arguments of ``ReLU(...)`` and ``SGD(...)`` come from: no
``__init__`` lists them. Read next: ``layers.py``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["REQUIRED", "reader"]

REQUIRED: Any = inspect.Parameter.empty  # stands for an option that has no default value


def reader(
    cls: Any, options: dict[str, Any], only_by_name: dict[str, Any] | None = None
) -> Callable[..., dict[str, Any]]:
    """Return a function that turns the arguments of ``cls(...)`` into a dict of all options.

    Both dicts have the default values. Python itself checks the arguments: its words then name the
    class, and the argument that is wrong.

    Examples
    --------
    >>> read = reader(type("Layer", (), {}), {"size": REQUIRED, "bias": True})
    >>> read(None, 3)
    {'size': 3, 'bias': True}
    >>> read(None)
    Traceback (most recent call last):
    TypeError: Layer.__init__() missing 1 required positional argument: 'size'
    """
    defaults = options | (only_by_name or {})
    each = [n if value is REQUIRED else f"{n}=defaults[{n!r}]" for n, value in defaults.items()]
    each[len(options) : len(options)] = ["*"] if only_by_name else []
    function = eval(f"lambda self, {', '.join(each)}: locals()", {"defaults": defaults})
    function.__qualname__ = f"{cls.__name__}.__init__"
    _, *parameters = inspect.signature(function).parameters.values()
    cls.__signature__ = inspect.Signature(parameters)  # what help() and notebooks show
    return lambda self, *args, **kwargs: {
        name: value for name, value in function(self, *args, **kwargs).items() if name != "self"
    }
