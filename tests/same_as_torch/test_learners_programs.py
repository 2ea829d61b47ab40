"""Whole programs as learners write them, run by both packages: all they print, all they make."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_kit
from autodiff_kit.lessons import datasets
from tests.parity import require_torch

torch = require_torch()
pytestmark = pytest.mark.parity

PROGRAMS = sorted((Path(__file__).parent / "learners").glob("*.py"))


def run(program: Path, package: str) -> tuple[list[str], dict[str, Any]]:
    """Run a program with its imports of torch turned to ``package``: printed lines, globals."""
    source = program.read_text(encoding="utf-8")
    if package != "torch":
        source = re.sub(r"^import torch$", f"import {package} as torch", source, flags=re.M)
        source = re.sub(r"^(import|from) torch\b", rf"\1 {package}", source, flags=re.M)
    images, labels, *_ = datasets.digits()
    scope: dict[str, Any] = {"__name__": "program", "IMAGES": images, "LABELS": labels}
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(source, str(program), "exec"), scope)
    finally:  # a program may ask for it, and other tests run in this process, too
        library = torch if package == "torch" else autodiff_kit
        library.use_deterministic_algorithms(False)
        library.set_float32_matmul_precision("highest")
    return printed.getvalue().splitlines(), scope


def tensors(value: Any, name: str, package: Any) -> Any:
    """Yield (name, tensor) for every tensor within a value, gradients and buffers included."""
    if isinstance(value, package.Tensor):
        yield name, value
        if value.is_leaf and value.grad is not None:
            yield f"{name}.grad", value.grad
    elif isinstance(value, package.nn.Module):
        for key, parameter in [*value.named_parameters(), *value.named_buffers()]:
            yield from tensors(parameter, f"{name}.{key}", package)
    elif isinstance(value, package.optim.Optimizer):
        for key, state in value.state_dict()["state"].items():
            yield from tensors(state, f"{name}.state[{key}]", package)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from tensors(item, f"{name}[{key!r}]", package)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from tensors(item, f"{name}[{index}]", package)


def made_by(scope: dict[str, Any], package: Any) -> dict[str, Any]:
    """Return every tensor that a program's globals hold, by name."""
    names = [name for name in scope if not name.startswith("__") and name != "torch"]
    return {key: t for name in names for key, t in tensors(scope[name], name, package)}


@pytest.mark.filterwarnings("ignore:Converting a tensor")  # PyTorch says so once in a process
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_learners_program_prints_and_makes_the_same(program: Path) -> None:
    lines, scope = run(program, "torch")
    kit_lines, kit_scope = run(program, "autodiff_kit")

    assert kit_lines == lines
    expected, own = made_by(scope, torch), made_by(kit_scope, autodiff_kit)
    assert own.keys() == expected.keys()
    assert len(own) > 10
    for name, tensor in expected.items():
        twin = own[name]
        for fact in ("shape", "requires_grad", "is_leaf"):
            assert getattr(twin, fact) == getattr(tensor, fact), (name, fact)
        if tensor.requires_grad:  # PyTorch's own kernels count, too, in what backward returns
            assert twin._version == tensor._version, name
        assert str(twin.dtype) == str(tensor.dtype), name
        assert twin.stride() == tensor.stride(), name
        assert type(twin.grad_fn).__name__ == type(tensor.grad_fn).__name__, name
        precision = 1e-9 if tensor.dtype == torch.float64 else 2e-4
        np.testing.assert_allclose(
            twin.detach().numpy(), tensor.detach().numpy(), precision, precision, err_msg=name
        )
