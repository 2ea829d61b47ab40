"""A performance for points: what a browser gets of it holds no answer.

After reading you can say why nothing can be copied from the state of the lab or from a notebook's
outputs: questions, numbers and expressions of a step are sent when it is its turn, by the process
that keeps the script. Read next: ``puzzles/performing.py``.
"""

from __future__ import annotations

from typing import Any, TypedDict

from autodiff_kit.view.payload import Fields, Frame
from autodiff_kit.view.perform.page import PerformPayload
from autodiff_kit.view.perform.script import NodePlan, Pass, Script, Stage, Task
from autodiff_kit.view.perform.walk import Walk

__all__ = ["Told", "told_of", "withheld"]


class ToldTask(TypedDict):
    """What is told of a question when it is its turn."""

    prompt: str
    hint: str
    names: dict[str, list[Any]]  # that an expression can use, without their values


class Told(TypedDict):
    """What is told in the midst of a performance for points."""

    tasks: dict[str, ToldTask]  # of those that were asked
    fields: dict[str, Fields]  # what boxes show that have all of their contributions
    edges: dict[str, Fields]  # what arrows show that were answered


def withheld(payload: PerformPayload, closing: str) -> PerformPayload:
    """Return what a browser needs to ask, without any answer.

    Parameters
    ----------
    payload : dict
        As ``perform_payload`` returns it.
    closing : str
        What is said when all is answered.
    """
    script = payload["script"]
    bare: Script = {
        **script,
        "tasks": {key: _bare(task) for key, task in script["tasks"].items()},
        "stages": [_stage(stage) for stage in script["stages"]],
        "lessons": {},
        "closing": closing,
    }
    frames = [one if one["phase"] == "forward" else _nothing() for one in payload["frames"]]
    return {**payload, "script": bare, "frames": frames, "places": []}


def _nothing() -> Frame:
    """Return a step of a backward pass that says neither where it is nor what comes of it."""
    return {
        "phase": "backward",
        "kind": "finish",
        "node": None,
        "edge": None,
        "where": None,
        "caption": "",
        "set": {},
    }


def _bare(task: Task) -> Task:
    return {
        "id": task["id"],
        "part": task["part"],
        "about": task["about"],
        "kind": task["kind"],
        "node": task["node"],
        "edge": task["edge"],
        "where": task["where"],
        "options": [] if task["kind"] == "value" else task["options"],
        "names": {},
        "varied": [],
        "answers": [],
        "slips": [],
        "prompt": "",
        "hint": "",
        "otherwise": "",
        "right": "",
        "reveal": "",
        "withheld": True,
    }


def _stage(stage: Stage) -> Stage:
    if "pass" not in stage:
        return stage
    plan = stage["pass"]
    nodes = {box: _node(node) for box, node in plan["nodes"].items()}
    bare: Pass = {**plan, "nodes": nodes, "closed": {}}
    return {**stage, "pass": bare}


def _node(plan: NodePlan) -> NodePlan:
    sends = plan["sends"]
    return {
        **plan,
        "sends": [{**send, "fields": {}} for send in sends],
        "gradient": "",
        "fields": {},
        "smaller": _bare(plan["smaller"]),
    }


def told_of(walk: Walk) -> Told:
    """Return what a learner sees who has come so far."""
    task, tasks = walk.task, walk.script["tasks"]
    questions = [tasks[record.task] for record in walk.records if record.task in tasks]
    answer: Told = {"tasks": {}, "fields": {}, "edges": {}}
    for one in questions:
        names: dict[str, list[Any]] = {name: [] for name in one["names"]}
        answer["tasks"][one["id"]] = {"prompt": one["prompt"], "hint": one["hint"], "names": names}
    if walk.plan is None:  # afterwards: what arrived along each arrow can be read off
        for send in (send for sends in walk.passes for send in sends):
            if send["edge"]:
                answer["edges"][send["edge"]] = send["fields"]
        plans = [stage["pass"] for stage in walk.script["stages"] if "pass" in stage]
        if len(plans) == len(walk.passes) > 0:
            open_boxes = _open_leaves(walk)
            nodes = [(box, one) for plan in plans for box, one in plan["nodes"].items()]
            answer["fields"] = {box: one["fields"] for box, one in nodes if box not in open_boxes}
        return answer
    is_open = task is not None and task["about"] in ("sum", "grad")
    for box in walk.complete:
        if not (is_open and task is not None and task["node"] == box):
            answer["fields"][box] = walk.plan["nodes"][box]["fields"]
    for send in walk.passes[-1]:
        if send["edge"]:
            answer["edges"][send["edge"]] = send["fields"]
    return answer


def _open_leaves(walk: Walk) -> set[str | None]:
    """Return the boxes whose .grad is asked for now or later."""
    done = [record.task for record in walk.records]
    if walk.task is not None:
        done = done[:-1]
    tasks = walk.script["tasks"].items()
    return {task["node"] for key, task in tasks if task["about"] == "leaf" and key not in done}
