"""``ak.record(torch)``: real PyTorch, told as the kit tells itself.

The same cells are recorded under both, and the stories are equal: nodes, names, source, scopes,
arrows, values, what is saved, and every event of the backward pass. Where they may differ, a test
of its own below says how and why:

- a leaf gets its gradient as soon as that is complete in PyTorch, and after all younger nodes here;
- an item that is set to a number, and a change in place through a view, are one node there;
- pieces of one split share a node there; mixed dtypes need no node there;
- some rules of PyTorch's save more (the losses), and gradients of gradients use other ops;
- the last digits of sums.
"""

import copy
import gc
import json
import weakref
from typing import Any

import pytest

import autodiff_kit as ak
from autodiff_kit.record import Recording
from autodiff_kit.view import build, still_svg, to_text
from tests.record.libraries import LIBRARIES, V, X, both, recorded, torch

pytestmark = pytest.mark.parity


@LIBRARIES
def test_what_clips_gradients_changes_them(library: Any) -> None:
    rec = recorded(
        "w = torch.tensor([1., 2.], requires_grad=True)\n(w * 3.).sum().backward()\n"
        "torch.nn.utils.clip_grad_norm_([w], 1.)\n"
        "with torch.no_grad():\n    w -= w.grad",
        library,
    )
    captions = [f["caption"] for f in build(rec).frames]

    assert not any("could not see" in c for c in captions)
    assert any(c.startswith("w.grad = [3.0, 3.0] is read: the gradient of w") for c in captions)
    changed = next(
        c for c in captions if c.startswith(("w.grad, changed by", "mul_ changes w.grad"))
    )
    assert "[0.7071, 0.7071]" in changed  # [3, 3] / sqrt(18)
    assert any(c.startswith("w - w.grad") and "makes [0.2929, 1.2929]" in c for c in captions)


@LIBRARIES
def test_what_an_item_is_set_to_is_not_called_after_the_item(library: Any) -> None:
    source = "w = torch.tensor(2., requires_grad=True)\ny = x * 1\ny[0] = x[1]\ny[1] = w * 3\n"
    source += "items = [x, x]\nitems[0] = x * 5\nout = (y * items[0]).sum()"
    rec = recorded(V + source, library)
    captions = [f["caption"] for f in build(rec).frames]

    for start in ("x[1]: pick", "y2: y1[0] = x[1]:", "w * 3: multiply", "y3: y2[1] = w * 3:"):
        assert any(c.startswith(start) for c in captions), start
    assert any(c.startswith("items[0] = x * 5: multiply") for c in captions)


@LIBRARIES
@pytest.mark.parametrize("change", ["v *= 10", "v.mul_(10)", "out *= 10", "out.mul_(10)"])
def test_a_view_after_a_change_is_called_by_the_learners_own_slice(
    change: str, library: Any
) -> None:
    rec = recorded(V + f"out = x * 1\nv = out[1:]\n{change}\nz = (v * 2).sum()", library)
    captions = [f["caption"] for f in build(rec).frames]

    assert any(c.startswith("v2 = out2[1:]: view again makes [20.0]") for c in captions)
    assert any(c.startswith("v2 * 2: multiply makes [40.0]") for c in captions)
    assert not any(
        "made before the recording" in c or "position" in c.split(":")[0] for c in captions
    )


CAUGHT = """
class Bad(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, g): raise ValueError("oops")

def attempt():
    try:
        Bad.apply(x).sum().backward()
    except ValueError:
        pass

for i in range(2):
    try:
        Bad.apply(x).sum().backward()
    except ValueError:
        pass
attempt()
z = x * 3
z.sum().backward()
"""


@LIBRARIES
def test_a_backward_pass_whose_error_is_caught_is_told_to_end_there(library: Any) -> None:
    rec = recorded(V + CAUGHT, library)

    passes = [e["kind"] for e in rec.events if e["kind"] in ("backward", "finish", "broken")]
    assert passes == ["backward", "broken"] * 3 + ["backward", "finish"]
    frames = build(rec).frames
    ends = [f for f in frames if f["caption"].startswith("An error ends the backward pass here")]
    assert len(ends) == 3
    assert next(f for f in frames if f["caption"].startswith("z = x * 3"))["phase"] == "forward"
    assert Recording.from_dict(json.loads(json.dumps(rec.to_dict()))).to_dict() == rec.to_dict()


@LIBRARIES
def test_the_last_pass_may_be_one_that_failed(library: Any) -> None:
    rec = recorded(V + CAUGHT.replace("z.sum()", "Bad.apply(z).sum()"), library)

    assert [e["kind"] for e in rec.events][-1] == "error"  # nothing has caught the last one
    rec = recorded(V + CAUGHT.partition("z = ")[0], library)

    assert [e["kind"] for e in rec.events][-1] == "broken"


@LIBRARIES
def test_a_round_of_an_inner_loop_says_which_round_of_the_outer_one_it_is_in(library: Any) -> None:
    rec = recorded(
        V + "h = x\nfor epoch in range(2):\n    for i in range(2):\n        h = h * x", library
    )
    captions = [f["caption"].partition(". h")[0] for f in build(rec).frames]

    assert captions[1:] == [
        f"Iteration {i + 1} (in iteration {epoch + 1} of for epoch in range(2))"
        for epoch in range(2)
        for i in range(2)
    ]


@LIBRARIES
def test_the_same_line_in_the_next_round_does_not_change_how_it_is_told(library: Any) -> None:
    rec = recorded(
        V + "tot = 0.\nfor j in range(2):\n    tot = tot + x * j\n"
        "for j in range(2):\n    (x * 3).sum().backward()\n    x.grad.zero_()",
        library,
    )
    captions = "\n".join(f["caption"] for f in build(rec).frames)

    assert "tot1 = tot + x * j: add makes" in captions
    assert "tot2 = tot1 + x * j: add makes" in captions
    assert captions.count("x.grad, changed by x.grad.zero_(): zero makes [0.0, 0.0]") == 2


def test_only_a_number_is_told_as_a_saved_number() -> None:
    rec = recorded(V + "y = torch.nn.functional.layer_norm(x, (2,))\ny.sum().backward()")

    node = next(n for n in rec.nodes if n["name"] == "y")
    grad_fn = torch.nn.functional.layer_norm(torch.ones(2, requires_grad=True), (2,)).grad_fn
    tensors = [n for n in dir(grad_fn) if isinstance(getattr(grad_fn, n), torch.Tensor)]
    assert len(node["saved"]) == len([n for n in tensors if n.startswith("_saved_")])


@LIBRARIES
def test_what_is_too_large_to_be_shown_is_told_by_its_name(library: Any) -> None:
    rec = recorded(
        "a = torch.ones(2, 3, requires_grad=True)\n"
        "y = torch.where(a > 2, a, -a)\ny.sum().backward()",
        library,
    )
    texts = [
        f["caption"] for f in build(rec).frames if f["caption"].startswith("The rule of where")
    ]

    ones = "[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]"
    assert (
        f"for a gives {ones} \N{MULTIPLICATION SIGN} (a > 2) = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]."
        in texts[0]
    )
    assert f"for -a gives {ones} \N{MULTIPLICATION SIGN} ~(a > 2) = {ones}." in texts[1]


@LIBRARIES
@pytest.mark.parametrize(
    ("source", "creator"),
    [
        ("a = torch.arange(4.).view(2, 2).requires_grad_()", "arange(4.).view(2, 2)"),
        ("a = (torch.ones(2) * 3).requires_grad_()", "ones(2) * 3"),
        ("a = torch.ones(2).detach().requires_grad_(True)", "ones(2).detach()"),
        ("a = torch.ones(2) * 3\na.requires_grad = True", "ones(2) * 3"),
    ],
)
def test_a_result_that_becomes_a_leaf_is_one_node_with_what_made_it(
    source: str, creator: str, library: Any
) -> None:
    rec = recorded(source + "\n(a * a).sum().backward()", library)
    picture = build(rec)

    (leaf,) = [n for n in rec.nodes if n["name"] == "a"]
    assert leaf["kind"] == "leaf" and leaf["requires_grad"]
    (frame,) = [f for f in picture.frames if f["caption"].startswith("a = ")]
    assert f"is a leaf: {creator}, without a history" in frame["caption"]
    (ones,) = [n for n in rec.nodes if n["op"] is None]
    origin, box = (picture.outline.box_of[n["id"]].id for n in (ones, leaf))
    to_it = [e for e in picture.outline.edges if e.target == box]
    assert [(e.source, e.ghost) for e in to_it] == [(origin, True)]
    assert len(rec.nodes) == 4  # ones, a, a * a, its sum: one tensor is one node
    assert Recording.from_dict(json.loads(json.dumps(rec.to_dict()))).to_dict() == rec.to_dict()


def test_a_number_that_a_node_of_the_backward_pass_saves_is_told() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (g,) = torch.autograd.grad(((x**2.0) * 3.0).sum(), x, create_graph=True)
    inner = g.grad_fn.next_functions[1][0]
    assert inner.name() == "MulBackward1" and inner._saved_other == 2.0

    rec = recorded(
        "x = torch.tensor([1., 2.], requires_grad=True)\n"
        "g, = torch.autograd.grad(((x ** 2.) * 3.).sum(), x, create_graph=True)"
    )

    node = next(n for n in rec.nodes if n["grad_fn"] == "MulBackward1")
    assert [(s["name"], s["bytes"]) for s in node["saved"]] == [("y", 0)]
    texts = [f["caption"] for f in build(rec).frames if "saves the number 2.0 " in f["caption"]]
    assert len(texts) == 1


@LIBRARIES
@pytest.mark.parametrize(
    ("source", "attributes", "words"),
    [
        ("torch.nn.functional.embedding(i, w)", "indices", "i = [0, 2, 1]"),
        ("w[i]", "indices", "the indices"),
        ("w[[1, 0, 1]]", "indices", "the indices"),
        ("w.index_select(0, i)", "index", "i = [0, 2, 1]"),
        ("w.gather(1, i.reshape(3, 1))", "self index", "i.reshape(3, 1) = [[0], [2], [1]]"),
        ("torch.nn.functional.nll_loss(w, i)", "self target", "i = [0, 2, 1]"),
        ("torch.nn.functional.cross_entropy(w, i)", "self target", "i = [0, 2, 1]"),
    ],
)
def test_indices_are_told_as_saved(source: str, attributes: str, words: str, library: Any) -> None:
    creation = (
        f"w = torch.ones(3, 4, requires_grad=True)\ni = torch.tensor([0, 2, 1])\nout = {source}\n"
    )
    space: dict[str, Any] = {"torch": torch}
    exec(creation, space)
    arrays = [getattr(space["out"].grad_fn, f"_saved_{name}") for name in attributes.split()]
    tensors = [t for value in arrays for t in (value if isinstance(value, tuple) else (value,))]

    rec = recorded(f"{creation}out.sum().backward()", library)

    node = next(n for n in reversed(rec.nodes) if n["name"] == "out")
    total = sum(s["bytes"] for s in node["saved"] if s["name"] != "total_weight")
    assert total == sum(t.nbytes for t in tensors)
    caption = next(f["caption"] for f in build(rec).frames if f["caption"].startswith("out ="))
    assert f" {words} (the rule for" in caption
    read = [rec.nodes[i["node"]]["name"] or "" for i in node["inputs"] if "node" in i]
    assert ("i" in read) == words.startswith("i =")
    releases = [
        e["bytes"] for e in rec.events if e["kind"] == "release" and e["node"] == node["id"]
    ]
    assert releases == [sum(s["bytes"] for s in node["saved"])]


PROGRAMS = {
    "arithmetic": X + "b = torch.tensor([1., 2.], requires_grad=True)\n"
    "y = 2 * x + b\nz = (y * y - 1 / x) ** 2\nz.sum().backward()",
    "the classic": X + "y = 2 * x + 3\nz = 4 * y - 1\nz.backward()",
    "reuse": X + "y = x * x\nz = y * x + y\nz.backward()",
    "a loop": "w = torch.tensor(1.5, requires_grad=True)\nh = w\n"
    "for i in range(3):\n    h = h * w\nh.backward()",
    "a while": X + "y = x\nwhile y < 50:\n    y = y * 2\ny.backward()",
    "a branch": X + "if x.sum() > 5:\n    y = x * x\nelse:\n    y = -x\ny.backward()",
    "a call": "def f(a, b):\n    t = a.sin() * b\n    return t - b\n\n" + X + "y = f(x, x + 1)\n"
    "g, = torch.autograd.grad(y, x)",
    "a comprehension": X + "terms = [x * i for i in range(1, 3)]\nsum(terms).backward()",
    "layers by hand": "x = torch.tensor([[1., -2.], [.5, 3.]])\n"
    "w = torch.tensor([[.5, -.5, 1.], [1., 2., -1.]], requires_grad=True)\n"
    "b = torch.zeros(3, requires_grad=True)\n"
    "h = torch.relu(x @ w + b)\nloss = (h ** 2).mean()\nloss.backward()",
    "a layer": "torch.manual_seed(0)\nmodel = torch.nn.Linear(2, 3)\n"
    "with torch.no_grad():\n    model.weight.fill_(.5)\n    model.bias.zero_()\n"
    "x = torch.tensor([[1., -2.], [.5, 3.]])\nloss = model(x).sum()\nloss.backward()",
    "shapes": "x = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)\n"
    "y = x.T.reshape(4)[1:] @ x[0, 0:1].expand(3)\n"
    "v = torch.stack([y / 9, x[1, 1]]).exp().sum(dim=0)\n"
    "torch.cat([v.reshape(1), x[0]]).sum().backward()",
    "in place": V + "y = x * 3\ny += 1\ny.mul_(2)\ny.sum().backward()",
    "no_grad": X + "with torch.no_grad():\n    a = x * 3\n(x * a).backward()",
    "detach": X + "c = x.detach() * 2\n(x * c).backward()",
    "retain_grad": X + "y = x * x\ny.retain_grad()\nz = y * y\n"
    "z.backward(retain_graph=True)\nz.backward()",
    "several roots": X + "a, b = x * 2, x * x\ntorch.autograd.backward([a, b], retain_graph=True)\n"
    "torch.autograd.backward([a, b], [torch.tensor(1.), torch.tensor(3.)])\nx.backward()",
    "hooks": V + "x.register_hook(lambda g: g * 10)\ny = 2 * x\n"
    "y.register_hook(lambda g: g + 1)\ny.sum().backward()",
    "where, norm, softmax": V + "y = torch.where(x > 1, x, torch.zeros_like(x)).norm()\n"
    "z = x.softmax(0).std() + x.double().var().float()\n(y + z).backward()",
    "a training loop": V + "opt = torch.optim.SGD([x], lr=.1)\nfor i in range(2):\n"
    "    opt.zero_grad()\n    loss = (x * x).sum()\n    loss.backward()\n    opt.step()",
    "an update by hand": V + "(x * x).sum().backward()\nwith torch.no_grad():\n"
    "    x -= .1 * x.grad\nx.grad.zero_()",
    "a Function": "class Cube(torch.autograd.Function):\n    @staticmethod\n"
    "    def forward(ctx, x):\n        ctx.save_for_backward(x)\n        return x ** 3\n\n"
    "    @staticmethod\n    def backward(ctx, g):\n        (x,) = ctx.saved_tensors\n"
    "        return 3 * x * x * g\n\n" + X + "y = Cube.apply(x) + 1\ny.backward()",
    "error: second backward": X + "y = x * x\ny.backward()\ny.backward()",
    "error: saved value changed": X + "y = x.exp()\ny += 1\ny.backward()",
    "error: no scalar": V + "y = 2 * x\ny.backward()",
    "error: no graph": V + "with torch.no_grad():\n    y = (2 * x).sum()\ny.backward()",
    "error: leaf in place": V + "x += 1",
}  # fmt: skip


def near(value: Any) -> Any:
    """Round what the two libraries may sum in another order."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {key: near(item) for key, item in value.items()}
    return [near(item) for item in value] if isinstance(value, list) else value


def forward(rec: Recording) -> Any:
    nodes = copy.deepcopy(rec.nodes)
    for node in nodes:
        node["name"] = node["name"] or None
    return near(nodes), rec.scopes


def of_leaves(rec: Recording) -> set[int]:
    return {node["id"] for node in rec.nodes if node["kind"] == "leaf"}


def backward(rec: Recording) -> Any:
    """Return the events; those at leaves on their own, as they come at another time."""
    leaves = of_leaves(rec)
    at_leaf = [e["kind"] in ("visit", "accumulate") and e["node"] in leaves for e in rec.events]
    others = [e for e, at in zip(rec.events, at_leaf, strict=True) if not at]
    by_leaf = {
        leaf: [e for e, at in zip(rec.events, at_leaf, strict=True) if at and e["node"] == leaf]
        for leaf in leaves
    }
    return near(others), near(by_leaf)


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS)
def test_the_same_program_gives_the_same_story(source: str) -> None:
    kit, real = both(source)

    assert forward(real) == forward(kit)
    assert backward(real) == backward(kit)
    assert real.sources == kit.sources


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name.startswith("error")])
def test_an_error_is_kept_with_its_line(name: str) -> None:
    kit, real = both(PROGRAMS[name])

    assert real.error is not None and kit.error is not None
    assert real.error["where"] == kit.error["where"] is not None
    assert kit.error["message"].split("\n-> ")[0] == real.error["message"]


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS)
def test_the_recording_can_be_drawn_and_saved(source: str) -> None:
    real = recorded(source)

    again = Recording.from_dict(json.loads(json.dumps(real.to_dict())))
    picture = build(again)

    assert still_svg(picture) == still_svg(build(real))
    assert "Steps" in to_text(picture)


# -- what may differ --------------------------------------------------------------------------


def test_a_warning_of_a_grad_that_no_pass_fills_names_the_line_that_reads_it() -> None:
    source = "\n\nx = torch.tensor(2., requires_grad=True)\ny = x * 3\n\ngrad = y.grad"

    with pytest.warns(UserWarning, match="not a leaf") as warned:
        recording = recorded(source, torch)

    (warning,) = warned
    assert warning.lineno == 6
    assert warning.filename.startswith("<cell")
    assert recording.note is None


def test_a_leaf_is_visited_as_soon_as_its_gradient_is_complete() -> None:
    kit, real = both(X + "b = torch.tensor(1., requires_grad=True)\n(2 * x + b).backward()")

    def order(rec: Recording) -> list[str]:
        visits = [e["node"] for e in rec.events if e["kind"] == "visit"]
        return [rec.nodes[n]["name"] or rec.nodes[n]["text"] for n in visits]

    assert order(real) == ["2 * x + b", "b", "2 * x", "x"]
    assert order(kit) == order(real)


def test_a_change_through_a_view_is_one_node_in_pytorch() -> None:
    source = V + "y = x * 3\nv = y[0]\nv.mul_(2)\n(v + y.sum()).backward()"
    kit, real = both(source)

    assert [n["grad_fn"] for n in real.nodes[3:5]] == [
        "torch::autograd::CopySlices",
        "AsStridedBackward0",
    ]
    assert [e["grad"]["data"] for e in real.events if e["kind"] == "accumulate"] == [[12.0, 3.0]]
    assert [e["grad"]["data"] for e in kit.events if e["kind"] == "accumulate"] == [[12.0, 3.0]]


def test_a_number_set_as_an_item_is_an_input_without_a_node() -> None:
    real = recorded(V + "y = x * 3\ny[0] = 5.\ny.sum().backward()")

    put = real.nodes[2]
    assert (put["op"], put["grad_fn"]) == ("put", "torch::autograd::CopySlices")
    assert put["inputs"] == [{"arg": "x", "node": 1}, {"arg": "y", "value": 5.0}]
    assert [e["how"] for e in real.events if e["kind"] == "modified"] == ["__setitem__"]


def test_pieces_of_one_split_share_a_node_that_sends_one_contribution() -> None:
    source = "x = torch.arange(4., requires_grad=True)\na, b = x.split(2)\n(a * b).sum().backward()"
    real = recorded(source)

    a, b = real.nodes[1:3]
    assert (a["name"], b["name"]) == ("a", "b")
    assert a["grad_fn"] == b["grad_fn"] == "SplitBackward0"
    to_x = [e for e in real.events if e["kind"] == "contribution" and e["to"] == 0]
    assert [e["after"]["data"] for e in to_x] == [[2.0, 3.0, 0.0, 1.0]]


def test_the_gradient_of_a_gradient_is_the_same_by_other_ops() -> None:
    source = X + "y = x ** 3\ng, = torch.autograd.grad(y, x, create_graph=True)\ng.backward()"

    for rec in both(source):
        visits = [e["g"]["data"] for e in rec.events if e["kind"] == "visit" and e["node"] == 0]
        assert visits == [[27.0], [18.0]]  # 3 x**2 and 6 x


def test_what_is_saved_is_what_pytorch_says() -> None:
    source = (
        "x = torch.tensor([[1., -1.]], requires_grad=True)\n"
        "loss = torch.nn.functional.cross_entropy(x, torch.tensor([0]))\nloss.backward()"
    )
    kit, real = both(source)

    assert [n["grad_fn"] for n in real.nodes] == [n["grad_fn"] for n in kit.nodes]
    saved = {n["op"]: {s["name"]: s["bytes"] for s in n["saved"]} for n in real.nodes if n["op"]}
    assert saved["log_softmax"] == {"out": 8}
    assert saved["nll_loss"] == {"x": 8, "target": 8, "total_weight": 4}
    freed = [e["bytes"] for e in real.events if e["kind"] == "release"]
    assert freed == [20, 8]


# -- PyTorch itself ---------------------------------------------------------------------------


def test_operations_that_the_kit_has_not_are_called_as_pytorch_calls_them() -> None:
    rec = recorded("x = torch.ones(2, requires_grad=True)\ny = x.i0()\ny.sum().backward()")

    assert rec.nodes[1]["op"] == "i0"
    assert rec.nodes[1]["grad_fn"] == "I0Backward0"
    assert rec.ops["i0"]["rules"] == {}
    assert "i0" in to_text(build(rec))


def test_parameters_of_modules_are_called_by_their_path() -> None:
    source = (
        "nn = torch.nn\nmodel = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))\n"
        "model(torch.ones(1, 2)).sum().backward()"
    )
    rec = recorded(source)

    leaves = [node["name"] for node in rec.nodes if node["kind"] == "leaf"]
    assert [n for n in leaves if n] == [
        "model.0.weight", "model.0.bias", "model.2.weight", "model.2.bias",
    ]  # fmt: skip


def test_nothing_is_left_behind() -> None:
    w = torch.ones(3, requires_grad=True)
    gc.disable()
    try:
        with ak.record(torch) as rec:
            y = (w * 2).exp()
            z = y.sum()
        count = len(rec.events)
        z.backward()
        reference = weakref.ref(y)
        del y, z
        assert reference() is None
    finally:
        gc.enable()

    assert len(rec.events) == count  # what runs later is not recorded
    assert not w._post_accumulate_grad_hooks


def test_backward_is_told_through_a_graph_made_before_by_the_names_of_its_nodes() -> None:
    y = (torch.ones(2, requires_grad=True) * 3).sum()

    rec = recorded("(2 * y).backward()", y=y)

    assert (rec.nodes[0]["kind"], rec.nodes[0]["grad_fn"]) == ("leaf", "SumBackward0")
    contributions = [e for e in rec.events if e["kind"] == "contribution"]
    assert [rec.nodes[e["to"]]["grad_fn"] for e in contributions] == [
        "SumBackward0",
        "MulBackward0",
        None,
    ]
    assert [e["after"]["data"] for e in contributions] == [
        [2.0],
        [2.0, 2.0],
        [6.0, 6.0],
    ]  # 2, and 2 * 3


def test_hooks_on_saved_tensors_are_called_as_often_as_without_a_recording() -> None:
    calls: list[str] = []

    def note(word: str) -> Any:
        return lambda tensor: calls.append(word) or tensor

    with ak.record(torch), torch.autograd.graph.saved_tensors_hooks(note("pack"), note("unpack")):
        x = torch.ones(3, requires_grad=True)
        (x * x).sum().backward()

    assert calls == ["pack", "pack", "unpack", "unpack"]


def test_layers_of_all_kinds_are_recorded_up_to_their_parameters() -> None:
    nn = torch.nn
    model = nn.Sequential(
        *(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU()),
        *(nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8, 2)),
    )  # fmt: skip
    with ak.record(torch) as rec:
        model(torch.ones(1, 1, 6, 6)).sum().backward()

    reached = {e["node"] for e in rec.events if e["kind"] == "accumulate"}
    assert rec.note is None
    assert len(reached) == len(list(model.parameters()))
    assert build(rec).frames


def test_a_recording_changes_nothing_of_what_is_computed() -> None:
    def train() -> tuple[list[float], Any]:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Dropout(0.5))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
        losses = []
        for _ in range(3):
            optimizer.zero_grad()
            loss = model(torch.ones(2, 3)).pow(2).mean()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            optimizer.step()
            losses.append(loss.item())
        return losses, model[0].weight

    alone, weight = train()
    with ak.record(torch) as rec:
        recorded_losses, recorded_weight = train()

    assert rec.note is None
    assert recorded_losses == alone
    assert torch.equal(recorded_weight, weight)
    steps = [e for e in rec.events if e["kind"] == "modified" and e["how"] == "Adam.step"]
    assert len(steps) == 3 * 2


def test_what_fails_in_the_recorder_ends_the_recording_and_not_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from autodiff_kit.record import torch_forward

    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(torch_forward, "bind", broken)
    with ak.record(torch) as rec:
        x = torch.tensor(3.0, requires_grad=True)
        y = x * x
        y.backward()

    assert x.grad == 6
    assert rec.note is not None and "the recorder itself failed (ZeroDivisionError: oh)" in rec.note


def test_a_recording_keeps_to_its_limit() -> None:
    with ak.record(torch, limit=5) as rec:
        x = torch.ones(2)
        for _ in range(10):
            x = x + 1

    assert len(rec.events) == 5
    assert rec.note is not None and "5 events" in rec.note
    assert x[0] == 11


def test_what_is_neither_the_kit_nor_pytorch_is_refused_in_plain_words() -> None:
    with pytest.raises(TypeError, match=r"this is json\.\n-> import torch"):
        ak.record(json)
    with pytest.raises(TypeError, match="this is str"):
        ak.record("torch")
    assert isinstance(recorded(X, ak), Recording)  # the kit itself, under any name
