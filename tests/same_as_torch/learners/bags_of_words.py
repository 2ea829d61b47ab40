"""Text classification: words in bags, offsets, a training loop with a gradient limit."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(0)
texts = [
    (1, "the cat sat on the mat"),
    (2, "stocks fell on monday"),
    (1, "a dog and a cat"),
    (2, "market news on stocks"),
] * 6
vocab = {w: i for i, w in enumerate(sorted({w for _, t in texts for w in t.split()}))}


def collate_batch(batch):
    label_list, text_list, offsets = [], [], [0]
    for label, text in batch:
        label_list.append(label - 1)
        ids = torch.tensor([vocab[w] for w in text.split()], dtype=torch.int64)
        text_list.append(ids)
        offsets.append(ids.size(0))
    return torch.tensor(label_list), torch.cat(text_list), torch.tensor(offsets[:-1]).cumsum(dim=0)


class TextClassificationModel(nn.Module):
    def __init__(self, vocab_size, embed_dim, num_class):
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocab_size, embed_dim, sparse=False)
        self.fc = nn.Linear(embed_dim, num_class)
        self.init_weights()

    def init_weights(self):
        initrange = 0.5
        self.embedding.weight.data.uniform_(-initrange, initrange)
        self.fc.weight.data.uniform_(-initrange, initrange)
        self.fc.bias.data.zero_()

    def forward(self, text, offsets):
        return self.fc(self.embedding(text, offsets))


model = TextClassificationModel(len(vocab), 8, 2)
print(model)
criterion = torch.nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=5)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1.0, gamma=0.1)
loader = DataLoader(texts, batch_size=5, shuffle=True, collate_fn=collate_batch)
for epoch in range(3):
    model.train()
    total_acc, total = 0, 0
    for label, text, offsets in loader:
        optimizer.zero_grad()
        loss = criterion(model(text, offsets), label)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        total_acc += (model(text, offsets).argmax(1) == label).sum().item()
        total += label.size(0)
    scheduler.step()
    print(epoch, f"{total_acc / total:.3f}", loss.item().__round__(4), scheduler.get_last_lr())
for mode in ("sum", "mean", "max"):
    bag = nn.EmbeddingBag(6, 3, mode=mode)
    rows = bag(torch.tensor([[0, 2, 1], [5, 5, 3]]))
    rows.sum().backward()
    print(bag, rows, bag.weight.grad, bag(torch.tensor([1, 2, 4, 0]), torch.tensor([0, 0, 3])))
weights = torch.rand(4, requires_grad=True)
table = torch.randn(6, 3)
summed = F.embedding_bag(
    torch.tensor([0, 1, 2, 2]), table, torch.tensor([0, 2]), mode="sum", per_sample_weights=weights
)
summed.pow(2).sum().backward()
print(summed, weights.grad)
print(F.embedding_bag(torch.tensor([[0, 1], [2, 0]]), table, padding_idx=0))
print(
    nn.EmbeddingBag.from_pretrained(table, mode="sum")(torch.tensor([[1, 2]])),
    nn.EmbeddingBag(4, 2, padding_idx=1, include_last_offset=True),
)
