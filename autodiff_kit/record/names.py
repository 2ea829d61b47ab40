"""What values are called: by the names that the learner has given them.

After reading this file you know where a name in a picture comes from: an assignment, what stands
for an operand in the source, a variable of a running frame, or the module that owns a parameter.
It serves the kit's tensors and PyTorch's alike. Read next: ``owners.py``, then ``notes.py``.
"""

from __future__ import annotations

import ast
import re
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from inspect import CO_OPTIMIZED, getattr_static
from types import FrameType, MemberDescriptorType, ModuleType
from typing import Any

from autodiff_kit.record.events import Input, NodeRecord
from autodiff_kit.record.inner import function_of
from autodiff_kit.record.owners import Owners
from autodiff_kit.record.rounds import Variables
from autodiff_kit.record.scopes import Scopes, look, look_up
from autodiff_kit.record.source import Place, Sources

__all__ = ["Find", "Names", "held_by", "note_variables"]

Find = Callable[[Any], int | None]  # the number of a tensor
MOST_ITEMS = 1_000  # of a list where a tensor is looked for: a longer one is data
_PARTS = ("unbind", "split", "split_with_sizes", "unsafe_split")
_FIXED = re.compile(r"""[\d"']\]$""")
_WORD, _INDEX = re.compile(r"[^\W\d]\w*"), re.compile(r"\[([^\W\d]\w*)\]")


class Names(dict[int, str]):
    """The names so far, by the numbers of their nodes.

    Parameters
    ----------
    nodes : list of dict
        The nodes of the recording.
    scopes : Scopes
    owners : Owners
    kind : type
        The class of the tensors that are recorded: the kit's, or PyTorch's.
    """

    def __init__(self, nodes: list[NodeRecord], scopes: Scopes, owners: Owners, kind: type) -> None:
        super().__init__()
        self._nodes, self._scopes, self._kind = nodes, scopes, kind
        self.gradients: dict[int, int] = {}  # what is in a .grad and has a graph -> the leaf
        self._owners = owners
        self.doubt: tuple[Place, int, FrameType] | None = None

    def name_result(self, number: int, place: Place, scope: int) -> None:
        """Give a result the name it is assigned to; of several ops there, the last one has it.

        If that is not what was assigned, ``settle`` finds out as soon as it is.
        """
        if place.scope != scope and place.name is not None and place.is_plain:
            place.scope, place.number = scope, number  # as nearly always
            self[number] = place.name
            return
        frame = None
        if place.name is None:
            target = self._scopes.returns_to()
            if target is None:
                return
            place, scope, frame = target
        name = place.name or ""
        if place.is_item and self._is_item(name, frame or self._scopes.frame()):
            return  # `y[0] = w * 3`: the product is not that item, it is only copied there
        is_another = place.scope == scope and self.get(place.number) == name
        if is_another:
            del self[place.number]
        if is_another or place.calls_back:
            frame = frame or self._scopes.frame()
            if frame is not None:
                self.doubt = place, scope, frame
        place.scope, place.number = scope, number
        self[number] = name

    def _is_item(self, target: str, frame: FrameType | None) -> bool:
        """Return whether something like ``y[0]`` is an item of a tensor, not of a list."""
        owner = target.rpartition("[")[0]
        return frame is not None and isinstance(held_by((owner,), frame)[1][owner], self._kind)

    def settle(self, find: Find) -> None:
        """Compare the name given last with what it was given to, now that the call is over."""
        if self.doubt is None:
            return
        (place, _, frame), self.doubt = self.doubt, None
        name, number = place.name or "", place.number
        (value,) = look_up(frame, (name,)) if name.isidentifier() else (None,)
        if isinstance(value, list | tuple):  # `parts = x.split(1)`
            for i, part in enumerate(value):
                if isinstance(part, self._kind) and (at := find(part)) is not None:
                    if self.get(at) == name:
                        del self[at]
                    self.setdefault(at, f"{name}[{i}]")
        holder = find(value) if isinstance(value, self._kind) else None
        if holder is not None and holder != number and self.get(number) == name:
            del self[number]  # such as the comparison in `y = max(a, b)`
            self.setdefault(holder, name)

    def take_back(self, place: Place, frame: FrameType, find: Find) -> None:
        """Take back the name that a statement has given which an exception has ended.

        In `y = net(x)`, what the last op inside the call has made is neither `y` nor `net(x)`.
        """
        name, number = place.name or "", place.number
        is_latest = all(node["kind"] == "leaf" for node in self._nodes[number + 1 :])
        if not name.isidentifier() or self.get(number) != name or not is_latest:
            return
        (value,) = look_up(frame, (name,))
        if not isinstance(value, self._kind) or find(value) != number:
            del self[number]
            self._nodes[number]["text"] = ""

    def name_operands(
        self,
        place: Place,
        inputs: Sequence[Any],
        find: Find,
        frame: FrameType | None,
    ) -> dict[int, list[str]]:
        """Name what has no name yet by what the learner writes for it here: ``params[0]``.

        Of what has another name, or none, return the variables that hold it here.
        """
        texts = place.operands
        variables: dict[int, list[str]] = {}
        if frame is None or not any(texts):
            return variables
        numbers = [find(x) if isinstance(x, self._kind) else None for x in inputs]
        nameless = [n is not None and n not in self for n in numbers]
        is_spread = place.calls_back or len(inputs) > len(texts)  # an operand is a list of them
        if not (is_spread and any(nameless)):
            names = [self.get(n) for n in numbers if n is not None]
            rest = [text for text in texts if text and text not in names]
            is_twice = len(set(names)) < len(names)  # `h * w`, after `h = w`
            is_clear = all(name in texts for name in names) and not is_twice
            if is_clear or not ((any(nameless) and rest) or any(map(_can_change, rest))):
                return variables  # as of x * 2 in x * 2 + b: nothing is written for it
        known, values = held_by(texts, frame)
        for tensor, number in zip(inputs, numbers, strict=True):
            if number is None:
                continue
            text = next((text for text, value in values.items() if value is tensor), "")
            if number in self:
                same = [t for t, value in values.items() if value is tensor and t != self[number]]
                names_here = [t for t in same if t.isidentifier()]
                for text in same:
                    at = _place(text, known)
                    # `ws[0]`, and `ws[i]` of what another tensor was before they were swapped.
                    if at[-1] == "]" and at != self[number] and (at == text or at in self.values()):
                        names_here.append(at)
                if names_here:
                    variables[number] = names_here
                continue
            items = (text + at for text, value in values.items() if (at := _item(value, tensor)))
            text = text or next(items, "")
            node = self._nodes[number]
            is_leaf = node["kind"] == "leaf"
            if text.isidentifier():
                scopes = self._scopes  # of a recursion, a parameter is like a loop's variable
                if is_leaf:  # what an outer variable or a list holds, it is called by that
                    name = self.held_as(tensor) or text
                    self[number] = (self.item_as(tensor) or name) if name == text else name
                    if self[number] != text:
                        variables[number] = [text]
                elif scopes.has_seen(node["scope"]) or scopes.is_recursive():
                    self[number] = text
                else:
                    variables[number] = [text]
            elif text and (is_leaf or node["op"] == "unbind"):  # params[i] is called params[0]
                self[number] = _place(text, known)
        return variables

    def as_written(
        self, place: Place, tensors: Sequence[Any], frame: FrameType | None
    ) -> list[Any]:
        """Return those of these tensors that are operands here, from left to right."""
        return [x for x in self.holders(place, frame) if any(x is tensor for tensor in tensors)]

    def holders(self, place: Place, frame: FrameType | None) -> list[Any]:
        """Return the tensors that are operands here."""
        values = [] if frame is None else held_by(place.operands, frame)[1].values()
        return [value for value in values if isinstance(value, self._kind)]

    def name_leaf(self, number: int, tensor: Any) -> None:
        """Name a leaf that is older than the recording by what holds it now."""
        # A parameter, which is no plain tensor, is looked for in modules first. (The type of a view
        # whose base has changed is one of its own; its __class__ is not.)
        is_parameter = tensor.__class__ is not self._kind
        if is_parameter and self._is_owned(number, tensor):
            return
        name = self.held_as(tensor)
        if name:
            self[number] = name
        elif not is_parameter:
            self._is_owned(number, tensor)

    def name_rest(self, tensors: Iterable[tuple[weakref.ref[Any], int]], find: Find) -> None:
        """Name what a call has returned, ``z = f(x)``, by the variable that holds it now.

        And what has become a part of a module since it was made, by that.

        Parameters
        ----------
        tensors : iterable of (weak reference, int)
            Those that are known, with their numbers.
        find : callable
            Returns the number of a tensor; None if it has none.
        """
        frames = self._scopes.frames()
        for reference, at in tensors:
            tensor = reference()
            if tensor is None or tensor.__class__ is self._kind or at >= len(self._nodes):
                continue
            if self._nodes[at]["kind"] == "leaf":
                self._is_owned(at, tensor)
        for frame in frames:
            is_module = not frame.f_code.co_flags & CO_OPTIMIZED
            if frame is frames[0] or is_module:
                variables = {k: v for k, v in look(frame).items() if not k.startswith("_")}
                for name, value in variables.items():
                    if isinstance(value, self._kind) and (number := find(value)) is not None:
                        self.setdefault(number, name)
                for name, value in variables.items() if is_module else ():
                    self._name_items(name, value, find)

    def _name_items(self, owner: str, holder: Any, find: Find) -> None:
        """Call leaves, and parts such as those of ``a, *rest = x``, by the list that holds them."""
        if type(holder) not in (list, tuple, dict):
            return
        for at, item in list(holder.items() if type(holder) is dict else enumerate(holder)):
            number = find(item) if isinstance(item, self._kind) else None
            if number is not None and number < len(self._nodes):
                node = self._nodes[number]
                if node["op"] in _PARTS if node["kind"] == "op" else node["requires_grad"]:
                    self.setdefault(number, f"{owner}[{_key(at)}]")

    def name_gradients(self) -> None:
        """Name what is in a .grad and has a graph: ``w.grad``."""
        for number, leaf in self.gradients.items():
            if leaf in self:
                self.setdefault(number, f"{self[leaf]}.grad")

    def called(self, sources: Sources) -> str:
        """Return what the learner calls at the present place: ``dropout`` of ``dropout(x)``."""
        frame = self._scopes.frame()
        return "" if frame is None else function_of(sources.place(frame).text)

    def is_held(self, tensor: Any) -> bool:
        """Return whether the learner has a tensor, in a variable or in what a variable holds."""
        if self.held_as(tensor):
            return True
        for frame in self._scopes.frames():
            for space in (look(frame), frame.f_globals):
                for name, value in list(space.items()):
                    if name.startswith("__") or isinstance(value, ModuleType):
                        continue
                    parts: list[Any] = list(value) if isinstance(value, list | tuple) else []
                    parts = list(value.values()) if isinstance(value, dict) else parts
                    own = getattr(value, "__dict__", {}) if not parts else {}
                    if any(part is tensor for part in (*parts, *own.values())):
                        return True
        return False

    def held_as(self, tensor: Any) -> str:
        """Return the variable of the learner's that holds a tensor, or ""."""
        for frame in self._scopes.frames():
            for space in (look(frame), frame.f_globals):
                for name, value in list(space.items()):
                    if value is tensor and not name.startswith("_"):
                        return name
        return ""

    def item_as(self, tensor: Any) -> str:
        """Return the item of a list or dictionary of the learner's that is a tensor, or ""."""
        frames = self._scopes.frames()
        variables = {id(frame.f_globals) for frame in frames}
        for frame in frames:
            for name, value in list(look(frame).items()):
                if name.startswith("_") or type(value) not in (list, tuple, dict):
                    continue
                is_own = len(value) <= MOST_ITEMS and id(value) not in variables
                if is_own and (at := _item(value, tensor)):
                    return name + at
        return ""

    def _is_owned(self, number: int, tensor: Any) -> bool:
        """Call a leaf by the module that owns it, if one does: ``model.0.weight``."""
        owner = self._owners.find(tensor, self._scopes.frames())
        if owner is not None:
            self[number], self._nodes[number]["part"] = owner
        return owner is not None


def note_variables(sources: Iterable[Input], variables: dict[int, list[str]]) -> None:
    """Note of the inputs of an op which variables hold them there."""
    for source in sources if variables else ():
        if "node" in source and source["node"] in variables:
            same = variables[source["node"]]
            source["variable"] = same[0] if len(same) == 1 else same.pop(0)


def held_by(texts: Sequence[str], frame: FrameType) -> tuple[Variables, Variables]:
    """Return what the words in some operands stand for now, and what the operands hold."""
    words = [word for text in texts for word in _WORD.findall(text)]
    known = {
        word: frame.f_globals.get(word) if value is None else value
        for word, value in zip(words, look_up(frame, words), strict=True)
    }
    return known, {text: _held(_parsed(text), known) for text in texts if text}


def _can_change(text: str) -> bool:
    """Return whether something is written that may be another tensor now: ``x``, ``ws[0]``."""
    return text.isidentifier() or _FIXED.search(text) is not None


def _key(key: Any) -> str:
    """Return what stands between the brackets; a word between double quotation marks."""
    return f'"{key}"' if isinstance(key, str) and key.isidentifier() else repr(key)


def _place(text: str, known: Variables) -> str:
    """Return ``params[0]`` for ``params[i]``, as it is now."""
    return _INDEX.sub(lambda m: f"[{known[m[1]]!r}]" if type(known[m[1]]) is int else m[0], text)


_ITEMS = (list.__getitem__, tuple.__getitem__, dict.__getitem__)


@lru_cache(maxsize=1024)
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _item(holder: Any, tensor: Any) -> str:
    """Return where a list, a tuple or a dictionary has a tensor: ``"[0]"``; "" if it has not."""
    if type(holder) is dict:
        places = [_key(key) for key, value in holder.items() if value is tensor]
    elif type(holder) in (list, tuple):
        places = [str(i) for i, value in enumerate(holder) if value is tensor]
    else:
        return ""
    return f"[{places[0]}]" if places else ""


def _held(expression: ast.expr, known: Variables) -> Any:
    """Return what ``self.w`` or ``params[i]`` holds, without running code of the learner's."""
    match expression:
        case ast.Name(id=name):
            return known.get(name)
        case ast.Constant(value=value):
            return value
        case ast.Attribute(value=inner, attr=name):
            return _attribute(_held(inner, known), name)
        case ast.Subscript(value=inner, slice=at):
            owner, key = _held(inner, known), _held(at, known)
            if getattr(type(owner), "__getitem__", None) in _ITEMS:
                with suppress(LookupError, TypeError):
                    return owner[key]
            return _attribute(owner, str(key))  # of a ModuleList
    return None


def _attribute(owner: Any, name: str) -> Any:
    if name == "grad" and hasattr(type(owner), "grad_fn"):
        is_kept = owner.is_leaf or owner.retains_grad  # of others PyTorch warns, and it is None
        return owner.grad if is_kept else None
    own = getattr(owner, "__dict__", {})
    for kind in ("_parameters", "_buffers", "_modules"):
        if name in own.get(kind, ()):
            return own[kind][name]
    fields = getattr(type(owner), "_fields", ()) if isinstance(owner, tuple) else ()
    if name in fields:
        return owner[fields.index(name)]
    attribute = getattr_static(owner, name, None)
    return attribute.__get__(owner) if isinstance(attribute, MemberDescriptorType) else attribute
