"""Close the ways by which code looks at its caller: a driver beside the learner's code is hidden.

After reading this file you can say what a learner's function finds of the driver that calls it:
nothing. Its own frames, functions and tracebacks are as ever, but with no variables in them, and
the stack begins with them: no name, no line and no code tells one driver from another. And no
module that the driver uses could have been changed by the learner's code. It is for processes of a
learner's code only.
What ``ctypes`` or a forged array's address can do to raw memory, no Python can keep from being
done: the answers themselves are never in that process. Read next: ``child.py``.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import types
from typing import Any

from autodiff_kit.grading.messages import Space

__all__ = ["anonymous", "hide_callers", "refuse_spies", "without_changes"]

# Audit events of what looks at, or changes, code that is not one's own.
_SPIES = frozenset(
    {
        *("gc.get_objects", "gc.get_referrers", "gc.get_referents"),
        *("sys._current_frames", "sys._current_exceptions"),
        *("sys.settrace", "sys.setprofile", "sys.monitoring.register_callback"),
        *("ctypes.PyObj_FromPtr", "ctypes.cdata", "ctypes.string_at", "ctypes.wstring_at"),
        "sys.addaudithook",
    }
)
# Files of code that calls the learner's: the check's, the exercise's and the grader's own.
DRIVER, GIVEN = "<driver>", "<given>"
_FOLDER = os.path.dirname(__file__)
_NO_CODE = compile("", "<grader>", "exec")
_EMPTY = property(lambda self: {})
_HIDDEN: dict[type, dict[str, property]] = {
    types.FrameType: dict.fromkeys(("f_locals", "f_globals", "f_builtins"), _EMPTY),
    types.FunctionType: {
        **dict.fromkeys(("__globals__", "__builtins__"), _EMPTY),
        "__closure__": property(lambda self: None),
    },
}


def without_changes(*own: Space) -> dict[str, types.ModuleType]:
    """Return copies of all modules as they are now, and put them into the namespaces ``own``.

    Replacing a function in a module afterwards changes it for the learner's code alone.
    """
    now = {name: module for name, module in sys.modules.items() if name and module is not None}
    copies = {name: types.ModuleType(name) for name in now}
    of = {id(module): copies[name] for name, module in now.items()}
    for name, module in now.items():
        vars(copies[name]).update(vars(module))
    for space in (*map(vars, copies.values()), *own):
        space.update({n: of[id(v)] for n, v in space.items() if id(v) in of})
    return copies


def anonymous(code: types.CodeType) -> types.CodeType:
    """Return code that runs as before, without the names and lines by which it is recognised."""
    parts = [anonymous(c) if isinstance(c, types.CodeType) else c for c in code.co_consts]
    return code.replace(
        co_consts=tuple(parts),
        co_name="drive",
        co_qualname="drive",
        co_firstlineno=1,
        co_linetable=b"",
    )


def _is_caller(code: types.CodeType) -> bool:
    """Tell whether code is none of the learner's, and no library's either."""
    file = code.co_filename
    return file in (DRIVER, GIVEN) or file.startswith(_FOLDER)


def hide_callers() -> None:
    """Take the variables out of all frames and functions, and the callers' frames out of sight.

    For this whole process, and for good.
    """
    import ctypes

    code_of, back_of = (vars(types.FrameType)[name].__get__ for name in ("f_code", "f_back"))
    _HIDDEN[types.FrameType] |= {
        "f_code": property(lambda self: _NO_CODE if _is_caller(code_of(self)) else code_of(self)),
        "f_back": property(lambda self: _learners(back_of(self))),
    }

    def _learners(frame: types.FrameType | None) -> types.FrameType | None:
        return None if frame is None or _is_caller(code_of(frame)) else frame

    for kind, names in _HIDDEN.items():
        (attributes,) = (d for d in gc.get_referents(vars(kind)) if isinstance(d, dict))
        attributes.update({name: value for name, value in names.items() if name in attributes})
        with contextlib.suppress(AttributeError):
            ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


def refuse_spies() -> None:
    """Let every function raise that lists a process's objects and frames, or exchanges code."""
    spies, no_code = _SPIES, _NO_CODE

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        of_python = event == "ctypes.dlsym" and str(arguments[1]).startswith(("Py", "_Py"))
        if event in spies or of_python:
            raise PermissionError(f"{event} is not available here.")
        if event == "sys._getframe" and arguments[0].f_code is no_code:
            raise ValueError("call stack is not deep enough")
        if event == "object.__setattr__" and arguments[1] in ("__code__", "__class__"):
            raise PermissionError("No function's code and no object's class can be changed here.")

    sys.addaudithook(hook)
