"""Close the ways by which code looks at its caller: a driver beside the learner's code is hidden.

After reading this file you can say what a learner's function finds of the driver that calls it:
nothing. Its own frames, functions and tracebacks are as ever, but with no variables in them, and
the stack begins with them: no name, no line and no code tells one driver from another, and where a
frame of a caller would be handed out, an empty one is. What reads frames and functions in C, past
all that, is not there to be imported. And no module that the driver uses could have been changed by
the learner's code. It is for processes of a learner's code only.
What ``ctypes`` or a forged array's address can do to raw memory, no Python can keep from being
done: the answers themselves are never in that process. Read next: ``child.py``.
"""

from __future__ import annotations

import builtins
import contextlib
import gc
import inspect
import os
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from autodiff_kit.grading.messages import Space

__all__ = [
    *("anonymous", "hide_callers", "keep_away", "refuse_spies", "without_callers"),
    "without_changes",
]

# As in ``child.py``: the learner's code can put others into ``builtins``.
globals()["__builtins__"] = dict(vars(builtins))

# Audit events of what looks at, or changes, code that is not one's own.
_SPIES = frozenset(
    {
        *("gc.get_objects", "gc.get_referrers", "gc.get_referents"),
        *("sys._current_frames", "sys._current_exceptions"),
        *("sys.settrace", "sys.setprofile", "sys.monitoring.register_callback"),
        *("ctypes.PyObj_FromPtr", "ctypes.cdata", "ctypes.string_at", "ctypes.wstring_at"),
        *("sys.addaudithook", "cpython.PyInterpreterState_New"),
    }
)
# Modules for tests of Python itself, and for interpreters beside this one, where no hook is.
_KEPT_AWAY = ("_test", "_ctypes_test", "_xx", "xx", "_interp", "_remote_debugging")
# Files of code that calls the learner's, or stands in for it: the check's, the exercise's, its
# solution's and the grader's own.
DRIVER, GIVEN, INSTEAD, GRADER = "<driver>", "<given>", "<instead>", "<grader>"
_FOLDER = os.path.dirname(__file__)
_NO_CODE = compile("", GRADER, "exec")


def _nothing() -> Iterator[None]:
    yield


_NO_FUNCTION = (lambda: None).__code__.replace(co_filename=GRADER)
# With globals of its own, in which there is nothing: not even C finds more in its frame.
_EMPTY_GENERATOR = types.FunctionType(_nothing.__code__.replace(co_filename=GRADER), {})()
_NO_FRAME = _EMPTY_GENERATOR.gi_frame
_EMPTY = property(lambda self: {})
_HIDDEN: dict[type, dict[str, property]] = {
    types.FrameType: dict.fromkeys(("f_locals", "f_globals", "f_builtins"), _EMPTY),
    types.FunctionType: {
        **dict.fromkeys(("__globals__", "__builtins__"), _EMPTY),
        "__closure__": property(lambda self: None),
    },
}
_CALLERS: dict[int, types.CodeType] = {}  # what was running when callers were hidden
_trace_of = vars(BaseException)["__traceback__"].__get__
_frame_of = vars(types.TracebackType)["tb_frame"].__get__
_code_of = vars(types.FrameType)["f_code"].__get__
_function_code = vars(types.FunctionType)["__code__"]


def without_changes(*own: Space) -> dict[str, types.ModuleType]:
    """Return all modules as they are now, and put them into the namespaces ``own``.

    Replacing a function in a module afterwards changes it for the learner's code alone. Functions
    of NumPy look each other up in NumPy's modules, so those stay ours, and the learner's code gets
    copies; of other modules, which keep more of a state, it is the other way round.
    """
    now = {name: module for name, module in sys.modules.items() if name and module is not None}
    copies = {name: types.ModuleType(name) for name in now}
    for name, module in now.items():
        vars(copies[name]).update(vars(module))
    numpy = {name for name in now if name.partition(".")[0] == "numpy"}
    learners = {id(now[name]): copies[name] for name in numpy}
    ours = {id(module): copies[name] for name, module in now.items() if name not in numpy}

    def put_in(space: Space, modules: dict[int, types.ModuleType]) -> None:
        space.update({n: modules[id(v)] for n, v in space.items() if id(v) in modules})

    for name, module in now.items():
        mine, theirs = (module, copies[name]) if name in numpy else (copies[name], module)
        if isinstance(theirs, types.ModuleType):  # some are classes, as `typing.io`
            put_in(vars(theirs), learners)
        put_in(vars(mine), ours)
        now[name] = mine
    for space in own:
        put_in(space, ours)
    sys.modules.update({name: copies[name] for name in numpy})
    return now


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
    return (
        file in (DRIVER, GIVEN, INSTEAD, GRADER) or file.startswith(_FOLDER) or id(code) in _CALLERS
    )


def _outside_of(code: types.CodeType) -> types.CodeType:
    """Return code that takes the same arguments and gives the same kind of thing, and no more."""
    count = code.co_argcount + code.co_kwonlyargcount
    count += sum(
        bool(code.co_flags & stars) for stars in (inspect.CO_VARARGS, inspect.CO_VARKEYWORDS)
    )
    return _NO_FUNCTION.replace(
        co_argcount=code.co_argcount,
        co_posonlyargcount=code.co_posonlyargcount,
        co_kwonlyargcount=code.co_kwonlyargcount,
        co_varnames=code.co_varnames[:count],
        co_nlocals=count,
        co_flags=code.co_flags,
    )


def without_callers(error: BaseException) -> None:
    """Let the traceback of an error that the learner's code may have kept begin in that code."""
    trace = _trace_of(error)
    while trace is not None and _is_caller(_code_of(_frame_of(trace))):
        trace = trace.tb_next
    BaseException.with_traceback(error, trace)


def hide_callers() -> None:
    """Take the variables out of all frames and functions, and the callers' frames out of sight.

    For this whole process, and for good.
    """
    import ctypes

    frame: types.FrameType | None = sys._getframe()
    while frame is not None:
        _CALLERS[id(frame.f_code)] = frame.f_code
        frame = frame.f_back

    def frame_by(read: Callable[[Any], types.FrameType | None]) -> property:
        def shown(self: Any) -> types.FrameType | None:
            frame = read(self)
            return frame if frame is None or not _is_caller(_code_of(frame)) else _NO_FRAME

        return property(shown)

    def code(read: Callable[[Any], types.CodeType]) -> property:
        return property(lambda self: _NO_CODE if _is_caller(read(self)) else read(self))

    def back(self: types.FrameType) -> types.FrameType | None:
        frame = back_of(self)
        return None if frame is None or _is_caller(_code_of(frame)) else frame

    def last_instruction(self: types.TracebackType) -> int:
        return -1 if _is_caller(_code_of(_frame_of(self))) else last_of(self)

    def code_of_function(self: types.FunctionType) -> types.CodeType:
        own = _function_code.__get__(self)  # what is given may be read
        return _outside_of(own) if own.co_filename != GIVEN and _is_caller(own) else own

    back_of = vars(types.FrameType)["f_back"].__get__
    last_of = vars(types.TracebackType)["tb_lasti"].__get__
    _HIDDEN[types.FrameType] |= {"f_code": code(_code_of), "f_back": property(back)}
    _HIDDEN[types.FunctionType]["__code__"] = property(code_of_function, _function_code.__set__)
    _HIDDEN[types.TracebackType] = {
        "tb_frame": frame_by(_frame_of),
        "tb_lasti": property(last_instruction),
    }
    kinds: tuple[tuple[type, str], ...] = (
        (types.GeneratorType, "gi"),
        (types.CoroutineType, "cr"),
        (types.AsyncGeneratorType, "ag"),
    )
    for kind, letters in kinds:
        _HIDDEN[kind] = {
            f"{letters}_frame": frame_by(vars(kind)[f"{letters}_frame"].__get__),
            f"{letters}_code": code(vars(kind)[f"{letters}_code"].__get__),
        }
    for kind, names in _HIDDEN.items():
        (attributes,) = (d for d in gc.get_referents(vars(kind)) if isinstance(d, dict))
        attributes.update({name: value for name, value in names.items() if name in attributes})
        with contextlib.suppress(AttributeError):
            ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


def _is_kept_away(name: str) -> bool:
    return name.rpartition(".")[2].startswith(_KEPT_AWAY)


def keep_away() -> None:
    """Let the modules that read frames in C be as if they were not there, for good.

    What is loaded from a file tells the hook of `refuse_spies`, too; what is built in does not.
    """
    import _imp

    create: Callable[[Any], types.ModuleType] = _imp.create_builtin

    def create_builtin(spec: Any) -> types.ModuleType:
        name = str.__str__(spec.name)
        if _is_kept_away(name) or name == "_imp":  # which would be one with the other function
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return create(types.SimpleNamespace(name=name, origin="built-in"))

    _imp.create_builtin = create_builtin
    for name in [name for name in sys.modules if _is_kept_away(name)]:
        del sys.modules[name]


def refuse_spies() -> None:
    """Let every function raise that lists a process's objects and frames, or exchanges code."""
    spies, no_code, kept_away, code_of = _SPIES, _NO_CODE, _is_kept_away, _function_code.__get__
    files = {getattr(module, "__file__", None) for module in sys.modules.values()}

    def is_ours(function: types.FunctionType) -> bool:
        code = code_of(function)
        return _is_caller(code) or code.co_filename in files or code.co_filename[:7] == "<frozen"

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        of_python = event == "ctypes.dlsym" and str(arguments[1]).startswith(("Py", "_Py"))
        if event in spies or of_python:
            raise PermissionError(f"{event} is not available here.")
        if event == "import" and kept_away(name := str.__str__(arguments[0])):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if event == "sys._getframe" and arguments[0].f_code is no_code:
            raise ValueError("call stack is not deep enough")
        if event != "object.__setattr__":
            return
        if arguments[1] == "__class__" or (arguments[1] == "__code__" and is_ours(arguments[0])):
            raise PermissionError("No function's code and no object's class can be changed here.")

    sys.addaudithook(hook)
