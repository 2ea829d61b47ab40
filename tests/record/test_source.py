"""Which characters of the learner's source an op lights up."""

import subprocess
import sys
from pathlib import Path

import pytest

import autodiff_kit as torch
from autodiff_kit.record import record
from tests.record.cells import ops, run, texts, where

ROOT = Path(__file__).resolve().parents[2]
X = "x = torch.tensor([2., 3.], requires_grad=True)"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("y = 2 * x + 3", ["2 * x", "2 * x + 3"]),
        ("y = (x - 1) / 2", ["x - 1", "(x - 1) / 2"]),
        ("y = -x ** 2", ["x ** 2", "-x ** 2"]),
        ("y = (2 * x).tanh().sum()", ["2 * x", "(2 * x).tanh()", "(2 * x).tanh().sum()"]),
        ("y = torch.exp(x * x)", ["x * x", "torch.exp(x * x)"]),
        ("y = x @ x", ["x @ x"]),
        ("y = x[0]", ["x[0]"]),
        ("y = x.t()", ["x.t()"]),
        ("x = x * 2\nx += 1\nx *= x", ["x * 2", "x += 1", "x *= x"]),
        ("if (x > 0).all():\n    y = x * x", ["x > 0", "(x > 0).all()", "x * x"]),
        ("y = (z := x + 1) * z", ["x + 1", "(z := x + 1) * z"]),
        ("f = lambda a: a * 2\ny = f(x + 1)", ["x + 1", "a * 2"]),
        ("ys = [x * i for i in (1, 2)]", ["x * i", "x * i"]),
        ("y = sum([x, x])", ["sum([x, x])", "sum([x, x])"]),  # 0 + x, and + x
        ("y = 1 / x", ["1 / x", "1 / x"]),  # reciprocal, and mul
        ("y = x * 2; z = x * 3", ["x * 2", "x * 3"]),
        ("print(f'{(x * 2).sum():.1f}')", ["x * 2", "(x * 2).sum()"]),
        (
            "y = x.sum() > 1 > x.max()",
            ["x.sum()", "x.sum() > 1 > x.max()", "x.max()", "x.sum() > 1 > x.max()"],
        ),
    ],
)
def test_an_op_lights_up_its_exact_sub_expression(
    source: str, expected: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    rec = run(X, source)

    assert texts(rec) == expected
    assert [" ".join(where(rec, op).split()) for op in ops(rec)] == expected


def test_every_round_of_a_loop_lights_up_the_same_characters() -> None:
    rec = run(X, "h = x\nfor i in range(3):\n    h = h * x")

    assert [node["where"] for node in ops(rec)] == [[0, 3, 8, 3, 13]] * 3


def test_an_expression_over_several_lines_is_lit_from_its_first_to_its_last() -> None:
    rec = run(X, "y = (2 * x\n     + 3)")

    assert [node["where"] for node in ops(rec)] == [[0, 1, 5, 1, 10], [0, 1, 5, 2, 8]]
    assert texts(rec)[1] == "2 * x + 3"


def test_a_chain_of_methods_over_several_lines_is_lit_whole() -> None:
    # Python gives the place of `.sum()` as that line alone.
    rec = run(X, "y = (\n    x\n    .exp()\n    .sum()\n)")

    assert [where(rec, op) for op in ops(rec)] == ["x\n    .exp()", "x\n    .exp()\n    .sum()"]


def test_columns_count_characters_not_bytes() -> None:
    rec = run("λ = torch.tensor(2.)", "größe = 'é'; ŷ = λ * λ")

    assert ops(rec)[0]["where"] == [0, 1, 17, 1, 22]
    assert where(rec, ops(rec)[0]) == "λ * λ"
    assert ops(rec)[0]["name"] == "ŷ"


@pytest.mark.parametrize("loop", ["for row in x:\n    y = row * 2", "[row * 2 for row in x]"])
def test_the_tensor_of_a_loop_is_lit_when_its_rows_are_taken(loop: str) -> None:
    rec = run(X, loop)

    assert [where(rec, op) for op in ops(rec)] == ["x", "x", "row * 2", "row * 2"]
    assert texts(rec) == ["", "", "row * 2", "row * 2"]


def test_a_function_of_another_cell_lights_up_there() -> None:
    rec = run(X, "def f(a):\n    return a * a", "y = f(x) + 1")

    mul, add = ops(rec)
    assert where(rec, mul) == "a * a"
    assert where(rec, add) == "f(x) + 1"
    texts_of = [(s["name"], s["text"]) for s in rec.sources]
    assert texts_of == [("cell 1", "y = f(x) + 1"), ("cell 2", "def f(a):\n    return a * a")]


def test_a_function_of_a_file_lights_up_there(tmp_path: Path) -> None:
    (tmp_path / "helpers_of_a_test.py").write_text("def double(a):\n    return a * 2\n")

    rec = run(f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{X}",
              "from helpers_of_a_test import double\ny = double(x)")  # fmt: skip

    sys.path.remove(str(tmp_path))
    assert [source["name"] for source in rec.sources] == ["cell 1", "helpers_of_a_test.py"]
    assert where(rec, ops(rec)[0]) == "a * 2"


def test_an_edited_file_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "edited.py"
    sources = []
    for number in ("2", "3 + 3"):
        file.write_text(f"y = x * ({number})\n")
        space = {"x": torch.tensor(1.0)}
        with record() as rec:
            exec(compile(file.read_text(), str(file), "exec"), space)
        sources.append(texts(rec))

    assert sources == [["x * (2)"], ["x * (3 + 3)"]]


def test_a_branch_lights_up_its_condition() -> None:
    rec = run(X, "if x.sum() > 4:\n    y = x * 2\nelif x.sum() > 9: pass")

    branch = next(event for event in rec.events if event["kind"] == "branch")
    assert where(rec, branch) == "x.sum() > 4"
    assert branch["taken"] is True
    assert rec.nodes[branch["node"]]["text"] == "x.sum() > 4"


def test_a_backward_pass_lights_up_its_call() -> None:
    rec = run(X, "y = x.sum()\ny.backward()")

    backward = next(event for event in rec.events if event["kind"] == "backward")
    assert where(rec, backward) == "y.backward()"


def test_a_leaf_lights_up_where_it_was_made() -> None:
    rec = run("w = torch.zeros(2)")

    assert where(rec, rec.nodes[0]) == rec.nodes[0]["text"] == "torch.zeros(2)"


def test_without_columns_the_whole_line_is_lit() -> None:
    # `python -X no_debug_ranges` keeps line numbers only.
    code = (
        "import sys; sys.path.insert(0, '.')\n"
        "from tests.record.cells import run, ops, where\n"
        "rec = run('x = torch.tensor(2.)', 'if True:\\n    y = 2 * x + 3')\n"
        "print([where(rec, op) for op in ops(rec)], [op['name'] for op in ops(rec)])\n"
    )

    process = subprocess.run(
        [sys.executable, "-X", "no_debug_ranges", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert process.stdout == "['y = 2 * x + 3', 'y = 2 * x + 3'] [None, 'y']\n"


def test_code_without_a_source_is_recorded_without_a_place() -> None:
    space = {"x": torch.tensor(2.0)}
    code = compile("y = x * x", "<string>", "exec")

    with record() as rec:
        exec(code, space)

    assert [(n["kind"], n["text"]) for n in rec.nodes][-1] == ("op", "exec(code, space)")


PARTS = """
import contextlib, dataclasses, functools

@contextlib.contextmanager
def doubled(a):
    yield a * 2

@torch.no_grad()
def quiet(a):
    return a * 3

@functools.lru_cache
def cached(a):
    return a * 4

@functools.wraps(quiet)
def wrapped(a):
    return functools.reduce(lambda p, q: p * q, [a, a, a])

@dataclasses.dataclass
class Pair:
    a: object
    def product(self):
        return self.a * 5

def generate(a):
    yield a * 6
    yield a * 7
"""


@pytest.mark.parametrize(
    ("source", "expected", "calls"),
    [
        ("with doubled(x) as y: z = y + 1", ["a * 2", "y + 1"], ["doubled"]),
        ("y = quiet(x)", ["a * 3"], ["quiet"]),
        ("y = cached(x)", ["a * 4"], ["cached"]),
        ("y = wrapped(x)", ["p * q", "p * q"], ["wrapped", "lambda", "lambda"]),
        ("y = Pair(x).product()", ["self.a * 5"], ["Pair.product"]),
        ("y = Pair(x) == Pair(3)", ["Pair(x) == Pair(3)"], []),  # a generated method
        ("ys = list(generate(x))", ["a * 6", "a * 7"], ["generate"]),
        ("class Model:\n    w = x * 8", ["x * 8"], []),
        ("y = sum(a * 9 for a in [x])", ["a * 9", "sum(a * 9 for a in [x])"], []),
        ("ys = list(map(torch.exp, [x]))", [""], []),  # it is no list
        ("y = sorted([x, x], key=lambda a: -a)", ["-a", "-a", ""],  # a comparison of the two
         ["lambda", "lambda"]),
    ],
)  # fmt: skip
def test_only_the_learners_own_frames_are_places_and_calls(
    source: str, expected: list[str], calls: list[str]
) -> None:
    rec = run("x = torch.tensor(2., requires_grad=True)", PARTS, source)

    assert texts(rec) == expected
    assert [s["name"] for s in rec.scopes if s["kind"] == "call"] == calls
