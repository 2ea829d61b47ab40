"""Write the public names of PyTorch, which the kit's answers rest on.

``python -m tests.same_as_torch.names`` writes them into ``autodiff_kit/outside/names.toml``.
"""

import pkgutil
import sys
import textwrap
import types
import warnings
from operator import attrgetter
from pathlib import Path
from typing import Any

import autodiff_kit

_BELOW = """
    Tensor nn nn.attention nn.functional nn.init nn.utils nn.utils.rnn nn.utils.parametrizations
    nn.utils.prune nn.Module nn.parameter optim optim.Optimizer optim.lr_scheduler autograd
    autograd.graph autograd.function autograd.functional utils utils.data utils.checkpoint
    linalg special cuda backends random distributions func amp accelerator version
    serialization return_types
    optim.adam optim.asgd optim.lbfgs optim.optimizer optim.rmsprop optim.sgd
    utils.data.dataloader utils.data.dataset utils.data.sampler
    distributions.distribution distributions.kl nn.modules.utils
"""
PLACES = ["torch", *(f"torch.{place}" for place in _BELOW.split())]
# Options by name only that the kit may lack.
KEYWORDS = ("generator", "layout", "memory_format", "non_blocking", "out", "pin_memory")
# What writes into a tensor that is given in C++ alone.
NOT_IN_PYTHON = {
    *("argsort", "clone", "count_nonzero", "diag_embed", "dist", "empty_like", "flip", "full_like"),
    *("isinf", "isnan", "ones_like", "rand_like", "randn_like", "relu", "repeat_interleave"),
    *("roll", "rot90", "rsub", "scalar_tensor", "trace", "zeros_like", "bincount", "std_mean"),
    *("var_mean", "unique_consecutive"),
}
FILE = Path(autodiff_kit.__file__).parent / "outside" / "names.toml"


def names_in(place: str) -> list[str]:
    """Return the public names in a module or class of PyTorch."""
    import torch
    import torch.nn.utils.prune  # which PyTorch does not load by itself

    owner: Any = sys.modules.get(place) or attrgetter(place.removeprefix("torch."))(torch)
    listed = set(getattr(owner, "__all__", ()))
    if isinstance(owner, types.ModuleType):
        listed |= {m.name for m in pkgutil.iter_modules(getattr(owner, "__path__", ()))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sorted(
            name
            for name in {*dir(owner), *listed}
            if not name.startswith("_") and (name in listed or _is_public(owner, name))
        )


def _is_public(owner: Any, name: str) -> bool:
    value = getattr(owner, name, None)
    is_module = isinstance(value, types.ModuleType)
    home = value.__name__ if is_module else getattr(value, "__module__", None) or "torch"
    return home.split(".")[0] == "torch"


def functions_with(keyword: str) -> list[str]:
    """Return the names of PyTorch's functions and methods that take a keyword."""
    import torch

    schemas = torch._C._jit_get_all_schemas()
    own = [s for s in schemas if any(a.kwarg_only and _is(a, keyword) for a in s.arguments)]
    names = {schema.name.removeprefix("aten::") for schema in own}
    names -= NOT_IN_PYTHON if keyword == "out" else set()
    return sorted(n for n in names if hasattr(torch, n) or hasattr(torch.Tensor, n))


def _is(argument: Any, keyword: str) -> bool:
    """Return whether an argument is a keyword; ``out`` has one for each of several results."""
    return argument.name == keyword or (keyword == "out" and argument.is_out)


def text() -> str:
    """Return the file's text."""
    out = "# PyTorch's public names; python -m tests.same_as_torch.names writes this file.\n"
    lists = {place: names_in(place) for place in PLACES}
    lists |= {f"{keyword}=": functions_with(keyword) for keyword in KEYWORDS}
    for title, names in lists.items():
        out += f'\n"{title}" = """\n{textwrap.fill(" ".join(names), 100)}\n"""\n'
    return out


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
