"""Why an op refuses its inputs, in PyTorch's words and in ours.

After reading this file you know what the core can say about a wrong operand and about shapes that
do not fit. Read next: ``checks.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_kit.errors import teach

if TYPE_CHECKING:
    from autodiff_kit.ops.table import Op

__all__ = ["not_a_tensor", "shape_message"]


def not_a_tensor(row: Op, position: int, value: Any) -> str:
    """Say that ``value`` cannot be the operand at this position, counted from 0."""
    kind, advice = type(value).__name__, "Make a tensor of it first: torch.tensor([1., 2.])."
    if isinstance(value, np.ndarray):
        advice = "Make a tensor of it first: torch.from_numpy(array)."
    words = row.text.split()
    if len(words) != 3 or position != 1:
        argument = {"x": "input", "y": "other"}.get(row.inputs[position], row.inputs[position])
        what = f"{row.name}(): argument '{argument}' (position {position + 1}) must be Tensor"
        return teach(f"{what}, not {kind}", advice)
    sign = words[1]
    if sign in ("<", "<=", ">", ">="):
        return teach(f"'{sign}' not supported between instances of 'Tensor' and '{kind}'", advice)
    sign = "** or pow()" if sign == "**" else sign
    return teach(f"unsupported operand type(s) for {sign}: 'Tensor' and '{kind}'", advice)


def shape_message(row: Op, arrays: tuple[Any, ...], **params: Any) -> str:
    """Say in PyTorch's words why NumPy refused the shapes of ``arrays``."""
    shapes = [array.shape for array in arrays if hasattr(array, "dtype")]
    if row.on_error is not None:
        return row.on_error(*arrays, **params)
    for i in range(1, max(map(len, shapes)) + 1):
        sizes = [shape[-i] if i <= len(shape) else 1 for shape in shapes]
        different = [n for n in sizes if n != 1]
        if len(set(different)) > 1:
            a, b = [*dict.fromkeys(different)][:2]
            return teach(
                f"The size of tensor a ({a}) must match the size of tensor b ({b}) at "
                f"non-singleton dimension {max(map(len, shapes)) - i}",
                f"{row.name} got shapes {' and '.join(str(list(s)) for s in shapes)}. Compared "
                "from the right, sizes must be equal or 1.",
            )
    return f"{row.name} cannot work on shapes {shapes}"
