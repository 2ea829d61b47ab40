"""Run code of a document under the recorder, and say in which of its lines an error came.

After reading you know what of one example is still there in the next one: with a context its
variables and random numbers, without one nothing. Read next: ``directive.py``.
"""

from __future__ import annotations

import io
import linecache
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from typing import Any, NamedTuple

from autodiff_kit.record import Recording, record

__all__ = ["MODULES", "Context", "Run", "run"]

Shared = dict[str, Any]  # of the code, by name

MODULES = {"kit": "autodiff_kit", "torch": "torch"}


class Run(NamedTuple):
    """What running some code gave.

    Attributes
    ----------
    recording : Recording
        Up to the error, if there was one.
    output : str
        What the code has printed.
    error : BaseException or None
        What ended it.
    line : int
        In which line of the code the error came, from 1; 0 without one.
    """

    recording: Recording
    output: str
    error: BaseException | None
    line: int


class Context:
    """What examples share: variables, and where the random numbers are.

    Parameters
    ----------
    library : "kit" or "torch"

    Raises
    ------
    ImportError
        If the library is not installed.
    """

    def __init__(self, library: str) -> None:
        self.library = import_module(MODULES[library])
        self.variables: Shared = {"__name__": "__main__", "torch": self.library}
        self._random_state: Any = None

    @contextmanager
    def settings(self) -> Iterator[None]:
        """Let code draw the same numbers in each build, and put back what it changes of PyTorch."""
        torch = self.library
        before = torch.get_rng_state(), torch.is_grad_enabled(), torch.get_default_dtype()
        detects_anomalies = torch.is_anomaly_enabled()
        if self._random_state is None:
            torch.manual_seed(0)
        else:
            torch.set_rng_state(self._random_state)
        try:
            yield
        finally:
            self._random_state = torch.get_rng_state()
            torch.autograd.set_detect_anomaly(detects_anomalies)
            torch.set_default_dtype(before[2])
            torch.set_grad_enabled(before[1])
            torch.set_rng_state(before[0])


def run(code: str, name: str, context: Context) -> Run:
    """Run code and record what its tensors do.

    Parameters
    ----------
    code : str
    name : str
        Of the file, as tracebacks have it; different for all code of a build.
    context : Context
    """
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    recorder = record(context.library)
    output = io.StringIO()
    error: BaseException | None = None
    with context.settings(), redirect_stdout(output), recorder as recording:
        try:
            exec(compile(code, name, "exec", dont_inherit=True), context.variables)
        except (Exception, SystemExit) as raised:
            error = raised
            recorder.failed(raised)
    return Run(recording, output.getvalue(), error, _line_of(error, name))


def _line_of(error: BaseException | None, name: str) -> int:
    """Return the line of the code in which an error came: in a function of it, that line."""
    if error is None:
        return 0
    if isinstance(error, SyntaxError) and error.filename == name:
        return error.lineno or 1
    line, traceback = 1, error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == name:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line
