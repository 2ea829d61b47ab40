"""What differs from PyTorch on purpose: the one list, with the reason for each.

A predicate is as narrow as can be: it sees the difference and the lines of the program. Which
functions make other nodes is listed in ``known_graphs.py``.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_kit
from tests.fuzz.running import Difference, bring_up_to_date, names_in, torch

__all__ = ["REASONS", "reason_for"]

Predicate = Callable[[Difference, list[str]], bool]

_CHANGE = re.compile(
    r"(?:with .*:\n    )?(?:\w+ = )?(\w\S*?|\w+\[.*\]|\w+\.\w+\([^()]*\))"
    r"(?:\.\w+_\(| [-+*/%]+= |(?<=\]) = )(-?\w.*?)(?:, \w+=.*)?\)?"
)


_LAGS = re.compile(r"(A|a) view (was|which|and).* modified inplace|cannot be saved for backward")
_OVERLAPS = re.compile(
    r"(some elements of the input|more than one element of the written-to) tensor"
)
# Because of an element that was written before:
_OF_WRITTEN = re.compile(r"RuntimeError: (ZeroDivisionError|index -?\d+ is out of bounds)")
_PASSED = re.compile(r"with torch.inference_mode\(\):\n    .*\bbackward\(\w")
_VERSIONS = re.compile(r"is at version (\d+); expected version (\d+) instead")
_OUTPUT_OF = re.compile(r"which is output \d of [\w:]+, ")
_TOLD_OF_CHANGES = ("base", "grad_fn", "graph", "version")
_VIEW = re.compile(r"Can't detach views in-place|view was created in no_grad mode and is being")


def _hooked(line: str) -> str:
    """Return what a hook is registered on, with its dot."""
    return line.partition("register_hook(")[0].rpartition("= ")[2]


def _reads_what_it_writes(lines: list[str]) -> bool:
    """Return whether a line changes a tensor by another one that overlaps with it in part."""
    names = names_in(torch)
    for line in lines:
        by_index = re.search(r"index_|scatter_", line) is not None
        inner = [part.strip() for part in line.split("\n")[1:]]  # of ``with ...:``
        if (out := re.search(r"torch\.\w+\((.*), out=(\w+)\)$", line)) is not None:
            inner.append(f"{out[2]}.copy_({out[1]})")
        for text in (line, *inner, *(part.partition(" = ")[2] for part in inner)):
            operands = _CHANGE.fullmatch(text)
            with contextlib.suppress(Exception):
                if operands is not None and _overlap(*operands.groups(), by_index, names):
                    return True
        bring_up_to_date(line, names)
        with contextlib.suppress(Exception):
            exec(line, names)
    return False


def _overlap(written: str, read: str, by_index: bool, names: dict[str, Any]) -> bool:
    whole, x = _indexed(written, names).detach(), eval(written, names).detach()
    read = eval(f"({read},)", names)
    by_index = by_index or not np.shares_memory(whole.numpy(), x.numpy())
    operands = [y.detach() for y in read if isinstance(y, torch.Tensor)]
    if by_index or len(operands) > 1:  # elements by their indices
        return any(np.shares_memory(whole.numpy(), y.numpy()) for y in operands)
    (y,) = operands
    same = x.data_ptr() == y.data_ptr() and x.stride() == y.stride() and x.shape == y.shape
    return not same and np.shares_memory(x.numpy(), y.numpy())


def _indexed(text: str, names: dict[str, Any]) -> Any:
    """Return the tensor whose elements are named, ``k[0]`` for ``k[0][1]`` of a tuple ``k``."""
    for index in re.finditer(r"\[|$", text):
        with contextlib.suppress(SyntaxError):  # a bracket inside of an index
            value = eval(text[: index.start()], names)
            if isinstance(value, torch.Tensor):
                return value
    return None


def _names_after(lines: list[str], package: Any = torch) -> dict[str, Any]:
    """Run lines in one package; return the names that there are then."""
    names = names_in(package)
    package.manual_seed(0)
    with package.set_grad_enabled(True):
        for line in lines:
            bring_up_to_date(line, names)
            with contextlib.suppress(Exception):
                exec(line, names)
    return names


def _written_in_pytorch_alone(difference: Difference, lines: list[str]) -> bool:
    """Return whether the last line has changed these values in PyTorch, and not in the kit.

    Or has set a gradient to None.
    """
    block = lines[-1].rpartition("\n")[0]  # what ``with ...:`` has done before it was refused
    before_it = [*lines[:-1], *([block] if "\n" in block else [])]
    names = [_names_after(before_it, package) for package in (torch, autodiff_kit)]
    loop = re.search(r"^ *for row in (.+):$", lines[-1], re.M)
    if loop and difference.what == "row":  # refused at the first one
        for known in names:
            known["row"] = next(iter(eval(loop[1], known)))
    if difference.what.partition(".")[0].partition("[")[0] not in names[0]:
        return False  # the line has made it
    before = [eval(difference.what, known) for known in names]
    if any(tensor is None for tensor in before):  # a gradient that the line has made
        return False
    real, kit = (tensor.detach() for tensor in before)
    if difference.torch == "None":
        return str(kit) == difference.kit
    return str(real.tolist()) != difference.torch and str(kit.tolist()) == difference.kit


def _changes_since(message: str) -> int | None:
    """Return how many changes there were, by a message, since a tensor was saved."""
    versions = _VERSIONS.search(message)
    return versions and int(versions[1]) - int(versions[2])


def _changes_view(lines: list[str]) -> bool:
    return any(re.search(r"\w_\(|[-+*/%]= |\] = ", line) for line in lines)


def _same_places(lines: list[str]) -> bool:
    """Return whether the last line reads just the elements that it writes, each for itself."""
    names = _names_after(lines[:-1])
    operands = _CHANGE.fullmatch(lines[-1])
    # x[True] = ... writes to the whole, where x[True] alone is a copy.
    texts = [text.replace("[True]", "[None]") for text in operands.groups()] if operands else []
    x, y = (eval(text, names) for text in texts) if texts else (None, None)
    if not (isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor)):
        return False
    x, y = x.detach(), y.detach()
    while y.dim() > x.dim():
        y = y[0]
    places = [
        x.data_ptr() + sum(i * s * x.itemsize for i, s in zip(np.indices(x.shape), t, strict=True))
        for t in (x.stride(), y.expand(x.shape).stride())
    ]
    return bool(x.data_ptr() == y.data_ptr() and np.array_equal(*places))


def _hooks_a_rules_node(lines: list[str]) -> bool:
    """Return whether a hook is hung on a node behind the result of a backward pass."""
    results: set[str] = set()  # of backward passes that were recorded, and what is made of these
    for line in lines:
        name, _, text = line.partition(" = ")
        is_of_rules = not results.isdisjoint(re.findall(r"\b[a-z]\d?\b", text or name))
        if is_of_rules and "grad_fn" in line and "register_hook(" in line:
            return True
        if is_of_rules or ("autograd.grad(" in line and "create_graph=True" in line):
            results |= set(re.findall(r"\b[a-z]\d?\b", name))
    return False


def _steps_over_one_element(lines: list[str]) -> bool:
    """Return whether the last line changes a tensor that has a dimension of one element."""
    change, names = _CHANGE.fullmatch(lines[-1]), _names_after(lines[:-1])
    return change is not None and 1 in eval(change[1], names).shape


def _picks_equal_elements(difference: Difference, lines: list[str]) -> bool:
    """Return whether the last line ranks elements, and the places that differ hold equal ones."""
    line = lines[-1]
    call = re.search(r"(\S+)\.(?:arg)?sort\((.*?)\)", line)
    call = call or re.search(r"(\S+)\.median\((.+?)\)", line)
    if call is None and "Places.apply(" in line:
        call = re.search(r"Places\.apply\((\S+),()", line)
    if call is None or not re.fullmatch(r"[\d\s,\[\]]*", difference.torch + difference.kit):
        return False  # not places, but values
    x, arguments = call.groups()
    names = _names_after(lines[:-1])
    x = eval(x, names).detach().numpy()
    places = [np.array(eval(text)) for text in (difference.torch, difference.kit)]
    numbers = re.findall(r"-?\d+", arguments)
    dim = int(numbers[0]) if numbers else -1
    if x.ndim == 0:
        return False
    if places[0].ndim < x.ndim and "keepdim" not in arguments:  # of a median
        places = [np.expand_dims(place, dim) for place in places]
    elements = [np.take_along_axis(x, place, dim) for place in places]
    return np.array_equal(*elements, equal_nan=x.dtype.kind == "f")


def _overflows_in_layer_norm(lines: list[str]) -> bool:
    """Return whether the last line normalizes numbers whose squares are infinite."""
    call = re.search(r"F\.layer_norm\((\S+),", lines[-1])
    if call is None:
        return False
    x = eval(call[1], _names_after(lines[:-1])).detach()
    return bool((x.square().isinf() & x.isfinite()).any())


def _has_a_view_beyond_its_base(lines: list[str]) -> bool:
    """Return whether there is a view with more elements than its base, since ``x.data = ...``."""
    tensors = [x for x in _names_after(lines[:-1]).values() if isinstance(x, torch.Tensor)]
    return any(
        x._base is not None and x.untyped_storage().size() > x._base.untyped_storage().size()
        for x in tensors
    )


def _changes_what_rules_have_saved(lines: list[str]) -> bool:
    """Return whether, of a graph, nothing was changed but what PyTorch's rules themselves save.

    The nodes of those that are one function in C++ are called MseLossBackwardBackward0, and so on.
    """
    names = _names_after(lines[:-1])
    tensors = [x for x in names.values() if isinstance(x, torch.Tensor) and x.requires_grad]
    visited: set[Any] = set()
    inputs = re.search(r"inputs=\[([\w, ]+)\]", lines[-1])  # the pass calls these, and ends there
    with contextlib.suppress(RuntimeError):
        ends = {names[name].grad_fn for name in re.findall(r"\w+", inputs[1] if inputs else "")}
        queue = [x.grad_fn for x in tensors if f"{_name_in(names, x)}." in lines[-1]]
        while queue:
            node = queue.pop()
            if node is not None and node not in visited:
                visited.add(node)
                if node not in ends:
                    queue += [following for following, _ in node.next_functions]
    changed = {node.name() for node in visited if _has_changed(node)}
    return bool(changed) and all("BackwardBackward" in name for name in changed)


def _name_in(names: dict[str, Any], value: Any) -> str:
    return next(name for name, other in names.items() if other is value)


def _has_changed(node: Any) -> bool:
    """Return whether a tensor that a node of PyTorch's has saved was changed since."""
    for name in dir(node):
        if name.startswith("_saved_"):
            try:
                getattr(node, name)
            except RuntimeError as refused:
                if "modified by an inplace operation" in str(refused):
                    return True
    return False


def _loses_a_leaf_with_a_hook(lines: list[str]) -> bool:
    """Return whether a leaf with a hook for its gradient is given up for another tensor."""
    hooked: set[str] = set()
    for line in lines:
        hook = re.search(r"(\w+)\.register_post_accumulate_grad_hook\(", line)
        hooked |= {hook[1]} if hook else set()
        if any(re.search(rf"^ *{name} = ", line, re.M) for name in hooked):
            return True
    return False


_KNOWN: dict[str, tuple[str, Predicate]] = {
    "leaf that is gone": (
        "Of a leaf that only the graph holds, its node knows the memory and .grad, but neither a "
        ".grad with a history, which would hold the node in turn, nor that it no longer requires "
        "grad: PyTorch keeps the tensor, and with it such a cycle.",
        lambda difference, lines: (
            (difference.what == "log" or difference.kind == "accepted")
            and _loses_a_leaf_with_a_hook(lines)
            and any(
                "create_graph=True" in line or "requires_grad_(False)" in line for line in lines
            )
        ),
    ),
    "refused line": (
        "PyTorch refuses some changes in place after it has written, or has forgotten the .grad of "
        "what is no leaf; the kit writes and forgets nothing then.",
        lambda difference, lines: (
            difference.kind in ("value", "gradient")
            and difference.about == "refused in both"
            and _written_in_pytorch_alone(difference, lines)
        ),
    ),
    "tie in sort": (
        "In which order a sort that is not stable leaves equal elements, and which of them median "
        "finds, depends on the processor in PyTorch; here the first comes first.",
        lambda difference, lines: (
            difference.kind == "value" and _picks_equal_elements(difference, lines)
        ),
    ),
    "reads what it writes": (
        "Where the elements of overlapping tensors do not lie side by side, PyTorch lets a change "
        "in place through, and reads what it has just written; the kit reads everything first.",
        lambda difference, lines: (
            (difference.kind in ("value", "refused") or _OF_WRITTEN.match(difference.torch))
            and _reads_what_it_writes(lines)
        ),
    ),
    "memory of a gradient": (
        "Where a gradient is a view, of what was given to backward() or of another gradient, "
        "PyTorch keeps that view as .grad: a change of one changes the other, and is one of its "
        "version and its views. The kit copies.",
        lambda difference, lines: (
            difference.kind not in ("dtype", "shape", "strides", "repr")
            and difference.about == "shared in PyTorch alone"
        ),
    ),
    "hook on a rule's node": (
        "Under create_graph the nodes of PyTorch's C++ rules have other inputs than the kit's.",
        lambda difference, lines: (
            (
                difference.about == "a rule's node"
                and difference.kind in ("accepted", "refused", "class", "message")
                and "next_functions" in difference.line
            )
            or (
                difference.what == "log"
                and difference.about == "other inputs of a node"
                and _hooks_a_rules_node(lines)
            )
        ),
    ),
    "inference tensor that requires grad": (
        "Of such a tensor, PyTorch records what its functions compute of it by way of others that "
        "they make, and refuses some; the kit records nothing where all inputs are such tensors.",
        lambda difference, lines: (
            difference.about == "odd inference tensor"
            and (
                (difference.kind in ("requires_grad", "is_leaf") and difference.kit != "")
                or "functions with out=... arguments" in difference.torch
                or "Inplace update to inference tensor" in difference.torch
                or "Inference tensors cannot be saved" in difference.torch + difference.kit
            )
        ),
    ),
    "inference tensor with other data": (
        "An inference tensor whose .data is another's is one no longer in PyTorch, but has no "
        "version counter either: it cannot be looked into.",
        lambda difference, lines: (
            any(".data = " in line for line in lines)
            and (
                difference.what.endswith(".is_inference()")
                or "Inference tensors do not track version counter" in difference.torch
                or "Setting requires_grad=True on inference tensor" in difference.kit
                or (
                    difference.kind == "accepted"
                    and "does not require grad" in difference.torch
                    and any("inference_mode" in line for line in lines)
                )
            )
        ),
    ),
    "first version in a message": (
        "Where PyTorch's engine has added up a gradient in place, its version begins with 1: so it "
        "says in errors, too.",
        lambda difference, lines: (
            difference.kind == "message"
            and any("autograd.grad(" in line for line in lines)
            and _VERSIONS.sub("", difference.torch) == _VERSIONS.sub("", difference.kit)
            and len({_changes_since(text) for text in (difference.torch, difference.kit)}) == 1
        ),
    ),
    "name of what made a result": (
        "Under create_graph PyTorch's rules read a result as it was made, the kit's the tensor, "
        "which may since have become the result of a change in place, that the message names.",
        lambda difference, lines: (
            difference.kind == "message"
            and any("create_graph=True" in line for line in lines)
            and "has been modified by an inplace operation" in difference.torch
            and _OUTPUT_OF.sub("", difference.torch) == _OUTPUT_OF.sub("", difference.kit)
        ),
    ),
    "saved by a rule that is one function": (
        "Under create_graph PyTorch's mse_loss_backward, for example, is a node that saves both "
        "inputs of mse_loss, and refuses if one was changed since; that of the kit saves what its "
        "rules will read: none has a use for y.",
        lambda difference, lines: (
            difference.kind == "accepted"
            and "modified by an inplace operation" in difference.torch
            and any("create_graph=True" in line for line in lines)
            and _changes_what_rules_have_saved(lines)
        ),
    ),
    "data of another size in a view": (
        "A view whose .data was replaced by something larger has elements that its base has not; "
        "PyTorch's rule drops what flows to these, the kit's counts them as other elements of it.",
        lambda difference, lines: (
            difference.kind == "gradient" and _has_a_view_beyond_its_base(lines)
        ),
    ),
    "data of another size or type": (
        "After x.data = ..., PyTorch's rules look at the sizes and dtype that saved tensors have "
        "then, and gradients are brought to the dtype of before; the kit notes sizes when it "
        "records, and nodes do not know the dtype of their inputs.",
        lambda difference, lines: (
            any(".data = " in line for line in lines)
            and re.search(r"grad\(|backward\(|at the end", difference.line) is not None
            and (
                difference.kind == "dtype"
                or difference.about == "other dtypes or shapes"  # of what a hook of a node sees
                or re.search(r"shape|dtype|size of tensor", difference.torch + difference.kit)
                is not None
            )
        ),
    ),
    "fault of PyTorch": (
        "PyTorch fails at an assertion of its own, and asks to report that; or at a gradient "
        "of zeros that has no memory.",
        lambda difference, lines: (
            "INTERNAL ASSERT FAILED" in difference.torch
            or "unallocated storage" in difference.torch
            or "ZeroTensors are immutable" in difference.torch
        ),
    ),
    "clamp between tensors that broadcast": (
        "PyTorch's rule for clamp(min, max), where a limit is wider than what is clamped, masks a "
        "gradient in place that is too small for that, and fails; the kit's does not.",
        lambda difference, lines: (
            difference.kind == "accepted"
            and "doesn't match the broadcast shape" in difference.torch
            and re.search(r"grad\(|backward\(", difference.line) is not None
            and any(re.search(r"\bclamp\(", line) for line in lines)
        ),
    ),
    "sizes of out= that cannot grow": (
        "Where out= is memory of NumPy's and too small, PyTorch has changed its sizes already when "
        "it refuses: they go beyond its memory. The kit changes nothing.",
        lambda difference, lines: (
            difference.kind == "shape"
            and "out=" in difference.line
            and any("from_numpy" in line for line in lines)
        ),
    ),
    "type of an empty batch": (
        "Where vmap has nothing to map over, PyTorch looks for the type of a result at the first "
        "element, if numbers and tensors of the batch meet, and fails; the kit's loop does not.",
        lambda difference, lines: (
            difference.torch.startswith("IndexError: select(): index 0 out of range for tensor of")
            and "torch.func." in difference.line
        ),
    ),
    "no memory": (
        "What is too large, PyTorch's allocator refuses with RuntimeError, NumPy with MemoryError.",
        lambda difference, lines: (
            difference.kit.startswith("MemoryError") and "can't allocate memory" in difference.torch
        ),
    ),
    "gelu of inf": (
        "inf for a 0-d tensor, nan for others: so PyTorch's library has it on some processors.",
        lambda difference, lines: (
            "gelu" in difference.line
            and difference.kind == "value"
            and "nan" in difference.torch
            and "inf" in difference.kit
        ),
    ),
    "zero that no infinity changes": (
        "Under create_graph the slope of abs is the function sgn in PyTorch, and the gradient of "
        "that a tensor of zeros without memory: divided by zero it is still 0. The kit computes "
        "with the zeros, and 0 / 0 is nan.",
        lambda difference, lines: (
            difference.kind == "gradient"
            and "nan" in difference.kit
            and difference.kit.replace("nan", "0.0") == difference.torch
            and any(".abs()" in line for line in lines)
            and any("create_graph=True" in line for line in lines)
        ),
    ),
    "layer_norm beyond float32": (
        "Where a square overflows, PyTorch's layer_norm has inf or nan for the variance, by how "
        "many elements the processor takes at once; the kit has inf, and 0 for the result.",
        lambda difference, lines: (
            difference.kind == "value"
            and "nan" in difference.torch
            and "nan" not in difference.kit
            and _overflows_in_layer_norm(lines)
        ),
    ),
    "inference gradient under create_graph": (
        "The function of a C++ rule saves the gradient that it is given, and refuses one made in "
        "inference mode; where the kit's rule multiplies only what it has computed of that, no op "
        "saves it.",
        lambda difference, lines: (
            difference.kind == "accepted"
            and "create_graph=True" in difference.line
            and "Inference tensors cannot be saved" in difference.torch
            and any(line.startswith("with torch.inference_mode") for line in lines)
        ),
    ),
    "gradient passed in inference mode": (
        "Where nothing but views lies before a leaf, PyTorch keeps a view of what was given to "
        "backward() as .grad, and that is no inference tensor; the kit's copy, made in inference "
        "mode, is one, and must not be added to later.",
        lambda difference, lines: (
            difference.kind == "refused"
            and "Inplace update to inference tensor" in difference.kit
            and any(_PASSED.match(line) for line in lines)
        ),
    ),
    "index of a number": (
        "Assigning to x[1] of a 0-d tensor, PyTorch compares the index with the size of a "
        "dimension that is not there: with what its memory held before.",
        lambda difference, lines: (
            difference.kind == "message"
            and re.search(r"\] = |\] [-+*/%]= ", difference.line) is not None
            and difference.kit.endswith("is out of bounds for dimension 0 with size 0")
            and re.match(
                r"select\(\) cannot be applied to a 0-dim|index -?\d+ is out of bounds for dim",
                difference.torch,
            )
            is not None
        ),
    ),
    "which refusal": (
        "PyTorch looks first whether the inputs can be recorded, and then at arguments; the kit "
        "looks at some arguments before. Both refuse.",
        lambda difference, lines: (
            difference.kind in ("class", "message")
            and _LAGS.search(difference.torch) is not None
            and _LAGS.search(difference.kit) is None
        ),
    ),
    "steps over one element": (
        "Where a tensor is written to its own elements, each to itself, PyTorch does that or "
        "refuses it, by the strides of dimensions of one element, which NumPy chooses freely.",
        lambda difference, lines: (
            (
                difference.kind in ("accepted", "refused")
                and _OVERLAPS.search(difference.torch + difference.kit) is not None
                and _same_places(lines)
            )
            or (
                difference.kind == "message"
                and len({bool(_OVERLAPS.search(t)) for t in (difference.torch, difference.kit)})
                == 2
                and "doesn't match the broadcast shape" in difference.torch + difference.kit
                and _steps_over_one_element(lines[: lines.index(difference.line) + 1])
            )
        ),
    ),
    "second hook on a view that cannot follow": (
        "On a view that has no history any more, PyTorch refuses a hook only the first time; later "
        "it takes hooks there, but never calls them.",
        lambda difference, lines: (
            difference.kind == "refused"
            and "its base or another view of its base has been" in difference.kit
            and "register_hook(" in difference.line
            and any(
                line.rpartition("= ")[2].startswith(f"{_hooked(difference.line)}register_hook(")
                for line in lines[:-1]
            )
        ),
    ),
    "order in memory": (
        "A gradient may lie in another order in memory, as rules multiply in another order; then "
        "view() refuses it in one only.",
        lambda difference, lines: (
            difference.kind in ("accepted", "refused")
            and difference.about == "lies otherwise"
            and "view size is not compatible" in difference.torch + difference.kit
        ),
    ),
    "view of nothing else": (
        "Whether a gradient, or what is made of inference tensors, is a new tensor or a view of "
        "one that nobody else has: as a view, it must not be changed in place if that is recorded.",
        lambda difference, lines: (
            difference.kind in ("accepted", "refused", "class")
            and difference.about == "view in one alone"
            and _VIEW.search(difference.torch + difference.kit) is not None
        ),
    ),
    "hook on a leaf's node": (
        "In PyTorch, the node of a leaf, and with it its hooks, goes with the last graph that it "
        "stands in; in the kit the leaf keeps it.",
        lambda difference, lines: (
            difference.what == "log"
            and difference.about.startswith("calls in the kit alone: ")
            and set(difference.about.split()[5:])
            <= set(
                re.findall(
                    r'next_functions.*\.register_(?:pre)?hook\(hook\("?\'?(\w)', "\n".join(lines)
                )
            )
        ),
    ),
    "hook between two steps": (
        "A sum in another dtype, an assignment, or the change of a view is one node in PyTorch, "
        "and several ops here: a hook of the node sees what flows between them.",
        lambda difference, lines: (
            difference.what == "log"
            and any(re.search(r"\.grad_fn\b.*\.register_hook\(", line) for line in lines)
            and (
                difference.about == "other dtypes or shapes"
                or (difference.about == "other inputs of a node" and _changes_view(lines))
            )
        ),
    ),
}
# Not differences that are found, but taken out of the comparison in running.py:
NOT_COMPARED = {
    "rules as graphs": "Under create_graph PyTorch records the functions of its C++ rules, the kit "
    "the ops of its own rules, which learners can read: nodes that a backward pass has made count "
    "as alike, and what lies behind them is not looked at.",
    "first version": "Where PyTorch's engine has added up a gradient in place, or has copied it, "
    "and where functions write to a new tensor what they compute of inference tensors, the version "
    "of what they have made begins with how often they have written.",
    "hook on a view that lags behind": "PyTorch 2.13.0 crashes when a hook is registered on a view "
    "whose base was changed in place, unless its grad_fn was read since; so that is read first.",
    "retained later output": "PyTorch 2.13.0 crashes in the backward pass where the gradient of a "
    "later one of several outputs is retained and that was changed through a view: a program ends "
    "before.",
    "idle steps": "The stride of a dimension of one element, or of a tensor without elements, "
    "leads nowhere; NumPy chooses it freely.",
}

REASONS = {name: reason for name, (reason, _) in _KNOWN.items()} | NOT_COMPARED


def reason_for(difference: Difference, lines: list[str]) -> str | None:
    """Return the name of the entry that a difference falls under; None: it is a fault."""
    for name, (_, fits) in _KNOWN.items():
        if fits(difference, lines):
            return name
    return None
