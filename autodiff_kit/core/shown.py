"""What a node shows of itself: ``next_functions``, ``_saved_self``, the name of its class.

After reading this file you can walk a graph as PyTorch lets you: none of this is needed to compute
a gradient. Read next: ``autograd/engine.py``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autodiff_kit.core.base import wrap
from autodiff_kit.core.messages import released_message
from autodiff_kit.dtypes import result_dtype

__all__ = ["RELEASED", "Shown", "add_saved_attribute", "named"]

RELEASED: Final = "released"  # what stands in ``node.out`` after backward has freed the node

_NOT_SHOWN = (
    "_dtype",
    "_strides",
    "tensors_shape",
)  # saved for rules, but PyTorch has no _saved_ of them
_classes: dict[tuple[str, Any], Any] = {}


class Shown:
    """Mixed into ``Node``."""

    __slots__ = ()

    def name(self: Any) -> str:
        """Return PyTorch's name of the node, for example ``MulBackward0``."""
        return self.op.node_name

    def __repr__(self) -> str:
        return f"<{self.name().split('::')[-1]} object at {id(self):#x}>"

    @property
    def next_functions(self: Any) -> tuple[tuple[Any, int], ...]:
        """The nodes of the inputs, each with the number of the output it stands for.

        Conversions that type promotion inserted are skipped, and inputs that never have a
        gradient, such as the mask of ``where``: PyTorch shows neither. What it cannot
        differentiate has only edges to nodes.
        """
        is_refused = self.op.node_name.endswith("::NotImplemented")
        return tuple(
            (named(edge), 0 if edge is None else edge.output_nr)
            for name, edge in ((name, _unpromoted(edge)) for name, edge in self.edges())
            if self.op.is_variadic or (name in self.op.rules and not (is_refused and edge is None))
        )

    def saved(self: Any) -> dict[str, Any]:
        """Return the arrays and numbers kept for the rules, by name; empty after the release."""
        if self.out is RELEASED:
            return {}
        op = self.op
        of_inputs = zip(("out", *op.inputs), (self.out, self.x, self.y), strict=False)
        rest = zip(op.rest, self.rest, strict=False)
        values = [(n, v) for n, v in rest if n in op.inputs or n in op.by_products]
        return {name: value for name, value in (*of_inputs, *values) if value is not None}

    def __dir__(self: Any) -> list[str]:
        own = [n for n in super().__dir__() if not n.startswith("_saved_")]
        kept = (*self.saved(), *(n for n in self.op.rest if not n.endswith(_NOT_SHOWN)))
        return [*own, *(f"_saved_{self.op.saved_as.get(n, n)}" for n in dict.fromkeys(kept))]


def _unpromoted(edge: Any) -> Any:
    return edge.edge0 if edge is not None and edge.op.name == "promote" else edge


def add_saved_attribute(name: str) -> None:
    """Give nodes the attribute ``_saved_<name>``, as PyTorch's have.

    Properties, because a ``__getattr__`` would make every other attribute three times slower.
    """

    def saved(node: Any) -> Any:
        if node.out is RELEASED:
            raise RuntimeError(released_message(node))
        return _saved_attribute(node, name)

    if not name.endswith(_NOT_SHOWN) and not hasattr(Shown, f"_saved_{name}"):
        setattr(Shown, f"_saved_{name}", property(saved))


def _saved_attribute(node: Any, name: str) -> Any:
    """Return a tensor for tensor operands, else the value.

    None if this op can save it, but was not asked to: no rule in use reads it.
    """
    op = node.op
    out, x, y, rest = node.rebuilt()
    values = {"out": out, **dict(zip(op.inputs, (x, y), strict=False))}
    values |= dict(zip(op.rest, rest, strict=False))
    for own, value in values.items():
        if op.saved_as.get(own, own) != name:
            continue
        if own in op.inputs and isinstance(value, int | float):
            value = result_dtype(value).type(value)
        return wrap(value) if isinstance(value, np.ndarray | np.generic) else _same_leaf(value)
    raise AttributeError(f"'{op.node_name}' object has no attribute '_saved_{name}'")


def _same_leaf(value: Any) -> Any:
    """Return the learner's own leaf instead of another tensor with its memory."""
    leaf = getattr(getattr(value, "_node", None), "variable", None)
    return leaf if leaf is not None and leaf._array is value._array else value


def named(node: Any) -> Any:
    """Give a node that is looked at a class of its own, called as PyTorch's is.

    Only now: if all nodes had the classes of their ops from the start, each access to an
    attribute would have to find out which, and a graph would cost a sixth more.
    """
    node = None if node is None else node.shown
    kind: Any = type(node)
    if node is not None and kind.__name__ in ("Node", "WideNode", "SharedNode"):
        key = node.name().split("::")[-1], kind
        if key not in _classes:
            _classes[key] = type(key[0], (kind,), {"__slots__": ()})
        node.__class__ = _classes[key]
    return node
