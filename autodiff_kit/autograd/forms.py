"""The forms of the engine: for each kind of backward pass, the plain text less what never happens.

After reading this file you know what runs for ``z.backward()``: ``print(text_of(form_of()))``.
Read next: ``core/specialise.py``, which makes the forms, or ``engine.py``, of which it makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from autodiff_kit.autograd.engine import run
from autodiff_kit.core.hooks import Hooks
from autodiff_kit.core.mode import NO_WARNINGS, NUMPY_WARNINGS, local
from autodiff_kit.core.node import Node
from autodiff_kit.core.op import Value
from autodiff_kit.core.specialise import specialise, text_of

__all__ = ["form_of", "run_backward", "text_of"]


def run_backward(
    roots: Sequence[tuple[Node, Value]],
    *,
    retain_graph: bool = False,
    create_graph: bool = False,
    inputs: Sequence[Node] | None = None,
    accumulates: bool = True,
) -> dict[Node, Value]:
    """Carry cotangents from the roots back through the graph.

    A node is ready when all contributions to it have arrived; of those that are ready, leaves come
    first and then the newest node.

    Parameters
    ----------
    roots : sequence of (Node, Value)
        Where to start, each with a cotangent of the node's shape.
    retain_graph : bool
        Keep saved values, so that the graph can be used again.
    create_graph : bool
        Compute with Tensors and record that, so that gradients can be differentiated again.
    inputs : sequence of Node, optional
        Only nodes that lead to these are visited.
    accumulates : bool
        If not, the cotangents of ``inputs`` are returned instead of accumulated into leaves.

    Returns
    -------
    dict from Node to Value - the cotangents of ``inputs``, None for those not reached.

    Raises
    ------
    RuntimeError
        If saved values were released before or changed in place.

    Source: Griewank and Walther, Evaluating Derivatives (2008), ch. 3, reverse mode.
    """
    mode = local.mode
    observer = mode.observer
    given: dict[str, Any] = {}
    if inputs is not None or create_graph or observer is not None or Hooks.count or mode.inference:
        switches = {"inputs": inputs, "observer": observer, "create_graph": create_graph or None}
        given = {name: value for name, value in switches.items() if value is not None}
        given |= {"counted": True, "accumulates": accumulates}
    mode.grad_enabled, before = create_graph, mode.grad_enabled
    silence = NUMPY_WARNINGS.set(NO_WARNINGS)
    try:
        found: dict[Node, Value] = form_of(*given)(roots, retain_graph, **given)
        return found
    finally:
        NUMPY_WARNINGS.reset(silence)
        mode.grad_enabled = before


@cache
def form_of(*given: str) -> Callable[..., dict[Node, Value]]:
    """Return ``run`` for backward passes that are given these switches, and none of the others.

    >>> print(text_of(form_of()).split("while queue:")[0])  # what runs for z.backward()
    def run(roots, retain_graph):
        waiting = {}
        queue = []
        found = {}
        for root, seed in roots:
            if root not in waiting:
                waiting[root] = seed
                heappush(queue, (-root.number, root))
            elif seed is not NOTHING:
                waiting[root] = waiting[root] + seed
        changed = last_change.number
        node = roots[0][0]
        try:
    <BLANKLINE>
    """
    idle = {"observer": None, "inputs": None, "create_graph": False, "counted": False}
    idle["accumulates"] = True
    return specialise(run, **{name: value for name, value in idle.items() if name not in given})
