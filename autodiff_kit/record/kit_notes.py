"""Which of the kit's tensors is which, and by which number its node is known.

After reading this file you know how a tensor is recognised - by its node's number, or else by its
address while it lives - so that a recording keeps no graph alive, and what becomes of one that is
older than the recording. Read next: ``kit_backward.py``, then ``recorder.py``.
"""

from __future__ import annotations

import weakref
from types import FrameType
from typing import Any

import numpy as np

from autodiff_kit.autograd.graph import Packed
from autodiff_kit.core.base import next_number
from autodiff_kit.core.mode import local
from autodiff_kit.core.node import AccumulateGrad, Node
from autodiff_kit.core.view_nodes import DEFAULT, Nowhere
from autodiff_kit.record.entries import UNSEEN
from autodiff_kit.record.events import Packer, Saved, Value
from autodiff_kit.record.guard import nothing
from autodiff_kit.record.notes import SecondRun
from autodiff_kit.record.source import Place
from autodiff_kit.record.windows import Windows
from autodiff_kit.tensor import Tensor
from autodiff_kit.views import is_stale

__all__ = ["KitNotes", "maker_of"]


class KitNotes(Windows):
    """Notes of what the kit's core does."""

    def __init__(self, limit: int, base: FrameType | None) -> None:
        super().__init__(limit, base, Tensor)
        self._numbers: dict[int, int] = {}  # Node.number -> what it is called here
        # Number of a node with several outputs -> what these are called here, by output_nr.
        self._outputs: dict[int, dict[int, int]] = {}
        self._first = next_number()  # nodes of a lower number were there before
        self._unseen_copies: dict[int, weakref.ref[Tensor]] = {}  # that the kit's own code made
        self._copied: tuple[Any, Any] = (nothing, nothing)  # the latest copy, and of what
        self._origins: dict[int, tuple[Any, int]] = {}  # of such a copy, by its id
        self._unseen: tuple[Node, int] | None = None  # it has saved what hooks are about to pack

    def _known(self, tensor: Tensor) -> int | None:
        """Return our number of a tensor, if it has one."""
        if self._copied[0]() is tensor:
            tensor = self._copied[1]()
        node = maker_of(tensor)
        number = None if node is None else self._remembered(node)
        if number is not None:
            return number
        reference, number = self._tensors.get(id(tensor), (nothing, -1))
        return number if reference() is tensor else None  # None: another one at its address

    def _number(self, tensor: Tensor, scope: int) -> int:
        """Return our number of a tensor; one that is older than the recording becomes a leaf."""
        if self._copied[0]() is tensor:
            tensor = self._copied[1]()
        number, node = self._known(tensor), maker_of(tensor)
        if number is not None and (node is None or node.number in self._numbers):
            return number
        if number is not None and node is not None and self._make_leaf(number):
            self._remember(node, number)
            return number
        if number is not None:
            self._names.pop(number, None)  # a result was made a leaf: that has the name now
        return self._adopt(tensor, scope, number)

    def _node(self, node: Node) -> int:
        """Return our number of a node; one that is older than the recording becomes a leaf."""
        number = self._remembered(node)
        if number is not None:
            return number
        if isinstance(node, AccumulateGrad):
            return self._number(node.variable, 0)
        value: Value = {**UNSEEN, "shape": list(node.shape)}
        number = self._put_node(node, node.name(), value, 0, None)
        self._adopted[number] = node.number < self._first
        return number

    def _adopt(self, tensor: Tensor, scope: int, origin: int | None = None) -> int:
        reference, number = self._origins.get(id(tensor), (nothing, -1))
        if reference() is not tensor or origin is not None:
            return super()._adopt(tensor, scope, origin)
        copy = super()._adopt(tensor, scope, number)
        if number in self._names:
            self._names.setdefault(copy, self._names[number])
        return copy

    def _add_leaf(self, tensor: Tensor, scope: int, place: Place | None) -> int:
        grad_fn = tensor.grad_fn
        name = None if grad_fn is None else grad_fn.name()
        number = self._put_node(maker_of(tensor), name, self._noted(tensor), scope, place)
        self._tensors[id(tensor)] = (weakref.ref(tensor), number)
        return number

    def _put_node(
        self, node: Node | None, name: str | None, value: Any, scope: int, place: Place | None
    ) -> int:
        number = self._put_leaf(name, value, scope, place)
        if node is not None:
            self._remember(node, number)
            self._nodes[number]["recorded"] = self._nodes[number]["requires_grad"] = True
        return number

    def _remember(self, node: Node, number: int) -> None:
        self._numbers[node.number] = number
        if node.whole is not node:
            self._outputs.setdefault(node.whole.number, {})[node.output_nr] = number

    def _remembered(self, node: Node) -> int | None:
        """Return our number of a node, or of the output that it stands for."""
        number = self._numbers.get(node.number)
        if number is None and node.whole is not node:
            number = self._outputs.get(node.whole.number, {}).get(node.output_nr)
            if number is not None:  # another stands for the same: a Function had saved its output
                self._numbers[node.number] = number
        return number

    def _is_older(self, tensor: Tensor) -> bool | None:
        node = maker_of(tensor)
        if node is not None:
            return node.number < self._first
        return False if self._unseen_copies.get(id(tensor), nothing)() is tensor else None

    def _is_number(self, tensor: Tensor) -> bool:
        """Return whether a tensor is one that the kit has made of a number: ``y[0] = 5.``."""
        if tensor._node is not None or tensor._array.ndim or tensor.__class__ is not Tensor:
            return False
        return (
            self._known(tensor) is None
            and not self._result(tensor)[1]
            and not self._names.is_held(tensor)
        )

    def _result(self, tensor: Tensor) -> tuple[str, str]:
        name, part = super()._result(tensor)
        if part:
            return name, part
        array = tensor._array
        reference, name, part = self._results.get(id(array), (nothing, "", ""))
        return (name, part) if reference() is array else ("", "")

    def _grad_of(self, leaf: Tensor) -> Any:
        return leaf._grad

    def _elements_of(self, tensor: Tensor) -> Any:
        array = tensor._array
        if isinstance(array, np.generic):
            return id(array)  # a number has no storage that another could look into
        return array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.char

    def _shares_memory(self, tensor: Tensor, other: Tensor) -> bool:
        return bool(np.may_share_memory(tensor._array, other._array))

    def _is_seen_anew(self, view: Tensor) -> bool:
        is_told = is_stale(view) and getattr(view, "_kind", None) is DEFAULT
        return is_told and bool(local.mode.grad_enabled)

    def _seen_before(self) -> int | None:
        """Return our number of the view that gets a new node just now, as it was."""
        for view in self._graph_views():
            old = None if is_stale(view) else getattr(view, "_stale_node", None)
            if isinstance(old, Node) and (number := self._remembered(old)) is not None:
                return number
        return None

    def _see_packed(self) -> None:
        """Find out what hooks, such as those of a checkpoint, have made of what a node saved."""
        if self._unseen is None:
            return
        (node, number), self._unseen = self._unseen, None
        values, entry = node.saved(), self._nodes[number]
        saved: list[Saved] = []
        for one in entry["saved"]:
            packed = values.get(one["name"])
            if isinstance(packed, Packed):
                run = getattr(packed.unpack, "__self__", None)
                by: Packer = "checkpoint" if isinstance(run, SecondRun) else "hook"
                content = getattr(packed.packed, "_array", packed.packed)
                size = 0 if by == "checkpoint" else int(getattr(content, "nbytes", 0))
                one = {**one, "bytes": size, "by": by}
            saved.append(one)
        entry["saved"] = saved

    def _noted(self, tensor: Any) -> Any:
        """Return what a tensor, or an array, holds now, as ``Values.note`` has it."""
        return self._values.note(getattr(tensor, "_array", tensor))

    def _value(self, tensor: Any) -> Value:
        return self._values.of(getattr(tensor, "_array", tensor))


def maker_of(tensor: Tensor) -> Node | None:
    """Return what made a tensor; nothing recorded did where no gradient flows, as to some views."""
    try:
        node = tensor._node
    except RuntimeError:  # a view that may no longer be used: its base has changed
        return None
    return None if isinstance(node, Nowhere) else node
