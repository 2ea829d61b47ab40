"""What a node shows of itself: ``next_functions``, ``_saved_self``, the name of its class.

After reading this file you can walk a graph as PyTorch lets you, and you know how it is noticed,
before a rule runs, that a saved value was changed. Read next: ``autograd/engine.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from autodiff_kit.core.base import ARRAYS, wrap
from autodiff_kit.core.mode import local
from autodiff_kit.core.node_hooks import NodeHooks
from autodiff_kit.core.op import ACCUMULATE, RELEASED, Op, Value
from autodiff_kit.core.versions import changes_of, count_with, what_became_of
from autodiff_kit.dtypes import result_dtype
from autodiff_kit.errors import error
from autodiff_kit.free_form import Namespace
from autodiff_kit.late import late

__all__ = ["Shown", "as_grad_fn", "same_leaf", "saving_order"]

# PyTorch's names of what is saved, where an op does not say otherwise.
_SAVED_AS = {"x": "self", "y": "other", "out": "result"}
_SAVED_AS |= {"x_shape": "self_sym_sizes", "y_shape": "other_sym_sizes"}
_NOT_SHOWN = (
    "_dtype",
    "_strides",
    "tensors_shape",
    "repeats",
    "is_operand",
)  # saved for rules, but PyTorch has no _saved_ of them
_classes: dict[tuple[str, Any], Any] = {}
_ops_inspected: set[str] = set()  # the names of the ops whose nodes have been looked at


class Shown(NodeHooks):
    """Mixed into ``Node``: all that it offers besides its place in a graph."""

    __slots__ = ()

    def name(self: Any) -> str:
        """Return PyTorch's name of the node, for example ``MulBackward0``."""
        return "torch::autograd::AccumulateGrad" if self.op is ACCUMULATE else self.op.node_name

    def __repr__(self) -> str:
        return f"<{self.name().split('::')[-1]} object at {id(self):#x}>"

    @property
    def live_node(self: Any) -> Any:
        """The node, if what is computed of its output now has a history.

        None for a leaf that no longer requires grad, and what was converted of that.
        """
        if self.op is not ACCUMULATE:
            return _live_if_converted(self) if self.op.name == "promote" else self
        leaf = self._leaf()
        return None if leaf is not None and leaf._base is None and leaf._node is None else self

    @staticmethod
    def as_tensor(value: Value, edge: Any) -> Value:
        """Return an array that was saved as a tensor, the output of ``edge``; see ``rebuild``."""
        if not isinstance(value, ARRAYS):
            return value
        return wrap(value, edge if edge is None else edge.live_node)

    def count_with_originals(self: Any) -> None:
        """Let changes of what inputs were converted from count for what was saved of these.

        The rules may save it again, under create_graph, when PyTorch's save what it was.
        """
        names = ("out", *(*self.op.inputs, "", "")[:2], *self.op.rest)
        saved = dict(zip(names, (self.out, self.x, self.y, *self.rest), strict=False))
        for name, original in self.originals().items():
            if isinstance(saved[name], np.ndarray):
                count_with(saved[name], original)

    def makers(self: Any) -> Namespace:
        """Return the nodes that made what rules read, by name, where that has a history."""
        return {name: edge and edge.live_node for name, edge in self.edges()}

    def recorded(self: Any, rule: Callable[..., Value]) -> Callable[..., Value]:
        """Return a rule that is recorded as PyTorch's in C++: ``g * 2`` is ``MulBackward1``."""
        if type(self.op) is Op:
            rule = late("ops").second.recorded_rule(self.op, rule)

        def inside(*values: Value) -> Value:
            mode = local.mode
            mode.inside = True
            try:
                return rule(*values)
            finally:
                mode.inside = False

        return inside

    @property
    def as_grad_fn(self) -> Any:
        """The node as it is shown: of a class that is called as PyTorch's."""
        return as_grad_fn(self)

    @property
    def next_functions(self: Any) -> tuple[tuple[Any, int], ...]:
        """The nodes of the inputs, each with the number of the output it stands for.

        Conversions that type promotion inserted are skipped, and inputs that never have a
        gradient, such as the mask of ``where``: PyTorch shows neither. What it cannot
        differentiate has only edges to nodes.
        """
        return tuple(
            (as_grad_fn(edge), 0 if edge is None else edge.output_nr)
            for name, edge in ((name, _unpromoted(edge)) for name, edge in self.edges())
            if self.op.is_variadic
            or (name in self.op.rules and not (self.op.is_refused and edge is None))
        )

    def maker_of(self: Any, name: str) -> Any:
        """Return the node that made what is saved under a name, before any conversion for the op.

        None where that has no history.
        """
        maker = _unpromoted(self.makers().get(name))
        return maker and maker.live_node

    def saved(self: Any) -> dict[str, Value]:
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
        names = (*self.saved(), *(n for n in self.op.rest if not n.endswith(_NOT_SHOWN)))
        return [*own, *(f"_saved_{_saved_as(self.op, n)}" for n in dict.fromkeys(names))]

    def check_saved(self: Any, is_reached: bool = True) -> None:
        """Refuse to use a saved value that was changed in place, or one that is gone.

        ``is_reached``: whether a gradient flows in, and not None; all but CopySlices look anyway.

        Raises
        ------
        RuntimeError
            With PyTorch's words for either case.
        """
        if not is_reached and self.op.name == "put":
            return
        if self.out is RELEASED:
            if self._had_saved_nothing():
                node: Any = self  # to mypy, an assignment to `self` would declare an attribute
                leads = [edge is not None and edge.shown is not None for _, edge in self.edges()]
                node.edge0 = self.edge0 if leads[0] else None  # the rule would read what is gone
                node.edge1 = self.edge1 if leads[1] else None
                return
            raise RuntimeError(_messages().released_message(self))
        changed = self._changed()
        if changed:
            which, array, changes = min(changed, key=lambda entry: self._turn(entry[0]))
            if changes is None:
                raise error("autograd.saved_detached", node=self.name(), op=self.op.text)
            raise RuntimeError(_messages().changed_message(self, which, array, changes))
        self._convert_anew()

    def _convert_anew(self: Any) -> None:
        """Convert again what was converted for the op, as PyTorch does in backward.

        It may have been changed through ``.data``, which no version tells of.
        """
        names = ("out", *(*self.op.inputs, "", "")[:2], *self.op.rest)
        for name, original in self.originals().items():
            slot = names.index(name)
            value = (self.out, self.x, self.y, *self.rest)[slot]
            if isinstance(value, ARRAYS) and isinstance(original, ARRAYS):
                self._put(slot, np.asarray(original, value.dtype)[()])

    def _changed(self: Any) -> list[tuple[int, Any, Any]]:
        """Return what of the saved values was changed since: which, the array, and its changes.

        In place of the changes stands None where a tensor was detached in place.
        """
        changed: list[tuple[int, Any, Any]] = []
        for which, value in enumerate((self.out, self.x, self.y, *self.rest)):
            for array in getattr(value, "sources", (value,)):  # of indices, what they were made of
                changes = changes_of(array)
                if changes is not None and array is value:
                    is_output = self._is_output(which)
                    new, is_detached = what_became_of(value, self.number, changes, is_output)
                    if new is not value:
                        self._put(which, new)
                    if is_detached and not self._was_leaf(which):
                        changed.append((which, array, None))
                        break
                if changes and changes[-1] > self.number and self.is_read(which):
                    changed.append((which, array, changes))
        return changed

    def saved_rest(self: Any) -> bool:
        """Return whether backward frees ``rest``, where nothing else was saved.

        PyTorch saves what one rule reads only if that will be called: else nothing is freed.
        """
        op = self.op
        if op.frees or not op.saves_rest:
            return bool(op.saves_rest)
        leading = [wrt for wrt, edge in self.edges() if edge is not None]
        return not self._saves_nothing(leading, ())

    def _had_saved_nothing(self: Any) -> bool:
        """Return whether no rule will be called that reads a tensor, or what is freed with these.

        Those of edges to views without a history are not called: then PyTorch has saved only what
        more than one rule reads, or the only one, or the result.
        """
        leading = [wrt for wrt, edge in self.edges() if edge is not None and edge.shown is not None]
        return self._saves_nothing(leading, self.op.rest)

    def _saves_nothing(self: Any, leading: list[str], freed: Iterable[str]) -> bool:
        """Return whether the rules for these inputs read no tensor, and nothing that is freed."""
        op = self.op
        values = {"out", *op.inputs, *op.by_products}
        names = [name for rule in op.rules.values() for name in rule.reads if name in values]
        if len(op.rules) == 1 or "out" in names or len(set(names)) < len(names):
            return False
        return all(values.union(freed).isdisjoint(_reads(op, wrt)) for wrt in leading)

    def is_read(self: Any, which: int) -> bool:
        """Return False for what only the rule of an edge that leads nowhere reads.

        The fast spelling of an op saves that, too, so as not to ask where each edge leads.
        """
        op, name = self.op, self._name_of(which)
        readers = [edge for wrt, edge in self.edges() if name in _reads(op, wrt)]
        leads_nowhere = len(readers) == 1 and readers[0] is not None and readers[0].shown is None
        return not leads_nowhere or which == 0 or len(op.rules) == 1

    def _was_leaf(self: Any, which: int) -> bool:
        """Return whether a leaf was saved: what becomes of it later is no matter if detached."""
        name = self._name_of(which)
        edge = _unpromoted(dict(self.edges()).get(name))
        return name in self.op.rules and (edge is None or edge.op is ACCUMULATE)

    def _turn(self: Any, which: int) -> tuple[bool, str]:
        """Return when PyTorch looks at a saved value: at inputs by their names, then at results."""
        return self._is_output(which), _saved_as(self.op, self._name_of(which))

    def _is_output(self: Any, which: int) -> bool:
        return which == 0 or self._name_of(which) in self.op.by_products

    def _name_of(self: Any, which: int) -> str:
        op = self.op
        return ("out", *(*op.inputs, "", "")[:2], *op.rest, *op.inputs)[which]

    def originals(self: Any) -> dict[str, Value]:
        """Return the arrays from which saved inputs were converted, by name."""
        pairs = zip(self.op.inputs, self.rest[len(self.op.rest) :], strict=False)
        return {name: array for name, array in pairs if array is not None}

    def _put(self: Any, which: int, value: Any) -> None:
        """Save another array in place of one; what was converted from that is converted anew."""
        op = self.op
        if which < 3:
            setattr(self, ("out", "x", "y")[which], value)
            return
        self.rest = (*self.rest[: which - 3], value, *self.rest[which - 2 :])
        if which >= 3 + len(op.rest):
            slot = ("out", *(*op.inputs, "", "")[:2], *op.rest).index(self._name_of(which))
            dtype = (self.out, self.x, self.y, *self.rest)[slot].dtype
            self._put(slot, value.astype(dtype)[()])


def _messages() -> Any:
    """Return what makes the messages of errors, loaded for the first of them."""
    from autodiff_kit.core import messages

    return messages


def _reads(op: Op, wrt: str) -> tuple[str, ...]:
    return op.rules[wrt].reads if wrt in op.rules else ()


def _live_if_converted(node: Any) -> Any:
    return None if node.edge0 is not None and node.edge0.live_node is None else node


def _unpromoted(edge: Any) -> Any:
    return edge.edge0 if edge is not None and edge.op.name == "promote" else edge


def saving_order(op: Op) -> list[int]:
    """Return in which order PyTorch saves, and looks at, what the slots of a node hold.

    Those are counted: output, first and second input, rest. Inputs come by their names, then
    results.
    """
    names = enumerate(("out", *(*op.inputs, "", "")[:2], *op.rest))
    turns = {w: (name in ("out", *op.by_products), _saved_as(op, name)) for w, name in names}
    return sorted(turns, key=turns.__getitem__)


def _saved_as(op: Op, name: str) -> str:
    return op.saved_as.get(name) or _SAVED_AS.get(name, name)


def _add_saved_attributes(op: Op) -> None:
    """Give nodes the attributes ``_saved_<name>`` that PyTorch's of this op have.

    Properties, because a ``__getattr__`` would make every other attribute three times slower.
    """
    _ops_inspected.add(op.name)
    for name in {name for rule in op.rules.values() for name in rule.reads}:
        attribute = f"_saved_{_saved_as(op, name)}"
        if not name.endswith(_NOT_SHOWN) and not hasattr(Shown, attribute):
            setattr(Shown, attribute, property(partial(_saved_attribute, attribute)))


def _saved_attribute(attribute: str, node: Any) -> Any:
    """Return a tensor for tensor operands, else the value.

    None if this op can save it, but was not asked to: no rule in use reads it.
    """
    op = node.op
    names = ("out", *(*op.inputs, "", "")[:2], *op.rest)
    own = [name for name in names if f"_saved_{_saved_as(op, name)}" == attribute]
    if not own:
        raise AttributeError(f"'{op.node_name}' object has no attribute '{attribute}'")
    if node.out is RELEASED:
        raise RuntimeError(_messages().released_message(node))
    for which, array, changes in node._changed():
        if changes is not None and node._name_of(which) == own[0]:
            raise RuntimeError(_messages().changed_message(node, which, array, changes))
    name = own[0]
    value = (node.out, node.x, node.y, *node.rest)[names.index(name)]
    value = value.unpacked() if hasattr(value, "unpacked") else node.originals().get(name, value)
    if not isinstance(value, ARRAYS):
        is_input = name in op.inputs and isinstance(value, int | float)
        return wrap(result_dtype(value).type(value)) if is_input else value
    return same_leaf(wrap(value, node if name == "out" else node.maker_of(name)))


def same_leaf(value: Any) -> Any:
    """Return the learner's own leaf instead of another tensor with its memory."""
    leaf = getattr(getattr(value, "_node", None), "variable", None)
    return leaf if leaf is not None and leaf._array is value._array else value


def as_grad_fn(node: Any) -> Any:
    """Give a node that is looked at a class of its own, called as PyTorch's is.

    Only now: if all nodes had the classes of their ops from the start, each access to an
    attribute would have to find out which, and a graph would cost a sixth more.
    """
    node = None if node is None else node.shown
    if node is not None and node.op.name not in _ops_inspected:
        _add_saved_attributes(node.op)
    kind: Any = type(node)
    if node is not None and kind.__name__ in ("Node", "WideNode", "SharedNode"):
        key = node.name().split("::")[-1], kind
        if key not in _classes:
            _classes[key] = type(key[0], (kind,), {"__slots__": ()})
        node.__class__ = _classes[key]
    return node
