"""CONTRIBUTING.md is true: its picture, examples, files, and the command that it promises."""

import re
import textwrap
from pathlib import Path

import pytest

import autodiff_kit
from autodiff_kit.core.op import OPS, Op, Value
from tests import house, missing

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
QUOTED = re.findall(r"```(?:python|toml)\n *# (\S+)\n(.*?)```", TEXT, re.DOTALL)


def test_the_picture_is_what_the_modules_import() -> None:
    assert f"```mermaid\n{house.picture()}\n```" in TEXT, "python -m tests.house prints it"


@pytest.mark.parametrize(("path", "code"), QUOTED, ids=[path for path, _ in QUOTED])
def test_an_example_stands_in_its_file(path: str, code: str) -> None:
    assert textwrap.dedent(code).strip() in (ROOT / path).read_text(encoding="utf-8")


def test_the_files_that_are_named_are_there() -> None:
    own = r"`((?:autodiff_kit|tests|exercises|notebooks|\.ci)/[\w./*]+)`"
    new = r"NAME|softmax|_17|/17_"  # what the reader will write
    for path in re.findall(own, TEXT):
        assert re.search(new, path) or list(ROOT.glob(path.rstrip("/"))), path


@pytest.mark.parametrize(
    "what", re.findall(r"^python -m tests\.missing (\w+ \S+)$", TEXT, re.MULTILINE)
)
def test_nothing_is_missing_of_the_examples(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert missing.main(what.split()) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("what", "part"),
    [
        ("op no_such_op", "the block @op"),
        ("layer NoSuchLayer", "the class"),
        ("lab NoSuchLab", "its row in the table of labs"),
        ("lesson 99", "the code behind every answer"),
        ("exercise 99.none", "mutants.toml"),
    ],
)
def test_what_is_missing_is_told(what: str, part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert missing.main(what.split()) == 1
    assert f"MISSING  {part}" in capsys.readouterr().out


def broken(*_: object) -> None:
    """Stand for a new function that calls an op by a name that is not public."""
    raise AttributeError("no attribute 'exp2'")


def test_a_function_that_cannot_be_called_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(autodiff_kit, "exp2", broken, raising=False)

    assert missing.main(["op", "exp2"]) == 1
    assert "MISSING  torch.exp2 can be called - AttributeError: no" in capsys.readouterr().out


@pytest.mark.parametrize("where", ["ops", "functions"])
def test_a_name_that_is_not_public_is_missing(
    where: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(f"autodiff_kit.{where}.calculus.__all__", [])

    assert missing.main(["op", "exp2"]) == 1
    part = "its name in __all__" if where == "ops" else "the function's name in __all__"
    assert f"MISSING  {part}" in capsys.readouterr().out


def test_what_a_layer_calls_is_missing_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    public = [name for name in autodiff_kit.nn.functional.__all__ if name != "leaky_relu"]
    monkeypatch.setattr(autodiff_kit.nn.functional, "__all__", public)
    monkeypatch.setattr(autodiff_kit.nn.functional, "leaky_relu", broken)
    monkeypatch.setitem(OPS, "new", Op(_new, "x", "x"))

    assert missing.main(["layer", "LeakyReLU"]) == 1
    printed = capsys.readouterr().out
    assert "MISSING  the function F.leaky_relu" in printed
    assert "MISSING  nn.LeakyReLU(0.2); x - AttributeError" in printed
    assert re.search("MISSING  op new: .*reduction: .* INSTEAD", printed)


def _new(x: Value, *, reduction: str) -> Value:
    return x
