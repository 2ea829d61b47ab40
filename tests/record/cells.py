"""Cells of a notebook, run and recorded; and short ways to say what a recording holds."""

from __future__ import annotations

import itertools
import linecache
from typing import Any

import autodiff_kit as torch
from autodiff_kit.record import Recording, record

_numbers = itertools.count(1)


def cell(source: str, space: dict[str, Any]) -> None:
    """Run a cell in a namespace, as IPython does: its text is known to ``linecache``."""
    name = f"<cell {next(_numbers)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    exec(compile(source, name, "exec"), space)


def run(*cells: str, **space: Any) -> Recording:
    """Record the last cell; the others run before."""
    space |= {"torch": torch}
    for source in cells[:-1]:
        cell(source, space)
    with record() as rec:
        cell(cells[-1], space)
    return rec


def ops(rec: Recording) -> list[dict[str, Any]]:
    return [node for node in rec.nodes if node["kind"] == "op"]


def texts(rec: Recording) -> list[str]:
    """Return the sub-expressions of the ops."""
    return [node["text"] for node in ops(rec)]


def named(rec: Recording) -> dict[str, str]:
    """Return name -> text (or op) of all nodes that have a name."""
    return {
        node["name"]: node["text"] or str(node["op"])
        for node in rec.nodes
        if node["name"] is not None
    }


def where(rec: Recording, node: dict[str, Any]) -> str:
    """Return what stands in the source at a node's place."""
    source, line, column, end_line, end_column = node["where"]
    lines = rec.sources[source]["text"].splitlines()[line - 1 : end_line]
    lines[-1] = lines[-1][:end_column]
    lines[0] = lines[0][column:]
    return "\n".join(lines)


def path(rec: Recording, node: dict[str, Any]) -> list[str]:
    """Return the scopes around a node, outermost first: ``["for i in r", "0"]``."""
    names: list[str] = []
    scope = rec.scopes[node["scope"]]
    while scope["parent"] is not None:
        name = {"iteration": str(scope["index"]), "test": "test"}.get(scope["kind"], scope["name"])
        names.insert(0, name)
        scope = rec.scopes[scope["parent"]]
    return names


def paths(rec: Recording) -> list[str]:
    """Return ``text: scope / scope`` of all ops."""
    return [" / ".join([node["text"] + ":", *path(rec, node)]) for node in ops(rec)]
