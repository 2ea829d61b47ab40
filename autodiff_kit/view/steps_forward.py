"""The forward steps: a leaf, an operation, a branch, a change in place.

After reading you can say in which words a step tells what an op makes, what it remembers for
backward, or why nothing is recorded. Read next: ``steps_backward.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.view.formula import parameter, short, word
from autodiff_kit.view.steps import Event, Steps
from autodiff_kit.view.text import no_saved, saved_name
from autodiff_kit.view.words import a_value, box_value, equation, listed, sentence

__all__ = ["ForwardSteps"]


class ForwardSteps(Steps):
    """Tells what the learner's code does."""

    def leaf(self, event: Event) -> None:
        """Tell what a leaf holds, and whether it wants a gradient."""
        record = self.nodes[event["node"]]
        if record["grad_fn"]:  # not a leaf of the graph, only of what was watched
            name = f"{self.names.name(event['node'])} ({record['grad_fn']})"
            caption = f"{name} was made where the recording could not see it"
            self.add("leaf", event["node"], caption, where=record["where"])
            return
        name = equation(self.names.name(event["node"]), record["value"])
        comma = "," if short(record["value"]) is None else ""
        made = "you made it" if record["name"] or record["text"] else "no op here made it"
        if record.get("part"):
            made = f"a {record['part']}"
        if record["requires_grad"]:
            wants = f"{made}, and it wants a gradient."
        else:
            wants = f"{made}. It wants no gradient, so none will come back to it."
        caption = f"{self._round(event['node'])}{name}{comma} is a leaf: {wants}"
        self.add("leaf", event["node"], caption, where=record["where"])

    def op(self, event: Event) -> None:
        """Tell what an op makes and remembers."""
        node = event["node"]
        record = self.nodes[node]
        sources = [i["node"] for i in record["inputs"] if "node" in i]
        if any(source in self.values for source in sources):
            self.operands[node] = {source: self.value(source) for source in sources}
        group = self.groups.get(node, (node,))
        if node != group[0]:
            return  # told with the first output
        made = a_value(record["value"])
        if len(group) > 1:
            made = listed(a_value(self.nodes[n]["value"]) for n in group)
            made += f", {len(group)} outputs of one node"
        if record.get("again"):
            title = self.names.title(node)
            caption = f"{title}: the checkpoint computes it again for backward, {made}"
            self.add("op", node, caption, where=record["where"])
            return
        caption = (
            f"{self._round(node)}{self.names.titles(group)}: {word(record['op'])} makes {made}"
        )
        if record["recorded"]:
            caption += self._remembers(node)
        else:
            caption = f"{sentence(caption)} {self._not_recorded(node)}"
        self.add("op", node, caption, where=record["where"])

    def _round(self, node: int) -> str:
        """Return "Iteration 2. " for the first step in a new round of a loop."""
        scope = self.scopes.get(self.nodes[node]["scope"])
        if scope is None or scope["kind"] != "iteration" or scope["id"] in self.told_rounds:
            return ""
        self.told_rounds.add(scope["id"])
        return f"Iteration {scope['index'] + 1}. "

    def _remembers(self, node: int) -> str:
        record = self.nodes[node]
        if not record["saved"]:
            return f", and remembers {no_saved(self.recording, node)}."
        by = [saved.get("by") for saved in record["saved"]]
        if "checkpoint" in by:
            return ". What its rules read is not kept: the checkpoint computes it again."
        readers: dict[str, dict[str, None]] = {}
        for saved in record["saved"]:
            operands = self.names.operands(node)
            rules = readers.setdefault(self._saved(node, saved["name"]), {})
            rules.update(dict.fromkeys(operands.get(arg, arg) for arg in saved["for"]))
        parts = [
            f"{what} (the rule for {listed(rules)} reads it)"
            if len(rules) == 1
            else f"{what} (the rules for {listed(rules)} read it)"
            for what, rules in readers.items()
        ]
        if "hook" in by:
            return f". What it saves goes through your pack hook: {listed(parts)}."
        return f" and remembers {listed(parts)} for the backward pass."

    def _saved(self, node: int, name: str) -> str:
        """Return what one saved thing is: ``w = 2.``, ``its own result``, ``the number 2``."""
        if name == "out":
            return "its own result"
        for source in self.nodes[node]["inputs"]:
            if source["arg"] == name and "node" in source:
                value = self._operand(node, source["node"])
                return equation(self.names.name(source["node"]), value)
            if source["arg"] == name:
                return f"the number {parameter(source['value'])}"
        return saved_name(name)

    def _not_recorded(self, node: int) -> str:
        record = self.nodes[node]
        if record["op"] == "detach":
            return "It is not connected to the graph: no gradient flows back through it."
        wanted = any(
            self.nodes[i["node"]]["requires_grad"] for i in record["inputs"] if "node" in i
        )
        if wanted and not self.ops[record["op"]]["rules"]:
            why = f"{word(record['op'])} has no gradient"
        else:
            why = "no_grad switches gradients off" if wanted else "no input wants a gradient"
        return f"Nothing is recorded here: {why}."

    def branch(self, event: Event) -> None:
        """Tell what Python has asked a tensor, and which way it went."""
        node, taken = event["node"], event["taken"]
        seen = equation(self.names.name(node), self.value(node))
        answer = str(taken).lower()
        match self._keyword(event["where"]):
            case "while":
                went = "goes round again" if taken else "ends here"
                caption = f"while looked at {seen} and {went} ({answer})."
            case "if" | "elif" as keyword:
                went = "went this way" if taken else "did not go in here"
                caption = f"{keyword} looked at {seen} and {went} ({answer})."
            case _:
                caption = f"Python asked whether {seen} is true, and the answer is {answer}."
        where = event["where"] or self.nodes[node]["where"]
        self.add("branch", node, caption, where=where)

    def _keyword(self, where: Any) -> str:
        lines = [] if where is None else self.lines[where[0]]
        line = lines[where[1] - 1] if where is not None and 0 < where[1] <= len(lines) else ""
        words = line.replace("(", " ").split()
        return words[0] if words else ""

    def modified(self, event: Event) -> None:
        """Tell what a change in place has put where."""
        node, value = event["node"], event["value"]
        before, after = short(self.value(node)), short(value)
        self.values[node] = value
        last = self.events[self.at - 1] if self.at else {}
        if last.get("kind") == "op" and last.get("node") == node:  # one thing: `w -= 1`
            self.frames[-1]["caption"] += f" {event['how']} puts it in place of what was there."
            self.frames[-1]["set"][self.drawn.box_of[node].id] = {"value": box_value(value)}
            return
        caption = f"{event['how']} changes {self.names.name(node)} in place"
        if before and after and before != after:
            caption += f": {before} becomes {after}"
        changes = {node: {"value": box_value(value)}}
        self.add("modified", node, caption, where=event["where"], changes=changes)
