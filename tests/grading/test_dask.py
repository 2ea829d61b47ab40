"""On a real Dask cluster of two workers, one of which is killed: the same table as locally.

Needs the extra: ``pip install -e ".[cluster]"``. ``ADK_REQUIRE_CLUSTER=1`` makes that a must.
"""

import importlib.util
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autodiff_kit.grading.course import Course
from autodiff_kit.grading.engine_dask import ClusterError, OnDask
from autodiff_kit.grading.engine_local import Local, grade
from autodiff_kit.grading.identity import Submission
from autodiff_kit.grading.results import Attempt
from autodiff_kit.grading.sandbox import best_walls
from autodiff_kit.grading.store import Store
from tests.grading import tiny

ROOT = Path(__file__).parents[2]
COUNT = 60

if os.environ.get("ADK_REQUIRE_CLUSTER") != "1" and not importlib.util.find_spec("distributed"):
    pytest.skip('needs Dask: pip install -e ".[cluster]"', allow_module_level=True)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return tiny.make_course(tmp_path / "course")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[str]]]]:
    """Yield the address of a scheduler on loopback, and two workers with one thread each."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "ignore",
        "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "20",
    }
    started: list[subprocess.Popen[str]] = []

    def start(*words: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]],
            cwd=tmp_path,
            env=environment,
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        started.append(process)
        return process

    try:
        common = ("--no-dashboard",)
        scheduler = start("scheduler", "--host", "127.0.0.1", "--port", "0", *common)
        assert scheduler.stderr is not None
        for line in scheduler.stderr:
            if match := re.search(r"tcp://127\.0\.0\.1:\d+", line):
                break
        address = match[0]
        options = ("--nthreads", "1", "--no-nanny", *common)
        workers = [start("worker", address, *options) for _ in range(2)]
        yield address, workers
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()
            if process.stderr is not None:
                process.stderr.close()


@pytest.mark.filterwarnings("ignore")  # Dask's own, about versions and loops
def test_with_a_worker_killed_half_way_the_table_is_the_same_as_locally(
    course: Course, cluster: tuple[str, list[subprocess.Popen[str]]], tmp_path: Path
) -> None:
    address, workers = cluster
    code = [tiny.SOLUTION, tiny.WRONG, tiny.STUB, "def double(x): return 1 /"]
    handed_in = [
        Submission(f"s{n:02}", "", tiny.NAME, "", f"{code[n % 4]}\n#{n}".encode(), ".py")
        for n in range(COUNT)
    ]
    with Store(tmp_path / "local.sqlite") as store:
        grade(handed_in, course, store, Local(course, best_walls(), 1), secret=1)
        local = [(g.student, g.marks) for g in store.grades()]
    engine = OnDask(course, address, 0)
    engine.client.wait_for_workers(2, timeout=60)

    def killing(jobs: object) -> Iterator[Attempt]:
        for number, attempt in enumerate(engine(jobs)):  # type: ignore[arg-type]
            if number == COUNT // 3:
                workers[0].send_signal(signal.SIGKILL)
            yield attempt

    with Store(tmp_path / "dask.sqlite") as store:
        summary = grade(handed_in, course, store, killing, secret=1)
        distributed = [(g.student, g.marks) for g in store.grades()]
        attempts = len(list(store.attempts()))

    assert [pair for pair in distributed if pair not in local] == []
    assert distributed == local
    assert attempts == COUNT
    assert summary.faults == 0


def test_a_scheduler_that_does_not_answer_is_named(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autodiff_kit.grading.engine_dask.PATIENCE", 1)

    with pytest.raises(ClusterError, match=r"tcp://127\.0\.0\.1:9"):
        OnDask(course, "tcp://127.0.0.1:9", 0)
