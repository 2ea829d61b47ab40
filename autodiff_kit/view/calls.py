"""Which calls are told by their number: those of a function that is called several times at once.

After reading you can say why a step begins with "Call 2 of f", and that of a function which every
round of a loop calls once does not: there the round has a number. Read next: ``steps.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from autodiff_kit.record.events import ScopeRecord

__all__ = ["numbered_calls"]


def numbered_calls(scopes: Sequence[ScopeRecord]) -> dict[int, str]:
    """Return ``"call 2 of f"`` by scope, for the calls that a round alone does not tell apart.

    Parameters
    ----------
    scopes : list of dict
        The scopes of a recording; each is numbered after the one around it.
    """
    rounds: dict[int, int] = {}  # scope -> the round of a loop that it belongs to, or the root
    several: dict[tuple[int, str], list[int]] = {}
    for scope in scopes:
        number, parent = scope["id"], scope["parent"]
        is_round = parent is None or scope["kind"] == "iteration"
        rounds[number] = number if is_round else rounds[parent or 0]
        if scope["kind"] == "call":
            several.setdefault((rounds[number], scope["name"]), []).append(scope["index"])
    # Two functions may have one name: then two of their calls have one number.
    numbered = {key for key, n in several.items() if 1 < len(n) == len(set(n))}
    calls: dict[int, str] = {}
    for scope in scopes:
        name = scope["name"]
        is_numbered = (rounds[scope["id"]], name) in numbered
        if scope["kind"] == "call" and is_numbered and name != "backward":
            function = "the lambda" if name == "lambda" else name
            calls[scope["id"]] = f"call {scope['index'] + 1} of {function}"
    return calls
