"""Every example of README and docstrings does what it shows: no lab of it shows a failure."""

from __future__ import annotations

import ast
import doctest
import math
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import autodiff_kit as torch
from autodiff_kit import widgets
from autodiff_kit.record import Recording
from autodiff_kit.widgets import KitWidget, Lab

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
TABLE = re.findall(r"^\| (`[A-Z].*?) \|", README, flags=re.MULTILINE)
CALLS = [call for cell in TABLE for call in re.findall(r"`(.+?)`", cell)]


@pytest.fixture
def labs(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """All labs that are made during a test."""
    labs: list[Any] = []
    first = Lab.__init__

    def noted(self: Any, *args: Any, **kwargs: Any) -> None:
        labs.append(self)
        first(self, *args, **kwargs)

    monkeypatch.setattr(Lab, "__init__", noted)
    return labs


def shows(lab: Any) -> str:
    """Return what a lab says; fail if that is a failure, or if there is no picture."""
    assert lab.message == "", f"{type(lab).__name__} shows a failure: {lab.message}"
    assert lab.still().startswith("<svg"), f"{type(lab).__name__} shows no picture"
    assert lab.canvas.caption, f"{type(lab).__name__} says nothing"
    return str(lab.canvas.caption)


def run(block: str, folder: Path) -> Any:
    """Run a block of code; return the value of its last line."""
    tree = ast.parse(block)
    space: dict[str, Any] = {"__name__": "readme"}
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "README.md", "exec"), space)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), "README.md", "eval"), space)  # type: ignore[attr-defined]


@pytest.mark.parametrize("block", BLOCKS, ids=[b.strip().split("\n")[-1] for b in BLOCKS])
def test_a_block_of_the_readme_runs_and_its_labs_show_no_failure(
    block: str, labs: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    run(block, tmp_path)

    for lab in labs:
        shows(lab)
    assert labs or "autodiff_kit.widgets" not in block


def test_the_lab_of_the_readme_answers_what_arithmetic_answers(tmp_path: Path) -> None:
    (block,) = [block for block in BLOCKS if "ControlFlow" in block]

    lab = run(block, tmp_path)

    # h = x * x * x * x, and its derivative 4 x^3: at 2, 16 and 32.
    assert "The answer is 16.0, with x.grad 32.0." in shows(lab)
    lab.controls["x"].value = -1.0  # -1 -> 1 -> -1 -> 1: h = -h, h * x, -h
    assert lab.answer.item() == 1
    assert isinstance(lab.controls["times"].value, int)
    lab.controls["times"].value = 0
    assert (lab.answer.item(), lab.grads["x"].item()) == (-1, 1)


def surface(x: Any, y: Any) -> Any:
    return x * x + 2 * y * y


def failing() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    y = x * x
    y.backward()
    y.backward()


def f(x: float = 2.0, times: int = 3) -> Any:
    h: Any = x
    for _ in range(times):
        h = h * x
    return h


def train(model: Any) -> None:
    for _ in range(2):
        model(torch.ones(3, 2)).sum().backward()


def trained() -> Any:
    model = torch.nn.Linear(2, 1)
    train(model)
    return model


def recorded() -> Recording:
    with torch.record() as rec:
        torch.tensor(2.0, requires_grad=True) * 3
    return rec


@pytest.mark.parametrize("call", CALLS)
def test_a_call_in_the_readmes_table_of_labs_makes_a_lab_that_shows_no_failure(call: str) -> None:
    names = {
        **{"f": f, "surface": surface, "failing": failing, "train": train, "rec": recorded()},
        **{"model": trained(), "inputs": [torch.ones(10)], "sine": torch.sin, "root": torch.sqrt},
    }

    lab = eval(call, vars(widgets) | names)

    if isinstance(lab, KitWidget):
        assert lab.still().startswith("<svg")
    else:
        shows(lab)


def test_the_table_names_every_lab() -> None:
    others = {"Canvas", "KitWidget", "Lab"}
    kinds = {n for n in widgets.__all__ if isinstance(getattr(widgets, n), type)} - others

    assert {call.split("(")[0] for call in CALLS} == kinds


def docstrings() -> Iterator[Any]:
    finder = doctest.DocTestFinder(exclude_empty=True)
    for info in pkgutil.iter_modules(widgets.__path__):
        source = Path(widgets.__path__[0], f"{info.name}.py").read_text(encoding="utf-8")
        if ">>>" not in source:  # one of them would bring Matplotlib
            continue
        module = import_module(f"autodiff_kit.widgets.{info.name}")
        for test in finder.find(module, module.__name__):
            if test.examples:
                yield pytest.param(test, id=test.name.removeprefix("autodiff_kit.widgets."))


@pytest.mark.parametrize("example", list(docstrings()))
def test_no_lab_of_a_docstrings_example_shows_a_failure(example: Any, labs: list[Any]) -> None:
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    messages: list[str] = []

    result = doctest.DocTestRunner(verbose=False, optionflags=options).run(
        example, out=messages.append
    )

    assert result.failed == 0, "".join(messages)
    for lab in labs:
        shows(lab)


@pytest.mark.parametrize("kind", [c.split("(")[0] for c in CALLS if not c.startswith("Stepper")])
def test_each_lab_has_an_example_that_makes_one(kind: str) -> None:
    examples = doctest.DocTestParser().get_examples(getattr(widgets, kind).__doc__)

    assert any(f"{kind}(" in example.source for example in examples)


def test_numbers_in_captions_do_not_end_sentences_in_the_middle() -> None:
    lab = widgets.ControlFlow(f, then={"x": 3.0})

    # 2^4 and 4 * 2^3; 3^4 and 4 * 3^3.
    assert "At x = 2.0 the answer was 16.0, with x.grad 32.0." in shows(lab)
    assert "Now it is 81.0, with x.grad 108.0." in shows(lab)
    assert not re.search(r"\d\. [a-z]", shows(lab))
    assert math.isclose(lab.answer.item(), 81)
