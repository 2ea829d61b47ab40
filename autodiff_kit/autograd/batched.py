"""``grad(..., is_grads_batched=True)``: one backward pass for each gradient of a batch.

After reading this file you know how the rows of a Jacobian come of one call: the outputs' gradients
are the rows of a unit matrix. PyTorch computes all at once; here a loop does. Read next:
``functional.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autodiff_kit import ops
from autodiff_kit.core.base import TensorBase
from autodiff_kit.errors import error

__all__ = ["grads_of_batch"]


def grads_of_batch(
    grad: Callable[..., tuple[Any, ...]],
    outputs: Sequence[Any],
    batches: Sequence[Any],
    retain_graph: bool,
) -> list[Any | None]:
    """Return the gradient by each input, with a first dimension in which the batch stands.

    Parameters
    ----------
    grad : callable
        Called with what flows into each output, and whether to retain the graph.
    outputs : sequence of Tensor
    batches : sequence of Tensor
        What flows into each output, of shape (count, *output.shape).
    retain_graph : bool
        After the last one, that is.
    """
    sizes = []
    for index, (output, batch) in enumerate(zip(outputs, batches, strict=True)):
        if batch is None:
            if isinstance(output, TensorBase) and output._array.size != 1:
                raise error("autograd.not_a_scalar", shape=output.shape)
            raise error("autograd.batch_of_one")
        if 0 in batch.shape[:1] or not batch.shape:
            batch[0]  # which raises
        own = batch.shape[1:]
        if own != output.shape:  # of which PyTorch's words leave another dimension out
            raise error(
                "autograd.batch_shape", index=index, wrong=own[1:], own=own, output=output.shape
            )
        sizes.append(len(batch))
    if len({*sizes}) > 1:
        raise error("autograd.batch_sizes", sizes=[*dict.fromkeys(sizes)])
    last = sizes[0] - 1
    rows = [
        grad([batch[i] for batch in batches], i < last or retain_graph) for i in range(last + 1)
    ]
    return [
        None if parts[0] is None else ops.stack(*parts, dim=0) for parts in zip(*rows, strict=True)
    ]
