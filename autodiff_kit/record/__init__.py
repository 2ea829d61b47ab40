"""Recording what a learner's code does with tensors, as plain data.

``with autodiff_kit.record() as rec:`` is all that most need; ``record(torch)`` watches real PyTorch
instead. Read ``recorder.py`` first.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from autodiff_kit.record import recorder
from autodiff_kit.record.recording import Recording, RecordingError

__all__ = ["Recording", "RecordingError", "record"]


def record(library: Any = None, *, limit: int = 200_000) -> Any:
    """Record everything that tensors do inside a ``with`` block.

    Parameters
    ----------
    library : module, optional
        Whose tensors: this kit's, which is meant without it, or real PyTorch's: ``record(torch)``.
    limit : int, default 200_000
        Stop recording after so many events; the run itself goes on.

    Returns
    -------
    context manager - it gives the Recording to ``as``.

    Raises
    ------
    TypeError
        If ``library`` is neither.

    Examples
    --------
    >>> import autodiff_kit as ak
    >>> x = ak.tensor(3.0, requires_grad=True)
    >>> with ak.record() as rec:
    ...     y = x * x
    >>> rec
    Recording(2 nodes: x, y = x * x)
    """
    if library is None or getattr(library, "__name__", "") == "autodiff_kit":
        return recorder.record(limit=limit)
    from autodiff_kit.record.real_torch import record_torch  # for those who have PyTorch

    return record_torch(library, limit=limit)


class _CallableModule(types.ModuleType):
    # Importing this package makes it the attribute `autodiff_kit.record`; so that
    # `autodiff_kit.record()` works all the same, calling the package calls the function.
    def __call__(self, library: Any = None, **options: Any) -> Any:
        return record(library, **options)


sys.modules[__name__].__class__ = _CallableModule
