"""What happens in the process of the learner's code: read, run and call it, send data back.

After reading this file you can say what a submission sees (its own namespace, the standard
library and NumPy; no answers, no checks, no kit), when it gets to see the inputs that decide (once
all examples are answered), and what it can tell the grader (values; nothing it says about itself
counts). It is started in a bare Python (``worker.bare_python``) and imports nothing of the kit but
``messages.py``, ``namespace.py``, ``notebook.py``, ``seal.py``, ``usage.py`` and ``wire.py``. It is
long, because what stands in reach of the learner's code is easier to seal in one module than in
two. Read next: ``supervision.py``, the other end of the pipe.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import contextlib
import functools
import io
import itertools
import os
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from autodiff_kit.grading import namespace, seal, usage, wire
from autodiff_kit.grading.messages import (
    Answered,
    CallSent,
    Message,
    Request,
    Space,
    Told,
    Trouble,
    WorkSent,
)
from autodiff_kit.grading.namespace import Given, Missing, Namespace
from autodiff_kit.grading.notebook import Cell, Unreadable, bound_by, cells_of

# The functions below and the drivers have built-in functions of their own: the learner's code can
# put others into ``builtins``, and would get to see all that is passed to them.
_BUILTINS = dict(vars(builtins))
globals()["__builtins__"] = _BUILTINS
_MODULES: dict[str, types.ModuleType] = {}

SUBMISSION = "<submission "
# The numbers of the answers to no call: the process is up, the file was read, all cells were run.
# Before each statement of the cells comes a short message, so that the one that ends it is known.
# And a driver may ask the grader, who answers at once.
READY, READ, LOADED, RUNNING, ASKED = -3, -2, -1, -4, -5
# Each answer is signed with the first bytes of the secret: the learner's code can write to the
# pipe, and read what is written there, but not speak in the child's name. And what is asked last
# comes veiled: it can read from there, too.
KEY = 16
_KNOWN: dict[type, str] = {
    kind: kind.__name__
    for kind in (*vars(builtins).values(), np.linalg.LinAlgError, np.exceptions.AxisError)
    if isinstance(kind, type) and issubclass(kind, BaseException)
}
KINDS = frozenset(_KNOWN.values())
REPLY_ITEMS = 50_000  # values in one answer: what is compared and shown takes time for each
MOST_WRITES = 400_000  # for one call, or for all cells; each `print` makes two
Emit = Callable[[Message], None]
Ask = Callable[[int, Any], Any]
Limited = Callable[[], contextlib.AbstractContextManager[object]]
Calls = list[CallSent]
Failures = dict[str, Trouble]
_NO_TROUBLE: Trouble = {
    "error": "",
    "kind": "",
    "cell": 0,
    "line": 0,
    "cell_called": 0,
    "line_called": 0,
}


class TimeUp(BaseException):
    """Time is up for a statement or a call: raised by a clock in this very process, if any."""


class Printed(io.TextIOBase):
    """What was printed, up to a limit; the rest is dropped, not stored."""

    def __init__(self, limit: int) -> None:
        self.room = limit
        self.left = MOST_WRITES
        self.parts: list[str] = []

    def writable(self) -> bool:
        """Answer yes, as print asks."""
        return True

    def write(self, text: str) -> int:
        """Keep what still fits; end what prints without end, which else would run out of time."""
        if not isinstance(text, str):  # others ask in this way whether a stream takes bytes
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self.left -= 1
        if self.left < 0:
            raise RuntimeError(
                f"`print` was called more than {MOST_WRITES // 2:,} times. Take it out of the loop."
            )
        if self.room > 0:
            self.parts.append(text[: self.room])
            self.room -= len(text)
        return len(text)

    def taken(self) -> str:
        """Return what was printed since the last time."""
        text = "".join(self.parts)
        self.parts.clear()
        self.left = MOST_WRITES
        return text


def run(
    work: WorkSent,
    calls: Iterable[Calls],
    emit: Emit,
    output: int,
    ask: Ask | None = None,
    clock: Limited = contextlib.nullcontext,
) -> None:
    """Run a submission, then each call's driver beside it, and emit one answer after each.

    Parameters
    ----------
    work : WorkSent
        A cell that does not compile takes no other with it. After a statement that raises, the
        next one is run, as in a notebook.
    calls : lists of CallSent
        The next list is asked for when the one before is answered.
    emit : callable
        Takes an answer; raises ValueError for a value that cannot be sent.
    output : int
        How many characters of prints to keep.
    ask : callable (number of the call, question), optional
        What a driver's ``ask(question)`` calls.
    clock : callable, optional
        Gives what limits the time of a statement or of a call, if this process does so itself.
    """
    step = Namespace("submission")
    printed = Printed(output)
    vars(step)["__builtins__"] = builtins  # and not those of this file
    sys.modules["submission"] = step  # dataclasses and pickle look their module up there
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            emit(answer_to(READY))
            try:
                data = work.pop("data").tobytes()
                cells = cells_of(data, work["suffix"], work["names"], work["locked"])
                del data  # its memory is the learner's now
                emit(answer_to(READ, value=[[c.number, c.above, c.source] for c in cells]))
            except Unreadable as problem:
                emit(answer_to(READ, "unreadable", words=str(problem)))
                return
            except MemoryError:
                words = "Reading it takes more memory than it may use."
                emit(answer_to(READ, "unreadable", words=words))
                return
            prelude = Given(step, work["names"], work["given"], work["instead"])
            failures = _load(prelude, cells, step, work["skip"], emit, clock)
            emit(answer_to(LOADED))
            # All stay: in what is to be freed, the learner's code could look for them, and for the
            # modules that drivers use.
            spaces: list[Space] = []
            for call in itertools.chain.from_iterable(calls):
                number = len(spaces)
                spaces.append({"ask": functools.partial(ask, number)} if ask else {})
                _drive(number, call, spaces[-1], prelude, emit, printed, failures, clock)
    finally:
        sys.modules.pop("submission", None)


def answer_to(
    number: int,
    status: str = "ok",
    value: Any = None,
    trouble: Trouble | None = None,
    words: str = "",
    output: str = "",
    loading: bool = False,
    absent: str = "",
) -> Answered:
    """Return the answer to a call; `words` alone are an error without a kind and a place."""
    return {
        **(trouble or {**_NO_TROUBLE, "error": words}),
        "call": number,
        "status": status,
        "value": value,
        "output": output,
        "loading": loading,
        "absent": absent,
    }


def _load(
    prelude: Given,
    cells: list[Cell],
    step: Namespace,
    skip: list[int],
    emit: Emit,
    clock: Limited,
) -> Failures:
    """Run all cells; return, by name, the first error that can be why it is missing.

    The name "" has the first one of what may have defined any name: a cell that does not compile,
    ``import *``. The error of a statement left out is empty. What is given ran before: a notebook's
    own copy of it would be another class of the same name.
    """
    failures: Failures = {}

    def failed(part: Cell | ast.stmt, why: Trouble) -> None:
        for name in bound_by(part):
            failures.setdefault("" if name == "*" else name, why)

    flags = count = 0
    for number, cell in enumerate(cells):
        if cell.tree is None:
            why: Trouble = {**described(cell.error), "cell": number}
            failed(cell, why)
            failures.setdefault("", why)
            continue
        for statement in cell.tree.body:
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                for alias in statement.names:
                    flags |= getattr(__future__, alias.name, __future__.annotations).compiler_flag
            count += 1
            if _does_nothing(statement):
                continue
            is_given = prelude.repeats(statement)
            if count in skip:
                failed(statement, _NO_TROUBLE)
            if count in skip or is_given:
                continue
            emit({"call": RUNNING, "number": count, "cell": number, "line": statement.lineno})
            prelude.share()
            try:
                tree = ast.Module([statement], [])
                code = compile(tree, f"{SUBMISSION}{number}>", "exec", flags, True)
                with clock():
                    exec(code, step.__dict__)
            except BaseException as error:  # also SystemExit: the statement ends, nothing more
                seal.without_callers(error)
                cause = _cause(error, failures)
                failed(statement, described(error) if cause is None else cause)
    return failures


def _does_nothing(statement: ast.stmt) -> bool:
    """Tell whether a statement is a constant or `pass`: it need be neither announced nor run."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Pass)


def _cause(error: BaseException, failures: Failures) -> Trouble | None:
    """Return the earlier error that left a name undefined, if an error says that it is."""
    name = getattr(error, "name", None) if isinstance(error, NameError) else None
    return failures.get(name) if type(name) is str and name else None


def _drive(
    number: int,
    call: CallSent,
    beside: Space,
    prelude: Given,
    emit: Emit,
    printed: Printed,
    failures: Failures,
    clock: Limited,
) -> None:
    value: Any = None
    trouble: Trouble | None = None
    words = absent = ""
    loading = False
    try:
        beside |= {"__name__": "driver", "np": np, "__builtins__": dict(_BUILTINS)}
        exec(_driver(call["driver"]), beside)
        prelude.put_back()
        prelude.share()
        with clock():
            value = beside["drive"](prelude.for_driver(), call["data"])
        status = "ok"
        if prelude.put_back():
            status, value = "refused", None
            words = "Your code changes what is given."
    except Missing as problem:
        # Why it is missing, if a cell failed before its definition.
        why = failures.get(problem.name or "", failures.get("", _NO_TROUBLE))
        loading = bool(why["error"])
        status, trouble = ("raised", why) if loading else ("missing", None)
        words = str(problem)
    except MemoryError as problem:
        seal.without_callers(problem)
        status, trouble = "memory", described(problem)
    except BaseException as problem:
        seal.without_callers(problem)
        status, trouble = "raised", described(problem)
        cause = _cause(problem, failures)
        if cause is not None:
            status, trouble = "raised" if cause["error"] else "missing", cause
            loading, absent = True, str(problem.name)  # type: ignore[attr-defined]
    output = printed.taken()
    try:
        emit(answer_to(number, status, value, trouble, words, output, loading, absent))
    except MemoryError:
        emit(answer_to(number, "memory", words="MemoryError", output=output))
    except ValueError as problem:
        emit(answer_to(number, "refused", words=str(problem), output=output))


@functools.cache  # many calls share a driver
def _driver(source: str) -> types.CodeType:
    return seal.anonymous(compile(source, seal.DRIVER, "exec"))


def shut() -> None:
    """Shut off from the learner's code what runs beside it, for the rest of this process."""
    seal.keep_away()
    # Where the kit's files are: that stands in the program which started this process, too.
    sys.path_importer_cache.clear()
    sys.orig_argv.clear()
    main_names = vars(sys.modules["__main__"])
    for name in [name for name in main_names if not name.startswith("__")]:
        del main_names[name]
    imported = builtins.__import__

    def find(name: str, *where: Any) -> Any:
        is_whole = "." not in name or (len(where) > 2 and where[2])
        return _MODULES[name] if is_whole and name in _MODULES else imported(name, *where)

    own = (globals(), *map(vars, (namespace, seal, wire)))
    _MODULES.update(seal.without_changes(*own))
    _BUILTINS["__import__"] = find
    # Arrays look for their methods' Python code when they are first used: not later, among modules
    # that the learner's code could have changed.
    array = np.ones(2)
    for method in ("sum", "prod", "mean", "std", "var", "any", "all", "max", "min"):
        getattr(array, method)()
    array.clip(0, 1)
    seal.hide_callers()


def value_of(answer: Told) -> Any:
    """Return what the grader answered a driver, or raise the error that it names."""
    if answer["kind"]:
        kinds = {name: kind for kind, name in _KNOWN.items()}
        raise kinds.get(answer["kind"], Exception)(answer["error"])
    return answer["value"]


def kind_of(error: BaseException) -> str:
    """Return the name of Python's or NumPy's own class of an error.

    A class of the learner's counts as the one it was made from, whatever it is called.
    """
    kind = type(error)
    if kind in _KNOWN:
        return _KNOWN[kind]
    known = (_KNOWN[base] for base in kind.__mro__ if base in _KNOWN)
    return next((name for name in known if name != "NotImplementedError"), "Exception")


def _name_of(error: BaseException) -> str:
    """Return what an error's class is called, but not by the name of a class that it is not.

    NumPy calls some classes of its own as the class of Python's that they are made from.
    """
    kind = type(error)
    name: str = type.__dict__["__name__"].__get__(kind)  # a metaclass may have a word in __name__
    return "an exception of its own" if name in KINDS and name != kind_of(error) else name


def described(error: BaseException | None) -> Trouble:
    """Return an error in words, its kind, and the place in the learner's code that was running."""
    if error is None:
        return _NO_TROUBLE
    name = _name_of(error)
    try:
        text = str(error)
        words = f"{name}: {text}"[:2000] if text else name  # as Python prints it
    except BaseException:  # a message may be made by the learner's own code
        words = name
    cell = line = 0
    if isinstance(error, SyntaxError) and error.filename in ("<unknown>", None):  # not run at all
        line = error.lineno or 0
        words = f"{name}: {error.msg}"
    called = (0, 0)
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file.startswith(SUBMISSION):
            cell, line = int(file[len(SUBMISSION) : -1]), trace.tb_lineno
            called = called if any(called) else (cell, line)
        trace = trace.tb_next
    return {
        "error": words,
        "kind": kind_of(error),
        "cell": cell,
        "line": line,
        "cell_called": called[0],
        "line_called": called[1],
    }


def answer(read: Callable[[int], bytes], request: Request, reply_to: int) -> None:
    """Do what ``request`` asks, and write the answers to the file ``reply_to``.

    The calls that are no examples come after the examples were answered: ``read`` gets them. They
    are of no use without the secret, which was gone before the learner's code began.
    """
    limits = request["limits"]
    secret = request["secret"].tobytes()
    numbers = itertools.count()

    def emit(message: Message) -> None:
        data = wire.encode(message, REPLY_ITEMS)
        if len(data) > limits["reply"] and (message["call"] >= 0 or message["call"] == ASKED):
            raise wire.WireError(f"The answer takes more than {limits['reply']:,} bytes.")
        data = wire.frame(wire.signature(data, next(numbers), secret[:KEY]) + data)
        while data:
            data = data[os.write(reply_to, data) :]

    def calls() -> Iterator[Calls]:
        yield request["calls"]
        data, length = wire.unframe(read)
        yield wire.decode(wire.veiled(data, secret), length)

    def ask(number: int, question: Any) -> Any:
        emit({"call": ASKED, "value": question})
        return value_of(wire.decode(*wire.unframe(read)))

    seal.refuse_spies()
    run(request["work"], calls(), emit, limits["output"], ask)


def main() -> None:
    """Answer the one request that comes in on standard input."""
    talk, reply_to = os.dup(0), os.dup(1)

    def read(count: int) -> bytes:
        return os.read(talk, count)

    request = wire.decode(*wire.unframe(read))
    # From here on, what the learner prints or reads cannot be taken for the talk with the grader.
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.close(nothing)
    shut()
    usage.limit_resources(request["limits"], usage.taken_memory())
    answer(read, request, reply_to)
