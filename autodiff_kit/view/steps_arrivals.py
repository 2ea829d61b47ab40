"""What has come of a gradient: as it stands in a box, in full, and part by part.

After reading you can say why what gathers at a leaf is not yet its ``.grad``, and which rows add up
to a gradient. Read next: ``steps_grad.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.record.events import Backward
from autodiff_kit.view.payload import Fields
from autodiff_kit.view.steps import Value
from autodiff_kit.view.steps_slopes import SlopeSteps
from autodiff_kit.view.subscripts import variable_of
from autodiff_kit.view.values import grid
from autodiff_kit.view.words import IN_A_BOX, box_line, box_value, in_row, sum_texts

__all__ = ["BEFORE", "ArrivalSteps"]

BEFORE = "before"  # what was in a .grad when a pass began


class ArrivalSteps(SlopeSteps):
    """Knows what each gradient is the sum of, so far."""

    def _alias(self, event: Backward) -> str:
        """Return "r is s3" where ``r.backward()`` is written; nothing if it is called that."""
        where = event["where"]
        if where is None or len(event["roots"]) != 1:
            return ""
        variable, _, rest = self.lines[where[0]][where[1] - 1][where[2] or 0 :].partition(".")
        root = event["roots"][0]
        name = self.names.name(root)
        is_called = variable in (name, variable_of(self.nodes[root]))
        is_alias = variable.isidentifier() and rest.startswith("backward(") and not is_called
        return f"{variable} is {name}" if is_alias else ""

    def _shown(self, node: int, field: str, value: Value, text: str | None = None) -> Fields:
        """Return the fields that show a gradient: short for the box, whole for the inspector."""
        fits = text is not None and len(text) <= IN_A_BOX
        is_whole = node not in self.groups and self.outline.box_of[node].kind != "fold"
        picture = self.picture(value) if is_whole else None
        fields: Any = {field: text if fits else box_line(value, picture)}
        if field == "grad":
            fields["g"] = None
        if node in self.groups:
            fields["gradient"] = fields[field]
        elif is_whole:
            if self.whole.get(node) != value:  # else it is still there
                fields["gradient"] = grid(value)
                fields["map"] = picture
            self.whole[node] = value
        return fields

    def _why(
        self,
        node: int,
        *parts: str | list[str],
        before: str | None = None,
        total: str | None = None,
    ) -> Fields:
        """Note parts of a gradient; return the rows that say what it is the sum of."""
        if self.outline.box_of[node].kind == "fold":
            return {}
        own = self.parts.setdefault(self.groups.get(node, (node,))[0], [])
        own += parts
        rows = [*own] if before is None else [[BEFORE, before], *own]
        if len(rows) > 1 and node not in self.groups:
            rows.append(["sum", total or in_row(self.whole[node])])
        return {"why": rows}

    def _arrived(self, node: int, text: str | None = None) -> Fields:
        """Return the fields for what waits at a node; a leaf may hold a .grad from before."""
        value = self.waiting[node]
        group = self.groups.get(node, ())
        if group:
            parts = (box_value(self.waiting[n]) if n in self.waiting else "none" for n in group)
            return self._shown(node, "g", value, ", ".join(parts))
        record = self.nodes[node]
        inner = record["kind"] == "op" or record["grad_fn"]
        box = self.outline.box_of[node]
        if box.kind == "fold" and box.id in self.owners.values():
            return {}  # its last line is that of the parameters
        if box.kind == "fold" and box.ops and node != box.result:
            return {}  # its last line is that of the value it shows
        if inner or box.kind == "fold":
            return self._shown(node, "g", value, text)
        if node in self.grads:
            text = f"{box_value(value)}, .grad {box_value(self.grads[node])}"
        return self._shown(node, "g", value, text)

    def _total(self, node: int, text: str) -> Fields:
        """Return the field for what the parts of a gradient add up to, if they are shown so."""
        return {"total": text} if self.outline.box_of[node].id in self.in_parts else {}

    def _bring(self, node: int, edge: str | None, part: Value) -> None:
        """Note what has come along an arrow into a box that shows what adds up."""
        if edge is not None and self.outline.box_of[node].id in self.in_parts:
            self.parts_by_arrow.setdefault(node, {})[edge] = part, in_row(part)

    def _sum(self, node: int, *values: Value) -> tuple[list[str], dict[str, Fields]]:
        """Return how values are written that the parts of a gradient lead to; the sum comes last.

        With as many digits as it takes for all to add up; and what changes of the parts for that.
        """
        arrivals = self.parts_by_arrow.get(node)
        if not arrivals:
            return [*map(in_row, values)], {}
        texts = sum_texts(*(part for part, _ in arrivals.values()), *values)
        along: dict[str, Fields] = {}
        for (edge, (part, before)), text in zip([*arrivals.items()], texts, strict=False):
            arrivals[edge] = part, text
            if text != before:
                marks = (frame.get("along", {}).get(edge, {}) for frame in reversed(self.frames))
                sent = next(mark["sent"] for mark in marks if mark.get("sent"))
                product = str(sent).removesuffix(before)
                along[edge] = {"sent": product + text, "arrived": text, "whole": text}
        return texts[len(arrivals) :], along
