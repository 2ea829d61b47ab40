"""What nodes are called: as the learner calls them, numbered where one name was given often."""

import warnings

import pytest

import autodiff_kit as torch
from autodiff_kit import nn
from autodiff_kit.record import record
from tests.record.cells import cell, named, ops, run

X = "x = torch.tensor(2., requires_grad=True)"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("y = x * 2", {"y": "x * 2"}),
        ("y: object = x * 2", {"y": "x * 2"}),
        ("y = z = x * 2", {"y": "x * 2"}),
        ("a, b = x * 2, x * 3", {"a": "x * 2", "b": "x * 3"}),
        ("a, (b, c) = x * 2, (x * 3, x * 4)", {"a": "x * 2", "b": "x * 3", "c": "x * 4"}),
        ("*a, b = x * 2, x * 3, x * 4", {"b": "x * 4"}),
        ("y = (z := x * 2) + 1", {"z": "x * 2", "y": "(z := x * 2) + 1"}),
        ("y = x * 2 if True else x * 3", {"y": "x * 2"}),
        ("class A: pass\nA.y = x * 2", {"A.y": "x * 2"}),
        ("ys = [0]\nys[0] = x * 2", {"ys[0]": "x * 2"}),
        ("y = x * 2 + 1", {"y": "x * 2 + 1"}),  # the inner product has no name
        ("y = 1 / x", {"y": "1 / x"}),  # nor has the reciprocal inside
        ("y = sum([x, x, x])", {"y": "sum([x, x, x])"}),
        ("y = torch.tensor(1) + x", {"y": "torch.tensor(1) + x"}),
        ("def f(a): return a * 3\ny = f(x)", {"y": "a * 3"}),
        ("def f(a): return a * 3\nz = f(f(x))", {"z": "a * 3"}),
        (
            "def f(a):\n    b = a * 3\n    return b\ny = f(x)",
            {"b": "a * 3"},
        ),  # the first name stays
        ("a, b = torch.ones(2) * x", {"a": "unbind", "b": "unbind"}),
        ("y = x * 2\nz = y", {"y": "x * 2"}),
        ("_ = x * 2", {}),
    ],
)
def test_an_op_has_the_name_its_result_is_given(source: str, expected: dict[str, str]) -> None:
    names = named(run(X, source))

    assert names.pop("x") == "None"  # the leaf, which is older than the recording
    assert names == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("h = x * 1\nfor _ in range(2):\n    h = h * x", ["h1", "h2", "h3"]),
        ("h = x * 1\nh += 1\nh **= 2", ["h1", "h2", "h3"]),
        ("h = x * 1\nk = h * 2", ["h", "k"]),  # given once: no number
        ("i = 0\nwhile i < 2:\n    h = x * i\n    i += 1", ["h1", "h2"]),
        ("def f(a):\n    b = a * 2\n    return b\ny = f(f(x))", ["b1", "b2"]),
        ("h = x * 1\nh1 = h * 2\nh = h1 * 3", ["h2", "h1", "h3"]),  # h1 is taken
        ("for i in range(2):\n    a, b = torch.ones(2) * x\n    c = a + b",
         [None, "a1", "b1", "c1", None, "a2", "b2", "c2"]),
        ("def f(a): return a * 3\nfor i in range(2):\n    z = f(x)\n    y = z + 1",
         ["z1", "y1", "z2", "y2"]),
        ("for row in torch.ones(2) * x: row + 1", [None, "row1", "row2", None, None]),
    ],
)  # fmt: skip
def test_a_name_given_several_times_is_numbered(source: str, expected: list[str | None]) -> None:
    assert [op["name"] for op in ops(run(X, source))] == expected


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (("w = torch.tensor(1.)", "y = w * 2"), ["w"]),
        (("ws = [torch.tensor(1.), torch.tensor(2.)]", "y = ws[0] * ws[1]"), ["ws[0]", "ws[1]"]),
        (("ws = [torch.tensor(1.), torch.tensor(2.)]",
          "for i in range(2): y = ws[i] * ws[i]"), ["ws[0]", "ws[1]"]),
        (("ws = {'a': torch.tensor(1.)}", "y = ws['a'] * 2"), ["ws['a']"]),
        (("class A: pass\nA.w = torch.tensor(1.)", "y = 2 * A.w"), ["A.w"]),
        (("class A: pass\nA.w = torch.tensor(1.)", "y = torch.exp(A.w)"), ["A.w"]),
        (("class A: pass\nA.w = torch.tensor(1.)", "y = A.w.exp()"), ["A.w"]),
        (("class A:\n    def __init__(self): self.w = torch.tensor(1.)\n"
          "    def __call__(self, x): return self.w * x\na = A()",
          "y = a(torch.tensor(3.))"), ["x", "self.w"]),
        (("def f(a): return a * 2\nw = torch.tensor(1.)", "y = f(w)"), ["w"]),
        (("def f(a): return a * 2", "y = f(torch.tensor(1.))"), ["a"]),
        (("w = torch.tensor(1.)", "for p in [w]: y = p * 2"), ["w"]),
        (("ws = [torch.tensor(1.), torch.tensor(2.)]", "for p in ws: y = p * 2"), ["p1", "p2"]),
        ((X, "x.grad = torch.tensor(1.)\ny = x.grad * 2"), ["x.grad"]),
        ((X, "y = x.detach() * 2"), ["x"]),
        (("w = torch.ones(2)", "w.requires_grad_()\ny = w * w"), ["w"]),
        ((), ["w1", "w2"]),
    ],
)  # fmt: skip
def test_a_leaf_has_the_name_by_which_the_learner_gets_it(
    cells: tuple[str, ...], expected: list[str | None]
) -> None:
    rec = run(*cells or ("w = torch.zeros(1)\nw = torch.ones(1)",))

    leaves = [node["name"] for node in rec.nodes if node["kind"] == "leaf"]
    assert [name for name in leaves if name != "x" or "x" in expected] == expected


def test_a_weight_updated_under_no_grad_keeps_its_name_and_its_place() -> None:
    rec = run(X, "with torch.no_grad():\n    x -= 0.5\ny = x * x\ny.backward()")

    leaf, sub, mul = rec.nodes
    assert (leaf["name"], sub["name"], mul["name"]) == ("x", None, "y")
    assert [i["node"] for i in mul["inputs"]] == [0, 0]
    modified = next(event for event in rec.events if event["kind"] == "modified")
    assert (modified["node"], modified["value"]["data"]) == (0, [1.5])  # 2 - 0.5


def test_a_result_made_a_leaf_takes_the_name() -> None:
    rec = run("w = torch.ones(2) * 0.1\nw.requires_grad_()\ny = w * w\ny.sum().backward()")

    _, leaf, y = rec.nodes[:3]
    assert (leaf["name"], leaf["kind"], leaf["text"]) == ("w", "leaf", "torch.ones(2) * 0.1")
    assert leaf["requires_grad"] and [i["node"] for i in y["inputs"]] == [1, 1]
    assert rec.events[-2]["node"] == 1 and rec.events[-2]["kind"] == "accumulate"


def test_a_leaf_that_comes_to_want_a_gradient_says_so() -> None:
    rec = run("w = torch.tensor(3.)\nw.requires_grad_()\ny = w * w\ny.backward()")

    assert [(n["name"], n["recorded"], n["requires_grad"]) for n in rec.nodes] == [
        ("w", True, True),
        ("y", True, True),
    ]


@pytest.mark.parametrize(
    "setting",
    ["h = torch.zeros(2)", "h = torch.tensor(0.)", "h = torch.zeros(2) * 1"],
    ids=["1-d", "0-d", "result"],
)
@pytest.mark.parametrize("added", ["1.", "w", "w * 2"])
@pytest.mark.parametrize("older", [True, False])
def test_a_tensor_changed_in_place_stays_known(setting: str, added: str, older: bool) -> None:
    w = "w = torch.ones(1)[0].requires_grad_()" if "w" in added else "w = torch.tensor(5.)"
    change = f"h += {added}\nh *= 3\nk = h + 1"

    rec = run(w, setting, change) if older else run(w, f"{setting}\n{change}")

    add, mul, k = (
        node for node in rec.nodes if node["text"] in (f"h += {added}", "h *= 3", "h + 1")
    )
    assert rec.nodes[add["inputs"][0]["node"]]["name"] == "h1"
    assert mul["inputs"][0]["node"] == add["id"]
    assert k["inputs"][0]["node"] == mul["id"]
    assert (add["name"], mul["name"]) == ("h2", "h3")


def test_writing_into_an_element_moves_the_whole_tensor_on() -> None:
    rec = run(X, "h = torch.zeros(3)\nh[0] = x * 2\nk = h * 3")

    zeros, _, _, put, k = rec.nodes
    assert (zeros["name"], put["name"], put["op"]) == ("h1", "h2", "put")
    assert put["inputs"][0] == {"arg": "x", "node": zeros["id"]}
    assert k["inputs"][0]["node"] == put["id"]


def test_a_change_through_a_view_changes_its_base() -> None:
    rec = run("h = torch.zeros(2)\nv = h[0]\nv += 5.\nk = h * 2")

    changed = [e for e in rec.events if e["kind"] == "modified"]
    assert [(e["node"], e["value"]["data"]) for e in changed] == [(2, [5.0]), (0, [5.0, 0.0])]


def test_a_recorded_change_through_a_view_is_drawn_through_its_base() -> None:
    rec = run(X, "h = torch.zeros(2)\nv = h[0]\nv += x\nk = h * 2\nl = v * 3")

    by_op = {node["op"]: node for node in rec.nodes}
    k, last = (node for node in ops(rec) if node["text"] in ("h * 2", "v * 3"))
    assert k["inputs"][0]["node"] == by_op["put"]["id"]
    assert last["inputs"][0]["node"] == by_op["pick"]["id"]
    assert by_op["put"]["inputs"][0]["node"] == 0
    assert by_op["put"]["name"] == "h2"


CELL = "def cell(h, x): return torch.tanh(h * x)\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (CELL + "h = x\nfor i in range(3): h = cell(h, x)",
         [None, "h1", None, "h2", None, "h3"]),
        (CELL + "n = 0\nh = x\nwhile n < 2:\n    h = cell(h, x)\n    n += 1",
         [None, "h1", None, "h2"]),
        (CELL + "def outer(a): return cell(a, x)\ny = outer(outer(x))", [None, None, None, "y"]),
        ("class Net:\n    def __call__(self, a): return self.forward(a)\n"
         "    def forward(self, a): return a * 2\nmodel = Net()\ny = model(x)", ["y"]),
        ("def f(a): return a * 2 if a > 1 else a * 3\ny = f(x)", [None, "y"]),
        ("f = lambda a: a * 2\ny = f(x)\ny = f(y)", ["y1", "y2"]),
        ("def f(a): return sum([a, a])\ny = f(x)", [None, "y"]),
        ("def f(a): return a + torch.ones(1, dtype=torch.float64)\ny = f(x)", [None, "y"]),
        ("def f(n): return x * 1 if n == 0 else x * f(n - 1)\ny = f(2)", [None, None, "y"]),
        ("def f(a):\n    with torch.no_grad(): return a * 2\ny = f(x)", ["y"]),
        ("def f(a): return a * 2\ny = f(x) + 1", [None, "y"]),
        ("def f(a): return a * 2, a * 3\ny = f(x)", [None, None]),  # y is a pair
        ("def f(a): return a * 2\nys = list(map(f, [x, x]))", [None, None]),
        ("def f(a): return a * 2\nfor row in map(f, [x, x]): pass", ["row1", "row2"]),
        ("import copy\nclass A:\n    def __deepcopy__(self, memo): return x * 2\n"
         "y = copy.deepcopy(A())", ["y"]),  # held by y in the end; in between others work
        ("import copy\nclass A:\n    def __deepcopy__(self, memo): return x * 2\n"
         "y = copy.deepcopy(A())\ny = 1", [None]),
    ],
)  # fmt: skip
def test_what_a_function_returns_has_the_name_it_is_given_outside(
    source: str, expected: list[str | None]
) -> None:
    rec = run(X, source)

    assert [op["name"] for op in ops(rec)] == expected


def test_a_tensor_made_in_a_function_has_the_name_it_is_given_outside() -> None:
    rec = run("def weight(): return torch.ones(2)\nw = weight()\nv = weight()")

    assert [node["name"] for node in rec.nodes] == ["w", "v"]


@pytest.mark.parametrize("rounds", [1, 2])
def test_a_statement_that_an_error_has_ended_gives_no_name(rounds: int) -> None:
    source = f"""
net = nn.Linear(3, 2)
for n in (3,) * {rounds - 1} + (5,):
    y = net(torch.ones(4, n))
"""
    with pytest.raises(RuntimeError, match="cannot be multiplied"), record() as rec:
        cell(source, {"torch": torch, "nn": nn})

    named = [node["op"] for node in rec.nodes if node["name"] == "y"]
    assert named == ["addmm"] * (rounds - 1)  # the transposed weight is not y
    assert rec.nodes[-1]["op"] == "t" and "net(" not in rec.nodes[-1]["text"]


TOTAL = """def total(xs):
    head, *rest = xs
    return head if not rest else head + total(rest)
"""


def test_a_leaf_is_called_by_the_first_variable_that_holds_it() -> None:
    rec = run(
        f"{TOTAL}a, b, c = (torch.tensor(v, requires_grad=True) for v in (1., 2., 3.))\n"
        "out = total([a, b, c])"
    )

    assert [n["name"] for n in rec.nodes if n["kind"] == "leaf"] == ["a", "b", "c"]


def test_a_view_of_a_view_keeps_its_name_when_the_base_is_changed() -> None:
    rec = run(
        "x = torch.ones(2, 3, requires_grad=True) * 1\nrow = x[0]\npart = row[1:]\n"
        "part.mul_(4)\nrow.add_(1)\nout = x.sum()"
    )

    names = {n["name"]: n["value"]["data"] for n in rec.nodes if n["op"] == "pick"}
    assert names == {
        "row2": [1.0, 4.0, 4.0],
        "part2": [4.0, 4.0],
        "row3": [2.0, 5.0, 5.0],  # part is not used again, and gets no new node
    }


def test_a_buffer_whose_base_another_thread_has_changed_is_no_parameter() -> None:
    rec = run(
        "import threading\nx = torch.ones(3, requires_grad=True) * 2\nrow = x[1:]\n"
        "net = torch.nn.Module()\nnet.register_buffer('cache', row)",
        "y = row * 3\nthread = threading.Thread(target=lambda: x.mul_(2))\n"
        "thread.start()\nthread.join()",
    )

    assert [n["name"] for n in rec.nodes] == ["row", "y"]


@pytest.mark.parametrize("leaf", ["torch.tensor(2.)", "torch.ones(2)"])
def test_leaves_of_a_list_have_its_name_where_a_loop_reads_them_first(leaf: str) -> None:
    rec = run(
        "",
        f"ws = [{leaf}.requires_grad_() for _ in range(2)]\nh = torch.tensor(1.)\n"
        "for w in ws:\n    h = h * w\nh.sum().backward()\n"
        "with torch.no_grad():\n    for w in ws:\n        w -= w.grad",
    )

    assert [n["name"] for n in rec.nodes if n["requires_grad"] and n["kind"] == "leaf"] == [
        "ws[0]",
        "ws[1]",
    ]
    inputs = [i for n in rec.nodes if n["op"] == "mul" for i in n["inputs"]]
    assert [i.get("variable") for i in inputs if rec.nodes[i["node"]]["name"] == "ws[1]"] == ["w"]


def test_items_that_a_list_holds_at_the_end_are_called_by_their_places() -> None:
    space = {"torch": torch, "record": record}
    source = """with record() as rec:
    x = torch.tensor([1., 2., 3., 4.], requires_grad=True)
    first, *rest, last = x
    p = {"w": first.detach()}
    p = {key: value.detach().requires_grad_() for key, value in p.items()}
"""

    cell(source, space)

    assert [n["name"] for n in space["rec"].nodes if n["op"] == "unbind"] == [
        "first",
        "rest[0]",
        "rest[1]",
        "last",
    ]
    assert space["rec"].nodes[-1]["name"] == 'p["w"]'


def test_the_grad_of_a_result_is_not_looked_at_for_a_name() -> None:
    source = "loss = (x - 5) ** 2\nloss.backward()\nx = x - 0.1 * x.grad"
    with warnings.catch_warnings(record=True) as messages, pytest.raises(TypeError):
        warnings.simplefilter("always")
        run(X, "for i in range(2):\n    " + source.replace("\n", "\n    "))

    (message,) = messages  # PyTorch's, of the line that asks
    assert "not a leaf" in str(message.message) and "names.py" not in message.filename
