"""``%%beside``: run a cell with the kit and with real PyTorch, and compare line by line.

After reading you know that the cell itself is not changed: the same text runs twice, once with the
name ``torch`` for the kit and once for PyTorch. PyTorch is loaded here and nowhere else, because
the learner asks for it; where it is not installed, the kit's answers stand alone. Read next:
``../view/beside.py``.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable
from hashlib import sha256
from importlib.util import find_spec
from inspect import getdoc
from itertools import zip_longest
from typing import Any

from IPython.core.error import UsageError
from IPython.core.getipython import get_ipython
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.display import display

import autodiff_kit
from autodiff_kit.core.observer import installed
from autodiff_kit.free_form import Namespace
from autodiff_kit.record import Recording, record
from autodiff_kit.view.beside import Line, agree, draw
from autodiff_kit.widgets.lab import Lab
from autodiff_kit.widgets.running import Refused, run, with_article
from autodiff_kit.widgets.stepper import Stepper

__all__ = ["BesidePyTorch"]

# For a program; PyTorch loads some of its parts when they are first used. The kit runs first: a
# loop without an end is known by then.
SECONDS, SECONDS_PYTORCH = 5.0, 30.0
_MISSING = (
    "PyTorch is not installed here, so these are the kit's answers alone. To see both: "
    "pip install torch, restart the kernel, and run this cell again."
)


class BesidePyTorch(Lab):
    r"""Show what the kit and PyTorch answer to each line of a program.

    Parameters
    ----------
    source : str
        The program. It finds the library under the name ``torch`` and nothing else of yours.

    Attributes
    ----------
    lines : list of Line
        Each statement with both answers.
    varying : list of str
        The statements to which the kit's two answers differ.

    Raises
    ------
    TypeError
        If ``source`` is no text.

    Examples
    --------
    >>> lab = BesidePyTorch("x = torch.tensor(3., requires_grad=True)\ny = x * x")
    >>> [line.kit for line in lab.lines]
    ['tensor(3., requires_grad=True)', 'tensor(9., grad_fn=<MulBackward0>)']
    >>> lab
    BesidePyTorch(2 lines: x = torch.tensor(3., requires_grad=True) ...)
    """

    def __init__(self, source: str) -> None:
        if not isinstance(source, str):
            raise TypeError(
                "BesidePyTorch compares the lines of a program, and this is "
                f"{with_article(type(source).__name__)}.\n-> Give the text of the program, or "
                "write %%beside on top of a cell."
            )
        self.lines: list[Line] = []
        self.varying: list[str] = []
        self._source = source.strip("\n")
        super().__init__({})

    def draw(self) -> None:
        """Run the program with both, and draw the answers."""
        torch = pytorch()
        kit = _answers(self._source, autodiff_kit, SECONDS)
        again = _answers(self._source, autodiff_kit, SECONDS)
        self.varying = [one[0] for one, two in zip(kit, again, strict=False) if one != two]
        real = kit if torch is None else _answers(self._source, torch, SECONDS_PYTORCH)
        self.lines = [
            Line(mine[0] or theirs[0], mine[1], None if torch is None else theirs[1])
            for mine, theirs in zip_longest(kit, real, fillvalue=("", "not reached"))
        ]
        self.canvas.svg = draw(self.lines, self._title())
        caption = _MISSING if torch is None else self._verdict(torch.__version__)
        self.canvas.caption = caption + self._doubt()

    def _doubt(self) -> str:
        """Say which lines answer something else each time, if any do."""
        if not self.varying:
            return ""
        first = self.varying[0].split("\n")[0]
        more = f" and {len(self.varying) - 1} more" * (len(self.varying) > 1)
        return (
            f" But this program answers something else each time, from the line {first}{more}: "
            "random numbers without torch.manual_seed(), the time, or something else that is not "
            "in the program. Run twice, the kit did not agree with itself."
        )

    def _verdict(self, version: str) -> str:
        answered = [line for line in self.lines if line.kit or line.torch]
        equal = sum(map(agree, answered))
        if not answered:
            return "No line of this program has an answer that could be compared."
        with_it = f"The answers of the kit beside those of PyTorch {version.split('+')[0]}"
        if equal == len(answered):
            all_of_them = f"all {equal} are" if equal > 1 else "the only one is"
            return f"{with_it}: {all_of_them} equal, character by character."
        return f"{with_it}: {equal} of {len(answered)} are equal."

    def _title(self) -> str:
        return "What autodiff_kit answers, line by line"

    def still(self) -> str:
        """Return the kit's answers: the same picture with PyTorch and without."""
        alone = [Line(line.code, line.kit) for line in self.lines]
        return draw(alone, self._title()) if alone else ""

    def shown(self) -> str:
        """Return the picture with both answers, where PyTorch is installed."""
        return str(self.canvas.svg)

    def __repr__(self) -> str:
        """Name the program; the same words with PyTorch and without."""
        count = len(self.lines)
        first = self._source.split("\n")[0]
        more = " ..." if "\n" in self._source else ""
        return f"BesidePyTorch({count} line{'s' * (count != 1)}: {first}{more})"


def pytorch() -> Any:
    """Return PyTorch, or None where it is not installed."""
    if find_spec("torch") is None:
        return None
    space: Namespace = {}
    exec("import torch", space)  # the one line by which the learner's program differs
    return space["torch"]


def _answers(source: str, library: Any, seconds: float) -> list[tuple[str, str]]:
    """Run a program one statement after the other; return each with what is to be seen of it.

    Raises
    ------
    Refused
        If the program cannot be read, or runs too long.
    """
    answers: list[tuple[str, str]] = []

    def program() -> None:
        with installed(None):  # the clock is all that is wanted of run: no recording
            for code, step in _statements(source, library):
                try:
                    answers.append((code, step()))
                except Exception as error:
                    answers.append((code, f"{type(error).__name__}: {error}"))
                    return

    program.__name__ = "The program"
    run(program, seconds=seconds)
    return answers


def _statements(source: str, library: Any) -> list[tuple[str, Callable[[], str]]]:
    """Return the statements of a program, each with what runs it and says what came of it."""
    printed: list[str] = []

    def note(*what: Any, sep: str = " ", end: str = "\n", **_: Any) -> None:
        printed.append(sep.join(map(str, what)) + end)

    space: Namespace = {"torch": library, "print": note, "__name__": "beside"}
    name = _known(source)
    try:
        tree = ast.parse(source, name)
    except SyntaxError as error:
        raise Refused(
            f"SyntaxError: {error.msg}, in line {error.lineno}.\n-> Fix that line and run the "
            "cell again."
        ) from None

    def step(statement: ast.stmt) -> Callable[[], str]:
        def go() -> str:
            printed.clear()
            value = None
            if isinstance(statement, ast.Expr):
                value = eval(compile(ast.Expression(statement.value), name, "eval"), space)
            else:
                exec(compile(ast.Module([statement], []), name, "exec"), space)
                if isinstance(statement, ast.Assign | ast.AugAssign):
                    target = getattr(statement, "targets", [getattr(statement, "target", None)])[0]
                    value = eval(ast.unparse(target), space)
            text = "" if value is None else repr(value)
            if " at 0x" in text:  # an address says nothing to anybody
                text = ""
            return "".join(printed).rstrip("\n") + text

        return go

    lines = source.split("\n")
    return [("\n".join(lines[s.lineno - 1 : s.end_lineno]), step(s)) for s in tree.body]


def _known(source: str) -> str:
    """Let Python know the text of a program by a name, as IPython does with a cell."""
    name = f"<beside {sha256(source.encode()).hexdigest()[:12]}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    return name


def _recording(source: str, library: Any) -> Recording:
    code = compile(source, _known(source), "exec")
    with record(library) as recording:
        exec(code, {"torch": library, "__name__": "beside"})
    result: Recording = recording
    return result


@magics_class
class BesideMagics(Magics):
    """Holds ``%%beside``."""

    @cell_magic
    def beside(self, line: str, cell: str) -> None:
        """Run the cell with this kit and with real PyTorch, and compare the answers line by line.

        %%beside         on top of a cell: each line with what both say of it
        %%beside step    step through PyTorch's own graph of the cell instead

        The cell finds the library under the name torch and none of your variables, and leaves none
        behind. Where PyTorch is not installed, the kit's answers, and its graph, stand alone.
        """
        word = line.strip()
        if word in ("-h", "--help"):
            print(getdoc(BesideMagics.beside))
        elif word == "step":
            torch = pytorch()
            whose = "this kit" if torch is None else f"PyTorch {torch.__version__.split('+')[0]}"
            recording = _recording(cell, autodiff_kit if torch is None else torch)
            display(Stepper(recording, title=f"Recorded from {whose}"))  # type: ignore[no-untyped-call]
        elif word:
            raise UsageError(f"%%beside {word}: write %%beside or %%beside step.")
        else:
            display(BesidePyTorch(cell))  # type: ignore[no-untyped-call]


if shell := get_ipython():  # as with %%step: importing the widgets brings the magic
    shell.register_magics(BesideMagics)
