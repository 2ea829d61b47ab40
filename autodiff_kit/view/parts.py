"""Parts of the graph that no arrow connects: found, and set side by side.

After reading you can say why a value that is not used stands beside the graph and not in it.
Read next: ``rank.py``, where the drawing of one part begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["connected", "shelve"]

# Distances in pixels.
PART_GAP = 48.0  # between two parts
MARGIN = 12.0  # around the picture


def connected(count: int, links: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the members of each connected part, by rising number (union and find)."""
    leader = list(range(count))

    def find(v: int) -> int:
        while leader[v] != v:
            leader[v] = v = leader[leader[v]]
        return v

    for a, b in links:
        a, b = find(a), find(b)
        leader[max(a, b)] = min(a, b)
    parts: dict[int, list[int]] = {}
    for v in range(count):
        parts.setdefault(find(v), []).append(v)
    return list(parts.values())


def shelve(sizes: Sequence[tuple[float, float]]) -> tuple[list[tuple[float, float]], float, float]:
    """Set the parts side by side in reading order, and wrap when a line becomes too long."""
    area = sum((w + PART_GAP) * (h + PART_GAP) for w, h in sizes)
    limit = max([w for w, _ in sizes] + [1.5 * area**0.5])
    corners: list[tuple[float, float]] = []
    x = y = right = bottom = MARGIN
    for w, h in sizes:
        if x > MARGIN and x + w > MARGIN + limit:
            x, y = MARGIN, bottom + PART_GAP
        corners.append((x, y))
        right, bottom = max(right, x + w), max(bottom, y + h)
        x += w + PART_GAP
    return corners, right + MARGIN, bottom + MARGIN
