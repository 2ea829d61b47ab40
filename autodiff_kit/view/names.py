"""What the tensors of a recording are called, in the learner's names.

After reading you can say how a node without a name of its own is called by its expression, and why
``h * w`` is ``h1 * w`` in one round of a loop and ``h2 * w`` in the next. Read next: ``frames.py``,
which tells the steps with these words.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from math import prod

from autodiff_kit.record.events import (
    Input,
    NodeRecord,
    OpRecord,
    RecordingData,
    Requirement,
    Value,
)
from autodiff_kit.record.source_tree import on_one_line
from autodiff_kit.view.contents import Holder, operands_then, requirements
from autodiff_kit.view.flow import Flow
from autodiff_kit.view.labels import word
from autodiff_kit.view.modules import Modules
from autodiff_kit.view.namesakes import Namesakes
from autodiff_kit.view.results import Results
from autodiff_kit.view.rules import attribute_of, decided, fill, is_atom, parsed, without
from autodiff_kit.view.shortening import in_outline, without_module
from autodiff_kit.view.subscripts import (
    ITEMS,
    PARTS,
    from_base,
    is_assigned,
    subscript,
    tidy,
    variable_of,
)
from autodiff_kit.view.values import parameter, short, show
from autodiff_kit.view.words import capital, ordinal
from autodiff_kit.view.written import COMMUTE, Written, augmented

__all__ = ["NAME", "REBUILT", "Names"]

FUSED = {"addmm", "baddbmm"}  # what a layer calls, and no learner
NAME = 32  # characters an expression may have to be used as a name, and a name in a box

# What a change in place makes of a base and of its other views; no line of the learner's does.
REBUILT = {
    "pick": "{} viewed again",
    "put": "{} changed through a view",
    "copy_slices": "{} changed through a view",
    "log_softmax": "log_softmax({})",
    "logsumexp": "logsumexp({})",
}
_IDENTIFIER = re.compile(r"(?<![\w.])[^\W\d]\w*(?!\w|\s*=[^=])")
_GRAD = re.compile(r"\.grad\d*$")
_LEFT_OUT = (None, "inf", "-inf")  # as clamp has it for the bound that it was not given
_DEPTH = 20  # an expression short enough to be shown is not nested deeper
_NESTED = 12  # operands without names in each other that a name tells; those inside are "…"
_Memo = dict[int | tuple[int, int], str]


class Names:
    """What each node of a recording is called; worked out when asked for.

    A node that the learner gave a name has that name (``h2`` where ``h`` was bound several times).
    Others are called by their expression, with numbered names filled in - in a loop, ``h * w`` is
    ``h1 * w`` in one round and ``h2 * w`` in the next - and without its middle if it is long.
    Tensors that nothing in the source made are called by their value.

    Parameters
    ----------
    recording : dict
        With ``nodes`` and ``ops``.
    """

    def __init__(self, recording: RecordingData) -> None:
        self._nodes: Sequence[NodeRecord] = recording["nodes"]
        self._ops: Mapping[str, OpRecord] = recording["ops"]
        # Nodes whose text is the whole of their consumer's: parts of one call, such as sum(list).
        self._parts = {
            i["node"]
            for node in self._nodes
            for i in node.get("inputs", ())
            if "node" in i
            and node["where"] is not None
            and self._nodes[i["node"]]["where"] == node["where"]
            and self._nodes[i["node"]]["scope"] == node["scope"]  # not of the round before
            and not (node["op"] in ITEMS and self._nodes[i["node"]]["op"] in PARTS)
        }
        self._firsts: dict[str, int] = {}  # the first node of each name, whatever its number
        for node in self._nodes:
            if node["name"]:
                self._firsts.setdefault(variable_of(node), node["id"])
        # By node; or by node and how deep it is nested, where something inside was left out.
        self._names: _Memo = {}
        self._texts: _Memo = {}
        self._nested = 0  # operands around the one that is being named
        self._left_out = 0  # operands so far that were nested too deeply
        self.written = Written(recording)
        self.modules = Modules(recording)
        self.results = Results(recording)
        self.flow = Flow(recording)
        self.additions: dict[int, str] = {}  # to the names of nodes of one drawing
        self._namesakes = Namesakes(recording)
        self.calls = self._namesakes.calls  # "call 2 of f", by scope
        self._events = recording.get("events", ())

    def name(self, node: int) -> str:
        """Return ``h1``, ``2 * x`` or ``first * last + …``."""
        return self._once(self._names, node, self._name)

    def text(self, node: int) -> str:
        """Return the node's expression on one line, ``h1 * w``."""
        return self._once(self._texts, node, self._expression)

    def _once(self, known: _Memo, node: int, compute: Callable[[int], str]) -> str:
        """Return what is known of a node, or compute it."""
        result = known.get(node, known.get((node, self._nested)))
        if result is None:
            before = self._left_out
            result = compute(node)
            known[node if before == self._left_out else (node, self._nested)] = result
        return result

    def _name(self, node: int) -> str:
        record = self._nodes[node]
        if record["name"]:
            return record["name"]
        if record["kind"] == "leaf" and record["grad_fn"]:
            return f"a tensor from {'before' if record.get('older') else 'elsewhere'}"
        if output := self.modules.output(node):
            return output
        name = in_outline(self.text(node), NAME)
        return name or short(record["value"], 12) or f"a {show(record['value'], 12)}"

    def verb(self, node: int, *, begins: bool = False) -> str:
        """Return what does an op's work, ``multiply``; of ``addmm`` what the learner has called.

        That is a layer, ``net.fc1``, or ``linear``. With ``begins``, it begins a sentence.
        """
        record = self._nodes[node]
        op = str(record["op"])
        if op in FUSED and op not in record["text"]:
            if layer := self.modules.layer(node):
                return layer
            op = "linear"
        return capital(word(op)) if begins else word(op)

    def made_by(self, node: int) -> str:
        """Return the expression that made a leaf of the graph, which no node stands for."""
        return in_outline(self.text(node), 2 * NAME) or word(str(self._nodes[node]["op"]))

    def title(self, node: int) -> str:
        """Return ``h1 = h * w``; for a leaf, its name."""
        record = self._nodes[node]
        name = self.name(node)
        if record["kind"] == "leaf":
            return name
        text = self.text(node)
        if not record["name"]:
            text = without_module(text)  # it is called by this, and has one name
        if statement := self.written.ended(node):
            return f"{name}, at the end of {statement}" if record["name"] else f"End of {statement}"
        if is_assigned(record):  # `y[0] = 5.`, or a view changed in place
            if not isinstance(parsed(text), ast.Subscript):
                return f"{name}, changed by {text}"
            change = self.change(node)
            return f"{name}: {change}" if record["name"] else change
        if (change := augmented(record["text"], text)) and record["name"]:
            return change if change.startswith(f"{name} ") else f"{name}: {change}"
        if in_outline(text, NAME) == name:
            return text
        if record["op"] in REBUILT and not record["text"]:
            return f"{name}: {text}"
        if record["text"] and text and _GRAD.search(name):  # no line of the learner's assigns it
            return f"{name}, changed by {text}"
        return f"{name} = {text}" if text else name

    def change(self, node: int) -> str:
        """Return what an op does: its expression, with what is assigned, ``y1[0] = 5.``."""
        record, text = self._nodes[node], self.text(node)
        if statement := self.written.ended(node):
            return statement
        value = next((i for i in record["inputs"] if i["arg"] == "y"), None)
        is_item = is_assigned(record) and isinstance(parsed(text), ast.Subscript)
        if is_item and value is not None:
            return f"{text} = {self.operand(value)}"
        return augmented(record["text"], text) or text

    def titles(self, nodes: Sequence[int]) -> str:
        """Return the title of a node by its outputs: ``a, b = x.split(2)``."""
        if len(nodes) == 1:
            return self.title(nodes[0])
        record = self._nodes[nodes[0]]
        text = without_module(on_one_line(str(record["text"])))
        if not text:
            text = (
                f"{word(str(record['op']))}({', '.join(self.operand(i) for i in record['inputs'])})"
            )
        return f"{', '.join(map(self.name, nodes))} = {text}"

    def operand(self, source: Input) -> str:
        """Return the name of one input of an op, or its number if it is a constant."""
        return self.name(source["node"]) if "node" in source else parameter(source["value"])

    def operands(self, node: int) -> dict[str, str]:
        """Return what stands in the op's text: names for inputs, values for parameters."""
        record = self._nodes[node]
        texts = {i["arg"]: self.operand(i) for i in record["inputs"]}
        several = [i for i in record["inputs"] if "[" in i["arg"]]
        if several:  # a Function of the learner's has one rule for all of its inputs
            names = dict.fromkeys(map(self.operand, several))
            texts[several[0]["arg"].split("[")[0]] = " and ".join(names)
        return {k: parameter(v) for k, v in record["params"].items()} | texts

    def reads(self, node: int, reads: Sequence[str]) -> dict[str, str]:
        """Return what stands for the names that a rule reads, in the learner's names."""
        record = self._nodes[node]
        names = {"g": self.gradient(node)}
        sources = {source["arg"]: source for source in record["inputs"]}
        for read in reads:
            source = sources.get(read.removesuffix("_shape"))
            if read == "out":
                names[read] = self.called(node)
            elif read == "terms":  # of how many elements each of the result is made
                inputs = (
                    prod(self._nodes[s["node"]]["value"]["shape"])
                    for s in sources.values()
                    if "node" in s
                )
                names[read] = str(next(inputs, 1) // max(1, prod(record["value"]["shape"])))
            elif source is not None and "node" in source and read.endswith("_shape"):
                names[read] = attribute_of(self.name(source["node"]), "shape")
            elif source is not None and "node" in source:
                names[read] = self.called(source["node"])
            elif source is not None:
                names[read] = self.operand(source)
            elif read in record["params"]:
                names[read] = parameter(record["params"][read])
        return names

    def is_another(self, variable: str, node: int) -> bool:
        """Return whether another node was called so before: after ``a, b = b, a``."""
        first = self._firsts.get(variable, node)
        return self._nodes[first]["name"] == variable and first < node

    def namesakes(self, node: int) -> list[int]:
        """Return the nodes that the code calls alike, such as ``h``, in order; of one, none."""
        return self._numbered_names.get(self._nodes[node].get("variable", ""), [])

    def place(self, node: int) -> str:
        """Return what the number in a name means: "the first of 3 results the code calls h"."""
        alike = self.namesakes(node)
        if len(alike) < 2:
            return ""
        of = "results" if all(self._nodes[n]["kind"] == "op" for n in alike) else "tensors"
        variable = self._nodes[node]["variable"]
        which = ordinal(alike.index(node) + 1)
        return f"the {which} of {len(alike):,} {of} the code calls {variable}"

    @cached_property
    def _numbered_names(self) -> dict[str, list[int]]:
        numbered: dict[str, list[int]] = {}
        for record in self._nodes:
            if "variable" in record:
                numbered.setdefault(record["variable"], []).append(record["id"])
        return numbered

    def tell_apart(self, nodes: Iterable[int]) -> None:
        """Add to the names of the nodes that are drawn what tells those apart that have one."""
        self.additions = self.additions_of(nodes)

    def additions_of(self, nodes: Iterable[int]) -> dict[int, str]:
        """Return what is added to the names of these nodes: ``" in iteration 2"``."""
        return self._namesakes.additions((node, self.name(node)) for node in nodes)

    def called(self, node: int) -> str:
        """Return the name of a node, and which one it is where several of a drawing have it."""
        return self.name(node) + self.additions.get(node, "")

    def gradient(self, node: int) -> str:
        """Return what a gradient is called: ``w.grad``, or ``gradient of y``.

        The learner can read the ``.grad`` of a leaf, but that of a result is None.
        """
        record = self._nodes[node]
        if record["kind"] == "leaf" and not record["grad_fn"]:
            return attribute_of(self.name(node), "grad") + self.additions.get(node, "")
        return f"gradient of {self.called(node)}"

    @cached_property
    def requirements(self) -> dict[int, list[Requirement]]:
        """By node, what has set its requires_grad after it was made."""
        return requirements(self._events)

    def operand_then(self, node: int, source: int) -> tuple[Value, bool]:
        """Return the value of an input when an op ran, and whether it is overwritten later."""
        holder, is_overwritten = self._operands_then.get((node, source), (None, False))
        return (holder or self._nodes[source])["value"], is_overwritten

    @cached_property
    def _operands_then(self) -> dict[tuple[int, int], tuple[Holder | None, bool]]:
        return operands_then(self._nodes, self._events)

    def _expression(self, node: int) -> str:
        record = self._nodes[node]
        text = from_base(record, self._nodes, tidy(self._own_text(record)))
        if is_assigned(record):
            text = tidy(on_one_line(str(record["text"])))
        if not record["op"] or len(text) > 4 * NAME:
            return text
        numbered = self._numbered(node, text, 0)
        for name in _bound_in(text):  # `w` of sum(w * w for w in ws) is all of them in turn
            numbered.pop(name, None)
        if text and None not in numbered.values() and not self._has_other_names(node):
            item = self.written.item(node) or self._item(node)
            return _IDENTIFIER.sub(lambda m: _in_place(numbered, m), text) + item
        # No expression of its own, or one name for two tensors: write it from the op table.
        if record["op"] in REBUILT:
            return REBUILT[record["op"]].format(self._plain(record["inputs"][0]))
        inputs = {i["arg"]: self._plain(i) for i in record["inputs"]}
        parameters = {k: parameter(v) for k, v in record["params"].items()}
        text = decided(self._ops[str(record["op"])]["text"], tuple(sorted(parameters.items())))
        text = without(text, frozenset(k for k, v in record["params"].items() if v in _LEFT_OUT))
        parameters.pop("target", None)  # the classes of a loss, which are many numbers
        if record["op"] in COMMUTE and self.written.order(node) == [1, 0]:
            inputs = dict(zip(inputs, reversed(inputs.values()), strict=True))
        named = inputs | parameters
        several = [arg for arg in inputs if "[" in arg]
        if several:  # `tensors[0]` and `tensors[1]` of stack(tensors)
            named[several[0].split("[")[0]] = f"[{', '.join(inputs[arg] for arg in several)}]"
        if at := subscript(record, self._nodes):
            text = f"x{at}"
        if parsed(text) is None:  # `x with x[positions] = y`
            return _IDENTIFIER.sub(lambda m: named.get(m[0], m[0]), text)
        whole = fill(text, named) + self._item(node)
        if record["id"] in self._parts and whole == on_one_line(str(record["text"])):
            called = word(str(record["op"]))  # of 1 / x: reciprocal(x)
            return f"{called}({', '.join(inputs.values())})"
        return whole

    def _item(self, node: int) -> str:
        """Return which of an op's several results a node is, ``"[1]"``; "" if there is one."""
        op, params = str(self._nodes[node]["op"]), self._nodes[node]["params"]
        is_one = "index" not in params or "index" in str(self._ops[op]["text"])
        return "" if is_one else f"[{params['index']}]"

    def _own_text(self, record: NodeRecord) -> str:
        """Return the source on one line; nothing for a part of a call and for ``h *= w``."""
        text = on_one_line(str(record["text"]))
        tree = parsed(text)
        is_chain = isinstance(tree, ast.Compare) and len(tree.ops) > 1  # `0 < x < 1` is two ops
        is_part = record["id"] in self._parts or self.modules.is_inside(record["id"])
        return "" if is_part or tree is None or is_chain else text

    def _plain(self, source: Input) -> str:
        """Return an operand's name; "…" if it is nested so deeply that a name has no room for it.

        So an expression is shortened from the outside in, however many operations it is made of.
        """
        if "node" not in source or self._nodes[source["node"]]["name"]:
            return self.operand(source)
        if self._nested == _NESTED:
            self._left_out += 1
            return "…"
        self._nested += 1
        try:
            return self.operand(source)
        finally:
            self._nested -= 1

    def _numbered(self, node: int, text: str, depth: int) -> dict[str, str | None]:
        """Return which names in ``text`` stand for a numbered name; None if for more than one.

        Looks at the operands, and through those whose expression is a part of this one.
        """
        numbered_names: dict[str, str | None] = {}
        words = set(_IDENTIFIER.findall(text))
        for operand in self._nodes[node].get("inputs", ()):
            if "node" not in operand:
                continue
            source = operand["node"]
            record = self._nodes[source]
            name, inner = record["name"], str(record["text"])
            variable = operand.get("variable", "")
            new: dict[str, str | None] = {}
            if variable in words and variable_of(record) != variable:
                new = {variable: self._plain(operand)}
            elif name and name in words:
                new = {name: name}
            elif name:
                new = {base: name} if (base := variable_of(record)) in words else {}
            elif depth < _DEPTH and inner and text != (inner := on_one_line(inner)) in text:
                new = self._numbered(source, inner, depth + 1)
            for base, to in new.items():
                numbered_names[base] = to if numbered_names.get(base, to) == to else None
        return numbered_names

    def _has_other_names(self, node: int, depth: int = 0) -> bool:
        """Return whether the source calls an operand by a name that another tensor has here.

        As after ``a, b = b, a``, or in a function whose parameters are named the other way round.
        """
        record = self._nodes[node]
        inputs = [i["node"] for i in record.get("inputs", ()) if "node" in i]
        names = [(self._nodes[i]["name"] or "", variable_of(self._nodes[i])) for i in inputs]
        if self.written.is_operator(node):
            words = [getattr(part, "id", "") for part in self.written.parts(node) or ()]
            pairs = list(zip(words, names, strict=False)) if len(inputs) == 2 else []
            if len(inputs) == 1 and not {*names[0]} & {*words}:
                pairs = [(written, names[0]) for written in words]
            for written, name in pairs:
                is_another = self._firsts.get(written, node) < node
                if name[0].isidentifier() and is_another and written not in name:
                    return True
        texts = [str(self._nodes[i]["text"]) for i in inputs]
        return depth < _DEPTH and any(
            not name[0]
            and 0 < len(text) < len(str(record["text"]))
            and self._has_other_names(i, depth + 1)
            for i, name, text in zip(inputs, names, texts, strict=True)
        )


def _in_place(names: Mapping[str, str | None], name: re.Match[str]) -> str:
    """Return what stands for a name, in parentheses where that is needed."""
    text = names.get(name[0]) or name[0]
    before, after = name.string[: name.start()].rstrip()[-1:], name.string[name.end() :].lstrip()
    is_argument = before in ("", "(", ",") and after[:1] in ("", ")", ",")
    return text if is_argument or is_atom(text) else f"({text})"


@lru_cache(maxsize=1024)
def _bound_in(text: str) -> frozenset[str]:
    """Return the names that an expression binds itself: of comprehensions and lambdas."""
    tree = parsed(text)
    bindings = set()
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.comprehension | ast.NamedExpr):
            names = ast.walk(node.target)
            bindings |= {part.id for part in names if isinstance(part, ast.Name)}
        elif isinstance(node, ast.Lambda):
            bindings |= {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}
    return frozenset(bindings)
