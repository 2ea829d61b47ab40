"""The operands of an op: dtype, order in memory, views, and the nodes that made them, its edges.

After reading this file you know what happens before and after a forward function. Read
next: ``promotion.py``, ``layouts.py`` and ``saving.py``, which do the work.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence, Set
from typing import Any

from autodiff_kit.core.base import ARRAYS, TensorBase
from autodiff_kit.core.hooks import Hooks
from autodiff_kit.core.node_hooks import OpOfOneNode
from autodiff_kit.core.op import Op, Params, Value
from autodiff_kit.core.versions import share
from autodiff_kit.core.view_nodes import Nowhere, note_view
from autodiff_kit.ops.layouts import lay_out
from autodiff_kit.ops.messages import not_a_tensor, shape_message
from autodiff_kit.ops.promotion import promoted
from autodiff_kit.ops.saving import check_saved, may_record, refuse_inputs, refuse_whole

__all__ = ["Operands"]


class Operands:
    """The inputs of an op, some of them Tensors, ready for its forward function.

    Attributes
    ----------
    tensors : tuple
        Tensors, all of the dtype in which the op works, and numbers; NotImplemented for an
        operator where NumPy comes first.
    arrays : tuple
        The values of these.
    originals : list
        The arrays of the inputs before they were converted; None for numbers.
    op : Op
        That of the node: without rules for edges that lead nowhere.
    always_saved : set of str
        What is saved even if no rule that will be called reads it.
    """

    always_saved: Set[str] = frozenset()

    def __init__(self, row: Op, inputs: tuple[Any, ...], params: Params) -> None:
        if row.is_view:
            share(inputs[0])  # a view of one number needs memory that two can hold
        if row.rules:  # what cannot be recorded is refused before anything else
            refuse_inputs(row, inputs)
        self.row, self.op, self.inputs, self.params = row, row, inputs, params
        self.originals = [getattr(value, "_array", None) for value in inputs]
        self.tensors = promoted(row, inputs, params)
        if self.tensors is not NotImplemented:
            self.arrays = tuple(v._array if isinstance(v, TensorBase) else v for v in self.tensors)

    def edges(self) -> tuple[Any, ...]:
        """Return the nodes that made the inputs; None where no gradient is wanted or no rule is.

        So a mask, or an index, has none, though a change in place may have given it a history.
        """
        row, tensors = self.row, self.tensors
        nodes = tuple(getattr(value, "_node", None) for value in tensors) if row.rules else ()
        if row.is_variadic or len(row.rules) == len(row.inputs):
            return nodes
        pairs = zip(row.inputs, nodes, strict=False)
        return tuple(node if name in row.rules else None for name, node in pairs)

    def leading(self, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the edges, None for one that leads nowhere: ``op`` then has no rule for it.

        The rules of what cannot be differentiated are, to say so.
        """
        if self.row.is_refused:
            return edges
        leading = tuple([None if type(edge) is Nowhere else edge for edge in edges])
        if leading != edges:
            # PyTorch saves at any rate what more than one rule reads, or the only one.
            names = [name for rule in self.row.rules.values() for name in rule.reads]
            several = len(self.row.rules) > 1
            self.always_saved = {name for name in names if names.count(name) > several}
            if not self.row.is_variadic:
                self.op = self._leading_op(edges)
            elif all(edge is None for edge in leading):  # it is reached for its hooks alone
                self.op = self._leading_op(edges)
                return edges
        return leading

    def _leading_op(self, edges: tuple[Any, ...]) -> Any:
        """Return an op for one node, without rules for edges that lead nowhere.

        Those stay: so under create_graph what is saved of them still seems to require grad.
        """
        row, own = self.row, [_nothing] * (len(edges) + 2)
        if not row.is_variadic:
            rules = itertools.zip_longest((row.rule0, row.rule1, *row.rules_of_more), edges)
            own = [_nothing if type(edge) is Nowhere else rule for rule, edge in rules]
        return OpOfOneNode(row, own, always_calls_rules=row.always_calls_rules)

    def hooks(self) -> Hooks | None:
        """Return None; for what cannot be differentiated an empty one, and the engine counts.

        For then it matters which node is next.
        """
        return Hooks() if self.row.is_refused else None

    @staticmethod
    def check_numbers(row: Op, inputs: Sequence[Any]) -> None:
        """Raise TypeError if one of the inputs, among which no Tensor is, is no number either."""
        for position, value in enumerate(inputs):
            if not isinstance(value, (*ARRAYS, float, int)):
                raise TypeError(not_a_tensor(row, position, value))

    def misfit(self) -> Exception:
        """Return the error for shapes that NumPy refuses, in PyTorch's words."""
        return RuntimeError(shape_message(self.row, self.arrays, **self.params))

    def lay_out(self, result: Value) -> Value:
        """Return the result with its elements in the order in which PyTorch has them in memory."""
        if not self.row.is_view and result.dtype.metadata is not None:
            result = result.astype(result.dtype.type)  # no inference tensor, as an input is
        return lay_out(self.row, result, self.originals)

    def may_record(self, result: Value) -> bool:
        """Return whether there is an input that was not made in inference mode.

        Integers that cannot be differentiated are not recorded either.
        """
        is_whole = result.dtype.kind != "f"
        return may_record(self.tensors) and not (is_whole and self.row.is_refused)

    def arrays_to_watch(self, values: dict[str, Value], reads: set[str]) -> list[Any]:
        """Return the arrays, of which converted ones are saved, whose changes count for these.

        RuntimeError where a tensor cannot be saved, or the result is one of integers.
        """
        refuse_whole(self.row, values["out"])
        return check_saved(self.row, self.inputs, values, reads)

    def note_view(self, out: Any) -> None:
        """Note that the output looks into the memory of the first input."""
        note_view(out, self.tensors[0])


def _nothing(*g_and_values: Any) -> None:
    """Stand for a rule that is not called."""
