"""The backward steps: one contribution at a time, until the leaves have their gradient.

After reading you can say when a gradient is complete, how a rule is shown in three forms, what
undoes broadcasting, and what adds up. What is released is said in the last step of its node. Read
next: ``frames.py``, where folded boxes come in.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from autodiff_kit.record.events import (
    Backward,
    Contribution,
    Mark,
    Release,
    Visit,
)
from autodiff_kit.view.detail import Detail
from autodiff_kit.view.heat import sum_map, sum_words
from autodiff_kit.view.payload import Fields
from autodiff_kit.view.rule_words import decisions, rule_of, worded
from autodiff_kit.view.rules import decided, fill, rule_forms, worked_out
from autodiff_kit.view.slopes import is_contradicted
from autodiff_kit.view.steps import Value
from autodiff_kit.view.steps_arrivals import BEFORE
from autodiff_kit.view.steps_grad import NAMED, GradSteps
from autodiff_kit.view.text import number, saved_name
from autodiff_kit.view.values import TIMES, shape_text, short, show, symbol
from autodiff_kit.view.words import (
    a_value,
    box_value,
    dimensions,
    equation,
    full,
    in_row,
    listed,
    on_arrow,
    sentence,
    spoken,
    sum_of,
)

__all__ = ["BackwardSteps"]

NONE = "None"
_PACKED = "what a hook made of it"
_OTHERS = "It reads other numbers than were there in the forward pass."
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "later")


class BackwardSteps(GradSteps):
    """Tells what the engine does."""

    def backward(self, event: Backward) -> None:
        """Tell where a backward pass starts; clear what earlier ones have left on its path."""
        self.phase, self.pass_where = "backward", event["where"]
        self.depth += 1
        self.roots = dict(zip(event["roots"], event["seed"], strict=True))
        self.waiting = dict(self.roots)
        self.sent.clear()
        self.parts_by_arrow.clear()
        self.arrivals.clear()
        self.accumulated = []
        visited, nodes = set(self.roots), set(self.roots)
        for at in range(self.at + 1, len(self.events)):
            kind, node, _, to = self.brief(at)
            if kind in ("finish", "broken", "backward"):
                break
            nodes.add(to)
            visited.add(node)
            if kind == "accumulate" and self._held_nothing(at):
                self.grads.pop(node, None)  # cleared where no event could tell of it
        nodes |= visited
        reached = {box.id for box in self.outline.boxes if not visited.isdisjoint(box.nodes)}
        changes: dict[int, Fields] = {}
        nothing: Fields = {
            "slope": None,
            "sent": None,
            "arrived": None,
            "earlier": None,
            "map": None,
        }
        along = {
            edge: nothing
            for edge, target in self.passed.items()
            if target in reached and not self._stays_summed(edge, reached)
        }
        for edge in along:
            del self.passed[edge]
        earlier: dict[str, Fields] = {edge: {"earlier": True} for edge in self.passed}
        for box in sorted(self.touched.keys() & reached):  # of other graphs, the gradients stay
            node = self.touched.pop(box)
            changes[node] = {"g": None, "rule": None, "visited": False}
            if box in self.in_parts:
                changes[node]["total"] = None
            if node in self.grads:
                changes[node] |= self._shown(node, "grad", self.grads[node])
        for node, parts in self.parts.items():
            if node in nodes or any(part in along for part in parts if isinstance(part, str)):
                gradient = self.grads.get(node, None if node in nodes else self.whole.get(node))
                rows: list[str | list[str]] = [[BEFORE, in_row(gradient)]] if gradient else []
                changes[node] = changes.get(node, {}) | Fields(why=rows)
                self.parts[node] = []
        for root, seed in self.roots.items():
            changes[root] = changes.get(root, {}) | self._shown(root, "g", seed)
            changes[root] |= self._why(root, ["backward starts here", in_row(seed)])
        starts = listed(
            f"{self.names.called(root)} with gradient {spoken(show(seed))}"
            for root, seed in self.roots.items()
        )
        alias = self._alias(event)
        caption = f"{self.round(event.get('scope', 0))}Backward starts at {starts}"
        if alias:
            caption = f"{sentence(caption)} Here, {alias}."
        first = next(iter(self.roots), None)
        g = None if first is None else self.roots[first]
        where, along = self.pass_where, along | earlier
        self.add("backward", first, caption, where=where, changes=changes, g=g, along=along)

    def _held_nothing(self, at: int) -> bool:
        """Return whether there was nothing in a .grad before this event accumulates in it."""
        note = self._note(at)
        return (note[3] if type(note) is tuple else note["before"]) is None

    def _stays_summed(self, edge: str, reached: Collection[str]) -> bool:
        """Return whether an arrow has brought a part of a sum that this pass does not come to."""
        source = self.outline.edges[int(edge)].source
        return source in self.in_parts and source not in reached

    def visit(self, event: Visit) -> None:
        """Tell that the gradient of a node is complete, or that a hook has changed it."""
        node, g = event["node"], event["g"]
        self.telling = node
        waited = self.waiting.get(node)
        self.waiting[node] = g
        later = self.events[self.at + 1 : self.at + 2]
        following = later[0] if later else None
        name = self._called(node)
        group = self.groups.get(node, ())
        if group and following and following["kind"] == "visit" and following["node"] in group:
            return  # told with the last of its outputs
        if waited is not None and waited["data"] != g["data"]:
            was, is_now = spoken(show(waited)), spoken(show(g))
            caption = f"A hook changes the gradient of {name}: {was} becomes {is_now}"
        elif following and following["kind"] == "accumulate" and following["node"] == node:
            return  # told there
        elif node in self.frozen:
            caption = f"The gradient of {name} is complete, {spoken(show(g))}, but {name} "
            caption += f"requires none any more: {self._grad_of(node)} is not changed"
        elif node in self.roots and self.frames[-1]["kind"] == "backward":
            self.frames[-1]["set"][self.outline.box_of[node].id]["visited"] = True
            return  # just told
        elif group:
            there = [n for n in group if n in self.waiting]
            each = listed(f"{self._called(n)} {spoken(show(self.waiting[n]))}" for n in there)
            caption = f"Next comes the node of {listed(map(self._called, group))}: its "
            caption += f"gradient{'s are' * (len(there) > 1) or ' is'} complete, {each}"
        else:
            count = self.arrivals[node]
            several = "both" if count == 2 else f"all {count}"
            all_in = f" with {several} contributions" if count > 1 else ""
            caption = f"Next comes {name}: its gradient is complete{all_in}, {a_value(g)}"
        fields = self._arrived(node)
        if waited is not None and waited["data"] != g["data"]:
            (total,), _ = self._sum(node, waited)
            fields |= self._total(node, f"= {total} → {box_value(g)}")
            self.parts[node] = []
            fields |= self._why(node, ["after a hook", in_row(g)])
        changes: dict[int, Fields] = {node: {**fields, "visited": True}}
        self.add("visit", node, caption, where=self.nodes[node]["where"], changes=changes, g=g)

    def contribution(self, event: Contribution) -> None:
        """Tell what a rule sends: in up to three steps, one idea each."""
        node, to = event["node"], event["to"]
        after, total = event["after"], event["total"]
        sent = event["before"] or after
        spread = sent["shape"] != after["shape"]
        self.arrivals[to] += 1
        waited = self.waiting.get(to)
        forms, effect = self._rule(node, event["arg"], to, sent)
        if spread and forms:  # what the rule gives is not yet what is passed on
            over = f"summed over {dimensions(sent['shape'], after['shape'])}"
            forms = [f"{form}, {over}" for form in forms]
            forms[-1] += f": {a_value(after)}"
        changes: dict[int, Fields] = {node: {"rule": forms}}
        edge = self._edge(node, event["arg"], to)
        about: Any = {"where": self.nodes[node]["where"], "edge": edge}
        along = self.along(edge, node, event["arg"], to, sent)
        if spread:
            draws = self.outline.detail >= Detail.SUMS
            to_come = sum_map(sent, after, is_done=False) if draws else None
            along = {e: {**fields, "map": to_come} for e, fields in along.items()}
        if total is None:
            self.waiting[to] = after
        self._bring(to, edge, after)
        part = edge if edge in along else [self._called(node), in_row(after)]
        if total is None and not spread:
            changes[to] = self._arrived(to)
            changes[to] |= self._why(to, part)
        if blank := self._total(to, ""):  # said when they add up
            changes[to] = changes.get(to, {}) | blank
        self.add("contribution", node, effect, changes=changes, sent=sent, along=along, **about)
        name = self._called(to)
        if spread:
            copies = sum_words(sent["shape"], after["shape"])
            is_copied = not copies.startswith("1 ")
            over = dimensions(sent["shape"], after["shape"])
            own = f" {shape_text(after['shape'])}" if after["shape"] else ""  # a single number
            caption = (
                f"{name}{own} was used as {shape_text(sent['shape'])}, so its gradient gets the "
                f"shape {shape_text(after['shape'])} back: {a_value(after)}"
            )
            if is_copied:
                caption = (
                    f"{name}{own} was used for each of the {copies} "
                    f"of {shape_text(sent['shape'])}, so its gradients add up: "
                    f"the sum over {over} is {a_value(after)}"
                )
            changes = {}
            if total is None:
                changes[to] = self._arrived(to)
                changes[to] |= self._why(to, part)
            along = {e: self._summed(sent, after) for e in along}
            self.add("unbroadcast", to, caption, changes=changes, sent=after, along=along, **about)
        if total is not None:
            self.waiting[to] = total
            added = None if waited is None else sum_of(waited, after, total)
            caption = f"{name} is used more than once, so its gradients add up"
            caption += f": {spoken(added)}" if added else f" to {a_value(total)}"
            (in_all,), along = self._sum(to, total)
            changes = {to: self._arrived(to, added) | self._total(to, f"= {in_all}")}
            changes[to] |= self._why(to, part, total=in_all)
            self.add("add", to, caption, changes=changes, along=along, **about)

    def _summed(self, copies: Value, total: Value) -> Fields:
        """Return what an arrow shows once broadcasting is undone: the sum, and what adds up."""
        draws = self.outline.detail >= Detail.SUMS
        picture = sum_map(copies, total, is_done=True) if draws else None
        text = on_arrow(total)
        words = "" if picture else f"sum of {sum_words(copies['shape'], total['shape'])} = "
        spread = f"{shape_text(total['shape'])} → {shape_text(copies['shape'])}"
        fields: Fields = {"sent": words + text, "arrived": text, "whole": full(total)}
        return {**fields, "map": picture, "spread": spread}

    def _edge(self, node: int, arg: str, to: int) -> str | None:
        """Return the arrow that a contribution goes back along."""
        key = (node, arg, to)
        inputs = enumerate(self.nodes[node]["inputs"])
        places = [p for p, i in inputs if i["arg"] == arg and i.get("node") == to]
        self.sent[key] += 1
        if not places:
            return None
        edge = self.outline.edge_at.get((node, places[(self.sent[key] - 1) % len(places)]))
        return edge.id if edge else None

    def _rule(self, node: int, arg: str, to: int, result: Value) -> tuple[list[str] | None, str]:
        """Return the rule in its three forms, and the sentence that says what it does here."""
        record = self.nodes[node]
        target = self._called(to)
        if record["op"] is None:
            return None, f"{record['grad_fn']} passes {a_value(result)} on to {target}"
        places = [i for i, source in enumerate(record["inputs"]) if source.get("node") == to]
        if len(places) > 1:
            place = next(i for i in places if record["inputs"][i]["arg"] == arg)
            owner = f"{target}, its {_ORDINALS[min(place, len(_ORDINALS) - 1)]} input,"
        else:
            owner = target
        what = f"The rule of {self.names.verb(node)} for {owner}"
        if record["grad_fn"] == f"{record['op']}Backward":  # of an op it ends in 0
            what = f"Your backward of {record['op']} for {owner}"
        rule = rule_of(self.ops, record, arg)
        if rule is None:
            return None, f"{what} gives {a_value(result)}"
        names, numbers = self._reads(node, rule["reads"])
        result_text = symbol(result)
        text, words = (
            decided(rule["text"], decisions(record)),
            worded(record, arg, to, self.names, result),
        )
        forms = rule_forms(
            text, names=names, numbers=numbers, target=target, result=result_text, words=words
        )
        if is_contradicted(text, self._values_read(node), result):
            return forms[:-1] or forms, f"{what} gives {a_value(result)}. {_OTHERS}"
        if text == "g":
            return forms, f"{what} passes the gradient on as it is: {a_value(result)}"
        if short(result) is None and words is not None:
            return forms, f"{what} gives {words}: {a_value(result)}"
        if short(result) is None and len(forms) > 1:  # no numbers to be seen: say it with names
            formula = fill(text, names, TIMES)
            return forms, f"{what} gives {formula}, {a_value(result)}"
        if short(result) is None:
            return forms, f"{what} gives {a_value(result)}"
        # What is too large to be seen is told by its name: `g * (A > 2)`.
        short_numbers = {
            n: names[n] if number.startswith("Tensor(") else number for n, number in numbers.items()
        }
        words = f"{words}: " if words is not None else ""
        by_hand = spoken(worked_out(text, short_numbers, result_text))
        return forms, f"{what} gives {words}{by_hand}"

    def _values_read(self, node: int) -> dict[str, Value]:
        """Return what a rule reads if nothing has changed it unseen."""
        record = self.nodes[node]
        numbers = {i["arg"]: i["value"] for i in record["inputs"] if "value" in i}
        values: dict[str, Value] = {
            name: {"shape": [], "dtype": "float64", "data": [value]}
            for name, value in {**record["params"], **numbers}.items()
            if isinstance(value, int | float)
        }
        for source in record["inputs"]:
            if "node" in source:
                values[source["arg"]] = self.saved_value(node, source["arg"], source["node"])
        values["out"], values["g"] = self.saved_value(node, "out", node), self.waiting[node]
        return values

    def _reads(self, node: int, reads: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
        """Return what stands for the names that a rule reads: names, and numbers."""
        record = self.nodes[node]
        names = self.names.reads(node, reads)
        numbers = {"g": symbol(self.waiting[node])}
        sources = {source["arg"]: source for source in record["inputs"]}
        for read in reads:
            source = sources.get(read.removesuffix("_shape"))
            if read == "out":
                numbers[read] = symbol(self.saved_value(node, "out", node))
            elif source is not None and "node" in source:
                value = self.saved_value(node, source["arg"], source["node"])
                shape = read.endswith("_shape")
                numbers[read] = shape_text(value["shape"]) if shape else symbol(value)
            elif read in names:
                numbers[read] = names[read]
        return names, numbers

    def release(self, event: Release) -> None:
        """Tell what an op has saved and releases."""
        node = event["node"]
        record = self.nodes[node]
        if not record["saved"]:
            return
        things = {
            s["name"]: _PACKED if s.get("by") == "hook" else self._kept(node, s["name"])
            for s in record["saved"]
            if s.get("by") != "checkpoint"  # which keeps nothing there
        }
        caption = ""
        if things:
            what = listed(dict.fromkeys(things.values()))
            caption = sentence(f"{self.names.verb(node, begins=True)} no longer keeps {what}")
        if not self.frames or (caption and self.telling != node):
            where = record["where"]
            self.add("release", node, caption, where=where, changes={node: {"released": True}})
            return
        frame = self.frames[-1]  # one idea less: said with the last thing the node did
        frame["caption"] += f" {caption}" if caption else ""
        frame["set"].setdefault(self.outline.box_of[node].id, {})["released"] = True

    def _kept(self, node: int, name: str) -> str:
        if (result := self.names.results.saved(node, name)) is not None:
            return self.names.called(result)
        return "its own result" if name == "out" else self._argument(node, name)

    def _argument(self, node: int, arg: str) -> str:
        inputs = {source["arg"]: source for source in self.nodes[node]["inputs"]}
        if arg in inputs and inputs[arg].get("is_seed"):
            return "the root's gradient"
        if arg not in inputs:
            return saved_name(arg)
        if "value" in inputs[arg]:
            return spoken(number(inputs[arg]))
        return self.names.called(inputs[arg]["node"])

    def finish(self, event: Mark) -> None:
        """Tell what the leaves have gained."""
        results = event.get("results", ())
        leaves = [n for n in self.accumulated if self.outline.box_of[n].kind != "fold"]
        if results and results[0].get("by"):  # some are the way to what the call returns
            returned = (
                f"the gradient of {self._called(r['of'])} is "
                f"{equation(r['name'], r['value']) if r['name'] else a_value(r['value'])}"
                for r in results[:NAMED]
            )
            caption = f"Backward is done: {listed(returned)}"
        elif results and len(results) <= NAMED:
            returned = (
                f"{equation(r['name'], r['value']) if r['name'] else a_value(r['value'])}, "
                f"the gradient of {self._called(r['of'])}"
                for r in results
            )
            caption = f"Backward is done: autograd.grad returns {listed(returned)}"
        elif results:
            caption = f"Backward is done: autograd.grad returns {len(results):,} gradients."
        elif not any(n in self.grads for n in self.accumulated):
            caption = "Backward is done."
        elif len(self.accumulated) > NAMED or len(leaves) < len(self.accumulated):
            caption = f"Backward is done: {len(self.accumulated):,} leaves have their gradient."
        else:
            gained = (
                f"{self._grad_of(n)} is {a_value(self.grads[n])}"
                for n in self.accumulated
                if n in self.grads  # a hook may have cleared it
            )
            caption = f"Backward is done: {listed(gained)}"
        self.depth -= 1
        without = [] if results or self.depth else self._without(event)
        names = [self._grad_of(n) for n in without]
        if names and len(names) <= NAMED:
            are, them = ("is", "it") if len(names) == 1 else ("are", "them")
            none = f"{listed(names)} {are} None: no gradient reaches {them}"
            caption = f"{sentence(caption)} {none}"
        none = f"{NONE}: no gradient reaches it"
        nothing: Fields = {"grad": NONE, "g": None, "gradient": none, "why": None}
        changes = dict.fromkeys(without, nothing)
        self.add("finish", None, caption, where=self.pass_where, changes=changes)
        self.phase = "forward"

    def _without(self, event: Mark) -> list[int]:
        """Return the leaves that are drawn, and that this pass has left without a gradient."""
        return [
            n
            for n in event.get("without", ())
            if n not in self.accumulated and self.outline.box_of[n].kind == "leaf"
        ]

    def broken(self, event: Mark) -> None:
        """Tell that a pass ends without its end: what caught the error goes on."""
        self.depth -= 1
        caption = "An error ends the backward pass here. It was caught: the code goes on"
        self.add("finish", None, caption, where=self.pass_where)
        self.phase = "forward"
