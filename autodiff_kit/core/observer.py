"""The one place where the core can be watched.

After reading this file you know what the recorder gets to see. The core asks ``is not None`` at
these places and does nothing else for an observer: there is no second engine and nothing is
patched. Read next: ``record/recorder.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from autodiff_kit.core.mode import local
from autodiff_kit.core.node import AccumulateGrad, Node
from autodiff_kit.core.op import Op, Params
from autodiff_kit.core.setting import Setting
from autodiff_kit.free_form import Group

__all__ = ["Both", "Observer", "installed"]


class Observer:
    """Base class of those who watch; every method does nothing.

    Gradients arrive as the engine has them: raw NumPy values, or Tensors under
    ``create_graph=True``. Nodes are told apart by ``node.number``, never by ``id()``: a node that
    was dropped leaves its address to the next one.
    """

    def created(self, tensor: Any) -> None:
        """Note that a factory (``tensor``, ``zeros``, ``randn`` ...) has made a tensor."""

    def runs(self, function: Callable[..., Any], *inputs: Any, **params: Any) -> Any:
        """Run ``function``, which applies an op and then tells all observers of it."""
        return function(*inputs, **params)

    def carries(self, function: Callable[..., Any], *arguments: Any, **switches: Any) -> Any:
        """Run ``function``, which carries gradients back from the roots ``arguments[0]``."""
        return function(*arguments, **switches)

    def applied(
        self, op: Op, inputs: Sequence[Any], params: Params, out: Any, node: Node | None
    ) -> None:
        """Note that an op ran; ``node`` is None when it was not recorded."""

    def copied(self, tensor: Any, copy: Any) -> None:
        """Note that ``copy`` stands for what ``tensor`` was before it is changed in place."""

    def modified(self, tensor: Any, how: str) -> None:
        """Note that a tensor was changed in place by the op named ``how``."""

    def stepped(self, tensor: Any, how: str, group: Group) -> None:
        """Note that an optimizer has changed a parameter; ``group`` has the learning rate."""
        self.modified(tensor, how)

    def statistics_moved(self, tensor: Any, how: str) -> None:
        """Note that ``how`` has moved running statistics, or their count: no op of its own did."""

    def withdrawn(self, out: Any) -> None:
        """Note that ``out``, just computed to change a tensor in place, is refused and dropped."""

    def has_enough(self) -> None:
        """Note that a checkpoint's second run ends: what the op now at work has saved was missing.

        PyTorch ends it before that op computes anything, unless it saves its own result.
        """

    def requirement_set(self, tensor: Any, requires_grad: bool) -> None:
        """Note that a leaf begins to require grad, or ceases to (``requires_grad_``)."""

    def grad_set(self, tensor: Any, grad: Any) -> None:
        """Note that ``tensor.grad`` becomes ``grad``, or None, by no backward pass."""

    def detached(self, tensor: Any, out: Any) -> None:
        """Note that ``out`` is ``tensor`` without its history (``detach``, ``data``).

        It is ``tensor`` itself that ``detach_`` is about to cut out of the graph.
        """

    def returned(self, out: Any, array: Any) -> None:
        """Note a further result, such as indices, of the op that has just made ``out``."""

    def left(self, tensor: Any, how: str) -> None:
        """Note that Python or NumPy asked for the values themselves, for example by ``item()``."""

    def branched(self, tensor: Any, taken: bool) -> None:
        """Note that Python asked for a tensor's truth value (``if``, ``while``, ``and`` ...)."""

    def backward_started(self, roots: Sequence[tuple[Node, Any]]) -> None:
        """Note the nodes from which a backward pass starts, each with its gradient."""

    def visited(self, node: Node, g: Any) -> None:
        """Note that a node's cotangent ``g`` is complete and its rules come next."""

    def contributed(
        self, node: Node, index: int, edge: Node, before: Any, after: Any, total: Any
    ) -> None:
        """Note that rule ``index`` of ``node`` sent a contribution to ``edge``.

        ``before`` is what the rule returned, ``after`` the same with broadcasting undone, and
        ``total`` is what waits at ``edge`` now.
        """

    def accumulated(self, node: AccumulateGrad, tensor: Any, g: Any, grad: Any) -> None:
        """Note that ``g`` was added to a leaf's ``.grad``, which is ``grad`` now."""

    def released(self, node: Node) -> None:
        """Note that a node has dropped its saved values."""

    def unpacking(self, packed: Any) -> Observer | None:
        """Note that a saved value is needed; return who watches while it is made again."""
        return None

    def gradients_returned(self, inputs: Sequence[Any], gradients: Sequence[Any]) -> None:
        """Note what ``autograd.grad`` returns, for each of its inputs."""

    def backward_finished(self) -> None:
        """Note that the backward pass is over."""


def installed(observer: Observer | None) -> Setting:
    """Let ``observer`` watch this thread in a ``with`` block; the one before comes back then."""
    return Setting(local.mode, "observer", observer)


class Both(Observer):
    """Tells two observers everything, the first one first."""

    def __init__(self, first: Observer, second: Observer) -> None:
        for name in vars(Observer):
            if not name.startswith("_") and name not in ("runs", "carries"):
                setattr(self, name, _in_turn(getattr(first, name), getattr(second, name)))
        self._first, self._second = first, second
        self.unpacking = lambda packed: _both(first.unpacking(packed), second.unpacking(packed))  # type: ignore[method-assign]

    def runs(self, function: Callable[..., Any], *inputs: Any, **params: Any) -> Any:
        """Let the first one run it by way of the second."""
        return self._first.runs(self._second.runs, function, *inputs, **params)

    def carries(self, function: Callable[..., Any], *arguments: Any, **switches: Any) -> Any:
        """Let the first one run it by way of the second."""
        return self._first.carries(partial(self._second.carries, function), *arguments, **switches)


def _both(first: Observer | None, second: Observer | None) -> Observer | None:
    return (first or second) if first is None or second is None else Both(first, second)


def _in_turn(first: Callable[..., None], second: Callable[..., None]) -> Callable[..., None]:
    def tell(*what: Any) -> None:
        first(*what)
        second(*what)

    return tell
