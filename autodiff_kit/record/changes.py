"""What a recording tells of a change: in place, or of a ``.grad``.

After reading this file you know what is noted of an optimizer's step, and why a gradient that was
cleared does not stay in the picture. It serves the kit and PyTorch alike. Read next:
``windows.py``.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from math import isfinite
from types import FrameType
from typing import Any

import numpy as np

from autodiff_kit.record.events import Mark, Modified, Params, Value
from autodiff_kit.record.guard import nothing
from autodiff_kit.record.ledger import ACCUMULATE, Noted
from autodiff_kit.record.notes import Notes
from autodiff_kit.record.source import Place

__all__ = ["Changes", "is_same", "settings_of"]

_MADE = ("leaf", "op")


def settings_of(group: Params) -> dict[str, float]:
    """Return the numbers of a parameter group by which an optimizer makes its step."""
    options = {**group, "lr": float(group["lr"])}
    numbers = {name: x for name, x in options.items() if isinstance(x, int | float)}
    return {name: x for name, x in numbers.items() if isfinite(x)}


class Changes(Notes):
    """Notes of changes."""

    def __init__(self, limit: int, base: FrameType | None, kind: type) -> None:
        super().__init__(limit, base, kind)
        self._latest: dict[int, Any] = {}  # of those that were changed, what was told last
        self._gradients: dict[int, Callable[[], Any]] = {}  # the tensors in .grad, by their leaves
        self._gradient_of: dict[int, int] = {}  # the leaves, by the id of such a tensor
        self._requires: dict[int, bool] = {}  # whether a leaf does, where that has changed
        self._wanting: dict[int, Callable[[], Any]] = {}  # leaves that require a gradient

    def _tell_change(
        self,
        number: int,
        how: str,
        tensor: Any,
        place: Place,
        settings: dict[str, float] | None = None,
    ) -> None:
        begun = {
            "kind": "modified",
            "node": number,
            "how": how,
            "where": place.where,
            "scope": self._scopes.now(),
        }
        if settings is not None:
            begun["settings"] = settings
        change = Noted(begun, ("value",), (self._noted(tensor),), self._nodes.described)
        self._events.append(change)
        self._latest[number] = change
        if (leaf := self._holder(tensor)) is not None:
            self._tell_grad(leaf, tensor, how, place)

    def _value_of(self, number: int) -> Value:
        """Return what a tensor was last said to hold."""
        latest = self._latest.get(number)
        value: Value = (self._nodes[number] if latest is None else latest)["value"]
        return value

    def _make_leaf(self, number: int) -> bool:
        """Note that ``requires_grad_()`` has come after a tensor was made; False if it cannot."""
        entry = self._nodes[number]
        if entry["kind"] == "op":
            if entry["recorded"]:
                return False  # a result that detach_() has cut off: its node goes on
            origin = next(
                event
                for event in reversed(self._events)
                if event["kind"] == "op" and event["node"] == number
            )
            self._events[self._events.index(origin)] = {"kind": "leaf", "node": number}
            entry["kind"] = "leaf"
        entry["recorded"] = entry["requires_grad"] = True
        self._young.append(number)
        return True

    def _tell_requirement(self, tensor: Any, requires: bool, place: Place) -> None:
        """Note that a leaf requires a gradient from here on, or none."""
        number = self._known(tensor)
        if number is None:
            return  # once it is used, it is noted as it is then
        if self._requires.get(number, self._nodes[number]["requires_grad"]) == requires:
            return
        is_new = self._events[-1].get("node") == number and self._events[-1]["kind"] in _MADE
        if requires and not self._make_leaf(number):
            return
        self._requires[number] = requires
        if is_new and requires:  # `torch.ones(2).requires_grad_()` is one thing
            return
        self._events.append(
            {
                "kind": "requires_grad",
                "node": number,
                "requires_grad": requires,
                "where": place.where,
                "scope": self._scopes.now(),
            }
        )

    def _holder(self, tensor: Any) -> int | None:
        """Return the number of the tensor that has this one in its ``.grad``, if one has."""
        leaf = self._gradient_of.get(id(tensor), -1)
        return leaf if self._gradients.get(leaf, nothing)() is tensor else None

    def _tell_assignment(self, tensor: Any, how: str, place: Place, scope: int) -> None:
        """Note that a tensor was given another memory: ``w.data = w.data - 1``."""
        number = self._number(tensor, scope)
        # `w.data -= 1` changes the memory, and then assigns it.
        if not self._is_latest(number, tensor, place):
            self._tell_change(number, how, tensor, place)

    def _is_latest(self, number: int, tensor: Any, place: Place) -> bool:
        """Return whether a change that this statement has made tells of this value already."""
        for event in reversed(self._events):
            if event["kind"] == "modified" and self._has_told(event, number):
                now, before, where = self._value(tensor), event["value"], event["where"]
                is_here = where is None or place.where is None or where[:2] == place.where[:2]
                return is_here and is_same(now, before)
            if event["kind"] not in ("modified", "grad", "op"):
                return False
        return False

    def _has_told(self, event: Modified, number: int) -> bool:
        """Return whether a change is one of a tensor."""
        return event["node"] == number

    def _tell_accumulation(
        self, number: int, g: Any, before: Any, grad: Any, gradient: Any
    ) -> None:
        """Note what was added to a ``.grad``, each as ``_noted``, and the tensor there now."""
        self._events.append((ACCUMULATE, number, g, before, grad))
        self._hold(number, gradient)
        if (
            getattr(gradient, "requires_grad", False)
            and (node := self._known(gradient)) is not None
        ):
            self._names.gradients[node] = number
        if gradient is None:  # a hook has cleared it at once
            self._events.append(
                {"kind": "grad", "node": number, "grad": None, "how": "", "where": None}
            )

    def _tell_grad(self, number: int, gradient: Any, how: str, place: Place) -> None:
        """Note that a ``.grad`` was set, cleared or changed in place."""
        if gradient is None and number not in self._gradients:
            return  # nothing of it was told
        if not how and gradient is not None and self._gradients.get(number, nothing)() is gradient:
            return  # `x.grad *= 2` changes it in place, and then assigns it
        grad = None if gradient is None else self._value(gradient)
        self._events.append(
            {
                "kind": "grad",
                "node": number,
                "grad": grad,
                "how": how,
                "where": place.where,
                "scope": self._scopes.now(),
            }
        )
        self._hold(number, gradient)

    def _finish(self) -> None:
        """Note that a backward pass is over, and which leaves have nothing in their ``.grad``."""
        young = {n for n in self._young if self._nodes[n]["requires_grad"]}
        self._young.clear()
        if young:
            self._wanting |= {n: tensor for tensor, n in self._tensors.values() if n in young}
        event: Mark = {"kind": "finish"}
        leaves = [(n, tensor()) for n, tensor in self._wanting.items()]
        without = [
            n
            for n, leaf in leaves
            if leaf is not None and self._requires.get(n, True) and self._grad_of(leaf) is None
        ]
        if without:
            event["without"] = without
        self._events.append(event)

    def _hold(self, number: int, gradient: Any) -> None:
        """Note which tensor a node has in its ``.grad``."""
        if gradient is None:
            self._gradients.pop(number, None)
        else:
            self._gradients[number] = weakref.ref(gradient)
            self._gradient_of[id(gradient)] = number


def is_same(now: Value, before: Value) -> bool:
    """Return whether two values are equal, as far as a recording has them."""
    is_same = now.get("stats") == before.get("stats")
    return is_same and np.array_equal(now["data"], before["data"])
