"""Whether a difference of numbers is rounding, carried on: asked of PyTorch alone.

Two sums in another order differ in the last digit. Where they cancel, and something is divided by
them, that digit becomes the first one, so no tolerance can tell it from a fault. Instead PyTorch
runs the program again and again with the last digits moved of whatever may be rounded in more than
one way. What differs in the kit is rounding if there it moves as much, element for element; or if
it is gone where all floats have twice the digits, and no infinity has come or gone; or if PyTorch
finds just what the kit has when it computes the last line of the kit's numbers.
"""

from __future__ import annotations

import contextlib
import re
from typing import Any

import numpy as np

import autodiff_kit
from tests.fuzz.running import Difference, names_in, replay, torch

__all__ = ["is_rounding"]

# Adds up, in an order of its own: wrong by digits of what is added.
_SUMS = re.compile(r"sum|mean|var|std|norm|mm$|mv|dot|addr|softmax|loss|entropy|linalg|backward")
# Its result has as many elements as a mask, which a comparison of rounded numbers may have made.
_PICKS = re.compile(r"masked_select|nonzero|\[.*[<>=!].*\]")
# Has only one right result: IEEE 754 says how it is rounded, or nothing is computed.
_EXACT = re.compile(
    r"_?(add|sub|rsub|mul|div|neg|abs|sqrt|sign|floor|ceil|round|trunc|frac|fmod|remainder|copy|to_copy|"
    r"clone|fill|zero|zeros|ones|full|empty|new|rand|randn|randint|bernoulli|arange|eye|scalar|"
    r"max|min|amax|amin|maximum|minimum|clamp|relu|where|masked|index|gather|scatter|select|slice|"
    r"cat|stack|sort|topk|flip|roll|repeat|tril|triu|diag|eq|ne|lt|le|gt|ge|unique|lift|dropout)"
    r"(_(like|out|scalar|tensor|fill|select|scatter|add|put|copy|zeros|empty|dim|fresh))*_?"
)


class _Moved(torch.utils._python_dispatch.TorchDispatchMode):  # type: ignore[misc,name-defined]
    """PyTorch with the last digits of its results moved at random."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._draw = np.random.default_rng(seed).standard_normal

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        results = op(*args, **kwargs)
        name = op.overloadpacket.__name__
        if _EXACT.fullmatch(name) and kwargs.get("alpha", 1) == 1:  # else it may be fused
            return results
        sizes = [_size(x) for x in args] if _SUMS.search(name) else []
        returned = results if isinstance(results, tuple | list) else (results,)
        for result, declared in zip(returned, op._schema.returns, strict=False):
            alias = declared.alias_info
            if isinstance(result, torch.Tensor) and (alias is None or alias.is_write):
                self._move(result, max(sizes, default=0))
        return results

    def _move(self, result: Any, size: float) -> None:
        if result.is_floating_point() and result.numel() and not result._is_zerotensor():
            x = result.detach().numpy()
            steps = self._draw(x.shape) * 2 * np.finfo(x.dtype).eps
            with np.errstate(all="ignore"):
                x += (steps * (np.abs(x) + size)).astype(x.dtype)


def _size(x: Any) -> float:
    if isinstance(x, torch.Tensor) and x.is_floating_point() and x.numel():
        return float(x.detach().abs().nan_to_num(0, 0, 0).max())
    return 0.0


def is_rounding(lines: list[str], difference: Difference) -> bool:
    """Return whether what a program ends at differs because of rounding only."""
    if difference.kind not in ("value", "gradient", "repr", "shape"):
        return False
    run = replay(lines)
    if difference.kind == "shape":  # of what a mask has picked
        kit, is_last = _numbers(difference.what, run.kit), difference.line == lines[-1]
        return (
            is_last
            and _PICKS.search(lines[-1]) is not None
            and _follows(lines, difference.what, kit)
        )
    if not any(d[:3] == difference[:3] for d in run.differences):
        return False
    real, kit = _moved(lines, difference.what), _numbers(difference.what, run.kit)
    if real is None or kit is None or real.shape != kit.shape:
        return False
    if np.array_equal(np.isfinite(real), np.isfinite(kit)) and not any(
        d.kind == difference.kind for d in replay(lines, float64=True).differences
    ):
        return True  # gone where floats have twice the digits
    gap, moved = _gap(real, kit), np.zeros(real.shape)
    if difference.kind == "value" and _follows(lines, difference.what, kit):
        return True
    for seed in range(64):
        other = _moved(lines, difference.what, seed)
        if other is None or other.shape != real.shape:
            return False
        moved = np.maximum(moved, _gap(real, other))
        # About as far as the kit's are off, or so far that not one digit of PyTorch's is certain.
        if np.all((gap == 0) | (moved > gap / 100) | (moved > np.abs(real) / 10)):
            return True
    return False


def _follows(lines: list[str], what: str, kit: Any) -> bool:
    """Return whether PyTorch finds what the kit has, if it is given the kit's numbers before."""
    before = replay(lines[:-1])
    numbers = {name: _as_torch(value) for name, value in before.kit.items()}
    is_number = (torch.Tensor, list)
    names = before.real | {n: v for n, v in numbers.items() if isinstance(v, is_number)}
    with torch.no_grad(), contextlib.suppress(Exception):
        exec(lines[-1], names)
    values = _numbers(what, names)
    return values is not None and values.shape == kit.shape and not _gap(values, kit).any()


def _as_torch(value: Any) -> Any:
    if isinstance(value, autodiff_kit.Tensor):
        return torch.from_numpy(np.array(value._array))
    if isinstance(value, tuple | list):
        return [_as_torch(part) for part in value]
    return value


def _moved(lines: list[str], what: str, seed: int | None = None) -> Any:
    """Return the numbers that PyTorch finds, with the last digits moved if there is a seed."""
    names = names_in(torch)
    torch.manual_seed(0)
    torch.set_grad_enabled(True)
    with contextlib.nullcontext() if seed is None else _Moved(seed):
        for line in lines:
            with contextlib.suppress(Exception):
                exec(line, names)
    return _numbers(what, names)


def _gap(x: Any, y: Any) -> Any:
    """Return how far numbers are apart, those that are near enough 0, nan and another inf."""
    with np.errstate(all="ignore"):
        gap = np.abs(x - y)
        largest = np.max(np.abs(x[np.isfinite(x)]), initial=0)
        gap[gap <= 1e-6 * (1e-2 + np.abs(x) + 1e-2 * largest)] = 0
    gap[(x == y) | (np.isnan(x) & np.isnan(y))] = 0
    gap[np.isnan(gap) | np.isinf(gap)] = 1e300
    return np.minimum(gap, 1e300)


def _numbers(what: str, names: dict[str, Any]) -> Any:
    """Return the numbers in what a difference is about, one after the other."""
    numbers: list[float] = []

    def look(value: Any) -> None:
        if hasattr(value, "detach"):
            value = value.detach().numpy(force=True)
        if isinstance(value, str):
            numbers.extend(map(float, re.findall(r"-?\d+\.?\d*(?:e[+-]\d+)?", value)))
        elif isinstance(value, tuple | list):
            for part in value:
                look(part)
        elif isinstance(value, np.ndarray):
            numbers.extend(value.astype("float64").ravel())
        elif isinstance(value, int | float | np.generic):
            numbers.append(float(value))

    try:
        look(eval(what, dict(names)))
    except Exception:
        return None
    return np.array(numbers, "float64")
