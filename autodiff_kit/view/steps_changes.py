"""The steps of changes in place: what was written where, and whose values it has changed.

After reading you can say why one write may change the boxes of several tensors, and how the number
that an op has overwritten is still told. Read next: ``steps_forward.py``.
"""

from __future__ import annotations

import re
from itertools import islice

from autodiff_kit.record.events import Modified, NodeRecord
from autodiff_kit.view.optimizer_words import optimizer_step
from autodiff_kit.view.steps import FORWARD, UPDATE, Steps
from autodiff_kit.view.subscripts import variable_of
from autodiff_kit.view.text import line_of
from autodiff_kit.view.values import grid, short
from autodiff_kit.view.words import box_value, listed, spoken, the_value

__all__ = ["ChangeSteps"]

_SET = "__setitem__"
SHARED = 3  # tensors of one storage whose names are listed


class ChangeSteps(Steps):
    """Tells what the learner's code writes into tensors that are there."""

    def modified(self, event: Modified) -> None:
        """Tell what a change in place has put where."""
        node, value = event["node"], event["value"]
        was = self.value(node)
        before, after = short(was), short(value)
        self.change(event)
        last = self.events[self.at - 1] if self.at else None
        if last and last["kind"] == "op" and last["node"] == node:  # one thing: `w -= 1`
            self._overwrite(node)
            self.frames[-1]["set"][self.outline.box_of[node].id] = the_value(
                value, self.picture(value)
            )
            return
        name = self._changed(node, event)
        how = self._how(event)
        if how != event["how"] and was == value and event["how"] == _SET:
            return  # `x[0] += 1` assigns at its end what is there already
        caption = f"{self.round(event.get('scope', 0))}{how} changes {name} in place"
        if settings := event.get("settings"):
            how, grad = event["how"], self.grads.get(node)
            caption = self.round(event.get("scope", 0))
            is_first = last is None or last["kind"] != "modified" or last["how"] != how
            caption += optimizer_step(name, how, settings, was, value, grad, is_first=is_first)
        elif before and after and before != after:
            caption += f": {spoken(before)} becomes {spoken(after)}"
        elif before and before == after and was["data"] != value["data"]:
            caption += f", in digits of {spoken(before)} that are not shown"
        record = self.nodes[node]
        is_parameter = record["kind"] == "leaf" and record["requires_grad"]
        is_update = is_parameter or node in self.updates
        phase = UPDATE if is_update and self.phase == FORWARD else self.phase
        boxes = {node, *self.values.ranked(event)}
        changes = {n: the_value(value, self.picture(value)) for n in boxes}
        self.add("modified", node, caption, where=event["where"], changes=changes, phase=phase)

    def _changed(self, node: int, event: Modified) -> str:
        """Return the names of what a change has changed: of all that share a storage."""
        nodes = self.values.sharing(event)
        others = [n for n in islice(nodes, SHARED + 1) if n != node]
        names = [self.names.name(n) for n in sorted((node, *others))]
        if len(nodes) <= SHARED and len(set(names)) == len(names):
            return listed(names)
        more = len(nodes) - 1
        rest = "1 other tensor that shares" if more == 1 else f"{more:,} other tensors that share"
        return f"{self.names.name(node)} and {rest} its storage"

    def _overwrite(self, node: int) -> None:
        """Tell that a result is written over an input: its numbers are there no more."""
        record = self.nodes[node]
        if record["op"] == "pick":
            return  # a view is seen again: what was written is told with its base
        first = record["inputs"][0].get("node") if record["inputs"] else None
        before = None if first is None else self.nodes[first]
        if before is None or not self._is_target(record, before):
            self.frames[-1]["caption"] += " It is written in place of what was there."
            return
        at, old = before["id"], self.value(before["id"])
        # What is read from a .grad is the new box from here on: the next pass adds to that.
        self.gradients |= {leaf: node for leaf, read in self.gradients.items() if read == at}
        self.frames[-1]["caption"] += f" It is written over {self.names.name(at)}, in place."
        by = f" by {record['text']}" if record["text"] else ""
        self.frames[-1]["set"][self.outline.box_of[at].id] = {
            "value": f"{box_value(old)}, overwritten",
            "tensor": f"{grid(old)}\noverwritten{by}{line_of(self.recording, record['where'])}",
        }

    def _is_target(self, record: NodeRecord, before: NodeRecord) -> bool:
        """Return whether an op in place is one on this input: of ``x.copy_(y)`` it is not."""
        if self.outline.box_of[before["id"]].kind == "fold":
            return False
        if record["name"] and before["name"]:
            return variable_of(record) == variable_of(before)
        return bool(before["text"]) and str(record["text"]).startswith(str(before["text"]))

    def _how(self, event: Modified) -> str:
        """Return what changes a tensor in place as it is written: ``-=`` for ``sub_``."""
        where = event["where"]
        if event["how"] == _SET:
            before = (self.events[at] for at in range(self.at - 1, -1, -1))
            results = (e["node"] for e in before if e["kind"] == "op")
            node = next((n for n in results if self.nodes[n]["where"] == where), None)
            return "" if node is None else self.names.change(node)
        if where is None or not event["how"].endswith("_"):
            return event["how"]
        source, first, start, last, end = where
        lines = self.lines[source][first - 1 : last]
        lines[-1] = lines[-1][:end]
        text = lines[0][start or 0 :] if len(lines) == 1 else "\n".join(lines)[start or 0 :]
        operators = re.findall(r"[^=!<>]\s((?:[-+*/%@]|//|\*\*)=)\s", text)
        return operators[0] if len(operators) == 1 else event["how"]
