"""The list of what the kit has: its names are PyTorch's, and what it calls absent is absent."""

import inspect
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from operator import attrgetter
from typing import Any

import pytest

import autodiff_kit
from autodiff_kit.subset import ABSENT, groups, table
from tests.parity import require_torch
from tests.same_as_torch import names

torch = require_torch()
pytestmark = pytest.mark.parity


def place_in(package: Any, place: str) -> Any:
    """Return a module or class of either package by PyTorch's name for it."""
    place = place.split(",")[0].removeprefix("torch")
    if place.endswith("utils"):  # PyTorch does not load all modules below it by itself
        import_module(f"{package.__name__}.nn.utils.prune")
    if place.endswith("checkpoint"):  # PyTorch has a function of this name, too
        return import_module(f"{package.__name__}{place}")
    return attrgetter(place[1:])(package) if place else package


@pytest.mark.parametrize("place", groups())
def test_every_name_of_the_kit_is_a_name_of_pytorch(place: str) -> None:
    names = groups()[place]

    assert [name for name in names if not hasattr(place_in(torch, place), name)] == []
    assert [name for name in names if not hasattr(place_in(autodiff_kit, place), name)] == []


@pytest.mark.parametrize("path", ABSENT.split())
def test_what_is_called_absent_is_only_in_pytorch(path: str) -> None:
    name = path.removeprefix("torch.")

    assert attrgetter(name)(torch) is not None
    with pytest.raises(AttributeError):
        attrgetter(name)(autodiff_kit)


def test_the_answers_about_what_is_missing_rest_on_pytorchs_names() -> None:
    assert names.FILE.read_text(encoding="utf-8") == names.text()


def modules(package: Any) -> Iterator[str]:
    """Yield the names of PyTorch's public modules: those of the package, and of packages in it."""
    for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if not info.name.rpartition(".")[2].startswith("_"):
            yield info.name
            is_loaded = info.ispkg and info.name in sys.modules and package is torch
            yield from modules(sys.modules[info.name]) if is_loaded else ()


def test_importing_a_module_that_only_pytorch_has_is_answered() -> None:
    answers = {}
    for name in modules(torch):
        try:
            import_module(name.replace("torch", "autodiff_kit", 1))
        except ModuleNotFoundError as raised:
            answers[name] = "is PyTorch's, but not part of the kit" in str(raised)

    assert len(answers) > 200
    assert [name for name, is_answer in answers.items() if not is_answer] == []


def test_the_list_is_printed_by_a_command() -> None:
    command = [sys.executable, "-m", "autodiff_kit.subset"]

    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert printed == table() + "\n"
    assert "`backward`" in printed


# What PyTorch's own constructors name otherwise, or what is gone from PyTorch's documentation.
_OTHERWISE = {
    "torch.nn.Hardtanh": {"min_value", "max_value"},  # deprecated names
    "torch.nn.UninitializedBuffer": {"persistent"},
    "torch.nn.RNNCellBase": {"num_chunks"},
    "torch.nn.functional.normalize": {"out"},
    "torch.nn.functional.huber_loss": {"weight"},
    "torch.nn.functional.l1_loss": {"weight"},
    "torch.nn.functional.mse_loss": {"weight"},
}


@pytest.mark.parametrize(
    "place",
    ["nn", "nn.functional", "nn.init", "nn.utils", "optim", "optim.lr_scheduler", "utils.data"],
)
def test_layers_optimizers_and_functions_take_all_arguments_that_pytorchs_take(place: str) -> None:
    own, theirs = (import_module(f"{p}.{place}") for p in ("autodiff_kit", "torch"))
    missing = {}
    for name in own.__all__:
        parameters = [_parameters(getattr(package, name, None)) for package in (own, theirs)]
        if all(parameters) and not any(p.kind == p.VAR_KEYWORD for p in parameters[0].values()):
            early = {"size_average", "reduce"}  # `loss` of nn/functional_losses.py takes them
            named = {
                n
                for n, p in parameters[1].items()
                if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
            }
            path = f"torch.{place}.{name}"
            lacks = named - {*parameters[0]} - _OTHERWISE.get(path, set())
            missing[path] = lacks - early if place == "nn.functional" else lacks

    assert {path: names for path, names in missing.items() if names} == {}
    assert len(missing) > 9


def _parameters(of: Any) -> Any:
    try:
        return inspect.signature(of).parameters
    except (TypeError, ValueError):
        return {}
