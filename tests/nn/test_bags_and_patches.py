"""Bags of rows, places between pixels, and patches: PyTorch's results, gradients and words."""

import pytest

from tests.same_as_torch.outcomes import run_as_pytorch

SETUP = """
F = torch.nn.functional
torch.manual_seed(0)
table = torch.randn(4, 3, requires_grad=True)
words, starts = torch.tensor([1, 0, 3, 3, 2]), torch.tensor([0, 2, 2])
image = torch.arange(16.0).view(1, 1, 4, 4)
"""

PROGRAMS = """
F.embedding_bag(torch.tensor([5]), table, torch.tensor([0]))
F.embedding_bag(words, table, torch.tensor([1]))
F.embedding_bag(words.float(), table, starts)
F.embedding_bag(words, table, torch.tensor([0, 9]))
F.embedding_bag(words, table)
F.embedding_bag(words.view(1, 5), table, starts)
F.embedding_bag(words.view(1, 1, 5), table)
F.embedding_bag(words, table[0], starts)
F.embedding_bag(words, table, starts, mode="min")
[y.backward() for y in [F.embedding_bag(words, table, starts, mode="max").sum()] * 2]
F.embedding_bag(words, table, starts, per_sample_weights=torch.ones(5))
F.embedding_bag(words, table, starts, per_sample_weights=torch.ones(4), mode="sum")
F.embedding_bag(words, table, starts, per_sample_weights=torch.ones(5).double(), mode="sum")
F.grid_sample(image, torch.ones(2, 1, 1, 2), align_corners=False)
F.grid_sample(image, torch.ones(1, 1, 1, 3), align_corners=False)
F.grid_sample(image, torch.ones(1, 1, 2), align_corners=False)
F.grid_sample(image, torch.ones(1, 1, 1, 2).double(), align_corners=False)
F.grid_sample(image, torch.ones(1, 1, 1, 2), mode="linear", align_corners=False)
F.grid_sample(image, torch.ones(1, 1, 1, 2), padding_mode="same", align_corners=False)
F.affine_grid(torch.ones(1, 3, 3), (1, 1, 2, 2), align_corners=False)
F.affine_grid(torch.ones(1, 2, 3).long(), (1, 1, 2, 2), align_corners=False)
F.affine_grid(torch.ones(1, 2, 3), (1, 1, 0, 2), align_corners=False)
F.unfold(image, 5)
F.fold(torch.ones(2), 2, 2)
F.fold(torch.ones(1, 3, 4), (3, 3), 2)
F.fold(torch.ones(1, 4, 5), (3, 3), 2)
F.pixel_shuffle(torch.ones(1, 3, 2, 2), 2)
F.pixel_shuffle(torch.ones(2, 2), 2)
F.pixel_unshuffle(torch.ones(1, 3, 3), 2)
F.pixel_unshuffle(torch.ones(1, 2, 3), 2)
torch.nn.EmbeddingBag(3, 2, padding_idx=3)
torch.nn.ParameterDict({1: torch.ones(1)})
torch.nn.ParameterDict({"a": torch.ones(1)})(1)
torch.nn.ParameterDict(3)
torch.nn.init.orthogonal_(torch.ones(3))
torch.nn.init.dirac_(torch.ones(3, 3))
torch.nn.init.dirac_(torch.ones(3, 3, 3), groups=2)
torch.nn.init.sparse_(torch.ones(3), 0.1)
torch.autograd.Variable([1.0])
torch.autograd.Variable(torch.tensor([1]), requires_grad=True)
""".strip().split("\n")


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_does_not_fit_is_refused_in_pytorchs_words(program: str) -> None:
    run_as_pytorch(SETUP + program)


def test_empty_bags_and_rows_that_do_not_count_are_zeros() -> None:
    run_as_pytorch(
        SETUP
        + """
for mode in ("sum", "mean", "max"):
    table.grad = None
    bags = F.embedding_bag(words, table, starts, mode=mode, padding_idx=3)
    bags.pow(2).sum().backward()
    print(bags, table.grad)
ends = torch.tensor([0, 1, 5])
print(F.embedding_bag(words, table, ends, include_last_offset=True))
""",
    )
