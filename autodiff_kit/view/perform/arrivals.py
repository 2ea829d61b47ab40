"""What happens where contributions arrive: they add up, and a leaf adds them to its .grad.

After reading you can say how an answer in which one contribution has overwritten another is known.
Read next: ``backward.py``.
"""

from __future__ import annotations

import numpy as np

from autodiff_kit.record.events import Accumulate, Contribution
from autodiff_kit.view.perform.context import slip
from autodiff_kit.view.perform.contributions import ContributionTasks
from autodiff_kit.view.perform.mistakes import answer_at, as_text, distinct
from autodiff_kit.view.perform.replay import LARGEST, array_of, is_whole, tensor
from autodiff_kit.view.perform.script import Mark, Slip
from autodiff_kit.view.perform.smaller import adds, counted

__all__ = ["ArrivalTasks"]


class ArrivalTasks(ContributionTasks):
    """Makes the tasks of a node whose contributions have all arrived."""

    # -- when all contributions are there ---------------------------------------------------------

    def complete(self, node: int) -> list[str]:
        """Return what is asked once all contributions to a node are there."""
        tasks = []
        arrivals = self.arrived.get(node, [])
        has_several = len({event["node"] for _, event in arrivals}) > 1
        if has_several and node not in self.start["roots"] and (task := self._sum(node)):
            tasks.append(task)
        event = self.accumulated.get(node)
        if event and event["before"] and is_whole(event["grad"]) and is_whole(event["before"]):
            tasks.append(self._grad(node, event))
        return tasks

    def _sum(self, node: int) -> str | None:
        context, name = self.context, self.context.name(node)
        sent, arrivals = context.replay.sent, self.arrived[node]
        if any(at not in sent for at, _ in arrivals):
            return None
        right = [sum(sent[at][1] for at, _ in arrivals)]
        g = self.gradients.get(node)
        if right[0].size > LARGEST or (
            g and not np.allclose(array_of(g["g"]), right[0], rtol=1e-3, atol=1e-6)
        ):  # a hook has changed it
            return None  # fmt: skip
        parts = [f"`{as_text(sent[at][1])}` from `{context.name(e['node'])}`"
                 for at, e in arrivals]  # fmt: skip
        when = " in this pass" if context.nodes[node]["kind"] == "leaf" else ""
        slips = []
        for at, event in arrivals:
            others = [a for a, _ in arrivals if a != at]
            lost = [self.edges[other] for other in others]
            marks: list[Mark] = [
                {"kind": "lost", "edge": edge, "text": "lost"} for edge in lost if edge
            ]
            last = f"`{as_text(sent[at][1])}` from `{context.name(event['node'])}`"
            text = f"That is {last} alone: it has overwritten the other. Contributions add up."
            if len(others) > 1:
                text = f"That is {last} alone: it has overwritten the others. They all add up."
            slips.append(slip(answer_at([sent[at][1]]), text, "overwrites", marks=marks))
        slips += self._once(node, arrivals)
        return context.value_task(
            "backward",
            "sum",
            f"All contributions to `{name}` are there: {', '.join(parts[:-1])} and {parts[-1]}. "
            f"What is its gradient{when}?",
            right,
            distinct(slips, right),
            otherwise=f"Each use of `{name}` brings a contribution, and all of them add up.",
            right=f"They add up: the gradient of `{name}` is `{as_text(right[0])}`.",
            node=context.box(node),
            where=context.nodes[node]["where"],
            smaller=counted(
                "backward",
                "sum",
                f"How many contributions have arrived at `{name}`?",
                len(arrivals),
                "All of them add up, and none replaces another one.",
                f"Count the arrows that have brought a number to `{name}`.",
                node=context.box(node),
            ),
        )

    def _once(self, node: int, arrivals: list[tuple[int, Contribution]]) -> list[Slip]:
        """Return the sum in which a node that another one uses twice counts once."""
        context, sent = self.context, self.context.replay.sent
        first: dict[int, int] = {}
        for at, event in arrivals:
            first.setdefault(event["node"], at)
        if len(first) == len(arrivals):
            return []
        twice = next(e["node"] for at, e in arrivals if at not in first.values())
        values = [sum(sent[at][1] for at in first.values())]
        edges = [self.edges[at] for at, e in arrivals if e["node"] == twice]
        marks: list[Mark] = [
            {"kind": "look", "edge": edge, "text": f"use {k}"}
            for k, edge in enumerate(edges, 1)
            if edge
        ]
        text = (
            f"`{context.name(twice)}` uses `{context.name(node)}` twice: both contributions count."
        )
        return [slip(answer_at(values), text, "counts_once", marks=marks)]

    def _grad(self, node: int, event: Accumulate) -> str:
        context, name = self.context, self.context.name(node)
        assert event["before"] is not None
        before, g, total = (array_of(v) for v in (event["before"], event["g"], event["grad"]))
        text = (
            f"That is what this pass brings. `{name}.grad` held `{as_text(before)}` from before, "
            "and a backward pass adds to it. Only `zero_grad()` or `None` clears it."
        )
        loss = f"{as_text(before)} lost"
        marks: list[Mark] = [{"kind": "lost", "node": context.box(node), "text": loss}]
        slips = [slip({"at": [tensor(g)]}, text, "grad_replaced", marks=marks)]
        reason = f"That is what `{name}.grad` held before. This pass adds its gradient to it."
        slips.append(slip({"at": [tensor(before)]}, reason))
        return context.value_task(
            "backward",
            "grad",
            f"`{name}.grad` holds `{as_text(before)}` from before, and this pass brings "
            f"`{as_text(g)}`. What does `{name}.grad` hold now?",
            [total],
            distinct(slips, [total]),
            otherwise="A backward pass adds to what is in .grad.",
            right=f"`{name}.grad` is `{as_text(total)}` now.",
            node=context.box(node),
            smaller=adds("backward", "grad", name),
        )
