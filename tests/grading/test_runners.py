"""A plain process, walls, and this very process give the same answers to the same questions."""

import dataclasses
import errno
import json
import os
import signal
import sys
import time
import types
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from autodiff_kit.grading import sandbox as sandboxes
from autodiff_kit.grading import supervision, usage
from autodiff_kit.grading.calls import Call, Limits, Process, Reply, Runner, clean
from autodiff_kit.grading.sandbox import Finding, Sandbox, Walls, best_walls, probe
from autodiff_kit.grading.supervision import supervise
from autodiff_kit.grading.worker import InProcess, Level0, _Plain
from tests.grading import warm
from tests.grading.standing import WALLS

needs_walls = pytest.mark.skipif(
    WALLS is None and os.environ.get("ADK_REQUIRE_SANDBOX") != "1",
    reason="no walls stand on this machine, see `autodiff-kit doctor`",
)
LIMITS = Limits(seconds=10)
CODE = """
import numpy as np
total = 0

def twice(x):
    global total
    total += 1
    return 2 * x

def stop(x):
    raise ValueError(f"no {x}")

def odd(x):
    return object()

def loop(x):
    while True: pass

def leave(x):
    import os
    os._exit(3)

def big(x):
    return np.ones(2**34)

def talk(x):
    print("one", x)
    import sys
    print("two", file=sys.stderr)
"""


def call(name: str, data: object = 1.5, is_example: bool = True) -> Call:
    return Call(f"def drive(step, data):\n    return step.{name}(data)", data, is_example)


def driver(body: str, data: object = None) -> Call:
    return Call(f"def drive(step, data):\n    {body}", data, is_example=True)


@pytest.fixture(scope="module", params=["in process", "plain process", "walls"])
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    if request.param == "in process":
        yield InProcess()
    elif request.param == "plain process":
        yield Level0()
    else:
        yield from behind_walls()


@pytest.fixture(scope="module", params=["plain process", "walls"])
def apart(request: pytest.FixtureRequest) -> Iterator[Runner]:
    if request.param == "plain process":
        yield Level0()
    else:
        yield from behind_walls()


@pytest.fixture(scope="module")
def walled() -> Iterator[Sandbox]:
    yield from behind_walls()


def behind_walls() -> Iterator[Sandbox]:
    if WALLS is None:
        assert os.environ.get("ADK_REQUIRE_SANDBOX") != "1", "no walls stand on this machine"
        pytest.skip("no walls stand on this machine, see `autodiff-kit doctor`")
    with Sandbox(WALLS) as walled:
        yield walled


def one(runner: Runner, question: Call, code: str = CODE, limits: Limits = LIMITS) -> Reply:
    (reply,) = runner.run_calls(code, [question], limits)
    return reply


SEEN = """import os, signal, sys
    def is_open(file):
        try:
            return os.fstat(file) is not None
        except OSError:
            return False
    return {
        "modules": sorted(sys.modules),
        "flags": list(sys.flags),
        "path": sys.path,
        "hash": hash("x"),
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "files": [number for number in range(100) if is_open(number)],
        "signals": [str(signal.getsignal(s)) for s in (signal.SIGCHLD, signal.SIGTERM)],
        "leads": os.getsid(0) == os.getpid(),
    }"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no copies on this system")
@pytest.mark.parametrize("kind", ["plain process", pytest.param("walls", marks=needs_walls)])
def test_a_copy_of_a_process_sees_what_a_new_one_sees(kind: str) -> None:
    def seen() -> Reply:
        if kind == "plain process":
            return one(Level0(), driver(SEEN))
        return next(one(sandbox, driver(SEEN)) for sandbox in behind_walls())

    with warm.anew():
        new = seen()
    copy = seen()

    assert (new.status, copy.status) == ("ok", "ok"), new.error
    assert copy.value == new.value


# -- All runners ---------------------------------------------------------------------------------


def asking(body: str, is_example: bool) -> Call:
    """Return a question whose data stays here, but for its first number."""
    return Call(
        f"def drive(step, data):\n    {body}",
        [2, 30],
        is_example,
        public=lambda data: data[0],
        reply=lambda data, question: data[1] / question,
    )


def test_a_driver_gets_the_public_part_and_asks_for_the_rest(runner: Runner) -> None:
    body = "return [data, *(step.twice(ask(number)) for number in (3, 5.0))]"
    calls = [call("twice", 1), asking(body, True), asking(body, False), call("twice", 2)]

    replies = runner.run_calls(CODE, calls, LIMITS)

    assert [reply.value for reply in replies] == [2, [2, 20.0, 12.0], [2, 20.0, 12.0], 4]


def test_what_cannot_be_answered_is_an_error_without_words(runner: Runner) -> None:
    caught = "\n    try: ask(0)\n    except ZeroDivisionError as error: return str(error)"
    calls = [asking(caught, True), asking("return ask(np)", True), driver("return ask(1)")]

    replies = runner.run_calls(CODE, calls, LIMITS)

    assert replies[0].value == "not for these values"
    assert [reply.kind for reply in replies[1:]] == ["ValueError", "TypeError"]


def test_who_asks_for_ever_is_stopped(apart: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    # Each question takes a second of this clock, and nothing else any time: so the answer is the
    # same on a machine that is slow, or busy.
    now = 0.0
    clock = types.SimpleNamespace(monotonic=lambda: now)
    monkeypatch.setattr(supervision, "time", clock)

    def reply_late(data: object, question: object) -> object:
        nonlocal now
        now += 1.0
        return data

    question = dataclasses.replace(asking("\n    while True: ask(1)", True), reply=reply_late)

    reply = one(apart, question)

    assert reply.status == "timeout"
    assert now > LIMITS.seconds


def test_replies_come_in_order_and_from_one_namespace(runner: Runner) -> None:
    calls = [call("twice", 1), call("twice", 2.5), driver("return step.total")]

    replies = runner.run_calls(CODE, calls, LIMITS)

    assert [(reply.status, reply.value) for reply in replies] == [("ok", 2), ("ok", 5.0), ("ok", 2)]


def test_each_submission_has_a_namespace_of_its_own(runner: Runner) -> None:
    first = one(runner, driver("return step.x"), "x = 1")
    second = one(runner, driver("return step.x"), "y = 1")

    assert (first.status, second.status) == ("ok", "missing")


def test_arrays_go_there_and_back(runner: Runner) -> None:
    reply = one(runner, call("twice", np.array([1.0, 2.0])))

    assert (reply.value == [2.0, 4.0]).all()


def test_an_error_names_class_message_and_line_of_the_learners_code(runner: Runner) -> None:
    reply = one(runner, call("stop", 7))

    assert (reply.status, reply.value) == ("raised", None)
    assert (reply.error, reply.kind) == ("ValueError: no 7", "ValueError")
    assert reply.place == 'line 11: raise ValueError(f"no {x}")'


def test_an_error_without_words_is_its_class_alone_as_python_prints_it(apart: Runner) -> None:
    reply = one(apart, call("f"), "def f(x):\n    assert False")

    assert reply.error == "AssertionError"


def test_an_error_in_exec_may_be_why_any_name_is_missing(apart: Runner) -> None:
    reply = one(apart, call("f"), "exec('1 / 0; f = abs')")

    assert (reply.status, reply.error) == ("raised", "ZeroDivisionError: division by zero")


def test_of_a_call_that_is_no_example_no_word_comes_back(runner: Runner) -> None:
    code = "class Told(KeyError): pass\ndef f(x):\n    print(x)\n    raise Told(x)"
    wordy = f"{code}\ndef g(x): return type(str(x), (), {{}})()"

    raised, refused, missing = runner.run_calls(
        wordy, [call(name, "secret", is_example=False) for name in "fgh"], LIMITS
    )

    assert (raised.error, raised.kind) == ("KeyError", "KeyError")
    assert raised.place == "line 4"
    assert [reply.status for reply in (raised, refused, missing)] == [
        "raised",
        "refused",
        "missing",
    ]
    assert "secret" not in repr([raised, refused, missing])


def test_the_inputs_that_decide_come_when_all_examples_are_answered(apart: Runner) -> None:
    code = """
seen = []
def look(x):
    seen.append(x[0])
    return seen
"""
    calls = [call("look", ["hidden"], False), call("look", ["first"]), call("look", ["second"])]

    hidden, *examples = apart.run_calls(code, calls, LIMITS)

    assert [reply.value for reply in examples] == [["first"], ["first", "second"]]
    assert hidden.value == ["first", "second", "hidden"]


def test_a_name_that_is_not_defined_is_missing(runner: Runner) -> None:
    assert one(runner, call("nothing")).status == "missing"


def test_a_value_that_is_not_plain_is_refused_by_name(runner: Runner) -> None:
    reply = one(runner, call("odd"))

    assert reply.status == "refused"
    assert "object" in reply.error


def test_prints_are_kept_apart_from_answers_and_up_to_a_limit(runner: Runner) -> None:
    reply = one(runner, call("talk"), limits=Limits(seconds=10, output=8))

    assert (reply.status, reply.output) == ("ok", "one 1.5\n")


def test_a_cell_that_does_not_compile_takes_no_other_with_it(runner: Runner) -> None:
    code = "# %%\ndef broken(:\n# %%\ndef f(x):\n    return x / 0\n"

    sound, broken = runner.run_calls(code, [call("f"), call("broken")], LIMITS)

    assert sound.place == "line 5: return x / 0"
    assert (broken.status, broken.place) == ("raised", "line 2: def broken(:")


def test_a_mark_within_a_text_parts_no_cells(runner: Runner) -> None:
    text = 's = """\n# %%\nx = 1\n"""\ndef f(x): return len(s) + x\n'

    alone, beside_a_broken_one = (
        one(runner, call("f", 2), code).value
        for code in (text, f"# %%\ndef broken(:\n# %%\n{text}")
    )

    assert (alone, beside_a_broken_one) == (14, 14)


@pytest.mark.parametrize(
    ("class_line", "kind"),
    [
        ("class NotImplementedError(Exception): pass", "Exception"),
        ("class NotImplementedError(ValueError): pass", "ValueError"),
        ("class Later(NotImplementedError): pass\nNotImplementedError = Later", "RuntimeError"),
        ("", "NotImplementedError"),
    ],
)
def test_an_error_is_of_its_own_kind_whatever_its_class_is_called(
    class_line: str, kind: str, runner: Runner
) -> None:
    assert one(runner, call("f"), f"{class_line}\ndef f(x): raise NotImplementedError").kind == kind


@pytest.mark.parametrize(
    ("class_line", "words"),
    [
        ("class Odd(Exception): pass\nOdd.__name__ = 'KeyError'", "an exception of its own: 1"),
        ("class KeyError(Exception): pass\nOdd = KeyError", "an exception of its own: 1"),
        ("class Odd(Exception): pass", "Odd: 1"),
        ("Odd = ValueError", "ValueError: 1"),
        (
            "class Meta(type):\n    __name__ = property(lambda kind: 1 / 0)\n"
            "class Odd(Exception, metaclass=Meta): pass",
            "Odd: 1",
        ),
    ],
)
def test_no_class_of_the_learners_is_named_as_one_of_python_s(
    class_line: str, words: str, runner: Runner
) -> None:
    assert one(runner, call("f"), f"{class_line}\ndef f(x): raise Odd(1)").error == words


def test_after_a_statement_that_fails_the_next_one_runs(runner: Runner) -> None:
    reply = one(runner, call("f", 2), "import autodiff_kit.nothing\n1 / 0\ndef f(x): return x")

    assert reply.value == 2


def test_the_imports_of_the_future_hold_for_the_statements_behind(runner: Runner) -> None:
    code = "from __future__ import annotations\ndef f(x: not_defined): return x"

    assert one(runner, call("f", 2), code).value == 2


def test_a_dataclass_can_be_made(runner: Runner) -> None:
    code = "from dataclasses import *\n@dataclass\nclass P:\n    x: 'int'\ndef f(x): return P(x).x"

    assert one(runner, call("f", 2), code).value == 2


def test_a_text_from_a_learner_has_no_control_characters() -> None:
    assert clean("\x1b[2Ja\u202eb\nc") == "\\x1b[2Ja\\u202eb\\nc"
    assert clean("\x1b[2Ja\u202eb\nc", exceptions="\n") == "\\x1b[2Ja\\u202eb\nc"
    assert clean("x" * 50, 10) == "xxxxxxxxxx..."


def test_in_this_process_no_name_of_the_submission_is_left() -> None:
    one(InProcess(), call("twice"))

    assert "submission" not in sys.modules


# -- Processes of their own ----------------------------------------------------------------------


def test_an_endless_loop_ends_by_the_clock_and_costs_only_its_own_driver(apart: Runner) -> None:
    calls = [call("twice", 1), call("loop"), call("loop", 2), call("twice", 3)]
    start = time.monotonic()

    replies = apart.run_calls(CODE, calls, Limits(seconds=0.3))

    assert [reply.status for reply in replies] == ["ok", "timeout", "timeout", "ok"]
    assert replies[3].value == 6
    assert time.monotonic() - start < 20


SLOW = call("wait", 1.5)
WAITING = "import time\ndef wait(x):\n    time.sleep(x)\n    return x"


def test_time_that_the_machine_takes_is_not_the_learners(monkeypatch: pytest.MonkeyPatch) -> None:
    # Here a sleep stands for a process that gets a tenth of a core.
    born = time.monotonic()
    monkeypatch.setattr(usage, "computed", lambda process: 0.1 * (time.monotonic() - born))

    assert one(Level0(), SLOW, WAITING, Limits(seconds=0.3)).status == "ok"
    assert one(Level0(), call("wait", 30.0), WAITING, Limits(seconds=0.3)).status == "timeout"


def test_who_only_sleeps_does_not_wait_for_the_machine(apart: Runner) -> None:
    assert one(apart, call("wait", 30.0), WAITING, Limits(seconds=0.3)).status == "timeout"


def test_what_a_process_has_computed_is_told_from_outside(apart: Runner) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("no clock of other processes")
    seconds: list[float | None] = []

    class Watched:
        def __init__(self, process: Process) -> None:
            self.read, self.send, self.cpu = process.read, process.send, process.cpu
            self.process = process

        def end(self) -> str:
            seconds.append(self.process.cpu())
            return self.process.end()

    own = "return time.process_time()"
    spin = driver(f"import time\n    while time.process_time() < data: pass\n    {own}", 0.3)
    start = apart._start if isinstance(apart, Sandbox) else _Plain
    (reply,) = supervise(lambda request: Watched(start(request)), "", [spin], LIMITS)

    assert reply.status == "ok"
    # What it says itself, and then its end; the process that it is a copy of has another clock.
    assert seconds[0] is not None and reply.value <= seconds[0] < reply.value + 1


def test_a_process_that_ends_itself_has_died_and_the_rest_goes_on(apart: Runner) -> None:
    replies = apart.run_calls(CODE, [call("leave"), call("twice", 3)], LIMITS)

    assert [reply.status for reply in replies] == ["died", "ok"]
    assert "status 3" in replies[0].error


def test_too_much_memory_is_named_as_that(apart: Runner) -> None:
    assert one(apart, call("big")).status == "memory"


def test_an_array_too_large_is_told_in_the_words_of_numpy(apart: Runner) -> None:
    code = "import numpy as np\ndef big():\n    return np.ones(10**12)"

    reply = one(apart, driver("return step.big()"), code)

    assert reply.status == "memory"
    assert reply.error.startswith("MemoryError: Unable to allocate")


def test_an_answer_of_too_many_arrays_is_refused_with_the_reason_and_ends_nothing(
    apart: Runner,
) -> None:
    many = driver("return [np.array(1.0)] * 20_000")

    replies = apart.run_calls("x = 1", [many, driver("return step.x")], LIMITS)

    assert [reply.status for reply in replies] == ["refused", "ok"]
    assert "more than 50,000 items" in replies[0].error


def test_constants_which_need_not_be_run_count_where_a_statement_is_left_out(
    apart: Runner,
) -> None:
    code = "0\n" * 5 + "pass\n" + "'text'\n...\nraise ValueError\nimport os; os._exit(1)\nx = 1"

    (reply,) = apart.run_calls(code, [driver("return step.x")], LIMITS)

    assert (reply.status, reply.value) == ("ok", 1)


def test_a_loop_in_the_cells_ends_every_call_once(apart: Runner) -> None:
    start = time.monotonic()

    replies = apart.run_calls("while True: pass", [call("a"), call("b")], Limits(seconds=0.3))

    assert [reply.status for reply in replies] == ["timeout", "timeout"]
    assert time.monotonic() - start < 20


def test_an_answer_longer_than_its_limit_is_refused(apart: Runner) -> None:
    reply = one(apart, driver("return 'x' * 1000"), limits=Limits(seconds=10, reply=500))

    assert reply.status == "refused"


def test_the_kit_and_other_packages_are_absent(apart: Runner) -> None:
    body = "import importlib.util as u; return [n for n in data if u.find_spec(n)]"

    reply = one(apart, driver(body, ["autodiff_kit", "torch", "click", "numpy", "json"]))

    assert reply.value == ["numpy", "json"]


def test_a_child_has_no_open_file_but_the_talk_with_the_grader(apart: Runner) -> None:
    body = """
    import os
    found = []
    for number in range(256):
        try:
            os.fstat(number)
        except OSError:
            continue
        found.append(number)
    return found"""

    talk = [3] if apart.level.startswith("2") else [3, 4]
    assert one(apart, driver(body)).value == [0, 1, 2, *talk]


def test_a_child_has_none_of_the_teachers_environment(
    apart: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADEBOOK_TOKEN", "secret")

    reply = one(apart, driver("import os; return sorted(os.environ)"))

    assert "GRADEBOOK_TOKEN" not in reply.value
    assert "HOME" not in reply.value


def test_data_that_is_not_plain_is_the_askers_mistake(apart: Runner) -> None:
    with pytest.raises(ValueError, match="set"):
        one(apart, call("twice", {1, 2}))


# -- Walls ---------------------------------------------------------------------------------------


@needs_walls
def test_the_walls_of_this_machine_stand() -> None:
    findings = probe()

    assert findings[-1].problem == ""
    assert findings[-1].walls.level >= 1


@pytest.mark.skipif(WALLS is None, reason="no walls stand on this machine")
@pytest.mark.parametrize("walls", list(sandboxes.candidates()), ids=str)
def test_each_set_of_walls_stands_or_says_why_not(walls: Walls) -> None:
    with Sandbox(walls) as walled:
        (reply,) = walled.run_calls(CODE, [call("twice", 3)], LIMITS)
        problem = sandboxes.self_test(walled)

    if reply.status == "fault":
        assert problem
    else:
        assert (reply.value, problem) == (6, "")


def test_a_runner_without_walls_does_not_pass_as_one_with() -> None:
    problem = sandboxes.self_test(Level0())

    assert "a submission can" in problem
    for what in ("read a file", "write a file", "use the network", "start a process"):
        assert what in problem


def test_a_runner_that_runs_nothing_does_not_pass_as_safe() -> None:
    class Dead:
        level = "0"

        def run_calls(self, code: str, calls: list[Call], limits: Limits) -> list[Reply]:
            return [Reply("died")] * len(calls)

    assert "ordinary code does not run" in sandboxes.self_test(Dead())


@needs_walls
def test_a_fork_server_that_was_killed_is_replaced(walled: Sandbox) -> None:
    assert one(walled, call("twice", 1)).value == 2
    server = walled._server
    assert server is not None
    os.killpg(server.process.pid, signal.SIGKILL)
    server.process.wait()

    replies = [one(walled, call("twice", 2)) for _ in range(2)]

    assert replies[-1].value == 4
    assert all(reply.status in ("ok", "fault") for reply in replies)


@needs_walls
def test_nothing_is_left_when_the_grader_closes(walled: Sandbox) -> None:
    with Sandbox(walled.walls) as again:
        one(again, call("twice"))
        assert again._server is not None
        group = again._server.process.pid

    with pytest.raises(ProcessLookupError):
        os.killpg(group, 0)


@needs_walls
def test_what_was_tried_is_told_for_the_doctor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandboxes, "self_test", lambda runner: "they fell")

    findings = probe()

    assert {finding.problem for finding in findings} == {"they fell"}
    assert all(isinstance(finding, Finding) for finding in findings)
    assert best_walls() is None


def test_what_a_submission_may_read_holds_numpy_but_no_neighbour_and_no_kit() -> None:
    files, folders = sandboxes.readable()
    packages = Path(np.__file__).parents[1]

    assert str(packages / "numpy") in files
    assert str(packages) not in files + folders
    assert not [path for path in files if "autodiff_kit" in path or "pytest" in path]
    library = os.path.realpath(json.__file__)
    assert any(library.startswith(f"{path}/") for path in files)


CALLS = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
library = os.open(os.__file__, os.O_RDONLY)
flags = ctypes.c_long()
libc.ioctl(library, ctypes.c_ulong(0x80086601), ctypes.byref(flags))

def tried(*arguments):
    ctypes.set_errno(0)
    long = [ctypes.c_ulong(a & 2**64 - 1) if isinstance(a, int) else a for a in arguments]
    return libc.syscall(*long) < 0 and ctypes.get_errno()

def calls(numbers):
    asked = ctypes.byref(flags)
    return {
        "the owner of a socket's signals": tried(numbers["fcntl"], 3, 8, os.getpid()),
        "the same, in 64 bits": tried(numbers["fcntl"], 3, 2**32 + 8, os.getpid()),
        "which signal": tried(numbers["fcntl"], 3, 10, 9),
        "the flags of a library": tried(numbers["ioctl"], library, 0x40086602, asked),
        "the same flags, in 64 bits": tried(numbers["ioctl"], library, 2**32 + 0x40086602, asked),
        "fchmodat2": tried(452, -100, b"/nothing", 0o777, 0),
        "setxattrat": tried(463, -100, b"/nothing", 0, b"user.x", None, 0),
        "file_setattr": tried(469, -100, b"/nothing", None, 0, 0),
        "a name that nobody knows yet": tried(640),
    }
"""


def test_calls_that_a_library_cannot_name_or_that_hide_in_others_are_refused(
    walled: Sandbox,
) -> None:
    machine = {"x86_64": {"fcntl": 72, "ioctl": 16}, "aarch64": {"fcntl": 25, "ioctl": 29}}
    numbers = machine[os.uname().machine]

    reply = one(walled, Call("def drive(step, data): return step.calls(data)", numbers), CALLS)

    refused = {errno.EPERM, errno.ENOSYS}
    assert reply.status == "ok", reply
    assert {what: number for what, number in reply.value.items() if number not in refused} == {}
