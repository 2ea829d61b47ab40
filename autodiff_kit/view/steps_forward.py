"""The forward steps: a leaf, an operation, a branch.

After reading you can say in which words a step tells what an op makes, what it saves for
backward, or why nothing is recorded. Read next: ``steps_backward.py``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from autodiff_kit.record.drafts import OVERWRITING
from autodiff_kit.record.entries import RETURNED
from autodiff_kit.record.events import Branch, Made, NodeRecord, RecordingData, Where
from autodiff_kit.record.inner import function_of
from autodiff_kit.record.source_tree import parse
from autodiff_kit.view.names import NAME, Names
from autodiff_kit.view.outline import Outline
from autodiff_kit.view.rules import parsed
from autodiff_kit.view.steps import FORWARD, UPDATE
from autodiff_kit.view.steps_changes import ChangeSteps
from autodiff_kit.view.stretching import stretching
from autodiff_kit.view.subscripts import subscript, variable_of
from autodiff_kit.view.text import (
    PART_GRADIENT,
    no_saved,
    number,
    read_by,
    readers_of,
    saved_name,
    switched_off,
    where_made,
)
from autodiff_kit.view.values import parameter, short
from autodiff_kit.view.words import (
    a_value,
    equation,
    listed,
    sentence,
    spoken,
)

__all__ = ["ForwardSteps"]

_QUOTIENT = "As in PyTorch, a number divided by a tensor is the number times the reciprocal."


class ForwardSteps(ChangeSteps):
    """Tells what the learner's code does."""

    def __init__(self, recording: RecordingData, outline: Outline, names: Names) -> None:
        super().__init__(recording, outline, names)
        self._conditions: dict[int, dict[tuple[int, ...], Sequence[str]]] = {}  # by source

    def leaf(self, event: Made) -> None:
        """Tell what a leaf holds, and whether it requires a gradient."""
        record = self.nodes[event["node"]]
        origin = where_made(self.recording, record)
        if record["grad_fn"]:  # not a leaf of the graph, only of what was watched
            name = f"{self.names.name(event['node'])} ({record['grad_fn']})"
            self.add("leaf", event["node"], f"{name} was made {origin}", where=record["where"])
            return
        if record.get("part") == PART_GRADIENT:
            self._read_gradient(event["node"])
            return
        name = equation(self.names.name(event["node"]), record["value"])
        comma = "," if short(record["value"]) is None else ""
        what = ": you made it" if not origin else f", made {origin}"
        if "inside" in record:
            what = f", made inside {record['inside']}"
        if record.get("part"):
            what = f": a {record['part']}"
        if "from" in record:
            what = f": {self.names.name(record['from'])}, without a history"
        elif record["op"]:
            what = f": {self.names.made_by(event['node'])}, without a history"
        if self._requires(record):
            requires = ", and it requires a gradient."
        else:
            requires = ". It requires no gradient, so none flows into it."
        kind = "a leaf" if self._requires(record) else "data"
        caption = f"{self.round(record['scope'])}{name}{comma} is {kind}{what}{requires}"
        caption += f" {self._first_of_several(event['node'])}".rstrip()
        is_update = record.get("part") == RETURNED
        if is_update:
            self.updates.add(event["node"])
        phase = UPDATE if is_update else self.phase
        self.add("leaf", event["node"], caption, where=record["where"], phase=phase)

    def _requires(self, record: NodeRecord) -> bool:
        """Return whether a leaf that is made now requires a gradient already."""
        changes = self.names.requirements.get(record["id"])
        return not changes[0]["requires_grad"] if changes else record["requires_grad"]

    def _read_gradient(self, node: int) -> None:
        """Tell that the code reads a .grad; it is a tensor like any other, without a history."""
        record = self.nodes[node]
        name = self.names.name(node)
        leaf = name.removesuffix(".grad")
        for holder in self.grads:
            if self.names.name(holder) == leaf:
                self.gradients[holder] = node
        caption = f"{self.round(record['scope'])}{equation(name, record['value'])} is read: the "
        caption += f"gradient of {leaf} that backward has accumulated. It has no history."
        users = (e["node"] for e in self.events[self.at :] if e["kind"] == "op")
        inputs = ((n, i.get("node")) for n in users for i in self.nodes[n]["inputs"])
        user = next((n for n, source in inputs if source == node), None)
        where = None if user is None else self._part(self.nodes[user]["where"], name)
        self.updates.add(node)
        self.add("leaf", node, caption, where=record["where"] or where, phase=UPDATE)

    def _part(self, where: Where | None, name: str) -> Where | None:
        """Return where in an expression a name is written; all of the expression if nowhere."""
        if where is None:
            return None
        source, first, start, last, end = where
        for row in range(first, last + 1):
            line = self.lines[source][row - 1]
            stop = end if row == last and end is not None else len(line)
            at = line.find(name, start or 0 if row == first else 0, stop)
            if at >= 0:
                return [source, row, at, row, at + len(name)]
        return where

    def op(self, event: Made) -> None:
        """Tell what an op makes and saves."""
        node = event["node"]
        record = self.nodes[node]
        sources = [i["node"] for i in record["inputs"] if "node" in i]
        if any(source in self.values for source in sources):
            self.operands[node] = {source: self.value(source) for source in sources}
        is_update = not record["recorded"] and not self.updates.isdisjoint(sources)
        if is_update:
            self.updates.add(node)
        group = self.groups.get(node, (node,))
        if node != group[0]:
            return  # told with the first output
        results = a_value(record["value"])
        if len(group) > 1:
            results = listed(a_value(self.nodes[n]["value"]) for n in group)
            results += f", {len(group)} outputs of one node"
        if "again" in record:
            title = self.names.title(node)
            caption = f"{title}: the checkpoint recomputes it for backward, {results}"
            self.add("op", node, caption, where=record["where"])
            return
        inside = f"Inside {record['inside']}, " if "inside" in record else ""
        caption = self.round(record["scope"]) + inside + self.names.titles(group)
        caption += f": {self.names.verb(node)} makes {results}"
        if record["recorded"]:
            saves = self._saves(node)
            caption = f"{sentence(caption)} {saves}" if saves[0].isupper() else caption + saves
        else:
            caption = f"{sentence(caption)} {self._not_recorded(node)}"
        if aliases := self._aliases(record):
            caption = sentence(f"{sentence(caption)} Here, {listed(aliases)}")
        if meaning := self._first_of_several(node):
            caption = f"{sentence(caption)} {meaning}"
        if words := stretching(record, self.nodes, self.names):
            caption = f"{sentence(caption)} {words}"
        if self._is_quotient(record):
            caption = f"{sentence(caption)} {_QUOTIENT}"
        phase = UPDATE if is_update else self.phase
        self.add("op", node, caption, where=record["where"], phase=phase)

    def _is_quotient(self, record: NodeRecord) -> bool:
        """Return whether a product was written as a quotient: ``1 / x``."""
        sources = [self.nodes[i["node"]]["op"] for i in record["inputs"] if "node" in i]
        tree = parsed(record["text"]) if sources == ["reciprocal"] else None
        return isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Div)

    def _aliases(self, record: NodeRecord) -> list[str]:
        """Return "x is a" for each variable, new in this scope, of a tensor that is called else."""
        aliases = []
        for source in record["inputs"]:
            variable = source.get("variable", "")
            self.note_name(record, source, variable)
            is_item = variable[-1:] == "]"
            if "node" not in source or not (is_item or variable.isidentifier()):
                continue
            if not (self.nodes[source["node"]]["name"] or self.nodes[source["node"]]["text"]):
                continue  # it is called by its value
            name = self.names.name(source["node"])
            key = (self.call_of(record["scope"]), variable, name)
            if variable not in (name, variable_of(self.nodes[source["node"]])):
                if key not in self.aliases:
                    is_another = self.names.is_another(variable, record["id"])
                    now = f'the code calls {name} "{variable}" now' if is_another else ""
                    aliases.append(now or f"{variable} is {name}")
                self.aliases.add(key)
        if item := self._item(record):
            aliases.append(f"{record['text']} is {item}")
        if number := self.names.written.number(record["id"]):
            text, value = number[0], parameter(number[1])
            if self.numbers.get(text) != value and len(text) <= NAME:
                aliases.append(f"{text} is {value}")
            self.numbers[text] = value
        return aliases

    def _item(self, record: NodeRecord) -> str:
        """Return ``x[2]`` for ``x[i]``: which one it is this time."""
        tree = parsed(record["text"])
        if not isinstance(tree, ast.Subscript) or isinstance(tree.slice, ast.Tuple | ast.Slice):
            return ""
        varies = any(isinstance(part, ast.Name) for part in ast.walk(tree.slice))
        at = subscript(record, self.nodes) if varies else ""
        return f"{self.names.operand(record['inputs'][0])}{at}" if at else ""

    def _first_of_several(self, node: int) -> str:
        """Say once what the number in a name means."""
        is_first = self.names.namesakes(node)[:1] == [node]
        place = self.names.place(node) if is_first else ""
        return f"{self.nodes[node]['name']} is {place}." if place else ""

    def _saves(self, node: int) -> str:
        record = self.nodes[node]
        if not record["saved"]:
            return f", and saves {no_saved(self.recording, node, self.names)}."
        by = [saved.get("by") for saved in record["saved"]]
        if "checkpoint" in by:
            return (
                "What its rules read is not saved: in backward, the checkpoint runs its function "
                "again to get it."
            )
        readers: dict[str, dict[str, None]] = {}
        inputs = {i["arg"]: i["node"] for i in record["inputs"] if "node" in i}
        additions = self.names.additions_of({*inputs.values()})
        operands = self.names.operands(node)
        operands |= {a: operands[a] + additions.get(n, "") for a, n in inputs.items()}
        for saved in self.names.written.saved(node):
            rules = readers.setdefault(self._saved(node, saved["name"], operands), {})
            rules.update(
                dict.fromkeys(
                    operands.get(arg, arg) for arg in readers_of(self.recording, node, saved)
                )
            )
        parts = [f"{what} ({read_by(rules)})" if rules else what for what, rules in readers.items()]
        if "hook" in by:
            return f"What it saves goes through your pack hook: {listed(parts)}."
        return f" and saves {listed(parts)} for the backward pass."

    def _saved(self, node: int, name: str, operands: Mapping[str, str]) -> str:
        """Return what one saved thing is: ``w = 2.0``, ``its own result``, ``the number 2``."""
        if (result := self.names.results.saved(node, name)) is not None:
            return equation(self.names.name(result), self.nodes[result]["value"])
        if name == "out":
            return "its own result"
        for source in self.nodes[node]["inputs"]:
            if source["arg"] == name and "node" in source:
                value = self.operand(node, source["node"])
                return equation(operands[name], value)
            if source["arg"] == name:
                return spoken(number(source))
        return saved_name(name)

    def _not_recorded(self, node: int) -> str:
        record = self.nodes[node]
        if "transform" in record:
            return (
                f"It runs inside {record['transform']}, of which the recording shows only the "
                "operations of your code."
            )
        if record["op"] == "detach" and "detach_" in record["text"]:
            was = self.names.name(record["inputs"][0]["node"])
            return f"This cuts {was} off from what made it: no gradient flows back through it."
        if record["op"] == "detach":
            return "It is not connected to the graph: no gradient flows back through it."
        used = [i["node"] for i in record["inputs"] if "node" in i]
        if record["op"] in OVERWRITING:  # `w.fill_(0.)` reads no w
            later = self.events[self.at + 1 : self.at + 3]
            used += [e["node"] for e in later if e["kind"] == "modified"]
        dtype = record["value"]["dtype"]
        if not any(self.nodes[n]["requires_grad"] for n in used):
            why = "no input requires a gradient"
        elif not self.ops[str(record["op"])]["rules"]:
            why = f"{self.names.verb(node)} has no gradient"
        elif mode := switched_off(self.recording, node, used):
            switch = self._switch if mode == "no_grad" else mode
            inside = function_of(record["text"])
            why = f"{switch or 'no_grad'} switches gradients off"
            if not switch and self.phase != FORWARD:
                why = "a backward pass records nothing without create_graph"
            elif inside and not switch:
                why = f"gradients are switched off inside {inside}"
        elif not dtype.startswith(("float", "bfloat", "complex")):
            why = f"a tensor of dtype {dtype} has no gradient"
        else:
            why = "no input required a gradient at that time"
        return f"Nothing is recorded here: {why}."

    @cached_property
    def _switch(self) -> str:
        """Return what in the learner's source can have switched gradients off; "" if nothing."""
        text = "\n".join(line for lines in self.lines for line in lines)
        if "set_grad_enabled" not in text:
            return "no_grad" if "no_grad" in text else ""
        return "no_grad or set_grad_enabled" if "no_grad" in text else "set_grad_enabled"

    def branch(self, event: Branch) -> None:
        """Tell what condition Python has tested, and with which result."""
        node, taken = event["node"], event["taken"]
        value = self.value(node)
        tested = f"{self.names.name(node)}: it is {taken}"
        if value["dtype"] != "bool":
            tested = f"{equation(self.names.name(node), value)}, which counts as {taken}"
        keyword, *after = self._condition(event["where"])
        caption = f"{self.round(event.get('scope', 0))}{keyword} tests {tested}"
        if after and after[not taken]:
            caption += f", so {after[not taken]}"
        where = event["where"] or self.nodes[node]["where"]
        self.add("branch", node, caption, where=where)

    def _condition(self, where: Any) -> Sequence[str]:
        """Return who tests something, and what follows if it is true, or false, if that is certain.

        In ``if a > 0 and b > 0`` that the first is true does not say what runs.
        """
        if where is None:
            return ("Python",)
        number, *place = where
        if number not in self._conditions:
            self._conditions[number] = dict(_conditions(self.lines[number]))
        return self._conditions[number].get(tuple(place), ("Python",))


def _conditions(lines: Sequence[str]) -> Iterator[tuple[tuple[int, ...], Sequence[str]]]:
    """Yield the places of whole conditions, and what follows from them."""
    for node in ast.walk(parse("\n".join(lines)) or ast.Module([], [])):
        match node:
            case ast.While():
                after = ["while", "the body runs", "the loop ends"]
            case ast.If():
                text = lines[node.lineno - 1].encode()[node.col_offset :]
                keyword = "elif" if text.startswith(b"elif") else "if"
                after = [keyword, "the body runs", "the body is skipped"]
                if node.orelse:
                    other = lines[node.orelse[0].lineno - 1].strip()
                    is_elif = isinstance(node.orelse[0], ast.If) and other.startswith("elif")
                    after[2] = "elif is tested next" if is_elif else "the else branch runs"
            case ast.IfExp():
                values = (ast.unparse(n) for n in (node.body, node.orelse))
                after = ["if", *(f"the value is {value}" for value in values)]
            case _:
                continue
        if isinstance(node.test, ast.Compare) and len(node.test.ops) > 1:
            after[1] = ""  # `0 < x < 1`: that the first is true does not say what runs
        # Of `if x:` Python says where all of it is; of `if x and y:`, too.
        is_whole = not isinstance(node.test, ast.BoolOp | ast.UnaryOp)
        parts: list[Any] = [node.test, node] if is_whole else [node.test]
        for part in parts:
            ends = (part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)
            (line, start), (end, stop) = (
                (number, len(lines[number - 1].encode()[:at].decode())) for number, at in ends
            )
            yield (line, start, end, stop), after
