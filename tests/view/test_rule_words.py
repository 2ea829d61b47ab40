"""The rules that are told in words or by a formula of their own say what the engine computes."""

import linecache
from functools import partial
from itertools import count

import numpy as np
import pytest

import autodiff_kit as torch
from autodiff_kit.view import build
from autodiff_kit.view.names import Names
from autodiff_kit.view.rule_words import WORDED, decisions, rule_of, worded
from autodiff_kit.view.rules import decided, is_readable, knows
from tests.invariants.running import PROGRAMS, run

F = torch.nn.functional
_numbers = count(1)

# By entry of the table: what makes `out` of the leaf x (or of others), and what words stand for, as
# NumPy with the arrays x, g and out. Where nothing stands there, the entry's own formula is tried.
X = "torch.tensor([[1.0, -2.0, 3.5], [0.5, 4.0, -1.5]], requires_grad=True)"
V = "torch.tensor([2.0, -1.0, 0.5], requires_grad=True)"
ONES = "np.ones_like(x)"
CASES: dict[str, tuple[str, str]] = {
    "relu x": ("torch.relu(x)", "np.where(x > 0, g, 0)"),
    "leaky_relu x": ("F.leaky_relu(x, 0.1)", "np.where(x > 0, g, 0.1 * g)"),
    "prelu_kernel x": ("F.prelu(x, torch.tensor([0.2]))", "np.where(x > 0, g, 0.2 * g)"),
    "threshold x": ("F.threshold(x, 0.7, 0.0)", "np.where(x > 0.7, g, 0)"),
    "clamp x below": ("x.clamp(min=-1.7)", ""),
    "clamp x above": ("x.clamp(max=2.0)", ""),
    "hardtanh x": ("F.hardtanh(x, -1.6, 2.0)", "np.where((x > -1.6) & (x < 2.0), g, 0)"),
    "softplus x": ("F.softplus(x, beta=2)", ""),
    "softmax x": ("torch.softmax(x, 1)", ""),
    "log_softmax x": (
        "torch.log_softmax(x, 0)",
        "g - g.sum(0) * np.exp(x) / np.exp(x).sum(0)",
    ),
    "logsumexp x": ("torch.logsumexp(x, 0)", "g * np.exp(x) / np.exp(x).sum(0)"),
    "gelu x": ("F.gelu(x)", "g * slope"),
    "linalg_vector_norm x": (
        "torch.linalg.vector_norm(x, 2, 1)",
        "g[:, None] * x / np.sqrt((x ** 2).sum(1, keepdims=True))",
    ),
    "index_add source": (
        "torch.zeros(3, 3).index_add(0, torch.tensor([2, 0]), x, alpha=2)",
        "2 * g[[2, 0]]",
    ),
    "hardswish x": ("F.hardswish(x)", "g * slope"),
    "elu x": ("F.elu(x, 0.5)", "g * slope"),
    "celu x": ("F.celu(x, 0.5)", "g * slope"),
    "neg x": ("-x", "-g"),
    "sub y": ("3.0 * torch.ones(2, 3) - x", "-g"),
    "rsub x": ("torch.rsub(x, 2.0)", "-g"),
    "pow_tensor x": ("(x * x) ** torch.tensor([2.0, 3.0, 1.0])", ""),
    "pow_from_number x": ("3.0 ** x", ""),
    "sum_all x": ("x.sum()", f"g * {ONES}"),
    "sum_dim x": ("x.sum(1)", f"g[:, None] * {ONES}"),
    "mean_all x": ("x.mean()", f"g / 6 * {ONES}"),
    "mean_dim x": ("x.mean(1)", f"g[:, None] / 3 * {ONES}"),
    "prod_all x": ("x.prod()", "g * np.prod(x) / x"),
    "cumsum x": ("x.cumsum(1)", "np.flip(np.cumsum(np.flip(g, 1), 1), 1)"),
    "var x": ("x.var()", "g * 2 / (6 - 1) * (x - x.mean())"),
    "std x": ("x.std()", "g * (x - x.mean()) / ((6 - 1) * out)"),
    "std_mean x": (
        "(lambda s, m: 2 * s + m)(*torch.std_mean(x, 1))",
        "g[:, None] * 2 * (x - mean(x)) / ((3 - 1) * x.std(1, ddof=1)[:, None]) + g[:, None] / 3",
    ),
    "var_mean x": (
        "(lambda v, m: 2 * v + m)(*torch.var_mean(x, 1))",
        "g[:, None] * 2 * 2 / (3 - 1) * (x - mean(x)) + g[:, None] / 3",
    ),
    "aminmax x": (
        "(lambda low, high: low / 2 + high)(*torch.aminmax(x, dim=1))",
        "g[:, None] * ((x == x.max(1, keepdims=True)) + (x == x.min(1, keepdims=True)) / 2)",
    ),
    "linalg_svd x": (
        "(lambda u, s, vh: (u[0] * u[1] * s).sum() + s[0])(*torch.linalg.svd(x, False))",
        "of_svd(x)",
    ),
    "max_all x": ("x.max()", "g * (x == 4.0)"),
    "min_all x": ("x.min()", "g * (x == -2.0)"),
    "amax x": ("x.amax(1)", "g[:, None] * (x == x.max(1, keepdims=True))"),
    "amin x": ("x.amin(1)", "g[:, None] * (x == x.min(1, keepdims=True))"),
    "max_dim x": ("x.max(1)[0]", "g[:, None] * (x == x.max(1, keepdims=True))"),
    "min_dim x": ("x.min(1)[0]", "g[:, None] * (x == x.min(1, keepdims=True))"),
    "maximum x": ("torch.maximum(x, OTHER)", "g * ((x > other) + 0.5 * (x == other))"),
    "maximum y": ("torch.maximum(OTHER, x)", "g * ((x > other) + 0.5 * (x == other))"),
    "minimum x": ("torch.minimum(x, OTHER)", "g * ((x < other) + 0.5 * (x == other))"),
    "minimum y": ("torch.minimum(OTHER, x)", "g * ((x < other) + 0.5 * (x == other))"),
    "select x": ("x[1]", "taken"),
    "slice_dim x": ("x[:, 1:]", "taken"),
    "pick x": ("WRITE z = y[1]; y[0] = 5.0; y = y * 0 + z", "np.array([0 * g, g])"),
    "unbind x": ("torch.stack([*x.unbind(1)][::-1])", "taken"),
    "split x": ("torch.cat([*x.split(2, 1)][::-1], 1)", "taken"),
    "split_with_sizes x": ("torch.cat([*x.split([1, 2], 1)][::-1], 1)", "taken"),
    "masked_select x": ("x.masked_select(x > 0)", "taken"),
    "topk x": ("x.topk(2, 1)[0]", "taken"),
    "sort x": ("x.sort(1)[0]", "taken"),
    "diagonal x": ("x.diagonal()", "taken"),
    "median_all x": ("x.median()", "taken"),
    "median_dim x": ("x.median(1)[0]", "taken"),
    "kthvalue x": ("x.kthvalue(2, 1)[0]", "taken"),
    "index x": ("x[[0, 0, 1]]", "taken"),
    "gather x": ("x.gather(1, torch.tensor([[0, 0], [1, 2]]))", "taken"),
    "index_select x": ("x.index_select(1, torch.tensor([2, 2, 0]))", "taken"),
    "take x": ("x.take(torch.tensor([5, 5, 1]))", "taken"),
    "unfold x": ("x.unfold(1, 2, 1)", "taken"),
    "cummax x": ("x.cummax(1)[0]", "taken"),
    "cummin x": ("x.cummin(1)[0]", "taken"),
    "as_strided x": ("x.as_strided((2, 2), (1, 1))", "taken"),
    "embedding x": ("F.embedding(torch.tensor([1, 1, 0]), x)", "taken"),
    "stack tensors": ("torch.stack([OTHER, x])", "g[1]"),
    "cat tensors": ("torch.cat([OTHER, x], 1)", "g[:, 3:]"),
    "put x": ("WRITE y[0] = 5.0", "np.array([[0], [1]]) * g"),
    "put y": ("WRITE y[0] = x[1] * 2", "g[0]"),
    "index_put y": ("other.index_put((torch.tensor([1]),), x[:1])", "g[1:]"),
    "scatter source": ("other.scatter(1, COLUMNS, x[:, :1])", "np.array([[g[0, 0]], [g[1, 2]]])"),
    "scatter_add source": (
        "other.scatter_add(1, COLUMNS, x[:, :1])",
        "np.array([[g[0, 0]], [g[1, 2]]])",
    ),
    "copy_from x": ("WRITE y.copy_(other)", "0 * g"),
    "copy_from y": ("WRITE y = other * 1; y.copy_(x)", "g"),
    "fill x": ("WRITE y.fill_(2.0)", "0 * g"),
    "fill_with x": ("WRITE y.fill_(x.sum())", "0 * g"),
    "fill_with y": ("WRITE y = other * 1; y.fill_(x.sum())", "g"),
    "zero x": ("WRITE y.zero_()", "0 * g"),
    "index_put x": ("x.index_put((torch.tensor([1]),), torch.ones(3))", "np.array([[1], [0]]) * g"),
    "scatter x": (
        "x.scatter(1, torch.tensor([[0], [2]]), torch.ones(2, 1))",
        "g * np.array([[0, 1, 1], [1, 1, 0]])",
    ),
    "scatter_value x": (
        "x.scatter(1, torch.tensor([[0], [2]]), 1.0)",
        "g * np.array([[0, 1, 1], [1, 1, 0]])",
    ),
    "index_fill x": ("x.index_fill(1, torch.tensor([1]), 9.0)", "g * np.array([1, 0, 1])"),
    "index_copy x": (
        "x.index_copy(1, torch.tensor([1]), torch.ones(2, 1))",
        "g * np.array([1, 0, 1])",
    ),
    "unsqueeze x": ("x.unsqueeze(1)", "g.reshape(2, 3)"),
    "squeeze x": ("x[:1].squeeze()", "g[None]"),
    "permute x": ("x.permute(1, 0)", "g.T"),
    "flip x": ("x.flip(1)", "g[:, ::-1]"),
    "roll x": ("x.roll(1, 1)", "np.roll(g, -1, 1)"),
    "expand x": ("x.expand(4, 2, 3)", "g.sum(0)"),
    "repeat x": ("x.repeat(2, 1)", "g[:2] + g[2:]"),
    "to_copy x": ("x.double()", "g"),
    "tril x": ("x.tril()", "np.tril(g)"),
    "triu x": ("x.triu()", "np.triu(g)"),
    "constant_pad_nd x": ("F.pad(x, (1, 2))", "g[:, 1:4]"),
    "sign x": ("x.sign()", "0 * g"),
    "floor x": ("x.floor()", "0 * g"),
    "ceil x": ("x.ceil()", "0 * g"),
    "round x": ("x.round()", "0 * g"),
    "trunc x": ("x.trunc()", "0 * g"),
    "sgn x": ("x.sgn()", "0 * g"),
    "mv x": ("x @ torch.tensor([1.0, 2.0, -1.0])", "np.outer(g, [1, 2, -1])"),
    "nll_loss x mean": ("F.nll_loss(x, TARGET)", "-g / 2 * np.array([[0, 0, 1], [1, 0, 0]])"),
    "nll_loss x sum": (
        "F.nll_loss(x, TARGET, reduction='sum')",
        "-g * np.array([[0, 0, 1], [1, 0, 0]])",
    ),
    "nll_loss x none": (
        "F.nll_loss(x, TARGET, reduction='none')",
        "-g[:, None] * np.array([[0, 0, 1], [1, 0, 0]])",
    ),
    "mse_loss x mean": ("F.mse_loss(x, OTHER)", ""),
    "mse_loss y mean": ("F.mse_loss(OTHER, x)", ""),
    "mse_loss x sum": ("F.mse_loss(x, OTHER, reduction='sum')", ""),
    "mse_loss x none": ("F.mse_loss(x, OTHER, reduction='none')", ""),
    "mse_loss y sum": ("F.mse_loss(OTHER, x, reduction='sum')", ""),
    "mse_loss y none": ("F.mse_loss(OTHER, x, reduction='none')", ""),
    "binary_cross_entropy_with_logits x mean": (
        "F.binary_cross_entropy_with_logits(x, torch.ones(2, 3))",
        "",
    ),
    "binary_cross_entropy_with_logits x sum": (
        "F.binary_cross_entropy_with_logits(x, torch.ones(2, 3), reduction='sum')",
        "",
    ),
    "binary_cross_entropy x mean": ("F.binary_cross_entropy(x.sigmoid(), torch.ones(2, 3))", ""),
    "binary_cross_entropy x sum": (
        "F.binary_cross_entropy(x.sigmoid(), torch.ones(2, 3), reduction='sum')",
        "",
    ),
    "layer_norm bias": ("F.layer_norm(other, (3,), other[0], x[0])", "g"),
    "layer_norm weight": (
        "F.layer_norm(other, (3,), x[0], other[0])",
        "g * normalized(other, 1)[0]",
    ),
    "layer_norm x": ("F.layer_norm(x, (3,), other[0])", "through(g * other[0], x, 1)"),
    "batch_norm bias True": (
        "F.batch_norm(other, None, None, other[0], x[0], training=True)",
        "g.sum(0)",
    ),
    "batch_norm weight True": (
        "F.batch_norm(other, None, None, x[0], other[0], training=True)",
        "(g * normalized(other, 0)[0]).sum(0)",
    ),
    "batch_norm x True": (
        "F.batch_norm(x, None, None, other[0], other[1], training=True)",
        "through(g * other[0], x, 0)",
    ),
    "batch_norm x False": (
        "F.batch_norm(x, other[0], other[1], other[1], other[1])",
        "g * other[1] / np.sqrt(other[1] + 1e-5)",
    ),
    "batch_norm bias False": (
        "F.batch_norm(other, other[0], other[1], other[1], x[0])",
        "g.sum(0)",
    ),
    "batch_norm weight False": (
        "F.batch_norm(other, other[0], other[1], x[0], other[1])",
        "(g * (other - other[0]) / np.sqrt(other[1] + 1e-5)).sum(0)",
    ),
    "group_norm bias": ("F.group_norm(other, 1, other[0], x[0])", "g.sum(0)"),
    "group_norm weight": (
        "F.group_norm(other, 1, x[0], other[0])",
        "(g * normalized(other, 1)[0]).sum(0)",
    ),
    "convolution bias": (
        "F.conv1d(other.reshape(2, 1, 3), other[:1, :1].reshape(1, 1, 1), x[0, :1])",
        "g.sum((0, 2))",
    ),
    "convolution weight": (
        "F.conv1d(other.reshape(2, 1, 3), x[:1].reshape(1, 1, 3))",
        "(g * other.reshape(2, 1, 3)).sum(0, keepdims=True)",
    ),
    "convolution x": (
        "F.conv1d(x.reshape(2, 1, 3), other[:1, :2].reshape(1, 1, 2))",
        "np.array([[np.convolve(row, other[0, :2])] for row in g[:, 0]])",
    ),
    "adaptive_max_pool2d x": (
        "F.adaptive_max_pool2d(x.reshape(1, 1, 2, 3), 1)",
        "g * (x.reshape(1, 1, 2, 3) == 4)",
    ),
    "squeeze_dim x": ("x[:1].squeeze(0)", "g[None]"),
    "squeeze_dims x": ("x[:1, :1].squeeze((0, 1))", "g.reshape(1, 1)"),
    "max_pool2d x": (
        "F.max_pool2d(x.reshape(1, 1, 2, 3), (2, 3))",
        "g * (x.reshape(1, 1, 2, 3) == 4)",
    ),
    "avg_pool2d x": (
        "F.avg_pool2d(x.reshape(1, 1, 2, 3), (2, 3))",
        "g / 6 * np.ones((1, 1, 2, 3))",
    ),
}


def _recorded(source: str):
    file = f"<rule {next(_numbers)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = {"torch": torch, "F": F}
    with torch.record() as recording:
        exec(compile(source, file, "exec"), space)
    return recording, space


def _array(value):
    return np.array(value["data"], dtype=np.float64).reshape(value["shape"])


def _program(code: str) -> str:
    code = code.replace("TARGET", "torch.tensor([2, 0])").replace("OTHER", "other")
    code = code.replace("COLUMNS", "torch.tensor([[0], [2]])")
    lines = ["torch.manual_seed(0)", f"x = {X}"]
    lines += ["other = torch.tensor([[1.0, 0.0, 5.0], [0.5, 1.0, 2.0]])"]
    if code.startswith("WRITE "):
        lines += ["y = x * 1", code.removeprefix("WRITE "), "out = y * 1"]
    else:
        lines += [f"out = {code}"]
    return "\n".join([*lines, "out.backward(torch.randn(out.shape, dtype=out.dtype))"]) + "\n"


def _normalized(x, axis):
    """Return x with mean 0 and variance 1 along an axis, and its standard deviations."""
    deviations = np.sqrt(x.var(axis, keepdims=True) + 1e-5)
    return (x - x.mean(axis, keepdims=True)) / deviations, deviations


def _through(g, x, axis):
    """Return g / the deviations, less its mean and its share along the normalized x."""
    normalized, deviations = _normalized(x, axis)
    share = (g * normalized).mean(axis, keepdims=True)
    return (g - g.mean(axis, keepdims=True) - normalized * share) / deviations


def _of_svd(x, g):
    """Return what the words say for the gradient of (u[0] * u[1] * s).sum() + s[0]."""
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    of_s = (u[0] * u[1] + [1, 0]) * g
    of_u = u[::-1] * s * g
    turned = u.T @ of_u
    off = (turned - turned.T) * s / (s**2 - s[:, None] ** 2 + np.eye(2))
    return u @ (np.diag(of_s) + off) @ vh


def _contribution(recording, entry: str):
    op, argument, *_ = entry.split()
    gradients = {}
    for event in recording.events:
        if event["kind"] == "backward":
            gradients |= dict(zip(event["roots"], event["seed"], strict=True))
        elif event["kind"] == "visit":
            gradients[event["node"]] = event["g"]
        elif event["kind"] == "contribution":
            node = recording.nodes[event["node"]]
            if node["op"] == op and event["arg"].split("[")[0] == argument:
                return node, event, gradients[event["node"]]
    raise AssertionError(f"{entry} has not run: {[n['op'] for n in recording.nodes]}")


def _taken(x, out, g):
    """Return g where the elements of the result were taken from: x has no number twice."""
    result = np.zeros(x.shape)
    for number, gradient in zip(out.ravel(), g.ravel(), strict=True):
        result[x == number] += gradient
    return result


# Of rules that backward reads itself, with create_graph, or of what stands inside of a product, a
# recurrent layer or a change of dtype.
RULES_OF_RULES = {
    *("relu_backward x", "relu_backward y", "select_backward x", "slice_backward x"),
    *("index_backward x", "parts_backward parts", "flat_in y", "promote x", "drop_dim x"),
    *("sigmoid_backward grad_output", "tanh_backward grad_output", "unsafe_split x"),
    *("log_softmax_backward grad_output", "log_softmax_backward result"),
    *(f"nll_loss_backward x {reduction}" for reduction in ("mean", "sum", "none")),
}


def test_every_rule_that_is_told_so_is_tried():
    assert CASES.keys() | RULES_OF_RULES == WORDED.keys()


@pytest.mark.parametrize("entry", CASES)
def test_a_rule_gives_what_its_words_or_its_formula_say(entry):
    code, meaning = CASES[entry]
    recording, space = _recorded(_program(code))
    node, event, came = _contribution(recording, entry)
    gradient, g = _array(event["before"] or event["after"]), _array(came)

    values = {i["arg"]: recording.nodes[i["node"]]["value"] for i in node["inputs"] if "node" in i}
    known = {name: _array(value) for name, value in values.items()}
    terms = max(1, gradient.size // max(1, np.prod(node["value"]["shape"], dtype=int)))
    known |= {"g": g, "out": _array(node["value"]), "terms": terms, **node["params"]}
    known |= {i["arg"]: i["value"] for i in node["inputs"] if "node" not in i}
    if formula := WORDED[entry].formula:
        scope = {n: torch.tensor(v) if isinstance(v, np.ndarray) else v for n, v in known.items()}
        scope |= {name: getattr(torch, name) for name in ("exp", "outer", "sigmoid")}
        scope["log"] = np.log  # of a number
        result = eval(formula, scope).numpy()
        np.testing.assert_allclose(np.broadcast_to(result, gradient.shape), gradient, rtol=1e-4)
    if not meaning:
        return
    x = space["x"].detach().numpy()
    if meaning == "taken":  # of all parts together: each has a gradient of its own
        root = next(event for event in recording.events if event["kind"] == "backward")
        taken = _taken(x, space["out"].detach().numpy(), _array(root["seed"][0]))
        np.testing.assert_allclose(space["x"].grad.numpy(), taken, rtol=1e-5)
        return
    arrays = {"np": np, "g": g, "x": x, "other": space["other"].numpy(), "out": known["out"]}
    arrays |= {"normalized": _normalized, "through": _through}
    seed = next(event["seed"][0] for event in recording.events if event["kind"] == "backward")
    arrays |= {
        "mean": lambda x: x.mean(1, keepdims=True),
        "of_svd": partial(_of_svd, g=_array(seed)),
    }
    if "slope" in meaning:
        f, x = {"torch": torch, "F": F}, space["x"].detach().double()
        up, down = (eval(code, {**f, "x": x + h}).numpy() for h in (1e-5, -1e-5))
        arrays["slope"] = (up - down) / 2e-5
    np.testing.assert_allclose(eval(meaning, arrays), gradient, rtol=1e-4, atol=1e-5)


def test_every_rule_of_the_bank_of_programs_has_a_formula_or_words():
    without = set()
    for name in PROGRAMS:
        recording = run(name, torch).recording
        names = Names(recording.to_dict())
        for event in recording.events:
            node = event["kind"] == "contribution" and recording.nodes[event["node"]]
            if not node or node["op"] is None:
                continue
            rule = rule_of(recording.ops, node, event["arg"])
            text = decided(rule["text"], decisions(node))
            known = is_readable(text) and knows(text, names.reads(node["id"], rule["reads"]))
            if not known and worded(node, event["arg"], event["to"], names) is None:
                without.add((node["op"], event["arg"], rule["text"]))
    own = {entry for entry in without if entry[2].startswith("backward(ctx")}
    assert without == own  # of a Function that the learner wrote


def _captions(source):
    recording, _ = _recorded(source)
    return [frame["caption"] for frame in build(recording).frames]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (
            "torch.relu(x)",
            "the gradient of y where y > 0, 0 elsewhere: [1.0, 1.0] × ([2.0, 0.0] > 0) = ",
        ),
        ("x.mean()", "1/2 of the gradient of y for each of the 2 elements of x: [0.5, 0.5]."),
        ("x.max()", "the gradient of y for the largest element, 0 for the others: [1.0, 0.0]."),
        ("x[0]", "the gradient of y at the place that was picked, 0 elsewhere: [1.0, 0.0]."),
        ("x.sum()", "the gradient of y for each of the 2 elements of x: [1.0, 1.0]."),
    ],
)
def test_a_caption_says_what_the_rule_does_in_the_learners_names(code, words):
    source = f"x = torch.tensor([2.0, -1.0], requires_grad=True)\ny = {code}\n"
    captions = _captions(source + "y.backward(torch.ones_like(y))\n")
    assert any(words in caption for caption in captions), captions


def test_elements_that_are_equally_large_share_the_gradient():
    source = "x = torch.tensor([2.0, 2.0], requires_grad=True)\ny = x.max()\ny.backward()\n"
    words = "the gradient of y, shared by the largest elements, 0 for the others: [0.5, 0.5]."
    assert any(words in caption for caption in _captions(source))


def test_the_gradient_of_a_matrix_in_a_product_with_a_vector_is_an_outer_product():
    source = "W = torch.ones(2, 2, requires_grad=True)\nx = torch.tensor([1.0, 2.0])\n"
    captions = _captions(f"{source}y = W @ x\ny.sum().backward()\n")
    words = "gives the outer product of the gradient of y and x: outer([1.0, 1.0], [1.0, 2.0]) = "
    assert any(words in caption for caption in captions), captions


def test_a_formula_in_names_has_the_sign_of_a_product_that_one_in_numbers_has():
    source = "x = torch.ones(5, 5, requires_grad=True)\ny = x.tanh()\ny.sum().backward()\n"
    formula = "gives (gradient of y) × (1 - y × y), a (5, 5) tensor"
    assert any(formula in caption for caption in _captions(source))


def test_a_product_that_the_learner_wrote_stays_as_it_is_written():
    source = "x = torch.ones(5, 5, requires_grad=True)\ny = (x * 2).tanh()\ny.sum().backward()\n"
    captions = _captions(source)
    assert any("The rule of multiply for x gives (gradient of x * 2) × 2" in c for c in captions)


def test_a_sum_is_told_with_as_many_digits_as_it_takes_to_add_up():
    source = "w = torch.tensor(264.556, requires_grad=True)\ny = w * 264.556 + w * 264.556\n"
    assert any("264.556 + 264.556 = 529.112." in c for c in _captions(source + "y.backward()\n"))


def test_a_bias_that_is_used_for_one_row_only_is_not_called_a_sum():
    source = "b = torch.ones(2, requires_grad=True)\ny = torch.ones(1, 2) + b\n"
    captions = _captions(source + "y.sum().backward()\n")
    words = "b (2,) was used as (1, 2), so its gradient gets the shape (2,) back: [1.0, 1.0]."
    assert words in captions


def test_a_change_in_place_by_an_operator_is_told_as_it_is_written():
    source = "x = torch.ones(2, requires_grad=True)\ny = x * 2\ny += 1\ny *= x\n"
    captions = _captions(source)
    assert captions[2].startswith("y2: y1 += 1: add makes [3.0, 3.0]")
    assert captions[3].startswith("y3: y2 *= x: multiply makes [3.0, 3.0]")
