"""The work that is timed, each written once per kind of contender.

After reading this file you know exactly what the ratios compare. A workload is a function that
takes a contender and returns ``(step, gradients)``: ``step()`` does one whole step - zero the
gradients, forward, backward, update where there is one - and returns the loss; ``gradients()``
returns those of the last step, so that contenders can be checked against each other.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

WORKLOADS: dict[str, dict[str, Any]] = {}


def workload(name: str, kind: str, *args: Any, **kwargs: Any) -> Any:
    """Register a function as workload ``name`` for contenders of one kind."""

    def register(make: Any) -> Any:
        WORKLOADS.setdefault(name, {})[kind] = lambda lib: make(lib, *args, **kwargs)
        return make

    return register


def _total(arrays: Any) -> float:
    return float(sum(np.abs(np.asarray(a, dtype="float64")).sum() for a in arrays))


# -- chains: h = x; n times { h = h * w; h = h + b } --------------------

VARIANTS = {
    "chain0d_f64": ("float64", (), 500),
    "chain0d_f32": ("float32", (), 500),
    "chain0d_100": ("float32", (), 50),
    "chain100_f64": ("float64", (100,), 500),
    "chain100_f32": ("float32", (100,), 500),
}


def torch_chain(lib: Any, dtype: str, shape: tuple[int, ...], n: int, const: bool = False) -> Any:
    kind = getattr(lib, dtype)
    x = lib.full(shape, 1.0, dtype=kind, requires_grad=True)
    w = 0.999 if const else lib.full(shape, 0.999, dtype=kind, requires_grad=True)
    b = 0.001 if const else lib.full(shape, 0.001, dtype=kind, requires_grad=True)
    leaves = [x] if const else [x, w, b]

    def step() -> Any:
        for leaf in leaves:
            leaf.grad = None
        h = x
        for _ in range(n):
            h = h * w
            h = h + b
        h = h if shape == () else h.sum()
        h.backward()
        return h

    return step, lambda: _total(leaf.grad.numpy() for leaf in leaves)


def numpy_chain(_: Any, dtype: str, shape: tuple[int, ...], n: int, const: bool = False) -> Any:
    kind = np.dtype(dtype).type
    x, w, b = kind(1.0), kind(0.999), kind(0.001)
    if shape:
        x, w, b = np.full(shape, x), np.full(shape, w), np.full(shape, b)
    if const:
        x, w, b = 1.0, 0.999, 0.001
    losses: list[Any] = []

    def step() -> Any:
        h, hs = x, []
        for _ in range(n):
            hs.append(h)
            h = h * w + b
        g = np.ones(shape, dtype) if shape else kind(1.0)
        if const:
            g = 1.0
            for _ in range(n):
                g = g * w
            losses[:] = [g]
            return h
        gw, gb = 0 * w, 0 * b
        for h_before in reversed(hs):
            gb = gb + g
            gw = gw + g * h_before
            g = g * w
        losses[:] = [g, gw, gb]
        return h.sum() if shape else h

    return step, lambda: _total(losses)


def hips_chain(lib: Any, dtype: str, shape: tuple[int, ...], n: int, const: bool = False) -> Any:
    anp, value_and_grad = lib.numpy, lib.value_and_grad
    x, w, b = (np.full(shape, v, dtype)[()] for v in (1.0, 0.999, 0.001))

    def f(x: Any, w: Any, b: Any) -> Any:
        h = x
        for _ in range(n):
            h = h * w
            h = h + b
        return anp.sum(h) if shape else h

    compute = value_and_grad(f, argnum=0 if const else (0, 1, 2))
    losses: list[Any] = []

    def step() -> Any:
        loss, losses[:] = (r := compute(x, w, b))[0], [r[1]] if const else list(r[1])
        return loss

    return step, lambda: _total(losses)


def micrograd_chain(
    lib: Any, dtype: str, shape: tuple[int, ...], n: int, const: bool = False
) -> Any:
    x, w, b = (lib.Value(v) for v in (1.0, 0.999, 0.001))
    if const:
        w, b = 0.999, 0.001
    leaves = [x] if const else [x, w, b]

    def step() -> Any:
        for leaf in leaves:
            leaf.grad = 0
        h = x
        for _ in range(n):
            h = h * w
            h = h + b
        # Its backward sorts the graph recursively and fails on 1,000 ops; give it an order.
        import sys

        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(10 * n + 1000)
        try:
            h.backward()
        finally:
            sys.setrecursionlimit(limit)
        return h.data

    return step, lambda: _total([leaf.grad for leaf in leaves])


for _name, (_dtype, _shape, _n) in VARIANTS.items():
    workload(_name, "torch", _dtype, _shape, _n)(torch_chain)
    workload(_name, "numpy", _dtype, _shape, _n)(numpy_chain)
    workload(_name, "hips", _dtype, _shape, _n)(hips_chain)
    if _shape == ():
        workload(_name, "micrograd", _dtype, _shape, _n)(micrograd_chain)
for _kind, _make in (
    ("torch", torch_chain),
    ("numpy", numpy_chain),
    ("hips", hips_chain),
    ("micrograd", micrograd_chain),
):
    workload("chain0d_const", _kind, "float64", (), 500, const=True)(_make)


# -- two moons: an MLP 2-16-16-1, max-margin loss, L2 --------------------


def moons(n: int = 100) -> tuple[Any, Any]:
    """Two half circles with noise 0.1; labels -1 and 1."""
    rng = np.random.default_rng(1)
    t = np.linspace(0, np.pi, n // 2)
    points = np.concatenate(
        [np.stack([np.cos(t), np.sin(t)], 1), np.stack([1 - np.cos(t), 0.5 - np.sin(t)], 1)]
    )
    return points + rng.normal(0, 0.1, points.shape), np.repeat([1.0, -1.0], n // 2)


def _mlp(sizes: tuple[int, ...], seed: int = 2) -> list[Any]:
    rng = np.random.default_rng(seed)
    arrays = []
    for n, m in itertools.pairwise(sizes):
        arrays += [rng.uniform(-1, 1, (n, m)) / np.sqrt(n), np.zeros(m)]
    return arrays


@workload("moons_vec", "torch")
def torch_moons(lib: Any) -> Any:
    points, labels = moons()
    x, s = lib.tensor(points), lib.tensor(labels[:, None])
    params = [lib.tensor(a, requires_grad=True) for a in _mlp((2, 16, 16, 1))]

    def step() -> Any:
        for p in params:
            p.grad = None
        w1, b1, w2, b2, w3, b3 = params
        h = (x @ w1 + b1).relu()
        h = (h @ w2 + b2).relu()
        y = h @ w3 + b3
        loss = (1 - y * s).relu().mean()
        for p in params:
            loss = loss + 1e-4 * (p * p).sum()
        loss.backward()
        with lib.no_grad():
            for p in params:
                p -= 0.1 * p.grad
        return loss

    return step, lambda: _total(p.grad.numpy() for p in params)


@workload("moons_vec", "hips")
def hips_moons(lib: Any) -> Any:
    anp = lib.numpy
    points, labels = moons()
    s = labels[:, None]
    params = _mlp((2, 16, 16, 1))

    def f(params: Any) -> Any:
        w1, b1, w2, b2, w3, b3 = params
        h = anp.maximum(anp.dot(points, w1) + b1, 0)
        h = anp.maximum(anp.dot(h, w2) + b2, 0)
        y = anp.dot(h, w3) + b3
        loss = anp.mean(anp.maximum(1 - y * s, 0))
        for p in params:
            loss = loss + 1e-4 * anp.sum(p * p)
        return loss

    compute = lib.value_and_grad(f)
    losses: list[Any] = []

    def step() -> Any:
        loss, losses[:] = compute(params)
        for p, g in zip(params, losses, strict=True):
            p -= 0.1 * g
        return loss

    return step, lambda: _total(losses)


@workload("moons_vec", "numpy")
def numpy_moons(_: Any) -> Any:
    x, labels = moons()
    s = labels[:, None]
    params = _mlp((2, 16, 16, 1))
    losses: list[Any] = []

    def step() -> Any:
        w1, b1, w2, b2, w3, b3 = params
        h1 = np.maximum(x.dot(w1) + b1, 0)
        h2 = np.maximum(h1.dot(w2) + b2, 0)
        y = h2.dot(w3) + b3
        margin = 1 - y * s
        loss = np.maximum(margin, 0).mean() + 1e-4 * sum((p * p).sum() for p in params)
        gy = (margin > 0) * (-s / len(s))
        g2 = gy.dot(w3.T) * (h2 > 0)
        g1 = g2.dot(w2.T) * (h1 > 0)
        losses[:] = [x.T.dot(g1), g1.sum(0), h1.T.dot(g2), g2.sum(0), h2.T.dot(gy), gy.sum(0)]
        for p, g in zip(params, losses, strict=True):
            g += 2e-4 * p
            p -= 0.1 * g
        return loss

    return step, lambda: _total(losses)


def _scalar_moons(make: Any, number: Any) -> Any:
    """One node per scalar operation, as micrograd builds it; about 65,000 nodes a step."""
    points, labels = moons()
    arrays = _mlp((2, 16, 16, 1))
    params = [[make(v) for v in a.ravel()] for a in arrays]
    flat = [p for group in params for p in group]

    def layer(inputs: Any, w: Any, b: Any, active: bool) -> Any:
        n, m = len(inputs), len(b)
        outputs = []
        for j in range(m):
            total = b[j]
            for i in range(n):
                total = total + w[i * m + j] * inputs[i]
            outputs.append(total.relu() if active else total)
        return outputs

    def forward() -> Any:
        loss: Any = 0.0
        for point, label in zip(points, labels, strict=True):
            h = layer([number(v) for v in point], params[0], params[1], True)
            h = layer(h, params[2], params[3], True)
            y = layer(h, params[4], params[5], False)[0]
            loss = (1 + y * -float(label)).relu() + loss
        penalty = flat[0] * flat[0]
        for p in flat[1:]:
            penalty = penalty + p * p
        return loss * (1.0 / len(labels)) + penalty * 1e-4

    return forward, flat


@workload("moons_scalar", "torch")
def torch_moons_scalar(lib: Any) -> Any:
    forward, flat = _scalar_moons(
        lambda v: lib.tensor(float(v), dtype=lib.float64, requires_grad=True), float
    )

    def step() -> Any:
        for p in flat:
            p.grad = None
        loss = forward()
        loss.backward()
        return loss

    return step, lambda: _total(p.grad.numpy() for p in flat)


@workload("moons_scalar", "micrograd")
def micrograd_moons_scalar(lib: Any) -> Any:
    forward, flat = _scalar_moons(lambda v: lib.Value(float(v)), float)

    def step() -> Any:
        for p in flat:
            p.grad = 0
        loss = forward()
        import sys

        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(100_000)
        try:
            loss.backward()
        finally:
            sys.setrecursionlimit(limit)
        return loss.data

    return step, lambda: _total(p.grad for p in flat)


# -- RNN over five sequences --------------------

LENGTHS = (5, 12, 20, 33, 50)


def _rnn_data() -> tuple[list[Any], list[Any], list[Any]]:
    rng = np.random.default_rng(3)
    weights = [rng.normal(0, 0.2, shape) for shape in ((16, 32), (32, 32), (32,), (32, 1))]
    sequences = [rng.normal(0, 1, (t, 8, 16)) for t in LENGTHS]
    targets = [rng.normal(0, 1, (8, 1)) for _ in LENGTHS]
    as_f32 = [[a.astype("float32") for a in group] for group in (weights, sequences, targets)]
    return as_f32[0], as_f32[1], as_f32[2]


@workload("rnn_f32", "torch")
def torch_rnn(lib: Any) -> Any:
    weights, sequences, targets = _rnn_data()
    params = [lib.tensor(a, requires_grad=True) for a in weights]
    xs = [[lib.tensor(x) for x in sequence] for sequence in sequences]
    ys = [lib.tensor(y) for y in targets]
    start = lib.zeros(8, 32)

    def step() -> Any:
        for p in params:
            p.grad = None
        wx, wh, b, head = params
        loss = 0.0
        for sequence, y in zip(xs, ys, strict=True):
            h = start
            for x in sequence:
                h = (x @ wx + h @ wh + b).tanh()
            error = h @ head - y
            loss = loss + (error * error).mean()
        loss.backward()
        return loss

    return step, lambda: _total(p.grad.numpy() for p in params)


@workload("rnn_f32", "hips")
def hips_rnn(lib: Any) -> Any:
    anp = lib.numpy
    weights, sequences, targets = _rnn_data()
    start = np.zeros((8, 32), "float32")

    def f(params: Any) -> Any:
        wx, wh, b, head = params
        loss = 0.0
        for sequence, y in zip(sequences, targets, strict=True):
            h = start
            for x in sequence:
                h = anp.tanh(anp.dot(x, wx) + anp.dot(h, wh) + b)
            error = anp.dot(h, head) - y
            loss = loss + anp.mean(error * error)
        return loss

    compute = lib.value_and_grad(f)
    losses: list[Any] = []

    def step() -> Any:
        loss, losses[:] = compute(weights)
        return loss

    return step, lambda: _total(losses)


@workload("rnn_f32", "numpy")
def numpy_rnn(_: Any) -> Any:
    (wx, wh, b, head), sequences, targets = _rnn_data()
    start = np.zeros((8, 32), "float32")
    losses: list[Any] = []

    def step() -> Any:
        loss = 0.0
        gwx, gwh, gb, ghead = (np.zeros_like(a) for a in (wx, wh, b, head))
        for sequence, y in zip(sequences, targets, strict=True):
            hs = [start]
            for x in sequence:
                hs.append(np.tanh(x.dot(wx) + hs[-1].dot(wh) + b))
            error = hs[-1].dot(head) - y
            loss += (error * error).mean()
            gy = error * np.float32(2 / error.size)
            ghead += hs[-1].T.dot(gy)
            g = gy.dot(head.T)
            for t in range(len(sequence) - 1, -1, -1):
                g = g * (1 - hs[t + 1] * hs[t + 1])
                gwx += sequence[t].T.dot(g)
                gwh += hs[t].T.dot(g)
                gb += g.sum(0)
                g = g.dot(wh.T)
        losses[:] = [gwx, gwh, gb, ghead]
        return loss

    return step, lambda: _total(losses)


# -- large arrays --------------------


@workload("matmul1024_f32", "torch")
def torch_matmul(lib: Any) -> Any:
    rng = np.random.default_rng(4)
    a, b = (
        lib.tensor(rng.normal(0, 1, (1024, 1024)).astype("float32"), requires_grad=True)
        for _ in range(2)
    )

    def step() -> Any:
        a.grad = b.grad = None
        loss = (a @ b).mean()
        loss.backward()
        return loss

    return step, lambda: _total([a.grad.numpy(), b.grad.numpy()])


@workload("matmul1024_f32", "hips")
def hips_matmul(lib: Any) -> Any:
    rng = np.random.default_rng(4)
    a, b = (rng.normal(0, 1, (1024, 1024)).astype("float32") for _ in range(2))
    compute = lib.value_and_grad(lambda a, b: lib.numpy.mean(lib.numpy.dot(a, b)), argnum=(0, 1))
    losses: list[Any] = []

    def step() -> Any:
        loss, losses[:] = compute(a, b)
        return loss

    return step, lambda: _total(losses)


@workload("matmul1024_f32", "numpy")
def numpy_matmul(_: Any) -> Any:
    rng = np.random.default_rng(4)
    a, b = (rng.normal(0, 1, (1024, 1024)).astype("float32") for _ in range(2))
    losses: list[Any] = []

    def step() -> Any:
        loss = a.dot(b).mean()
        g = np.full((1024, 1024), 1 / 1024**2, "float32")
        losses[:] = [g.dot(b.T), a.T.dot(g)]
        return loss

    return step, lambda: _total(losses)


@workload("bigvec_f32", "torch")
def torch_bigvec(lib: Any) -> Any:
    x = lib.tensor(
        np.random.default_rng(5).normal(0, 1, 10**6).astype("float32"), requires_grad=True
    )

    def step() -> Any:
        x.grad = None
        h = x
        for _ in range(10):
            h = (1.01 * h).tanh()
        loss = (h * h).mean()
        loss.backward()
        return loss

    return step, lambda: _total([x.grad.numpy()])


@workload("bigvec_f32", "hips")
def hips_bigvec(lib: Any) -> Any:
    anp = lib.numpy
    x = np.random.default_rng(5).normal(0, 1, 10**6).astype("float32")

    def f(x: Any) -> Any:
        h = x
        for _ in range(10):
            h = anp.tanh(1.01 * h)
        return anp.mean(h * h)

    compute = lib.value_and_grad(f)
    losses: list[Any] = []

    def step() -> Any:
        loss, losses[:] = (r := compute(x))[0], [r[1]]
        return loss

    return step, lambda: _total(losses)


@workload("bigvec_f32", "numpy")
def numpy_bigvec(_: Any) -> Any:
    x = np.random.default_rng(5).normal(0, 1, 10**6).astype("float32")
    losses: list[Any] = []

    def step() -> Any:
        hs = [x]
        for _ in range(10):
            hs.append(np.tanh(np.float32(1.01) * hs[-1]))
        h = hs[-1]
        g = h * np.float32(2 / h.size)
        for h_after in reversed(hs[1:]):
            g = g * (1 - h_after * h_after) * np.float32(1.01)
        losses[:] = [g]
        return (h * h).mean()

    return step, lambda: _total(losses)


# -- the gradient of a gradient --------------------


@workload("double_f64", "torch")
def torch_double(lib: Any) -> Any:
    rng = np.random.default_rng(6)
    x = lib.tensor(rng.normal(0, 1, (32, 8)), requires_grad=True)
    w = lib.tensor(rng.normal(0, 0.3, (8, 16)), requires_grad=True)

    def step() -> Any:
        x.grad = w.grad = None
        y = ((x @ w).tanh() ** 2).sum()
        (g,) = lib.autograd.grad(y, x, create_graph=True)
        loss = (g * g).sum()
        loss.backward()
        return loss

    return step, lambda: _total([x.grad.numpy(), w.grad.numpy()])


@workload("double_f64", "hips")
def hips_double(lib: Any) -> Any:
    anp = lib.numpy
    rng = np.random.default_rng(6)
    x, w = rng.normal(0, 1, (32, 8)), rng.normal(0, 0.3, (8, 16))
    inner = lib.grad(lambda x, w: anp.sum(anp.tanh(anp.dot(x, w)) ** 2))

    def f(x: Any, w: Any) -> Any:
        g = inner(x, w)
        return anp.sum(g * g)

    compute = lib.value_and_grad(f, argnum=(0, 1))
    losses: list[Any] = []

    def step() -> Any:
        loss, losses[:] = compute(x, w)
        return loss

    return step, lambda: _total(losses)


# -- digits: an MLP 64-128-10 with cross-entropy, batch 64, SGD --------------------


def _digits(dtype: str) -> tuple[Any, Any, list[Any]]:
    rng = np.random.default_rng(7)
    x, labels = rng.uniform(0, 1, (64, 64)).astype(dtype), rng.integers(0, 10, 64)
    return x, labels, [a.astype(dtype) for a in _mlp((64, 128, 10))]


@workload("digits_f32", "torch", "float32")
@workload("digits_f64", "torch", "float64")
def torch_digits(lib: Any, dtype: str) -> Any:
    pixels, numbers, arrays = _digits(dtype)
    x, labels = lib.tensor(pixels), lib.tensor(numbers)
    params = [lib.tensor(a, requires_grad=True) for a in arrays]
    cross_entropy = lib.nn.functional.cross_entropy

    def step() -> Any:
        for p in params:
            p.grad = None
        w1, b1, w2, b2 = params
        loss = cross_entropy((x @ w1 + b1).relu() @ w2 + b2, labels)
        loss.backward()
        with lib.no_grad():
            for p in params:
                p -= 0.1 * p.grad
        return loss

    return step, lambda: _total(p.grad.numpy() for p in params)


@workload("digits_f32", "hips", "float32")
@workload("digits_f64", "hips", "float64")
def hips_digits(lib: Any, dtype: str) -> Any:
    anp = lib.numpy
    x, labels, params = _digits(dtype)
    rows = np.arange(len(labels))

    def f(params: Any) -> Any:
        w1, b1, w2, b2 = params
        z = anp.dot(anp.maximum(anp.dot(x, w1) + b1, 0), w2) + b2
        z = z - anp.max(z, axis=1, keepdims=True)
        return anp.mean(anp.log(anp.sum(anp.exp(z), axis=1)) - z[rows, labels])

    compute = lib.value_and_grad(f)
    losses: list[Any] = []

    def step() -> Any:
        loss, losses[:] = compute(params)
        for p, g in zip(params, losses, strict=True):
            p -= 0.1 * g
        return loss

    return step, lambda: _total(losses)


@workload("digits_f32", "numpy", "float32")
@workload("digits_f64", "numpy", "float64")
def numpy_digits(_: Any, dtype: str) -> Any:
    x, labels, params = _digits(dtype)
    rows = np.arange(len(labels))
    losses: list[Any] = []

    def step() -> Any:
        w1, b1, w2, b2 = params
        h = np.maximum(x.dot(w1) + b1, 0)
        z = h.dot(w2) + b2
        z -= np.maximum.reduce(z, 1, keepdims=True)
        p = np.exp(z)
        total = np.add.reduce(p, 1, keepdims=True)
        loss = np.mean(np.log(total[:, 0]) - z[rows, labels])
        p /= total
        p[rows, labels] -= 1
        p /= len(labels)
        gh = p.dot(w2.T) * (h > 0)
        losses[:] = [x.T.dot(gh), np.add.reduce(gh, 0), h.T.dot(p), np.add.reduce(p, 0)]
        for parameter, g in zip(params, losses, strict=True):
            parameter -= 0.1 * g
        return loss

    return step, lambda: _total(losses)


# -- a convolution: 16 images of 8 channels, 28 x 28, to 16 channels, kernel 3 --------------------


def _images() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(8)
    sizes = (16, 8, 28, 28), (16, 8, 3, 3), (16,)
    x, w, b = (rng.normal(0, 0.1, size).astype("float32") for size in sizes)
    # Once a larger block was freed, glibc keeps blocks of this size instead of handing them back
    # to the kernel after each step: without this NumPy's steps are twice as long, torch's are not.
    np.ones(40_000_000, "uint8").sum()
    return x, w, b


@workload("conv_f32", "torch")
def torch_conv(lib: Any) -> Any:
    x, w, b = (lib.tensor(a, requires_grad=True) for a in _images())
    conv2d = lib.nn.functional.conv2d

    def step() -> Any:
        x.grad = w.grad = b.grad = None
        loss = (conv2d(x, w, b) ** 2).mean()
        loss.backward()
        return loss

    return step, lambda: _total([x.grad.numpy(), w.grad.numpy(), b.grad.numpy()])


@workload("conv_f32", "numpy")
def numpy_conv(_: Any) -> Any:
    x, w, b = _images()
    losses: list[Any] = []

    def step() -> Any:
        n, c, height, width = x.shape
        k, rows, columns = w.shape[-1], height - w.shape[-1] + 1, width - w.shape[-1] + 1
        windows = np.lib.stride_tricks.sliding_window_view(x, (k, k), (2, 3))
        patches = windows.transpose(0, 1, 4, 5, 2, 3).reshape(n, c * k * k, -1)
        flat = w.reshape(len(w), -1)
        y = flat @ patches + b[:, None]
        g = y * np.float32(2 / y.size)
        gw = (g @ patches.transpose(0, 2, 1)).sum(0).reshape(w.shape)
        spread = (flat.T @ g).reshape(n, c, k, k, rows, columns)
        gx = np.zeros_like(x)
        for i in range(k):
            for j in range(k):
                gx[:, :, i : i + rows, j : j + columns] += spread[:, :, i, j]
        losses[:] = [gx, gw, g.sum((0, 2))]
        return (y * y).mean()

    return step, lambda: _total(losses)
