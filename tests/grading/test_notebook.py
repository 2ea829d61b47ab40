"""The learner's code is found in whatever state the notebook is, and nothing of it is run."""

import ast
import contextlib
import json
from pathlib import Path

import pytest

from autodiff_kit.grading.calls import Call, Limits, Work
from autodiff_kit.grading.notebook import (
    MAX_CELLS,
    MAX_CODE,
    Unreadable,
    binding,
    bound_by,
    cells_of,
    redefined,
)
from autodiff_kit.grading.worker import Level0
from tests.grading import tiny

LOCKED = {"grade_id": "e01-test", "locked": True, "grade": True, "solution": False, "points": 1}


TEST = "x = 1\nassert double(1) == 3"
GIVEN = "import numpy as np\n\n\ndef half(x):\n    return x / 2"


def sources(data: bytes, suffix: str = ".ipynb") -> list[str]:
    return [cell.source for cell in cells_of(data, suffix, ["double"], [TEST, GIVEN])]


def code(*cells: tuple[str, dict] | str) -> list[str]:
    return sources(tiny.notebook(*cells))


def test_the_learners_cells_are_kept_and_the_teachers_locked_ones_are_not() -> None:
    learners_cells = code("a = 1", (TEST, LOCKED), (tiny.SOLUTION, tiny.SOLVING))

    assert learners_cells == ["a = 1", tiny.SOLUTION]


def test_a_locked_cell_that_was_unlocked_is_the_learners() -> None:
    assert code(("b = 2", {**LOCKED, "locked": False})) == ["b = 2"]


@pytest.mark.parametrize(
    ("cell", "added"),
    [
        (f"{tiny.SOLUTION}\n{TEST}", tiny.SOLUTION),
        (f"import math\n{GIVEN}\nEPS = 1e-6", "import math\nEPS = 1e-6"),
        (GIVEN.replace("x / 2", "x * 0.5"), "def half(x): return x * 0.5"),
        (f"{GIVEN}\n\n# a word", ""),
    ],
)
def test_what_is_added_to_a_locked_cell_counts_and_the_rest_of_it_does_not(
    cell: str, added: str
) -> None:
    (remainder,) = cells_of(tiny.notebook((cell, LOCKED)), ".ipynb", ["double"], [TEST, GIVEN])

    assert remainder.tree is not None
    assert ast.dump(remainder.tree) == ast.dump(ast.parse(added))
    assert remainder.source == cell  # for the lines that are shown


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_copies_the_one_that_was_worked_on_counts(order: int) -> None:
    cells = [(tiny.STUB, tiny.SOLVING), (tiny.SOLUTION, tiny.SOLVING)][::order]

    assert code(*cells) == [tiny.SOLUTION]


def test_a_stub_alone_stays_so_that_it_reads_as_not_attempted() -> None:
    assert tiny.STUB in code((tiny.STUB, tiny.SOLVING))


def test_a_cell_that_was_retyped_without_its_id_counts() -> None:
    assert tiny.SOLUTION in code((tiny.STUB, tiny.SOLVING), tiny.SOLUTION)


@pytest.mark.parametrize(
    ("cell", "source"),
    [
        ("%matplotlib inline\nx = 1", "pass  # %matplotlib inline\nx = 1"),
        ("!pip install torch\nx = 1", "pass  # !pip install torch\nx = 1"),
        ("x = (7\n  % 3)", "x = (7\n  % 3)"),
        ("%%bash\nrm -rf /\n", "\n\n"),
        ("%%time\nx = 1", "pass  # %%time\nx = 1"),
    ],
)
def test_commands_to_jupyter_are_no_code(cell: str, source: str) -> None:
    assert code(cell) == [source]


IPYTHON = [
    "np.add?",
    "np.add??",
    "?np.add",
    "x = y?",
    "*int*?",
    "files = !ls",
    "a, b = !ls",
    "d['x'] = %pwd",
    "x: int = !ls",
    "!!ls",
    "/f 1",
    ",f a b",
    "files = !ls | grep 'a",
    "!ls \\\n  -l\nx = 1",
    "\\\n!ls\nx = 1",
    "\\\n\f!ls\nx = 1",
    "files = \\\n  !ls",
    "x = 1\n\\\n\\\nd = \\\n%pwd",
    "\\\nnp.add?\nx = 1",
    "x = %time max(3, 4)",
    "if True:\n    !ls",
    "for i in range(3):\n    x = %time i",
    "def f():\n    np.add?\n    return 1",
    's = """\n!a\n%b\nc?\n"""\n!ls',
    "x = [\n  5\n  % 3\n]\n%pwd",
    "  x = 1\n  y = 2",
    ">>> def f():\n...     return 1\n...\n>>> x = f()",
    "In [1]: x = 1",
]


@pytest.mark.parametrize("cell", IPYTHON)
def test_what_jupyter_runs_is_code(cell: str) -> None:
    transformers = pytest.importorskip("IPython.core.inputtransformer2")
    as_jupyter = transformers.TransformerManager().transform_cell(cell)
    ast.parse(as_jupyter)  # Jupyter does run it

    data = tiny.notebook((f"{cell}\n\n{tiny.SOLUTION}", tiny.SOLVING))
    (alone,) = cells_of(tiny.notebook(cell), ".ipynb")
    (with_solution,) = cells_of(data, ".ipynb", ["double"])

    assert alone.tree is not None and with_solution.tree is not None
    assert bound_by(alone) == binding(as_jupyter)
    assert "double" in bound_by(with_solution)


DEEP = "z" + ".strip()" * 700


def test_code_that_is_nested_deeply_is_code_like_any_other() -> None:
    data = tiny.notebook((f"z = 'a'\nz = {DEEP}", LOCKED), tiny.SOLUTION)

    deep, _ = cells_of(data, ".ipynb", ["double"], ["y = 1"])

    assert bound_by(deep) == {"z"}
    assert redefined("def f(z):\n    return z\n", [f"def f(z):\n    return {DEEP}\n"]) == ["f"]
    call = Call("def drive(step, data):\n    return step.double(data)\n", 3.0)
    (reply,) = Level0().run_calls(Work(data, ".ipynb", ("double",)), [call], Limits())
    assert reply.value == 7.0


def test_prompts_below_other_lines_are_left_out_as_by_newer_versions_of_jupyter() -> None:
    (cell,) = cells_of(
        tiny.notebook("x = 1\n\n>>> y = 2\n>>> def f():\n...     return ..."), ".ipynb"
    )

    assert bound_by(cell) == {"x", "y", "f"}


@pytest.mark.parametrize("cell", ["%time x = 3", "%%time\nx = 3", "if True:\n    %time x = 3"])
def test_what_is_timed_is_run(cell: str) -> None:
    (only,) = cells_of(tiny.notebook(cell), ".ipynb")

    assert bound_by(only) == {"x"}


def test_texts_of_several_lines_stay_as_they_are_beside_commands() -> None:
    (cell,) = cells_of(tiny.notebook('s = """\n!a\n%b\nc?\n"""\n!ls'), ".ipynb")
    space: dict[str, str] = {}

    assert cell.tree is not None
    exec(compile(cell.tree, "cell", "exec"), space)
    assert space["s"] == "\n!a\n%b\nc?\n"


@pytest.mark.parametrize("cell", ["x = !", "x = (", "def f(:\n    !ls", "x ? y", "print 3"])
def test_what_jupyter_does_not_run_is_no_code(cell: str) -> None:
    (only,) = cells_of(tiny.notebook(f"{cell}\nx = = 1"), ".ipynb")

    assert only.tree is None


@pytest.mark.parametrize(
    "head", ["# -*- coding: latin-1 -*-", "#!/usr/bin/python\n# coding=cp1252"]
)
def test_a_script_may_say_its_encoding_as_in_python(head: str) -> None:
    source = f"{head}\nx = 'größe'"

    assert sources(source.encode("latin-1"), ".py") == [source]
    with pytest.raises(Unreadable, match="no text"):
        sources("# coding: utf-99\nx = 'größe'".encode("latin-1"), ".py")


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_python_source_is_taken_as_it_is(mark: str) -> None:
    assert sources((mark + tiny.SOLUTION).encode(), ".py") == [tiny.SOLUTION]


def test_source_in_utf_16_is_read() -> None:
    assert sources("x = 'ä'".encode("utf-16"), ".py") == ["x = 'ä'"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"{", "not a notebook"),
        (b"[" * 100_000, "not a notebook"),
        (b"[]", "no cells"),
        (b'{"cells": 3}', "no cells"),
        (b"\x80\x81\x82", "no text"),
    ],
)
def test_what_is_no_notebook_is_refused_with_a_reason(data: bytes, words: str) -> None:
    with pytest.raises(Unreadable, match=words):
        sources(data)


def test_cells_of_any_odd_form_are_passed_over() -> None:
    cells = [
        None,
        3,
        {},
        {"cell_type": "code"},
        {"cell_type": "code", "source": 3, "metadata": []},
        {"cell_type": "code", "source": [1, "x = 1"], "metadata": {"nbgrader": "yes"}},
    ]
    data = json.dumps({"cells": cells}).encode()

    assert "x = 1" in sources(data)


def test_too_much_code_is_refused() -> None:
    with pytest.raises(Unreadable, match="more than"):
        sources(b"#" * (MAX_CODE + 1), ".py")


def test_half_characters_cannot_stop_the_grader() -> None:
    data = json.dumps({"cells": [{"cell_type": "code", "source": "x = '\ud800'"}]}).encode()

    assert sources(data)[0].encode()


def test_nothing_is_run(tmp_path: Path) -> None:
    target = tmp_path / "ran"

    code(f"open({str(target)!r}, 'w')")

    assert not target.exists()


def test_a_notebook_or_script_of_very_many_cells_is_refused() -> None:
    many = json.dumps({"cells": [{}] * (MAX_CELLS + 1)}).encode()
    script = b"# %%\n(\n" * (MAX_CELLS + 1)

    for data, suffix in ((many, ".ipynb"), (script, ".py")):
        with pytest.raises(Unreadable, match="more than 2,000 cells"):
            sources(data, suffix)


@pytest.mark.parametrize(
    "raised", ["NotImplementedError", "NotImplementedError()", 'NotImplementedError("soon")']
)
def test_a_stub_is_known_by_what_it_raises(raised: str) -> None:
    stub = f"def double(x):\n    raise {raised}\n"

    assert code(stub, tiny.SOLUTION) == [tiny.SOLUTION]


@pytest.mark.parametrize("raised", [" + ".join(["a"] * 3000), "0x" + "f" * 6000])
def test_what_a_stub_raises_may_be_as_long_as_it_likes(raised: str) -> None:
    odd = f"def double(x):\n    raise NotImplementedError({raised})\n"

    assert code(odd, tiny.WRONG)[-1] == tiny.WRONG


def test_a_notebook_of_an_old_format_is_read() -> None:
    cells = [
        {"cell_type": "heading", "level": 1, "source": ["double"]},
        {"cell_type": "code", "language": "python", "input": tiny.SOLUTION.splitlines(True)},
    ]
    old = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": cells}]}

    (cell,) = cells_of(json.dumps(old).encode(), ".ipynb", ["double"])

    assert cell.source == tiny.SOLUTION


@pytest.mark.parametrize("sheets", [None, {}, [], [[]], [{"cells": 1}], [{"cells": [1, {}]}]])
def test_sheets_of_an_old_format_may_hold_anything(sheets: object) -> None:
    data = json.dumps({"worksheets": sheets}).encode()

    with contextlib.suppress(Unreadable):
        assert cells_of(data, ".ipynb", ["double"]) == []


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9, 0.99])
def test_a_notebook_of_which_only_a_part_was_saved_is_told_so(share: float) -> None:
    data = tiny.notebook(tiny.SOLUTION, tiny.WRONG)

    with pytest.raises(Unreadable, match="ends before the notebook does"):
        cells_of(data[: int(share * len(data))], ".ipynb", ["double"])


@pytest.mark.parametrize("data", [b"", b" \n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_called_that(data: bytes) -> None:
    with pytest.raises(Unreadable, match="The file is empty"):
        cells_of(data, ".ipynb", ["double"])
