"""Images of another size: averages over adaptive windows, and enlargement.

After reading this file you know that all of these are one thing: each output is a weighted sum of
inputs, the same for every row and for every column. The weights are two small matrices; the rule is
the same operation with both transposed. Read next: ``pooling.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.ops.activations import floats_only
from autodiff_kit.ops.elementwise import flat_in
from autodiff_kit.ops.table import op

__all__ = ["adaptive_avg_pool2d", "resample", "upsample_bilinear2d", "upsample_nearest2d"]

_FORMULA = r"A\,x\,B^\top"


@op("rows @ x @ columns.T", tex=_FORMULA, layout="rows")
def resample(x: Value, *, rows: Any, columns: Any) -> Value:
    """Multiply every image by a matrix from the left, and by another one from the right."""
    return np.asarray(rows @ x @ columns.T, x.dtype)


@op(
    "rows @ x @ columns.T",
    tex=_FORMULA,
    node="AdaptiveAvgPool2DBackward0",
    type_check=floats_only("adaptive_avg_pool2d"),
    layout="rows",
)
def adaptive_avg_pool2d(x: Value, *, rows: Any, columns: Any) -> Value:
    """Average over windows that are as many as wanted."""
    return resample(x, rows=rows, columns=columns)


@op("rows @ x @ columns.T", tex=_FORMULA, node="UpsampleNearest2DBackward0", layout="rows")
def upsample_nearest2d(x: Value, *, rows: Any, columns: Any) -> Value:
    """Take for each output the nearest input."""
    return resample(x, rows=rows, columns=columns)


@op("rows @ x @ columns.T", tex=_FORMULA, node="UpsampleBilinear2DBackward0", layout="rows")
def upsample_bilinear2d(x: Value, *, rows: Any, columns: Any) -> Value:
    """Mix for each output the four inputs around it."""
    return resample(x, rows=rows, columns=columns)


@adaptive_avg_pool2d.vjp("x", tex=r"A^\top \bar z\,B")
def _(g: Value, x: Value, rows: Any, columns: Any) -> Value:
    return flat_in(resample(g, rows=rows.T, columns=columns.T), x)


for _op in (resample, upsample_nearest2d, upsample_bilinear2d):

    @_op.vjp("x", tex=r"A^\top \bar z\,B")
    def _(g: Value, rows: Any, columns: Any) -> Value:
        return resample(g, rows=rows.T, columns=columns.T)
