"""PyTorch's backward pass, by hooks: of every node when it is reached and left, and of every leaf.

After reading this file you know how each contribution of PyTorch's engine can be told from outside,
which adds them up out of sight: what a node has sent is asked of its hook and added up once more.
All hooks are gone when the recording ends. Read next: ``torch_functions.py``.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial, wraps
from types import FrameType
from typing import Any

from autodiff_kit.record.guard import guarded, nothing
from autodiff_kit.record.ledger import CONTRIBUTION, RELEASE, VISIT
from autodiff_kit.record.torch_notes import TorchNotes
from autodiff_kit.record.torch_ops import flat, grad_fn_of
from autodiff_kit.record.torch_values import detached, shape_of

__all__ = ["TorchBackward"]

Bound = Mapping[str, Any]  # the arguments of a call, by the names of its parameters

_NOTHING = nullcontext()
_NO_BROADCAST = ("expand", "sum_to", "repeat")  # their rules sum: nothing was broadcast


class _Pass:
    """A backward pass that is running.

    Attributes
    ----------
    frame : frame or None
        The learner's, that called it.
    has_begun : bool
        Whether it was told; the first node visited tells it.
    inputs : list of int
        The leaves whose gradients are returned instead of accumulated.
    waiting : dict from int to tensor
        What has come to a node so far.
    """

    def __init__(self, arguments: Bound) -> None:
        self.arguments = arguments
        self.frame: FrameType | None = None
        self.has_begun = False
        self.inputs: list[int] = []
        self.waiting: dict[int, Any] = {}
        create_graph = bool(arguments.get("create_graph"))
        retain = arguments.get("retain_graph")
        self.retains = create_graph if retain is None else bool(retain)


def _engine_hook(method: Callable[..., None]) -> Callable[..., None]:
    """Let a method be called by PyTorch's engine, in the function modes that are active there."""

    @wraps(method)
    def hook(self: Any, *what: Any) -> None:
        with self.aside():
            method(self, *what)

    return guarded(hook)


class TorchBackward(TorchNotes):
    """Notes of PyTorch's backward passes."""

    def __init__(self, torch: Any, limit: int, base: FrameType | None) -> None:
        super().__init__(torch, limit, base)
        self._handles: list[Any] = []
        self._hooked: set[int] = set()  # nodes that have hooks
        self._unseen: set[int] = set()  # likewise, of those that were not seen being made
        self._leaves: dict[int, weakref.ref[Any]] = {}
        self._outputs: dict[int, weakref.ref[Any]] = {}
        self._retained: dict[int, Any] = {}  # .grad of tensors that are no leaves
        self._running: list[_Pass] = []
        # Of leaves whose gradient has come: which tensor is in .grad, and in which version.
        self._before: dict[int, tuple[int, int] | None] = {}
        self._early: set[int] = set()  # leaves whose .grad was told before their hooks are over
        self._sums: list[tuple[Any, Any]] = []  # what the node visited now has summed

    @property
    def is_running(self) -> bool:
        """Whether a backward pass is running."""
        return bool(self._running)

    def aside(self) -> Any:
        """Switch function modes off for the recorder's own work in a backward pass."""
        return self._torch._C.DisableTorchFunction() if self._running else _NOTHING

    @contextmanager
    def backward(self, arguments: Bound) -> Iterator[None]:
        """Be there during a backward pass."""
        now = _Pass(arguments)
        self._running.append(now)
        self._prepare(now)
        try:
            yield
            self._finished(now)
        finally:
            self._running.pop()
            self._sums.clear()

    # -- hooks -----------------------------------------------------------------------------------

    def _hook_graph(self, roots: Sequence[Any]) -> None:
        """Be told when backward comes to a node, and when it leaves: of all that it can come to.

        Most nodes are never gone through, so they have no hooks before.
        """
        waiting = [node for tensor in roots if (node := grad_fn_of(tensor)) is not None]
        unseen: dict[int, Any] = {}  # held, so that their ids stay their own
        while waiting:
            node = waiting.pop()
            following = node.next_functions
            numbers = node.metadata.get(self._key)
            number = -1 if numbers is None else min(numbers.values())
            if number in self._hooked or id(node) in unseen or not following:
                continue
            if numbers is None or number in self._unseen:
                unseen[id(node)] = node
            else:
                self._hooked.add(number)
                edges = self._edges(following)
                self._handles.append(node.register_prehook(partial(self._visited, numbers)))
                self._handles.append(node.register_hook(partial(self._left, numbers, edges)))
            waiting += [one for one, _ in following if one is not None]

    def _meet_edges(self, node: Any) -> None:
        """Get to know what a new node leads to that was not met yet: leaves, and older nodes."""
        key = self._key
        for one, _ in node.next_functions:
            if one is not None and key not in one.metadata:
                self._edges(node.next_functions)
                break

    def _edges(self, following: Any) -> list[tuple[dict[int, int], int] | None]:
        """Return the numbers of the nodes that a node leads to; be told at leaves among them."""
        edges: list[tuple[dict[int, int], int] | None] = []
        for node, index in following:
            numbers = None if node is None else node.metadata.get(self._key)
            if node is not None and numbers is None:
                break
            edges.append(None if numbers is None else (numbers, index))
        else:  # as nearly always: all are known
            return edges
        for node, _ in following:
            if node is not None and hasattr(node, "variable"):
                self._watch(node)
        return [None if n is None else self._numbers_of(n, index) for n, index in following]

    def _hook_unseen(self, node: Any) -> None:
        """Be told of a node that was not seen being made: what it leads to once it is visited."""
        edges: list[tuple[dict[int, int], int] | None] = []
        follow = partial(self._follow, node.next_functions, edges)
        numbers = node.metadata[self._key]
        self._unseen.update(numbers.values())
        self._handles.append(node.register_prehook(partial(self._visited, numbers)))
        self._handles.append(node.register_prehook(follow))
        self._handles.append(node.register_hook(partial(self._left, numbers, edges)))

    @_engine_hook
    def _follow(self, following: Any, edges: Any, gradients: Sequence[Any]) -> None:
        """Get to know the nodes that one leads to, now that the pass goes there."""
        if not edges:
            edges += self._edges(following)

    def _watch(self, node: Any) -> None:
        """Be told when a gradient comes to a leaf."""
        if self._key in node.metadata:
            return
        leaf = node.variable
        number = self._number(leaf, 0)
        node.metadata[self._key] = {0: number}
        self._handles.append(node.register_prehook(partial(self._arrived, number)))
        if number not in self._leaves:
            self._leaves[number] = weakref.ref(leaf)
            hook = partial(self._accumulated, number)
            self._handles.append(leaf.register_post_accumulate_grad_hook(hook))

    # -- what happens ----------------------------------------------------------------------------

    @guarded
    def _prepare(self, now: _Pass) -> None:
        """Watch the roots that are leaves, and number the inputs, before anything runs."""
        arguments = now.arguments
        roots = arguments.get("self", arguments.get("tensors", arguments.get("outputs")))
        now.arguments = {**arguments, "roots": [t for t in flat((roots,)) if hasattr(t, "grad_fn")]}
        edges = self._torch.autograd.graph
        _, scope, _ = self._where()
        for tensor in now.arguments["roots"]:
            if grad_fn_of(tensor) is not None:  # a Function's result is met when it is first used
                self._number(tensor, scope)
        tensors = now.arguments["roots"]
        with self.at_work:
            now.arguments["edges"] = [  # held, so that their hooks stay
                edges.get_gradient_edge(t) for t in tensors if t.is_leaf and t.requires_grad
            ]
            for edge in now.arguments["edges"]:
                self._watch(edge.node)
        self._hook_graph(tensors)
        is_grad = "outputs" in arguments
        for tensor in flat((arguments.get("inputs"),)) if is_grad else ():
            if isinstance(tensor, self._torch.Tensor) and tensor.requires_grad:
                now.inputs.append(self._number(tensor, scope))

    def _begin(self, now: _Pass) -> None:
        now.has_begun = True
        place, now.frame = self._begin_backward()
        arguments = now.arguments
        names = ("gradient", "grad_tensors", "grad_outputs")
        gradient = next((arguments[n] for n in names if arguments.get(n) is not None), None)
        roots = arguments["roots"]
        seeds = [*flat((gradient,))] if gradient is not None else []
        seeds += [None] * (len(roots) - len(seeds))
        numbers = [self._number(t, 0) for t in roots]
        with self.at_work:
            ones = self._torch.ones_like
            seed = [
                self._value(ones(detached(t)) if g is None else g)
                for t, g in zip(roots, seeds, strict=False)
            ]
        self._tell_backward(numbers, seed, place)

    def _present(self) -> _Pass | None:
        """Return the running backward pass; the first to ask tells that it has begun."""
        now = self._running[-1] if self._running else None
        if now is not None and not now.has_begun:
            self._begin(now)
        return now

    @_engine_hook
    def _visited(self, numbers: dict[int, int], gradients: Sequence[Any]) -> None:
        now = self._present()
        self._sums.clear()
        for index, g in enumerate(gradients):
            if g is not None and index in numbers:
                if now is not None:
                    now.waiting.pop(numbers[index], None)
                self._events.append((VISIT, numbers[index], self._noted(g)))
                self._tell_retained(numbers[index], g)

    def _tell_retained(self, number: int, g: Any) -> None:
        """Tell what a tensor that is no leaf has in its .grad, if it retains that."""
        tensor: Any = self._outputs.get(number, nothing)()
        grad = tensor.grad if tensor is not None and tensor.retains_grad else None
        if grad is not None:
            before, now = self._retained.get(number), self._noted(grad)
            self._retained[number] = now
            self._tell_accumulation(number, self._noted(g), before, now, grad)

    @_engine_hook
    def _left(
        self,
        numbers: dict[int, int],
        edges: Sequence[tuple[dict[int, int], int] | None],
        seeds: Sequence[Any],
        gradients: Sequence[Any],
    ) -> None:
        """Note what a node has passed on, and that it has freed what it had saved."""
        now = self._present()
        came = [i for i, g in enumerate(gradients) if g is not None and i in numbers]
        number = numbers[came[-1] if came else min(numbers)]
        args = self._nodes.sources(number)
        for edge, g in zip(edges, seeds, strict=False):
            if edge is None or g is None:
                continue
            to = edge[0].get(edge[1], next(iter(edge[0].values())))
            place = next((i for i, (node, _) in enumerate(args) if node == to), None)
            arg = "" if place is None else args.pop(place)[1]
            self._contribute(now, number, arg, to, g)
        if now is not None and not now.retains:
            for saved in dict.fromkeys(numbers.values()):
                if things := self._nodes.saved(saved):
                    self._events.append((RELEASE, saved, sum([one["bytes"] for one in things])))
        self._sums.clear()

    def _contribute(self, now: _Pass | None, number: int, arg: str, to: int, g: Any) -> None:
        before = total = None
        if self._sums and self._nodes.op(number) not in _NO_BROADCAST:
            wide = self._nodes.shape(number)
            sums = enumerate(self._sums if shape_of(g) != wide else ())
            for i, (what, out) in sums:
                if shape_of(what) == wide and out.numel() == g.numel():
                    before = self._noted(what)
                    del self._sums[i]
                    break
        if now is not None:
            waiting = now.waiting.get(to)
            g = detached(g)
            now.waiting[to] = g if waiting is None else waiting + g
            total = None if waiting is None else self._noted(now.waiting[to])
        self._events.append((CONTRIBUTION, number, arg, to, before, self._noted(g), total))

    @_engine_hook
    def _arrived(self, number: int, gradients: Sequence[Any]) -> None:
        """Note that the whole gradient of a leaf is there."""
        now = self._present()
        if now is not None:
            now.waiting.pop(number, None)
        leaf = self._leaves[number]()
        grad = None if leaf is None else leaf.grad
        g = self._noted(gradients[0])
        self._grads[number] = None if grad is None else self._noted(grad), g
        self._before[number] = None if grad is None else (id(grad), grad._version)
        self._events.append((VISIT, number, g))

    @_engine_hook
    def _accumulated(self, number: int, leaf: Any) -> None:
        self._present()
        if number in self._early:
            self._early.remove(number)
            if leaf.grad is None:
                self._tell_grad(number, None, "", self._sources.nowhere)
            return
        before, g = self._grads.pop(number, (None, None))
        if not leaf.requires_grad and (
            leaf.grad is None or self._before.get(number) == (id(leaf.grad), leaf.grad._version)
        ):
            return  # PyTorch leaves the .grad as it was, and calls the hooks
        grad = g if leaf.grad is None else self._noted(leaf.grad)  # None: a hook has cleared it
        if grad is not None:
            self._tell_accumulation(number, grad if g is None else g, before, grad, leaf.grad)

    def _see_accumulated(self) -> None:
        """Tell what leaves have in their .grad before hooks that wait for it do something."""
        for number in list(self._grads):
            leaf = self._leaves[number]()
            grad = None if leaf is None else leaf.grad
            if grad is not None and self._before.get(number) != (id(grad), grad._version):
                self._accumulated(number, leaf)
                self._early.add(number)

    @guarded
    def _finished(self, now: _Pass) -> None:
        if not now.has_begun:
            return
        for number in now.inputs:  # torch.autograd.grad ends where a leaf would be visited
            if number in now.waiting:
                value = self._value(now.waiting.pop(number))
                self._events.append({"kind": "visit", "node": number, "g": value})
        self._scopes.end_backward()
        self._finish()
