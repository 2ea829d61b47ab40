"""What the entries of one op at one place have in common, worked out once.

After reading this file you know why the thousandth round of a loop is cheap to write down: its ops
differ from those of the round before in their numbers and values only, and what a node saves for
which rule is looked up by its slots. Read next: ``recorder.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autodiff_kit.core.node import Node
from autodiff_kit.core.op import Op
from autodiff_kit.record.entries import entry_of
from autodiff_kit.record.events import Saved
from autodiff_kit.record.ledger import Nodes
from autodiff_kit.record.memory import arrays_in, parameters_of
from autodiff_kit.record.source import Place

__all__ = ["GIVEN_NUMBERS", "OVERWRITING", "Draft"]

OVERWRITING = ("copy_from", "fill", "zero")  # what they overwrite is of no interest
# Of what the learner gave as a number here, the kit makes a tensor: `x[x > 3] = 0.`, `x[0] = 7.`.
GIVEN_NUMBERS = (*OVERWRITING, "fill_with", "index_put", "put")
_SLOTS = ("x", "y", "out")  # of a node, for what it saves


class Draft:
    """What the entries of one op at one place have in common.

    Attributes
    ----------
    args : sequence of str
        What the op calls its inputs.
    entry : dict
        To be copied and completed.
    number : int
        By which the notes know it.
    is_lasting : bool
        Whether it serves the next entry, too; not where there is any number of inputs.
    is_plain : bool
        Whether it does, and the op does nothing that is noted in another way.
    saves : bool
        Whether the node saves anything.
    """

    __slots__ = (
        *("_plan", "_nodes", "_only", "_saved"),
        *("args", "entry", "is_lasting", "is_plain", "number", "saves"),
    )

    def __init__(
        self, op: Op, node: Node | None, place: Place, text: str, count: int, nodes: Nodes
    ) -> None:
        self.entry = entry_of("op", text, None if node is None else op.node_name, place.where)
        self._nodes, self.number = nodes, nodes.template(self)
        self.is_lasting = not op.is_variadic  # else its key does not tell all of it
        is_odd = op.name in (*GIVEN_NUMBERS, "pick", "promote")
        self.is_plain = self.is_lasting and not is_odd and place.is_plain
        self.entry["op"] = op.name
        self.entry["recorded"] = self.entry["requires_grad"] = node is not None
        self.args: Sequence[str] = op.inputs
        if op.is_variadic:
            self.args = [f"{op.inputs[0]}[{i}]" for i in range(count)]
        # What the node saves: the name, the inputs whose rules read it, the slot of the node, or
        # the place of a parameter, such as the indices that a gradient is put back to.
        self._plan: list[tuple[str, list[str], str | int]] = []
        self._saved: dict[Any, int] = {}  # by the bytes of each, the number that they have
        self._only = ""  # the slot of the node, if it keeps nothing else
        if node is not None:
            slots = dict(zip(("out", *op.inputs[:2]), ("out", "x", "y"), strict=False))
            node = node.whole
            needed_by = [name.split("[")[0] for name, edge in node.edges() if edge is not None]
            places = {name: op.rest.index(name) for name in parameters_of(op)}
            saved = node.saved()
            if op.name == "batch_norm":  # in training, numbers stand for what is not read
                saved = {name: x for name, x in saved.items() if not isinstance(x, int | float)}
            for name in (*saved, *places):
                readers = [w for w in needed_by if name in op.rules[w].reads]
                self._plan.append((name, readers, places.get(name, slots.get(name, ""))))
        self.saves = bool(self._plan)
        if len(self._plan) == 1 and (slot := self._plan[0][2]) in _SLOTS:
            self._only = str(slot)

    def saved(self, node: Node) -> int:
        """Return by which number the notes know what a node saves; 0 for nothing.

        Of several outputs, the node is that of all.
        """
        # Asking the node for names takes four times as long.
        if self._only and (value := getattr(node, self._only)) is not None:
            key = 0 if type(value) is float else getattr(value, "nbytes", 0)
            number = self._saved.get(key)
            return self._entries(key, [key]) if number is None else number
        counted: list[Any] = []  # `x * x` saves one array, for both rules; so does `x.t() @ x`
        sizes: list[int | None] = []
        for name, _, slot in self._plan:
            value = getattr(node, slot) if slot in _SLOTS else None
            if value is None or counted:
                sizes.append(self._size(node, name, slot, counted))
            elif type(value) is float:
                sizes.append(0)
            else:  # the first one, which nearly always is the only one
                counted.append(value)
                sizes.append(getattr(value, "nbytes", 0))
        number = self._saved.get(tuple(sizes))
        return self._entries(tuple(sizes), sizes) if number is None else number

    def _entries(self, key: Any, sizes: Sequence[int | None]) -> int:
        """Note what is saved if it takes so many bytes; of None, nothing is."""
        entries: list[Saved] = [
            {"name": name, "for": readers, "bytes": size}
            for (name, readers, _), size in zip(self._plan, sizes, strict=True)
            if size is not None
        ]
        number = self._saved[key] = self._nodes.keep(entries) if entries else 0
        return number

    def _size(self, node: Node, name: str, slot: str | int, counted: list[Any]) -> int | None:
        """Return the bytes of one thing that are not counted yet; None for no tensor."""
        if isinstance(slot, int):
            parts = arrays_in(node.rest[slot])
            if not parts:
                return None
        else:
            value = getattr(node, slot) if slot else node.saved()[name]
            if type(value) is float:
                return 0
            parts = [value]
        size = 0
        for part in parts:
            if not any(_is_one(part, other) for other in counted):
                counted.append(part)
                size += getattr(part, "nbytes", 0)
        return size


def _is_one(array: Any, other: Any) -> bool:
    """Return whether two arrays are the same memory, as a matrix and its transpose are."""
    if array is other:
        return True
    if not (isinstance(array, np.ndarray) and isinstance(other, np.ndarray)):
        return False
    owner = array if array.base is None else array.base
    if owner is not (other if other.base is None else other.base):
        return False
    return bool(array.nbytes == other.nbytes and array.ctypes.data == other.ctypes.data)
