"""Which module an op was made in, where the learner's code calls only the one around it.

After reading you can say why a result inside ``net(x)`` is ``net.0's output``: the text of the call
is what the last op of it makes, and the modules inside are called by no line of the learner's.
Read next: ``names.py``.
"""

from __future__ import annotations

from autodiff_kit.record.events import RecordingData, ScopeRecord

__all__ = ["Modules"]


class Modules:
    """Knows the last op of each call of a module.

    Parameters
    ----------
    recording : dict
        With ``nodes`` and ``scopes``.
    """

    def __init__(self, recording: RecordingData) -> None:
        self._nodes = recording["nodes"]
        self._scopes: dict[int | None, ScopeRecord] = {
            scope["id"]: scope for scope in recording.get("scopes", ())
        }
        self._last: dict[int, int] = {}  # by scope
        for node in self._nodes:
            if node["kind"] == "op" and not node.get("again"):
                scope = self._scopes.get(node["scope"])
                while scope is not None and scope["kind"] == "module":
                    self._last[scope["id"]] = node["id"]
                    scope = self._scopes.get(scope["parent"])

    def is_inside(self, node: int) -> bool:
        """Return whether an op is of a module inside one that the learner called, and not all."""
        called = self._called(node)
        is_named = bool(self._nodes[node]["name"])  # such as the second result of an LSTM
        return len(called) > 1 and not is_named and self._last[called[-1]["id"]] != node

    def output(self, node: int) -> str:
        """Return ``net.0's output`` for the last op of a module inside; "" for others."""
        called = self._called(node)
        is_output = self.is_inside(node) and self._last[called[0]["id"]] == node
        return f"{called[0]['name']}'s output" if is_output else ""

    def layer(self, node: int) -> str:
        """Return ``net.fc1`` for an op that is made in a ``Linear`` itself; "" for others."""
        scope = self._scopes.get(self._nodes[node]["scope"])
        if scope is None or scope["kind"] != "module" or "Linear" not in scope.get("of", ""):
            return ""
        return str(scope["name"])

    def _called(self, node: int) -> list[ScopeRecord]:
        """Return the modules around an op that one expression of the learner's calls."""
        record = self._nodes[node]
        called: list[ScopeRecord] = []
        scope = self._scopes.get(record["scope"])
        is_op = record["kind"] == "op" and not record.get("again")
        while is_op and scope is not None and scope["kind"] == "module":
            if scope["where"] is None or scope["where"] != record["where"]:
                break
            called.append(scope)
            scope = self._scopes.get(scope["parent"])
        return called
