"""Datasets, samplers and loaders beside PyTorch's: the same batches in the same order."""

from __future__ import annotations

from inspect import cleandoc

import pytest

import autodiff_kit
from tests.parity import require_torch
from tests.same_as_torch.outcomes import run, run_as_pytorch

GIVEN = """
import collections
from importlib import import_module
D = import_module(torch.__name__ + ".utils.data")
x = torch.arange(20.0).reshape(10, 2)
y = torch.arange(10)
torch.manual_seed(5)
data = D.TensorDataset(x, y)
generator = torch.Generator().manual_seed(3)

class Stream(D.IterableDataset):
    def __iter__(self):
        return iter(range(7))

class Numbers(D.Dataset):
    def __len__(self):
        return 5

    def __getitem__(self, index):
        return index, index / 2, str(index), {"a": x[index], "b": [index, np.float32(index)]}

Point = collections.namedtuple("Point", "x y")
"""

PROGRAMS = {
    "batches in order": """
        loader = D.DataLoader(data, batch_size=4)
        print(len(loader), len(data), data[3], data[2:4], list(loader), loader.dataset is data)
        whole = D.DataLoader(data, 4, drop_last=True)
        print(len(whole), list(whole))
        print(list(D.DataLoader(data, 3))[-1], loader.batch_size, loader.drop_last)
    """,
    "shuffled": """
        loader = D.DataLoader(data, 3, shuffle=True)
        for epoch in range(3):
            print([rows for _, rows in loader], torch.rand(1))
        print(next(iter(loader)), torch.rand(1))
        print([rows for _, rows in D.DataLoader(data, 3, True, num_workers=0, pin_memory=False)])
    """,
    "with a generator": """
        loader = D.DataLoader(data, 4, shuffle=True, generator=generator)
        print([rows for _, rows in loader], [rows for _, rows in loader], torch.rand(1))
        print(torch.rand(1, generator=generator))
    """,
    "samplers": """
        print(list(D.SequentialSampler(data)), list(D.RandomSampler(data)), torch.rand(1))
        print(list(D.RandomSampler(data, replacement=True, num_samples=70)), torch.rand(1))
        print(list(D.RandomSampler(data, num_samples=23, generator=generator)))
        print(list(D.SubsetRandomSampler([3, 5, 7])), len(D.SubsetRandomSampler([3, 5, 7])))
        batches = D.BatchSampler(D.RandomSampler(data), 4, True)
        print(list(batches), len(batches), list(D.BatchSampler(range(5), 2, False)))
        print([b[1] for b in D.DataLoader(data, batch_sampler=batches)])
        print([b[1] for b in D.DataLoader(data, 3, sampler=D.RandomSampler(data))])
        print(isinstance(batches, D.Sampler))
    """,
    "splits": """
        for lengths in ([7, 3], [0.5, 0.3, 0.2], [0.33, 0.67]):
            print([list(part.indices) for part in D.random_split(data, lengths)])
        train, test = D.random_split(data, [8, 2], generator=torch.Generator().manual_seed(42))
        print(train.indices, len(test), train[0], [b[1] for b in D.DataLoader(train, 3, True)])
        print(D.Subset(data, [4, 2])[1], D.Subset(data, range(3, 6))[0], torch.rand(1))
    """,
    "joined": """
        both = D.ConcatDataset([data, D.Subset(data, [1, 2])])
        print(len(both), both[11], both[-1], both[0], len(data + data), both.cumulative_sizes)
    """,
    "other samples": """
        print(list(D.DataLoader(Numbers(), 2)))
        print(list(D.DataLoader([1, 2, 3], 2)), list(D.DataLoader(range(4), batch_size=None)))
        print(list(D.DataLoader(x, 4)), list(D.DataLoader(np.eye(3), 2)))
        print(D.default_collate([Point(1, 2.0), Point(3, 4.0)]), D.default_collate(["a", "b"]))
        print(D.default_collate([True, False]), D.default_collate([(x[0], 1), (x[1], 2)]))
        print(list(D.DataLoader(data, 3, collate_fn=lambda samples: len(samples))))
        print(list(D.DataLoader(list(zip(x, y)), 5))[1])
    """,
    "streams": """
        print(list(D.DataLoader(Stream(), 3)), list(D.DataLoader(Stream(), 3, drop_last=True)))
        print(list(D.DataLoader(Stream(), batch_size=None)))
    """,
    "a training loop": """
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
        for epoch in range(2):
            for rows, targets in D.DataLoader(data, batch_size=3, shuffle=True):
                optimizer.zero_grad()
                loss = torch.nn.functional.mse_loss(model(rows)[:, 0], targets.float())
                loss.backward()
                optimizer.step()
            print(round(loss.item(), 4))
        print(model.weight, model.bias)
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_print_the_same(name: str) -> None:
    assert run_as_pytorch(GIVEN + cleandoc(PROGRAMS[name])).raised is None


@pytest.mark.parametrize(
    "line",
    [
        "D.TensorDataset(x, y[1:])",
        "D.ConcatDataset([])",
        "D.ConcatDataset([data])[-11]",
        "D.random_split(data, [1, 2])",
        "D.random_split(data, [1.5, -0.5])",
        "D.RandomSampler([])",
        "D.RandomSampler(data, replacement=1)",
        "D.BatchSampler(data, 0, True)",
        "D.BatchSampler(data, 2, 1)",
        "D.DataLoader(data, 0)",
        "D.DataLoader([], shuffle=True)",
        "D.DataLoader(data, num_workers=-1)",
        "D.DataLoader(data, persistent_workers=True)",
        "D.DataLoader(Stream(), shuffle=True)",
        "D.DataLoader(data, shuffle=True, sampler=D.SequentialSampler(data))",
        "D.DataLoader(data, 3, batch_sampler=[[1]])",
        "D.DataLoader(data, None, drop_last=True)",
        "D.default_collate([[1], [1, 2]])",
        "D.default_collate([object()])",
    ],
)
@pytest.mark.parity
def test_the_kit_refuses_in_pytorchs_words_and_says_what_to_do(line: str) -> None:
    expected = run(require_torch(), f"{GIVEN}\n{line}")

    outcome = run(autodiff_kit, f"{GIVEN}\n{line}")

    assert expected.raised is not None
    assert outcome.raised == expected.raised
    assert outcome.advice.startswith("-> ")


def test_import_forms_of_learners_work() -> None:
    from autodiff_kit.utils.data import DataLoader, Dataset, TensorDataset, random_split

    assert autodiff_kit.utils.data.DataLoader is DataLoader
    assert issubclass(TensorDataset, Dataset)
    assert random_split.__name__ == "random_split"
