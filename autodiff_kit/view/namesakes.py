"""What tells nodes apart that have one name: ``x[i] * i in iteration 2``.

After reading you can say what is added to the name of a node where another one of the same backward
pass is called alike: the iteration or call it was made in, else its line, else which one it is.
Read next: ``steps.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property

from autodiff_kit.record.events import RecordingData
from autodiff_kit.view.calls import numbered_calls
from autodiff_kit.view.words import ordinal

__all__ = ["Namesakes"]


class Namesakes:
    """Knows where each node of a recording was made.

    Parameters
    ----------
    recording : dict
        With ``nodes``, ``scopes`` and ``sources``.

    Attributes
    ----------
    calls : dict
        ``"call 2 of f"`` by scope.
    """

    def __init__(self, recording: RecordingData) -> None:
        self._nodes, self._sources = recording["nodes"], recording["sources"]
        self._scopes = recording["scopes"]
        self.calls = numbered_calls(recording["scopes"])

    def additions(self, names: Iterable[tuple[int, str]]) -> dict[int, str]:
        """Return what is added to the names of nodes, as far as several have the same.

        Parameters
        ----------
        names : iterable of (int, str)
            Each node with its name.
        """
        by_name: dict[str, list[int]] = {}
        for node, name in names:
            by_name.setdefault(name, []).append(node)
        additions: dict[int, str] = {}
        for nodes in by_name.values():
            if len(nodes) > 1:
                additions |= self._apart(sorted(nodes))
        return additions

    def _apart(self, nodes: list[int]) -> dict[int, str]:
        paths = {node: self._path(node) for node in nodes}
        longest = max(map(len, paths.values()))
        rows = [[*path, *[("", "")] * (longest - len(path))] for path in paths.values()]
        levels = [level for level in zip(*rows, strict=True) if len(set(level)) > 1]
        choices = [(level,) for level in levels if _are_different(level)] + [tuple(levels)]
        words = [_in_words([*filter(any, parts)]) for parts in zip(*choices[0], strict=True)]
        additions = dict.fromkeys(nodes, "")
        for node, word in zip(nodes, words, strict=False):
            additions[node] = f" in {word}" if word else ""
        alike: dict[str, list[int]] = {}
        for node, addition in additions.items():
            alike.setdefault(addition, []).append(node)
        if len(alike) == 1:  # all of one iteration: there is no need to say which
            additions = dict.fromkeys(nodes, "")
        for group in alike.values():
            if len(group) > 1:
                lines = {node: self._line(node) for node in group}
                is_line = _are_different(lines.values()) and "" not in lines.values()
                for k, node in enumerate(group):
                    additions[node] += lines[node] if is_line else f" ({ordinal(k + 1)})"
        return additions

    def _path(self, node: int) -> list[tuple[str, str]]:
        """Return the iterations, each with its loop, and calls around a node, innermost first."""
        record = self._nodes[node]
        # A .grad that the code reads is of the iteration in which it is read.
        is_read = record["kind"] == "leaf" and record["where"] is None
        path = list[tuple[str, str]]()
        at = self._reader_scopes.get(node, 0) if is_read else record["scope"]
        while (scope := self._scopes[at])["parent"] is not None:
            if scope["kind"] == "iteration":
                path.append((f"iteration {scope['index'] + 1}", str(scope["name"])))
            elif scope["kind"] == "test":
                path.append(("the last test", str(scope["name"])))
            elif scope["kind"] != "loop":
                path.append((self.calls.get(at, str(scope["name"])), ""))
            at = scope["parent"]
        return path

    @cached_property
    def _reader_scopes(self) -> dict[int, int]:
        """Return the scope of the first op that reads a node."""
        scopes: dict[int, int] = {}
        for record in self._nodes:
            for source in record["inputs"]:
                if "node" in source:
                    scopes.setdefault(source["node"], record["scope"])
        return scopes

    def _line(self, node: int) -> str:
        where = self._nodes[node]["where"]
        if where is None:
            return ""
        return f" on line {where[1] - 1 + int(self._sources[where[0]].get('first_line', 1))}"


def _in_words(parts: Sequence[tuple[str, str]]) -> str:
    """Return what tells a node apart; of two iterations, each with its loop.

    Examples
    --------
    >>> _in_words([("call 2 of f", ""), ("iteration 3", "for i in xs")])
    'call 2 of f of iteration 3'
    >>> _in_words([("iteration 2", "for j in range(3)"), ("iteration 1", "while h < 5")])
    'iteration 2 for j, iteration 1 while h < 5'
    """
    if sum(loop != "" for _, loop in parts) < 2:
        return " of ".join(words for words, _ in parts)
    return ", ".join(f"{words} {loop.partition(' in ')[0]}".strip() for words, loop in parts)


def _are_different(texts: Collection[object]) -> bool:
    return len(set(texts)) == len(texts)
