"""Data types and devices under PyTorch's names, and the rules by which types combine.

After reading this file you know what ``float32`` is here, which result type ``x + y`` has, and
why a Python number never widens a tensor. Read next: ``tensor.py``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_kit.errors import error

__all__ = [
    "Size",
    "check_device",
    "device",
    "dtype",
    "full_name",
    "get_default_dtype",
    "set_default_dtype",
]


class dtype:
    """The type of a tensor's elements, for example ``torch.float32``.

    Attributes
    ----------
    name : str
        PyTorch's name without ``torch.``.
    numpy : numpy.dtype
        What NumPy calls it.
    tensor_type, c_type : str
        What PyTorch's messages call it: some say "Long", others "long int".
    is_floating_point : bool
        Whether tensors of this type can require gradients.
    itemsize : int
        Bytes per element.
    """

    __slots__ = ("c_type", "is_floating_point", "itemsize", "name", "numpy", "tensor_type")
    is_complex = False  # the kit has no complex types

    def __init__(self, name: str, tensor_type: str, c_type: str) -> None:
        self.name, self.tensor_type, self.c_type = name, tensor_type, c_type
        self.numpy = np.dtype(name)
        self.is_floating_point = self.numpy.kind == "f"
        self.itemsize = self.numpy.itemsize
        _BY_NUMPY[self.numpy] = self

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return from_numpy_dtype, (self.name,)


_BY_NUMPY: dict[Any, dtype] = {}
float16 = dtype("float16", "Half", "c10::Half")
float32 = dtype("float32", "Float", "float")
float64 = dtype("float64", "Double", "double")
int8, int16 = dtype("int8", "Char", "signed char"), dtype("int16", "Short", "short int")
int32, int64 = dtype("int32", "Int", "int"), dtype("int64", "Long", "long int")
uint8 = dtype("uint8", "Byte", "unsigned char")
bool_ = dtype("bool", "Bool", "bool")  # ``torch.bool``; here the short name stays Python's

_default = float32


def get_default_dtype() -> dtype:
    """Return the type that Python floats become: ``torch.float32`` unless it was changed."""
    return _default


def set_default_dtype(d: dtype) -> None:
    """Set the type that Python floats become; TypeError if it is not a floating-point one."""
    global _default
    if not isinstance(d, dtype) or not d.is_floating_point:
        raise error(
            "dtypes.default", start="" if isinstance(d, dtype) else "invalid dtype object: "
        )
    _default = d


def from_numpy_dtype(d: Any) -> dtype:
    """Return the kit's dtype for a NumPy dtype; TypeError if the kit has none."""
    try:
        return _BY_NUMPY[np.dtype(d)]
    except KeyError:
        raise error("dtypes.numpy", dtype=np.dtype(d).type.__name__) from None


def as_dtype(d: Any, asked_by: str) -> dtype:
    """Return ``d`` as a dtype: Python's ``float``, ``int`` and ``bool`` stand for one, too.

    Anything else is a TypeError, whose message names the function ``asked_by``.
    """
    if isinstance(d, dtype):
        return d
    by_python: dict[Any, dtype] = {float: float64, int: int64, bool: bool_}
    if isinstance(d, type) and d in by_python:
        return by_python[d]
    raise error("dtypes.not_a_dtype", name=asked_by, kind=type(d).__name__)


def of_tensor_type(kind: Any) -> Any:
    """Return the dtype that a tensor's type stands for: ``torch.LongTensor``, or its name."""
    if isinstance(kind, str):
        name = kind.removeprefix("torch.").removesuffix("Tensor")
        return next((d for d in _BY_NUMPY.values() if d.tensor_type == name), kind)
    return getattr(kind, "dtype", kind) if isinstance(kind, type) else kind


def tensor_type(d: Any) -> str:
    """Return the name PyTorch's messages use for a NumPy dtype: ``Float``, ``Long``, ..."""
    return from_numpy_dtype(d).tensor_type


def backend_type(d: Any) -> str:
    """Return the name of PyTorch's C++ type: ``torch.FloatTensor``, but ``CPUBoolType``."""
    kind = tensor_type(d)
    return "CPUBoolType" if kind == "Bool" else f"torch.{kind}Tensor"


def c_type(d: Any) -> str:
    """Return the name that other messages use, which is that of the C++ type."""
    return from_numpy_dtype(d).c_type


def number_in(number: Any, d: Any, name: str = "") -> Any:
    """Return a Python number as one of a NumPy dtype; ``name`` is what an error calls that.

    RuntimeError if it lies outside; but a negative one is let into uint8, where -1 is 255.
    """
    if d.kind != "b":
        is_float = d.kind == "f"
        limits: Any = np.finfo(d) if is_float else np.iinfo(d)
        low, high = map(float if is_float else int, (limits.min, limits.max))
        lowest = -high if d.kind == "u" and isinstance(number, int) else low
        if not (lowest <= number <= high if math.isfinite(number) else is_float):
            short = {
                "float32": "float",
                "float64": "double",
                "float16": "c10::Half",
                "int32": "int",
            }
            name = name or short.get(d.name, f"{d.name}_t")
            raise error("dtypes.overflow", type=name, low=low, high=high)
    return np.asarray(number).astype(d)[()]


def category(d: Any) -> int:
    """Order a NumPy dtype by PyTorch's categories: bool 0, integer 1, floating point 2."""
    return {"b": 0, "i": 1, "u": 1, "f": 2}[d.kind]


def result_dtype(*values: Any) -> Any:
    """Return the NumPy dtype in which an elementwise op on ``values`` works.

    PyTorch's rule: the highest category (bool < integer < float) decides. Within a category,
    tensors of one or more dimensions speak first, then 0-d tensors, then Python numbers; who
    speaks later can lift the category but not the width.

    Parameters
    ----------
    *values : array, NumPy scalar (a 0-d tensor) or Python number

    Returns
    -------
    numpy.dtype

    Examples
    --------
    >>> result_dtype(np.ones(2, "float32"), np.float64(3.0))
    dtype('float32')
    >>> result_dtype(np.ones(2, "int64"), 0.5)
    dtype('float32')

    Source: PyTorch documentation, "Tensor Attributes", section on type promotion.
    """
    numbers = {bool: bool_.numpy, int: int64.numpy, float: _default.numpy}
    levels: tuple[list[Any], ...] = ([], [], [])
    for value in values:
        if isinstance(value, np.ndarray | np.generic):
            levels[0 if value.ndim else 1].append(value.dtype)
        else:
            levels[2].append(numbers[type(value)])
    result: Any = None
    for types in filter(None, levels):
        top = max(map(category, types))
        if result is None or top > category(result):
            result = np.result_type(*(d for d in types if category(d) == top))
    return result


_DEVICES = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, "
    "mps, meta, hpu, mtia, privateuseone"
)


class device:
    """Where a tensor lives, or could live: the kit computes on ``cpu``; see ``check_device``.

    RuntimeError if PyTorch knows no such device.
    """

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(self, type: Any, index: int | None = None) -> None:
        if isinstance(type, device):
            self.type, self.index = type.type, type.index
            return
        if isinstance(type, int):
            raise error("dtypes.device_number")
        kind, colon, number = str(type).partition(":")
        is_number = number.isdecimal() and number == str(int(number))
        if not kind.isalpha() or (colon and not is_number):
            raise error("dtypes.device", device=type)
        if kind not in _DEVICES.split(", "):
            raise error("dtypes.no_device", device=kind, known=_DEVICES)
        self.type, self.index = kind, int(number) if colon else index

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __enter__(self) -> device:
        """Make what the block makes on this device, as everything is made."""
        check_device(self)
        return self

    def __exit__(self, *exc: object) -> None:
        pass


def check_device(where: Any) -> None:
    """Refuse all devices but the CPU, in the words of a PyTorch that was built without them."""
    if where is None:
        return
    kind = device(where).type
    if kind in ("cuda", "xpu"):
        raise error("dtypes.cuda", name=kind.upper())
    if kind == "meta":
        raise error("dtypes.meta")
    if kind != "cpu":
        raise error("dtypes.not_linked", device=kind)


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple of ints that prints as ``torch.Size([2, 3])``."""

    __slots__ = ()

    def __new__(cls, sizes: Any = ()) -> Size:
        """Make a shape of integers; TypeError for anything else."""
        return tuple.__new__(cls, (_size(i, n) for i, n in enumerate(sizes)))

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __add__(self, other: Any) -> Size:
        return Size(tuple.__add__(self, tuple(other)))

    def __radd__(self, other: Any) -> Size:
        return Size((*other, *self))

    def __mul__(self, count: Any) -> Size:
        return Size(tuple.__mul__(self, count))

    __rmul__ = __mul__

    def __getitem__(self, index: Any) -> Any:
        part = tuple.__getitem__(self, index)
        return Size(part) if isinstance(index, slice) else part

    def numel(self) -> int:
        """Return the number of elements of a tensor of this shape."""
        return math.prod(self)


def _size(position: int, value: Any) -> int:
    """Return a size as an int, be it one of NumPy's or a tensor."""
    if type(value) is int:
        return value
    try:
        return int(value.__index__())
    except (AttributeError, TypeError):
        raise error("dtypes.size", position=position, kind=type(value).__name__) from None


def full_name(value: Any) -> str:
    """Return the name of a value's type as PyTorch writes it."""
    name = type(value).__name__
    if isinstance(value, np.ndarray | np.generic):
        return f"numpy.{name}"
    return f"torch.{name}" if isinstance(value, dtype | Size) else name
