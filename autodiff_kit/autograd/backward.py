"""``backward`` and ``grad``: what a learner calls, brought into the form that the engine takes.

After reading this file you know what may stand in ``grad_tensors`` and ``inputs``. Read next:
``engine.py``.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit.autograd.batched import grads_of_batch
from autodiff_kit.core.base import TensorBase, wrap
from autodiff_kit.core.hooks import gradient_of
from autodiff_kit.core.mode import local
from autodiff_kit.core.node import AccumulateGrad, Node
from autodiff_kit.core.node_hooks import looked_into, running
from autodiff_kit.core.versions import share
from autodiff_kit.core.view_nodes import Nowhere
from autodiff_kit.dtypes import tensor_type
from autodiff_kit.errors import error, warn_of_cycle
from autodiff_kit.views import node_of

__all__ = ["backward", "grad"]

Tensors = Any  # a Tensor or a sequence of them


def backward(
    tensors: Tensors,
    grad_tensors: TensorBase | Sequence[TensorBase | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: TensorBase | Sequence[TensorBase | None] | None = None,
    inputs: Tensors | None = None,
) -> None:
    """Accumulate the gradients of ``tensors`` into the leaves they were computed from.

    Parameters
    ----------
    tensors : Tensor or sequence of Tensor
        Where backward starts.
    grad_tensors : Tensor or sequence of (Tensor or None), optional
        What flows into each, of its shape; may be None for tensors of one element (then 1).
    retain_graph : bool, optional
        Keep saved values for another backward; default: as ``create_graph``.
    create_graph : bool
        Record the backward pass, so that gradients can be differentiated.
    grad_variables
        The old name of ``grad_tensors``.
    inputs : Tensor or sequence of Tensor, optional
        Accumulate into these only (leaves or not).

    Raises
    ------
    RuntimeError
        With PyTorch's words if there is no graph, a shape does not fit, or saved values are gone.
    """
    if grad_variables is not None:
        warnings.warn(
            "`grad_variables` is deprecated. Use `grad_tensors` instead.",
            FutureWarning,
            stacklevel=2,
        )
        grad_tensors = grad_variables if grad_tensors is None else grad_tensors
    outputs = _as_tuple(tensors)
    retain = create_graph if retain_graph is None else retain_graph
    targets = None if inputs is None else _as_tuple(inputs)
    if targets == ():
        raise error("autograd.backward_inputs")
    records = _records(create_graph)
    seeds = _gradients(outputs, grad_tensors)
    roots = _roots(outputs, seeds, records)
    if len(roots) == 1 and type(roots[0][0]) is AccumulateGrad and not records:
        (leaf, g), shape = roots[0], outputs[0]._array.shape
        if g.shape != shape:  # of a leaf that x.data = ... has given another size since
            roots = [(leaf, np.broadcast_to(g, shape).copy())]
    if records:
        warn_of_cycle(stacklevel=3)
    ends = None
    if targets is not None:
        for target in targets:
            if not target.is_leaf or not target.requires_grad:
                target.retain_grad()  # raises where no gradient can arrive
        ends = _reachable(_nodes(targets))
    if not roots:
        return
    run = _engine() if grad_tensors is None else partial(_run, seeds)
    try:
        run(roots, retain_graph=retain, create_graph=records, inputs=ends)
    except ValueError as refusal:
        _check_misfit(refusal)
        raise


def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: TensorBase | Sequence[TensorBase | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """Return the gradients of the sum of ``outputs`` with respect to ``inputs``.

    Nothing is accumulated: no ``.grad`` changes.

    Parameters
    ----------
    outputs, inputs : Tensor or sequence of Tensor
    grad_outputs : Tensor or sequence of (Tensor or None), optional
        What flows into each output, of its shape.
    retain_graph, create_graph : bool
        As in ``backward``.
    allow_unused : bool, optional
        Return None for inputs that no output depends on, instead of an error.
    is_grads_batched : bool
        Whether ``grad_outputs`` have a first dimension more: one backward pass for each, and the
        gradients are returned in one, too.
    materialize_grads : bool
        Return zeros for inputs that no output depends on.

    Returns
    -------
    tuple of Tensor - each of its input's shape.

    Raises
    ------
    RuntimeError
        As ``backward``, and if an input does not require grad or was not used.
    """
    if materialize_grads and allow_unused is False:
        raise error("autograd.unused_as_zeros")
    sources, targets = _as_tuple(outputs), _as_tuple(inputs)
    if not targets:
        raise error("autograd.grad_inputs")
    for target in targets:
        if not isinstance(target, TensorBase):
            raise error("autograd.grad_of_no_tensor", kind=type(target).__name__)
    retain = create_graph if retain_graph is None else retain_graph
    seeds = _gradients(sources, grad_outputs)
    if is_grads_batched:
        may_be_unused = allow_unused or materialize_grads
        one = partial(grad, sources, targets, create_graph=create_graph, allow_unused=may_be_unused)
        columns = grads_of_batch(one, sources, seeds, retain)
        pairs = zip(targets, columns, strict=True)
        return tuple(
            _zeros(target, create_graph) if g is None and materialize_grads else g
            for target, g in pairs
        )
    records = _records(create_graph)
    roots = _roots(sources, seeds, records)
    ends = _nodes(targets)
    run = _engine() if grad_outputs is None else partial(_run, seeds)
    cotangents: dict[Node, Any] = {}
    if roots:
        cotangents = run(
            roots,
            retain_graph=retain,
            create_graph=records,
            inputs=_reachable(ends),
            accumulates=False,
        )
    gradients: list[Any] = []
    tensors: dict[int, Any] = {}
    for (_, seed), g in zip(roots, seeds, strict=True):
        if g is not None and (g._array.dtype, g._array.shape) == (seed.dtype, seed.shape):
            tensors[id(seed)] = g
    for index, (tensor, node) in enumerate(zip(targets, ends, strict=True)):
        g = cotangents.get(node)
        if g is not None:
            if not isinstance(g, TensorBase):
                if id(g) not in tensors:
                    tensors[id(g)] = looked_into(g, [seed for seed in seeds if seed is not None])
                g = tensors[id(g)]
        elif materialize_grads:
            g = _zeros(tensor, create_graph)
        elif not allow_unused:
            raise error("autograd.unused", index=index)
        gradients.append(g)
    if local.mode.observer is not None:
        local.mode.observer.gradients_returned(targets, gradients)
    return tuple(gradients)


def _zeros(tensor: TensorBase, create_graph: bool) -> Any:
    """Return the gradient by a tensor on which nothing depends: in the same order in memory."""
    if create_graph and tensor._array.dtype.kind != "f":
        raise error("dtypes.whole_requires_grad")
    g = gradient_of(ops.zeros_like(tensor._array))
    g.requires_grad_(create_graph)
    return g


@cache  # an import statement takes 1.5 us, also of what is loaded
def _engine() -> Callable[..., dict[Node, Any]]:
    """Return the engine, loaded when it is first used, as is the op by which it un-broadcasts."""
    from autodiff_kit.autograd.engine import run_backward

    import_module("autodiff_kit.ops.shape")
    return run_backward


def _run(seeds: list[TensorBase | None], roots: list[Any], **options: Any) -> dict[Node, Any]:
    """Run the backward pass, in which hooks and Functions see the tensors that were given."""
    pairs = [(seed, g) for (_, seed), g in zip(roots, seeds, strict=True) if g is not None]
    pairs = [(seed, g) for seed, g in pairs if seed.shape == g.shape]  # else it is summed
    before, running.inflow = running.inflow, pairs
    try:
        return _engine()(roots, **options)
    except ValueError as refusal:
        _check_misfit(refusal)
        raise
    finally:
        running.inflow = before


def _check_misfit(refusal: ValueError) -> None:
    """Raise RuntimeError if NumPy has refused shapes in a rule, as after ``x.data = ...`` it may.

    A ValueError of the learner's own, from a hook or a Function, is not touched.
    """
    modules: list[str] = []
    at = refusal.__traceback__
    while at is not None:
        modules.append(at.tb_frame.f_globals.get("__name__", ""))
        at = at.tb_next
    own = [name for name in modules if name.split(".")[0] != "numpy"]
    if own[-1].startswith("autodiff_kit.ops."):
        from autodiff_kit.ops.messages import broadcast_message

        texts = re.findall(r"\(([\d,]*)\)", str(refusal))
        shapes = [tuple(int(size) for size in text.split(",") if size) for text in texts]
        message = broadcast_message("backward", shapes) if len(shapes) > 1 else str(refusal)
        raise RuntimeError(message) from None


def _records(create_graph: bool) -> bool | None:
    """Return whether a backward pass is recorded; None: it would be, but for inference mode."""
    return create_graph and (not local.mode.inference or None)


def _as_tuple(tensors: Tensors) -> tuple[Any, ...]:
    if isinstance(tensors, TensorBase):
        return (tensors,)
    if hasattr(tensors, "ownership_token"):  # a GradientEdge, which holds a tensor in its place
        return (tensors.ownership_token,)
    return tuple(getattr(tensor, "ownership_token", tensor) for tensor in tensors)


def _gradients(outputs: tuple[TensorBase, ...], grad_outputs: Any) -> list[Any | None]:
    if grad_outputs is None:
        return [None] * len(outputs)
    gradients = [grad_outputs] if isinstance(grad_outputs, TensorBase) else list(grad_outputs)
    for g in gradients:
        if g is not None and not isinstance(g, TensorBase):
            raise error("autograd.gradient_type", kind=type(g).__name__)
    if len(gradients) < len(outputs):
        raise error("autograd.gradient_count", outputs=len(outputs), gradients=len(gradients))
    for g in gradients[: len(outputs)]:
        if g is not None and g.requires_grad:
            share(g)  # a gradient may be a view of it
    return gradients[: len(outputs)]


def _roots(
    outputs: tuple[TensorBase, ...], gradients: list[TensorBase | None], records: bool | None
) -> list[tuple[Node, Any]]:
    """Return the nodes to start from with their cotangents, after checking both."""
    roots: list[tuple[Node, Any]] = []
    for i, output in enumerate(outputs):
        if not isinstance(output, TensorBase):
            raise error("autograd.output_of_no_tensor", kind=type(output).__name__)
        array, g = output._array, gradients[i]
        if g is not None:
            if g._array.shape != array.shape:
                raise error(
                    "autograd.gradient_shape", index=i, gradient=g.shape, output=output.shape
                )
        elif not isinstance(array, np.floating) and output.requires_grad:
            if array.size != 1:
                raise error("autograd.not_a_scalar", shape=output.shape)
            if array.dtype.kind != "f":
                raise error("autograd.whole_scalar", dtype=output.dtype)
    for i, output in enumerate(outputs):
        array, g = output._array, gradients[i]
        node = output._node if output._base is None else node_of(output)
        if node is None or isinstance(node, Nowhere):
            raise error("autograd.no_graph", index=i)
        if g is None:
            seed = np.ones_like(array) if isinstance(array, np.ndarray) else type(array)(1)
            roots.append((node, wrap(seed) if records else seed))
            continue
        if g._array.dtype != array.dtype:
            gradients[i] = g = g.to(output.dtype)
        if node.shape is not None and not _sums_to(g.shape, node.shape):
            grad_shape, shape = list(g.shape), list(node.shape)
            raise error("autograd.gradient_misfit", index=i, got=grad_shape, shape=shape)
        if array.dtype.kind != "f":  # what bools and integers were written to can have a node
            raise error("autograd.whole_history", kind=tensor_type(array.dtype))
        if node.shape not in (None, array.shape):  # x.data = ... has changed the size
            gradients[i] = g = ops.sum_to(g, shape=node.shape)
        # What arrives at a leaf becomes its .grad; the learner's own tensor must stay as it is.
        own = g._array.copy() if isinstance(node, AccumulateGrad) else g._array
        roots.append((node, g if records else own))
    return roots


def _sums_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Return whether a tensor of this shape can be what one of the wanted shape was expanded to."""
    if shape == target:
        return True
    pairs = zip(target[::-1], shape[::-1], strict=False)  # not equal after x.data = ...
    return len(target) <= len(shape) and all(n in (1, m) for n, m in pairs)


def _nodes(tensors: tuple[TensorBase, ...]) -> list[Node]:
    if not all(tensor.requires_grad for tensor in tensors):
        raise error("autograd.input_without_grad")
    return [node_of(tensor) for tensor in tensors]


def _reachable(nodes: list[Node]) -> list[Node]:
    return [node for node in nodes if not isinstance(node, Nowhere)]
