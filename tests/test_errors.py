"""Errors: PyTorch's words, then a line that teaches; and what the kit does not have."""

import ast
import builtins
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter

import pytest

import autodiff_kit as torch
from autodiff_kit import errors
from autodiff_kit.errors import error
from tests.rows import for_each
from tests.sources import MODULES, PACKAGE, parse

CATALOGUE = {
    f"{file.stem}.{name}": entry
    for file in sorted((PACKAGE / "messages").glob("*.toml"))
    for name, entry in tomllib.loads(file.read_text(encoding="utf-8")).items()
}

X = "x = torch.tensor([1.0, 2.0], requires_grad=True); "
Y = X + "y = x * 1; "

# What everybody meets, in the words of PyTorch 2.13.0. `same_as_torch/` compares far more of it.
EVERYDAY = [
    (X + "s = (x * x).sum(); s.backward(); s.backward()", "Trying to backward through the graph a"),
    (X + "(x * 2).backward()", "grad can be implicitly created only for scalar outputs"),
    ("torch.ones(1).backward()", "element 0 of tensors does not require grad and does not have a"),
    (
        X + "(x * 2).backward(torch.ones(1))",
        "Mismatch in shape: grad_output[0] has a shape of torch",
    ),
    (
        "torch.tensor([1], requires_grad=True)",
        "Only Tensors of floating point and complex dtype can",
    ),
    (Y + "y.requires_grad = False", "you can only change requires_grad flags of leaf variables."),
    ("torch.ones(1).retain_grad()", "can't retain_grad on Tensor that has requires_grad=False"),
    (X + "x += 1", "a leaf Variable that requires grad is being used in an in-place operation."),
    (Y + "z = y * y; y += 1; z.sum().backward()", "one of the variables needed for gradient comp"),
    (X + "torch.autograd.grad(x.sum(), torch.ones(1, requires_grad=True))", "The differentiated"),
    (
        X + "torch.autograd.grad(x.sum(), torch.ones(1))",
        "One of the differentiated Tensors does not",
    ),
    ("torch.ones(1).register_hook(print)", "cannot register a hook on a tensor that doesn't"),
    (Y + "y.register_post_accumulate_grad_hook(print)", "post accumulate grad hooks cannot be"),
    (
        X + "x.numpy()",
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy()",
    ),
    ("torch.ones(2).item()", "a Tensor with 2 elements cannot be converted to Scalar"),
    ("bool(torch.ones(2))", "Boolean value of Tensor with more than one value is ambiguous"),
    ("torch.ones(2, 3) @ torch.ones(2, 3)", "mat1 and mat2 shapes cannot be multiplied (2x3 and"),
    ("torch.ones(2, 3) + torch.ones(2)", "The size of tensor a (3) must match the size of tensor"),
    ("torch.ones(6).view(4)", "shape '[4]' is invalid for input of size 6"),
    ("torch.ones(2, 3).t().view(6)", "view size is not compatible with input tensor's size and"),
    ("torch.ones(2)[5]", "index 5 is out of bounds for dimension 0 with size 2"),
    ("torch.ones(2, 3).sum(2)", "Dimension out of range (expected to be in range of [-2, 1], but"),
    ("x = torch.tensor([1]); x += 0.5", "result type Float can't be cast to the desired output"),
    (
        "x = torch.ones(2); x += torch.ones(3, 2)",
        "output with shape [2] doesn't match the broadcast",
    ),
    ("torch.ones(1).expand(2).add_(1)", "unsupported operation: more than one element of the"),
]


@pytest.mark.parametrize(("program", "words"), EVERYDAY, ids=[words for _, words in EVERYDAY])
def test_an_error_has_pytorchs_words_and_a_line_that_teaches(program: str, words: str) -> None:
    with pytest.raises((RuntimeError, IndexError, TypeError)) as caught:
        exec(program, {"torch": torch})

    first, _, advice = str(caught.value).partition("\n")
    assert first.startswith(words)
    assert advice.startswith("-> ")
    assert advice.endswith(".")


def test_an_error_of_the_catalogue_has_its_advice_on_a_line_of_its_own() -> None:
    exception = error("tensor.len_of_0d")

    assert type(exception) is TypeError
    assert str(exception) == "len() of a 0-d tensor\n-> It holds one number: x.item()."


def test_what_stands_in_braces_is_filled_in_once() -> None:
    exception = error("arguments.operands", sign="{right}", left="a", right="b")

    assert str(exception).startswith("unsupported operand type(s) for {right}: 'a' and 'b'\n")


def test_the_catalogue_is_not_read_before_the_first_error() -> None:
    program = "import sys, autodiff_kit; sys.exit('tomllib' in sys.modules)"

    subprocess.run([sys.executable, "-c", program], check=True)


@for_each("key", CATALOGUE)
def test_an_entry_raises_a_builtin_exception_in_words_and_advises_in_a_sentence(key: str) -> None:
    entry = CATALOGUE[key]

    assert set(entry) - {"usual"} == {"raises", "words", "advice"}
    assert issubclass(vars(builtins).get(entry["raises"], RuntimeError), Exception)
    assert entry["raises"] in {*vars(builtins), errors.LinAlgError.__name__}
    assert entry["words"].strip()
    assert re.search(r"\w.*[.?]$", entry["advice"])


def keys_in(node: ast.expr, names: dict[str, list[ast.expr]]) -> list[str]:
    """The patterns of the keys that an expression can be: usually one key."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [re.escape(node.value)]
    if isinstance(node, ast.JoinedStr):
        parts = (re.escape(v.value) if isinstance(v, ast.Constant) else r"\w+" for v in node.values)
        return ["".join(parts)]
    if isinstance(node, ast.IfExp):
        return keys_in(node.body, names) + keys_in(node.orelse, names)
    if isinstance(node, ast.Name):
        return [key for value in names.get(node.id, ()) for key in keys_in(value, {})]
    return []


def calls_in(file: Path) -> Iterator[tuple[str, list[str], set[str | None] | None]]:
    """Where errors are made in a file: (line, patterns of keys, names of the values given).

    Other functions that are given a key pass it on to ``error``: ``refuse_bool`` with the values
    that it is given, the rest with values of their own, for which None stands.
    """
    files = "|".join({key.split(".")[0] for key in CATALOGUE})
    source = file.read_text(encoding="utf-8")
    if not re.search(rf"\berror\(|[\"']({files})\.", source):
        return  # most files: it would take seconds to walk through all of them
    for scope in ast.walk(parse(source)):
        if not isinstance(scope, ast.FunctionDef | ast.Module):
            continue
        names: dict[str, list[ast.expr]] = {}
        nodes = own_nodes(scope)
        for node in nodes:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                names.setdefault(node.targets[0].id, []).append(node.value)
        for node in nodes:
            if isinstance(node, ast.Call) and node.args:
                keys = keys_in(node.args[0], names)
                called = getattr(node.func, "id", getattr(node.func, "attr", ""))
                known = all(re.match(rf"({files})\\\.\S+$", key) for key in keys)
                if keys and (called == "error" or (known and called != "only_default")):
                    line = f"{file.relative_to(PACKAGE)}:{node.lineno}"
                    keywords = {keyword.arg for keyword in node.keywords}
                    yield line, keys, keywords if called in ("error", "refuse_bool") else None


def own_nodes(scope: ast.AST) -> list[ast.AST]:
    """Everything in a function or module, but not in the functions inside of it."""
    nodes: list[ast.AST] = []
    waiting = [scope]
    while waiting:
        inside = list(ast.iter_child_nodes(waiting.pop()))
        nodes += inside
        waiting += [node for node in inside if not isinstance(node, ast.FunctionDef)]
    return nodes


@cache
def calls() -> list[tuple[str, list[str], set[str | None] | None]]:
    """Where errors are made in the package."""
    return [call for file in MODULES for call in calls_in(file)]


@cache
def entries_of(pattern: str) -> list[str]:
    return [key for key in CATALOGUE if re.fullmatch(pattern, key)]


def test_every_key_that_is_used_is_in_the_catalogue() -> None:
    missing = [(line, key) for line, keys, _ in calls() for key in keys if not entries_of(key)]

    assert missing == []


def test_every_entry_of_the_catalogue_is_used() -> None:
    used = {entry for _, keys, _ in calls() for key in keys for entry in entries_of(key)}

    assert sorted(CATALOGUE.keys() - used) == []


def test_what_an_entry_has_in_braces_is_what_the_call_gives() -> None:
    differences = []
    for line, keys, keywords in calls():
        entries = [CATALOGUE[entry] for key in keys for entry in entries_of(key)]
        faults = [
            {
                re.split(r"[.\[]", field)[0]
                for part in ("words", "advice")
                for _, field, _, _ in Formatter().parse(entry[part])
                if field is not None
            }
            for entry in entries
        ]
        # Where a call chooses an entry, one of them needs what it gives.
        if keywords is not None and set().union(*faults) != keywords:
            differences.append((line, keywords, faults))

    assert len(calls()) > 100
    assert differences == []


def test_every_public_name_is_there() -> None:
    missing = [name for name in torch.__all__ if name != "record" and not hasattr(torch, name)]

    assert missing == []


def test_the_public_names_are_sorted_and_unique_within_their_files() -> None:
    assert len(torch.__all__) == len(set(torch.__all__))


def test_a_gpu_is_refused_as_pytorch_without_cuda_refuses_it() -> None:
    for use in (torch.ones(2).cuda, torch.nn.Linear(1, 1).cuda):
        with pytest.raises(
            AssertionError, match=r"^Torch not compiled with CUDA enabled\n-> .*CPU"
        ):
            use()


@pytest.mark.parametrize(
    ("call", "dtype"),
    [
        (lambda: torch.gcd(torch.ones(2), torch.ones(2)), "x.long()"),
        (lambda: torch.ones(2) << torch.ones(2), "x.long()"),
        (lambda: torch.frac(torch.tensor([1, 2])), "x.float()"),
    ],
)
def test_the_advice_on_a_kernel_names_a_dtype_that_it_computes_with(call, dtype) -> None:
    with pytest.raises(NotImplementedError, match=re.escape(dtype)):
        call()
