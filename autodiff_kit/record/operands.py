"""What the line that has raised an error was given: tensors, and what stands there instead of them.

After reading this file you know how an error can be explained by the names in the learner's own
line, also where these are arguments of a function or tensors that no recorded operation has used.
No code of the learner's runs for it. Read next: ``view/story_operands.py``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import FrameType, ModuleType
from typing import Any

from autodiff_kit.record.events import OperandRecord
from autodiff_kit.record.names import Find, held_by

__all__ = ["operands_at"]

ITEMS = 16  # of a list; the rest is not noted


def operands_at(text: str, frame: FrameType, kind: type, find: Find) -> list[OperandRecord]:
    """Return what the names in an expression hold.

    Parameters
    ----------
    text : str
        The expression, as it is written.
    frame : frame
        Where it is evaluated.
    kind : type
        The class of the tensors that are recorded.
    find : callable
        Returns the number of a tensor's node.
    """
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return []
    parts = (ast.Name, ast.Attribute, ast.Subscript)
    texts = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, parts)]
    variables = {**frame.f_globals, **frame.f_locals}
    operands: dict[str, OperandRecord] = {}
    for name, value in held_by([t for t in texts if _is_simple(t)], frame)[1].items():
        if value is None and name not in variables and not name.endswith(".grad"):
            continue  # nothing is known of it
        for part, content in _parts(name, value, kind):
            operands[part] = _described(part, content, kind, find)
    return list(operands.values())


def _is_simple(text: str) -> bool:
    """Return whether an expression is made of names, attributes and items alone."""
    parts = (ast.Expression, ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Load)
    return all(isinstance(node, parts) for node in ast.walk(ast.parse(text, mode="eval")))


def _parts(name: str, value: Any, kind: type) -> Iterator[tuple[str, Any]]:
    """Yield a value; of a module its parameters, of a list of tensors its items, too."""
    if isinstance(value, ModuleType):
        return
    yield name, value
    if type(value) in (list, tuple):
        for i, item in enumerate(value[:ITEMS]):
            if isinstance(item, kind):
                yield f"{name}[{i}]", item
    own = {} if isinstance(value, type | kind) else getattr(value, "__dict__", {})
    for key, parameter in own.get("_parameters", {}).items():
        if isinstance(parameter, kind):
            yield f"{name}.{key}", parameter
    for key, module in own.get("_modules", {}).items():
        yield from _parts(f"{name}.{key}", module, kind)


def _described(name: str, value: Any, kind: type, find: Find) -> OperandRecord:
    record = OperandRecord(text=name, type=type(value).__name__)
    if isinstance(value, kind):
        tensor: Any = value
        record["shape"] = [int(n) for n in tensor.shape]
        record["dtype"] = str(tensor.dtype).removeprefix("torch.")
        if (node := find(tensor)) is not None:
            record["node"] = node
    return record
