"""The nodes of views: where no gradient flows, and where one flows around what was overwritten.

After reading this file you know what stands in the graph when a tensor is changed through a view
of it, or when a view has no history of its own. Read next: ``views.py``, which makes them.
"""

from __future__ import annotations

import weakref
from typing import Any

from autodiff_kit.core.base import INFERENCE, last_change, next_number
from autodiff_kit.core.mode import local
from autodiff_kit.core.node import AccumulateGrad, Node
from autodiff_kit.core.node_hooks import registered
from autodiff_kit.core.op import ACCUMULATE
from autodiff_kit.core.shown import as_grad_fn
from autodiff_kit.dtypes import tensor_type
from autodiff_kit.errors import error

__all__ = ["DEFAULT", "DETACHED", "FUNCTION", "INFERENCE_MODE", "NO_GRAD", "SEVERAL", "Converted"]
__all__ += ["ChangeOfView", "CopySlices", "Nowhere", "note_view"]

# How a view was made: what it may be used for when it, or its base, is changed in place.
DEFAULT, NO_GRAD, INFERENCE_MODE = "default", "no_grad", "inference"
SEVERAL, FUNCTION = "several", "function"  # one of several outputs; by a Function of the learner's
DETACHED = "detached"  # no view: from an inference tensor, outside of inference mode


class Nowhere(AccumulateGrad):
    """The end of an edge at a view without a history of its own, whose base requires grad.

    PyTorch says of such a view, made in ``no_grad`` mode or before the base required grad, that it
    requires grad; but no gradient flows through it.
    """

    __slots__ = ()

    def __init__(self, view: Any) -> None:
        self._array, self._leaf = view._array, _nobody  # type: ignore[assignment]
        self.op, self.number, self.shape = ACCUMULATE, next_number(), view._array.shape
        self.edge0 = self.edge1 = self.out = self.x = self.y = self.hooks = None
        self.rest = ()

    @property
    def shown(self) -> None:
        """Nothing: PyTorch has no node here."""
        return None


def _nobody() -> None:
    """Stand for a weak reference to a leaf that is gone."""


class Converted(Node):
    """The result of a change in place, brought back to the dtype of what is changed.

    PyTorch has no node for that: who looks sees that of the change (``edge0``).
    """

    __slots__ = ()

    @property
    def shown(self) -> Node | None:
        """The node of the change."""
        return as_grad_fn(self.edge0)


class ChangeOfView(Node):
    """What has changed a view: the node that is not seen in that of its base."""

    __slots__ = ()

    def check_saved(self, is_reached: bool = True) -> None:
        """Check what was saved, if the base's node runs this one at all; see ``CopySlices``."""
        if is_reached:
            super().check_saved()

    def note_view_node(self, node: Node) -> None:
        """Note the node of the view since then, which a message names as long as it lives."""
        places = node.rest[node.op.rest.index("positions")]  # which nothing else has
        self.rest = (*self.rest, weakref.ref(places))

    def has_view_node(self) -> bool:
        """Return whether the node of the view since then lives."""
        return any(type(value) is weakref.ref and value() is not None for value in self.rest)


class CopySlices(Node):
    """What a base becomes when it is changed through a view: its elements, some overwritten.

    The change itself is a node that is not seen (``edge1``): what it shows of its inputs, but for
    the first, the view, is shown here.
    """

    __slots__ = ()

    def check_saved(self, is_reached: bool = True) -> None:
        """Check what was saved, also by the change: PyTorch's node runs it before it frees any."""
        super().check_saved(is_reached)
        if is_reached and self.edge1 is not None:
            self.edge1.check_saved()

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The nodes of the base and of the further inputs of what has changed the view."""
        change = self.edge1
        first, *_ = Node.next_functions.fget(self)  # type: ignore[attr-defined]
        return (first, *(() if change is None else change.shown.next_functions[1:]))


def note_view(view: Any, of: Any, kind: str = DEFAULT) -> None:
    """Note that ``view`` looks into the memory of ``of``: they share base and version."""
    if of._changes is INFERENCE:  # its changes are not counted, and it has no history
        view._changes = of._changes
        return
    mode = local.mode
    base = of._base
    if not mode.grad_enabled:
        kind = INFERENCE_MODE if mode.inference else NO_GRAD
    if view._node is not None and view._array.dtype.kind != "f":
        raise error("autograd.whole_history", kind=tensor_type(view._array.dtype))
    if base is None:
        base = of
    elif kind is DEFAULT or of._kind is INFERENCE_MODE:
        kind = of._kind
    view._base, view._kind, view._latest_change = base, kind, last_change.number
    view._changes = of._changes
    if view._node is None and base._node is not None and base._changes is None:
        view._node = Nowhere(view)
    views = base._views
    if views is None:
        views = base._views = set()
    views.add(weakref.ref(view, views.discard))


registered.note_view = note_view
