"""Every attack against the real grader, with walls and without.

Without walls: no points. With walls: no points, and nothing else has happened either. In both: the
next honest submission has all its points. Where walls stand, the gate alone tries without, too.
``python -m pytest tests/grading/attacks -q`` says how many there are.
"""

import contextlib
import dataclasses
import os
import socket
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from autodiff_kit.grading.calls import Runner
from autodiff_kit.grading.course import Course
from autodiff_kit.grading.engine_local import Local, grade
from autodiff_kit.grading.identity import Submission
from autodiff_kit.grading.marking import grade_code
from autodiff_kit.grading.results import Grade
from autodiff_kit.grading.sandbox import Sandbox
from autodiff_kit.grading.store import Store
from tests.gate import some
from tests.grading import tiny
from tests.grading.attacks.attacks import ALL, COPYING, GREEDY, SHORT
from tests.grading.standing import WALLS, unless_behind_walls

CHOSEN = some(ALL, 55)
PATIENCE = 0.25  # seconds for an attack that wants to take for ever
needs_walls = pytest.mark.skipif(
    WALLS is None and os.environ.get("ADK_REQUIRE_SANDBOX") != "1",
    reason="no walls stand on this machine, see `autodiff-kit doctor`",
)


@dataclasses.dataclass
class World:
    """What nobody may touch."""

    folder: Path
    canary: Path
    victim: subprocess.Popen[bytes]
    tcp: socket.socket
    udp: socket.socket
    local: socket.socket

    def put_into(self, code: str, course: Course) -> str:
        (self.folder.parent / "neighbour.py").write_text(tiny.SOLUTION)
        for name, value in {
            "LOCAL_SOCKET": self.local.getsockname(),
            "CANARY": self.canary,
            "VICTIM": self.victim.pid,
            "PORT": self.tcp.getsockname()[1],
            "COURSE": course.folder,
            "NEIGHBOUR": self.folder.parent / "neighbour.py",
            "PACKAGE": Path(__file__).parents[3],
        }.items():
            code = code.replace(name, str(value))
        return code

    def look(self) -> dict[str, object]:
        """Return all that must stay as it is."""
        what = self.canary.stat()
        with open(f"/proc/{self.victim.pid}/limits", encoding="ascii") as limits:
            open_files = next(line for line in limits if line.startswith("Max open files"))
        return {
            "files": sorted(os.listdir(self.folder)),
            "shared memory": os.path.exists("/dev/shm/adk-attack"),
            "content": self.canary.read_text(),
            "mode": stat.S_IMODE(what.st_mode),
            "time": what.st_mtime_ns,
            "victim": self.victim.poll(),
            "victim's limits": open_files,
            "victim's priority": os.getpriority(os.PRIO_PROCESS, self.victim.pid),
            "attributes": os.listxattr(self.canary) if hasattr(os, "listxattr") else [],
            "local socket": self._arrived(self.local),
            "TCP": self._arrived(self.tcp),
            "UDP": self._arrived(self.udp),
        }

    def _arrived(self, on: socket.socket) -> bool:
        try:
            if on.type == socket.SOCK_STREAM:
                on.accept()[0].close()
            else:
                on.recv(10)
        except BlockingIOError:
            return False
        return True


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return tiny.make_course(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    assert WALLS is not None, "ADK_REQUIRE_SANDBOX=1, but no walls stand on this machine"
    with Sandbox(WALLS) as box:
        yield box


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with made_world(tmp_path) as place:
        yield place


@contextlib.contextmanager
def made_world(place: Path) -> Iterator[World]:
    folder = place / "canary"
    folder.mkdir()
    folder.chmod(0o777)
    canary = folder / "canary.txt"
    canary.write_text("untouched")
    canary.chmod(0o666)
    victim = subprocess.Popen(["sleep", "1000"])
    with (
        socket.socket() as tcp,
        socket.socket(type=socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as local,
        tempfile.TemporaryDirectory() as short,  # such a socket's path may not be long
    ):
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        udp.bind(tcp.getsockname())
        local.bind(f"{short}/s")
        for path, mode in ((short, 0o777), (f"{short}/s", 0o666)):
            os.chmod(path, mode)
        for on in (tcp, udp, local):
            on.setblocking(False)
        yield World(folder, canary, victim, tcp, udp, local)
    victim.kill()
    victim.wait()
    Path("/dev/shm/adk-attack").unlink(missing_ok=True)


@pytest.fixture(scope="module")
def in_plain_processes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Grade]:
    """A class of attackers, with an honest learner behind each, graded by `grade` itself."""
    place = tmp_path_factory.mktemp("plain")
    course = tiny.make_course(place / "course", seconds=PATIENCE)
    with made_world(place) as world, Store(place / "results.sqlite") as store:
        handed_in = []
        for name in CHOSEN:
            honest = f"{tiny.SOLUTION}# {name}\n"
            for student, text in (
                (name, world.put_into(ALL[name], course)),
                (behind(name), honest),
            ):
                data = text.encode()
                handed_in.append(Submission(student, "", tiny.NAME, "", data, ".py"))
        grade(handed_in, course, store, Local(course, None, 2), secret=1, guard=True)
        return {entry.student: entry for entry in store.grades()}


def behind(name: str) -> str:
    return f"the one behind {name}"


def attacked(runner: Runner, course: Course, code: str, patience: float) -> float:
    """Return the points of an attack, after which an honest learner gets all of theirs."""
    exercise = course.exercise("01.double")
    result = grade_code(tiny.with_seconds(exercise, patience), code, runner, seed=1)
    honest = grade_code(exercise, tiny.SOLUTION, runner, seed=1)

    assert all(row.status not in ("right", "fault") for row in result.rows), result.rows
    assert (honest.points, honest.max) == (3, 3), honest.rows
    return result.points


def patience_for(name: str) -> float:
    return PATIENCE if name.partition(": ")[2] in {*GREEDY, *SHORT} else 10


@needs_walls
@pytest.mark.parametrize("name", CHOSEN)
def test_behind_walls_an_attack_gains_nothing_and_does_nothing(
    name: str, course: Course, sandbox: Sandbox, world: World
) -> None:
    before = world.look()

    points = attacked(sandbox, course, world.put_into(ALL[name], course), patience_for(name))

    assert points == 0
    assert world.look() == before


@unless_behind_walls
@pytest.mark.skipif(os.name != "posix", reason="what the attacks do is POSIX")
@pytest.mark.parametrize("name", CHOSEN)
def test_in_a_plain_process_an_attack_gains_nothing(
    name: str, in_plain_processes: dict[str, Grade]
) -> None:
    attack, honest = in_plain_processes[name], in_plain_processes[behind(name)]

    assert (attack.points, attack.attempt.status, attack.attempts) == (0, "graded", 1)
    assert not [mark for mark in attack.marks if mark.status == "right"]
    assert (honest.points, honest.max) == (3, 3), honest.marks


@needs_walls
@pytest.mark.parametrize("name", COPYING)
def test_behind_walls_there_is_nothing_to_copy_from(
    name: str, course: Course, sandbox: Sandbox, world: World
) -> None:
    assert attacked(sandbox, course, world.put_into(COPYING[name], course), 10) == 0


def test_there_are_at_least_forty_attacks() -> None:
    assert len(ALL) >= 40
