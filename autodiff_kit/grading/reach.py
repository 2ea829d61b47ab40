"""Find out which part of a code a question can reach, so that the rest may differ.

After reading this file you can say why the slow checks of an exercise are not asked again of each
known mistake: where all that a driver can reach is the same text, the answers are the same. Read
next: ``answers.py``.
"""

from __future__ import annotations

import ast
from functools import lru_cache

__all__ = ["reach"]

# With these, code reads names that do not stand in it.
_ANY_NAME = {"__builtins__", "__dict__", "__globals__", "eval", "exec", "globals", "inspect"} | {
    "import_module",
    "locals",
    "sys",
    "vars",
}


@lru_cache(maxsize=1024)
def reach(code: str, driver: str) -> str:
    """Return the statements of a code that can have to do with what a driver asks of it.

    Left out are functions alone, and only those whose name stands neither in the driver nor in what
    is returned: of two codes with the same text here, the driver gets the same answers.

    Parameters
    ----------
    code, driver : str
        Sources.

    Returns
    -------
    str
    """
    parts = _statements(code)
    names = set[str]().union(*(mentions for _, _, mentions in _statements(driver)))
    names.update(*(mentions for _, function, mentions in parts if not function))
    count = -1
    while len(names) > count:
        count = len(names)
        names.update(*(mentions for _, function, mentions in parts if function in names))
    if names & _ANY_NAME:
        return code
    return "\n".join(text for text, function, _ in parts if not function or function in names)


def _statements(code: str) -> list[tuple[str, str, frozenset[str]]]:
    """Return of each statement its text, its name if it is a function, and the names in it."""
    lines = code.splitlines()
    return [
        _read("\n".join(lines[_first_line(part) - 1 : part.end_lineno]))
        for part in ast.parse(code).body
    ]


def _first_line(statement: ast.stmt) -> int:
    decorators = getattr(statement, "decorator_list", [])
    return min(part.lineno for part in (statement, *decorators))


@lru_cache(maxsize=1024)
def _read(text: str) -> tuple[str, str, frozenset[str]]:
    statements = ast.parse(text).body
    function = ""
    if len(statements) == 1:  # and no other on its line
        (one,) = statements
        # What is decorated may be used where its name does not stand.
        if isinstance(one, ast.FunctionDef) and not one.decorator_list:
            function = one.name
    nodes = (node for statement in statements for node in ast.walk(statement))
    return text, function, frozenset(word for node in nodes for word in _words(node))


def _words(node: ast.AST) -> tuple[str, ...]:
    """Return the names in a node of a syntax tree, and texts that may be names."""
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Attribute):
        return (node.attr,)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return (node.value,)
    if isinstance(node, ast.alias):
        return tuple(node.name.split("."))
    return ()
