"""Saving and loading: ``torch.save`` and ``torch.load``, for data and for whole models.

After reading this file you know what is in a saved file: a zip archive of one JSON text, which is
the object with a number in place of every tensor, and of one ``.npy`` array per storage: tensors
that share memory still share it when they are loaded. Such data holds no instructions, so a file
from a stranger can do no harm. A whole model is code and data: it
is pickled, and only ``load(f, weights_only=False)`` carries out what such a file says. Read next:
``nn/module.py`` (``state_dict``).
"""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from typing import IO, Any

import numpy as np

from autodiff_kit.dtypes import Size, check_device, from_numpy_dtype
from autodiff_kit.errors import error
from autodiff_kit.files import written_whole
from autodiff_kit.free_form import Json
from autodiff_kit.methods.storage import rebuild
from autodiff_kit.outside import absent_in
from autodiff_kit.overlap import Place, place_of
from autodiff_kit.tensor import Tensor

__all__ = ["load", "save"]

_FORMAT, _VERSION, _TREE = "autodiff_kit data", 2, "data.json"
_PICKLED = "object.pickle"
File = str | os.PathLike[str] | IO[bytes]


def save(obj: Any, f: File, pickle_module: Any = None, pickle_protocol: int = 2) -> None:
    """Write data to a file: tensors, numbers, texts, and lists, tuples and dicts of these.

    The file, a path or a binary one, is written whole or not at all: one of that name stays as it
    is until then. ``obj`` is for example ``model.state_dict()`` or ``optimizer.state_dict()``, or a
    dict of both. Anything else, such as a model, is pickled: who loads it must have its class, and
    trust the file. ``pickle_module`` and ``pickle_protocol`` change nothing.
    """
    if not isinstance(f, str | os.PathLike) and not hasattr(f, "write"):
        raise error("serialization.not_writable")
    tensors: dict[Tensor, int] = {}  # each once, however often it occurs
    storages: _Storages = {}
    header: Json = {"format": _FORMAT, "version": _VERSION}
    pickled = b""
    try:
        tree = _to_json(obj, tensors)
        rows = [_to_row(t, storages) for t in tensors]
        header |= {"tensors": rows, "data": tree}
    except _NoDataError as found:
        from pickle import dumps

        pickled, storages = dumps(obj), {}
        header["pickled"] = str(found)
    if not isinstance(f, str | os.PathLike):
        _write(f, header, storages, pickled)
        return
    with written_whole(f) as file:
        _write(file, header, storages, pickled)


class _NoDataError(Exception):
    """The name of a class whose objects are not data."""


_Storages = dict[int, tuple[int, np.ndarray[Any, Any]]]  # by its id: its number, and it


def _to_row(tensor: Tensor, storages: _Storages) -> Json:
    """Return what makes a tensor of its storage."""
    place = place_of(np.asarray(tensor._array))
    number, _ = storages.setdefault(id(place.storage), (len(storages), place.storage))
    kind = {"class": type(tensor).__name__, "requires_grad": tensor.requires_grad}
    where = {"offset": place.offset, "shape": place.shape, "strides": place.strides}
    return kind | {"storage": number} | where


def _write(file: IO[bytes], header: Json, storages: _Storages, pickled: bytes) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(_TREE, json.dumps(header, allow_nan=False))
        if pickled:
            archive.writestr(_PICKLED, pickled)
        for number, storage in storages.values():
            with archive.open(f"{number}.npy", "w", force_zip64=True) as entry:
                np.save(entry, storage.ravel("K"), allow_pickle=False)


def _to_json(obj: Any, tensors: dict[Tensor, int]) -> Any:
    """Return ``obj`` as JSON: what JSON does not know becomes ``{kind: ...}``."""

    def each(items: Any) -> list[Any]:
        return [_to_json(item, tensors) for item in items]

    if isinstance(obj, Tensor):
        return {"tensor": tensors.setdefault(obj, len(tensors))}
    if obj is None or isinstance(obj, str | bool | np.bool_):
        return bool(obj) if isinstance(obj, np.bool_) else obj
    if isinstance(obj, int | np.integer):
        return int(obj)
    if isinstance(obj, float | np.floating):
        return float(obj) if math.isfinite(obj) else {"float": str(float(obj))}
    if type(obj) is list:
        return each(obj)
    if type(obj) in (tuple, Size):
        return {type(obj).__name__.lower(): each(obj)}
    if type(obj) is OrderedDict and vars(obj):  # such as the metadata of a state
        return {"attributes": [_to_json(vars(obj), tensors), _to_json(obj.copy(), tensors)]}
    if type(obj) in (dict, OrderedDict):
        return {type(obj).__name__.lower(): each(map(list, obj.items()))}
    raise _NoDataError(f"{type(obj).__module__}.{type(obj).__qualname__}")


def load(
    f: File,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool = True,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read what ``save`` has written.

    ``f`` is a path or binary file. What is more than data is loaded only if ``weights_only`` is
    false, since it may carry out anything; else it is refused with ``pickle.UnpicklingError``.
    ``map_location``, a device, dict or function, may name no other device than the CPU; all that
    is left changes nothing. RuntimeError if the file is damaged or comes from a newer version;
    ``pickle.UnpicklingError`` if ``save`` has not written it, EOFError if it is empty.
    """
    if isinstance(map_location, dict):  # from one device to another
        map_location = map_location.get("cpu")
    if not callable(map_location):  # which may only move what is on the CPU
        check_device(map_location)
    if isinstance(f, str | os.PathLike):
        with open(f, "rb") as file:
            return _read(file, os.fspath(f), weights_only)
    if not hasattr(f, "seek"):
        raise error("serialization.not_a_file", kind=type(f).__name__)
    return _read(f, "the file", weights_only)


def _read(file: IO[bytes], name: str | bytes, weights_only: bool) -> Any:
    start = file.read(4)
    if not start:
        raise EOFError(f"{name!s} was not written by torch.save: it is empty")
    kinds = {b"PK\x03\x04": "damaged", b"\x80": "of_pytorch"}  # an archive, an old pickle
    problem = kinds.get(start) or kinds.get(start[:1], "foreign")
    try:
        file.seek(0)
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
            problem = "of_pytorch" if any(n.endswith("data.pkl") for n in names) else "foreign"
            text = archive.read(_TREE)
            problem = "damaged"
            header = json.loads(text)
            if (header["format"], header["version"]) != (_FORMAT, _VERSION):
                problem = "version"
                raise ValueError
            if "pickled" in header:
                pickled, problem = archive.read(_PICKLED), "pickled"
                raise ValueError
            storages: dict[int, np.ndarray[Any, Any]] = {}
            tensors = [_tensor(archive, row, storages) for row in header["tensors"]]
            return _from_json(header["data"], tensors)
    except OSError:
        raise
    except Exception:  # in damaged bytes anything can go wrong
        if problem == "foreign":
            import pickle

            raise pickle.UnpicklingError(str(error("serialization.foreign", name=name))) from None
        if problem != "pickled":
            raise _PROBLEMS[problem](name) from None
    return _unpickled(pickled, header["pickled"], weights_only)


def _unpickled(pickled: bytes, kind: str, weights_only: bool) -> Any:
    """Carry out what a file says that holds more than data; refuse if only data is wanted."""
    import pickle

    if weights_only:
        raise pickle.UnpicklingError(str(error("serialization.more_than_weights", kind=kind)))
    return pickle.loads(pickled)


_PROBLEMS: dict[str, Callable[[Any], Exception]] = {
    "damaged": lambda name: error("serialization.damaged", name=name),
    "of_pytorch": lambda name: error("serialization.of_pytorch", name=name),
    "version": lambda name: error("serialization.version", name=name),
}


def _tensor(archive: zipfile.ZipFile, row: Json, storages: dict[int, Any]) -> Tensor:
    number = row["storage"]
    if number not in storages:
        storages[number] = np.load(io.BytesIO(archive.read(f"{number}.npy")), allow_pickle=False)
    storage = storages[number]
    from_numpy_dtype(storage.dtype)
    # NumPy sees to it that all of the tensor lies within its storage, whatever the file says.
    place = Place(storage, row["offset"], tuple(row["shape"]), tuple(row["strides"]))
    classes = {cls.__name__: cls for cls in (*Tensor.__subclasses__(), Tensor)}
    return rebuild(classes.get(row["class"], Tensor), place.within(storage), row["requires_grad"])


def _from_json(tree: Any, tensors: list[Tensor]) -> Any:
    if isinstance(tree, list):
        return [_from_json(item, tensors) for item in tree]
    if not isinstance(tree, dict):
        return tree
    ((kind, content),) = tree.items()
    if kind == "tensor":
        return tensors[content]
    if kind == "attributes":
        attributes, of = (_from_json(item, tensors) for item in content)
        vars(of).update(attributes)
        return of
    kinds: tuple[Any, ...] = (float, tuple, Size, dict, OrderedDict)
    make = {cls.__name__.lower(): cls for cls in kinds}[kind]
    return make(_from_json(content, tensors))


__getattr__ = absent_in(__name__)
