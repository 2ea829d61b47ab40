"""What the lessons say of PyTorch's own tools, which the kit does not have: run with it, 2.13.0.

What both have is compared cell by cell in ``test_lessons.py``.
"""

import ast
import inspect
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.parity import require_torch

pytestmark = pytest.mark.parity
torch = require_torch()

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


def text_of(number: str) -> str:
    """Return the words of a lesson, its code left out."""
    (path,) = NOTEBOOKS.glob(f"{number}_*.ipynb")
    cells = nbformat.read(path, as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def size(x: Any) -> Any:
    if x > 0:
        return x * x
    return -x


def power(x: Any, rounds: int = 3) -> Any:
    y = x
    for _ in range(rounds):
        y = y * x
    return y


def total(x: Any) -> Any:
    return (x * x).sum()


class AsModule(torch.nn.Module):  # type: ignore[misc]
    """``torch.export`` takes modules, not functions."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *arguments: Any) -> Any:
        return self.function(*arguments)


def number(value: float) -> Any:
    return torch.tensor(value)


@pytest.fixture(autouse=True)
def _fresh_compiler() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, about its deprecated parts
        yield
    torch._dynamo.reset()


def test_the_program_of_lesson_07_prints_what_stands_beside_it_and_ends_in_an_error() -> None:
    program = re.search(r"```python\n(.*?)```", text_of("07"), re.S)
    assert program is not None
    source = program[1].replace("import torch\n", "")
    *lines, last = ast.parse(source).body
    printed = StringIO()
    space: dict[str, Any] = {"torch": torch}

    with redirect_stdout(printed):
        exec(compile(ast.Module(lines, []), "<lesson>", "exec"), space)
    with pytest.raises(RuntimeError, match="Could not guard on data-dependent expression"):
        exec(compile(ast.Module([last], []), "<lesson>", "exec"), space)

    stated = re.findall(r"print\(.*# (?:warnings, then )?(tensor\(.*\))$", source, re.M)
    assert printed.getvalue().splitlines() == stated == ["tensor(9.)", "tensor(3.)", "tensor(3.)"]


def test_jit_trace_warns_that_an_if_is_frozen_and_that_it_is_deprecated() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        graph = torch.jit.trace(size, number(3.0))

    messages = {warning.category.__name__: str(warning.message) for warning in caught}
    assert "the trace might not generalize to other inputs" in " ".join(
        messages["TracerWarning"].split()
    )
    assert "`torch.jit.trace` is deprecated" in messages["DeprecationWarning"]
    x = number(-3.0).requires_grad_()
    y = graph(x)
    y.backward()
    assert (y.item(), x.grad.item()) == (9.0, -6.0)  # right: 3 and -1


def test_jit_trace_takes_another_shape_and_no_integer_and_runs_the_function_while_it_traces() -> (
    None
):
    calls: list[str] = []

    def watched(x: Any) -> Any:
        calls.append("here I am")
        return x * x

    assert torch.jit.trace(total, torch.ones(2))(torch.ones(3)).item() == 3
    with pytest.raises(RuntimeError, match="cannot be traced"):
        torch.jit.trace(power, (number(2.0), 3))
    graph = torch.jit.trace(watched, number(2.0))
    while_tracing = len(calls)
    assert [graph(number(value)).item() for value in (3.0, 4.0)] == [9, 16]
    assert len(calls) == while_tracing > 0


def test_export_refuses_the_if_and_other_rounds_and_another_shape() -> None:
    example = (number(3.0),)
    with pytest.raises(RuntimeError, match="Could not guard on data-dependent expression"):
        torch.export.export(AsModule(size), example)

    exported = torch.export.export(AsModule(power), (number(2.0), 3)).module()
    assert exported(number(2.0), 3).item() == 16
    with pytest.raises(AssertionError, match="Guard failed"):
        exported(number(2.0), 1)

    exported = torch.export.export(AsModule(total), (torch.ones(2),)).module()
    with pytest.raises(AssertionError, match="Guard failed"):
        exported(torch.ones(3))


class Total(torch.nn.Module):  # type: ignore[misc]
    def forward(self, x: Any) -> Any:
        return total(x)


def test_export_takes_a_declared_shape_and_both_branches_of_cond_and_runs_once() -> None:
    calls: list[str] = []

    def watched(x: Any) -> Any:
        calls.append("here I am")
        return torch.cond(x > 0, lambda x: x * x, lambda x: -x, (x,))

    shapes = {"x": {0: torch.export.Dim.DYNAMIC}}
    exported = torch.export.export(Total(), (torch.ones(2),), dynamic_shapes=shapes).module()
    assert exported(torch.ones(3)).item() == 3

    exported = torch.export.export(AsModule(watched), (number(3.0),)).module()
    while_exporting = len(calls)
    assert [exported(number(value)).item() for value in (3.0, -3.0)] == [9, 3]
    assert len(calls) == while_exporting > 0


def test_compile_is_right_on_both_branches_and_for_other_rounds_and_shapes() -> None:
    compiled = torch.compile(size, backend="eager")
    for value, slope in ((3.0, 6.0), (-3.0, -1.0)):
        x = number(value).requires_grad_()
        y = compiled(x)
        y.backward()
        assert (y.item(), x.grad.item()) == (size(value), slope)

    compiled = torch.compile(power, backend="eager")
    assert [compiled(number(2.0), rounds).item() for rounds in (3, 1)] == [16, 4]
    compiled = torch.compile(total, backend="eager")
    assert [compiled(torch.ones(length)).item() for length in (2, 3)] == [2, 3]


def test_compile_keeps_what_it_compiled_and_compiles_again_when_a_guard_fails() -> None:
    compilations = []

    def backend(graph: Any, _: Any) -> Any:
        compilations.append(graph)
        return graph.forward

    compiled = torch.compile(power, backend=backend)
    counts = []
    for rounds in (3, 3, 1):
        compiled(number(2.0), rounds)
        counts.append(len(compilations))

    assert counts == [1, 1, 2]


def test_a_side_effect_in_a_compiled_function_happens_at_every_call() -> None:
    calls: list[str] = []

    def watched(x: Any) -> Any:
        calls.append("here I am")
        return x * x

    compiled = torch.compile(watched, backend="eager")

    assert [compiled(number(value)).item() for value in (2.0, 3.0, 4.0)] == [4, 9, 16]
    assert len(calls) == 3


SEQUENCES = [torch.arange(2.0 * length).reshape(length, 2) / 10 for length in (5, 2, 3)]


def test_packed_sequences_are_the_shrinking_batch_of_lesson_07() -> None:
    network = torch.nn.RNN(2, 3)
    packed = torch.nn.utils.rnn.pack_sequence(SEQUENCES, enforce_sorted=False)

    network(packed)[0].data.sum().backward()
    together = network.weight_ih_l0.grad.clone()
    network.zero_grad()
    sum(network(sequence[:, None])[0].sum() for sequence in SEQUENCES).backward()

    assert packed.batch_sizes.tolist() == [3, 3, 2, 1, 1]
    assert torch.allclose(together, network.weight_ih_l0.grad, atol=1e-5)


def test_a_nested_tensor_holds_rows_of_different_lengths_without_padding() -> None:
    weights = torch.ones(2, 3, requires_grad=True)
    nested = torch.nested.nested_tensor(SEQUENCES, layout=torch.jagged)

    torch.tanh(nested @ weights).values().sum().backward()
    together, weights.grad = weights.grad, None
    sum(torch.tanh(sequence @ weights).sum() for sequence in SEQUENCES).backward()

    assert nested.values().shape == (10, 2)  # 5 + 2 + 3 rows
    assert torch.allclose(together, weights.grad)


def test_in_autocast_a_conversion_is_a_node_and_the_gradient_has_32_bits_again() -> None:
    layer = torch.nn.Linear(2, 1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = layer(torch.ones(3, 2))
    y.sum().backward()

    assert y.dtype == torch.bfloat16
    assert "ToCopyBackward0" in [node.name() for node, _ in y.grad_fn.next_functions if node]
    assert layer.weight.grad.dtype == torch.float32


ONE_OF_TWO = """
import sys, torch
torch.distributed.init_process_group(
    "gloo", init_method="file://" + sys.argv[2], rank=int(sys.argv[1]), world_size=2
)
model = torch.nn.Linear(1, 1, bias=False)
ddp = torch.nn.parallel.DistributedDataParallel(model)
ddp(torch.tensor([[float(sys.argv[3])]])).sum().backward()
print(model.weight.grad.item())
"""


def test_two_processes_average_their_gradients_in_the_backward_pass(tmp_path: Path) -> None:
    # The slope of w * x is x: 1 in one process, 3 in the other.
    command = [sys.executable, "-c", ONE_OF_TWO]
    processes = [
        subprocess.Popen(
            [*command, str(rank), str(tmp_path / "meeting"), x],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for rank, x in enumerate("13")
    ]

    assert [process.communicate(timeout=120)[0] for process in processes] == ["2.0\n", "2.0\n"]


def test_at_a_kink_pytorch_takes_the_slope_0() -> None:
    for function in (torch.abs, torch.relu):
        x = torch.zeros((), requires_grad=True)
        function(x).backward()
        assert x.grad.item() == 0


def test_not_all_of_pytorch_is_python() -> None:
    with pytest.raises(TypeError, match="builtin"):
        inspect.getsource(torch.mul)


def test_gradcheck_has_the_step_and_the_tolerances_of_exercise_16() -> None:
    defaults = inspect.signature(torch.autograd.gradcheck).parameters

    assert [defaults[name].default for name in ("eps", "atol", "rtol")] == [1e-6, 1e-5, 1e-3]


def test_views_and_detach_share_the_count_of_changes() -> None:
    x = torch.ones(3)
    view, cut = x[1:], x.detach()

    x.add_(1)

    assert (x._version, view._version, cut._version) == (1, 1, 1)
