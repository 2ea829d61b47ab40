"""Names told apart by a recurrent network, sentences turned round by one with attention."""

from __future__ import division, print_function, unicode_literals

import random
import string
import unicodedata

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

torch.manual_seed(5)
random.seed(5)
allowed = string.ascii_letters + " .,;'" + "_"
n_letters = len(allowed)


def unicodeToAscii(s):
    return "".join(
        c
        for c in unicodedata.normalize("NFD", s)
        if unicodedata.category(c) != "Mn" and c in allowed
    )


print(unicodeToAscii("Ślusàrski"))


def letterToIndex(l):
    return allowed.find("_") if l not in allowed else allowed.find(l)


def lineToTensor(line):
    tensor = torch.zeros(len(line), 1, n_letters)
    for li, letter in enumerate(line):
        tensor[li][0][letterToIndex(letter)] = 1
    return tensor


print(lineToTensor("Ahn").size())
names = {
    "it": ["Rossi", "Bianchi", "Russo", "Ferrari"],
    "de": ["Schmidt", "Schneider", "Fischer", "Weber"],
    "jp": ["Sato", "Suzuki", "Tanaka", "Ito"],
}
labels = sorted(names)


class NamesDataset(torch.utils.data.Dataset):
    def __init__(self):
        self.data, self.data_tensors, self.labels, self.labels_tensors = [], [], [], []
        for l in labels:
            for n in names[l]:
                self.data.append(n)
                self.data_tensors.append(lineToTensor(n))
                self.labels.append(l)
        self.labels_uniq = list(sorted(set(self.labels)))
        for l in self.labels:
            self.labels_tensors.append(torch.tensor([self.labels_uniq.index(l)], dtype=torch.long))

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return self.labels_tensors[i], self.data_tensors[i], self.labels[i], self.data[i]


alldata = NamesDataset()
train_set, test_set = torch.utils.data.random_split(
    alldata, [0.85, 0.15], generator=torch.Generator(device="cpu").manual_seed(2024)
)
print(
    f"train examples = {len(train_set)}, validation examples = {len(test_set)}", train_set.indices
)


class CharRNN(nn.Module):
    def __init__(self, i, h, o):
        super(CharRNN, self).__init__()
        self.rnn = nn.RNN(i, h)
        self.h2o = nn.Linear(h, o)
        self.softmax = nn.LogSoftmax(dim=1)

    def forward(self, line):
        out, hidden = self.rnn(line)
        return self.softmax(self.h2o(hidden[0]))


rnn = CharRNN(n_letters, 16, len(alldata.labels_uniq))
print(rnn)


def label_from_output(output, ls):
    top_n, top_i = output.topk(1)
    return ls[top_i[0].item()], top_i[0].item()


print(label_from_output(rnn(lineToTensor("Albert")), alldata.labels_uniq))
opt = torch.optim.SGD(rnn.parameters(), lr=0.15)
crit = nn.NLLLoss()
losses = []
for epoch in range(2):
    batches = list(range(len(train_set)))
    random.shuffle(batches)
    batches = [batches[i::3] for i in range(3)]
    current = 0
    for batch in batches:
        batch_loss = 0
        for i in batch:
            (lt, tt, l, t) = train_set[i]
            batch_loss += crit(rnn.forward(tt), lt)
        batch_loss.backward()
        nn.utils.clip_grad_norm_(rnn.parameters(), 3)
        opt.step()
        opt.zero_grad()
        current += batch_loss.item() / len(batch)
    losses.append(current / len(batches))
    print(f"{epoch}: average batch loss = {losses[-1]:.4f}")
confusion = torch.zeros(3, 3)
rnn.eval()
with torch.no_grad():
    for i in range(len(test_set)):
        lt, tt, l, t = test_set[i]
        g, gi = label_from_output(rnn(tt), labels)
        confusion[labels.index(l)][gi] += 1
for i in range(3):
    denom = confusion[i].sum()
    if denom > 0:
        confusion[i] = confusion[i] / denom
print(confusion)
# seq2seq with attention
SOS, EOS, MAX = 0, 1, 6


class EncoderRNN(nn.Module):
    def __init__(self, n, h, dropout_p=0.1):
        super().__init__()
        self.hidden_size = h
        self.embedding = nn.Embedding(n, h)
        self.gru = nn.GRU(h, h, batch_first=True)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, input):
        return self.gru(self.dropout(self.embedding(input)))


class BahdanauAttention(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.Wa, self.Ua, self.Va = nn.Linear(h, h), nn.Linear(h, h), nn.Linear(h, 1, bias=False)

    def forward(self, query, keys):
        scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys))).squeeze(2).unsqueeze(1)
        weights = F.softmax(scores, dim=-1)
        return torch.bmm(weights, keys), weights


class AttnDecoderRNN(nn.Module):
    def __init__(self, h, n, p=0.1):
        super().__init__()
        self.embedding = nn.Embedding(n, h)
        self.attention = BahdanauAttention(h)
        self.gru = nn.GRU(2 * h, h, batch_first=True)
        self.out = nn.Linear(h, n)
        self.dropout = nn.Dropout(p)

    def forward(self, eo, eh, target=None):
        bs = eo.size(0)
        di = torch.empty(bs, 1, dtype=torch.long, device=eo.device).fill_(SOS)
        dh = eh
        outs, atts = [], []
        for i in range(MAX):
            o, dh, a = self.forward_step(di, dh, eo)
            outs.append(o)
            atts.append(a)
            if target is not None:
                di = target[:, i].unsqueeze(1)
            else:
                _, topi = o.topk(1)
                di = topi.squeeze(-1).detach()
        return F.log_softmax(torch.cat(outs, dim=1), dim=-1), dh, torch.cat(atts, dim=1)

    def forward_step(self, input, hidden, eo):
        emb = self.dropout(self.embedding(input))
        ctx, w = self.attention(hidden.permute(1, 0, 2), eo)
        o, h = self.gru(torch.cat((emb, ctx), dim=2), hidden)
        return self.out(o), h, w


ids = np.zeros((20, MAX), dtype=np.int32)
rs = np.random.RandomState(0)
for k in range(20):
    ids[k, :4] = rs.randint(2, 9, 4)
    ids[k, 4] = EOS
ds = TensorDataset(torch.LongTensor(ids), torch.LongTensor(ids[:, ::-1].copy()))
dl = DataLoader(ds, sampler=RandomSampler(ds), batch_size=5)
enc, dec = EncoderRNN(9, 12), AttnDecoderRNN(12, 9)
eo_, do_ = optim.Adam(enc.parameters(), lr=0.01), optim.Adam(dec.parameters(), lr=0.01)
crit = nn.NLLLoss()
for ep in range(3):
    tot = 0
    for it, tt in dl:
        eo_.zero_grad()
        do_.zero_grad()
        e, h = enc(it)
        d, _, _ = dec(e, h, tt)
        loss = crit(d.view(-1, d.size(-1)), tt.view(-1))
        loss.backward()
        eo_.step()
        do_.step()
        tot += loss.item()
    print("%s (%d %d%%) %.4f" % ("time", ep, ep / 3 * 100, tot / len(dl)))
with torch.no_grad():
    e, h = enc(ds[0][0].unsqueeze(0))
    d, _, att = dec(e, h)
    _, topi = d.topk(1)
    print(topi.squeeze(), att.shape, att[0, 0])


# chatbot masking
def maskNLL(inp, target, mask):
    nTotal = mask.sum()
    ce = -torch.log(torch.gather(inp, 1, target.view(-1, 1)).squeeze(1))
    loss = ce.masked_select(mask).mean()
    return loss, nTotal.item()


print(
    maskNLL(
        F.softmax(torch.randn(3, 5), 1),
        torch.tensor([1, 0, 2]),
        torch.BoolTensor([True, False, True]),
    )
)
seqs = [torch.tensor([3, 1, 2]), torch.tensor([4]), torch.tensor([5, 6])]
padded = pad_sequence(seqs, batch_first=True, padding_value=-1)
print(padded)
lens = torch.tensor([3, 1, 2])
pk = pack_padded_sequence(
    F.one_hot(padded.clamp(min=0), 7).float(), lens, batch_first=True, enforce_sorted=False
)
print(pk.data.shape, pk.batch_sizes, pk.sorted_indices)
gru = nn.GRU(7, 4, 2, bidirectional=True, dropout=0.2, batch_first=True)
o, h = gru(pk)
o, l = pad_packed_sequence(o, batch_first=True, total_length=4)
print(o.shape, l, h.shape, o[1, :, 0])
# tagger
lstm = nn.LSTM(3, 3)
inputs = [torch.randn(1, 3) for _ in range(5)]
hidden = (torch.randn(1, 1, 3), torch.randn(1, 1, 3))
for i in inputs:
    out, hidden = lstm(i.view(1, 1, -1), hidden)
out, hidden = lstm(torch.cat(inputs).view(len(inputs), 1, -1), hidden)
out = out.detach()
print(out)
print(hidden)
