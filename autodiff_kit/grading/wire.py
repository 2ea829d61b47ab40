"""Plain data as bytes: all that ever passes between the grader and a learner's code.

After reading this file you can say which values a learner's function may answer with, and why a
hostile answer can do no more than be refused: there is no pickle and no name of a class in here,
every length is checked against the bytes that are there, and each array the reader builds is a
fresh one of its own. The file needs NumPy and the standard library only, because the process that
runs the learner's code loads it without the kit. Read next: ``child.py``.
"""

from __future__ import annotations

import builtins
import hashlib
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["SIGNATURE", "WireError", "decode", "encode", "frame", "signature", "unframe", "veiled"]

# As in ``child.py``: the learner's code can put others into ``builtins``.
globals()["__builtins__"] = dict(vars(builtins))

SIGNATURE = 16  # bytes
MAX_DEPTH = 50
MAX_ITEMS = 1_000_000  # a byte can stand for an object of many bytes
_ARRAY_ITEMS = 4  # more than for a number: an array takes more time and memory
MAX_DIMENSIONS = 16
_DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")
_CODES = {name: code for code, name in enumerate(_DTYPES)}
_NATIVE = list(map(np.dtype, _DTYPES))
_NATIVE_CODES = {dtype: code for code, dtype in enumerate(_NATIVE)}
_BOOL = _NATIVE[0]
_ORDER = [dtype.newbyteorder("<") for dtype in _NATIVE]
_COUNT, _INT, _FLOAT = struct.Struct("<I"), struct.Struct("<q"), struct.Struct("<d")
_NONE, _TRUE, _FALSE, _INT_TAG, _FLOAT_TAG, _TEXT, _LIST, _TUPLE, _DICT, _ARRAY, _SCALAR = (
    b"NTFidsltmag"
)
_VIEWS = (range, *(type(getattr({}, view)()) for view in ("keys", "values", "items")))
_CONSTANTS = {_NONE: None, _TRUE: True, _FALSE: False}
_WELCOME = (
    "numbers, text, lists, tuples, dicts with text as keys, and NumPy arrays of bool, int8 to "
    "int64, uint8 or float16 to float64"
)


class WireError(ValueError):
    """A value that cannot be sent, or bytes that no honest sender makes."""


def encode(value: Any, items: int = MAX_ITEMS) -> bytes:
    """Return ``value`` as bytes.

    Parameters
    ----------
    value : None, bool, int of 64 bits, float, str, list, tuple, dict with str keys, NumPy array
        Exactly these types: a subclass may behave as it likes, so it is refused. What NumPy and
        Python have of their own beside them is made one of them: a matrix, a range, a dict's views.
    items : int
        The most values to send, as `decode` counts them.

    Raises
    ------
    WireError
        For anything else; the message names the type. Also beyond 50 levels or so many items.
    """
    parts: list[bytes] = []
    _write(value, parts, 0, _Room(items))
    return b"".join(parts)


class _Room:
    """How many more values may be sent."""

    def __init__(self, items: int) -> None:
        self.items = self.left = items


def _write(value: Any, parts: list[bytes], depth: int, room: _Room) -> None:
    if depth > MAX_DEPTH:
        raise WireError(f"The value is nested deeper than {MAX_DEPTH} levels.")
    room.left -= 1
    if room.left < 0:
        raise WireError(f"The value has more than {room.items:,} items; an array counts as five.")
    kind = type(value)
    if value is None:
        parts.append(b"N")
    elif kind is bool:
        parts.append(b"T" if value else b"F")
    elif kind is int:
        if not -(2**63) <= value < 2**63:
            raise WireError("An integer beyond 64 bits cannot be sent.")
        parts.append(b"i" + _INT.pack(value))
    elif kind is float:
        parts.append(b"d" + _FLOAT.pack(value))
    elif kind is str:
        parts.append(b"s" + _text(value))
    elif kind is list or kind is tuple:
        parts.append((b"l" if kind is list else b"t") + _COUNT.pack(len(value)))
        for item in value:
            _write(item, parts, depth + 1, room)
    elif kind is dict:
        parts.append(b"m" + _COUNT.pack(len(value)))
        for key, item in value.items():
            if type(key) is not str:
                raise WireError(f"A dict key of type {type(key).__name__} cannot be sent: use str.")
            parts.append(_text(key))
            _write(item, parts, depth + 1, room)
    elif kind is np.ndarray or issubclass(kind, np.generic):
        room.left -= _ARRAY_ITEMS
        parts.append(_array(value, b"a" if kind is np.ndarray else b"g"))
    elif kind is np.matrix or (kind is np.ma.MaskedArray and not np.ma.is_masked(value)):
        room.left -= _ARRAY_ITEMS
        parts.append(_array(np.asarray(value), b"a"))
    elif kind in _VIEWS:
        room.left += 1
        _write(list(value), parts, depth, room)
    elif hasattr(kind, "__next__"):
        words = "gives its values only once: return a list of them, list(...)"
        raise WireError(f"A value of type {kind.__name__} {words}.")
    else:
        raise WireError(f"A value of type {kind.__name__} cannot be sent: use {_WELCOME}.")


def _text(text: str) -> bytes:
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise WireError("A text with half characters (surrogates) cannot be sent.") from None
    return _COUNT.pack(len(data)) + data


def _array(value: Any, tag: bytes) -> bytes:
    array = np.asarray(value)
    if array.dtype == np.longdouble:  # more digits than any answer needs
        array = array.astype(np.float64)
    if array.ndim > MAX_DIMENSIONS:
        raise WireError(f"An array of more than {MAX_DIMENSIONS} dimensions cannot be sent.")
    code = _NATIVE_CODES.get(array.dtype)
    if code is None:  # of another byte order; to make the name takes long
        code = _CODES.get(array.dtype.name)
    if code is None:
        raise WireError(f"A NumPy value of dtype {array.dtype} cannot be sent: use {_WELCOME}.")
    head = struct.pack("<cBB", tag, code, array.ndim)
    shape = struct.pack(f"<{array.ndim}Q", *array.shape)
    return head + shape + array.astype(_ORDER[code]).tobytes()


def decode(data: bytes, limit: int, items: int = MAX_ITEMS) -> Any:
    """Return the value that ``encode`` made ``data`` from.

    Parameters
    ----------
    data : bytes
        From anyone: nothing in it is believed.
    limit : int
        The most bytes to accept.
    items : int
        The most values to accept, those in lists and dicts counted one by one.

    Returns
    -------
    plain data; each array is new, contiguous and of type ``ndarray`` itself.

    Raises
    ------
    WireError
        For anything but a complete value: cut short, too long, too deep, too many items, a shape
        that does not fit its bytes.
    """
    if len(data) > limit:
        raise WireError(f"The value takes {len(data):,} bytes; {limit:,} is the limit.")
    reader = _Reader(data, items)
    try:
        value = reader.value(0)
    except (struct.error, UnicodeDecodeError, MemoryError, OverflowError) as error:
        raise WireError(f"The bytes make no value: {error}.") from None
    if reader.at != len(data):
        raise WireError("There are bytes after the end of the value.")
    return value


class _Reader:
    """A place in the bytes. What is short of bytes fails in `unpack_from`, or has its own check."""

    def __init__(self, data: bytes, limit: int) -> None:
        self.data = data
        self.at = 0
        self.items = 0
        self.limit = limit

    def take(self, count: int) -> bytes:
        end = self.at + count
        if end > len(self.data):
            raise WireError("The value is cut short.")
        piece = self.data[self.at : end]
        self.at = end
        return piece

    def count(self) -> int:
        (number,) = _COUNT.unpack_from(self.data, self.at)
        self.at += 4
        return int(number)

    def text(self) -> str:
        return self.take(self.count()).decode()

    def value(self, depth: int) -> Any:
        self.items += 1
        if depth > MAX_DEPTH or self.items > self.limit:
            raise WireError(f"More than {MAX_DEPTH} levels or {self.limit:,} items.")
        if self.at >= len(self.data):
            raise WireError("The value is cut short.")
        tag = self.data[self.at]
        self.at += 1
        if tag in (_FLOAT_TAG, _INT_TAG):
            (number,) = (_INT if tag == _INT_TAG else _FLOAT).unpack_from(self.data, self.at)
            self.at += 8
            return number
        if tag == _TEXT:
            return self.text()
        if tag in (_LIST, _TUPLE):
            items = [self.value(depth + 1) for _ in range(self.count())]
            return items if tag == _LIST else tuple(items)
        if tag == _DICT:
            return {self.text(): self.value(depth + 1) for _ in range(self.count())}
        if tag in _CONSTANTS:
            return _CONSTANTS[tag]
        if tag in (_ARRAY, _SCALAR):
            return self.array(is_scalar=tag == _SCALAR)
        raise WireError(f"No value starts with the byte {tag}.")

    def array(self, is_scalar: bool) -> Any:
        self.items += _ARRAY_ITEMS
        code, dimensions = self.take(2)
        if code >= len(_ORDER) or dimensions > MAX_DIMENSIONS or (is_scalar and dimensions):
            raise WireError("The array's head makes no sense.")
        shape = struct.unpack(f"<{dimensions}Q", self.take(8 * dimensions))
        dtype = _ORDER[code]
        size = dtype.itemsize
        for length in shape:
            size *= length
        raw = self.take(size)
        if _NATIVE[code] is _BOOL and raw.translate(None, b"\0\1"):
            raise WireError("A truth value is neither 0 nor 1.")
        try:
            array = np.frombuffer(raw, dtype).reshape(shape).astype(_NATIVE[code])
        except ValueError as error:  # a length beyond what an array can have, times zero
            raise WireError(f"No array has the shape {shape}: {error}.") from None
        return array[()] if is_scalar else array


def frame(data: bytes) -> bytes:
    """Put the length in front, so that the reader of a stream knows where a message ends."""
    return struct.pack("<I", len(data)) + data


def unframe(read: Callable[[int], bytes]) -> tuple[bytes, int]:
    """Return the next message of a stream and its length; the sender must be one we trust."""

    def exactly(count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            piece = read(count - len(data))
            if not piece:
                raise EOFError("The stream ended within a message.")
            data += piece
        return bytes(data)

    (length,) = struct.unpack("<I", exactly(4))
    return exactly(length), length


def signature(data: bytes, number: int, key: bytes) -> bytes:
    """Return what only the holder of the key can put before the message with this number.

    The key itself is in no message: code that takes over a line and reads a message can make
    neither the next one nor the same one again.
    """
    return hashlib.blake2b(_INT.pack(number) + data, key=key, digest_size=SIGNATURE).digest()


def veiled(data: bytes, secret: bytes) -> bytes:
    """Return bytes that say nothing without the secret; the veil of what is veiled lifts it."""
    stream = hashlib.shake_256(secret).digest(len(data))
    return (np.frombuffer(data, np.uint8) ^ np.frombuffer(stream, np.uint8)).tobytes()
