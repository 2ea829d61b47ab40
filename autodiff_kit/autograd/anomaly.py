"""Find the operation whose rule returns the first nan.

After reading this file you know how an error in backward is led back to a line of forward: each
node notes where it was made. That costs time; so it is a mode to switch on. Read next:
``observer.py``, by which it watches.
"""

from __future__ import annotations

import re
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from autodiff_kit.autograd.grad_mode import local
from autodiff_kit.autograd.node import Node
from autodiff_kit.autograd.observer import Both, Observer
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

    Parameters
    ----------
    mode : bool
    check_nan : bool
        Raise at the first nan that a rule returns; without it, only note the places.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = local.mode.observer
        rest = _without(self._before)
        if mode:
            watch = _Anomaly(check_nan)
            local.mode.observer = watch if rest is None else _Watched(rest, watch)
        else:
            local.mode.observer = rest

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        local.mode.observer = self._before


class detect_anomaly(set_detect_anomaly):
    """In the ``with`` block, raise at the first nan in backward and show where it comes from.

    Parameters
    ----------
    check_nan : bool
        As in ``set_detect_anomaly``.

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
    return _watch_in(local.mode.observer) is not None


def is_anomaly_check_nan_enabled() -> bool:
    """Return whether the mode looks for nan."""
    watch = _watch_in(local.mode.observer)
    return True if watch is None else watch.check_nan


class _Anomaly(Observer):
    """Notes at each node where it was made, and looks at what rules return."""

    def __init__(self, check_nan: bool) -> None:
        self.check_nan = check_nan
        self._visiting: list[Node] = []  # the node whose rules are at work; [] outside of backward

    def applied(
        self, op: Any, inputs: Sequence[Any], params: dict[str, Any], out: Any, node: Node | None
    ) -> None:
        if node is not None:
            own = [f for f in traceback.extract_stack() if not f.filename.startswith(_KIT)]
            if own and own[-1].filename == "<string>" and own[-1].name == "<lambda>":
                own.pop()  # the way in to an op that is called for the first time
            node.metadata["traceback_"] = traceback.format_list(own)
            if self._visiting:  # under create_graph: what made this node is a rule of another
                node.metadata["parent_"] = self._visiting[0]

    def backward_started(self, roots: Sequence[tuple[Node, Any]]) -> None:
        self._visiting = []

    def visited(self, node: Node, g: Any) -> None:
        self._visiting = [node]
        try:
            node.check_saved()
        except RuntimeError as refused:
            self._visiting = []
            _tell(node)
            raise RuntimeError(_HINT.sub(_SEEN, str(refused))) from None

    def contributed(
        self, node: Node, index: int, edge: Node, before: Any, after: Any, total: Any
    ) -> None:
        array = getattr(before, "_array", before)
        if self.check_nan and isinstance(array, np.ndarray | np.generic) and np.isnan(array).any():
            self._visiting = []
            _tell(node)
            raise error("anomaly.nan", name=node.name(), index=index, op=node.op.text)

    def backward_finished(self) -> None:
        self._visiting = []


class _Watched(Both):
    """An observer that was there before, and the anomaly mode."""

    def __init__(self, rest: Observer, watch: _Anomaly) -> None:
        super().__init__(rest, watch)
        self.rest, self.watch = rest, watch


def _watch_in(observer: Observer | None) -> _Anomaly | None:
    watch = observer.watch if isinstance(observer, _Watched) else observer
    return watch if isinstance(watch, _Anomaly) else None


def _without(observer: Observer | None) -> Observer | None:
    if isinstance(observer, _Watched):
        return observer.rest
    return None if isinstance(observer, _Anomaly) else observer


def _tell(node: Node) -> None:
    """Warn where a node was made, and what made the node that made it."""
    text, known = f"Error detected in {node.name()}. ", node.metadata.get("traceback_")
    if known is None:
        text += "No forward pass information available. Enable detect anomaly during forward "
        text += "pass for more information."
    else:
        text += "Traceback of forward call that caused the error:\n" + "".join(known)
    warnings.warn(text, UserWarning, stacklevel=1)
    parent: Node | None = node.metadata.get("parent_")
    while parent is not None:
        text = f"\n\nPrevious calculation was induced by {parent.name()}. Traceback of forward "
        text += "call that induced the previous calculation:\n"
        text += "".join(parent.metadata.get("traceback_", ["  (not known)\n"]))
        warnings.warn(text, UserWarning, stacklevel=1)
        parent = parent.metadata.get("parent_")
