"""Close the ways by which code looks at its caller: a driver beside the learner's code is hidden.

After reading this file you can say what a learner's function finds of the driver that calls it:
frames, functions and tracebacks as ever, but no variables in them; and no module that the driver
uses and the learner's code could have changed. It is for processes of a learner's code only.
What ``ctypes`` or a forged array's address can do to raw memory, no Python can keep from being
done: the answers themselves are never in that process. Read next: ``child.py``.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import types
from typing import Any

__all__ = ["hide_variables", "refuse_spies", "without_changes"]

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
_EMPTY = property(lambda self: {})
_HIDDEN: dict[type, dict[str, property]] = {
    types.FrameType: dict.fromkeys(("f_locals", "f_globals", "f_builtins"), _EMPTY),
    types.FunctionType: {
        **dict.fromkeys(("__globals__", "__builtins__"), _EMPTY),
        "__closure__": property(lambda self: None),
    },
}


def without_changes(*own: dict[str, Any]) -> dict[str, types.ModuleType]:
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


def hide_variables() -> None:
    """Take the variables out of all that frames and functions show, in this whole process."""
    import ctypes

    for kind, names in _HIDDEN.items():
        (shown,) = (d for d in gc.get_referents(vars(kind)) if isinstance(d, dict))
        shown.update({name: value for name, value in names.items() if name in shown})
        with contextlib.suppress(AttributeError):
            ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


def refuse_spies() -> None:
    """Let every function raise that lists a process's objects and frames, or exchanges code."""

    def hook(event: str, arguments: tuple[Any, ...], spies: frozenset[str] = _SPIES) -> None:
        of_python = event == "ctypes.dlsym" and str(arguments[1]).startswith(("Py", "_Py"))
        if event in spies or of_python:
            raise PermissionError(f"{event} is not available here.")
        if event == "object.__setattr__" and arguments[1] in ("__code__", "__class__"):
            raise PermissionError("No function's code and no object's class can be changed here.")

    sys.addaudithook(hook)
