"""An op of PyTorch's that ran before at the same place: it is noted without any question.

After reading this file you know why a round of a loop costs less than its first: what the entries
of an op at one place have in common is taken from the first of them, its inputs have their names,
and what its node saves is known by how many bytes that is. Read next: ``torch_in_place.py``.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from autodiff_kit.record.events import Input, NodeRecord
from autodiff_kit.record.guard import nothing
from autodiff_kit.record.ledger import Nodes, input_of
from autodiff_kit.record.names import note_variables
from autodiff_kit.record.source import Place
from autodiff_kit.record.torch_func import TorchTransforms
from autodiff_kit.record.torch_ops import Schema, grad_fn_of
from autodiff_kit.record.torch_values import array_of, memory_of
from autodiff_kit.record.values import parameter

__all__ = ["TorchAgain", "TorchDraft"]

# What is noted of them depends on more than what is compared here.
_ODD = {"clone", "slice_dim", "var", "std", "linalg_vector_norm", "unsafe_view", "index"}
_ODD |= {"index_put", "relu_backward", "native_batch_norm", "batch_norm"}
_TENSOR, _NUMBER, _REST = range(3)


class TorchDraft:
    """What the entries of one op at one place have in common.

    Attributes
    ----------
    args : tuple of str
        What the op calls its inputs.
    entry : dict
        To be copied and completed.
    number : int
        By which the notes know it; -1 until the first op is complete.
    call : str
        The function that the learner has called.
    kinds : list of int
        Of each argument: whether it is an input, and then a tensor or a number.
    order : list of int
        The places of the inputs among the arguments.
    rest : list
        The other arguments.
    texts : set of str
        The names that the code has for operands.
    is_spread : bool
        Whether one of these may stand for several inputs.
    attributes : sequence of str
        Where the node keeps something.
    node_class : type or None
        That of the node; None where no gradient flows.
    saved : dict
        By what ``_saved_key`` returns, the number of what a node saves, as ``Nodes.keep`` has it.
    latest : int
        The one that was saved last.
    """

    __slots__ = (
        *("args", "attributes", "call", "entry", "is_spread", "kinds", "latest", "node_class"),
        *("number", "order", "rest", "saved", "schema", "texts"),
    )
    entry: NodeRecord
    attributes: Sequence[str]
    node_class: Any

    def __init__(
        self, schema: Schema, call: str, args: Any, places: Sequence[tuple[str, int]], place: Place
    ) -> None:
        self.schema, self.call, self.number = schema, call, -1
        self.args = tuple(arg for arg, _ in places)
        self.order = [at for _, at in places]
        self.kinds = [_REST] * len(args)
        for at in self.order:
            self.kinds[at] = _TENSOR if hasattr(args[at], "grad_fn") else _NUMBER
        self.rest = [x for x, kind in zip(args, self.kinds, strict=True) if kind == _REST]
        self.texts = {text for text in place.operands if text}
        self.is_spread = len(places) > len(place.operands)
        self.saved: dict[Any, int] = {}
        self.latest = 0

    def complete(self, entry: NodeRecord, node: Any, nodes: Nodes) -> None:
        """Take over what the entry of the first op says, now that it is complete."""
        self.entry, self.node_class = entry.copy(), None if node is None else node.__class__
        self.number = nodes.template(self)


class TorchAgain(TorchTransforms):
    """Notes of ops that ran before."""

    def _draft(
        self, schema: Schema, name: str, args: Any, sources: list[Input], params: Any, place: Place
    ) -> TorchDraft | None:
        """Return what the next op at this place has in common with this one, if that is enough."""
        layout = schema.layouts.get((name, len(args)))
        if layout is None or layout.has_index or schema.is_mutable or name in _ODD:
            return None
        places = [(arg, at) for arg, at in layout.inputs if at < len(args) and args[at] is not None]
        is_plain = [source["arg"] for source in sources] == [arg for arg, _ in places] and all(
            len(source) == 2 for source in sources
        )
        is_list = any(isinstance(args[at], tuple | list) for _, at in places)
        is_given = any(isinstance(value, self._kind) for value in params.values())
        if not is_plain or is_list or is_given or place.calls_back:
            return None
        return TorchDraft(schema, self._call, args, places, place)

    def _keep_draft(self, draft: TorchDraft, number: int, node: Any, place: Place) -> None:
        """Use a draft from now on, unless there is more to say of its first op than of the next."""
        entry = self._nodes[number]
        more = [key for key in ("again", "part_of", "transform", "inside", "mode") if key in entry]
        is_plain = not more if node is not None else more == ["mode"] and entry["mode"] == "grad"
        if not is_plain or any("by" in one for one in entry["saved"]):
            return
        draft.attributes = ()
        if node is not None:
            args = tuple(i["arg"] for i in entry["inputs"])
            pairs = self._attributes(node.__class__, draft.schema, entry["op"], args)
            draft.attributes = [attribute for attribute, _ in pairs]
            key = self._saved_key(draft, node)
            if key is None:
                return
            draft.latest = draft.saved[key] = self._nodes.keep(entry["saved"])
        draft.complete(entry, node, self._nodes)
        place.drafts[draft.schema] = draft

    def _ran_again(self, schema: Schema, args: Any, out: Any) -> bool:
        """Note an op that ran here before, if all there is to ask is which nodes are its inputs."""
        if self._running or self._is_inside or self._calls_inside is not None or self._grads:
            return False
        if self._is_transforms_own or not self._torch.is_grad_enabled():
            return False
        place, scope, frame = self._where()
        draft: TorchDraft | None = place.drafts.get(schema)
        if draft is None or draft.call != self._call or len(args) != len(draft.kinds):
            return False
        if self._packing is None or self._packing(True) is not None or scope in self._passes:
            return False
        if self._pending:
            self._meet_pending()
        sources = self._sources_again(draft, args)
        results = out if type(out) is tuple else (out,)
        result = results[0]
        array = array_of(result) if sources is not None and result.__class__ is self._kind else None
        if array is None or sources is None:
            return False
        self.is_again, more = False, None
        if draft.texts and not self._is_clear(draft, sources):
            inputs = [args[at] for at in draft.order]
            variables = self._names.name_operands(place, inputs, self._known, frame)
            if variables:
                words = [input_of(arg, x) for arg, x in zip(draft.args, sources, strict=True)]
                note_variables(words, variables)
                more, sources = {"inputs": words}, []
        if schema.is_view:
            self._note_window(result, args[0])
            self._note_memory(schema, [x for x in args if isinstance(x, self._kind)], [result])
        else:
            self._memory.update([memory_of(x) for x in results])
        nodes = self._nodes
        number = self._last_op = len(nodes)
        value = self._values.note(array if array.ndim else array[()])
        nodes.append((draft.number, self._scopes.inside, value, draft.latest, more, *sources))
        self._events.append(number)
        if place.name is not None or place.returned:
            self._names.name_result(number, place, scope)
        reference = self._outputs[number] = weakref.ref(result)
        self._tensors[id(result)] = reference, number
        self._pending.append((number, result, draft))
        for i, other in enumerate(results[1:], 1):
            self._note_rest(schema, other, i, place, number)
        return True

    def _sources_again(self, draft: TorchDraft, args: Any) -> list[Any] | None:
        """Return the inputs of an op as ``Nodes`` has them; None if more is to be asked."""
        sources: list[Any] = []
        kinds, tensor = draft.kinds, self._kind
        for at in draft.order:
            x = args[at]
            if isinstance(x, tensor):
                source = self._number_again(x)
                if source is None or kinds[at] != _TENSOR:
                    return None
                sources.append(source)
            elif kinds[at] != _NUMBER or x is None:
                return None
            elif type(x) is float and x - x == 0:
                sources.append(x)
            else:
                sources.append((parameter(x),))
        if draft.rest:
            rest = [x for x, kind in zip(args, kinds, strict=True) if kind == _REST]
            if any(isinstance(x, tensor) for x in rest) or rest != draft.rest:
                return None
        return sources

    def _is_clear(self, draft: TorchDraft, sources: list[Any]) -> bool:
        """Return whether there is nothing to name: each name that is written is an operand's."""
        names = [self._names.get(x) for x in sources if type(x) is int]
        if len(names) == 1:
            return names[0] in draft.texts
        if draft.texts.issubset(names) and not (draft.is_spread and None in names):
            return True
        return len({*names}) == len(names) and draft.texts.issuperset(names)

    def _number_again(self, tensor: Any) -> int | None:
        """Return our number of a tensor that nothing has happened to since it was noted."""
        node = grad_fn_of(tensor)
        if node is not None:
            numbers = node.metadata.get(self._key)
            if numbers is not None:
                known: int | None = numbers.get(tensor.output_nr)
                return known
        reference, number = self._tensors.get(id(tensor), (nothing, -1))
        is_known = node is not None or self._nodes.is_recorded(number) or not tensor.requires_grad
        return number if is_known and reference() is tensor else None

    def _meet_again(self, number: int, tensor: Any, draft: TorchDraft) -> None:
        """Get to know the node of an op that was noted by its draft."""
        node: Any = grad_fn_of(tensor)
        nodes = self._nodes
        if node is None and draft.node_class is None:
            return
        metadata: Any = None if node is None else node.metadata  # asked once: it takes its time
        is_new = type(node) is draft.node_class and self._key not in metadata
        if not is_new:
            entry = nodes[number]
            entry["grad_fn"], entry["recorded"], entry["requires_grad"] = None, False, False
            entry["saved"], entry["mode"] = [], "grad"
            if node is not None:
                self._meet(node, tensor.output_nr, number, draft.schema)
            return
        metadata[self._key] = {tensor.output_nr: number}
        if draft.attributes:
            key = self._saved_key(draft, node)
            saved = draft.saved.get(key, -1)
            if saved < 0:
                saved = nodes.keep(self._saved(node, nodes[number], draft.schema))
                if key is not None:
                    draft.saved[key] = saved
            if saved != draft.latest:
                nodes.note_saved(number, saved)
                draft.latest = saved
        self._meet_edges(node)

    def _saved_key(self, draft: TorchDraft, node: Any) -> Any:
        """Return what tells how much a node saves; None if only ``_saved`` can say it."""
        extents: list[Any] = []
        kind: Any = self._kind
        for attribute in draft.attributes:
            try:
                value = getattr(node, attribute)
            except RuntimeError:
                return None
            if isinstance(value, kind):
                try:
                    extents.append((value.data_ptr(), value.nbytes))
                except RuntimeError:
                    return None
            elif isinstance(value, tuple | list):
                return None
            else:
                extents.append((0, value.__class__ in (int, float)))
        if len(extents) == 1:
            return extents[0][1], extents[0][0] == 0
        return tuple([(size, at == 0, extents.index((at, size))) for at, size in extents])

    def _note_rest(self, schema: Schema, tensor: Any, index: int, place: Place, first: int) -> None:
        """Note what an operation returns beside its result, such as the indices of max."""
        raise NotImplementedError

    def _meet(self, node: Any, index: int, number: int, schema: Schema | None) -> None:
        """Get to know the node that made output ``index`` of an op."""
        raise NotImplementedError

    def _meet_pending(self) -> None:
        """Get to know the nodes of the ops that have just run."""
        raise NotImplementedError
