"""What a recording holds of each contribution, and the same rule worked out with other inputs.

After reading you can say what an expression is compared with: what was recorded; and, so that
formulas are told apart that agree by chance, what the rule gives where the names in the expression
stand for other numbers. What the learner has written as a number stays the number that it is. Read
next: ``mistakes.py``.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np

from autodiff_kit.record.events import RecordingData, Value
from autodiff_kit.view.names import Names
from autodiff_kit.view.perform.formulas import UnknownFormula, unbroadcast, worked_out
from autodiff_kit.view.perform.judging import is_close
from autodiff_kit.view.perform.script import Tensor
from autodiff_kit.view.rule_words import decisions
from autodiff_kit.view.rules import decided

__all__ = ["LARGEST", "Point", "Replay", "array_of", "is_whole", "tensor"]

LARGEST = 12  # elements of a value that is asked for
MOST_VARIED = 3  # names of a rule that stand for other numbers

Point = dict[str, Any]  # what a rule reads, by its own names: "g", "x", "out"


def is_whole(value: Value | None) -> bool:
    """Tell whether a recording holds all elements of a value, and each is a finite number."""
    if value is None or not value["dtype"] or len(value["data"]) != math.prod(value["shape"]):
        return False
    return all(not isinstance(x, str) and math.isfinite(x) for x in value["data"])


def array_of(value: Value) -> Any:
    """Return a recorded value as an array."""
    return np.array(value["data"], dtype=float).reshape(value["shape"])


def tensor(array: Any) -> Tensor:
    """Return an array as plain data, with as many digits as tell it apart."""
    array = np.asarray(array, dtype=float)
    return {"shape": list(array.shape), "data": [float(f"{x:.9g}") for x in array.ravel()]}


class Replay:
    """The numbers of a recording, and its rules.

    Attributes
    ----------
    values : dict from int to array
        The value of each node when it was made.
    sent : dict from int to (before, after)
        By the place of its event, what a rule gives and what is passed on.
    gradients : dict from (pass, node) to array
        The gradient flowing into a node.
    """

    def __init__(self, recording: RecordingData, names: Names) -> None:
        self.recording, self.names = recording, names
        self.nodes, self.ops = recording["nodes"], recording["ops"]
        self.values = {
            node["id"]: array_of(node["value"]) for node in self.nodes if is_whole(node["value"])
        }
        self.sent: dict[int, tuple[Any, Any]] = {}
        self.gradients: dict[tuple[int, int], Any] = {}
        number = -1
        for at, event in enumerate(recording["events"]):
            if event["kind"] == "backward":
                number += 1
            elif event["kind"] == "visit" and is_whole(event["g"]):
                self.gradients[number, event["node"]] = array_of(event["g"])
            elif event["kind"] == "contribution" and is_whole(event["after"]):
                after, before = array_of(event["after"]), event["before"]
                own = array_of(before) if before and is_whole(before) else after
                self.sent[at] = own, after

    def recorded(self, number: int, node: int) -> Point:
        """Return what the rules of a node read in a pass.

        Raises
        ------
        UnknownFormula
            If the recording does not hold all of it.
        """
        record, g = self.nodes[node], self.gradients.get((number, node))
        if g is None:
            raise UnknownFormula("no gradient")
        point: Point = {"g": g, "out": self.values.get(node)}
        for source in record["inputs"]:
            if "node" in source:
                value, _ = self.names.operand_then(node, source["node"])
                if not is_whole(value):
                    raise UnknownFormula("an input is not known")
                point[source["arg"]] = array_of(value)
            elif "value" in source:
                point[source["arg"]] = source["value"]
        return point

    def rule(self, node: int, arg: str, point: Point) -> Any:
        """Return what the rule of an argument gives, before broadcasting is undone.

        Raises
        ------
        UnknownFormula
            If it is not worked out here.
        """
        record = self.nodes[node]
        rule = self.ops[str(record["op"])]["rules"].get(arg.split("[")[0])
        if rule is None:
            raise UnknownFormula("no rule")
        names: Point = {**record["params"], **point}
        for source in record["inputs"]:
            value = point[source["arg"]]
            names[f"{source['arg']}_shape"] = np.shape(value)
            names[f"{source['arg']}_strides"] = None
        text = decided(rule["text"], decisions(record))
        return np.asarray(worked_out(text, names), dtype=float)

    def points(self, number: int, node: int, arg: str, after: Any) -> list[tuple[set[str], Point]]:
        """Return where a contribution is compared: as recorded, and with names that vary.

        Each comes with the learner's names that stand for other numbers there. There is only the
        recorded point if the rule, as it is worked out here, does not give what was recorded.
        """
        try:
            recorded = self.recorded(number, node)
            is_known = is_close(unbroadcast(self.rule(node, arg, recorded), after.shape), after)
        except UnknownFormula:
            return []
        if not is_known:
            return []
        points = [(set[str](), recorded)]
        places = self._places(node, arg)
        if len(places) > MOST_VARIED:
            return points
        for count in range(1, len(places) + 1):
            for varied in combinations(sorted(places), count):
                point = dict(recorded)
                for name in varied:
                    other = _other(recorded[places[name][0]], f"{node} {name} {varied}")
                    point |= dict.fromkeys(places[name], other)
                points.append((set(varied), point))
        return points

    def _places(self, node: int, arg: str) -> dict[str, list[str]]:
        """Return, by the learner's names, what they are called in a rule."""
        record = self.nodes[node]
        places: dict[str, list[str]] = {}
        for source in record["inputs"]:
            if "node" in source and (name := self.names.name(source["node"])).isidentifier():
                places.setdefault(name, []).append(source["arg"])
        rule = self.ops[str(record["op"])]["rules"].get(arg.split("[")[0])
        if rule and "out" in rule["reads"] and self.names.name(node).isidentifier():
            places[self.names.name(node)] = ["out"]
        places.setdefault("g", ["g"])
        return places


def _other(value: Any, seed: str) -> Any:
    """Return other numbers of the same signs and about the same size."""
    draw = np.random.default_rng([ord(character) for character in seed])
    shape = np.shape(value)
    return value * draw.uniform(0.7, 1.4, shape) + draw.uniform(0.05, 0.2, shape)
