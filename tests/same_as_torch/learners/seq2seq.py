"""Sequence to sequence with GRU and additive attention, and a language model with an LSTM."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

torch.manual_seed(4)


class AdditiveAttention(nn.Module):
    def __init__(self, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.LazyLinear(num_hiddens, bias=False)
        self.W_q = nn.LazyLinear(num_hiddens, bias=False)
        self.w_v = nn.LazyLinear(1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values):
        features = torch.tanh(self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1))
        self.attention_weights = self.w_v(features).squeeze(-1).softmax(-1)
        return torch.bmm(self.dropout(self.attention_weights), values)


class Seq2Seq(nn.Module):
    def __init__(self, vocab=9, size=6, hidden=8):
        super().__init__()
        self.embedding = nn.Embedding(vocab, size, padding_idx=0)
        self.encoder = nn.GRU(size, hidden, num_layers=2, dropout=0.1)
        self.attention = AdditiveAttention(hidden, 0.1)
        self.decoder = nn.GRU(size + hidden, hidden, num_layers=2, dropout=0.1)
        self.dense = nn.LazyLinear(vocab)

    def forward(self, src, tgt):
        outputs, state = self.encoder(self.embedding(src).transpose(0, 1))
        steps = []
        for x in self.embedding(tgt).transpose(0, 1):
            query = state[-1].unsqueeze(1)
            context = self.attention(query, outputs.transpose(0, 1), outputs.transpose(0, 1))
            out, state = self.decoder(
                torch.cat((context, x.unsqueeze(1)), -1).transpose(0, 1), state
            )
            steps.append(self.dense(out.transpose(0, 1)))
        return torch.cat(steps, 1)


src = torch.randint(1, 9, (5, 6))
model = Seq2Seq()
model(src, src)
print(model)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
loss_fn = nn.CrossEntropyLoss(ignore_index=0)
for step in range(12):
    optimizer.zero_grad()
    loss = loss_fn(model(src, src).transpose(1, 2), src.flip(1))
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1)
    optimizer.step()
    if step % 4 == 0:
        print(step, f"{loss.item():.3f}")

words = [torch.tensor(list(map(ord, word))) - 96 for word in ("hello", "abc", "worlds")]
padded = pad_sequence(words, batch_first=True)
lengths = torch.tensor([len(word) for word in words])
embedding, lstm = (
    nn.Embedding(27, 5, padding_idx=0),
    nn.LSTM(5, 7, batch_first=True, bidirectional=True),
)
head = nn.Linear(14, 27)
parameters = [*embedding.parameters(), *lstm.parameters(), *head.parameters()]
optimizer = torch.optim.RMSprop(parameters, lr=0.01)
for step in range(10):
    packed = pack_padded_sequence(
        embedding(padded), lengths, batch_first=True, enforce_sorted=False
    )
    output, (h, c) = lstm(packed)
    output, sizes = pad_packed_sequence(output, batch_first=True)
    loss = nn.functional.cross_entropy(head(output).transpose(1, 2), padded, ignore_index=0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(sizes, f"{loss.item():.3f}", h.shape, c.shape)
output, h, c = output.detach(), h.detach(), c.detach()
del packed  # its nodes have names of their own in PyTorch
