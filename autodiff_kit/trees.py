"""Lists, tuples and dicts of tensors, in each other: what ``torch.func`` takes and returns.

After reading this file you know how a function can be applied to all tensors of a tree. Read next:
``func.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["Tree", "form_of", "leaves_of", "map_leaves", "structure_of", "tree_like"]

Tree = Any  # a tensor, or a list, tuple or dict of trees


def leaves_of(tree: Tree) -> Iterator[Any]:
    """Yield what is in a tree."""
    if isinstance(tree, dict):
        tree = [*tree.values()]
    if isinstance(tree, list | tuple):
        for part in tree:
            yield from leaves_of(part)
    else:
        yield tree


def tree_like(tree: Tree, leaves: Iterator[Any]) -> Tree:
    """Return a tree of the same form with other leaves."""
    if isinstance(tree, dict):
        return type(tree)((key, tree_like(part, leaves)) for key, part in tree.items())
    if isinstance(tree, list | tuple):
        parts = [tree_like(part, leaves) for part in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    return next(leaves)


def map_leaves(change: Callable[..., Any], tree: Tree) -> Tree:
    """Return a tree of the same form with changed leaves."""
    return tree_like(tree, map(change, leaves_of(tree)))


class _Leaf:
    def __repr__(self) -> str:
        return "*"


def form_of(tree: Tree) -> str:
    """Return the form of a tree as Python would print it, with ``*`` for each leaf.

    Examples
    --------
    >>> form_of((1, {"a": 2}))
    "(*, {'a': *})"
    """
    return repr(map_leaves(lambda _: _Leaf(), tree))


def structure_of(tree: Tree, indent: int = 0) -> str:
    """Return the form of a tree as PyTorch prints it, with ``*`` for each leaf."""
    if not isinstance(tree, dict | list | tuple):
        return "*"
    parts = [*tree.values()] if isinstance(tree, dict) else tree
    keys = [*tree] if isinstance(tree, dict) else None
    between = ",\n" + " " * (indent + 2)
    inner = between.join(structure_of(part, indent + 2) for part in parts)
    return f"TreeSpec({type(tree).__name__}, {keys}, [{inner}])"
