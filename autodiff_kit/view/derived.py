"""Leaves that were made of results, ``x = (x - step).detach()``, where what made them is folded.

After reading you can say in which box such a leaf is: in a fold that computes it and reads it, for
outside it would have to stand both below and above; else just below the box that made it. Read
next: ``outline.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from autodiff_kit.record.events import NodeRecord

__all__ = ["after_makers", "made_between"]


def made_between(
    nodes: Sequence[NodeRecord],
    users: Mapping[int, Collection[int | None]],
    fold_of: Mapping[int, int],
) -> dict[int, int]:
    """Return the leaves that were made of what a fold computed and are read in it, with the fold.

    As ``x = (x - f / slope).detach()`` in a loop: outside, it would stand below the fold and above.
    """
    origins: dict[int, set[int]] = {}  # of such a leaf, the folds that it was made of
    between: dict[int, int] = {}
    for record in nodes:
        sources = [i["node"] for i in record.get("inputs", ()) if "node" in i]
        if record["kind"] != "leaf" or not sources:
            continue
        leaf, own = record["id"], {fold_of[n] for n in sources if n in fold_of}
        origins[leaf] = own.union(*(origins.get(n, ()) for n in sources))
        for fold in [f for f in sorted(origins[leaf]) if f in users.get(leaf, ())][:1]:
            made_of = [leaf]
            while made_of:
                at = made_of.pop()
                between[at] = fold
                made_of += [
                    i["node"]
                    for i in nodes[at]["inputs"]
                    if "node" in i and fold in origins.get(i["node"], ())
                ]
    return between


def after_makers(
    nodes: Sequence[NodeRecord], place_of: Mapping[int, int]
) -> Callable[[int], tuple[int, int]]:
    """Return a key by which boxes are sorted: after those that made what is in them.

    Parameters
    ----------
    nodes : sequence of NodeRecord
        Of the recording.
    place_of : dict from int to int
        By node, the place of its box: the last operation of a fold, or the node itself.
    """
    later: dict[int, tuple[int, int]] = {}

    def key(place: int) -> tuple[int, int]:
        return later.get(place, (place, -1))

    for record in nodes:
        leaf, sources = record["id"], [i["node"] for i in record.get("inputs", ()) if "node" in i]
        if record["kind"] == "leaf" and sources and place_of.get(leaf) == leaf:
            later[leaf] = max(key(leaf), (max(key(place_of[n])[0] for n in sources), leaf))
    return key
