"""What an arrow tells of the chain rule, and whether a gradient is told part by part.

After reading you can say when an arrow is called ``dy/dx`` and when ``d(3. * x)/dx``: where a
second way leads from x to y, dy/dx is the sum over both, and each holds the other at its value.
Read next: ``steps_arrivals.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from autodiff_kit.record.events import Params, RuleRecord
from autodiff_kit.view.payload import Fields
from autodiff_kit.view.rule_words import rule_of
from autodiff_kit.view.slopes import (
    chain,
    one_use,
    other_ways,
    product_of_shapes,
    rule_text,
    slope,
    slope_text,
)
from autodiff_kit.view.steps import Steps, Value
from autodiff_kit.view.values import number, parameter, short
from autodiff_kit.view.words import full, on_arrow

__all__ = ["SlopeSteps"]


class SlopeSteps(Steps):
    """Knows the local slope of every op that makes a number of numbers."""

    def along(
        self, edge: str | None, node: int, arg: str, to: int, sent: Value
    ) -> dict[str, Fields]:
        """Return what the arrow shows that a contribution goes back along: the chain rule."""
        record = self.nodes[node]
        if edge is None:
            return {}
        self.passed[edge] = self.outline.box_of[node].id
        gradient = on_arrow(sent)
        fields: Fields = {"slope": None, "sent": gradient, "arrived": gradient}
        is_one_of_several = self.uses[self.outline.box_of[to].id] > 1
        if is_one_of_several:
            fields["whole"] = full(sent)
            if picture := self.picture(sent, on_arrow=True):
                fields["map"] = picture
        g = self.waiting.get(node)
        rule = None
        if record["op"] is not None:
            rule = rule_of(self.ops, record, arg)
        if g is not None and self.outline.box_of[node].kind != "fold":
            numbers = self._numbers(node, rule["reads"]) if rule else {}
            factor = slope(rule and rule["text"], numbers, g, sent)
            if factor is not None:
                of: str | None = self.names.name(node)
                what = self.names.name(to)
                ways = other_ways(self.nodes, node, arg, to)
                others = {a: self._held(node, i) for a, i in ways.items()}
                if others:  # dy/dx is the sum over all ways from x to y, this is one
                    formula = str(self.ops[str(record["op"])]["text"])
                    of = one_use(formula, self.names.operands(node), others)
                fields["slope"] = f"{slope_text(of, what)} = {number(factor)}"
                fields["sent"] = chain(g, factor, sent)
            elif rule and sent["shape"]:
                fields |= self._of_arrays(node, rule, g, sent)
        return {edge: fields}

    def _of_arrays(self, node: int, rule: RuleRecord, g: Value, sent: Value) -> Fields:
        """Return the rule in names, and how the shapes fit where it is a matrix product."""
        record, text = self.nodes[node], rule["text"]
        names = self.names.reads(node, rule["reads"])
        params = {k: parameter(v) for k, v in record["params"].items()}
        fields: Fields = {"slope": rule_text(text, names, params)}
        sources = [i for i in record["inputs"] if "node" in i]
        shapes = {i["arg"]: self.nodes[i["node"]]["value"]["shape"] for i in sources}
        fits = product_of_shapes(text, {**shapes, "g": g["shape"]}, sent["shape"])
        if fits:
            fields["sent"] = fits
        return fields

    def _held(self, node: int, source: int) -> str | None:
        """Return the number that an operand was when the op ran; None if it was an array."""
        value = self.operand(node, source)
        return None if value["shape"] or not value["data"] else short(value)

    def _numbers(self, node: int, reads: Sequence[str]) -> dict[str, float]:
        """Return the numbers that a rule reads, by the names it reads them by."""
        record = self.nodes[node]
        numbers: Params = dict(record["params"])
        for source in record["inputs"]:
            if "node" in source:
                value = self.saved_value(node, source["arg"], source["node"])
                if not value["shape"] and value["data"]:
                    numbers[source["arg"]] = float(value["data"][0])
            else:
                numbers[source["arg"]] = source["value"]
        out = self.saved_value(node, "out", node)
        if not out["shape"] and out["data"]:
            numbers["out"] = float(out["data"][0])
        return numbers
