"""Run the same code with PyTorch and with the kit, and tell what came out.

``answers.txt`` has a digest of what PyTorch answers to each program of ``run_as_pytorch``, so that
these programs test the kit where there is no PyTorch, too. Where there is, a run of a test file
under ``ADK_WRITE_ANSWERS=1`` adds those that are missing. Delete it first to drop old ones, and
run all files that ``git grep -l run_as_pytorch tests`` names.
"""

import atexit
import contextlib
import hashlib
import io
import os
import re
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import autodiff_kit
from tests.parity import torch_if_there

FILE = Path(__file__).with_name("answers.txt")


@dataclass
class Run:
    """What a program printed, warned of, and raised."""

    printed: str
    warned: list[tuple[str, str]]  # (category, first line)
    raised: tuple[str, str] | None  # (class, first line of the message)
    advice: str  # the further lines of the message


def run(torch: Any, program: str) -> Run:
    """Run a program that knows PyTorch or the kit as ``torch``.

    Parameters
    ----------
    torch : module
        PyTorch or the kit.
    program : str

    Returns
    -------
    Run - with the kit's and PyTorch's module names made equal.
    """
    text, error = io.StringIO(), None
    code = compile(program, "<program>", "exec")  # of a slip in it, both would say the same
    if not is_kit(torch):
        torch.set_warn_always(True)  # not only the first time in a process
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(text):
        warnings.simplefilter("always")
        try:
            exec(code, {"torch": torch, "np": np})
        except Exception as raised:  # the class and the words are what is compared
            error = raised
    first, _, rest = str(error).partition("\n")
    return Run(
        printed=_neutral(text.getvalue()),
        warned=[(w.category.__name__, _essence(str(w.message))) for w in caught],
        raised=None if error is None else (type(error).__name__, _neutral(first)),
        advice=rest,
    )


def run_both(torch: Any, program: str) -> Run:
    """Run a program with PyTorch and with the kit; all that comes out of it is equal."""
    expected, own = run(torch, program), run(autodiff_kit, program)
    assert own.raised == expected.raised
    assert own.printed == expected.printed
    assert own.warned == expected.warned
    return expected


def run_as_pytorch(program: str) -> Run:
    """Run a program with the kit; all that comes out of it is what comes out with PyTorch."""
    torch = torch_if_there()
    if torch is not None:
        expected = run_both(torch, program)
        if os.environ.get("ADK_WRITE_ANSWERS"):
            _digests()[_digest(program)] = _digest(_answer(expected))
        assert _digests().get(_digest(program)) == _digest(_answer(expected)), (
            "answers.txt lacks this answer of PyTorch's: ADK_WRITE_ANSWERS=1 pytest THIS_FILE"
        )
        return expected
    own = run(autodiff_kit, program)
    assert _digests()[_digest(program)] == _digest(_answer(own)), (
        f"PyTorch answers something else; with PyTorch, this test shows what.\n{_answer(own)}"
    )
    return own


def _answer(own: Run) -> str:
    return f"{own.raised}\n{own.warned}\n{own.printed}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def _digests() -> dict[str, str]:
    """Return, by the digest of a program, that of PyTorch's answer."""
    text = FILE.read_text(encoding="utf-8") if FILE.exists() else ""
    digests = dict(line.split() for line in text.splitlines())
    if os.environ.get("ADK_WRITE_ANSWERS"):
        atexit.register(_write, digests)
    return digests


def _write(digests: dict[str, str]) -> None:
    lines = [f"{program} {answer}\n" for program, answer in sorted(digests.items())]
    FILE.write_text("".join(lines), encoding="utf-8")


def _neutral(text: str) -> str:
    text = re.sub(r" at 0x[0-9a-f]+", " at 0x", text)
    return text.replace("autodiff_kit", "torch")


def _essence(warning: str) -> str:
    """Leave out where in PyTorch's C++ code a warning comes from."""
    return warning.split("\n")[0].split(" (Triggered internally")[0]


def tree(node: Any, depth: int = 4) -> Any:
    """Return the names of a node and of what comes before it, as nested tuples."""
    if node is None or depth == 0:
        return node is None or "..."
    return node.name(), *((tree(n, depth - 1), i) for n, i in node.next_functions)


def values(tensor: Any) -> Any:
    """Return the values as an array; tensors that PyTorch keeps as symbolic zeros are zeros."""
    try:
        return np.asarray(tensor.detach().tolist(), "float64").reshape(tuple(tensor.shape))
    except RuntimeError:
        return np.zeros(tuple(tensor.shape))


def is_kit(torch: Any) -> bool:
    """Return whether ``torch`` is the kit."""
    return torch is autodiff_kit
