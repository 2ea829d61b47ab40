"""Find the operation whose rule returns the first nan.

After reading this file you know how an error in backward is led back to a line of forward: each
node notes where it was made. That costs time; so it is a mode to switch on. Read next:
``core/observer.py``, by which it watches.
"""

from __future__ import annotations

import re
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from autodiff_kit.core.base import ARRAYS
from autodiff_kit.core.mode import local
from autodiff_kit.core.node import Node
from autodiff_kit.core.observer import Both, Observer
from autodiff_kit.core.op import Params
from autodiff_kit.errors import error

__all__ = ["detect_anomaly", "is_anomaly_enabled", "set_detect_anomaly"]

_KIT = str(Path(__file__).parents[1])
_HINT = re.compile(r"enable anomaly detection to find .* check_nan=False\)\.")
_SEEN = (
    "the backtrace further above shows the operation that failed to compute its gradient. The "
    "variable in question was changed in there or anywhere later. Good luck!"
)


class set_detect_anomaly:
    """Switch the mode on or off at once, in this thread; in a ``with``, put it back on exit.

    Without ``check_nan`` it only notes the places: for errors other than nan.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = before = local.mode.observer
        rest = before.rest if isinstance(before, _Watched) else before
        rest = None if isinstance(rest, _Anomaly) else rest
        if mode:
            watch = _Anomaly(check_nan)
            rest = watch if rest is None else _Watched(rest, watch)
        local.mode.observer = rest

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        local.mode.observer = self._before


class detect_anomaly(set_detect_anomaly):
    """In the ``with`` block, raise at the first nan in backward and show where it comes from.

    Examples
    --------
    >>> import warnings
    >>> import autodiff_kit as torch
    >>> x = torch.tensor(-1.0, requires_grad=True)
    >>> with warnings.catch_warnings(action="ignore"), torch.autograd.detect_anomaly():
    ...     y = x.sqrt()
    ...     y.backward()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output...
    """

    def __init__(self, check_nan: bool = True) -> None:
        self._check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging.",
            UserWarning,
            stacklevel=2,
        )

    def __enter__(self) -> None:
        super().__init__(True, self._check_nan)


def is_anomaly_enabled() -> bool:
    """Return whether the mode is on in this thread."""
    return isinstance(local.mode.observer, _Anomaly | _Watched)


class _Anomaly(Observer):
    """Notes at each node where it was made, and looks at what rules return."""

    def __init__(self, check_nan: bool) -> None:
        self._check_nan = check_nan

    def applied(
        self, op: Any, inputs: Sequence[Any], params: Params, out: Any, node: Node | None
    ) -> None:
        if node is not None:
            own = [f for f in traceback.extract_stack() if not f.filename.startswith(_KIT)]
            if own and own[-1].filename == "<string>" and own[-1].name == "<lambda>":
                own.pop()  # the way in to an op that is called for the first time
            node.metadata["traceback_"] = traceback.format_list(own)

    def visited(self, node: Node, g: Any) -> None:
        try:
            node.check_saved()
        except RuntimeError as refused:
            _tell(node)
            raise RuntimeError(_HINT.sub(_SEEN, str(refused))) from None

    def contributed(
        self, node: Node, index: int, edge: Node, before: Any, after: Any, total: Any
    ) -> None:
        array = getattr(before, "_array", before)
        if self._check_nan and isinstance(array, ARRAYS) and np.isnan(array).any():
            _tell(node)
            raise error("anomaly.nan", name=node.name(), index=index, op=node.op.text)


class _Watched(Both):
    """An observer that was there before, and the anomaly mode."""

    def __init__(self, rest: Observer, watch: _Anomaly) -> None:
        super().__init__(rest, watch)
        self.rest = rest


def _tell(node: Node) -> None:
    """Warn where a node was made."""
    text, traceback = f"Error detected in {node.name()}. ", node.metadata.get("traceback_")
    if traceback is None:
        text += "No forward pass information available. Enable detect anomaly during forward "
        text += "pass for more information."
    else:
        text += "Traceback of forward call that caused the error:\n" + "".join(traceback)
    warnings.warn(text, UserWarning, stacklevel=1)
