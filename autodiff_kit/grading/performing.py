"""Judge a performance: what a learner answered as the engine, about a graph drawn for them.

After reading this file you can say what an exercise of ``kind = "perform"`` is made of: a program
that is drawn by a number, questions about its graph, and checks that each have some of them. What
is handed in is that number and the answers, never the graph: it is made again here, outside of the
learner's process. In an exercise's own solution and mistakes a function answers instead, one
question after the other, so that they can be tried on many graphs. Read next: ``template.py``.
"""

from __future__ import annotations

import ast
import hashlib
import json
import linecache
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

import autodiff_kit
from autodiff_kit.grading.checks import Check, Performed, Program
from autodiff_kit.grading.messages import Space
from autodiff_kit.record import record
from autodiff_kit.record.recording import Recording
from autodiff_kit.view.perform import Script, Task, Walk
from autodiff_kit.view.perform.context import Context, picture_to_perform
from autodiff_kit.view.perform.making import script_of
from autodiff_kit.view.scene import Picture

__all__ = [
    *("DRAWS", "code_with", "define", "graph_of", "performed", "recording_of", "source_of"),
    "without_names",
]

DRAWS = 2**53  # numbers that a graph is drawn by: whole in any language
MOST_ANSWERS = 200
MOST_TEXT = 200  # characters of an answer
MOST_TOLD = 3  # wrong answers that are told
ENOUGH = 2  # of the contributions, one in so many is right, or a check gives no points

_DRIVER = '''
def drive(step, data):
    """Let the learner's function answer; what was performed by hand answers all at once."""
    answers = []
    while (question := ask(answers)) is not None:
        answer = step.performance(question)
        if isinstance(answer, dict):
            return answer
        answers.append(answer)
    return answers
'''


def performed(
    program: Program,
    *,
    name: str,
    step: str,
    points: float,
    concept: str,
    about: Sequence[str],
    example: str,
    caption: str,
    only: str | Sequence[str] = "backward",
) -> Check:
    """Make a check of an exercise of ``kind = "perform"``.

    Its points are given if all questions that it is about are answered rightly, and half of
    the contributions of all nodes: an order without any number is soon copied.

    Parameters
    ----------
    program : callable (numpy Generator) -> str
        Draws the program. It ends in a backward pass.
    name, step, points, concept
        As in :class:`Check`.
    about : sequence of str
        Which questions: ``"next"``, ``"value"``, ``"sum"`` and others.
    example : str
        A program that learners may see with its answers.
    caption : str
        That program in words.
    only : str or sequence of str
        Parts of the performance.

    Returns
    -------
    Check
    """
    parts = (only,) if isinstance(only, str) else tuple(only)
    own = Performed(program, parts, tuple(about))

    def source(data: Any, value: Any) -> str:
        if not isinstance(value, dict):
            return str(data["source"])
        draw = value.get("draw")
        if type(draw) is not int or not 0 <= draw < DRAWS:  # True is no number here
            raise ValueError("no number of a graph")
        return source_of(program, draw)

    def compare(data: Any, value: Any, expected: Any) -> bool:
        notes = _notes(source(data, value), parts, _key(value))
        values = [note.is_right for note in notes if note.about == "value"]
        own_notes = [note.is_right for note in notes if note.about in own.about]
        is_enough = ENOUGH * sum(values) >= len(values)
        return is_enough and bool(own_notes) and all(own_notes)

    def diagnose(data: Any, value: Any, expected: Any) -> str:
        notes = _notes(source(data, value), parts, _key(value))
        wrong = (n for n in notes if n.about in own.about and not n.is_right)
        return next((n.mistakes[0] for n in wrong if len(n.mistakes) == 1), "")

    def explain(data: Any, value: Any) -> str:
        notes = _notes(source(data, value), parts, _key(value))
        wrong = [note for note in notes if note.about in own.about and not note.is_right]
        lines = [f"{note.number}. {note.prompt} {note.answered}" for note in wrong[:MOST_TOLD]]
        more = len(wrong) - len(lines)
        lines += [f"And {more} more that ask for the same."] * (more > 0)
        if not wrong:
            lines = [
                "Fewer than half of the contributions are right: then nothing else earns points."
            ]
        return "\n".join(lines)

    return Check(
        name=name,
        step=step,
        points=points,
        concept=concept,
        example={"source": example},
        caption=caption,
        generate=lambda rng: {"source": program(rng)},
        driver=_DRIVER,
        cases=1,
        compare=compare,
        slow=True,
        diagnose=diagnose,
        many=True,
        explain=explain,
        public=lambda data: None,
        reply=lambda data, answers: _question(data["source"], parts, answers),
        performed=own,
    )


def source_of(program: Program, draw: int) -> str:
    """Return the program that a number draws."""
    return program(np.random.default_rng(draw))


def graph_of(program: Program, values: Sequence[Any]) -> str | None:
    """Return what tells the graph that was performed from others, by all answers of a hand-in.

    Other numbers may draw the same program, or one that differs in its names only, to which the
    same answers are right: what counts is the program without its names.

    Parameters
    ----------
    program : callable (numpy Generator) -> str
    values : sequence
        What was answered to each check and input: a performance, or a function's answers.

    Returns
    -------
    str or None - "" for a function's answers; None if they are not all of one performance.
    """
    draws = [value.get("draw") if isinstance(value, dict) else None for value in values]
    if all(draw is None for draw in draws):
        return ""
    first = draws[0]
    is_one = all(type(draw) is int and draw == first for draw in draws)
    if not is_one or type(first) is not int or not 0 <= first < DRAWS:
        return None
    return hashlib.sha256(without_names(source_of(program, first)).encode()).hexdigest()[:16]


def without_names(source: str) -> str:
    """Return a program with its variables numbered in the order of their first use."""
    tree = ast.parse(source)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    variables = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    numbers: dict[str, int] = {}
    for node in sorted(names, key=lambda node: (node.lineno, node.col_offset)):
        if node.id in variables:
            node.id = f"v{numbers.setdefault(node.id, len(numbers))}"
    return ast.unparse(tree)


@lru_cache(maxsize=64)
def recording_of(source: str) -> Recording:
    """Run a program of an exercise, and return what was recorded."""
    source = f"{source.strip()}\n"
    name = "<program>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    try:
        with record() as recording:
            exec(compile(source, name, "exec"), {"torch": autodiff_kit})
    finally:
        del linecache.cache[name]  # the next one has other lines under this name
    return recording


@lru_cache(maxsize=64)
def _picture(source: str) -> Picture:
    return picture_to_perform(recording_of(source))


@lru_cache(maxsize=64)
def _script(source: str, only: tuple[str, ...]) -> Script:
    return script_of(Context(recording_of(source), picture=_picture(source)), only)


def code_with(draw: int, answers: Sequence[Any]) -> str:
    """Return the code that hands in a performance."""
    rows = "".join(f"            {json.dumps(answer)},\n" for answer in answers)
    return (
        "# What you answered, and the number that your graph was drawn by.\n"
        "def performance(question):\n"
        "    return {\n"
        f'        "draw": {draw},\n'
        f'        "answers": [\n{rows}        ],\n'
        "    }\n"
    )


def define(code: str, name: str, space: Space) -> None:
    """Run the code that hands in a performance in a notebook, where `check` finds its source."""
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    exec(compile(code, name, "exec"), space)


# -- judging -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Note:
    """What came of one question."""

    number: int
    about: str
    prompt: str
    answered: str
    is_right: bool
    mistakes: tuple[str, ...]


def _key(value: Any) -> tuple[Any, ...]:
    """Return the answers in a form of which equal ones are equal."""
    answers = value.get("answers") if isinstance(value, dict) else value
    if not isinstance(answers, list | tuple) or len(answers) > MOST_ANSWERS:
        raise ValueError("no list of answers")
    return tuple(_response(answer) for answer in answers)


def _response(answer: Any) -> Any:
    if isinstance(answer, list | tuple):
        return tuple(str(part)[:MOST_TEXT] for part in answer[:MOST_ANSWERS])
    text = answer if isinstance(answer, str) else str(answer) if _is_number(answer) else ""
    return text[:MOST_TEXT]


def _is_number(answer: Any) -> bool:
    return isinstance(answer, float) or (isinstance(answer, int) and abs(answer) < DRAWS)


@lru_cache(maxsize=256)
def _notes(source: str, only: tuple[str, ...], answers: tuple[Any, ...]) -> list[_Note]:
    """Return what came of each question; one that was not answered, or not legibly, is wrong."""
    walk = Walk(_script(source, only), is_exam=True)
    notes: list[_Note] = []
    names = {row["id"]: f"`{row['name']}`" for row in _facts(source)[0]}
    rest = iter(answers)
    while walk.task is not None:
        task, record = walk.task, walk.records[-1]
        answer = next(rest, None)
        if answer is None:
            walk.show()
        else:
            _answer(walk, answer)
        texts = {option["value"]: option["text"] for option in task["options"]} | names
        given = [answer] if isinstance(answer, str) else answer or ()
        parts = [part for part in given if part]
        answered = "Not answered."
        if parts and task["kind"] == "value":
            answered = f"You answered `{parts[0]}`."
        elif parts:
            words = ", ".join(texts.get(part, f"`{part}`") for part in parts)
            answered = f"You answered {words}."
        mistakes = tuple(name for names in record.named for name in names)
        about, prompt, number = task["about"], task["prompt"], len(notes) + 1
        notes.append(_Note(number, about, prompt, answered, record.at_once, mistakes))
    return notes


def _answer(walk: Walk, answer: Any) -> None:
    """Answer a question; one that cannot be read counts as wrong."""
    if walk.task is None:
        return
    response = [*answer] if isinstance(answer, tuple) else answer
    if walk.answer(response).outcome == "unclear":
        walk.show()


# -- questions to a function -------------------------------------------------------------------

_walks: dict[tuple[str, tuple[str, ...]], tuple[tuple[Any, ...], Walk]] = {}


def _question(source: str, only: tuple[str, ...], given: Any) -> Any:
    """Return the question after some answers, with what is known of the graph; None at the end."""
    answers = _key(given)
    before, walk = _walks.get((source, only), ((), None))
    if walk is None or not answers or before != answers[:-1]:
        walk = Walk(_script(source, only), is_exam=True)
        for answer in answers[:-1]:
            _answer(walk, answer)
    if answers:
        _answer(walk, answers[-1])
    if len(_walks) > 64:
        _walks.clear()
    _walks[source, only] = answers, walk
    return None if walk.task is None else _asked(walk, source, walk.task)


def _asked(walk: Walk, source: str, task: Task) -> Any:
    nodes, edges = _facts(source)
    arrived: list[dict[str, list[Any]]] = []
    for sends in walk.passes:
        arrived.append({})
        for sent in sends:
            arrived[-1].setdefault(sent["to"], []).append(_sent(walk, sent["tasks"]))
    to, place = edges.get(task["edge"] or "", ("", 0))
    return {
        "about": task["about"],
        "prompt": task["prompt"],
        "options": [option["value"] for option in task["options"]],
        "node": task["node"] or "",
        "to": to,
        "place": place,
        "nodes": nodes,
        "arrived": arrived,
        "visited": sorted(walk.visited, key=int),
        "complete": walk.complete,
        "root": walk.plan["roots"][0] if walk.plan else "",
    }


def _sent(walk: Walk, tasks: Sequence[str]) -> Any:
    """Return a contribution: what was asked for last of it."""
    value = walk.script["tasks"][tasks[-1]]["answers"][0]["at"][0]
    return np.array(value["data"]).reshape(value["shape"]).tolist()


@lru_cache(maxsize=64)
def _facts(source: str) -> tuple[list[Any], dict[str, tuple[str, int]]]:
    """Return the nodes of the graph, and by arrow where it leads to."""
    data, outline = recording_of(source).to_dict(), _picture(source).outline
    box = {node["id"]: outline.box_of[node["id"]].id for node in data["nodes"]}
    nodes = [
        {
            "id": box[node["id"]],
            "name": node.get("variable") or node["name"],
            "op": node["op"] if node["kind"] == "op" else "leaf",
            "inputs": [box[s["node"]] for s in node["inputs"] if "node" in s],
            "value": np.array(node["value"]["data"]).reshape(node["value"]["shape"]).tolist(),
            "grad": bool(node["grad_fn"] if node["kind"] == "op" else node["requires_grad"]),
        }
        for node in data["nodes"]
    ]
    edges = {edge.id: (edge.source, place) for (_, place), edge in outline.edge_at.items()}
    return nodes, edges
