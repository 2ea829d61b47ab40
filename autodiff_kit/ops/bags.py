"""Rows of a table, summed, averaged or compared within bags: how a text becomes one vector.

After reading this file you know that a bag of words is an embedding and a reduction in one step.
Read next: ``layers.py``, for the embedding by itself.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.ops.checks import Ints, no_derivative
from autodiff_kit.ops.indexing import plain
from autodiff_kit.ops.table import op, vjp

__all__ = ["embedding_bag", "embedding_bag_max"]

_NODE = "EmbeddingBagBackward0"
_LATER = "torch::autograd::NotImplemented"


def _no_rule(g: Value) -> NoReturn:
    no_derivative("autograd.no_second_derivative", "_embedding_bag_backward")


@op("embedding_bag(x, weights)", tex=r"\textstyle\sum w_i\,x_i", node=_NODE, layout="rows")
def embedding_bag(x: Value, weights: Value, *, indices: Any, bags: Any, sizes: Any) -> Value:
    """Sum the rows of each bag, times their weights, and divide by the bag's size.

    ``indices`` and ``bags`` say for each row where it is in the table, and to which bag it belongs.
    """
    out = np.zeros((len(sizes), x.shape[1]), x.dtype)
    np.add.at(out, bags, x[indices] * np.broadcast_to(weights, indices.shape)[:, None])
    return np.asarray(out / sizes[:, None], x.dtype)


@embedding_bag.vjp("x", tex=r"w_i\,\bar z \text{ put back}")
def _(g: Value, x_shape: Ints, weights: Value, indices: Any, bags: Any, sizes: Any) -> Value:
    return embedding_bag_backward(
        g, weights, shape=x_shape, indices=indices, bags=bags, sizes=sizes
    )


@embedding_bag.vjp("weights", tex=r"\bar z \cdot x_i")
def _(g: Value, x: Value, indices: Any, bags: Any, sizes: Any) -> Value:
    return embedding_bag_weights(g, x, indices=indices, bags=bags, sizes=sizes)


@op("zeros with weights * x added at [indices]", tex=r"w_i\,x \text{ put back}", node=_LATER)
@vjp("x", _no_rule, tex=r"\text{none}")
@vjp("weights", _no_rule, tex=r"\text{none}")
def embedding_bag_backward(
    x: Value, weights: Value, *, shape: Ints, indices: Any, bags: Any, sizes: Any
) -> Value:
    """Add the gradient of each bag to its rows; PyTorch does not differentiate it."""
    rows = (x / sizes[:, None])[bags] * np.broadcast_to(weights, indices.shape)[:, None]
    out = np.zeros(shape, x.dtype)
    np.add.at(out, indices, rows)
    return out


@op("sum(x[bags] * y[indices], 1)", tex=r"x \cdot y_i", node=_LATER)
@vjp("x", _no_rule, tex=r"\text{none}")
@vjp("y", _no_rule, tex=r"\text{none}")
def embedding_bag_weights(x: Value, y: Value, *, indices: Any, bags: Any, sizes: Any) -> Value:
    """Multiply the gradient of each bag with its rows; PyTorch does not differentiate it."""
    return np.asarray(((x / sizes[:, None])[bags] * y[indices]).sum(1), y.dtype)


@op("x[rows, columns]", tex=r"\max x_i", node=_NODE, frees=True, layout="rows")
def embedding_bag_max(x: Value, *, rows: Any) -> Value:
    """Take of each column the element in the row named for a bag; zeros where that is -1."""
    return np.where(rows < 0, x.dtype.type(0), x[rows, np.arange(x.shape[1])])


@embedding_bag_max.vjp("x", tex=r"\bar z \text{ put back}")
def _(g: Value, x_shape: Ints, rows: Any) -> Value:
    return embedding_bag_max_backward(g, shape=x_shape, rows=plain(rows))


@op("zeros with x added at [rows, columns]", tex=r"x \text{ put back}", node=_LATER)
@vjp("x", _no_rule, tex=r"\text{none}")
def embedding_bag_max_backward(x: Value, *, shape: Ints, rows: Any) -> Value:
    """Add the gradient where the largest elements were; PyTorch does not differentiate it."""
    out = np.zeros(shape, x.dtype)
    np.add.at(out, (rows, np.arange(shape[1])), np.where(rows < 0, x.dtype.type(0), x))
    return out
