"""Datasets of one's own, samplers, batches and collate functions."""

import random
from collections import Counter

import numpy as np
import torch
from torch.utils.data import (
    BatchSampler,
    ChainDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    Sampler,
    SequentialSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    get_worker_info,
    random_split,
)

torch.manual_seed(3)


class Points(Dataset):
    def __init__(self, n, transform=None, target_transform=None):
        self.x = torch.arange(n * 2.0).view(n, 2)
        self.y = torch.tensor([0, 0, 0, 1] * (n // 4))
        self.transform, self.target_transform = transform, target_transform

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        if torch.is_tensor(index):
            index = index.tolist()
        x, y = self.x[index], self.y[index]
        if self.transform:
            x = self.transform(x)
        if self.target_transform:
            y = self.target_transform(y)
        return {"point": x, "label": y, "name": f"p{index}", "weight": float(index)}


class Scale:
    def __init__(self, by):
        self.by = by

    def __call__(self, sample):
        return sample * self.by


one_hot = lambda y: torch.zeros(2, dtype=torch.float).scatter_(0, y.clone(), value=1)
points = Points(16, transform=Scale(0.5), target_transform=one_hot)
for batch in DataLoader(points, batch_size=6, shuffle=True, num_workers=0, drop_last=False):
    print(batch["point"].shape, batch["label"].dtype, batch["name"], batch["weight"].dtype)
labels = Points(16).y
counts = Counter(labels.tolist())
weights = [1 / counts[int(y)] for y in labels]
sampler = WeightedRandomSampler(weights, num_samples=12, replacement=True)
print(list(sampler), len(sampler))
loader = DataLoader(TensorDataset(Points(16).x, labels), batch_size=4, sampler=sampler)
print([y.tolist() for _, y in loader])
print(list(BatchSampler(SequentialSampler(range(7)), batch_size=3, drop_last=False)))
print(list(RandomSampler(range(5))), list(RandomSampler(range(5), replacement=True, num_samples=8)))
print(list(SubsetRandomSampler([2, 4, 6, 8])))


class ByLength(Sampler):
    def __init__(self, texts, batch_size):
        self.texts, self.batch_size = texts, batch_size

    def __iter__(self):
        order = sorted(range(len(self.texts)), key=lambda i: len(self.texts[i]))
        for i in range(0, len(order), self.batch_size):
            yield order[i : i + self.batch_size]

    def __len__(self):
        return -(-len(self.texts) // self.batch_size)


texts = [torch.randint(1, 9, (n,)) for n in (5, 2, 7, 3, 1)]


def collate(batch):
    lengths = torch.tensor([len(t) for t in batch])
    return torch.nn.utils.rnn.pad_sequence(batch, batch_first=True, padding_value=-1), lengths


for padded, lengths in DataLoader(texts, batch_sampler=ByLength(texts, 2), collate_fn=collate):
    print(padded, lengths)


class Stream(IterableDataset):
    def __init__(self, start, end):
        self.start, self.end = start, end

    def __iter__(self):
        print(get_worker_info())
        return iter(range(self.start, self.end))


print([b.tolist() for b in DataLoader(Stream(3, 8), batch_size=2)])
print([b.tolist() for b in DataLoader(ChainDataset([Stream(0, 2), Stream(5, 7)]), batch_size=3)])
both = ConcatDataset([Subset(points, [0, 3]), Subset(points, range(5, 7))])
print(len(both), both[2]["name"], both[-1]["name"], both.cumulative_sizes)
stacked = StackDataset(image=[1, 2, 3], text=["a", "b", "c"])
print(len(stacked), stacked[1], StackDataset([1, 2], [3, 4])[0])
train, val, test = random_split(
    range(10), [0.6, 0.2, 0.2], generator=torch.Generator().manual_seed(42)
)
print(list(train), list(val), train.indices, len(test))
print(
    default_collate([(1, 2.0, "a"), (3, 4.0, "b")]),
    default_collate([{"a": np.ones(2)}, {"a": np.zeros(2)}]),
)


def worker_init_fn(worker_id):
    random.seed(torch.initial_seed() % 2**32)


generator = torch.Generator()
generator.manual_seed(0)
loader = DataLoader(
    TensorDataset(torch.arange(6)), 2, True, worker_init_fn=worker_init_fn, generator=generator
)
for epoch in range(2):
    print([b[0].tolist() for b in loader], len(loader), len(loader.dataset), loader.batch_size)
(features,) = next(iter(loader))
print(features, loader.dataset[0])
