"""What one thread is doing: whether operations are recorded, and who watches.

After reading this file you know the two flags behind ``no_grad`` and ``inference_mode``. Read
next: ``autograd/grad_mode.py``, which sets and resets them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Context, copy_context
from typing import Any

import numpy as np

__all__ = ["NO_WARNINGS", "NUMPY_WARNINGS", "Mode", "local", "recording"]


class Mode:
    """What one thread is doing: recording or not, and who watches.

    Attributes
    ----------
    grad_enabled : bool
        Whether operations on tensors that require grad are recorded.
    inference : bool
        Whether results are inference tensors: never recorded, no version counter.
    observer : Observer or None
        Told about every step when there is one (``observer.py``).
    quietly : callable
        Calls a function so that NumPy does not warn about ``1 / 0`` or overflow: PyTorch answers
        inf or nan without a word. It costs 25 ns; ``np.errstate`` costs 1,700.
    """

    __slots__ = ("grad_enabled", "inference", "observer", "quietly")

    def __init__(self) -> None:
        self.grad_enabled = True
        self.inference = False
        self.observer: Any = None
        self.quietly = Context().run
        self.quietly(np.seterr, all="ignore")


class _Local(threading.local):
    def __init__(self) -> None:
        self.mode = Mode()


local = _Local()  # ``local.mode`` is this thread's Mode
# Where NumPy keeps what to warn about, and what it keeps there if that is nothing at all: a
# backward pass sets it itself, which takes a tenth of the time that np.errstate takes.
NUMPY_WARNINGS, NO_WARNINGS = next(iter(local.mode.quietly(copy_context).items()))


@contextmanager
def recording() -> Iterator[None]:
    """Record operations inside, in whatever mode the thread is."""
    mode = local.mode
    before = mode.grad_enabled, mode.inference
    mode.grad_enabled, mode.inference = True, False
    try:
        yield
    finally:
        mode.grad_enabled, mode.inference = before
