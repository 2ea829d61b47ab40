"""The cell magics ``%%step`` and ``%%engine``: run a cell, and see or perform what it did.

After reading this file you know that a magic only records the cell and shows a widget below it;
and how a cell that fails below the magic is a failed cell to the notebook, too. Read next:
``stepper.py``, ``be_the_engine.py``.
"""

from __future__ import annotations

import builtins
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import getdoc
from keyword import iskeyword
from types import ModuleType, TracebackType
from typing import Any

from IPython.core.error import UsageError
from IPython.core.getipython import get_ipython
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.display import display

from autodiff_kit.free_form import Keywords
from autodiff_kit.late import late
from autodiff_kit.record import Recording, record
from autodiff_kit.record.source_files import is_foreign
from autodiff_kit.view.perform import PerformError
from autodiff_kit.view.perform.making import PARTS
from autodiff_kit.view.perform.page import LEVELS
from autodiff_kit.view.story_told import cause
from autodiff_kit.widgets.be_the_engine import BeTheEngine
from autodiff_kit.widgets.stepper import Stepper

__all__ = ["StepMagics", "load_ipython_extension"]

_SHOWN_BY = {"%%step": "Stepper", "%%engine": "BeTheEngine"}


@magics_class
class StepMagics(Magics):
    """Holds ``%%step`` and ``%%engine``."""

    shell: Any

    @cell_magic
    def step(self, line: str, cell: str) -> None:
        """Run the cell, record what its tensors do, and show it step by step.

        %%step           on top of a cell: the Stepper stands below it
        %%step rec       the same, and the variable rec holds the recording
        %%step --help    show this text; nothing runs

        The cell runs as always: its variables are there afterwards, its last value is shown, and
        an error is an error; the Stepper then shows all up to there. rec.to_html("steps.html")
        writes the steps as a page for any browser. A variable of yours is never overwritten by a
        recording, except by a new one.
        """
        words = line.split()
        if words in (["-h"], ["--help"]):
            print(getdoc(StepMagics.step))
            return
        self._show("%%step", words, cell, Stepper)

    @cell_magic
    def engine(self, line: str, cell: str) -> None:
        """Run the cell, record what its tensors do, and ask you to perform it step by step.

        %%engine                    on top of a cell: Be the engine stands below it
        %%engine rec                the same, and the variable rec holds the recording
        %%engine --backward --free  ask for this part only, and begin with this level
        %%engine --lines=3-5        ask about the nodes of these lines: of a longer cell
        %%engine --keep=my.graph    keep what came of it beside your answers in the lessons
        %%engine --help             show this text; nothing runs

        The parts are --build, --backward and --state; the levels --worked, --guided, --free and
        --exam. The cell runs as always; an error is an error. A cell of many operations is too
        long to perform: it says so, and %%step shows it.
        """
        words = line.split()
        if words in (["-h"], ["--help"]):
            print(getdoc(StepMagics.engine))
            return
        keys = [word.removeprefix("--keep=") for word in words if word.startswith("--keep=")]
        spans = [word.removeprefix("--lines=") for word in words if word.startswith("--lines=")]
        words = [word for word in words if not word.startswith(("--keep=", "--lines="))]
        span = re.fullmatch(r"(\d+)(?:-(\d+))?", "".join(spans))
        options = {word.removeprefix("--") for word in words if word.startswith("--")}
        parts, levels = sorted(options & {*PARTS}), sorted(options & {*LEVELS})
        unknown = sorted(options - {*PARTS, *LEVELS})
        if unknown or len(levels) > 1 or len(keys) > 1 or "" in keys or (spans and not span):
            raise UsageError(
                f"%%engine {line.strip()}: write parts ({', '.join('--' + p for p in PARTS)}) and "
                f"one level ({', '.join('--' + level for level in LEVELS)}), and --keep=NAME once, "
                "--lines=3-5 once. More: %%engine --help"
            )
        names = [word for word in words if not word.startswith("--")]

        def lab(recording: Recording) -> Any:
            how: Keywords = {"only": parts or None, "level": [*levels, "guided"][0]}
            if span:  # the magic's own line has no number in the picture
                how["lines"] = int(span[1]), int(span[2] or span[1])
            if keys:  # the lessons know where a learner's answers are kept
                return late("performances").perform(recording, keys[0], **how)
            return BeTheEngine(recording, **how)

        self._show("%%engine", names, cell, lab)

    def _show(
        self, magic: str, words: list[str], cell: str, widget: Callable[[Recording], Any]
    ) -> None:
        """Run and record a cell, and show a widget of it."""
        self._check(words, magic)
        # Of the whole cell, magic and all: the kernel looks here for whether the cell failed.
        outer = self.shell.displayhook.exec_result
        recorder = record()
        numbered = _numbered_as(self.shell, outer)
        with recorder as recording, _own_lines_in_tracebacks(self.shell), numbered:
            # run_cell shows the last value and the traceback, and returns instead of raising.
            result = self.shell.run_cell(cell, store_history=False)
            if result.error_in_exec is not None:
                recorder.failed(result.error_in_exec)
        if outer is not None:
            # Raising once more would show a second traceback; without this, Run All would go on.
            outer.error_before_exec = result.error_before_exec
            outer.error_in_exec = result.error_in_exec
        if result.error_before_exec is not None:
            return  # a syntax error: IPython has shown it, and nothing ran
        for name in words:
            if self._is_taken(name):
                print(
                    f"{magic} {name}: the cell has made a variable {name} of its own. It keeps "
                    "its value, and the recording is lost: choose another name for it."
                )
            else:
                self.shell.user_ns[name] = recording
        if recording.nodes or cause(recording.to_dict()):
            try:
                display(widget(recording))  # type: ignore[no-untyped-call]
            except PerformError as error:
                print(error)
        elif name := self._pytorch_in(cell):
            print(
                f"Nothing was recorded: this cell works with PyTorch itself, and {magic} records "
                f"the kit.\nWrite, without {magic}, your lines below `with ak.record({name}) as "
                f"rec:`, and then {_SHOWN_BY[magic]}(rec), with\n`import autodiff_kit as ak` and "
                f"`from autodiff_kit.widgets import {_SHOWN_BY[magic]}`."
            )
        elif result.success:
            print(
                "Nothing was recorded: no tensor was made or used in this cell.\n"
                "Try: x = torch.tensor(2., requires_grad=True); y = x * x"
            )

    def _pytorch_in(self, cell: str) -> str:
        """Return what PyTorch itself is called in a cell; "" if none of its names is there."""
        torch, names_there = sys.modules.get("torch"), self.shell.user_ns
        if getattr(torch, "__name__", "") != "torch":
            return ""  # not loaded, or the kit under its name
        values = [names_there[n] for n in re.findall(r"[^\W\d]\w*", cell) if n in names_there]
        names = [name for name, value in names_there.items() if value is torch]
        homes = [getattr(value, "__module__", None) for value in values]
        homes += [value.__name__ for value in values if isinstance(value, ModuleType)]
        is_used = any(str(home).split(".")[0] == "torch" for home in homes)
        return [*names, "torch"][0] if is_used else ""

    def _check(self, words: list[str], magic: str) -> None:
        """Refuse what is not one free name or none, before anything runs.

        Raises
        ------
        UsageError
            IPython shows it in one line without a traceback, and the cell counts as failed.
        """
        command = " ".join([magic, *words])
        if len(words) > 1 or "".join(words).startswith("-"):
            raise UsageError(
                f"{command}: write one name or none after {magic}, for example {magic} rec. "
                f"More: {magic} --help"
            )
        for name in words:
            if not name.isidentifier() or iskeyword(name):
                raise UsageError(
                    f"{command}: {name} is not a name for a variable. Write for example {magic} rec"
                )
            if self._is_taken(name):
                raise UsageError(
                    f"{command}: {name} has another meaning already, and the recording would take "
                    f"its place. Nothing ran. Write another name, for example {magic} rec"
                )

    def _is_taken(self, name: str) -> bool:
        """Return whether a variable or a builtin has this name; a recording may be replaced."""
        namespace = self.shell.user_ns
        return (
            not isinstance(namespace[name], Recording)
            if name in namespace
            else hasattr(builtins, name)
        )


@contextmanager
def _numbered_as(shell: Any, outer: Any) -> Iterator[None]:
    """Let the cell below the magic have the number of the whole cell, as the notebook shows it."""
    number = getattr(outer, "execution_count", None)
    if number is None:
        yield
        return
    following, shell.execution_count = shell.execution_count, number
    try:
        yield
    finally:
        shell.execution_count = following


_KIT = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")


@contextmanager
def _own_lines_in_tracebacks(shell: Any) -> Iterator[None]:
    """Let IPython leave out the kit's own lines, for this cell; what an error says says enough."""
    if shell.custom_exceptions:  # the learner has a handler of their own
        yield
        return
    before, here = shell.CustomTB, (BaseException,)
    shell.set_custom_exc(here, _show_own_lines)
    try:
        yield
    finally:
        if shell.custom_exceptions is here:
            shell.CustomTB, shell.custom_exceptions = before, ()


def _show_own_lines(
    shell: Any, kind: type, error: BaseException, traceback: Any, tb_offset: Any = None
) -> None:
    link: BaseException | None = error
    ids: set[int] = set()
    while link is not None and id(link) not in ids:
        ids.add(id(link))
        _cut(link.__traceback__)
        link = link.__cause__ or link.__context__
    shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)


def _cut(traceback: TracebackType | None) -> None:
    """Take the kit's frames out, and what they called, up to the next one of the learner's."""
    while traceback is not None:
        after = traceback.tb_next
        if after is not None and after.tb_frame.f_code.co_filename.startswith(_KIT):
            while after is not None and is_foreign(after.tb_frame.f_code.co_filename):
                after = after.tb_next
            traceback.tb_next = after
        traceback = after


def _with_body(lines: list[str]) -> list[str]:
    """Let ``%%step --help`` stand alone: IPython refuses any cell magic without a body."""
    is_ours = len(lines) == 1 and "".join(lines[0].split()[:1]) in _SHOWN_BY
    return [*lines, "\n"] if is_ours else lines


def _load_again(*_: Any) -> None:
    """Let ``%load_ext`` pass in silence when its cell is run again, as an import does."""
    manager = getattr(get_ipython(), "extension_manager", None)
    if manager is not None:
        manager.loaded -= {"autodiff_kit", "autodiff_kit.widgets"}


def load_ipython_extension(ip: Any) -> None:
    """Register the magic; what ``%load_ext autodiff_kit`` calls."""
    ip.register_magics(StepMagics)
    if _load_again not in ip.events.callbacks["post_run_cell"]:
        ip.events.register("post_run_cell", _load_again)
    if _with_body not in ip.input_transformers_cleanup:
        ip.input_transformers_cleanup.append(_with_body)
