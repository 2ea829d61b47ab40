"""``vmap`` as a loop: a function that is called for each element of a batch.

After reading this file you know that a batched function is the function itself, called as often as
the batch has elements, and that "different" random numbers are what the calls draw one after the
other. Read next: ``func.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from autodiff_kit.errors import error
from autodiff_kit.functions.basic import stack
from autodiff_kit.random import Generator, draws_observed
from autodiff_kit.tensor import Tensor
from autodiff_kit.trees import Tree, leaves_of, map_leaves, tree_like

__all__ = ["Draws", "Function", "vmap"]

Function = Callable[..., Any]


def vmap(
    func: Function,
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Function:
    """Return a function that calls ``func`` for each element of a batch, and stacks the results.

    ``in_dims`` says along which dimension the arguments are batches, None for those that are not;
    ``out_dims``, along which dimension results are stacked. Random numbers are refused, unless
    ``randomness`` says whether each call draws "different" ones or all the "same". ValueError if
    sizes differ, RuntimeError for random numbers.

    Being a loop, it accepts what PyTorch refuses: ``if`` on an element's value, ``item()``, and
    in-place changes of tensors that are not batches. The calls draw one after the other: with
    "different", a second draw continues after the first one of the same call.
    """

    @wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        draws = Draws(randomness)
        dims = in_dims if isinstance(in_dims, tuple | list) else (in_dims,) * len(args)
        name = getattr(func, "__name__", repr(func))
        if len(dims) != len(args):
            raise error("func.in_dims", name=name, dims=in_dims, count=len(args), given=len(dims))
        along = [_along(arg, dim) for arg, dim in zip(args, dims, strict=True)]
        leaves = [pair for tree in along for pair in tree]
        leaves += [(x, 0) for x in leaves_of(kwargs) if isinstance(x, Tensor)]
        for x, dim in leaves:
            if dim is not None and not -x.ndim <= dim < x.ndim:
                raise error("func.batch_dim", name=name, dims=in_dims, dim=dim, rank=x.ndim)
        sizes = [*dict.fromkeys(x.shape[dim] for x, dim in leaves if dim is not None)]
        if not sizes:
            raise error("func.no_batch")
        if len(sizes) > 1:
            raise error("func.batch_sizes", sizes=sizes)
        results = []
        (count,) = sizes
        for i in range(count or 1):  # of no calls, one tells what their results would be
            parts = [
                tree_like(arg, iter([x if d is None else _element(x, d, i) for x, d in pairs]))
                for arg, pairs in zip(args, along, strict=True)
            ]
            keywords = map_leaves(
                lambda x, i=i: _element(x, 0, i) if isinstance(x, Tensor) else x, kwargs
            )
            draws.start_call()
            with draws_observed(draws.note):
                result = func(*parts, **keywords)
            for part in leaves_of(result):
                if not isinstance(part, Tensor):
                    raise error("func.batched_result", name=name, kind=type(part))
            results.append(result)
        columns = zip(*map(leaves_of, results), strict=True)
        places = out_dims if isinstance(out_dims, tuple) else None
        stacked = [
            stack([*column], dim).narrow(dim, 0, count) if not count else stack([*column], dim)
            for column, dim in (
                (column, out_dims if places is None else places[j])
                for j, column in enumerate(columns)
            )
        ]
        return tree_like(results[0], iter(stacked))

    return mapped


def _element(x: Tensor, dim: int, i: int) -> Any:
    """Return an element of a batch; of an empty one, zeros of its shape."""
    return x.select(dim, i) if x.shape[dim] else x.sum(dim, dtype=x.dtype)


class Draws:
    """The random numbers that the calls of one batch draw."""

    def __init__(self, randomness: str) -> None:
        if randomness not in ("error", "different", "same"):
            raise error("func.randomness", randomness=randomness)
        self._randomness = randomness
        self._starts: dict[Generator, Any] = {}

    def note(self, generator: Generator) -> None:
        """Refuse a draw, or remember where the generator stood before its first one."""
        if self._randomness == "error":
            raise error("func.random")
        if self._randomness == "same" and generator not in self._starts:
            self._starts[generator] = generator.get_state()

    def start_call(self) -> None:
        """Let a further call draw the numbers of the first one, if they are to be the same."""
        for generator, state in self._starts.items():
            generator.set_state(state)


def _along(arg: Tree, dim: Any) -> list[tuple[Any, Any]]:
    """Return each leaf of an argument with the dimension along which it is a batch."""
    leaves = [*leaves_of(arg)]
    dims = [dim] * len(leaves) if dim is None or isinstance(dim, int) else [*leaves_of(dim)]
    return [(x, d if isinstance(x, Tensor) else None) for x, d in zip(leaves, dims, strict=True)]
