"""Small phrases of which every sentence about a step is made.

After reading you know how a value, a sum, a size in bytes and a list read in a sentence. Read next:
``steps.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import isfinite
from struct import pack, unpack

from autodiff_kit.record.events import Value
from autodiff_kit.view.heat import IN_A_LINE
from autodiff_kit.view.payload import Fields
from autodiff_kit.view.values import SHORT, brief, grid, number, shape_text, short, show

__all__ = [
    "IN_A_BOX",
    "a_value",
    "box_line",
    "box_value",
    "capital",
    "dimensions",
    "equation",
    "fraction",
    "full",
    "in_row",
    "listed",
    "memory",
    "on_arrow",
    "ordinal",
    "readable",
    "sentence",
    "spoken",
    "sum_of",
    "sum_texts",
    "the_value",
    "times",
]


_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
LONGEST_AFTER_D = 4  # characters of a name: dloss
IN_A_BOX = 26  # characters a gradient may take in a box


def sentence(text: str) -> str:
    """End a sentence with a period; code that ends in one needs no other.

    Examples
    --------
    >>> sentence("x.grad is 8.0"), sentence("it is done."), sentence("before `h[0] = 0.`")
    ('x.grad is 8.0.', 'it is done.', 'before `h[0] = 0.`')
    """
    return text if text.endswith((".", "!", "?", ".`")) else text + "."


def spoken(text: str) -> str:
    """Write ``8.`` as ``8.0``, so that its point is not read as the end of a sentence.

    Examples
    --------
    >>> spoken("8."), spoken("[1., 2.5]"), spoken("1.5e-06")
    ('8.0', '[1.0, 2.5]', '1.5e-06')
    """
    return re.sub(r"(?<![\d.])(\d+)\.(?![\d.e])", r"\1.0", text)


def readable(text: str) -> str:
    """Write a number in code that stands before a punctuation mark without a point at its end.

    Examples
    --------
    >>> readable("`y` is `8.`: so it is `[1., 2.]`, not `8.`.")
    '`y` is `8.0`: so it is `[1., 2.]`, not `8.0`.'
    """
    parts = text.split("`")
    for k in range(1, len(parts) - 1, 2):
        if parts[k + 1].startswith((".", ",", ":", ";")) and re.fullmatch(r"-?\d+\.", parts[k]):
            parts[k] = spoken(parts[k])
    return "`".join(parts)


def fraction(of: str, by: str) -> str:
    """Write a derivative; a long name in parentheses, or its d would be read as a part of it.

    Examples
    --------
    >>> fraction("y", "x"), fraction("loss", "w * x"), fraction("prediction", "w1")
    ('dy/dx', 'dloss/d(w * x)', 'd(prediction)/dw1')
    """
    return "/".join(
        f"d{name}" if name.isidentifier() and len(name) <= LONGEST_AFTER_D else f"d({name})"
        for name in (of, by)
    )


def times(count: int) -> str:
    """Say how often.

    Examples
    --------
    >>> times(1), times(2), times(3)
    ('once', 'twice', '3 times')
    """
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def memory(size: int) -> str:
    """Return a number of bytes in words; 1 kB is 1,000 bytes, so that sums in the head agree.

    Examples
    --------
    >>> memory(8), memory(1), memory(1536), memory(4_000_000)
    ('8 bytes', '1 byte', '1.5 kB', '4 MB')
    """
    if size < 1000:
        return f"{size} byte{'s' * (size != 1)}"
    units = ("kB", "MB", "GB", "TB")
    power = 0
    amount = size / 1000
    while amount >= 1000 and power < len(units) - 1:
        amount /= 1000
        power += 1
    return f"{amount:.1f}".removesuffix(".0") + f" {units[power]}"


def box_value(value: Value) -> str:
    """Return a value as it stands in a box: all of it, if need be with fewer digits, or its shape.

    Examples
    --------
    >>> box_value({"shape": [3], "dtype": "float32", "data": [0.123456, -1.98765, 3.14159]})
    '[0.123, -1.99, 3.14]'
    """
    return _elements(value) or shape_text(value["shape"])


def in_row(value: Value) -> str:
    """Return a value as it stands in a row of parts that add up: with its digits, or its shape."""
    return short(value, IN_A_BOX) or shape_text(value["shape"])


def on_arrow(value: Value) -> str:
    """Return a value as it stands on an arrow; of a large one, that this is its shape."""
    return _elements(value) or f"shape {shape_text(value['shape'])}"


def _elements(value: Value) -> str | None:
    return short(value, IN_A_LINE) or brief(value, IN_A_BOX)


def full(value: Value) -> str:
    """Return a value with all its elements, over several lines if need be; else its shape."""
    return short(value, IN_A_LINE) or (box_value(value) if "stats" in value else grid(value))


def box_line(value: Value, picture: str | None) -> str:
    """Return what stands above the picture of a value: its shape. Without one, the value."""
    return shape_text(value["shape"]) if picture else box_value(value)


def listed(parts: Iterable[str]) -> str:
    """Return ``a``, ``a and b``, ``a, b and c``."""
    parts = list(parts)
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def ordinal(number: int) -> str:
    """Return ``third`` for 3, and ``12th`` for 12.

    Examples
    --------
    >>> [ordinal(n) for n in (2, 11, 22, 103)]
    ['second', '11th', '22nd', '103rd']
    """
    if number <= len(_ORDINALS):
        return _ORDINALS[number - 1]
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


def capital(text: str) -> str:
    """Begin a sentence with a capital letter."""
    return text[:1].upper() + text[1:]


def equation(name: str, value: Value) -> str:
    """Return ``w = 2.0``, or ``w, a (2, 3) tensor``."""
    text = short(value)
    if text is None:
        return name if name == f"a {show(value)}" else f"{name}, {a_value(value)}"
    return spoken(name) if name == text else f"{name} = {spoken(text)}"


def a_value(value: Value) -> str:
    """Return ``3.5`` or ``a (2, 3) tensor``."""
    return spoken(short(value) or f"a {show(value)}")


def the_value(value: Value, picture: str | None) -> Fields:
    """Return the fields that show a value after a change: short for the box, and all of it."""
    fields: Fields = {"value": box_line(value, picture), "tensor": grid(value)}
    return {**fields, "cells": picture or ""} if value["shape"] else fields


def sum_of(before: Value, added: Value, total: Value, limit: int = 3 * SHORT) -> str | None:
    """Return ``2. + 3. = 5.``, or None if that, or a part of it, would be too long."""
    first, second, third = short(before), short(added), short(total)
    if first is None or second is None or third is None:
        return None
    first, second, third = sum_texts(before, added, total)
    if any(text.startswith("(") for text in (first, second, third)):
        return None  # a shape, of what is too long
    second = f"({second})" if second.startswith("-") else second
    text = f"{first} + {second} = {third}"
    return text if len(text) <= limit else None


def sum_texts(*values: Value) -> list[str]:
    """Return values and, last, their sum; numbers with as many digits as it takes to add up.

    As in ``264.556 + 264.556 = 529.112``, where four digits would be 264.56 + 264.56 = 529.11.
    """
    plain = [*map(in_row, values)]
    if values[0]["shape"] or not values[0]["data"] or "." not in plain[0]:
        return plain
    floats = [_exactly(value) for value in values]
    texts = [number(value) for value in floats]
    for digits in range(6, 11):  # a float32 has no more than 9
        *parts, total = map(float, texts)
        if not isfinite(total) or abs(sum(parts) - total) <= 1e-9 * abs(total):
            return texts
        texts = [
            number(value) if value == int(value) else f"{value:.{digits}g}" for value in floats
        ]
    return plain


def _exactly(value: Value) -> float:
    """Return the number that is there: of a float32, a recording has as many digits as name it."""
    floating = float(value["data"][0])
    is_single = value["dtype"] == "float32"
    return float(unpack("f", pack("f", floating))[0]) if is_single else floating


def dimensions(wide: Sequence[int], narrow: Sequence[int]) -> str:
    """Return "dimension 0" or "dimensions 0 and 2": those over which broadcasting has copied."""
    added = len(wide) - len(narrow)
    dims = [*range(added), *(d + added for d, n in enumerate(narrow) if n == 1 != wide[d + added])]
    return f"dimension{'s' * (len(dims) != 1)} {listed(map(str, dims))}"
