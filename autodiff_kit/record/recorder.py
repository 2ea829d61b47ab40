"""The recorder: watches the core at work and writes down what happens.

After reading this file you know how a learner's run becomes a recording: every op with its place
in the source, its names, values and saved values, and every single contribution of the backward
pass. It knows nodes by number and other tensors weakly, so that it keeps no graph alive; and what
goes wrong in it never reaches the learner's code. Read next: ``source.py`` or, for what becomes of
a recording, ``view/frames.py``.
"""

from __future__ import annotations

import re
import sys
import weakref
from collections.abc import Callable, Sequence
from functools import cache, wraps
from inspect import CO_OPTIMIZED
from operator import and_
from types import FrameType, ModuleType
from typing import Any

from autodiff_kit.autograd.grad_mode import local
from autodiff_kit.autograd.node import AccumulateGrad, Node
from autodiff_kit.autograd.observer import Both, Observer
from autodiff_kit.ops.table import Op
from autodiff_kit.ops.words import expression_of, source_of
from autodiff_kit.record.owners import Owners
from autodiff_kit.record.recording import Recording
from autodiff_kit.record.scopes import Scopes, look, look_up
from autodiff_kit.record.source import Place, Sources, is_foreign
from autodiff_kit.record.values import Values, parameter
from autodiff_kit.tensor import Tensor

__all__ = ["record"]

_WORD, _INDEX = re.compile(r"[^\W\d]\w*"), re.compile(r"\[([^\W\d]\w*)\]")
_OVERWRITING = ("copy_from", "fill", "zero")  # what they overwrite is of no interest


class record:
    """Record everything that tensors do inside a ``with`` block.

    Parameters
    ----------
    limit : int, default 100_000
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

    def __init__(self, *, limit: int = 100_000) -> None:
        self.limit = limit

    def __enter__(self) -> Recording:
        base: FrameType | None = sys._getframe(1)
        while base is not None and is_foreign(base.f_code.co_filename):
            base = base.f_back
        self._recorder = _Recorder(self.limit, base)
        mode = local.mode
        self._outer = mode.observer
        mode.observer = self._recorder
        if self._outer is not None:
            mode.observer = Both(self._outer, self._recorder)
        return self._recorder.recording

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        local.mode.observer = self._outer
        if error is not None:
            self.failed(error)
        self._recorder.finish()
        del self._recorder, self._outer  # it knows frames, and they know tensors

    def failed(self, error: BaseException) -> None:
        """Note the exception that ended the run, with the learner's line that raised it."""
        self._recorder.failed(error)


def _guarded(method: Callable[..., None]) -> Callable[..., None]:
    """Let nothing that goes wrong in the recorder reach the learner's code; keep to the limit.

    The recording then ends there and says so; the run goes on as without it.
    """

    @wraps(method)
    def guarded(self: _Recorder, *what: Any) -> None:
        if self.recording.note is not None:
            return
        try:
            method(self, *what)
        except BaseException as error:  # one more event could be half of one: so none
            self.recording.note = _failure(error)
            if not isinstance(error, Exception):
                raise  # the learner pressed Ctrl-C
        if len(self._events) > self._limit:
            del self._events[self._limit :]
            events = f"{self._limit:,} event{'s' * (self._limit != 1)}"
            self.recording.note = (
                f"Recording stopped after {events}; the run itself went on. "
                "Record less of it, or give record(limit=...) a larger number."
            )

    return guarded


class _Draft:
    """What the entries of one op at one place have in common.

    Attributes
    ----------
    args : sequence of str
        What the op calls its inputs.
    entry : dict
        To be copied and completed.
    """

    __slots__ = ("_kept", "_saved", "args", "entry")

    def __init__(self, op: Op, node: Node | None, place: Place, count: int) -> None:
        self.entry = _entry("op", place.text, None if node is None else op.node_name, place.where)
        self.entry["op"] = op.name
        self.entry["recorded"] = self.entry["requires_grad"] = node is not None
        self.args: Sequence[str] = op.inputs
        if op.is_variadic:
            self.args = [f"{op.inputs[0]}[{i}]" for i in range(count)]
        # What the node saves: the name, the inputs whose rules read it, the slot of the node.
        self._kept: list[tuple[str, list[str], str]] = []
        self._saved: dict[tuple[int, ...], list[dict[str, Any]]] = {}
        if node is not None:
            slots = dict(zip(("out", *op.inputs[:2]), ("out", "x", "y"), strict=False))
            wanted = [name.split("[")[0] for name, edge in node.edges() if edge is not None]
            for name in node.saved():
                readers = [w for w in wanted if name in op.rules[w].reads]
                self._kept.append((name, readers, slots.get(name, "")))

    def saved(self, node: Node) -> list[dict[str, Any]]:
        """Return what a node saves; equal answers are one object, as loops give thousands."""
        # Asking the node for names takes four times as long.
        kept = [getattr(node, slot) if slot else node.saved()[n] for n, _, slot in self._kept]
        sizes = tuple([0 if type(x) is float else getattr(x, "nbytes", 0) for x in kept])
        found = self._saved.get(sizes)
        if found is None:
            found = self._saved[sizes] = [
                {"name": name, "for": readers, "bytes": size}
                for (name, readers, _), size in zip(self._kept, sizes, strict=True)
            ]
        return found


class _Recorder(Observer):
    def __init__(self, limit: int, base: FrameType | None) -> None:
        self.recording = Recording()
        self._limit = limit
        self._nodes, self._events = self.recording.nodes, self.recording.events
        self._values = Values()
        self._sources = Sources()
        self._is_learners = self._sources.is_learners
        self._scopes = Scopes(self._sources, base)
        self._owners = Owners()
        self._passes: set[int] = set()  # scopes of backward passes
        self._numbers: dict[int, int] = {}  # Node.number -> what it is called here
        self._tensors: dict[int, tuple[weakref.ref[Tensor], int]] = {}  # without a node: by id
        self._promoted: dict[int, int] = {}
        self._copied: tuple[Any, Any] = (_nothing, _nothing)  # the latest copy, and of what
        self._last_op = -1
        self._names: dict[int, str] = {}
        self._grads: dict[int, Any] = {}  # leaf -> its .grad when the backward pass came to it

    # -- what the core tells ---------------------------------------------------------------------

    @_guarded
    def created(self, tensor: Tensor) -> None:
        place, scope, _ = self._where()
        number = self._add_leaf(tensor, scope, place)
        if scope not in self._passes and (place.name is not None or place.returned):
            self._name_result(number, place, scope)

    @_guarded
    def applied(
        self, op: Op, inputs: Sequence[Any], params: dict[str, Any], out: Tensor, node: Node | None
    ) -> None:
        place, scope, frame = self._where()
        numbers, names = self._numbers, self._names
        key = op if node is None else (op, node.edge0 is None, node.edge1 is None)
        draft = place.drafts.get(key)
        if draft is None or len(inputs) > 2 or op.is_variadic:  # nor does the key tell all of it
            draft = place.drafts[key] = _Draft(op, node, place, len(inputs))
            if op.name not in self.recording.ops:
                self.recording.ops[op.name] = dict(_describe(op))
        sources: list[dict[str, Any]] = []
        nameless = False
        args = draft.args
        for i, value in enumerate(inputs):
            if isinstance(value, Tensor):
                maker = value._node
                source = None if maker is None else numbers.get(maker.number)
                if source is None:
                    if op.name in _OVERWRITING and self._known(value) is None:
                        continue
                    source = self._number(value, scope)
                if self._promoted:
                    source = self._promoted.pop(source, source)
                nameless = nameless or source not in names
                sources.append({"arg": args[i], "node": source})
            elif value is not None:
                sources.append({"arg": args[i], "value": parameter(value)})
        is_own = scope not in self._passes  # the learner's code at work, not a backward pass
        if nameless and is_own and place.operands:
            self._name_operands(place, inputs, frame)
        number = self._last_op = len(self._nodes)
        if op.name == "promote":  # what comes next names its input still as it was before
            self._promoted[sources[0]["node"]] = number
        elif self._promoted:
            self._promoted.clear()
        entry = draft.entry.copy()
        entry["id"], entry["inputs"], entry["scope"] = number, sources, scope
        entry["value"] = self._values.of(out._array)
        if params:
            entry["params"] = {name: parameter(value) for name, value in params.items()}
        if node is None:
            self._tensors[id(out)] = (weakref.ref(out), number)
        else:
            numbers[node.number] = number
            entry["saved"] = draft.saved(node)
        if not is_own:
            entry["text"] = ""  # y.backward() is not what this op computes
        elif place.name is not None or place.returned:
            self._name_result(number, place, scope)
        self._nodes.append(entry)
        self._events.append({"kind": "op", "node": number})

    @_guarded
    def copied(self, tensor: Tensor, copy: Tensor) -> None:
        self._copied = weakref.ref(copy), weakref.ref(tensor)

    @_guarded
    def modified(self, tensor: Tensor, how: str) -> None:
        place, scope, _ = self._where()
        if how.endswith(".step"):  # an optimizer's: no op has computed the new value
            self._tell_change(self._number(tensor, scope), how, tensor, place)
            return
        if self._last_op < 0:
            return
        known = self._tensors.get(id(tensor))
        before = known[1] if known is not None and known[0]() is tensor else None
        # The op that was just recorded computed the new value; a leaf stays itself all the same.
        number = self._last_op if tensor._node is None else self._number(tensor, scope)
        if number != self._last_op:
            self._names.pop(self._last_op, None)
        elif before is not None and before in self._names:
            self._names[number] = self._names[before]
        self._tensors[id(tensor)] = (weakref.ref(tensor), number)
        if scope in self._passes:
            return  # a .grad that gets a graph of its own: nothing the learner has changed
        self._tell_change(number, how, tensor, place)
        base = tensor._base
        if tensor._node is None and base is not None:
            self._tell_change(self._number(base, scope), how, base, place)

    def _tell_change(self, number: int, how: str, tensor: Tensor, place: Place) -> None:
        value = self._values.of(tensor._array)
        self._tell("modified", node=number, how=how, value=value, where=place.where)

    @_guarded
    def branched(self, tensor: Tensor, taken: bool) -> None:
        place, scope, _ = self._where()
        self._tell("branch", node=self._number(tensor, scope), taken=taken, where=place.where)

    @_guarded
    def backward_started(self, roots: Sequence[tuple[Node, Any]]) -> None:
        place, _, frame = self._where()
        if frame is not None:
            self._passes.add(self._scopes.begin_backward(frame, place))
        numbers = [self._node(node) for node, _ in roots]
        seed = [self._kept(g) for _, g in roots]
        self._tell("backward", roots=numbers, seed=seed, where=place.where)

    @_guarded
    def visited(self, node: Node, g: Any) -> None:
        number = self._node(node)
        if isinstance(node, AccumulateGrad):
            grad = None if node.leaf is None else node.leaf._grad
            self._grads[number] = None if grad is None else self._kept(grad)
        self._tell("visit", node=number, g=self._kept(g))

    @_guarded
    def contributed(
        self, node: Node, index: int, edge: Node, before: Any, after: Any, total: Any
    ) -> None:
        op = node.op
        self._tell(
            "contribution",
            node=self._node(node),
            arg=f"{op.inputs[0]}[{index}]" if op.is_variadic else op.inputs[index],
            to=self._node(edge),
            before=None if before.shape == after.shape else self._kept(before),
            after=self._kept(after),
            total=None if total is after else self._kept(total),
        )

    @_guarded
    def accumulated(self, node: AccumulateGrad, tensor: Tensor | None, g: Any, grad: Any) -> None:
        number = self._node(node)
        # backward(inputs=...) accumulates when the pass is over, which is nothing to tell.
        is_over = self._events[-1]["kind"] == "finish"
        self._tell(
            "accumulate",
            node=number,
            g=self._kept(g),
            before=self._grads.pop(number, None),
            grad=self._kept(g if grad is None else grad),
        )
        if is_over:
            self._events[-2:] = self._events[:-3:-1]

    @_guarded
    def released(self, node: Node) -> None:
        number = self._node(node)
        saved = self._nodes[number]["saved"]
        if saved:
            self._tell("release", node=number, bytes=sum(entry["bytes"] for entry in saved))

    @_guarded
    def backward_finished(self) -> None:
        self._scopes.end_backward()
        self._tell("finish")

    def failed(self, error: BaseException) -> None:
        """Note the exception that ended the run, with the learner's line that raised it."""
        self.recording.error = {"type": type(error).__name__, "message": str(error), "where": None}
        try:
            self.recording.error["where"] = self._line_of(error)
        except Exception as own:
            self.recording.note = _failure(own)

    def _line_of(self, error: BaseException) -> Any:
        traceback = error.__traceback__
        where = None
        while traceback is not None:  # the learner's innermost line
            code = traceback.tb_frame.f_code
            if self._is_learners[code.co_filename]:
                where = code, traceback.tb_lasti, traceback.tb_lineno
            traceback = traceback.tb_next
        return None if where is None else self._sources.at(*where).where

    def _kept(self, g: Any) -> dict[str, Any]:
        return self._values.of(getattr(g, "_array", g))  # of Tensors, and of several outputs

    def _tell(self, kind: str, **fields: Any) -> None:
        self._events.append({"kind": kind, **fields})

    # -- which tensor, which node ----------------------------------------------------------------

    def _known(self, tensor: Tensor) -> int | None:
        """Return our number of a tensor, if it has one."""
        if self._copied[0]() is tensor:
            tensor = self._copied[1]()
        node = tensor._node
        if node is not None and node.number in self._numbers:
            return self._numbers[node.number]
        reference, number = self._tensors.get(id(tensor), (_nothing, -1))
        return number if reference() is tensor else None  # None: another one at its address

    def _number(self, tensor: Tensor, scope: int) -> int:
        """Return our number of a tensor; one that is older than the recording becomes a leaf."""
        if self._copied[0]() is tensor:
            tensor = self._copied[1]()
        number, node = self._known(tensor), tensor._node
        if number is not None and (node is None or node.number in self._numbers):
            return number
        if number is not None and self._is_leaf(number) and node is not None:
            # requires_grad_() came after it was made
            self._nodes[number]["recorded"] = self._nodes[number]["requires_grad"] = True
            self._numbers[node.number] = number
            return number
        if number is not None:
            self._names.pop(number, None)  # a result was made a leaf: that has the name now
        number = self._add_leaf(tensor, scope, None)
        # A parameter, which is no plain tensor, is looked for in modules first.
        is_parameter = type(tensor) is not Tensor
        if not (is_parameter and self._is_owned(number, tensor)):
            name = self._held_as(tensor)
            if name:
                self._names[number] = name
            elif not is_parameter:
                self._is_owned(number, tensor)
        return number

    def _held_as(self, tensor: Tensor) -> str:
        """Return the variable of the learner's that holds a tensor, or ""."""
        for frame in self._scopes.frames():
            for space in (look(frame), frame.f_globals):
                for name, value in list(space.items()):
                    if value is tensor and not name.startswith("_"):
                        return name
        return ""

    def _is_owned(self, number: int, tensor: Tensor) -> bool:
        """Call a leaf by the module that owns it, if one does: ``model.0.weight``."""
        found = self._owners.find(tensor, self._scopes.frames())
        if found is not None:
            self._names[number], self._nodes[number]["part"] = found
        return found is not None

    def _node(self, node: Node) -> int:
        """Return our number of a node; one that is older than the recording becomes a leaf."""
        number = self._numbers.get(node.number)
        if number is not None:
            return number
        if isinstance(node, AccumulateGrad):
            return self._number(node.variable, 0)
        value = {"shape": list(node.shape), "dtype": "", "data": []}
        return self._tell_leaf(node, node.name(), value, 0, None)

    def _is_leaf(self, number: int) -> bool:
        return bool(self._nodes[number]["kind"] == "leaf")

    def _add_leaf(self, tensor: Tensor, scope: int, place: Place | None) -> int:
        grad_fn = tensor.grad_fn
        name = None if grad_fn is None else grad_fn.name()
        number = self._tell_leaf(tensor._node, name, self._values.of(tensor._array), scope, place)
        self._tensors[id(tensor)] = (weakref.ref(tensor), number)
        return number

    def _tell_leaf(
        self, node: Node | None, grad_fn: str | None, value: Any, scope: int, place: Place | None
    ) -> int:
        number = len(self._nodes)
        if node is not None:
            self._numbers[node.number] = number
        text, where = ("", None) if place is None else (place.text, place.where)
        entry = _entry("leaf", text, grad_fn, where)
        entry["recorded"] = entry["requires_grad"] = node is not None
        entry["id"], entry["value"], entry["scope"] = number, value, scope
        self._nodes.append(entry)
        self._events.append({"kind": "leaf", "node": number})
        return number

    # -- names -----------------------------------------------------------------------------------

    def _name_result(self, number: int, place: Place, scope: int) -> None:
        """Give a result the name it is assigned to; of several ops there, the last one has it."""
        if place.name is None:
            found = self._scopes.returns_to()
            if found is None:
                return
            place, scope = found
        name = place.name
        if place.scope == scope and self._names.get(place.number) == name:
            del self._names[place.number]
        place.scope, place.number = scope, number
        self._names[number] = name or ""

    def _name_operands(self, place: Place, inputs: Sequence[Any], frame: Any) -> None:
        """Name what has no name yet by what the learner writes for it here: ``params[0]``."""
        texts = place.operands
        numbers = [self._known(x) if isinstance(x, Tensor) else None for x in inputs]
        nameless = [n is not None and n not in self._names for n in numbers]
        if not any(map(and_, map(bool, texts), nameless)):
            return  # such as the inner product of x * 2 + b: nothing is written for it
        words = [word for text in texts for word in _WORD.findall(text)]
        known = {
            word: frame.f_globals.get(word) if value is None else value
            for word, value in zip(words, look_up(frame, words), strict=True)
        }
        if isinstance(known.get(texts[0]), ModuleType):
            texts = texts[1:]  # torch.exp(x)
            place.operands = texts if any(texts) else ()
        for text, tensor, number in zip(texts, inputs, numbers, strict=False):
            if not text or number is None or number in self._names:
                continue
            is_leaf = self._is_leaf(number)
            if text.isidentifier():
                if known[text] is tensor and (
                    is_leaf or self._scopes.has_seen(self._nodes[number]["scope"])
                ):
                    self._names[number] = text
            elif is_leaf:  # params[i] is called params[0]
                self._names[number] = _INDEX.sub(
                    lambda m: f"[{known[m[1]]!r}]" if type(known[m[1]]) is int else m[0], text
                )

    def _name_results(self) -> None:
        """Name what a call has returned, ``z = f(x)``, by the variable that holds it now.

        And what has become a part of a module since it was made, by that.
        """
        frames = self._scopes.frames()
        for reference, at in list(self._tensors.values()):
            tensor = reference()
            if tensor is None or type(tensor) is Tensor or at >= len(self._nodes):
                continue
            if self._is_leaf(at):
                self._is_owned(at, tensor)
        for frame in frames:
            if frame is frames[0] or not frame.f_code.co_flags & CO_OPTIMIZED:
                for name, value in look(frame).items():
                    if isinstance(value, Tensor) and not name.startswith("_"):
                        number = self._known(value)
                        if number is not None:
                            self._names.setdefault(number, name)

    def _number_names(self) -> None:
        """Give numbers to names that were given several times: ``h1``, ``h2`` ..."""
        by_name: dict[str, list[int]] = {}
        for number, name in sorted(self._names.items()):
            if number < len(self._nodes):
                by_name.setdefault(name, []).append(number)
        nodes = self._nodes
        for name, numbers in by_name.items():
            if len(numbers) == 1:
                nodes[numbers[0]]["name"] = name
                continue
            count = 0
            for number in numbers:
                numbered = name
                while numbered in by_name:
                    count += 1  # a number that makes a name the learner has is left out
                    numbered = f"{name}{count}"
                nodes[number]["name"] = numbered

    # -- where -----------------------------------------------------------------------------------

    def _where(self) -> tuple[Place, int, FrameType | None]:
        """Return the learner's present place, its scope and its frame."""
        frame: FrameType | None = sys._getframe(3)  # below are this, the method and its guard
        entry = None
        is_learners = self._is_learners
        while frame is not None and not is_learners[frame.f_code.co_filename]:
            entry, frame = frame, frame.f_back
        if frame is None:
            return self._sources.nowhere, 0, None
        place, scope = self._scopes.enter(frame, entry)
        return place, scope, frame

    # -- the end ---------------------------------------------------------------------------------

    def finish(self) -> None:
        """Complete the recording; if that fails, nothing of it can be shown."""
        try:
            self._complete()
        except Exception as error:
            self.recording.note = _failure(error)
            for part in (self._nodes, self._events, self.recording.scopes):
                part.clear()
            if self.recording.error is not None:
                self.recording.error["where"] = None

    def _complete(self) -> None:
        """Add the names, the scopes and the sources."""
        self._values.finish()
        recording = self.recording
        told = [event["node"] for event in self._events if event["kind"] in ("leaf", "op")]
        del self._nodes[told[-1] + 1 if told else 0 :]  # what the limit has cut off
        self._name_results()
        self._number_names()
        if recording.error is not None:
            self._tell("error")
        recording.scopes = self._scopes.plain
        recording.sources = self._sources.plain()


def _entry(kind: str, text: str, grad_fn: str | None, where: Any) -> dict[str, Any]:
    """Return the entry of a node, to be completed."""
    return {
        "id": -1,
        "kind": kind,
        "op": None,
        "grad_fn": grad_fn,
        "recorded": False,
        "name": None,
        "text": text,
        "inputs": [],
        "params": {},
        "value": None,
        "requires_grad": False,
        "scope": 0,
        "where": where,
        "saved": [],
    }


@cache
def _describe(op: Op) -> dict[str, Any]:
    """Return what pictures need to know of an op."""
    return {
        "text": op.text,
        "tex": op.tex,
        "doc": op.doc,
        "node_name": op.node_name,
        "inputs": list(op.inputs),
        "rules": {
            name: {
                "text": expression_of(rule),
                "tex": rule.tex,
                "reads": list(rule.reads),
                "source": source_of(rule),
            }
            for name, rule in op.rules.items()
        },
    }


def _nothing() -> None:
    """Return what a weak reference returns when its object is gone."""


def _failure(error: BaseException) -> str:
    """Say that recording ended early because of an error of the recorder, or an interrupt."""
    if not isinstance(error, Exception):
        return f"The recording ends here: it was interrupted ({type(error).__name__})."
    what = str(error).split("\n")[0][:100]
    return (
        f"The recording ends here because the recorder itself failed ({type(error).__name__}: "
        f"{what}). Your code is not to blame, and it ran on; what is shown so far is right."
    )
