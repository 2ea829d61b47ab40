"""The recorder: watches the core at work and writes down what happens.

After reading this file you know how a learner's run becomes a recording: every op with its place
in the source, its names, values and saved values, every change in place and every branch. The
backward pass is in ``kit_backward.py``, and which tensor is which in ``kit_notes.py``. Read next:
``source.py`` or, for what becomes of a recording, ``view/frames.py``.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Sequence
from inspect import unwrap
from typing import Any

import numpy as np

from autodiff_kit.autograd.graph import Packed
from autodiff_kit.calls import checked
from autodiff_kit.core.mode import local
from autodiff_kit.core.node import Node
from autodiff_kit.core.observer import Both, Observer
from autodiff_kit.core.op import Op
from autodiff_kit.core.view_nodes import Nowhere
from autodiff_kit.record.again import Again
from autodiff_kit.record.changes import settings_of
from autodiff_kit.record.drafts import GIVEN_NUMBERS, OVERWRITING
from autodiff_kit.record.entries import DETACH, PACKED, entry_of
from autodiff_kit.record.events import Input, Params
from autodiff_kit.record.guard import guarded
from autodiff_kit.record.kit_notes import maker_of
from autodiff_kit.record.kit_ops import KitOps
from autodiff_kit.record.names import note_variables
from autodiff_kit.record.notes import SecondRun, learners_frame
from autodiff_kit.record.recording import Recording
from autodiff_kit.record.values import parameter
from autodiff_kit.tensor import Tensor

__all__ = ["record"]

# torch.func, which differentiates with respect to copies of what a function is called with.
_TRANSFORMS = os.path.join("autodiff_kit", "func.py")
_CHECKS = checked.__code__.co_filename  # what a method does before: it looks at its arguments


class record:
    """Record everything that tensors do inside a ``with`` block.

    Parameters
    ----------
    limit : int, default 200_000
        Stop recording after so many events; the run itself goes on. A loop that never ends thus
        fills no memory; ``Recording.note`` says so.

    Returns
    -------
    Recording - given to ``as``; it is filled when the block ends. If the block raises, it holds
    everything up to there and the error, and the exception goes on.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> with record() as rec:
    ...     y = x * x
    ...     y.backward()
    >>> [event["kind"] for event in rec.events]  # doctest: +NORMALIZE_WHITESPACE
    ['leaf', 'op', 'backward', 'visit', 'contribution', 'contribution', 'release', 'visit',
     'accumulate', 'finish']
    """

    def __init__(self, *, limit: int = 200_000) -> None:
        self.limit = limit

    def __enter__(self) -> Recording:
        mode = local.mode
        self._outer = mode.observer
        self._recorder = _Recorder(self.limit, learners_frame(sys._getframe(1)))
        mode.observer = self._recorder
        if self._outer is not None:
            mode.observer = Both(self._outer, self._recorder)
        self._recorder.begin()
        return self._recorder.recording

    def __exit__(
        self, kind: Any = None, error: BaseException | None = None, traceback: Any = None
    ) -> None:
        if not hasattr(self, "_recorder"):  # over already: who bounds a run makes sure of it
            return
        local.mode.observer = self._outer
        if error is not None:
            self.failed(error)
        self._recorder.finish()
        del self._recorder, self._outer  # it knows frames, and they know tensors

    def failed(self, error: BaseException) -> None:
        """Note the exception that ended the run, with the learner's line that raised it."""
        self._recorder.failed(error)


class _Recorder(KitOps):
    """Notes of all that the core does."""

    @guarded
    def created(self, tensor: Tensor) -> None:
        place, scope, _ = self._where()
        self._create(tensor, scope, place)
        self._recent.append(weakref.ref(tensor))

    @guarded
    def applied(
        self, op: Op, inputs: Sequence[Any], params: Params, out: Tensor, node: Node | None
    ) -> None:
        frame = sys._getframe(self._below - 1).f_back
        place, scope, frame = self._scopes.here(frame, self._names.doubt) or self._where()
        if node.__class__ is Node and not params:
            draft = place.drafts.get((op, node.edge0 is None, node.edge1 is None))
            if (
                draft is not None
                and draft.is_plain
                and not (self._promoted or self._unseen or self.is_again)
                and out._base is None
                and self._applied_again(draft, inputs, out, node, place, scope)
            ):
                return
        if isinstance(node, Nowhere):
            node = None
        numbers, names, nodes = self._numbers, self._names, self._nodes
        key: Any = op
        if node is not None:
            key = op, node.edge0 is None, node.edge1 is None
            if node.more:
                key = *key, *(edge is None for edge in node.more)
        draft = place.drafts.get(key)
        if draft is None or not draft.is_lasting:
            draft = self._draft(key, op, node, place, len(inputs))
        sources: list[Any] = []  # as ``Nodes`` has them
        own: list[Input] | None = None  # in words, where some are not noted so
        is_unclear, before = False, None
        operands = place.operands
        for arg, value in zip(draft.args, inputs, strict=False):
            if isinstance(value, Tensor):
                maker = value._node
                source = None if maker is None else numbers.get(maker.number)
                if source is None:
                    if op.name in OVERWRITING and self._known(value) is None:
                        if value.requires_grad:  # a leaf, which was there before this
                            self._number(value, scope)
                        own = self._in_words(draft, sources) if own is None else own
                        continue
                    if (op.name in GIVEN_NUMBERS or scope in self._passes) and self._is_number(
                        value
                    ):
                        own = self._in_words(draft, sources) if own is None else own
                        own.append({"arg": arg, "value": parameter(value._array)})
                        if any(seed() is value for seed in self._seeds):
                            own[-1]["is_seed"] = True
                        continue
                    if operands and len(inputs) > 1:
                        rest = inputs[draft.args.index(arg) :]
                        self._adopt_as_written(place, rest, scope, frame)
                    source = self._number(value, scope)
                if self._promoted:
                    source = self._promoted.pop(source, source)
                name = names.get(source)
                if name not in operands or (name == before and operands[0] != operands[-1]):
                    is_unclear = True  # another name is written here, as in `h * w` after `h = w`
                before = name
                if own is None:
                    sources.append(source)
                else:
                    own.append({"arg": arg, "node": source})
            elif own is not None or value is None:
                own = self._in_words(draft, sources) if own is None else own
                if value is not None:
                    own.append({"arg": arg, "value": parameter(value)})
            elif type(value) is float and value - value == 0:
                sources.append(value)
            else:
                sources.append((parameter(value),))
        is_own = scope not in self._passes  # the learner's code at work, not a backward pass
        if params and is_own:
            for arg, value in params.items():  # what is only read, such as the classes of a loss
                if not isinstance(value, np.ndarray):
                    continue
                tensors = (tensor for ref in self._recent if (tensor := ref()) is not None)
                for tensor in (*(names.holders(place, frame) if operands else ()), *tensors):
                    if np.may_share_memory(tensor._array, value):
                        own = self._in_words(draft, sources) if own is None else own
                        own.append({"arg": arg, "node": self._number(tensor, scope)})
                        break
        if is_unclear and is_own and operands:
            variables = names.name_operands(place, inputs, self._known, frame)
            if variables:
                own = self._in_words(draft, sources) if own is None else own
                note_variables(own, variables)
        number = self._last_op = len(nodes)
        if op.name == "promote":  # what comes next names its input still as it was before
            self._promoted[sources[0] if own is None else own[0]["node"]] = number
        elif self._promoted:
            self._promoted.clear()
        more: Params = {}  # what this entry says beside what its draft says
        if own is not None:
            more["inputs"], sources = own, []
        if params:
            more["params"] = {name: parameter(value) for name, value in params.items()}
        if self._unseen is not None:
            self._see_packed()
        if self.is_again:
            more["again"] = True
        saved = 0
        if node is None:
            if local.mode.grad_enabled:
                more["mode"] = "grad"
            elif local.mode.inference:
                more["mode"] = "inference_mode"
            self._tensors[id(out)] = (weakref.ref(out), number)
        else:
            whole, others = node.whole, None
            if whole is node:
                numbers[node.number] = number
            else:
                others = self._outputs.get(whole.number)  # outputs of the same node
                more["params"] = {"index": node.output_nr} | more.get("params", {})
                if others:
                    more["part_of"] = min(others.values())
                self._remember(node, number)
            if draft.saves and not self.is_again and not others:
                saved = draft.saved(whole)
                if saved and self._packing:
                    self._unseen = node, number  # by the next event they have packed it
        if not is_own:
            more["text"] = ""  # y.backward() is not what this op computes
        elif place.calls_back:
            more["text"] = place.text_of(op.name, is_bool=out._array.dtype.kind == "b")
        if is_own and (place.name is not None or place.returned):
            names.name_result(number, place, scope)
        array = self._values.note(out._array)
        nodes.append((draft.number, self._scopes.inside, array, saved, more or None, *sources))
        if op.name == "pick" and (view := self._seen_before()) is not None:
            self._look_again(view, number)
        if op.name == "put":
            first = (own or self._in_words(draft, sources) or [{"arg": ""}])[0].get("node", -1)
            if first in names:
                names[number] = names[first]  # the base of a view, after a change
        self._events.append(number)
        if out._base is not None:
            self._note_window(out, out._base)

    @guarded
    def detached(self, tensor: Tensor, out: Tensor) -> None:
        caller = sys._getframe(2).f_back
        if caller is not None and caller.f_code.co_filename == _CHECKS:
            caller = caller.f_back
        if caller is None or not self._is_learners[caller.f_code.co_filename]:
            self._unseen_copies[id(out)] = weakref.ref(out)  # the kit's own
            if caller is not None and caller.f_code.co_filename.endswith(_TRANSFORMS):
                _, scope, _ = self._where()
                self._origins[id(out)] = weakref.ref(out), self._number(tensor, scope)
            return
        place, scope, frame = self._where()
        source = self._number(tensor, scope)
        if out is not tensor:
            self._note_window(out, tensor)
        self.recording.ops.setdefault("detach", DETACH)
        number = len(self._nodes)
        entry = entry_of("op", place.text, None, place.where)
        entry |= {"id": number, "op": "detach", "inputs": [{"arg": "x", "node": source}]}
        entry |= {"scope": self._scopes.inside, "value": self._value(out)}
        if local.mode.grad_enabled:
            entry["mode"] = "grad"
        if scope not in self._passes and place.operands:
            variables = self._names.name_operands(place, [tensor], self._known, frame)
            note_variables(entry["inputs"], variables)
        self._tensors[id(out)] = (weakref.ref(out), number)
        self._nodes.append(entry)
        self._events.append(number)
        if out is tensor:
            self._look_again(source, number)
            self._name_again(out)
        elif scope not in self._passes and (place.name is not None or place.returned):
            self._names.name_result(number, place, scope)

    @guarded
    def copied(self, tensor: Tensor, copy: Tensor) -> None:
        self._copied = weakref.ref(copy), weakref.ref(tensor)

    @guarded
    def withdrawn(self, out: Tensor) -> None:
        number = self._last_op
        if self._events and self._events[-1] == {"kind": "op", "node": number}:
            self._events.pop()
            del self._nodes[number:]
            self._names.pop(number, None)
            self._tensors.pop(id(out), None)

    @guarded
    def stepped(self, tensor: Tensor, how: str, group: Params) -> None:
        place, scope, _ = self._where()
        self._tell_change(self._number(tensor, scope), how, tensor, place, settings_of(group))
        self._tell_windows(tensor, how, place)

    @guarded
    def modified(self, tensor: Tensor, how: str) -> None:
        place, scope, _ = self._where()
        if how.endswith(".data"):
            self._tell_assignment(tensor, how, place, scope)
            return
        if how.endswith(".step"):  # no op has computed the new value in place
            self._tell_change(self._number(tensor, scope), how, tensor, place)
            self._tell_windows(tensor, how, place)
            return
        if self._last_op < 0:
            return
        known = self._tensors.get(id(tensor))
        before = known[1] if known is not None and known[0]() is tensor else None
        old = getattr(tensor, "_stale_node", None)
        if before is None and isinstance(old, Node):  # of a view, which has another one now
            before = self._remembered(old)
        # The op that was just recorded computed the new value; a leaf stays itself all the same.
        node = maker_of(tensor)
        number = self._last_op if node is None else self._number(tensor, scope)
        if number != self._last_op:
            self._names.pop(self._last_op, None)
        elif before is not None:
            self._look_again(before, number)
        elif number not in self._names and (owner := self._owner_of(tensor)) is not None:
            self._names[number] = f"{self._names[owner]}.grad"
        elif number not in self._names and (inputs := self._nodes[number]["inputs"]):
            changed = inputs[0].get("node", -1)  # such as of `y[y < 0] = 0.`
            if inputs[0]["arg"] == "x" and changed in self._names:
                self._names[number] = self._names[changed]
        self._tensors[id(tensor)] = (weakref.ref(tensor), number)
        if scope in self._passes:
            return  # a .grad that gets a graph of its own: nothing the learner has changed
        if old is None or not self._is_latest(number, tensor, place):  # a view, told with its base
            self._tell_change(number, how, tensor, place)
        self._tell_windows(tensor, how, place)

    @guarded
    def requirement_set(self, tensor: Tensor, requires_grad: bool) -> None:
        """Note that a leaf begins to require grad, or ceases to."""
        place, _, _ = self._where()
        self._tell_requirement(tensor, requires_grad, place)
        if (number := self._known(tensor)) is not None and (node := maker_of(tensor)) is not None:
            self._remember(node, number)

    @guarded
    def grad_set(self, tensor: Tensor, grad: Tensor | None) -> None:
        """Note that a ``.grad`` was set or cleared, as far as the tensor is known."""
        number = self._known(tensor)
        if number is not None:
            place, _, _ = self._where()
            self._tell_grad(number, grad, "", place)

    @guarded
    def branched(self, tensor: Tensor, taken: bool) -> None:
        place, scope, _ = self._where()
        self._tell_branch(self._number(tensor, scope), taken, place)

    @guarded
    def returned(self, out: Tensor, array: Any) -> None:
        place, _, _ = self._where()
        name = place.parts[1] if len(place.parts) == 2 else ""
        part = f"second result of {str(self._nodes[self._last_op]['op']).removesuffix('_dim')}"
        reference = weakref.ref(array) if isinstance(array, np.ndarray) else lambda: array
        self._results[id(array)] = reference, name, part

    def unpacking(self, packed: Packed) -> Observer | None:
        """Watch the learner's code that makes a saved value again: a function, or a hook."""
        run = getattr(packed.unpack, "__self__", None)
        if isinstance(run, SecondRun):
            return Again(self)
        code = getattr(unwrap(packed.unpack), "__code__", None)
        if code is None or not self._is_learners[code.co_filename]:
            return None
        if isinstance(content := packed.packed, Tensor):
            self._results[id(content)] = weakref.ref(content), "", PACKED
        return self

    def _complete(self) -> None:
        self._see_packed()
        super()._complete()
