"""Recordings made by hand, so that the view is tested without the core and the recorder.

``Tape`` plays the learner's program: it notes what a recorder would (the format is that of
``record/recording.py``) and works out the numbers with NumPy, newest node first in backward.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

Rules = dict[str, tuple[str, tuple[str, ...], Callable[..., Any]]]

# name: (text, node name, forward, rules); a rule is (text, what it reads, function of g and that)
OPS: dict[str, tuple[str, str, Callable[..., Any], Rules]] = {
    "add": (
        "x + y",
        "AddBackward0",
        lambda x, y: x + y,
        {"x": ("g", (), lambda g: g), "y": ("g", (), lambda g: g)},
    ),
    "sub": (
        "x - y",
        "SubBackward0",
        lambda x, y: x - y,
        {"x": ("g", (), lambda g: g), "y": ("-g", (), lambda g: -g)},
    ),
    "mul": (
        "x * y",
        "MulBackward0",
        lambda x, y: x * y,
        {"x": ("g * y", ("y",), lambda g, y: g * y), "y": ("g * x", ("x",), lambda g, x: g * x)},
    ),
    "pow_to_number": (
        "x ** exponent",
        "PowBackward0",
        lambda x, exponent: x**exponent,
        {
            "x": (
                "g * (exponent * x ** (exponent - 1))",
                ("x", "exponent"),
                lambda g, x, exponent: g * exponent * x ** (exponent - 1),
            )
        },
    ),
    "tanh": (
        "tanh(x)",
        "TanhBackward0",
        np.tanh,
        {"x": ("g * (1 - out * out)", ("out",), lambda g, out: g * (1 - out * out))},
    ),
    "mm": (
        "x @ y",
        "MmBackward0",
        lambda x, y: x @ y,
        {
            "x": ("mm(g, y.T)", ("y",), lambda g, y: g @ y.T),
            "y": ("mm(x.T, g)", ("x",), lambda g, x: x.T @ g),
        },
    ),
    "sum_all": (
        "x.sum()",
        "SumBackward0",
        lambda x: x.sum(),
        {"x": ("spread(g, x_shape)", ("x_shape",), lambda g, x_shape: np.broadcast_to(g, x_shape))},
    ),
    "gt": ("x > y", "GtBackward0", lambda x, y: x > y, {}),
}


def value(array: Any) -> dict[str, Any]:
    """Return the VALUE of an array."""
    array = np.asarray(array)
    number = {"f": float, "b": bool, "i": int}[array.dtype.kind]
    flat = [number(v) for v in array.ravel()[:64]]
    data = [v if number is not float or np.isfinite(v) else str(v) for v in flat]
    record: dict[str, Any] = {"shape": list(array.shape), "dtype": _dtype(array), "data": data}
    if array.size > 64:
        record["data"] = data[:8]
        record["stats"] = {
            "min": float(array.min()),
            "max": float(array.max()),
            "mean": float(array.mean()),
            "std": float(array.std()),
            "nan": int(np.isnan(array).sum()),
            "inf": int(np.isinf(array).sum()),
        }
    return record


def _dtype(array: Any) -> str:
    return {"f": "float32", "b": "bool", "i": "int64"}[array.dtype.kind]


class At(int):
    """The number of a node, as opposed to a number in the program."""


class Tape:
    """Notes a program as a recorder does."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.arrays: list[Any] = []
        self.grads: dict[int, Any] = {}
        self.grad_mode = True
        self.scope = 0
        self.data: dict[str, Any] = {
            "format": "autodiff_kit recording",
            "version": 1,
            "sources": [{"name": "cell 1", "text": source, "first_line": 1}],
            "ops": {},
            "scopes": [
                {"id": 0, "parent": None, "kind": "root", "name": "", "index": 0, "where": None}
            ],
            "nodes": [],
            "events": [],
            "error": None,
        }

    def place(self, text: str, nth: int = 0) -> list[int] | None:
        """Return WHERE for the nth occurrence of a text in the source."""
        start = -1
        for _ in range(nth + 1):
            start = self.source.find(text, start + 1)
        if not text or start < 0:
            return None
        before = self.source[:start]
        line = before.count("\n") + 1
        column = start - (before.rfind("\n") + 1)
        return [0, line, column, line, column + len(text)]

    def event(self, kind: str, **fields: Any) -> None:
        self.data["events"].append({"kind": kind, **fields})

    def leaf(self, name: str | None, array: Any, wants: bool = True, text: str = "") -> At:
        array = np.asarray(array, dtype=np.float64)
        return self._note(
            array, kind="leaf", op=None, grad_fn=None, recorded=wants, name=name, text=text,
            params={}, requires_grad=wants, saved=[],
        )  # fmt: skip

    def op(
        self,
        op: str,
        *inputs: Any,
        name: str | None = None,
        text: str = "",
        nth: int = 0,
        **params: Any,
    ) -> At:
        """Apply an op; ``inputs`` are nodes (int) or numbers (float)."""
        op_text, node_name, forward, rules = OPS[op]
        args = ("x", "y") if "y" in op_text else ("x",)
        arrays = [self.arrays[i] if isinstance(i, At) else i for i in inputs]
        array = forward(*arrays, **params)
        wants = [isinstance(i, At) and self.data["nodes"][i]["requires_grad"] for i in inputs]
        recorded = self.grad_mode and any(wants) and bool(rules)
        saved: dict[str, dict[str, Any]] = {}
        for arg in (arg for arg, want in zip(args, wants, strict=True) if recorded and want):
            for read in sorted({*rules[arg][1]} & {*args, "out"}):
                saved_array = array if read == "out" else arrays[args.index(read)]
                size = (
                    4 * np.size(saved_array)
                    if isinstance(saved_array, np.ndarray | np.generic)
                    else 0
                )
                entry = saved.setdefault(read, {"name": read, "for": [], "bytes": size})
                entry["for"].append(arg)
        self.data["ops"][op] = {
            "text": op_text,
            "tex": op_text,
            "doc": "",
            "node_name": node_name,
            "inputs": list(args),
            "rules": {
                arg: {"text": rule, "tex": "", "reads": list(reads), "source": f"return {rule}"}
                for arg, (rule, reads, _) in rules.items()
            },
        }
        node = self._note(
            array, kind="op", op=op, grad_fn=node_name if recorded else None, recorded=recorded,
            name=name, text=text, params=params, requires_grad=recorded, saved=list(saved.values()),
            nth=nth,
        )  # fmt: skip
        self.data["nodes"][node]["inputs"] = [
            {"arg": arg, "node": i} if isinstance(i, At) else {"arg": arg, "value": i}
            for arg, i in zip(args, inputs, strict=True)
        ]
        return node

    def _note(self, array: Any, nth: int = 0, **fields: Any) -> At:
        node = At(len(self.arrays))
        self.arrays.append(array)
        where = self.place(fields["text"], nth)
        words = re.findall(r"\w+", self.source)
        base = (fields.get("name") or "").rstrip("0123456789")
        if base in words and fields["name"] not in words:
            fields["variable"] = base
        self.data["nodes"].append(
            {"id": node, "inputs": [], "value": value(array), "scope": self.scope, "where": where}
            | fields
        )
        self.event(fields["kind"], node=node)
        return node

    @contextmanager
    def scoped(self, kind: str, name: str, index: int = 0, text: str = "") -> Iterator[None]:
        """Open a scope: a call, a loop or one iteration."""
        number, outer = len(self.data["scopes"]), self.scope
        self.data["scopes"].append(
            {"id": number, "parent": outer, "kind": kind, "name": name, "index": index,
             "where": self.place(text)}
        )  # fmt: skip
        self.scope = number
        yield
        self.scope = outer

    def branch(self, node: int, taken: bool, text: str) -> None:
        self.event("branch", node=node, taken=taken, where=self.place(text))

    def modified(self, node: int, how: str, array: Any, text: str) -> None:
        self.arrays[node] = np.asarray(array, dtype=np.float64)
        self.event("modified", node=node, how=how, value=value(array), where=self.place(text))

    def backward(self, root: int, text: str = "", release: bool = True) -> None:
        """Go backward as the engine does: newest node first."""
        nodes = self.data["nodes"]
        seed = np.ones_like(self.arrays[root])
        self.event("backward", roots=[root], seed=[value(seed)], where=self.place(text))
        waiting = {root: seed}
        queue = [-root]
        while queue:
            node = -heapq.heappop(queue)
            g, record = waiting.pop(node), nodes[node]
            self.event("visit", node=node, g=value(g))
            if record["kind"] == "leaf":
                before = self.grads.get(node)
                self.grads[node] = g if before is None else before + g
                self.event(
                    "accumulate", node=node, g=value(g), grad=value(self.grads[node]),
                    before=None if before is None else value(before),
                )  # fmt: skip
                continue
            sources = {i["arg"]: i for i in record["inputs"]}
            for arg, source in sources.items():
                to = source.get("node")
                if to is None or not nodes[to]["recorded"]:
                    continue
                _, reads, rule = OPS[record["op"]][3][arg]
                before = rule(g, *(self._read(node, sources, read) for read in reads))
                after = _sum_to(before, np.shape(self.arrays[to]))
                total = None
                if to in waiting:
                    total = waiting[to] = waiting[to] + after
                else:
                    waiting[to] = after
                    heapq.heappush(queue, -to)
                self.event(
                    "contribution", node=node, arg=arg, to=to, after=value(after),
                    before=None if np.shape(before) == np.shape(after) else value(before),
                    total=None if total is None else value(total),
                )  # fmt: skip
            if release:
                freed = sum(s["bytes"] for s in record["saved"])
                self.event("release", node=node, bytes=freed)
        self.event("finish")

    def _read(self, node: int, sources: dict[str, Any], read: str) -> Any:
        record = self.data["nodes"][node]
        if read == "out":
            return self.arrays[node]
        if read in record["params"]:
            return record["params"][read]
        source = sources[read.removesuffix("_shape")]
        array = self.arrays[source["node"]] if "node" in source else source["value"]
        return np.shape(array) if read.endswith("_shape") else array

    def error(self, kind: str, message: str, text: str) -> None:
        self.data["error"] = {"type": kind, "message": message, "where": self.place(text)}
        self.event("error")


def _sum_to(g: Any, shape: tuple[int, ...]) -> Any:
    g = np.sum(g, axis=tuple(range(np.ndim(g) - len(shape))))
    stretched = tuple(i for i, n in enumerate(shape) if n == 1 != g.shape[i])
    return np.sum(g, axis=stretched, keepdims=True) if stretched else g


# -- the programs -------------------------------------------------------------------------------


def line() -> dict[str, Any]:
    """y = 2 * x + 3, forward only."""
    t = Tape("x = tensor(2., requires_grad=True)\ny = 2 * x + 3\n")
    x = t.leaf("x", 2.0, text="tensor(2., requires_grad=True)")
    product = t.op("mul", 2, x, text="2 * x")
    t.op("add", product, 3, name="y", text="2 * x + 3")
    return t.data


def classic(x: Any = 2.0) -> dict[str, Any]:
    """z = 4 * (2 * x + 3) - 1, and backward: x.grad is 8."""
    t = Tape("x = tensor(2., requires_grad=True)\nz = 4 * (2 * x + 3) - 1\nz.backward()\n")
    leaf = t.leaf("x", x, text="tensor(2., requires_grad=True)")
    product = t.op("mul", 2, leaf, text="2 * x")
    total = t.op("add", product, 3, text="2 * x + 3")
    scaled = t.op("mul", 4, total, text="4 * (2 * x + 3)")
    z = t.op("sub", scaled, 1, name="z", text="4 * (2 * x + 3) - 1")
    t.backward(z, "z.backward()")
    return t.data


def square(passes: int = 1) -> dict[str, Any]:
    """y = x * x at 3: both arguments are one leaf, and its two contributions add up to 6."""
    source = "x = tensor(3., requires_grad=True)\ny = x * x\n"
    source += "y.backward(retain_graph=True)\n" * passes
    t = Tape(source)
    x = t.leaf("x", 3.0, text="tensor(3., requires_grad=True)")
    y = t.op("mul", x, x, name="y", text="x * x")
    for _ in range(passes):
        t.backward(y, "y.backward(retain_graph=True)", release=passes == 1)
    return t.data


def broadcast() -> dict[str, Any]:
    """s = (w * x).sum() with w of shape (3,) and x of shape (2, 3)."""
    t = Tape("w = ones(3, requires_grad=True)\nx = data\ns = (w * x).sum()\ns.backward()\n")
    w = t.leaf("w", [1.0, 1.0, 1.0], text="ones(3, requires_grad=True)")
    x = t.leaf("x", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], wants=False, text="data")
    product = t.op("mul", w, x, text="w * x")
    s = t.op("sum_all", product, name="s", text="(w * x).sum()")
    t.backward(s, "s.backward()")
    return t.data


LOOP = """h = tensor(0.5)
w = tensor(2., requires_grad=True)
b = tensor(-1., requires_grad=True)
for i in range({n}):
    h = tanh(h * w + b)
h.backward()
"""


def loop(n: int = 3, backward: bool = True) -> dict[str, Any]:
    """h = tanh(h * w + b), n times."""
    t = Tape(LOOP.format(n=n))
    h = t.leaf("h", 0.5, wants=False, text="tensor(0.5)")
    w = t.leaf("w", 2.0, text="tensor(2., requires_grad=True)")
    b = t.leaf("b", -1.0, text="tensor(-1., requires_grad=True)")
    header = f"for i in range({n})"
    with t.scoped("loop", header, text=header):
        for i in range(n):
            with t.scoped("iteration", header, index=i, text=header):
                product = t.op("mul", h, w, text="h * w")
                total = t.op("add", product, b, text="h * w + b")
                h = t.op("tanh", total, name=f"h{i + 1}", text="tanh(h * w + b)")
    if backward:
        t.backward(h, "h.backward()")
    return t.data


def ghost() -> dict[str, Any]:
    """One operation under no_grad, one of a leaf that wants no gradient."""
    t = Tape("with no_grad():\n    a = x * w\nc = x * 2\n")
    x = t.leaf("x", 3.0, wants=False)
    w = t.leaf("w", 2.0)
    t.grad_mode = False
    t.op("mul", x, w, name="a", text="x * w")
    t.grad_mode = True
    t.op("mul", x, 2, name="c", text="x * 2")
    return t.data


def branch(x: float = 3.0) -> dict[str, Any]:
    """An if that looks at a tensor."""
    t = Tape("if x > 0:\n    y = x * x\nelse:\n    y = -x\n")
    leaf = t.leaf("x", x)
    test = t.op("gt", leaf, 0, text="x > 0")
    t.branch(test, x > 0, "x > 0")
    if x > 0:
        t.op("mul", leaf, leaf, name="y", text="x * x")
    return t.data


def error() -> dict[str, Any]:
    """Code that raises half way."""
    t = Tape("a = x * w\nb = a + v\n")
    x = t.leaf("x", [1.0, 2.0])
    w = t.leaf("w", 2.0)
    t.op("mul", x, w, name="a", text="x * w")
    message = "The size of tensor a (2) must match the size of tensor b (3)\n-> Look at the shapes."
    t.error("RuntimeError", message, "a + v")
    return t.data


def layers() -> dict[str, Any]:
    """A small network on matrices: loss = ((tanh(x @ W + b)) ** 2).sum()."""
    t = Tape("h = tanh(x @ W + b)\nloss = (h ** 2).sum()\nloss.backward()\n")
    random = np.random.default_rng(0)
    x = t.leaf("x", random.normal(size=(4, 3)).round(2), wants=False)
    w = t.leaf("W", random.normal(size=(3, 5)).round(2))
    b = t.leaf("b", np.zeros(5))
    product = t.op("mm", x, w, text="x @ W")
    total = t.op("add", product, b, text="x @ W + b")
    h = t.op("tanh", total, name="h", text="tanh(x @ W + b)")
    squares = t.op("pow_to_number", h, text="h ** 2", exponent=2)
    loss = t.op("sum_all", squares, name="loss", text="(h ** 2).sum()")
    t.backward(loss, "loss.backward()")
    return t.data


def in_place() -> dict[str, Any]:
    """A step of training: w is changed in place and used again."""
    t = Tape("a = w * 3\na.backward()\nw -= 0.5\nb = w * w\n")
    w = t.leaf("w", 2.0)
    a = t.op("mul", w, 3, name="a", text="w * 3")
    t.backward(a, "a.backward()")
    t.modified(w, "sub_", 1.5, "w -= 0.5")
    b = t.op("mul", w, w, name="b", text="w * w")
    t.backward(b)
    return t.data


def training(epochs: int = 100) -> dict[str, Any]:
    """A loop with a backward pass and a change in place in every round."""
    header = f"for epoch in range({epochs})"
    t = Tape(f"{header}:\n    loss = (w * 2 - 1) ** 2\n    loss.backward()\n    w -= 0.1\n")
    w = t.leaf("w", 2.0)
    with t.scoped("loop", header, text=header):
        for epoch in range(epochs):
            with t.scoped("iteration", header, index=epoch, text=header):
                product = t.op("mul", w, 2, text="w * 2")
                rest = t.op("sub", product, 1, text="w * 2 - 1")
                loss = t.op(
                    "pow_to_number",
                    rest,
                    name=f"loss{epoch + 1}",
                    text="(w * 2 - 1) ** 2",
                    exponent=2,
                )
                t.backward(loss, "loss.backward()")
                t.modified(w, "sub_", 2.0 - 0.1 * (epoch + 1), "w -= 0.1")
    return t.data


def calls(n: int = 40, depth: int = 12) -> dict[str, Any]:
    """n calls of a function of ``depth`` operations: folded by call."""
    t = Tape("def layer(h):\n    ...\n    return h\n")
    h = t.leaf("h", 0.1)
    for i in range(n):
        with t.scoped("call", "layer", i, text="def layer(h)"):
            for _ in range(depth):
                h = t.op("tanh", h)
    t.backward(h)
    return t.data


def flat(n: int = 1000) -> dict[str, Any]:
    """No loop, no call, no chain to fold by, and a leaf for every operation."""
    t = Tape("")
    total = t.leaf(None, 0.0)
    for i in range(n):
        leaf = t.leaf(f"w{i}", float(i % 7))
        total = t.op("add", total, t.op("mul", leaf, total))
    return t.data


def many_leaves(n: int = 1000) -> dict[str, Any]:
    """Few operations, very many leaves."""
    t = Tape("")
    for _ in range(4):
        parts = [t.leaf(None, 1.0) for _ in range(n // 4)]
        node = t.op("add", parts[0], parts[1])
        t.data["nodes"][node]["inputs"] = [{"arg": "x", "node": p} for p in parts]
    return t.data


@cache
def long_loop() -> dict[str, Any]:
    """10,002 operations in a loop; made once, so not to be changed."""
    return loop(3334)


ALL = {
    "line": line,
    "classic": classic,
    "square": square,
    "square_twice": lambda: square(passes=2),
    "broadcast": broadcast,
    "loop": loop,
    "ghost": ghost,
    "branch": branch,
    "error": error,
    "layers": layers,
    "in_place": in_place,
    "loop_folded": lambda: loop(500),
    "calls_folded": calls,
    "training_folded": training,
}
