"""Numbers and tensors as a learner reads them.

After reading you can say how any value is shortened to fit a box, a sentence or a formula, and how
a tensor is written over several lines. Everything here is text made from plain data. Read next:
``labels.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import copysign, isfinite, prod
from typing import Any

from autodiff_kit.record.events import Value
from autodiff_kit.record.numbers import read_together

__all__ = [
    "MINUS",
    "SHORT",
    "TIMES",
    "added",
    "brief",
    "grid",
    "number",
    "parameter",
    "shape_text",
    "short",
    "show",
    "symbol",
    "three_digits",
]


SHORT = 32  # characters a tensor may take inside a sentence or a formula

TIMES, MINUS = "\N{MULTIPLICATION SIGN}", "\N{MINUS SIGN}"
UNKNOWN = "?"  # the value of a tensor that was made before the recording began


def number(value: Any) -> str:
    """Return a number in the shortest clear form: ``8.``, ``0.5``, ``3.1416``, ``1.5e-06``.

    As PyTorch prints it (a float always has its point, four digits are kept), without the zeros
    that PyTorch adds to line up columns.

    Parameters
    ----------
    value : float, int, bool or str
        A string is one of ``"nan"``, ``"inf"``, ``"-inf"``, as JSON has no numbers for them.

    Returns
    -------
    str

    Examples
    --------
    >>> number(8.0), number(0.1 + 0.2), number(3), number(0.0000015)
    ('8.', '0.3', '3', '1.5e-06')
    """
    if not isinstance(value, float):
        return str(value)
    if not isfinite(value):
        return str(value)
    size = abs(value)
    if size < 1e6 and value == int(value):
        return f"{'-' if value == 0 and copysign(1, value) < 0 else ''}{int(value)}."
    if 1 <= size < 1e5:
        return f"{value:.{4 if size < 100 else 2}f}".rstrip("0")
    if 1e-4 <= size < 1:
        text = f"{value:.4g}"
        return text if "." in text else text + "."
    mantissa, exponent = f"{value:.3e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{exponent}"


def three_digits(value: float, dtype: str) -> str:
    """Return a number with three digits, where there is room for no more; integers as they are.

    Examples
    --------
    >>> three_digits(-0.12345, "float32"), three_digits(3, "int64")
    ('-0.123', '3')
    """
    if not isfinite(value) or not dtype.startswith("float"):
        return number(value if not isfinite(value) else int(value))
    return number(float(f"{value:.3g}") + 0.0)  # no -0.


def shape_text(shape: Sequence[int]) -> str:
    """Return a shape as Python writes it: ``()``, ``(3,)``, ``(2, 3)``."""
    return str(tuple(shape))


def _numbers(value: Value) -> list[str]:
    data = value["data"]
    if not data and 0 not in value["shape"]:
        return [UNKNOWN]
    if str(value["dtype"]).startswith("float"):
        floats = [v if isinstance(v, str) else float(v) for v in data]
        return [_decimals(v) for v in floats] if _is_usual(value) else [*map(number, floats)]
    if value["dtype"] == "bool":
        return [str(bool(v)) for v in data]
    return [number(v) for v in data]


def _nested(texts: Sequence[str], shape: Sequence[int]) -> str:
    if not shape:
        return texts[0]
    if len(shape) == 1:
        return f"[{', '.join(texts)}]"
    step = len(texts) // shape[0] if shape[0] else 0
    rows = (_nested(texts[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0]))
    return f"[{', '.join(rows)}]"


def short(value: Value, limit: int = SHORT) -> str | None:
    """Return all elements of a value on one line, or None if that takes over ``limit`` characters.

    Examples
    --------
    >>> short({"shape": [3], "dtype": "float32", "data": [1.0, 2.0, 3.5]})
    '[1., 2., 3.5]'
    """
    shape = value["shape"]
    if not shape:
        return _on_a_line((), value["dtype"], tuple(value["data"]), str(value["data"]))
    if prod(shape) * 3 > limit or "stats" in value or not value["data"]:
        return None if prod(shape) else _nested([], shape)
    data = value["data"]
    text = _on_a_line(tuple(shape), value["dtype"], tuple(data), str(data))
    return text if len(text) <= limit else None


def brief(value: Value, limit: int) -> str | None:
    """Return all elements of floats on one line, with three digits; None if that is too long.

    Examples
    --------
    >>> brief({"shape": [3], "dtype": "float32", "data": [0.123456, -1.98765, 1234.5]}, 24)
    '[0.123, -1.99, 1230.]'
    """
    if not value["shape"] or prod(value["shape"]) * 3 > limit or "stats" in value:
        return None
    if not value["data"] or not str(value["dtype"]).startswith("float"):
        return None
    texts = [three_digits(float(v), str(value["dtype"])) for v in value["data"]]
    text = _nested(texts, value["shape"])
    return text if len(text) <= limit else None


@lru_cache(maxsize=4096)  # the same value is told in the box, in captions and in rules
def _on_a_line(shape: tuple[int, ...], dtype: str, data: tuple[Any, ...], key: str) -> str:
    # The key tells -0.0 from 0.0, which are equal.
    return _nested(_numbers({"shape": [*shape], "dtype": dtype, "data": [*data]}), shape)


def show(value: Value, limit: int = SHORT) -> str:
    """Return a value for use in a sentence: its elements if they fit, else ``(2, 3) tensor``."""
    text = short(value, limit)
    return f"{shape_text(value['shape'])} tensor" if text is None else text


def symbol(value: Value) -> str:
    """Return a value for use in a formula: its elements if they fit, else ``Tensor(2, 3)``.

    PyTorch's ``Tensor(2, 3)`` is a tensor of that shape too, so this says just what is meant.
    """
    text = short(value)
    return f"Tensor({', '.join(map(str, value['shape']))})" if text is None else text


def grid(value: Value) -> str:
    """Return a value over as many lines as it has rows, columns aligned; large ones in statistics.

    Examples
    --------
    >>> print(grid({"shape": [2, 2], "dtype": "float32", "data": [1.0, -2.0, 3.5, 4.0]}))
    [[ 1.0, -2.0],
     [ 3.5,  4.0]]
    """
    shape = value["shape"]
    if len(shape) > 1 and value["data"] and "stats" not in value:
        texts = _in_columns(value) or _numbers(value)
    else:
        texts = _numbers(value)
    if "stats" in value:
        stats = {k: number(v) for k, v in value["stats"].items()}
        spread = ", ".join(f"{k} {stats[k]}" for k in ("min", "max", "mean", "std") if k in stats)
        odd = "".join(
            f"\n{stats[k]} {TIMES} {k}" for k in ("nan", "inf") if stats.get(k, "0") != "0"
        )
        return f"[{', '.join(texts)}, ...]\n{spread}{odd}"
    if len(shape) < 2 or len(texts) < prod(shape) or not texts:
        return _nested(texts, shape)
    width = max(map(len, texts))
    texts = [text.rjust(width) for text in texts]
    columns = shape[-1]
    lines = [f"[{', '.join(texts[i : i + columns])}]" for i in range(0, len(texts), columns)]
    for axis in range(len(shape) - 2, -1, -1):  # brackets of the outer dimensions
        size = prod(shape[axis:-1])
        for start in range(0, len(lines), size):
            lines[start] = "[" + lines[start]
            lines[start + size - 1] += "]"
    depth = len(shape)
    padded = [" " * (depth - (len(line) - len(line.lstrip("[")))) + line for line in lines]
    return ",\n".join(padded)


def _in_columns(value: Value) -> list[str] | None:
    """Return floats with as many decimals as the one that needs most; None for unusual sizes."""
    if not _is_usual(value):
        return None
    texts = _numbers(value)
    places = max(len(text.partition(".")[2]) for text in texts)
    return [text + "0" * (places - len(text.partition(".")[2])) for text in texts]


def _is_usual(value: Value) -> bool:
    """Return whether four decimals, as PyTorch prints them, say what is in a tensor."""
    floats = [v for v in value["data"] if isinstance(v, float)]
    sizes = [abs(v) for v in floats if v]
    is_whole = len(floats) == len(value["data"]) and bool(value["shape"]) and bool(sizes)
    return is_whole and min(sizes) >= 1e-3 and max(sizes) < 1e4


def _decimals(value: Any) -> str:
    text = f"{value:.4f}".rstrip("0")
    return text if float(text) or value else number(value)


def added(values: Sequence[Value]) -> Value:
    """Return the sum of values of one shape, as far as their elements are there."""
    if len(values) == 1:
        return values[0]
    read_together(values)
    sums: list[Any] = [float(x) for x in values[0]["data"]]
    for other in values[1:]:
        sums = [x + float(y) for x, y in zip(sums, other["data"], strict=False)]
    return {**values[0], "data": sums}


def parameter(value: Any) -> str:
    """Return a keyword parameter of an op as Python writes it; lists were tuples before JSON."""
    if isinstance(value, list | tuple):
        items = [parameter(item) for item in value]
        return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
    return number(value) if isinstance(value, float) else str(value)
