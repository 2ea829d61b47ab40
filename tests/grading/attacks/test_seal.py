"""What a learner's code finds of those who call it: no frame, no name and no path of theirs."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autodiff_kit.grading import seal
from autodiff_kit.grading.calls import Call, Limits, Reply, Runner, Work

# Each way to a frame that Python has; `shown` is all that can be read of one.
CODE = """
import faulthandler, gc, importlib, importlib.util, inspect, os, signal, sys, sysconfig
import threading, tracemalloc, traceback, types, warnings, weakref, _imp
from importlib.machinery import ExtensionFileLoader, ModuleSpec

seen = {}

def shown_code(code):
    parts = [code.co_name, code.co_filename, code.co_names, code.co_varnames, code.co_freevars]
    parts += [shown_code(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts]
    return repr(parts)

def shown(frame):
    spaces = {**frame.f_globals, **frame.f_locals}
    own = frame.f_code.co_filename.startswith("<submission")
    return shown_code(frame.f_code) + ("" if own else repr(sorted(spaces)))

def note(way, frame):
    while frame is not None:
        if not frame.f_code.co_filename.startswith("<submission"):
            seen.setdefault(way, set()).add(shown(frame))
        frame = frame.f_back

def walk(way, trace):
    while trace is not None:
        note(way, trace.tb_frame)
        trace = trace.tb_next

def every(way):
    walk(way + ", exception", sys.exc_info()[2])
    for depth in range(1000):
        try:
            note(way, sys._getframe(depth))
        except ValueError:
            break

class Dies:
    def __del__(self): every("object that dies")

class Shown(ValueError):
    def __str__(self):
        every("error that is shown")
        return "shown"

kept = Shown("kept")
left = 20
def on_signal(number, frame):
    global left
    note("signal", frame)
    every("signal")
    left -= 1
    if left:  # not at once: what it does here takes time, too
        signal.setitimer(signal.ITIMER_REAL, 0.002)
signal.signal(signal.SIGALRM, on_signal)
signal.setitimer(signal.ITIMER_REAL, 0.002)
rounds = iter(range(40))
gc.callbacks.append(lambda *ignored: next(rounds, None) is None or every("collection"))
sys.unraisablehook = lambda problem: walk("unraisable", problem.exc_traceback)
threading.Thread(target=lambda: every("thread")).start()
every("cell")
raise kept

def called(callback, generator, coroutine):
    every("call")
    walk("error of a cell", kept.__traceback__)
    seen["function"] = {shown_code(callback.__code__), repr(callback.__closure__)}
    seen["function"].add(repr(callback.__globals__))
    note("generator", generator.gi_frame)
    note("coroutine", coroutine.cr_frame)
    seen["generator"] = {shown_code(generator.gi_code), shown_code(coroutine.cr_code)}
    coroutine.close()
    weakref.finalize(Dies(), every, "finalizer")
    return Dies()

def fails():
    raise kept

def late():
    walk("error that a driver caught", kept.__traceback__)
    walk("error that a driver caught", kept.__context__ and kept.__context__.__traceback__)
    lines = traceback.format_exception(kept)
    signal.setitimer(signal.ITIMER_REAL, 0)
    del gc.callbacks[:]
    return [way + ": " + text for way, texts in seen.items() for text in texts] + lines

def paths():
    out = [*sys.orig_argv, *sys.argv, *sys.path, *sys.path_importer_cache]
    out += [repr(vars(sys.modules["__main__"])), shown_code(fails.__code__)]
    tracemalloc.start(50)
    out += [f"{name} {getattr(m, '__file__', '')}" for name, m in sys.modules.items()]
    file = os.memfd_create("x")
    faulthandler.dump_traceback(file)
    out.append(os.pread(file, 10**5, 0).decode())
    made = [object() for _ in range(100)]
    out += [repr(trace.traceback) for trace in tracemalloc.take_snapshot().traces]
    tracemalloc.stop()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for level in range(1, 20):
            warnings.warn("x", UserWarning, level)
    return out + [str(w.message) + w.filename for w in caught]

def modules(names):
    found = []
    folder = sysconfig.get_path("platstdlib") + "/lib-dynload/"
    for name in names:
        files = [folder + f for f in os.listdir(folder) if f.startswith(name + ".")]
        class Name(str):
            def __str__(self): return "json"
            rpartition = lambda self, mark: ("", "", "json")
        ways = {
            "import": lambda: importlib.import_module(name),
            "spec": lambda: importlib.util.find_spec(name).loader.load_module(name),
            "built in": lambda: _imp.create_builtin(types.SimpleNamespace(name=Name(name))),
            "again": lambda: sys.modules.pop("_imp", None) and importlib.import_module("_imp"),
            "statement": lambda: __import__(name),
        }
        for file in files:
            for word in (name, "x." + name, Name(name)):
                spec = ModuleSpec(word, ExtensionFileLoader(word, file), origin=file)
                ways[f"file as {word!r}"] = lambda spec=spec: _imp.create_dynamic(spec)
        for way, go in ways.items():
            try:
                made = go()
            except (ImportError, AttributeError):  # there is no spec of it
                continue
            if made is not None:
                found.append((name, way))
    return found

def watched():
    spies = {
        "profile": lambda: sys.setprofile(print),
        "trace": lambda: sys.settrace(print),
        "frames": sys._current_frames,
        "exceptions": sys._current_exceptions,
        "objects": gc.get_objects,
        "referrers": lambda: gc.get_referrers(kept),
        "referents": lambda: gc.get_referents(kept),
        "profiler": lambda: __import__("cProfile").Profile().enable(),
    }
    if hasattr(sys, "monitoring"):
        spies["monitoring"] = lambda: sys.monitoring.register_callback(3, 1, print)
    open_ones = []
    for name, spy in spies.items():
        try:
            spy()
        except (PermissionError, ValueError):
            continue
        open_ones.append(name)
    return open_ones
"""
CANARY = "a word of the check's own"
DRIVER = f"""def drive(step, data):
    secret = "{CANARY}"
    async def waits(): return secret
    def numbers():
        yield secret
    step.called(lambda: secret, numbers(), waits())
    for _ in range(2000):
        data = [data]
    try:
        step.fails()
    except ValueError:
        pass
    return "{CANARY}"
"""
MODULES = [
    *("_testcapi", "_testinternalcapi", "_testbuffer", "_testclinic", "_testmultiphase"),
    *("_testlimitedcapi", "_testsinglephase", "_ctypes_test", "_xxsubinterpreters", "_xxtestfuzz"),
    *("_interpreters", "_interpchannels", "_interpqueues", "_remote_debugging", "xxsubtype"),
]


def asked(name: str, *data: Any) -> Call:
    arguments = "*data" if data else ""
    return Call(f"def drive(step, data):\n    return step.{name}({arguments})", data, True)


@pytest.fixture(scope="module")
def replies(runner: Runner) -> dict[str, Reply]:
    if not hasattr(os, "memfd_create"):
        pytest.skip("for Linux")
    calls = {
        "driver": Call(DRIVER, 1, True),
        "frames": asked("late"),
        "modules": asked("modules", MODULES),
        "watched": asked("watched"),
        "paths": asked("paths"),
    }
    answers = runner.run_calls(CODE, [*calls.values()], Limits(seconds=20))
    return dict(zip(calls, answers, strict=True))


def test_no_frame_that_can_be_reached_has_anything_of_the_callers(
    replies: dict[str, Reply],
) -> None:
    assert replies["driver"].value == CANARY, replies["driver"]
    text = repr(replies["frames"].value)

    assert "error of a cell" not in text  # it begins in the cell
    assert "signal" in text or "object that dies" in text or "coroutine" in text
    for name in (CANARY, "'emit'", "'secret'", "prelude", "_MODULES", "answer_to", "_drive"):
        assert name not in text, (name, text)


def test_ones_own_errors_and_modules_are_as_ever(runner: Runner) -> None:
    code = """
import asyncio, traceback
async def half(x): return x / 2
def halves(x): return half(x).close()
def text(f):
    try:
        f(0)
    except ZeroDivisionError as error:
        return error.__traceback__.tb_next.tb_frame.f_code.co_name, traceback.format_exc()
"""
    drivers = "f = lambda x: 1 / x\n    return step.text(f)"
    calls = [asked("halves", 3.0), Call(f"def drive(step, data):\n    {drivers}", 0, True)]

    halves, text = runner.run_calls(code, calls, Limits(seconds=10))

    assert (halves.status, text.status) == ("ok", "ok"), (halves, text)
    assert text.value[1].endswith("ZeroDivisionError: division by zero\n")
    assert "in text" in text.value[1]


def test_what_a_driver_calls_of_numpy_cannot_be_exchanged(runner: Runner) -> None:
    code = """
import sys, numpy
calls = []
def spy(old):
    return lambda *a, **k: (calls.append(str(old)), old(*a, **k))[1]
for name in [name for name in sys.modules if name.startswith("numpy")]:
    space = vars(sys.modules[name])
    for key, value in list(space.items()):
        if callable(value) and not isinstance(value, type) and key[:2] != "__":
            space[key] = spy(value)
def begin(): calls.clear()
def end(): return calls
"""
    body = """def drive(step, data):
    import numpy
    step.begin()
    out = [np.repeat(data, 2).sum(), np.linalg.norm(data), np.mean(data), data.mean(), data.std()]
    out += [numpy.cumsum(data)[-1], np.ravel(data).max(), np.append(data, data).min()]
    return [step.end(), out]
"""

    (reply,) = runner.run_calls(code, [Call(body, np.ones(4), True)], Limits(seconds=10))

    assert (reply.status, reply.value) == ("ok", [[], [8, 2, 1, 1, 0, 4, 1, 1]]), reply


SECRET = (
    "def helper(x, scale=1):\n    hidden_name = x * 1234.5678\n    return hidden_name / scale\n"
)
READER = """
import sys, traceback, types

class Looks(float):
    def __mul__(self, other):
        try:
            frame = sys._getframe(1)
        except ValueError:  # as at the bottom of the stack
            return 2.0
        found.append([parts(frame.f_code), repr(frame.f_locals)])
        return 2.0

def parts(code):
    return [code.co_name, code.co_names, code.co_varnames, code.co_consts, code.co_code.hex()]

def helper(x):
    return None

def asked(x):
    global found
    found = [parts(helper.__code__), parts(types.FunctionType.__dict__["__code__"].__get__(helper))]
    found += [repr(helper.__closure__), repr(sorted(helper.__globals__))]
    helper(Looks(1.0))
    try:
        helper("text", scale=None)
    except TypeError as error:
        trace = error.__traceback__
        while trace is not None:
            if not trace.tb_frame.f_code.co_filename.startswith("<submission"):
                found.append(parts(trace.tb_frame.f_code))
                found.append(traceback.format_tb(trace)[0].splitlines()[1:])
            trace = trace.tb_next
    return repr([found, helper(2.0)])
"""


def test_what_stands_in_for_a_step_can_be_called_and_not_read(runner: Runner) -> None:
    work = Work(READER.encode(), ".py", names=("asked",), instead=SECRET)
    call = Call("def drive(step, data):\n    return step.asked(data)\n", 1.0, is_example=True)

    (reply,) = runner.run_calls(work, [call], Limits())

    assert reply.status == "ok", reply.error
    assert str(2.0 * 1234.5678) in reply.value  # it does its work
    assert "hidden_name" not in reply.value and "1234.5678" not in reply.value


def test_modules_that_read_frames_in_c_are_not_there(replies: dict[str, Reply]) -> None:
    assert replies["modules"].value == [], replies["modules"]


def test_nothing_can_watch_the_callers(replies: dict[str, Reply]) -> None:
    assert replies["watched"].value == [], replies["watched"]


def test_no_path_of_the_graders_is_shown(replies: dict[str, Reply]) -> None:
    text = "\n".join(replies["paths"].value)

    assert "<submission" in text
    packages = str(Path(np.__file__).parents[1])
    for name in (
        str(Path(seal.__file__).parents[1]),
        "child.py",
        "zygote.py",
        "autodiff",
        packages,
    ):
        assert name not in text.replace(f"{packages}/numpy", ""), name
