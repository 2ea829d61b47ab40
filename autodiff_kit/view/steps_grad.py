"""What is in a ``.grad``: what backward adds there, what your code clears, sets or changes.

And whether a tensor is to have one at all, where that changes.

After reading you can say when a ``.grad`` holds the sum of several passes, and how a clearing of
many gradients is told as one step. Read next: ``steps_backward.py``.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from autodiff_kit.record.events import Accumulate, Gradient, Requirement
from autodiff_kit.view.payload import Fields
from autodiff_kit.view.rules import attribute_of
from autodiff_kit.view.steps import FORWARD, UPDATE, Value
from autodiff_kit.view.steps_arrivals import BEFORE, ArrivalSteps
from autodiff_kit.view.values import short, show
from autodiff_kit.view.words import (
    a_value,
    in_row,
    listed,
    sentence,
    spoken,
    sum_of,
    the_value,
)

__all__ = ["NAMED", "GradSteps"]

NAMED = 3  # more names than this are counted instead


class GradSteps(ArrivalSteps):
    """Tells what becomes of a ``.grad``."""

    def accumulate(self, event: Accumulate) -> None:
        """Tell what a leaf's .grad becomes."""
        node, before, grad = event["node"], event["before"], event["grad"]
        name = self._grad_of(node)
        text = sum_text = None
        (in_all,), along = self._sum(node, grad)
        if before is None:
            caption = f"{name}: nothing before, now {a_value(grad)}"
        else:
            text = sum_of(before, event["g"], grad)
            (sum_text, in_all), along = self._sum(node, before, grad)
            caption = f"{name} holds {a_value(before)} from before, and gradients add up"
            caption += f": {spoken(text)}" if text else f" to {a_value(grad)}"
        self.grads[node] = grad
        self.accumulated.append(node)
        fields = self._shown(node, "grad", grad, text)
        fields |= self._why(node, before=sum_text, total=in_all)
        if sum_text is not None:
            fields |= self._total(node, f"+ {sum_text} {BEFORE} = {in_all}")
        changes: dict[int, Fields] = {node: {**fields, "visited": True}}
        if before is not None and (read := self.gradients.get(node)) is not None:
            self.values[read] = grad
            changes[read] = the_value(grad, self.picture(grad))
        where = self.nodes[node]["where"]
        self.add("accumulate", node, caption, where=where, changes=changes, g=grad, along=along)

    def gradient(self, event: Gradient) -> None:
        """Tell that a .grad was cleared, set or changed in place, by no backward pass."""
        node, grad, how = event["node"], event["grad"], event["how"]
        before = self.grads.get(node)
        changes = {node: self.hold(node, grad)}
        if grad is not None:
            row = [f"changed by {how}" if how else "set by your code", in_row(grad)]
            changes[node] |= self._why(node, row)
        name = self._grad_of(node)
        if how and self.moments and self.moments[-1] >= self.at - 2:
            # Just told, of the tensor that is there: `x.grad.zero_()`.
            self.frames[-1]["set"].setdefault(self.outline.box_of[node].id, {}).update(
                changes[node]
            )
            return
        if grad is not None:
            caption = self.round(event.get("scope", 0))
            caption += f"{how} changes {name} in place" if how else f"{name} is set"
            were = None if before is None else short(before)
            caption += (
                f": {spoken(were)} becomes {a_value(grad)}" if were else f" to {a_value(grad)}"
            )
            about: Any = {"where": event["where"], "phase": self._between()}
            self.add("grad", node, caption, changes=changes, g=grad, **about)
            return
        opening = self.round(event.get("scope", 0))
        if opening or not self._is_one_statement(event):
            self.opening, self.cleared = opening, [node]
            phase = self._between()
            self.add("grad", node, opening, where=event["where"], changes=changes, phase=phase)
        else:
            self.cleared.append(node)
            self.frames[-1]["set"].setdefault(self.outline.box_of[node].id, {}).update(
                changes[node]
            )
        names = [self._grad_of(n) for n in self.cleared]
        cleared = listed(names) if len(names) <= NAMED else f"{len(names):,} gradients"
        self.frames[-1]["caption"] = (
            f"{self.opening}{cleared} {'is' if len(names) == 1 else 'are'} cleared: the next "
            "backward pass begins with no gradient there."
        )

    def received(self, reached: Collection[int], filled: Collection[int]) -> str:
        """Say what has come out of a fold: to which nodes, and to which leaves that it has filled.

        Parameters
        ----------
        reached : collection of int
            The nodes outside of it that a gradient has come to.
        filled : collection of int
            Leaves in boxes of several, that have accumulated it.
        """
        box_of = self.outline.box_of
        words = ""
        if len(filled) > NAMED:
            owners = {box_of[n].owner for n in filled}
            is_one = len(owners) == 1 and all(owners)
            what = f"parameters of {next(iter(owners))}" if is_one else "leaves"
            words = f" {len(filled):,} {what} have their gradient."
        outside = [n for n in reached if len(filled) <= NAMED or n not in filled]
        boxes = list(dict.fromkeys(box_of[n].heading or self._called(n) for n in outside))
        if len(outside) <= NAMED:
            parts = [f"{self._called(n)} {spoken(show(self.waiting[n]))}" for n in outside]
            list_of_gradients = sentence(f"Gradients so far: {', '.join(parts)}")
            return f"{words} {list_of_gradients}" if parts else words
        if len(boxes) <= NAMED:
            return f"{words} A gradient flows into {listed(boxes)}."
        return f"{words} {len(boxes):,} boxes outside it receive a gradient."

    def requirement(self, event: Requirement) -> None:
        """Tell that leaves begin to require a gradient, or cease to; all of a statement at once."""
        last, value = self.events[self.at - 1], event["requires_grad"]
        (self.frozen.discard if value else self.frozen.add)(event["node"])
        opening = self.round(event.get("scope", 0))
        is_same = last["kind"] == "requires_grad" and last["where"] == event["where"]
        if opening or not is_same or self.frames[-1]["kind"] != "requires_grad":
            self.opening, self.required = opening, []
            phase = self._between()
            self.add("requires_grad", event["node"], opening, where=event["where"], phase=phase)
        self.required.append(event["node"])
        names = [self.names.called(n) for n in self.required]
        flags = [attribute_of(name, "requires_grad") for name in names]
        if len(names) > NAMED:
            flags, names = [f"requires_grad of {len(names):,} tensors"], ["them"]
        are = "is" if len(flags) == 1 else "are"
        flows = f"{'a' if value else 'no'} gradient flows to {listed(names)}"
        self.frames[-1]["caption"] = (
            f"{self.opening}{listed(flags)} {are} set to {value}: from the operations that follow, "
            f"{flows}."
        )

    def _between(self) -> str:
        """Return the phase of a change to a .grad: that of a pass only if a hook makes it."""
        return UPDATE if self.phase == FORWARD else self.phase

    def _is_one_statement(self, event: Gradient) -> bool:
        """Return whether a clearing goes on that the latest step tells: ``opt.zero_grad()``."""
        last = self.events[self.at - 1]
        return (
            last["kind"] == "grad"
            and last["where"] == event["where"]
            and bool(self.cleared)
            and event["node"] not in self.cleared
            and self.frames[-1]["kind"] == "grad"
        )

    def hold(self, node: int, grad: Value | None) -> Fields:
        """Note what is in a .grad now, whatever has put it there; return the fields for it."""
        self.put(node, grad)
        return self.held(node, grad)

    def put(self, node: int, grad: Value | None) -> None:
        """Note what is in a .grad now."""
        self.keep(node, grad)
        self.parts.pop(node, None)
        if grad is None:
            self.whole.pop(node, None)
            self.gradients.pop(node, None)

    def held(self, node: int, grad: Value | None) -> Fields:
        """Return the fields that show what is in a .grad."""
        if grad is not None:
            return {**self._shown(node, "grad", grad), "why": None}
        cleared: Fields = {"grad": None, "g": None, "why": None}
        if self.outline.box_of[node].id in self.in_parts:
            cleared["total"] = None
        return cleared

    def _grad_of(self, node: int) -> str:
        name, addition = self.names.name(node), self.names.additions.get(node, "")
        if name[:1].isidentifier():
            now = self.names_now.get(node)
            return f"{name}.grad{addition}" + (f" (in the code now: {now}.grad)" if now else "")
        return f"the .grad of {spoken(name)}{addition}"  # a leaf that has no name
