"""The reading path is short, closed and true: what is read is what runs, and nothing is missing."""

from __future__ import annotations

import ast
import itertools
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pytest

import autodiff_kit as torch
from autodiff_kit.autograd.engine import form_of
from autodiff_kit.core.op import OPS
from autodiff_kit.ops.fast import text_of
from tests.rows import for_each
from tests.sources import MODULES, PACKAGE, name_of, parse

ROOT = PACKAGE.parent
SECTION = (ROOT / "README.md").read_text(encoding="utf-8").split("## Read the core")[1]
SECTION = SECTION.split("\n## ")[0]
# "3. `autodiff_kit/core/op.py` - what an op is" and "- `Task` (`autograd/accumulate.py`): ..."
PATH = [ROOT / name for name in re.findall(r"^\d+\. `(.+?)`", SECTION, flags=re.MULTILINE)]
BESIDES = dict(re.findall(r"^- `(\w+)` \(`(.+?)`\):", SECTION, flags=re.MULTILINE))


def tree_of(path: Path) -> ast.Module:
    return parse(path.read_text(encoding="utf-8"))


def names_defined(path: Path) -> set[str]:
    """Return what a file defines: functions, classes, variables, attributes and slots."""
    names: set[str] = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.id if isinstance(node, ast.Name) else node.attr)
    return names


@cache
def names_defined_in_package() -> set[str]:
    return set().union(*map(names_defined, MODULES))


PYTHON_AND_NUMPY = (str, dict, list, set, type(len), np.ndarray, np.dtype, np.ones(1).flags)


def imported(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (module, name) of what a file takes from the package, in functions too."""
    for node in ast.walk(tree_of(path)):
        assert not (isinstance(node, ast.Import) and "autodiff_kit" in ast.unparse(node))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("autodiff_kit"):
            for alias in node.names:
                yield node.module or "", alias.name


def thing(name: str) -> Any:
    """Return what one of the ten names stands for."""
    return getattr(import_module(name_of(PACKAGE / BESIDES[name])), name)


def attributes_besides() -> set[str]:
    """Return the attributes of the ten names, and of Python's and NumPy's own types."""
    attributes = {name for kind in PYTHON_AND_NUMPY for name in dir(kind)}
    for name, file in BESIDES.items():
        attributes |= set(dir(thing(name)))
        for node in tree_of(PACKAGE / file).body:
            if isinstance(node, ast.ClassDef) and node.name == name:
                attributes |= {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
    return attributes


def test_the_path_is_an_evening_long() -> None:
    lines = [len(path.read_text(encoding="utf-8").splitlines()) for path in PATH]

    assert name_of(PATH[0]) == "autodiff_kit.core"  # page 0, an engine on a page; then:
    assert sum(lines[1:]) < 1_000


def test_at_most_ten_names_of_the_path_are_explained_elsewhere() -> None:
    assert 0 < len(BESIDES) <= 10
    for name, file in BESIDES.items():
        assert name in names_defined(PACKAGE / file)


@pytest.mark.parametrize("path", PATH, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_what_a_file_of_the_path_imports_is_in_the_path_or_one_of_these_names(path: Path) -> None:
    own = {name_of(file): names_defined(file) for file in PATH}
    besides = {(name_of(PACKAGE / file), name) for name, file in BESIDES.items()}
    missing = {
        (module, name)
        for module, name in imported(path)
        if name not in own.get(module, ()) and (module, name) not in besides
    }

    assert missing == set()


@pytest.mark.parametrize("path", PATH, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_what_a_file_of_the_path_asks_of_an_object_is_explained_too(path: Path) -> None:
    attributes = {node.attr for node in ast.walk(tree_of(path)) if isinstance(node, ast.Attribute)}

    in_path = set().union(*map(names_defined, PATH))
    assert (attributes & names_defined_in_package()) - in_path - attributes_besides() == set()


def test_every_name_besides_is_needed() -> None:
    assert {name for path in PATH for _, name in imported(path)} >= BESIDES.keys()


# -- what runs -------------------------------------------------------------------------------------


def code_besides() -> set[CodeType]:
    """Return the code of the ten names: of functions, and of the methods of classes."""
    code: set[CodeType] = set()
    for name in BESIDES:
        kinds = getattr(thing(name), "__mro__", ())
        for value in (thing(name), *(v for kind in kinds for v in vars(kind).values())):
            function = getattr(value, "fget", None) or getattr(value, "__func__", value)
            code |= {function.__code__} if hasattr(function, "__code__") else set()
    return code


BESIDES_CODE = code_besides()


def file_of(frame: FrameType) -> Path:
    return Path(frame.f_code.co_filename)


def is_inside_of_the_ten(frame: FrameType | None) -> bool:
    """Return whether one of the ten names, called by the path, has called this."""
    while frame is not None and file_of(frame) not in PATH:
        if frame.f_code in BESIDES_CODE:
            return True
        frame = frame.f_back
    return False


def lines_run(program: Callable[[], Any]) -> set[tuple[str, str]]:
    """Return (file, function) of the lines of the package that run, but for those of the ten."""
    ran: set[tuple[str, str]] = set()

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        file = file_of(frame)
        if event == "line" and file.is_relative_to(PACKAGE) and not is_inside_of_the_ten(frame):
            ran.add((file.relative_to(PACKAGE).as_posix(), frame.f_code.co_qualname))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        program()
    finally:
        sys.settrace(before)
    return ran


@pytest.mark.parametrize("x", [2.0, [1.0, 2.0]])
def test_the_lines_that_run_are_those_that_are_read(x: Any) -> None:
    def leaves() -> tuple[Any, Any, Any]:
        x1, y = torch.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
        return x1, y, torch.ones_like(x1)

    def program(x: Any, y: Any, g: Any) -> None:
        z = x * y
        z.backward() if x.ndim == 0 else z.backward(g)

    program(*leaves())  # what is compiled when it is first called
    first, second, g = leaves()

    ran = lines_run(lambda: program(first, second, g))

    read = {path.relative_to(PACKAGE).as_posix() for path in PATH}
    assert {file for file, _ in ran} - read == {"ops/fast_mul.py"}
    assert {"ops/arithmetic.py", "autograd/engine.py", "tensor.py"} <= {file for file, _ in ran}
    np.testing.assert_array_equal(first.grad, second.tolist())


def test_the_first_sentence_of_a_file_says_what_runs_instead_of_it() -> None:
    by_template, derived = (ast.get_docstring(tree_of(PACKAGE / f)) or "" for f in INSTEAD)

    assert 'print(text_of(OPS["mul"]))' in by_template.split(".\n")[0]
    assert "print(form_of().text)" in derived.split(".\n")[0]
    # and these calls show it:
    assert text_of(OPS["mul"]).startswith("def mul(x, y):")
    assert form_of().text.startswith("def run(roots, retain_graph):")  # type: ignore[attr-defined]


INSTEAD = ("ops/apply.py", "autograd/engine.py")


def test_each_file_names_the_next_one() -> None:
    for path, following in itertools.pairwise(PATH):
        named = re.search(r"Read next:\s+``(.+?)``", ast.get_docstring(tree_of(path)) or "")
        assert named is not None
        assert following.as_posix().endswith(f"/{named[1]}")


@for_each("path", MODULES)
def test_what_is_to_be_read_next_is_there(path: Path) -> None:
    text = ast.get_docstring(tree_of(path)) or ""
    for sentence in re.findall(r"Read (?:next|first):\s+(.*?)(?:\.\s|\.?$)", text, flags=re.DOTALL):
        for name in re.findall(r"``([\w./-]+\.[a-z]+)``", sentence):
            places = (path.parent, PACKAGE, ROOT)
            assert any((place / name).is_file() for place in places), name


def test_the_call_that_shows_what_runs_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", SECTION, flags=re.DOTALL)

    exec(example, {})

    printed = capsys.readouterr().out
    assert printed == f"{text_of(OPS['mul'])}\n{form_of().text}\n"  # type: ignore[attr-defined]
    assert printed.startswith("def mul(x, y):") and "heappop(queue)" in printed
