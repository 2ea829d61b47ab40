"""What a recording says of a node and of an op, to begin with.

After reading you know every key of a node's entry before anything is known of it, and what is
copied from an op's declaration, so that a recording can be read without the kit. Read next:
``notes.py``.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from autodiff_kit.core.op import Op
from autodiff_kit.ops.words import expression_of, source_of
from autodiff_kit.record.events import NodeRecord, OpRecord, Value, Where

__all__ = ["DETACH", "PACKED", "RETURNED", "UNSEEN", "described", "entry_of"]

RETURNED = "gradient that autograd.grad returned"  # what such a leaf is
PACKED = "tensor that your pack hook returned"
UNSEEN: Value = {"shape": [], "dtype": "", "data": []}

DETACH: OpRecord = {
    "text": "x.detach()",
    "tex": "",
    "doc": "The same values without a history: no gradient flows back through it.",
    "node_name": "",
    "inputs": ["x"],
    "rules": {},
}


def entry_of(
    kind: Literal["leaf", "op"], text: str, grad_fn: str | None, where: Where | None
) -> NodeRecord:
    """Return the entry of a node, to be completed."""
    return {
        "id": -1,
        "kind": kind,
        "op": None,
        "grad_fn": grad_fn,
        "recorded": False,
        "name": None,
        "text": text,
        "inputs": [],
        "params": {},
        "value": UNSEEN,
        "requires_grad": False,
        "scope": 0,
        "where": where,
        "saved": [],
    }


@cache
def described(op: Op) -> OpRecord:
    """Return what pictures need to know of an op."""
    return {
        "text": op.text,
        "tex": op.tex,
        "doc": op.doc,
        "node_name": op.node_name,
        "inputs": list(op.inputs),
        "rules": {
            name: {
                "text": expression_of(rule),
                "tex": rule.tex,
                "reads": list(rule.reads),
                "source": source_of(rule),
            }
            for name, rule in op.rules.items()
        },
    }
