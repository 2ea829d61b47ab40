"""The same recording from real PyTorch: ``with ak.record(torch) as rec:``.

After reading this file you know which of PyTorch's own means show a run from outside: a function
mode (which call of the learner's), a dispatch mode (which operations it is made of), hooks of
nodes and leaves (what backward does), hooks of optimizers. Nothing is patched, and all hooks are
gone when the block ends. PyTorch is never imported here: the learner hands it in. Read next:
``recorder.py``, whose notes on names, places and scopes serve here as well.
"""

from __future__ import annotations

import inspect
import sys
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from inspect import CO_OPTIMIZED
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from autodiff_kit.ops import OPS, load_all
from autodiff_kit.record.recorder import (
    _INDEX,
    _OVERWRITING,
    _WORD,
    _describe,
    _entry,
    _guarded,
    _Recorder,
)
from autodiff_kit.record.recording import Recording
from autodiff_kit.record.scopes import look, look_up
from autodiff_kit.record.source import Place, is_foreign
from autodiff_kit.record.torch_ops import NO_OPERATION, bind, describe, described, flat, name_of
from autodiff_kit.record.values import parameter, summary

__all__ = ["record_torch"]

_NO_BROADCAST = ("expand", "sum_to", "repeat")  # their rules sum: nothing was broadcast


class record_torch:
    """Record what real PyTorch does inside a ``with`` block; ``ak.record(torch)`` makes one.

    Parameters
    ----------
    torch : module
        PyTorch.
    limit : int, default 100_000
        As for ``record``.

    Raises
    ------
    TypeError
        If ``torch`` is another module, or one without the means that recording needs.
    """

    def __init__(self, torch: Any, *, limit: int = 100_000) -> None:
        if not (isinstance(torch, ModuleType) and torch.__name__ == "torch"):
            what = torch.__name__ if isinstance(torch, ModuleType) else type(torch).__name__
            raise TypeError(
                f"record can watch this kit or PyTorch, and this is {what}.\n"
                "-> import torch, and write `with ak.record(torch) as rec:`. Without PyTorch, "
                "`with ak.record() as rec:` records the kit itself."
            )
        try:  # parts of PyTorch that `import torch` has loaded
            self._function_mode = sys.modules["torch.overrides"].TorchFunctionMode
            self._dispatch_mode = sys.modules["torch.utils._python_dispatch"].TorchDispatchMode
        except (KeyError, AttributeError):
            raise TypeError(
                f"This PyTorch ({getattr(torch, '__version__', 'of no version')}) cannot be "
                "watched: it has no function and dispatch modes.\n-> Use PyTorch 2.1 or newer."
            ) from None
        self.torch, self.limit = torch, limit

    def __enter__(self) -> Recording:
        base: FrameType | None = sys._getframe(1)
        while base is not None and is_foreign(base.f_code.co_filename):
            base = base.f_back
        self._recorder = _TorchRecorder(self.torch, self.limit, base)
        functions, operations = _modes(
            self._function_mode, self._dispatch_mode, self._recorder, self.torch
        )
        with ExitStack() as stack:
            stack.callback(self._recorder.leave)
            stack.enter_context(self._recorder.optimizers())
            stack.enter_context(functions)
            stack.enter_context(operations)
            self._exit = stack.pop_all()
        return self._recorder.recording

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        self._exit.close()
        if error is not None:
            self.failed(error)
        self._recorder.finish()
        del self._recorder, self._exit

    def failed(self, error: BaseException) -> None:
        """Note the exception that ended the run, with the learner's line that raised it."""
        self._recorder.failed(error)


def _modes(functions: Any, operations: Any, recorder: _TorchRecorder, torch: Any) -> Any:
    """Return the two modes: one for the learner's calls, one for the operations they consist of."""
    backward = {
        torch.Tensor.backward: inspect.signature(torch.Tensor.backward),
        torch.autograd.backward: inspect.signature(torch.autograd.backward),
        torch.autograd.grad: inspect.signature(torch.autograd.grad),
    }

    class Calls(functions):  # type: ignore[misc]
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            if recorder.is_busy:
                return func(*args, **kwargs)
            if func in backward:
                bound = backward[func].bind(*args, **kwargs).arguments
                with recorder.backward(bound):
                    return func(*args, **kwargs)
            direct = not is_foreign(sys._getframe(1).f_code.co_filename)
            with recorder.call(func, args, direct):
                out = func(*args, **kwargs)
            recorder.called(func, args, out, direct)
            return out

    class Operations(operations):  # type: ignore[misc]
        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # else the first operation would load the compiler: some seconds

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            if recorder.is_busy:
                return func(*args, **kwargs)
            recorder.announced(func, args, kwargs)
            out = func(*args, **kwargs)
            recorder.ran(func, args, kwargs, out)
            return out

    return Calls(), Operations()


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

    def __init__(self, told: Mapping[str, Any]) -> None:
        self.told = told
        self.frame: FrameType | None = None
        self.has_begun = False
        self.inputs: list[int] = []
        self.waiting: dict[int, Any] = {}
        create_graph = bool(told.get("create_graph"))
        retain = told.get("retain_graph")
        self.retains = create_graph if retain is None else bool(retain)


class _TorchRecorder(_Recorder):
    """Takes the notes; the names, places and scopes are those of the kit's own recorder."""

    def __init__(self, torch: Any, limit: int, base: FrameType | None) -> None:
        super().__init__(limit, base)
        load_all()
        self.is_busy = False  # what PyTorch is asked for taking notes is not noted
        self._torch = torch
        self._key = object()  # under which a node's metadata has our numbers of its outputs
        self._handles: list[Any] = []
        self._leaves: dict[int, weakref.ref[Any]] = {}
        self._seen: dict[int, tuple[weakref.ref[Any], int]] = {}  # tensors, by id
        self._pending: list[tuple[int, Any, Any]] = []  # ops whose node is still to come
        self._args: dict[int, list[tuple[int, str]]] = {}  # op -> its inputs: node, argument
        self._call = ""  # the name of the function that the learner has called
        self._is_inside = False  # an optimizer's step, or an initialiser
        self._running: list[_Pass] = []
        self._sums: list[tuple[Any, Any]] = []  # what the node visited now has summed
        self._applied: list[tuple[FrameType, str, Place, int]] = []  # Function.apply
        self._apply = torch.autograd.Function.apply.__func__.__code__
        self._undo = torch.autograd.function.BackwardCFunction.apply.__code__

    # -- the learner's calls ---------------------------------------------------------------------

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        before, self.is_busy = self.is_busy, True
        try:
            yield
        finally:
            self.is_busy = before

    @contextmanager
    def call(self, func: Any, args: Any, direct: bool) -> Iterator[None]:
        """Note which function is running, and whether the learner has called it."""
        name = getattr(func, "__name__", "")
        initialises = getattr(func, "__module__", "") == "torch.nn.init"
        first = args[0] if args else None
        in_place = name.endswith("_") and not name.endswith("__")
        if in_place and not direct and isinstance(first, self._torch.Tensor):
            initialises = self._find(first) is None  # a layer that is being made
        outer = self._call, self._is_inside
        self._call, self._is_inside = name, self._is_inside or initialises
        self.settle()
        before = self._number_here(first) if name == "__setitem__" else None
        self._is_inside = self._is_inside or before is not None
        try:
            yield
            if before is not None:
                self.set_item(args, before)
        finally:
            self._call, self._is_inside = outer
            self.settle()

    def _number_here(self, tensor: Any) -> int | None:
        """Return our number of a tensor that is about to be changed, if all is well so far."""
        found: list[int] = []
        self._ask(found, tensor)
        return found[0] if found else None

    @_guarded
    def _ask(self, found: list[int], tensor: Any) -> None:
        if not self._is_inside:
            _, scope, _ = self._where()
            found.append(self._number(tensor, scope))

    @_guarded
    def called(self, func: Any, args: Any, out: Any, direct: bool) -> None:
        """Note what a call that is over was: a new tensor, a branch, an item that was set."""
        if self._is_inside or not direct:
            return
        name = getattr(func, "__name__", "")
        if name == "__bool__":
            place, scope, _ = self._where()
            number = self._number(args[0], scope)
            self._tell("branch", node=number, taken=bool(out), where=place.where)
        elif isinstance(out, self._torch.Tensor) and out.grad_fn is None:
            if self._find(out) is not None:
                return
            makes = not any(isinstance(arg, self._torch.Tensor) for arg in flat(args))
            if makes or name.endswith("_like") or name.startswith("new_"):
                place, scope, _ = self._where()
                number = self._add_leaf(out, scope, place)
                if place.name is not None or place.returned:
                    self._name_result(number, place, scope)

    @contextmanager
    def backward(self, told: Mapping[str, Any]) -> Iterator[None]:
        """Be there during a backward pass."""
        now = _Pass(told)
        self.settle()
        self._running.append(now)
        self._prepare(now)
        try:
            yield
            self._finished(now)
        finally:
            self._running.pop()
            self._sums.clear()

    @contextmanager
    def optimizers(self) -> Iterator[None]:
        """Be told of every optimizer's step."""
        module = sys.modules["torch.optim.optimizer"]
        handles = (
            module.register_optimizer_step_pre_hook(self._steps),
            module.register_optimizer_step_post_hook(self._stepped),
        )
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def _steps(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self.settle()
        # With a closure the step runs the learner's code; then all of it is recorded.
        self._is_inside = not any(map(callable, (*args[1:], *kwargs.values())))

    def _stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self._is_inside = False
        self._tell_step(optimizer)

    @_guarded
    def _tell_step(self, optimizer: Any) -> None:
        place, scope, _ = self._where()
        for group in optimizer.param_groups:
            for tensor in group["params"]:
                if tensor.grad is not None:
                    how = f"{type(optimizer).__name__}.step"
                    self._change(self._number(tensor, scope), how, tensor, place)

    def leave(self) -> None:
        """Take all hooks away again."""
        self.settle()
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    # -- operations ------------------------------------------------------------------------------

    def _is_told(self, func: Any) -> bool:
        """Return whether an operation is one of the learner's, and not PyTorch's bookkeeping."""
        name = func._schema.name
        if not name.startswith("aten::") or name[6:] in NO_OPERATION or self._is_inside:
            return False
        frame: FrameType | None = sys._getframe(3)
        now = self._running[-1] if self._running else None
        is_grad_enabled = self._torch.is_grad_enabled()
        if is_grad_enabled:
            return True  # in a backward pass, too: create_graph records that
        is_hook = False
        while frame is not None and (now is None or frame is not now.frame):
            if frame.f_code is self._apply:
                self._note_function(frame)
            if frame.f_code in (self._apply, self._undo):
                return False  # what a Function of the learner's does inside is its own business
            is_hook = is_hook or self._is_learners[frame.f_code.co_filename]
            if now is None and frame is self._scopes._base:
                break
            frame = frame.f_back
        return now is None or is_hook

    def _note_function(self, frame: FrameType) -> None:
        """Note where a Function of the learner's is applied; its node shows up later."""
        if any(known is frame for known, _, _, _ in self._applied):
            return
        entry, caller = frame, frame.f_back
        while caller is not None and not self._is_learners[caller.f_code.co_filename]:
            entry, caller = caller, caller.f_back
        if caller is not None:
            place, scope = self._scopes.enter(caller, entry)
            name = look_up(frame, ("cls",))[0].__name__
            self._applied.append((frame, name, place, scope))

    @_guarded
    def announced(self, func: Any, args: Any, kwargs: Any) -> None:
        """Look at the operands, before an operation may change them."""
        self._operands: list[tuple[Any, int | None]] | None = None
        if not self._is_told(func):
            return
        self.settle()
        _, scope, _ = self._where()
        name = name_of(func, self._call)
        overwrites = name in _OVERWRITING
        self._operands = []
        for i, value in enumerate(flat(args)):
            if not isinstance(value, self._torch.Tensor):
                continue
            if i == 0 and overwrites and self._find(value) is None:
                self._operands.append((value, None))
            else:
                self._operands.append((value, self._number(value, scope)))

    @_guarded
    def ran(self, func: Any, args: Any, kwargs: Any, out: Any) -> None:
        """Note an operation."""
        operands, self._operands = getattr(self, "_operands", None), None
        if operands is None:
            if self._running and func._schema.name == "aten::sum":
                self._sums.append((args[0], out))
            return
        place, scope, frame = self._where()
        numbers = {id(tensor): number for tensor, number in operands}
        outs = [o for o in flat((out,)) if isinstance(o, self._torch.Tensor)]
        if not isinstance(out, list):
            outs = outs[:1]  # of a tuple, only the first is the result
        for i, result in enumerate(outs):
            number = self._add_op(func, args, kwargs, numbers, (place, scope, frame), result, i)
        if outs and func._schema.is_mutable:
            self._change_in_place(func, args[0], number, (place, scope), numbers)

    def _add_op(
        self, func: Any, args: Any, kwargs: Any, numbers: Any, at: Any, out: Any, index: int
    ) -> int:
        place, scope, frame = at
        name = name_of(func, self._call)
        op = _describe(OPS[name]) if name in OPS else describe(func)
        self.recording.ops.setdefault(name, dict(op))
        inputs, params = bind(func, name, op, args, kwargs, self._torch.Tensor, index)
        sources: list[dict[str, Any]] = []
        tensors: list[Any] = []
        for arg, value in inputs:
            tensors.append(value)
            if not isinstance(value, self._torch.Tensor):
                sources.append({"arg": arg, "value": parameter(value)})
            elif numbers.get(id(value)) is not None:
                sources.append({"arg": arg, "node": numbers[id(value)]})
        is_own = scope not in self._passes
        if is_own and place.operands:
            self._name_operands(place, tensors, frame)
        number = self._last_op = len(self._nodes)
        entry = _entry("op", place.text if is_own else "", None, place.where)
        entry |= {"id": number, "op": name, "inputs": sources, "scope": scope}
        entry["value"] = self._value(out)
        entry["params"] = {key: self._parameter(value) for key, value in params.items()}
        if is_own and (place.name is not None or place.returned):
            self._name_result(number, place, scope)
        self._nodes.append(entry)
        self._events.append({"kind": "op", "node": number})
        self._args[number] = [(s["node"], s["arg"]) for s in sources if "node" in s]
        if func._schema.is_mutable and out.is_leaf and out.requires_grad:
            return number  # a leaf that is changed under no_grad stays what it was
        self._seen[id(out)] = (weakref.ref(out), number)
        self._pending.append((number, out, func))
        return number

    def _change_in_place(self, func: Any, tensor: Any, number: int, at: Any, numbers: Any) -> None:
        """Note that an operation has changed a tensor, and with a view its base."""
        place, scope = at
        how = func._schema.name[6:]
        if self._call not in (how, f"__i{how.rstrip('_')}__", ""):
            return  # within a call, on what that call has made
        if tensor.is_leaf and tensor.requires_grad:
            self._names.pop(number, None)
            number = self._number(tensor, scope)
        elif (before := numbers.get(id(tensor))) in self._names:
            self._names[number] = self._names[before]
        if scope in self._passes:
            return
        base = tensor._base
        if base is None or not base.requires_grad or base.is_leaf:
            self._change(number, how, tensor, place)
            if base is not None:
                self._change(self._number(base, scope), how, base, place)
            return
        # To PyTorch that is one node, of the base, and after it a new one of the view.
        self._pending.pop()
        self._nodes[number]["op"] = "copy_slices"
        self._nodes[number]["value"] = self._value(base)
        old = self._seen[id(base)][1] if id(base) in self._seen else self._number(base, scope)
        inputs = [{"arg": "x", "node": old}, *self._nodes[number]["inputs"][1:]]
        self._nodes[number]["inputs"] = inputs
        self._args[number] = [(i["node"], i["arg"]) for i in inputs if "node" in i]
        self.recording.ops["copy_slices"] = described("copy_slices", ["x", "y"])
        self._become(base, old, number, how, place)
        self._become(tensor, numbers[id(tensor)], self._pick(number, tensor, at), how, place)

    def _become(self, tensor: Any, before: int, number: int, how: str, place: Place) -> None:
        """Note that a tensor is the result of another op now."""
        if before in self._names:
            self._names[number] = self._names[before]
        self._seen[id(tensor)] = (weakref.ref(tensor), number)
        self._pending.append((number, tensor, None))
        self._change(number, how, tensor, place)

    def _pick(self, base: int, view: Any, at: Any) -> int:
        source = [{"arg": "x", "node": base}]
        return self._put("pick", source, {}, view, at)

    def _put(self, op: str, inputs: list[dict[str, Any]], params: Any, out: Any, at: Any) -> int:
        """Add an op that is none of PyTorch's own operations."""
        place, scope = at
        number = self._last_op = len(self._nodes)
        self.recording.ops.setdefault(op, dict(_describe(OPS[op])))
        entry = _entry("op", place.text, None, place.where)
        entry |= {"id": number, "op": op, "inputs": inputs, "scope": scope, "params": params}
        entry["value"] = self._value(out)
        self._nodes.append(entry)
        self._events.append({"kind": "op", "node": number})
        self._args[number] = [(i["node"], i["arg"]) for i in inputs if "node" in i]
        return number

    @_guarded
    def set_item(self, args: Any, before: int) -> None:
        """Note that the learner has set an item of a tensor."""
        tensor, positions, value = args
        place, scope, _ = self._where()
        source: dict[str, Any] = {"arg": "y", "value": parameter(value)}
        if isinstance(value, self._torch.Tensor):
            source = {"arg": "y", "node": self._number(value, scope)}
        inputs = [{"arg": "x", "node": before}, source]
        params = {"positions": self._parameter(positions)}
        number = self._put("put", inputs, params, tensor, (place, scope))
        if tensor.is_leaf and tensor.requires_grad:
            self._change(before, "__setitem__", tensor, place)
        else:
            self._become(tensor, before, number, "__setitem__", place)
            self.settle()

    def _change(self, number: int, how: str, tensor: Any, place: Place) -> None:
        self._tell("modified", node=number, how=how, value=self._value(tensor), where=place.where)

    @_guarded
    def settle(self) -> None:
        """Look at the nodes of the ops that have just run: now they are there."""
        pending, self._pending = self._pending, []
        with self._at_work():
            for number, tensor, func in pending:
                node = tensor.grad_fn
                if node is not None:
                    self._meet(node, tensor.output_nr, number, func)

    def _meet(self, node: Any, index: int, number: int, func: Any) -> None:
        """Get to know the node that made output ``index`` of an op."""
        entry = self._nodes[number]
        entry["grad_fn"], entry["recorded"], entry["requires_grad"] = node.name(), True, True
        numbers = node.metadata.get(self._key)
        if numbers is not None:  # another result of the same node
            numbers[index] = number
            return
        node.metadata[self._key] = {index: number}
        entry["saved"] = self._saved(node, entry, func)
        self._hook(node)

    def _hook(self, node: Any) -> None:
        """Be told when backward comes to a node, and when it leaves; likewise at its leaves."""
        numbers = node.metadata[self._key]
        edges = []
        for following, index in node.next_functions:
            if following is not None and hasattr(following, "variable"):
                self._watch(following)
            edges.append(None if following is None else self._numbers_of(following, index))
        self._handles.append(node.register_prehook(partial(self._visited, numbers)))
        self._handles.append(node.register_hook(partial(self._left, numbers, edges)))

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

    def _numbers_of(self, node: Any, index: int) -> tuple[dict[int, int], int]:
        """Return the numbers of a node's outputs; of one older than the recording, a leaf's."""
        numbers = node.metadata.get(self._key)
        if numbers is None:
            name = node.name()
            value = {"shape": [], "dtype": "", "data": []}
            number = self._tell_leaf(None, name, value, 0, None)
            self._nodes[number]["recorded"] = self._nodes[number]["requires_grad"] = True
            numbers = node.metadata[self._key] = {index: number}
        return numbers, index

    def _saved(self, node: Any, entry: Mapping[str, Any], func: Any) -> list[dict[str, Any]]:
        """Return what PyTorch's node says that it keeps."""
        private = self._torch._C._autograd
        hooks = getattr(private, "_top_saved_tensors_default_hooks", None)
        if hooks is None or hooks(True) is not None:
            return []  # asking would call the learner's own hooks
        args = [i["arg"] for i in entry["inputs"]]
        names = [] if func is None else [a.name for a in func._schema.arguments]
        numbers = {i["arg"] for i in entry["inputs"] if "value" in i}
        wanted = [i["arg"] for i in entry["inputs"] if self._is_wanted(i)]
        rules = self.recording.ops[entry["op"]]["rules"]
        found = []
        for attribute in _saved_names(node.__class__):
            try:
                value = getattr(node, attribute)
            except RuntimeError:
                continue  # changed already, which is for backward to complain of
            size = sum(t.nbytes for t in flat((value,)) if isinstance(t, self._torch.Tensor))
            if not size:
                continue
            name = attribute.removeprefix("_saved_")
            if name in ("result", "out", "values"):
                name = "out"
            elif name in names and names.index(name) < len(args):
                name = args[names.index(name)]
            readers = [w for w in wanted if name in rules.get(w.split("[")[0], {}).get("reads", ())]
            size = 0 if name in numbers else size
            found.append({"name": name, "for": readers or wanted or [name], "bytes": size})
        order = ["out", *args]
        found.sort(key=lambda s: order.index(s["name"]) if s["name"] in order else len(order))
        return found

    def _is_wanted(self, source: Mapping[str, Any]) -> bool:
        return "node" in source and bool(self._nodes[source["node"]]["recorded"])

    # -- the backward pass -----------------------------------------------------------------------

    @_guarded
    def _prepare(self, now: _Pass) -> None:
        """Watch the roots that are leaves, and number the inputs, before anything runs."""
        told = now.told
        roots = told.get("self", told.get("tensors", told.get("outputs")))
        now.told = {**told, "roots": [t for t in flat((roots,)) if hasattr(t, "grad_fn")]}
        edges = self._torch.autograd.graph
        with self._at_work():
            tensors = now.told["roots"]
            now.told["edges"] = [  # held, so that their hooks stay
                edges.get_gradient_edge(t) for t in tensors if t.is_leaf and t.requires_grad
            ]
            for edge in now.told["edges"]:
                self._watch(edge.node)
        is_grad = "outputs" in told
        for tensor in flat((told.get("inputs"),)) if is_grad else ():
            if isinstance(tensor, self._torch.Tensor) and tensor.requires_grad:
                _, scope, _ = self._where()
                now.inputs.append(self._number(tensor, scope))

    def _begin(self, now: _Pass) -> None:
        now.has_begun = True
        place, _, frame = self._where()
        now.frame = frame
        if frame is not None:
            self._passes.add(self._scopes.begin_backward(frame, place))
        told = now.told
        names = ("gradient", "grad_tensors", "grad_outputs")
        given = next((told[n] for n in names if told.get(n) is not None), None)
        roots = told["roots"]
        seeds = [*flat((given,))] if given is not None else []
        seeds += [None] * (len(roots) - len(seeds))
        numbers = [self._number(t, 0) for t in roots]
        with self._at_work():
            ones = self._torch.ones_like
            seed = [
                self._value(ones(t.detach()) if g is None else g)
                for t, g in zip(roots, seeds, strict=False)
            ]
        self._tell("backward", roots=numbers, seed=seed, where=place.where)

    def _present(self) -> _Pass | None:
        """Return the running backward pass; the first to ask tells that it has begun."""
        now = self._running[-1] if self._running else None
        if now is not None and not now.has_begun:
            self._begin(now)
        return now

    @_guarded
    def _visited(self, numbers: dict[int, int], gradients: Sequence[Any]) -> None:
        now = self._present()
        self._sums.clear()
        for index, g in enumerate(gradients):
            if g is not None and index in numbers:
                if now is not None:
                    now.waiting.pop(numbers[index], None)
                self._tell("visit", node=numbers[index], g=self._value(g))

    @_guarded
    def _left(
        self,
        numbers: dict[int, int],
        edges: Sequence[tuple[dict[int, int], int] | None],
        sent: Sequence[Any],
        gradients: Sequence[Any],
    ) -> None:
        """Note what a node has sent, and that it has let go of what it had saved."""
        now = self._present()
        came = [i for i, g in enumerate(gradients) if g is not None and i in numbers]
        number = numbers[came[-1] if came else min(numbers)]
        entry = self._nodes[number]
        args = list(self._args.get(number, ()))
        for edge, g in zip(edges, sent, strict=False):
            if edge is None or g is None:
                continue
            to = edge[0].get(edge[1], next(iter(edge[0].values())))
            place = next((i for i, (node, _) in enumerate(args) if node == to), None)
            arg = "" if place is None else args.pop(place)[1]
            self._contribute(now, entry, arg, to, g)
        if now is not None and not now.retains:
            for saved in dict.fromkeys(numbers.values()):
                kept = self._nodes[saved]["saved"]
                if kept:
                    self._tell("release", node=saved, bytes=sum(s["bytes"] for s in kept))
        self._sums.clear()

    def _contribute(self, now: _Pass | None, entry: Any, arg: str, to: int, g: Any) -> None:
        before = None
        wide = entry["value"]["shape"]
        if list(g.shape) != wide and entry["op"] not in _NO_BROADCAST:
            for i, (what, out) in enumerate(self._sums):
                if list(what.shape) == wide and out.numel() == g.numel():
                    before = self._value(what)
                    del self._sums[i]
                    break
        total = None
        if now is not None:
            waiting = now.waiting.get(to)
            with self._at_work():
                g = g.detach()
                now.waiting[to] = g if waiting is None else waiting + g
            total = None if waiting is None else self._value(now.waiting[to])
        after = self._value(g)
        self._tell(
            "contribution",
            node=entry["id"],
            arg=arg,
            to=to,
            before=before,
            after=after,
            total=total,
        )

    @_guarded
    def _arrived(self, number: int, gradients: Sequence[Any]) -> None:
        """Note that the whole gradient of a leaf is there."""
        now = self._present()
        if now is not None:
            now.waiting.pop(number, None)
        leaf = self._leaves[number]()
        grad = None if leaf is None else leaf.grad
        self._grads[number] = None if grad is None else self._value(grad), self._value(gradients[0])
        self._tell("visit", node=number, g=self._grads[number][1])

    @_guarded
    def _accumulated(self, number: int, leaf: Any) -> None:
        self._present()
        grad = self._value(leaf.grad)
        before, g = self._grads.pop(number, (None, grad))
        self._tell("accumulate", node=number, g=g, before=before, grad=grad)

    @_guarded
    def _finished(self, now: _Pass) -> None:
        if not now.has_begun:
            return
        for number in now.inputs:  # torch.autograd.grad ends where a leaf would be visited
            if number in now.waiting:
                self._tell("visit", node=number, g=self._value(now.waiting.pop(number)))
        self._scopes.end_backward()
        self._tell("finish")

    # -- which tensor, which node ----------------------------------------------------------------

    def _find(self, tensor: Any) -> int | None:
        """Return our number of a tensor, if it has one."""
        with self._at_work():
            node = tensor.grad_fn
            numbers = None if node is None else node.metadata.get(self._key)
            if numbers is not None:
                return int(numbers.get(tensor.output_nr, next(iter(numbers.values()))))
        reference, number = self._seen.get(id(tensor), (_gone, -1))
        return number if reference() is tensor else None

    def _number(self, tensor: Any, scope: int) -> int:
        number = self._find(tensor)
        with self._at_work():
            node, requires = tensor.grad_fn, tensor.requires_grad
        if number is not None:
            entry = self._nodes[number]
            if node is not None or entry["recorded"] or not requires:
                return number
            if entry["kind"] == "leaf":  # requires_grad_() came after it was made
                entry["recorded"] = entry["requires_grad"] = True
                return number
            if any(number == waiting for waiting, _, _ in self._pending):
                return number
            self._names.pop(number, None)  # a result was made a leaf: that has the name now
        if node is not None and isinstance(node, self._torch.autograd.function.BackwardCFunction):
            return self._add_function(tensor, node, scope)
        number = self._add_leaf(tensor, scope, None)
        is_parameter = type(tensor) is not self._torch.Tensor
        if not (is_parameter and self._is_owned(number, tensor)):
            name = self._held_as(tensor)
            if name:
                self._names[number] = name
            elif not is_parameter:
                self._is_owned(number, tensor)
        return number

    def _add_function(self, tensor: Any, node: Any, scope: int) -> int:
        """Note the op of a Function of the learner's, when its result is first used."""
        name = node.name().removesuffix("Backward")
        noted = [i for i, (_, known, _, _) in enumerate(self._applied) if known == name]
        place, at = (self._sources.nowhere, scope)
        if noted:
            _, _, place, at = self._applied.pop(noted[0])
        inputs: list[dict[str, Any]] = []
        for following, index in node.next_functions:
            if following is not None:
                if hasattr(following, "variable"):
                    self._watch(following)
                numbers, index = self._numbers_of(following, index)
                source = numbers.get(index, next(iter(numbers.values())))
                inputs.append({"arg": f"inputs[{len(inputs)}]", "node": source})
        self.recording.ops.setdefault(name, described(name, ["inputs"]))
        number = self._last_op = len(self._nodes)
        entry = _entry("op", place.text, None, place.where)
        entry |= {"id": number, "op": name, "inputs": inputs, "scope": at}
        entry["value"] = self._value(tensor)
        self._nodes.append(entry)
        self._events.append({"kind": "op", "node": number})
        self._args[number] = [(i["node"], i["arg"]) for i in inputs]
        self._seen[id(tensor)] = (weakref.ref(tensor), number)
        if place.name is not None or place.returned:
            self._name_result(number, place, at)
        with self._at_work():
            entry["grad_fn"], entry["recorded"], entry["requires_grad"] = node.name(), True, True
            node.metadata[self._key] = {tensor.output_nr: number}
            try:
                kept = node.saved_tensors
            except RuntimeError:
                kept = ()
            readers = [i["arg"].split("[")[0] for i in inputs][:1]
            entry["saved"] = [
                {"name": f"saved_tensors[{i}]", "for": readers, "bytes": t.nbytes}
                for i, t in enumerate(kept)
                if t is not None and readers
            ]
            self._hook(node)
        return number

    def _add_leaf(self, tensor: Any, scope: int, place: Place | None) -> int:
        with self._at_work():
            node, requires = tensor.grad_fn, tensor.requires_grad
            name = None if node is None else node.name()
        number = self._tell_leaf(None, name, self._value(tensor), scope, place)
        self._nodes[number]["recorded"] = self._nodes[number]["requires_grad"] = bool(requires)
        self._seen[id(tensor)] = (weakref.ref(tensor), number)
        if node is not None:
            node.metadata[self._key] = {tensor.output_nr: number}
        return number

    # -- names: as in the kit's recorder, for PyTorch's tensors ----------------------------------

    def _name_operands(self, place: Place, inputs: Sequence[Any], frame: Any) -> None:
        texts = place.operands
        tensors = [t if isinstance(t, self._torch.Tensor) else None for t in inputs]
        numbers = [None if t is None else self._find(t) for t in tensors]
        words = [word for text in texts for word in _WORD.findall(text)]
        known = {
            word: frame.f_globals.get(word) if value is None else value
            for word, value in zip(words, look_up(frame, words), strict=True)
        }
        if isinstance(known.get(texts[0]), ModuleType):
            texts = texts[1:]  # torch.exp(x)
            place.operands = texts if any(texts) else ()
        for text, tensor, number in zip(texts, tensors, numbers, strict=False):
            if not text or number is None or number in self._names:
                continue
            is_leaf = self._is_leaf(number)
            if text.isidentifier():
                seen = is_leaf or self._scopes.has_seen(self._nodes[number]["scope"])
                if known[text] is tensor and seen:
                    self._names[number] = text
            elif is_leaf:
                self._names[number] = _INDEX.sub(
                    lambda m: f"[{known[m[1]]!r}]" if type(known[m[1]]) is int else m[0], text
                )

    def _name_results(self) -> None:
        frames = self._scopes.frames()
        for reference, at in list(self._seen.values()):
            tensor = reference()
            if isinstance(tensor, self._torch.nn.Parameter) and self._is_leaf(at):
                self._is_owned(at, tensor)
        for frame in frames:
            if frame is frames[0] or not frame.f_code.co_flags & CO_OPTIMIZED:
                for name, value in look(frame).items():
                    if isinstance(value, self._torch.Tensor) and not name.startswith("_"):
                        number = self._find(value)
                        if number is not None:
                            self._names.setdefault(number, name)

    # -- values ----------------------------------------------------------------------------------

    def _value(self, tensor: Any) -> dict[str, Any]:
        if tensor.is_complex():  # a recording holds real numbers
            return {"shape": list(tensor.shape), "dtype": "", "data": []}
        with self._at_work():
            return summary(_array(tensor))

    def _parameter(self, value: Any) -> Any:
        if isinstance(value, self._torch.Tensor):
            with self._at_work():
                return parameter(_array(value))
        if isinstance(value, self._torch.dtype):
            return str(value).removeprefix("torch.")
        return parameter(value)


def _array(tensor: Any) -> Any:
    """Return the numbers of one of PyTorch's tensors."""
    tensor = tensor.detach().cpu()
    if str(tensor.dtype) == "torch.bfloat16":  # NumPy has none
        tensor = tensor.float()
    return np.asarray(tensor.resolve_conj().resolve_neg().numpy())


def _gone() -> None:
    """Return what a weak reference returns when its object is gone."""


@cache
def _saved_names(node: type) -> tuple[str, ...]:
    return tuple(n for n in sorted(vars(node)) if n.startswith("_saved_") and "_sym_" not in n)
