"""Find out which part of a code a question can reach, so that the rest may differ.

After reading this file you can say why not all checks of an exercise are asked again of each known
mistake: where all that a driver can reach is the same text, the answers are the same. Read next:
``answers.py``.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from types import CodeType
from typing import NamedTuple

__all__ = ["compiled", "reach"]

# With these, code reads names that do not stand in it.
_ANY_NAME = {"__builtins__", "__dict__", "__globals__", "eval", "exec", "globals", "inspect"} | {
    "getattr",
    "import_module",
    "locals",
    "sys",
    "vars",
}


class _Part(NamedTuple):
    """A statement: its text, its name if it only gives a function one, and the names in it.

    Of ``globals()[f"{op}_rule"]``, an ending is in it: ``*_rule`` mentions every name that ends so.
    """

    text: str
    function: str
    mentions: frozenset[str]


@lru_cache(maxsize=1024)
def reach(code: str, driver: str) -> str:
    """Return the statements of a code that can have to do with what a driver asks of it.

    Left out are functions alone, and methods that get theirs alone (``Node.rule = rule``), and only
    those whose name stands neither in the driver nor in what is returned, or that are defined again
    before anything is run: of two codes with the same text here, the driver gets the same answers.

    Parameters
    ----------
    code, driver : str
        Sources.

    Returns
    -------
    str
    """
    parts = _last_definitions(code)
    names = set[str]().union(*(_read(text).mentions for text in _statements(driver)))
    names.update(*(mentions for _, function, mentions in parts if not function))
    count = -1
    while len(names) > count:
        count = len(names)
        endings = _endings(names)
        names.update(
            *(mentions for _, function, mentions in parts if _is_among(function, names, endings))
        )
    if names & _ANY_NAME:
        return code
    return "\n".join(
        text for text, function, _ in parts if not function or _is_among(function, names, endings)
    )


def _endings(names: set[str]) -> tuple[str, ...]:
    return tuple(name[1:] for name in names if name.startswith("*"))


def _is_among(function: str, names: set[str], endings: tuple[str, ...]) -> bool:
    return function in names or bool(function and endings and function.endswith(endings))


@lru_cache(maxsize=1024)
def compiled(code: str) -> list[CodeType]:
    """Return a code as parts to be run in their order; one that was compiled before, is not again.

    Raises
    ------
    SyntaxError
    """
    if "__future__" in code:  # it is for all that follows
        return [compile(code, "<trusted>", "exec")]
    return [_compiled(text) for text in _statements(code)]


@lru_cache(maxsize=4096)
def _compiled(text: str) -> CodeType:
    return compile(text, "<trusted>", "exec")


@lru_cache(maxsize=256)
def _last_definitions(code: str) -> list[_Part]:
    """Put a function that is defined again in the place of the one before, if none runs between."""
    last: list[_Part] = []
    places: dict[str, int] = {}
    for part in map(_read, _statements(code)):
        if not part.function or not part.text.startswith("def "):
            places = {}
        elif part.function in places:
            last[places[part.function]] = part
            continue
        else:
            places[part.function] = len(last)
        last.append(part)
    return last


# Where a statement may begin: at a line that is not indented, closes nothing, and goes on with
# none before it.
_BEGINS = re.compile(r"(?m)^(?=[^\W\d]|@)(?!(?:elif|else|except|finally)\b)")


@lru_cache(maxsize=256)
def _statements(code: str) -> list[str]:
    """Return the texts of the statements of a code."""
    texts: list[str] = []
    decorators = ""
    for text in _BEGINS.split(code.strip("\n")):
        if text.startswith("@"):
            decorators += text
            continue
        if text.strip():
            texts.append(decorators + text)
            decorators = ""
    texts += [decorators] * bool(decorators)
    try:
        for text in texts:  # a line within brackets, or within a text, may look like a beginning
            _read(text)
    except SyntaxError:
        lines = code.splitlines()
        return [
            "\n".join(lines[_first_line(part) - 1 : part.end_lineno])
            for part in ast.parse(code).body
        ]
    return texts


def _first_line(statement: ast.stmt) -> int:
    decorators = getattr(statement, "decorator_list", [])
    return min(part.lineno for part in (statement, *decorators))


@lru_cache(maxsize=4096)
def _read(text: str) -> _Part:
    statements = ast.parse(text).body
    function = ""
    if len(statements) == 1:  # and no other on its line
        (one,) = statements
        if isinstance(one, ast.FunctionDef) and _is_only_defined(one):
            function = one.name
            text = ast.unparse(one)  # without comments
        function = function or _method(one)
    nodes = [node for statement in statements for node in ast.walk(statement)]
    endings = {ending for node in nodes if (ending := _ending(node))}
    harmless = {id(name) for node in nodes if (name := _harmless(node))}
    mentions = {word for node in nodes if id(node) not in harmless for word in _words(node)}
    return _Part(text, function, frozenset(mentions | endings))


def _method(statement: ast.stmt) -> str:
    """Return the name of a method that a statement alone gives a class: `Node.rule = rule`."""
    match statement:
        case ast.Assign([ast.Attribute(ast.Name(), name)], ast.Name()):
            return "" if name.startswith("__") else name  # Python calls those without their name
    return ""


def _ending(node: ast.AST) -> str:
    """Return `*_rule` of `globals()[f"{op}_rule"]`: what it can read ends so."""
    match node:
        case ast.Subscript(
            ast.Call(ast.Name("globals"), [], []), ast.JoinedStr([*_, ast.Constant(str(ending))])
        ):
            return f"*{ending}"
    return ""


def _harmless(node: ast.AST) -> ast.AST | None:
    """Return a name in a node with which any name could be read, and here is not."""
    match node:
        case ast.Subscript(ast.Call(ast.Name("globals") as name, [], [])) if _ending(node):
            return name
        case ast.Attribute(ast.Name("inspect") as name, "isgeneratorfunction"):
            return name
        case ast.Import([ast.alias("inspect", None) as name]):
            return name
    return None


def _is_only_defined(function: ast.FunctionDef) -> bool:
    """Tell whether nothing else is run, or put anywhere, where a function is defined."""
    if function.decorator_list:  # it may be used where its name does not stand
        return False
    parts = [function.args, *([function.returns] if function.returns else [])]
    return all(
        isinstance(node, ast.arguments | ast.arg | ast.Constant)
        for part in parts
        for node in ast.walk(part)
    )


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
