"""What the learner may do with a graph from outside: pack what it saves, name its edges, watch it.

After reading this file you know how saved tensors can be kept on disk, or not at all. The pack
hook gets each tensor at the moment when it would be saved, and the unpack hook must return it
when backward comes by. Read next: ``utils/checkpoint.py``, which is built on that.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from autodiff_kit.autograd.accumulate import Task
from autodiff_kit.autograd.grad_mode import AsDecorator, no_grad
from autodiff_kit.core.base import ARRAYS, wrap
from autodiff_kit.core.hooks import RemovableHandle
from autodiff_kit.core.mode import local
from autodiff_kit.core.node import Node
from autodiff_kit.core.node_hooks import OpOfOneNode, Visit, current_task
from autodiff_kit.core.observer import Both, Observer, installed
from autodiff_kit.core.op import Op, Params, Value
from autodiff_kit.core.setting import Setting
from autodiff_kit.core.shown import as_grad_fn, same_leaf, saving_order
from autodiff_kit.core.view_nodes import Nowhere
from autodiff_kit.errors import error
from autodiff_kit.outside import absent
from autodiff_kit.tensor import Tensor

__all__ = ["GradientEdge", "disable_saved_tensors_hooks", "get_gradient_edge"]
__all__ += ["register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks"]

Hooks = tuple[Callable[[Tensor], Any], Callable[[Any], Tensor]]


class _State(threading.local):
    def __init__(self) -> None:
        self.hooks: list[Hooks] = []  # the innermost pair is the last
        self.refusal: str | None = None  # set by disable_saved_tensors_hooks


_state = _State()


def current_hooks() -> Hooks | None:
    """Return the innermost pair (pack, unpack) of this thread."""
    return _state.hooks[-1] if _state.hooks else None


def hooks_of_thread() -> Sequence[Hooks]:
    """Return all pairs of this thread, as they will be at any time: one list."""
    return _state.hooks


class saved_tensors_hooks:
    """Inside the ``with`` block, keep what ``pack_hook`` makes of each tensor that is saved.

    Parameters
    ----------
    pack_hook : callable
        Gets the tensor, returns anything: a file name, a smaller tensor, ...
    unpack_hook : callable
        Gets what ``pack_hook`` returned, returns a tensor of the same shape and values; called in
        backward, or when a ``_saved_`` attribute is read.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> with saved_tensors_hooks(lambda t: t.tolist(), lambda numbers: torch.tensor(numbers)):
    ...     y = (x * x).sum()
    >>> y.backward()
    >>> x.grad
    tensor([2., 4.])
    """

    def __init__(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        if _state.refusal is not None:
            raise RuntimeError(_state.refusal)  # the words are the learner's
        _state.hooks.append((self.pack_hook, self.unpack_hook))
        mode = local.mode
        self._before = mode.observer
        mode.observer = _PACKER if self._before is None else Both(self._before, _PACKER)

    def __exit__(self, *exc: object) -> None:
        _state.hooks.pop()
        local.mode.observer = self._before


class save_on_cpu(saved_tensors_hooks):
    """Keep saved tensors in main memory: where the kit has them anyway."""

    def __init__(self, pin_memory: bool = False) -> None:
        super().__init__(lambda tensor: tensor, lambda packed: packed)


class disable_saved_tensors_hooks(AsDecorator, Setting):
    """Refuse ``saved_tensors_hooks`` inside, with a RuntimeError of these words."""

    def __init__(self, error_message: str) -> None:
        super().__init__(_state, "refusal", error_message)
        self._message = error_message

    def _fresh(self) -> disable_saved_tensors_hooks:
        return type(self)(self._message)

    def __enter__(self) -> None:
        if _state.hooks:
            raise RuntimeError(self._message)
        super().__enter__()


class Packed:
    """Stands where a node would have a saved array.

    ``is_output`` says whether the tensor has the node that saves it: then it must not be kept
    itself, or they would hold each other. ``converted_to`` is the dtype to which the rules want it
    converted, as forward did.
    """

    __slots__ = ("converted_to", "dtype", "nbytes", "packed", "shape", "unpack")

    def __init__(
        self, hooks: Hooks, tensor: Tensor, is_output: bool = False, converted_to: Any = None
    ) -> None:
        pack, self.unpack = hooks
        array, version, self.converted_to = tensor._array, tensor._version, converted_to
        self.shape, self.dtype, self.nbytes = array.shape, array.dtype, array.nbytes
        with no_grad(), installed(None):
            self.packed = pack(tensor)
        if tensor._version != version:
            raise error("graph.pack_in_place")
        if self.packed is tensor and is_output:
            self.packed = wrap(array)

    def array(self) -> Value:
        """Return the value as the rules want it."""
        array = self.unpacked()
        return array if self.converted_to is None else array.astype(self.converted_to)

    def unpacked(self) -> Value:
        """Return what the learner's ``unpack_hook`` makes of what was packed."""
        observer = local.mode.observer
        with installed(None if observer is None else observer.unpacking(self)):
            tensor = self.unpack(self.packed)
        if not isinstance(tensor, Tensor):
            raise error("graph.unpacked_type", kind=type(tensor).__name__)
        return tensor._array


def _unpacked(op: Op, values: Any) -> tuple[Value, Value, Value, tuple[Any, ...]]:
    """Return (out, x, y, rest) with nothing packed."""
    *slots, rest = values
    slots += rest
    for which in saving_order(op):
        if isinstance(slots[which], Packed):
            slots[which] = slots[which].array()
    out, x, y, *rest = slots
    return out, x, y, tuple(rest)


def _packed(op: Op, edges: tuple[Node | None, ...]) -> Any:
    """Return an op for one node, whose rules unpack what the node has saved."""
    visit = Visit(edges)

    def unpacking(rule: Callable[..., Value]) -> Callable[..., Value]:
        def unpack_first(g: Value, *values: Any) -> Value:
            unpacked = visit.once(g, lambda: _unpacked(op, values))
            return None if g is None else rule(g, *unpacked)

        return unpack_first

    rules = [unpacking(rule) for rule in (op.rule0, op.rule1, *op.rules_of_more)]
    return OpOfOneNode(op, rules, unpack=_unpacked_of)


def _unpacked_of(node: Node) -> Any:
    """Return what a node has saved, with the history that it had then.

    What becomes of a packed tensor later, if it is detached in place for example, is no matter.
    """
    op, packed = node.op, (node.out, node.x, node.y, *node.rest)
    edges, names = dict(node.edges()), ("out", *(*op.inputs, "", "")[:2], *op.rest)
    out, x, y, rest = _unpacked(op, (*packed[:3], packed[3:]))
    values: list[Value] = [out, x, y, *rest]
    for which, name in enumerate(names):
        if isinstance(packed[which], Packed) and edges.get(name) is not None:
            values[which] = wrap(values[which], edges[name])
    return *values[:3], tuple(values[3:])


class _Packer(Observer):
    """Packs what a new node has saved."""

    def applied(
        self, op: Op, inputs: Sequence[Any], params: Params, out: Tensor, node: Node | None
    ) -> None:
        hooks = current_hooks()
        if node is None or hooks is None or not op.saves or op.is_variadic or node.output_nr:
            return  # Functions pack by themselves
        node = node.whole
        inputs_by_id = {id(t._array): t for t in inputs if isinstance(t, Tensor)}
        originals, results = node.originals(), ("out", *op.by_products)
        names = ("out", *(*op.inputs, "", "")[:2], *op.rest)
        slots = [node.out, node.x, node.y, *node.rest[: len(op.rest)]]
        for which in saving_order(op):
            name, value = names[which], slots[which]
            if not isinstance(value, ARRAYS) or name not in (*results, *op.inputs):
                continue
            if not node.is_read(which):  # PyTorch saves no such
                continue
            if name in originals:  # that is what PyTorch saves
                tensor = same_leaf(wrap(originals[name], node.maker_of(name)))
                slots[which] = Packed(hooks, tensor, converted_to=value.dtype)
                continue
            is_output = name in results
            maker = node if which == 0 else node.maker_of(name)
            input = None if is_output else inputs_by_id.get(id(value))
            tensor = wrap(value, maker) if input is None else input
            slots[which] = Packed(hooks, tensor, is_output)
        node.out, node.x, node.y, *rest = slots
        node.rest = tuple(rest)
        if any(isinstance(value, Packed) for value in slots):
            node.op = _packed(node.op, (node.edge0, node.edge1, *node.more))


_PACKER = _Packer()


class GradientEdge(NamedTuple):
    """A place in the graph where a gradient flows; ``grad`` and ``backward`` take it for a tensor.

    ``node`` has ``output_nr`` as the number of this output; ``ownership_token`` stands for the
    tensor, without its values.
    """

    node: Node
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Return where the gradient of ``tensor`` flows; the tensor itself need not be kept.

    RuntimeError if it does not require grad.
    """
    if not tensor.requires_grad:
        raise error("graph.edge_without_grad")
    # Its values are not needed, and so not kept: an array of one number, repeated without memory.
    array = np.broadcast_to(np.zeros((), tensor._array.dtype), tensor._array.shape)
    node: Any = as_grad_fn(tensor._node)
    return GradientEdge(node, tensor.output_nr, wrap(array, tensor._node))


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., None], *, mode: str = "all"
) -> MultiHandle:
    """Call ``fn`` once in every backward that reaches some of ``tensors``.

    Parameters
    ----------
    tensors : sequence of Tensor
    fn : callable
        With ``mode="all"`` it gets the list of their gradients, with None where backward does not
        come by; with ``"any"`` the first gradient that is there.

    Returns
    -------
    MultiHandle - its ``remove()`` takes the hook back.
    """
    if mode not in ("all", "any"):
        raise error("graph.multi_grad_mode", mode=mode)
    if mode == "any":
        numbers: set[int] = set()

        def first(gradient: Tensor | None) -> None:
            number = _task().number
            if number not in numbers:
                numbers.add(number)
                fn(gradient)

        return MultiHandle([t.register_hook(first) for t in tensors if t.requires_grad])
    nodes = [_node_to_wait_for(t) for t in tensors]
    passes: dict[int, tuple[Iterator[int], list[Tensor | None]]] = {}  # how many are missing; which

    def hook_of(place: int) -> Callable[[Tensor | None], None]:
        def hook(gradient: Tensor | None) -> None:
            task = _task()
            if task.number not in passes:
                missing = reversed(range(task.count_visited(nodes)))
                passes[task.number] = missing, [None] * len(nodes)
            missing, gradients = passes[task.number]
            gradients[place] = gradient
            if next(missing, None) == 0:
                fn(gradients)
                del passes[task.number]

        return hook

    return MultiHandle([t.register_hook(hook_of(i)) for i, t in enumerate(tensors)])


def _task() -> Task:
    task = current_task()
    assert task is not None  # a hook is called by a backward pass
    return task


def _node_to_wait_for(tensor: Tensor) -> Node:
    node = tensor._node
    if tensor.is_leaf and node is not None and (local.mode.inference or tensor.is_inference()):
        raise error("graph.leaf_in_inference_mode")
    if node is None or isinstance(node, Nowhere):
        raise error("graph.multi_grad_without_grad")
    return node


class MultiHandle:
    """What registering one hook on several tensors returns."""

    def __init__(self, handles: list[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Take the hook back, from all of them."""
        for handle in self.handles:
            handle.remove()


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
