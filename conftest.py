"""What is run where, and in how many processes.

Tests marked ``browser`` or ``parity`` are skipped, with a reason, where Chromium or PyTorch is
missing. ``ADK_REQUIRE_BROWSER=1`` and ``ADK_REQUIRE_PARITY=1`` turn the skip into a stop at once.
Tests marked ``gate`` are proofs that take minutes: they run with ``ADK_REQUIRE_GATE=1``, and
``gate.py`` says so to those that do more there. A run of the whole suite uses all cores.
"""

import atexit
import gc
import importlib.util
import inspect
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import nullcontext
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.metadata import version
from pathlib import Path
from typing import Any

import nbval.kernel
import pytest
from _pytest.doctest import DoctestModule

from tests import parity, rows, sources, warm_kernels
from tests.gate import IN_THE_GATE

# What reads notebooks checks them with jsonschema, which would first build a grammar for each kind
# of address, for two seconds in every process. No notebook has a field for one.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
# Tests start hundreds of processes. Where Python is told to keep no bytecode, each would compile
# the kit anew, and each of several processes all tests. Git ignores where it lies, __pycache__.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Asserts outside of test modules show their values only if pytest hears of them before the import.
SHOWN = ("autograd.programs", "invariants.running", "lessons.proofs", "same_as_torch")
pytest.register_assert_rewrite(*(f"tests.{name}" for name in SHOWN))
pytest_plugins = ["nbval.plugin"]  # pyproject.toml keeps it from being loaded before that

# NumPy and PyTorch read it when they are imported, also in what tests start. Where processes share
# a few cores, threads of theirs would wait for each other: ten times as long, in bad moments.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# These take longest, and so they begin, shared out test by test: no process is left alone with one
# of them at the end.
LONG = [
    "tests/grading/exercises/test_exercises.py",
    "tests/lessons/test_lessons.py",
    "tests/widgets/test_odd_functions.py",
    "tests/ops/test_every_op.py",
]
# These come next, each in one process: at the end, all others would wait for it.
NEXT = [
    "tests/same_as_torch/test_op_db.py",
    "tests/grading/attacks/test_attacks.py",
    "tests/invariants/test_invariants.py",
    "tests/puzzles/test_puzzles.py",
    "tests/grading/test_nbgrader.py",
    "tests/grading/attacks/test_files.py",
    "tests/fuzz/test_fuzz.py",
]
# These share what takes time, a JupyterLab with Chromium or the package's sources: one process has
# them. A second JupyterLab and Chromium at the same time would be too much for two cores.
SHARING = {
    "tests/browser": re.compile(r"tests/browser/"),
    "sources": re.compile(r"tests/test_(layers|contributing|errors|language|reading_path)\.py"),
}

# Two processes that read all tests in the same order would compile each file at the same time.
_BACKWARDS = bool(int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 2)

# Where the kit remembers which lessons were opened last; the tests must not write the user's own.
if "ADK_HOME" not in os.environ:
    os.environ["ADK_HOME"] = tempfile.mkdtemp(prefix="adk-home-")
    atexit.register(shutil.rmtree, os.environ["ADK_HOME"], ignore_errors=True)


def _missing() -> dict[str, str]:
    """Return marker -> what is missing for it."""
    missing = {}
    if importlib.util.find_spec("playwright") is None:
        missing["browser"] = 'needs playwright: pip install -e ".[browser]"'
    elif not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        missing["browser"] = "needs Chromium, see `autodiff-kit doctor`"
    if importlib.util.find_spec("torch") is None:
        missing["parity"] = 'needs PyTorch: pip install -e ".[parity]"'
    elif (own := version("torch").split("+")[0]) != parity.VERSION:
        missing["parity"] = f"needs PyTorch {parity.VERSION}, and not {own}"
    if not IN_THE_GATE:
        missing["gate"] = "takes minutes: the gate runs it, or ADK_REQUIRE_GATE=1"
    return missing


def _is_everything(config: pytest.Config) -> bool:
    return config.args_source is not pytest.Config.ArgsSource.ARGS


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Share a run of everything out among the cores; a few files are quicker without.

    Whoever says otherwise is obeyed: ``-n 0``, ``--pdb``, ``-s``, ``-p no:xdist``.
    """
    option = config.option
    has_xdist = hasattr(option, "numprocesses")
    debugs = option.usepdb or option.trace or option.capture == "no"
    if not has_xdist or "PYTEST_XDIST_WORKER" in os.environ:  # one process of several itself
        return
    if option.numprocesses is None and _is_everything(config) and not debugs:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        option.numprocesses = min(cores or 1, 8) if cores != 1 else 0
    if option.dist == "no" and option.numprocesses:
        option.dist = "loadfile"  # a file's recordings are made once; a notebook is one kernel
        option.loadscopereorder = False  # what takes longest does not have the most tests


def pytest_configure(config: pytest.Config) -> None:
    only_files = all("::" in argument or argument.endswith(".py") for argument in config.args)
    rows.TOGETHER = not only_files and not config.option.keyword
    parity.IS_LEFT_OUT = "not parity" in config.option.markexpr
    for marker, reason in _missing().items():
        if os.environ.get(f"ADK_REQUIRE_{marker.upper()}") == "1":
            raise pytest.UsageError(f"ADK_REQUIRE_{marker.upper()}=1, but the test {reason}")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Generator[None, Any, Any]:
    """Look for examples in docstrings only in files that have some: the search takes seconds.

    Tests run every notebook, too, the lessons byte for byte: nbval sees them as they are for a
    learner who has answered nothing. The gate asks for it, and so does ``pytest notebooks``.
    """
    collectors: list[pytest.Collector] = yield
    if file_path.suffix == ".ipynb" and not IN_THE_GATE and _is_everything(parent.config):
        return []
    if file_path.suffix == ".py" and b">>>" not in file_path.read_bytes():
        return [c for c in collectors if not isinstance(c, DoctestModule)]
    return collectors


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Find the tests without the garbage collector: nearly all that is made there lasts."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_sessionstart() -> None:
    """Compile the kit, where that has not been done: each process begins at its end of the list."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        for path in sources.MODULES[:: -1 if _BACKWARDS else 1]:
            if not Path(importlib.util.cache_from_source(str(path))).exists():
                SourceFileLoader(sources.name_of(path), str(path)).get_code(sources.name_of(path))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    """Find the last tests first in every other process: they share the work of compiling them."""
    report: pytest.CollectReport = yield
    if _BACKWARDS and isinstance(collector, pytest.Session | pytest.Directory):
        report.result.reverse()
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: Any) -> Any:
    """Let one test go through the rows of a table, as ``tests/rows.py`` says.

    Processes then tell each other of half as many tests.
    """
    if not rows.TOGETHER or not isinstance(collector, pytest.Module) or not inspect.isfunction(obj):
        return None
    if collector.nodeid.startswith("tests/same_as_torch/"):  # there, a row may be skipped alone
        return None

    def is_shared(names: set[str]) -> bool:
        fixtures = collector.session._fixturemanager.getfixtureinfo(collector, obj, cls=None)
        others = [f[-1] for n, f in fixtures.name2fixturedefs.items() if n not in names]
        return "request" not in fixtures.argnames and not any(
            fixture.scope == "function" or names & {*fixture.argnames} for fixture in others
        )

    test = rows.with_all_rows(obj, is_shared)
    if test is obj:
        return None
    setattr(collector.obj, name, test)
    return collector.ihook.pytest_pycollect_makeitem(collector=collector, name=name, obj=test)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    missing = _missing()
    providers = sys.modules.get("hypothesis.internal.conjecture.providers")
    if not IN_THE_GATE and hasattr(providers, "_get_local_constants"):
        # Hypothesis tries the numbers and texts that it reads in all sources of the kit: to read
        # them takes seconds, in each process.
        providers._get_local_constants = lambda: providers._local_constants  # type: ignore
    for item in items:
        for marker, reason in missing.items():
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))
    items.sort(key=lambda item: (_turn(item), item.nodeid.partition("::")[0]))


@pytest.fixture(autouse=True, scope="module")
def out_of_the_garbage_collectors_way() -> None:
    """Let the garbage collector look at what a file's own tests make.

    There are more than a million objects of what was imported and collected, and they live as long
    as the process. Each collection that a test asks for or causes would look at all of them, which
    took longer than most such tests.
    """
    gc.collect()
    gc.freeze()


def _turn(item: pytest.Item) -> int:
    """Return when a test's turn comes: what takes longest begins, and so the browser."""
    if _is_for_a_browser(item):
        return -1
    file = item.nodeid.partition("::")[0]
    turns = LONG + NEXT
    return turns.index(file) if file in turns else len(turns)


def _is_for_a_browser(item: pytest.Item) -> bool:
    return item.get_closest_marker("browser") is not None


@cache
def _stand_back() -> None:
    if hasattr(os, "nice"):  # not on Windows
        os.nice(4)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let the browser's process go first where several share the cores: all wait for it."""
    if "PYTEST_XDIST_WORKER" in os.environ and not _is_for_a_browser(item):
        _stand_back()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Generator[None, Any, Any]:
    """Let the test fail that leaves an observer behind, and none of those that come after it."""
    result = yield
    if kit := sys.modules.get("autodiff_kit.core.mode"):
        mode = kit.local.mode
        observer, mode.observer = mode.observer, None
        assert observer is None, f"{observer} still watches"
    return result


@pytest.fixture
def read_only_place() -> Iterator[Path]:
    """A folder that this process cannot write in, even when the tests run as root."""
    if os.name != "posix":
        pytest.skip("needs POSIX permissions")
    place = Path(tempfile.mkdtemp())
    place.chmod(0o555)
    is_root = os.geteuid() == 0
    if is_root:  # root ignores permissions; "nobody" does not
        os.seteuid(65534)
    yield place
    if is_root:
        os.seteuid(0)
    place.chmod(0o755)
    shutil.rmtree(place)


def _start_kernel(*args: Any, **options: Any) -> Any:
    """Start a notebook's kernel; once more, if another process has taken a port meant for it."""
    try:
        return _start_once(*args, **options)
    except RuntimeError:  # nbval's: "Kernel died before replying to kernel_info"
        return _start_once(*args, **options)


_start_once = nbval.kernel.start_new_kernel
nbval.kernel.start_new_kernel = _start_kernel


@pytest.fixture(scope="session")
def kernel_folder() -> Iterator[str]:
    folder = tempfile.mkdtemp(prefix="adk-kernels-")
    with warm_kernels.server(Path(folder)) if hasattr(os, "fork") else nullcontext():
        yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def kernels(kernel_folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each kernel be a fork of one process that has imported Jupyter and the kit."""
    monkeypatch.setenv("JUPYTER_PATH", kernel_folder)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Share the tests out among processes: a file, or a test of a long one, to each in turn."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduler(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file: str = super()._split_scope(nodeid)
            if file in LONG:
                return nodeid
            return next((name for name, those in SHARING.items() if those.match(file)), file)

    return Scheduler(config, log)
