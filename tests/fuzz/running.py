"""One program, run line by line by both packages; what differs after each line.

Nothing here may disturb what it looks at: the kit's arrays are read as they are.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

import autodiff_kit
import autodiff_kit.nn.functional
import autodiff_kit.utils.checkpoint
from autodiff_kit.core.base import next_number
from autodiff_kit.core.mode import local
from autodiff_kit.core.observer import Observer
from tests.fuzz.writing import PRELUDE, Writer
from tests.parity import require_torch

__all__ = ["ENDING", "KINDS", "Difference", "Run"]
__all__ += ["bring_up_to_date", "names_in", "replay", "run_seed"]

torch = require_torch()
importlib.import_module("torch.utils.checkpoint")

ENDING = ("value", "gradient", "dtype", "shape", "requires_grad", "is_leaf")
ENDING += ("accepted", "refused", "class")
KINDS = (*ENDING, "message", "grad_fn", "graph", "version", "strides", "base", "repr")


class Difference(NamedTuple):
    """What differs after a line: of a variable or of an exception."""

    kind: str
    line: str
    what: str
    torch: str
    kit: str
    about: str = ""  # what is known of the tensor, where that may be the reason

    @property
    def symptom(self) -> tuple[str, str, str]:
        """What stays the same when the program is made smaller."""
        has_detail = self.kind in (
            "value",
            "gradient",
            "shape",
            "graph",
            "version",
            "strides",
            "repr",
        )
        outcomes = ("", "") if has_detail else (self.torch, self.kit)
        return (self.kind, *(re.sub(r"[\d.]+", "0", text)[:60] for text in outcomes))

    @property
    def cause(self) -> tuple[str, ...]:
        """What differences with one cause have in common, as far as can be told."""
        return (*self.symptom, " ".join(_long_words(self.line)) if self.kind in ENDING else "")


_long_words = re.compile(r"[A-Za-z_]{3,}").findall


@lru_cache(maxsize=20_000)
def _compiled(text: str) -> Any:
    return compile(text, "<program>", "exec")


def names_in(package: Any) -> dict[str, Any]:
    """Return the names that a program starts with."""
    names = {
        "torch": package,
        "F": package.nn.functional,
        "np": np,
        "checkpoint": package.utils.checkpoint.checkpoint,
    }
    exec(_compiled(PRELUDE), names)
    names.pop("__builtins__")
    return names


def bring_up_to_date(line: str, *namespaces: dict[str, Any]) -> None:
    """Read grad_fn before a hook is registered on a view: PyTorch may crash; see known.py."""
    if "hook(" in line:
        for names in namespaces:
            for tensor in _tensors([names.get(name) for name in _words(line)]):
                with contextlib.suppress(RuntimeError):
                    _ = tensor.grad_fn


class Run:
    """A program under way in both packages.

    Attributes
    ----------
    lines : list of str
        What has run so far.
    checks, disagreements : Counter
        By kind: how often the two were compared, and differed.
    differences : list of Difference
        The first of each kind for each variable.
    over : bool
        Whether the two differ so that comparing on makes no sense.
    observed : bool
        Whether an observer is installed in the kit, as recordings do: then it takes other ways.
    """

    observed = False

    def __init__(self) -> None:
        self.real, self.kit = names_in(torch), names_in(autodiff_kit)
        self._refused = False
        self.lines: list[str] = []
        self.checks: Counter[str] = Counter()
        self.disagreements: Counter[str] = Counter()
        self.differences: list[Difference] = []
        self.over = False
        self._symptoms: set[tuple[str, str]] = set()
        self._line = self._about = self._reason = ""
        self._is_shared = False
        self._retained: list[Any] = []  # by PyTorch, of nodes of several outputs not the first
        self._prints_of_rules: set[str] = (
            set()
        )  # texts with the name of a node that counts as alike
        for passes in _PASSES.values():
            passes.clear()
        self._coarsest = 8  # bytes of the coarsest float so far, whose rounding may be in all
        torch.default_generator.manual_seed(0)  # in half a ms less than by torch.manual_seed
        autodiff_kit.manual_seed(0)
        torch.set_grad_enabled(True)
        autodiff_kit.set_grad_enabled(True)
        local.mode.observer = Observer() if self.observed else None

    def step(self, line: str) -> None:
        """Run a line in both and compare what it says and leaves."""
        self.lines.append(line)
        self._line = line
        if "float()" in line or "float32" in line:
            self._coarsest = min(self._coarsest, 4)
        bring_up_to_date(line, self.real, self.kit)
        used = [self.real.get(name) for name in _words(line)]
        self._reason = "odd inference tensor" if any(map(_is_odd, _tensors(used))) else ""
        if "grad_fn." in line:
            self._reason = self._name_of_rule(line)
        earlier = {(kind, what.partition("[")[0]) for kind, what in self._symptoms}
        self._about = ""
        for kind, known in (
            ("strides", "lies otherwise"),
            ("base", "view in one alone"),
            ("memory", "shared in PyTorch alone"),
        ):
            if any((kind, name) in earlier for name in _words(line)):
                self._about = known
        if "= repr(" in line:
            nodes = [_name(_place(value)[2]) for value in _tensors(used)]
            self._prints_of_rules |= {line[0]} if "a rule's" in nodes else set()
        carries = "grad(" in line or "backward(" in line
        if carries and any(map(_loses_its_output, self._retained)):
            self.lines.pop()
            self.over = True  # PyTorch crashes: see known.py
            return
        by_inference = any(value.is_inference() for value in _tensors(used))
        if carries or by_inference:
            pairs, gradients = self._pairs_and_gradients()
            for x, _ in pairs + gradients:  # these have begun already
                _note_first_version(x, 0)
        with contextlib.suppress(Exception):  # what counts goes on after x.data = ...
            counting = eval(re.match(r"(.+)\.data = ", line)[1], dict(self.real))  # type: ignore[index]
            counting.first_version = _mark(counting, "first_version")
        expected = _outcome(_compiled(line), self.real)
        actual = _outcome(_compiled(line), self.kit)
        self._refused = expected is not None and expected == actual
        if ".retain_grad()" in line:
            self._retained += [x for x in _tensors(used) if x.output_nr and not x._is_view()]
        if expected != actual:
            self._compare_outcomes(expected, actual)
        self.checks["message"] += 1
        if carries:
            self._note_gradients(line)
        if by_inference:
            for name in _words(line.partition(" = ")[0]):
                for x, y in _pairs(self.real.get(name), self.kit.get(name)):
                    _note_first_version(x, _ahead(x, y))
        if not self.over:
            # What shares memory in PyTorch only is looked at first, before what is computed of it.
            names = (*self._shared_names(), *_words(line))
            if self._refused and "backward(" in line:
                names = (*names, *self.real)  # what it may have added to by then
            for name in dict.fromkeys(names):
                if name in self.real and name not in _PACKAGES:
                    self._compare(name, self.real[name], self.kit.get(name))

    def _pairs_and_gradients(self) -> tuple[list[tuple[Any, Any]], list[tuple[Any, Any]]]:
        """Return PyTorch's and the kit's tensors of all variables, and their gradients."""
        names = [name for name in self.real if name not in _PACKAGES]
        pairs = [pair for name in names for pair in _pairs(self.real[name], self.kit.get(name))]
        return pairs, [(x.grad, y._grad) for x, y in pairs if _has_grad(x) and y._grad is not None]

    def _note_gradients(self, line: str) -> None:
        """Mark the memory of gradients that others share in PyTorch alone, or that are sums there.

        The marks are attributes of PyTorch's storages: all tensors that share one have them.
        """
        pairs, gradients = self._pairs_and_gradients()
        names = _words(line.rpartition(" = ")[0]) if "autograd.grad(" in line else []
        results = [
            pair for name in names for pair in _pairs(self.real.get(name), self.kit.get(name))
        ]
        for x, y in gradients + results:
            _note_first_version(x, _ahead(x, y))
        known = {id(x) for x, _ in pairs}
        hidden = [leaf.grad for x, _ in pairs for leaf in _leaves(x) if id(leaf) not in known]
        for x, y in (*gradients, *results, *((g, None) for g in hidden if g is not None)):
            for other, own in pairs + gradients:
                is_other = other is not x if y is None else own is not y
                is_shared = is_other and _same_memory(x, other)
                if is_shared and (y is None or not np.shares_memory(y._array, own._array)):
                    x.untyped_storage().is_shared_there = self._is_shared = True

    def _name_of_rule(self, line: str) -> str:
        """Tell whether a line works at a node that a backward pass has made."""
        with contextlib.suppress(Exception):
            statement = line.rpartition("\n")[2]  # behind what may be written above: with ...:
            node = eval(statement.partition(".grad_fn.")[0].strip(), dict(self.real)).grad_fn
            return "a rule's node" if _is_rules(node) else ""
        return ""

    def _shared_names(self) -> list[str]:
        """Name the variables whose memory, or whose gradient's, is shared in PyTorch alone."""
        if not self._is_shared:
            return []
        return [
            name
            for name, value in self.real.items()
            if isinstance(value, torch.Tensor)
            and (
                _mark(value, "is_shared_there")
                or (_has_grad(value) and _mark(value.grad, "is_shared_there"))
            )
        ]

    def finish(self) -> None:
        """Compare all variables, and what hooks have noted."""
        self._line, self._refused, self._reason = "at the end", False, ""
        if not self.over:
            for name, value in self.real.items():
                if name not in _PACKAGES:
                    self._compare(name, value, self.kit.get(name), whole=True)
            self._about = _about_logs(self.real["log"], self.kit["log"])
            self._compare_plain("log", self.real["log"], self.kit["log"], "gradient")
            self._check("message", "names", *map(_visible, (self.real, self.kit)))
        local.mode.observer = None  # a hook on several leaves would watch the next program
        for value in self.real.values():  # a gradient with a graph may hold its leaf
            if isinstance(value, torch.Tensor):
                value.grad = None

    def _compare_outcomes(self, expected: Any, actual: Any) -> None:
        self.over = True
        if actual is None:
            self._differ("accepted", "outcome", f"{expected[0]}: {expected[1]}", "no error")
        elif expected is None:
            self._differ("refused", "outcome", "no error", f"{actual[0]}: {actual[1]}")
        elif expected[0] != actual[0]:
            both = [f"{kind}: {text}" for kind, text in (expected, actual)]
            self._differ("class", "outcome", *both)
        else:
            self.over = False
            self._differ("message", f"outcome {expected[1]}", expected[1], actual[1])

    def _differ(self, kind: str, what: str, expected: Any, actual: Any) -> None:
        if kind in ENDING:
            self.over = True
        self.disagreements[kind] += 1
        if (kind, what) not in self._symptoms:
            self._symptoms.add((kind, what))
            texts = str(expected), str(actual)
            about = self._reason or self._about
            if about == "shared in PyTorch alone":
                self._symptoms.add(("memory", what))
            if self._refused and kind in ("value", "gradient"):
                about = "refused in both"
            self.differences.append(Difference(kind, self._line, what, *texts, about))

    def _check(self, kind: str, what: str, expected: Any, actual: Any) -> None:
        self.checks[kind] += 1
        if expected != actual:
            self._differ(kind, what, expected, actual)

    def _compare(self, name: str, real: Any, kit: Any, whole: bool = False) -> None:
        if isinstance(real, torch.Tensor):
            if not isinstance(kit, autodiff_kit.Tensor):
                self._differ("value", name, "a tensor", type(kit).__name__)
            else:
                self._compare_tensors(name, real, kit, whole)
        elif isinstance(real, tuple | list) and any(isinstance(v, torch.Tensor) for v in real):
            if not isinstance(kit, tuple | list) or len(real) != len(kit):
                self._differ("value", name, len(real), getattr(kit, "__len__", lambda: None)())
                return
            self._check("value", f"type({name})", type(real).__name__, type(kit).__name__)
            for i, (x, y) in enumerate(zip(real, kit, strict=True)):
                self._compare(f"{name}[{i}]", x, y, whole)
        elif isinstance(real, str) and isinstance(kit, str) and name in self._prints_of_rules:
            texts = (re.sub(r"grad_fn=<\w+>", "grad_fn", text) for text in (real, kit))
            self._compare_plain(name, *texts, "repr")
        elif isinstance(real, str | int | float | tuple | list | np.ndarray | np.generic | None):
            self._compare_plain(name, real, kit, "repr" if isinstance(real, str) else "value")

    def _compare_plain(self, name: str, real: Any, kit: Any, kind: str) -> None:
        self.checks[kind] += 1
        if not _alike(real, kit):
            self._differ(kind, name, real, kit)

    def _compare_tensors(self, name: str, real: Any, kit: Any, whole: bool) -> None:
        self._about = _about(real)
        made_by_grad = "grad" in self._line and "torch.autograd.grad(" in self._line
        if not self._compare_values(name, real, kit, "gradient" if made_by_grad else "value"):
            return
        flags, own = _place(real), _place(kit)
        for kind, expected, actual in zip(("requires_grad", "is_leaf"), flags, own, strict=False):
            self._check(kind, name, expected, actual)
        if self.over:
            return
        _, leaf, node = flags
        names = _name(node), _name(own[2])
        self._check("grad_fn", name, *names)
        inference = real.is_inference()
        self._check("version", f"{name}.is_inference()", inference, kit.is_inference())
        if not inference and not kit.is_inference():
            added = getattr(real, "first_version", None) or _mark(real, "first_version") or 0
            is_same = kit._version in (real._version, real._version - added)
            self._check("version", name, real._version, real._version if is_same else kit._version)
        if names != ("a rule's", "a rule's"):
            self._check("base", name, real._base is None, kit._base is None)
        elif (real._base is None) != (kit._base is None):  # what rules make may be views: told once
            self._symptoms.add(("base", name))
        if real.requires_grad and (leaf or real.retains_grad):
            before, after = real.grad, kit._grad
            self._about = "" if before is None else _about(before)
            if (before is None) != (after is None):
                self._differ("gradient", f"{name}.grad", before, after)
            elif before is not None and self._compare_values(
                f"{name}.grad", before, after, "gradient"
            ):
                self._check(
                    "requires_grad", f"{name}.grad", before.requires_grad, after.requires_grad
                )
        if whole and not isinstance(node, str | None) and not self.over:
            self._check("graph", name, _graph(node), _graph(own[2]))

    def _compare_values(self, name: str, real: Any, kit: Any, kind: str) -> bool:
        """Compare dtype, shape, values and strides; tell whether it makes sense to go on."""
        # A copy: what NumPy looks into cannot be resized. And a gradient may be a ZeroTensor.
        x, y = real.detach().clone().numpy(force=True), kit._array
        if x.dtype.kind == "f":
            self._coarsest = min(self._coarsest, x.dtype.itemsize)
        self.checks[kind] += 1
        if x.dtype != y.dtype:
            self._differ("dtype", name, x.dtype, y.dtype)
        elif x.shape != y.shape:
            self._differ("shape", name, x.shape, y.shape)
        else:
            may_write = self._refused and _WRITES.search(self._line) is not None  # 1e-5 is much
            carried = _CARRIED[self._coarsest] if x.dtype.itemsize == 8 or may_write else None
            if not _equal(x, y, carried):
                self._differ(kind, name, x.tolist(), y.tolist())
        if not self.over:
            steps, own = real.stride(), kit.stride()
            # Where no step is possible, NumPy chooses freely: see known.py.
            same = steps == own or all(
                n < 2 or s == t for n, s, t in zip(x.shape, steps, own, strict=False)
            )
            self._check("strides", name, steps, steps if same or not x.size else own)
        return not self.over


_PACKAGES = {"torch", "F", "np", "checkpoint", "hook", "told", "log", "h", "h2"}
_WRITES = re.compile(r"\w_\(|[-+*/%]= |\] = |\.apply\(")
_words = lru_cache(maxsize=20_000)(re.compile(r"\b(?:[a-z]\d?|row)\b").findall)


def _visible(names: dict[str, Any]) -> list[str]:
    return [name for name in names if not name.startswith("_")]


def _place(tensor: Any) -> tuple[Any, Any, Any]:
    """Return requires_grad, is_leaf and grad_fn; of a view that cannot be told, the error."""
    try:
        return tensor.requires_grad, tensor.is_leaf, tensor.grad_fn
    except RuntimeError as refused:
        return tensor.requires_grad, "", str(refused).partition("\n")[0]


def _pairs(real: Any, kit: Any) -> Iterator[tuple[Any, Any]]:
    """Yield PyTorch's and the kit's tensors of a variable."""
    if isinstance(real, torch.Tensor) and isinstance(kit, autodiff_kit.Tensor):
        yield real, kit
    elif isinstance(real, tuple | list) and isinstance(kit, tuple | list):
        for x, y in zip(real, kit, strict=False):
            yield from _pairs(x, y)


def _tensors(value: Any) -> Iterator[Any]:
    """Yield the tensors in a value, of whichever package."""
    if isinstance(value, torch.Tensor | autodiff_kit.Tensor):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _tensors(item)


def _note_first_version(x: Any, ahead: int) -> None:
    """Note by how much PyTorch's version of a tensor is ahead from the start."""
    if _mark(x, "first_version") is None:
        x.untyped_storage().first_version = ahead


def _ahead(x: Any, y: Any) -> int:
    return 0 if x.is_inference() or y.is_inference() else max(0, x._version - y._version)


def _leaves(tensor: Any) -> list[Any]:
    """Return the leaves of a graph in PyTorch: a program may have no name for them any more."""
    leaves: list[Any] = []
    tensor = tensor._base if tensor._is_view() else tensor  # a view would look for its history
    with contextlib.suppress(RuntimeError):
        visited, queue = set(), [tensor.grad_fn]
        while queue and len(visited) < 200:
            node = queue.pop()
            if node is not None and node not in visited:
                visited.add(node)
                leaves += [node.variable] if hasattr(node, "variable") else []
                queue += [following for following, _ in node.next_functions]
    return leaves


def _loses_its_output(tensor: Any) -> bool:
    """Return whether a tensor was changed by way of a view since PyTorch retains its gradient."""
    return _place(tensor)[1] is False and tensor.output_nr == 0


def _has_grad(tensor: Any) -> bool:
    return bool(tensor._is_view() is False and tensor.is_leaf and tensor.grad is not None)


def _same_memory(x: Any, y: Any) -> bool:
    # By its storage, which tensors without elements have, too; a storage may be invalid: then 0.
    return bool(x.untyped_storage()._cdata == y.untyped_storage()._cdata != 0)


def _mark(tensor: Any, name: str) -> Any:
    return getattr(tensor.untyped_storage(), name, None)


def _about(tensor: Any) -> str:
    return "shared in PyTorch alone" if _mark(tensor, "is_shared_there") else ""


def _name_of_entry(entry: Any) -> str:
    """Return which hook a line of a log is from; some hooks note only what they see."""
    return str(entry[0] if isinstance(entry, list | tuple) else entry)


def _about_logs(real: list[Any], kit: list[Any]) -> str:
    """Tell how what hooks have noted differs."""
    if len(real) < len(kit):
        own = list(kit)
        for entry in real:  # what is left is more than PyTorch's
            i = next((i for i, other in enumerate(own) if _alike(entry, other)), None)
            if i is None:
                return ""
            del own[i]
        return "calls in the kit alone: " + " ".join(map(_name_of_entry, own))
    pairs = [(x, y) for x, y in zip(real, kit, strict=False) if not _alike(x, y)]
    if len(real) != len(kit) or not all(_of_node(x) and _of_node(y) for x, y in pairs):
        return ""
    if all(_form(x) == _form(y) for x, y in pairs):
        return "other dtypes or shapes"
    return "other inputs of a node" if all(_alike(x[1][1], y[1][1]) for x, y in pairs) else ""


def _of_node(entry: Any) -> bool:
    """Return whether a hook of a node has noted this: gradients of inputs, and of outputs."""
    return isinstance(entry, tuple) and isinstance(entry[1], list) and len(entry[1]) == 2


def _form(entry: Any) -> list[str]:
    """Return the numbers in what a hook has noted, without dtypes and shapes."""
    return _rounded(re.sub(r"torch\.float\d+|[\[\](),]", " ", str(entry)))


def _is_odd(value: Any) -> bool:
    """Return whether this is an inference tensor that requires grad."""
    return isinstance(value, torch.Tensor) and value.is_inference() and value.requires_grad


# Of each package: from which to which number nodes were made by backward passes.
_PASSES: dict[Any, list[tuple[int, int]]] = {torch: [], autodiff_kit: []}


def _noted(run_backward: Any, number: Callable[[], int], passes: list[tuple[int, int]]) -> Any:
    """Return what carries gradients back, so that the nodes that it makes can be told."""

    def run(*args: Any, **kwargs: Any) -> Any:
        for tensor in _tensors(args):
            _place(tensor)  # a view that lags behind gets its node before the pass
        first = number()
        try:
            return run_backward(*args, **kwargs)
        finally:
            passes.append((first, number()))

    return run


def _next_in_torch() -> int:
    with torch.enable_grad(), torch.inference_mode(False):
        node: Any = torch.ones((), requires_grad=True).view(1).grad_fn
    return int(node._sequence_nr())


def _is_rules(node: Any) -> bool:
    """Return whether a node was made by a backward pass under create_graph.

    What a view or ``once_differentiable`` has made meanwhile has the same name in both packages.
    """
    if node.name() == "AsStridedBackward0":
        following = node.next_functions[0][0]
        return following is not None and _is_rules(following)
    if node.name() in ("torch::autograd::Error", "torch::autograd::AccumulateGrad"):
        return False
    if isinstance(node, autodiff_kit.autograd.graph.Node):
        number, passes = node.number, _PASSES[autodiff_kit]
    else:
        number, passes = node._sequence_nr(), _PASSES[torch]
    return any(first < number < last for first, last in passes)


def _name(node: Any) -> str | None:
    if isinstance(node, str | None):
        return node
    return "a rule's" if _is_rules(node) else node.name()


def _outcome(code: Any, names: dict[str, Any]) -> tuple[str, str] | None:
    try:
        exec(code, names)
    except Exception as raised:
        text = str(raised).replace("autodiff_kit", "torch")
        return type(raised).__name__, text.partition("\n")[0]
    finally:
        names.pop("__builtins__", None)
    return None


_TOLERANCE = {2: 1e-2, 4: 3e-4, 8: 1e-8}  # by the bytes of a float
_CARRIED = {2: 1e-2, 4: 1e-6, 8: 1e-8}  # in a float64, by the coarsest float that went before


def _equal(x: Any, y: Any, carried: float | None = None) -> bool:
    """Return whether two arrays have the same numbers, but for rounding."""
    if x.tobytes() == y.tobytes():
        return True
    if x.dtype.kind != "f":
        return False
    tolerance = carried or _TOLERANCE[x.dtype.itemsize]
    with np.errstate(all="ignore"):
        x, y = x.astype("float64"), np.asarray(y).astype("float64")
        size = np.where(np.isfinite(x), np.abs(x), 0)  # near inf is only inf
        largest = float(np.max(size, initial=0))
        near = np.abs(x - y) <= tolerance * (1e-2 + size + 1e-2 * largest)
    return bool(np.all(near | (x == y) | (np.isnan(x) & np.isnan(y))))


def _alike(x: Any, y: Any) -> bool:
    """Return whether two plain values are equal, but for rounding of floats in them."""
    if isinstance(x, float) and isinstance(y, float):
        return x == y or (x != x and y != y) or abs(x - y) <= 1e-3 * (1e-2 + abs(x))
    if isinstance(x, tuple | list) and isinstance(y, tuple | list):
        return len(x) == len(y) and all(map(_alike, x, y))
    if isinstance(x, str) and isinstance(y, str):
        return x == y or _rounded(x) == _rounded(y)
    if isinstance(x, np.ndarray | np.generic):
        return isinstance(y, np.ndarray | np.generic) and _alike(x.tolist(), y.tolist())
    return type(x) is type(y) and bool(x == y)


def _rounded(text: str) -> list[str]:
    """Return a text with its numbers to three digits: the last printed one may be rounded."""
    numbers = re.compile(r"\d+\.\d{4}(e[+-]\d+)?")
    return numbers.sub(lambda m: f"{float(m[0]):.2e}", text).split()


def _graph(node: Any) -> list[str]:
    """Return the names of all nodes that lead to this one, in order of depth."""
    names: list[str] = []
    visited, queue = set(), [node]
    while queue and len(names) < 200:
        node = queue.pop()
        if node is None:
            names.append("-")
            continue
        names.append(str(_name(node)))
        key = id(node)
        if key not in visited and names[-1] != "a rule's":
            visited.add(key)
            queue += [following for following, _ in node.next_functions]
    return names


@contextlib.contextmanager
def _passes_noted() -> Iterator[None]:
    """Note inside which nodes backward passes make, of both packages."""
    names = autodiff_kit.autograd.backward.__globals__  # type: ignore[attr-defined]
    theirs, engine = torch.autograd._engine_run_backward, names["_engine"]  # type: ignore[attr-defined]
    passes = _noted(engine(), next_number, _PASSES[autodiff_kit])
    roots = names["_roots"]  # where what flows in is summed
    torch.autograd._engine_run_backward = _noted(theirs, _next_in_torch, _PASSES[torch])  # type: ignore[attr-defined]
    names["_engine"] = lambda: passes
    names["_roots"] = _noted(roots, next_number, _PASSES[autodiff_kit])
    try:
        yield
    finally:
        torch.autograd._engine_run_backward = theirs  # type: ignore[attr-defined]
        names["_engine"], names["_roots"] = engine, roots


@_passes_noted()
def run_seed(seed: int, flavour: str = "") -> Run:
    """Write and run the program of a seed."""
    run = Run()
    writer = Writer(seed, run.real, flavour)
    while not run.over:
        lines = writer.lines()
        if not lines:
            break
        for line in lines:
            run.step(line)
            if run.over:
                break
    run.finish()
    return run


@_passes_noted()
def replay(lines: list[str], float64: bool = False) -> Run:
    """Run a program that is there; with ``float64`` as the type of floats by default."""
    run = Run()
    for package in (torch, autodiff_kit):
        package.set_default_dtype(package.float64 if float64 else package.float32)
    try:
        for line in lines:
            run.step(line.replace("float32", "float64") if float64 else line)
            if run.over:
                break
        run.finish()
    finally:
        for package in (torch, autodiff_kit):
            package.set_default_dtype(package.float32)
    return run


warnings.simplefilter("ignore")
