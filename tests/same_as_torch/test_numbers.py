"""Python numbers meet tensors whose type does not reach so far: refused, or begun again below."""

import pytest

from tests.rows import for_each
from tests.same_as_torch.outcomes import run_as_pytorch

EDGES = {
    "uint8": (-1, -255, -256, -257, 255, 256),
    "int8": (-128, -129, -200, -257, 127, 128, 300),
    "int16": (-32768, -32769, -65537, 32767, 32768),
    "int32": (-(2**31), -(2**31) - 1, 2**31 - 1, 2**31),
    "int64": (-(2**63), 2**63 - 1),
    "float16": (6e4, 7e4, -7e4),
    "float32": (1e38, 1e39, -1e39, float("inf")),
    "float64": (1e300, float("-inf")),
    "bool": (7, -1),
}
TAKEN = """
x + n|x - n|n - x|x * n|x < n|x == n|x >= n|x // n|x % n|torch.tensor(1, dtype=kind) + n
torch.full((2,), n, dtype=kind)|torch.tensor([n], dtype=kind)|x.fill_(n)|x.add_(n)|x.mul_(n)
torch.where(mask, x, n)|torch.where(mask, n, x)|x.masked_fill(mask, n)|torch.add(x, x, alpha=n)
x ** abs(n)|x.clamp(min=n)|x.clamp(max=n)|x.clamp_min(n)|x.clamp_max(n)
x.div(n, rounding_mode="trunc")|torch.mul(n, x[0])|torch.sub(n, x[0])|torch.floor_divide(n, x)
"""
# PyTorch looks at a bound for floats, too; the kit for those of half precision only.
LEFT_OUT = {(f"x.clamp{how}", "float32") for how in ("(min=n)", "(max=n)", "_min(n)", "_max(n)")}
TRIES = [
    (expression, kind)
    for expression in TAKEN.replace("\n", "|").split("|")
    for kind in EDGES
    if expression and (expression, kind) not in LEFT_OUT
]


@for_each(("expression", "kind"), TRIES)
def test_a_number_beyond_the_edge(expression: str, kind: str) -> None:
    for number in EDGES[kind]:
        run_as_pytorch(
            f"n, kind = {type(number).__name__}('{number}'), torch.{kind}\n"
            "mask, x = torch.tensor([True, False]), torch.ones(2, dtype=kind)\n"
            f"print({expression})",
        )


@pytest.mark.parametrize(
    "kind", [kind for kind in EDGES if kind != "float16"]
)  # PyTorch assigns inf there
def test_a_number_is_assigned(kind: str) -> None:
    for number in EDGES[kind]:
        run_as_pytorch(
            f"x = torch.zeros(2, dtype=torch.{kind})\n"
            f"x[0] = {type(number).__name__}('{number}')\nprint(x)",
        )
