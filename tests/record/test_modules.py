"""A module that is called is a scope: by its path, with what it calls inside."""

import re

import pytest

import autodiff_kit as ak
from autodiff_kit.record import Recording
from tests.record.cells import cell, run

SETUP = """\
nn = torch.nn
X = torch.ones(4, 2)
class Residual(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.inner = nn.Linear(n, n)
    def forward(self, x):
        for _ in range(1):
            x = x + self.inner(x)
        return x * 2
net = nn.Sequential(nn.Linear(2, 3), Residual(3), nn.Linear(3, 1))
layers = [nn.Linear(2, 2), nn.Tanh()]
"""


def modules_of(rec: Recording) -> list[str]:
    """Return the modules around each op, outermost first, each with what call of it this is."""
    lines = []
    for node in rec.nodes:
        if node["kind"] == "op":
            names: list[str] = []
            scope = rec.scopes[node["scope"]]
            while scope["parent"] is not None:
                if scope["kind"] == "module":
                    names.insert(0, f"{scope['of']} {scope['name']} {scope['index']}")
                else:
                    names.insert(0, scope["name"])
                scope = rec.scopes[scope["parent"]]
            lines.append(" / ".join(names))
    return list(dict.fromkeys(lines))


WITHIN = "Residual net.1 {} / for _ in range(1) / for _ in range(1)"
CASES = [
    ("y = layers[0](X)", ["Linear layers[0] 0"]),
    ("line = nn.Linear(2, 1)\ny = line(X)", ["Linear line 0"]),
    ("y = nn.Linear(2, 1)(X)", ["Linear Linear 0"]),
    ("h = X\nfor layer in layers:\n    h = layer(h)",
     ["for layer in layers / for layer in layers / Linear layer 0",
      "for layer in layers / for layer in layers / Tanh layer 1"]),
    ("y = net(X)",
     ["Sequential net 0 / Linear net.0 0",
      f"Sequential net 0 / {WITHIN.format(0)} / Linear net.1.inner 0",
      f"Sequential net 0 / {WITHIN.format(0)}",
      "Sequential net 0 / Residual net.1 0",
      "Sequential net 0 / Linear net.2 0"]),
    ("h = torch.ones(4, 3)\ny = net[1](net[1](h))",  # twice, at one place
     [f"{WITHIN.format(k)}{inner}" if w else f"Residual net.1 {k}" for k in (0, 1)
      for w, inner in ((1, f" / Linear net.1.inner {k}"), (1, ""), (0, ""))]),
    ("def f(m): return m(X) * 2\ny = f(net[0])", ["f / Linear net.0 0", "f"]),
    ("y = net[0].forward(X)", [""]),  # nothing has called the module
    ("try:\n    net(X[:, :1])\nexcept RuntimeError: pass\ny = X * 2",
     ["", "Sequential net 0 / Linear net.0 0"]),
    ("y = net[0](X)\nz = y.sum()\nz.backward()\nw = X * 3", ["Linear net.0 0", ""]),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), CASES)
def test_the_modules_around_an_op_are_called_by_their_paths(
    source: str, expected: list[str]
) -> None:
    rec = run(SETUP, source)

    assert rec.note is None
    assert modules_of(rec) == expected


@pytest.mark.parametrize("source", [source for source, _ in CASES if "try" not in source])
def test_pytorch_has_the_same_modules(source: str) -> None:
    torch = pytest.importorskip("torch")
    space = {"torch": torch}
    cell(SETUP, space)

    with ak.record(torch) as rec:
        cell(source, space)

    assert modules_of(rec) == modules_of(run(SETUP, source))


def test_a_result_has_its_name_once_although_modules_compute_it_in_many_ops() -> None:
    rec = run(SETUP, "y = net(X)")

    named = [node["name"] for node in rec.nodes if node["kind"] == "op" and node["name"]]
    assert named[-1] == "y"
    assert len(named) == len(set(named))


def test_module_scopes_survive_a_file(tmp_path) -> None:
    rec = run(SETUP, "y = net(X)")
    rec.save(tmp_path / "run.json")

    assert Recording.load(tmp_path / "run.json").scopes == rec.scopes


def test_the_count_of_batches_is_nothing_that_the_learner_has_written() -> None:
    rec = run("bn = torch.nn.BatchNorm1d(2)\nX = torch.ones(4, 2)", "y = bn(X)")

    assert [node["op"] for node in rec.nodes if node["kind"] == "op"] == ["batch_norm"]
    assert "num_batches_tracked" not in str([node["name"] for node in rec.nodes])


def test_a_count_of_batches_is_no_change_of_what_was_computed_before() -> None:
    setup = "bn = torch.nn.BatchNorm1d(2)\nX = torch.ones(4, 2)"
    rec = run(setup, "h = X * 2\ny = bn(h)\nassert int(bn.num_batches_tracked) == 1")

    assert [event for event in rec.events if event["kind"] == "modified"] == []


def test_the_placeholders_of_batch_norm_are_not_in_its_formula() -> None:
    rec = run("bn = torch.nn.BatchNorm1d(2)\nX = torch.ones(4, 2)", "y = bn(X)")

    (node,) = (node for node in rec.nodes if node["op"] == "batch_norm")
    placeholders = {source["arg"] for source in node["inputs"] if "node" not in source}
    assert placeholders == {"mean", "var"}
    assert placeholders.isdisjoint(re.findall(r"\w+", rec.to_dict()["ops"]["batch_norm"]["text"]))
