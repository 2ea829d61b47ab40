"""What the kit has of PyTorch, and what it has not: ``python -m autodiff_kit.subset`` prints it.

After reading this file you know that the list is not written down anywhere: it is what the
package offers. Every name means what it means in PyTorch. Read next: ``__init__.py``.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from importlib import import_module

import autodiff_kit
from autodiff_kit import autograd, creation, function_files, functions, nn, optim
from autodiff_kit.autograd import function, functional, graph
from autodiff_kit.outside import OF_TENSORS
from autodiff_kit.tensor import Tensor

__all__ = ["ABSENT", "groups", "table"]

# The best known of what only PyTorch has.
ABSENT = """
    torch.complex64 torch.bfloat16 torch.sparse_coo_tensor torch.profiler
    torch.fft torch.compile torch.jit torch.export torch.fx
    torch.distributed torch.multiprocessing torch.hub torch.autograd.forward_ad
    torch.autograd.profiler torch.nn.Conv3d torch.nn.BatchNorm3d
    torch.nn.MaxUnpool3d
    torch.nn.functional.pdist torch.nn.MaxPool3d torch.optim.Adafactor
"""


def groups() -> dict[str, list[str]]:
    """Return where names are, such as ``torch.nn``, and the names that the kit has there."""
    methods = [n for n in dir(Tensor) if not n.startswith("_") and n not in OF_TENSORS]
    of_tensors = {*functions.basic.__all__, *function_files.FUNCTIONS}
    also = {*of_tensors, *creation.__all__}
    own = {"record"}  # the kit's, not PyTorch's
    places = {
        "torch, making tensors": creation.__all__,
        "torch, functions": of_tensors,
        "torch, more": {*autodiff_kit.__all__, "cuda", "utils", "is_anomaly_enabled"} - also - own,
        "torch.Tensor, besides functions": set(methods) - also,
        "torch.autograd": autograd.__all__,
        "torch.autograd.function": function.__all__,
        "torch.autograd.functional": functional.__all__,
        "torch.autograd.graph": graph.__all__,
        "torch.distributions": import_module("autodiff_kit.distributions").__all__,
        "torch.func": import_module("autodiff_kit.func").__all__,
        "torch.nn": nn.__all__,
        "torch.nn.functional": nn.functional.__all__,
        "torch.nn.init": nn.init.__all__,
        "torch.nn.parameter": nn.parameter.__all__,
        "torch.nn.utils": nn.utils.__all__,
        "torch.nn.utils.parametrize": nn.utils.parametrize.__all__,
        "torch.nn.utils.parametrizations": nn.utils.parametrizations.__all__,
        "torch.nn.utils.rnn": import_module("autodiff_kit.nn.utils.rnn").__all__,
        "torch.nn.Module": {n for n in dir(nn.Module) if not n.startswith("_")},
        "torch.optim": optim.__all__,
        "torch.optim.lr_scheduler": optim.lr_scheduler.__all__,
        "torch.utils.data": import_module("autodiff_kit.utils.data").__all__,
        "torch.utils.checkpoint": import_module("autodiff_kit.utils.checkpoint").__all__,
    }
    return {place: sorted(names, key=str.lower) for place, names in places.items()}


def table() -> str:
    """Return the list as text: Markdown that is readable as it stands."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield "# What of PyTorch is in the kit\n"
    for place, names in groups().items():
        yield _section(f"{place} ({len(names)})", names)
    yield _section("Not part of the kit, for example", ABSENT.split())


def _section(title: str, names: Iterable[str]) -> str:
    text = textwrap.fill(" ".join(f"`{name}`" for name in names), 100, break_on_hyphens=False)
    return f"## {title}\n\n{text}\n"


if __name__ == "__main__":
    print(table())
