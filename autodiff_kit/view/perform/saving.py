"""What an operation saves for its backward rules, and which of its rules reads it.

After reading you can say which operations are asked about: those of which each saved value is an
input, the result, or a number. Read next: ``backward.py``.
"""

from __future__ import annotations

from typing import NamedTuple

from autodiff_kit.record.events import NodeRecord
from autodiff_kit.view.perform.context import Context, code
from autodiff_kit.view.perform.smaller import yes_no
from autodiff_kit.view.rule_words import rule_of, worded
from autodiff_kit.view.rules import fill
from autodiff_kit.view.values import TIMES

__all__ = ["saved_tasks"]


def saved_tasks(context: Context, node: int) -> list[str]:
    """Return the question which values a node saves."""
    record = context.nodes[node]
    by_arg = {s["arg"]: s["node"] for s in record["inputs"] if "node" in s}
    numbers = {s["arg"] for s in record["inputs"] if "node" not in s} | set(record["params"])
    names = [saved["name"] for saved in record["saved"]]
    if any(name not in by_arg and name != "out" and name not in numbers for name in names):
        return []
    saved = {by_arg.get(name, node) for name in names if name in by_arg or name == "out"}
    sources = [*dict.fromkeys([*by_arg.values(), node])]
    options = [{"value": context.box(n), "text": f"`{context.name(n)}`"} for n in sources]
    options.append({"value": "nothing", "text": "Nothing"})
    rules = _rules(context, record)
    if not rules:
        return []
    advice = f"The backward rule {', and the one '.join(dict.fromkeys(r.text for r in rules))}."
    answer = [context.box(n) for n in sources if n in saved] or ["nothing"]
    reveal = code(*(context.name(n) for n in sources if n in saved)) if saved else "nothing"
    return [
        context.task(
            "build",
            "saved",
            "several",
            f"Which values does `{context.name(node)}` save for its backward rules?",
            [{"all": answer}],
            options=options,
            otherwise=f"{advice} What is read besides the gradient is saved, and nothing else.",
            right=f"It saves {reveal}. {advice}",
            reveal=reveal,
            node=context.box(node),
            where=record["where"],
            like=str(record["op"]),
            smaller=yes_no(
                "build",
                "saved",
                f"The backward rule {rules[0].text}. Does it read a tensor besides the gradient?",
                rules[0].reads_tensor,
                "What a rule reads besides the gradient is saved. Now look at each of the rules.",
                "The gradient comes from the node before. Which other values are in this rule?",
                node=context.box(node),
            ),
        )
    ]


class _Rule(NamedTuple):
    text: str
    reads_tensor: bool  # besides the gradient


def _rules(context: Context, record: NodeRecord) -> list[_Rule]:
    """Return what the backward rules of a node give: as formulas, or in words."""
    rules = []
    tensors = {s["arg"] for s in record["inputs"] if "node" in s} | {"out"}
    for source in record["inputs"]:
        rule = rule_of(context.recording["ops"], record, source["arg"])
        if rule and "node" in source and context.nodes[source["node"]]["requires_grad"]:
            text = worded(record, source["arg"], source["node"], context.names)
            if text is None:
                reads = context.names.reads(record["id"], [*rule["reads"], "g"])
                text = f"`{fill(rule['text'], reads, TIMES)}`"
            name = context.name(source["node"])
            is_reading = not tensors.isdisjoint(rule["reads"])
            rules.append(_Rule(f"for `{name}` gives {text}", is_reading))
    return rules
