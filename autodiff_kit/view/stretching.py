"""Where broadcasting makes a result larger than each of its operands, as ``(3, 1) - (3,)`` does.

After reading you know why a step says so: of a column and a row, each element meets each of the
other, and a loss of predictions and targets is then a mean of the wrong differences. Read next:
``steps_forward.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from autodiff_kit.record.events import NodeRecord
from autodiff_kit.view.names import Names
from autodiff_kit.view.values import shape_text

__all__ = ["stretching"]

ELEMENTWISE = ("add", "sub", "mul", "div")
LOSSES = ("huber_loss", "l1_loss", "mse_loss", "smooth_l1_loss")


def stretching(record: NodeRecord, nodes: Sequence[NodeRecord], names: Names) -> str:
    """Say of an operation that broadcasting stretches both operands; "" if it does not.

    Parameters
    ----------
    record : dict
        The operation.
    nodes : list of dict
        All nodes, as operands are among them.
    names : Names
    """
    inputs = [i for i in record["inputs"] if "node" in i][:2]
    if record["op"] not in (*ELEMENTWISE, *LOSSES) or len(inputs) < 2:
        return ""
    if record["op"] in LOSSES:  # which expand their inputs first
        producers = (nodes[i["node"]] for i in inputs)
        inputs = [
            node["inputs"][0] if node["op"] == "expand" else i
            for i, node in zip(inputs, producers, strict=True)
        ]
    left, right = (tuple(nodes[i["node"]]["value"]["shape"]) for i in inputs)
    sizes = zip_longest(reversed(left), reversed(right), fillvalue=1)
    whole = tuple(n if m == 1 else m for m, n in sizes)[::-1]
    if whole in (left, right):
        return ""
    one, other = (names.operand(i) for i in inputs)
    words = (
        f"Broadcasting makes {shape_text(whole)} of {shape_text(left)} and {shape_text(right)}: "
        f"each element of {one} meets each of {other}."
    )
    is_same = [n for n in left if n != 1] == [n for n in right if n != 1]
    if is_same and len(left) != len(right):
        short, long = (one, other) if len(left) < len(right) else (other, one)
        words += f" If they belong together one by one, write {short}.view_as({long})."
    return words
