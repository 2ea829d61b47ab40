"""In which call and in which round of which loop an op ran."""

import pytest

import autodiff_kit as torch
from autodiff_kit.record import Recording, record
from tests.record.cells import cell, path, paths, run

X = "x = torch.tensor(2., requires_grad=True)"
CLOSE = "def step(a):\n    return a * 2\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        # for
        ("for i in range(2):\n    x = x * i",
         ["x * i: / for i in range(2) / 0", "x * i: / for i in range(2) / 1"]),
        ("for a in [x, x]:\n    y = a * 2",  # equal items in a row
         ["a * 2: / for a in [x, x] / 0", "a * 2: / for a in [x, x] / 1"]),
        ("for a in [x, x]:\n    y = a.tanh().exp()",
         ["a.tanh(): / for a in [x, x] / 0", "a.tanh().exp(): / for a in [x, x] / 0",
          "a.tanh(): / for a in [x, x] / 1", "a.tanh().exp(): / for a in [x, x] / 1"]),
        ("for i in (0, 1):\n    i = i + 1\n    x = x * i",  # the body changes the variable
         ["x * i: / for i in (0, 1) / 0", "x * i: / for i in (0, 1) / 1"]),
        ("for i in range(2):\n    for j in range(2):\n        x = x * j",  # only there
         [f"x * j: / for i in range(2) / {i} / for j in range(2) / {j}"
          for i in (0, 1) for j in (0, 1)]),
        ("for i in range(2):\n    x = x + i\n    for j in range(2): x = x * j\n    x = x - i",
         [f"{text}: / for i in range(2) / {i}{inner}" for i in (0, 1)
          for text, inner in (("x + i", ""), ("x * j", " / for j in range(2) / 0"),
                              ("x * j", " / for j in range(2) / 1"), ("x - i", ""))]),
        ("for i in range(2): x = x * i\nfor i in range(1): x = x + i",  # one after the other
         ["x * i: / for i in range(2) / 0", "x * i: / for i in range(2) / 1",
          "x + i: / for i in range(1) / 0"]),
        ("for i in range(4):\n    if i == 1: continue\n    if i == 3: break\n    x = x * i",
         ["x * i: / for i in range(4) / 0", "x * i: / for i in range(4) / 2"]),
        ("for i in range(1):\n    x = x * i\nelse:\n    x = x + 1\nx = x - 1",
         ["x * i: / for i in range(1) / 0", "x + 1:", "x - 1:"]),
        ("for i in range(2):\n    if i: x = x + 1\n    else: x = x - 1",
         ["x - 1: / for i in range(2) / 0", "x + 1: / for i in range(2) / 1"]),
        ("for a in [x * 2]:\n    y = a + 1", ["x * 2:", "a + 1: / for a in [x * 2] / 0"]),
        ("for a in torch.ones(2) * x:\n    y = a + 1",
         ["torch.ones(2) * x:", ":", ":"]  # all rows are taken before the first iteration
         + [f"a + 1: / for a in torch.ones(2) * x / {i}" for i in (0, 1)]),
        ("for i in [0, 0]:\n"  # a handler stands apart in Python's code, yet is no step back
         "    try:\n        y = x * 2; 1 / i\n    except ZeroDivisionError:\n        y = x * 3\n"
         "    z = y + 1",
         [f"{t}: / for i in [0, 0] / {i}" for i in (0, 1) for t in ("x * 2", "x * 3", "y + 1")]),
        # while
        ("while x < 5:\n    x = x * 2",  # 2 4 8: a round begins with its test, the last has none
         ["x < 5: / while x < 5 / 0", "x * 2: / while x < 5 / 0", "x < 5: / while x < 5 / 1",
          "x * 2: / while x < 5 / 1", "x < 5: / while x < 5 / test"]),
        ("while x < 1:\n    x = x * 2", ["x < 1: / while x < 1 / test"]),
        ("while x < 5:\n    x = x * 2\n    if True: continue",
         ["x < 5: / while x < 5 / 0", "x * 2: / while x < 5 / 0", "x < 5: / while x < 5 / 1",
          "x * 2: / while x < 5 / 1", "x < 5: / while x < 5 / test"]),
        ("n = 3\nwhile x * n and n: n -= 1",  # bodies without an op are rounds, too
         [*(f"x * n: / while x * n and n / {i}" for i in range(3)),
          "x * n: / while x * n and n / test"]),
        ("def below(a): return a < 5\nwhile below(x): x = x * 2",
         ["a < 5: / while below(x) / 0 / below", "x * 2: / while below(x) / 0",
          "a < 5: / while below(x) / 1 / below", "x * 2: / while below(x) / 1",
          "a < 5: / while below(x) / test / below"]),
        ("for i in (0, 1):\n    while x < 5:\n        x = x * 2",
         ["x < 5: / for i in (0, 1) / 0 / while x < 5 / 0",
          "x * 2: / for i in (0, 1) / 0 / while x < 5 / 0",
          "x < 5: / for i in (0, 1) / 0 / while x < 5 / 1",
          "x * 2: / for i in (0, 1) / 0 / while x < 5 / 1",
          "x < 5: / for i in (0, 1) / 0 / while x < 5 / test",
          "x < 5: / for i in (0, 1) / 1 / while x < 5 / test"]),
        ("while (x * x).sum() < 5:\n    x = x * 2",
         [f"{t}: / while (x * x).sum() < 5 / {i}"
          for t, i in (("x * x", 0), ("(x * x).sum()", 0), ("(x * x).sum() < 5", 0), ("x * 2", 0),
                       *((t, "test") for t in ("x * x", "(x * x).sum()", "(x * x).sum() < 5")))]),
        ("n = 0\nwhile n < 2:\n    x = x * 2\n    n += 1",
         ["x * 2: / while n < 2 / 0", "x * 2: / while n < 2 / 1"]),
        ("n = 0\nwhile n < 2:\n    x = x.tanh()\n    n += 1",
         ["x.tanh(): / while n < 2 / 0", "x.tanh(): / while n < 2 / 1"]),
        ("n = 0\nwhile n < 2:\n    y = 1 / x\n    n += 1",  # two ops, one instruction
         [f"1 / x: / while n < 2 / {n}" for n in (0, 0, 1, 1)]),
        ("n = 0\nwhile n < 2:\n    a, b = torch.ones(2)\n    n += 1",
         [f": / while n < 2 / {n}" for n in (0, 0, 1, 1)]),
        ("while True:\n    y = sum([x, x])\n    break", ["sum([x, x]): / while True / 0"] * 2),
        ("n = 0\nwhile n < 2:\n    y = sum([x, x]); n += 1",  # many ops, one instruction
         [f"sum([x, x]): / while n < 2 / {n}" for n in (0, 0, 1, 1)]),
        ("n = 0\nwhile n < 2:\n    for j in (0, 1):\n        x = x * j\n    n += 1",
         [f"x * j: / while n < 2 / {n} / for j in (0, 1) / {j}" for n in (0, 1) for j in (0, 1)]),
        ("while x < 5:\n    for j in (1, 2):\n        x = x * j",  # 2 -> 4 -> 8
         ["x < 5: / while x < 5 / 0", "x * j: / while x < 5 / 0 / for j in (1, 2) / 0",
          "x * j: / while x < 5 / 0 / for j in (1, 2) / 1", "x < 5: / while x < 5 / 1",
          "x * j: / while x < 5 / 1 / for j in (1, 2) / 0",
          "x * j: / while x < 5 / 1 / for j in (1, 2) / 1", "x < 5: / while x < 5 / test"]),
        # calls
        (CLOSE + "y = step(step(x))", ["a * 2: / step", "a * 2: / step"]),
        (CLOSE + "for i in range(2):\n    x = step(x)",
         ["a * 2: / for i in range(2) / 0 / step", "a * 2: / for i in range(2) / 1 / step"]),
        (CLOSE + "n = 0\nwhile n < 2:\n    x = step(x); n += 1",
         ["a * 2: / while n < 2 / 0 / step", "a * 2: / while n < 2 / 1 / step"]),
        (CLOSE + "y = list(map(step, [x, x]))", ["a * 2: / step", "a * 2: / step"]),
        ("def power(n):\n    return x if n == 0 else x * power(n - 1)\ny = power(2)",
         ["x * power(n - 1): / power / power", "x * power(n - 1): / power"]),
        ("def run(n):\n    h = x\n    for i in range(n): h = h * i\n    return h\nrun(2), run(1)",
         ["h * i: / run / for i in range(n) / 0", "h * i: / run / for i in range(n) / 1",
          "h * i: / run / for i in range(n) / 0"]),
        ("for i in range(2):\n    def f(a): return a * i\n    y = f(x)",
         ["a * i: / for i in range(2) / 0 / f", "a * i: / for i in range(2) / 1 / f"]),
        ("for i in range(1): y = (lambda a: a * 2)(x)",
         ["a * 2: / for i in range(1) / 0 / lambda"]),
        ("fs = [lambda a: a * 2 for i in range(1)]\ny = fs[0](x)", ["a * 2: / lambda"]),
        # comprehensions are loops
        ("y = [x * i for i in range(2)]",
         ["x * i: / for i in range(2) / 0", "x * i: / for i in range(2) / 1"]),
        ("y = {i: x * i for i in (1, 1)}",
         ["x * i: / for i in (1, 1) / 0", "x * i: / for i in (1, 1) / 1"]),
        ("y = [x * i + j for i in range(2) for j in range(1)]",
         [f"{t}: / for i in range(2) / {i} / for j in range(1) / 0"
          for i in (0, 1) for t in ("x * i", "x * i + j")]),
        ("y = [[x * j for j in range(2)] for i in range(1)]",
         [f"x * j: / for i in range(1) / 0 / for j in range(2) / {j}" for j in (0, 1)]),
        ("for k in range(2): y = [x * i for i in range(1)]",
         [f"x * i: / for k in range(2) / {k} / for i in range(1) / 0" for k in (0, 1)]),
        ("y = [a * 2 for a in [x * 3] if a > 1]",
         ["x * 3:"] + [f"{t}: / for a in [x * 3] / 0" for t in ("a > 1", "a * 2")]),
        ("y = sum(x * i for i in (1, 2))",
         ["x * i: / for i in (1, 2) / 0", "sum(x * i for i in (1, 2)):",
          "x * i: / for i in (1, 2) / 1", "sum(x * i for i in (1, 2)):"]),
    ],
)  # fmt: skip
def test_an_op_knows_its_loops_and_calls(source: str, expected: list[str]) -> None:
    assert paths(run(X, source)) == expected


def test_a_generator_keeps_its_own_loop_between_the_rounds_of_the_loop_that_uses_it() -> None:
    rec = run(X, "def halves():\n    for i in range(2):\n        yield x / 2\n"
                 "for h in halves():\n    y = h + 1")  # fmt: skip

    assert paths(rec) == [
        "x / 2: / for h in halves() / 0 / halves / for i in range(2) / 0",
        "h + 1: / for h in halves() / 0",
        "x / 2: / for h in halves() / 1 / halves / for i in range(2) / 1",
        "h + 1: / for h in halves() / 1",
    ]


def test_loops_and_calls_say_where_they_stand() -> None:
    rec = run(X, CLOSE + "for i in range(2):\n    y = step(x)")

    places = [(s["kind"], s["name"], s["index"], s["where"]) for s in rec.scopes]
    head, call = [0, 3, 0, 3, 17], [0, 4, 8, 4, 15]
    assert places == [
        ("root", "", 0, None),
        ("loop", "for i in range(2)", 0, head),
        ("iteration", "for i in range(2)", 0, head),
        ("call", "step", 0, call),
        ("iteration", "for i in range(2)", 1, head),
        ("call", "step", 1, call),
    ]


def test_the_loop_around_the_recording_is_no_part_of_it() -> None:
    source = (
        "for n in range(2):\n"
        "    with record() as rec:\n"
        "        for i in range(n + 1):\n"
        "            y = x * i\n"
        "    recs.append(rec)\n"
    )
    recs: list[Recording] = []

    cell(source, {"record": record, "recs": recs, "x": torch.tensor(2.0)})

    assert [paths(rec) for rec in recs] == [
        ["x * i: / for i in range(n + 1) / 0"],
        ["x * i: / for i in range(n + 1) / 0", "x * i: / for i in range(n + 1) / 1"],
    ]


def test_a_failed_backward_pass_is_over() -> None:
    rec = run(X, "y = x * x\ny.backward()\ntry: y.backward()\nexcept RuntimeError: pass\nz = x * 2")

    assert paths(rec)[-1] == "x * 2:"


def test_what_a_backward_pass_computes_is_in_its_scope_and_a_hook_is_a_call_in_there() -> None:
    rec = run(
        X,
        "y = x * x\ny.register_hook(lambda g: g * 2)\n"
        "g, = torch.autograd.grad(y, x, create_graph=True)\nz = g * 3",
    )

    of = {node["text"]: path(rec, node) for node in rec.nodes if node["kind"] == "op"}
    assert of == {"x * x": [], "g * 2": ["backward", "lambda"], "": ["backward"], "g * 3": []}


def test_backward_passes_are_numbered_as_other_calls_are() -> None:
    rec = run(
        "w = torch.tensor(2.0, requires_grad=True)\n"
        "for power in (3, 2):\n"
        "    (w ** power).backward()\n"
    )

    passes = [scope for scope in rec.scopes if scope["name"] == "backward"]
    assert [scope["index"] for scope in passes] == [0, 1]
