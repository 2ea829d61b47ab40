"""An RNN that tells from which language a name comes, and one that writes names."""

import random
import string
import unicodedata

import torch
import torch.nn as nn

allowed_characters = string.ascii_letters + " .,;'" + "_"
n_letters = len(allowed_characters)


def unicodeToAscii(s):
    return "".join(
        (
            c
            for c in unicodedata.normalize("NFD", s)
            if unicodedata.category(c) != "Mn" and c in allowed_characters
        )
    )


print(f"converting 'Ślusàrski' to {unicodeToAscii('Ślusàrski')}")


def letterToIndex(letter):
    return (
        allowed_characters.find(letter)
        if letter in allowed_characters
        else allowed_characters.find("_")
    )


def lineToTensor(line):
    tensor = torch.zeros(len(line), 1, n_letters)
    for li, letter in enumerate(line):
        tensor[li][0][letterToIndex(letter)] = 1
    return tensor


print(lineToTensor("Ahn").size(), lineToTensor("a").nonzero())
data = {
    "Polish": ["Adamczak", "Bosko", "Gorski", "Wojcik"],
    "Italian": ["Abate", "Rossi", "Bellini", "Greco"],
    "Korean": ["Ahn", "Cho", "Han", "Kim"],
}
all_categories = list(data)


class CharRNN(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super(CharRNN, self).__init__()
        self.rnn = nn.RNN(input_size, hidden_size)
        self.h2o = nn.Linear(hidden_size, output_size)
        self.softmax = nn.LogSoftmax(dim=1)

    def forward(self, line_tensor):
        rnn_out, hidden = self.rnn(line_tensor)
        output = self.h2o(hidden[0])
        output = self.softmax(output)
        return output


torch.manual_seed(5)
random.seed(1)
rnn = CharRNN(n_letters, 16, 3)
print(rnn)


def label_from_output(output, output_labels):
    top_n, top_i = output.topk(1)
    label_i = top_i[0].item()
    return (output_labels[label_i], label_i)


print(label_from_output(rnn(lineToTensor("Albert")), all_categories))
pairs = [
    (torch.tensor([i], dtype=torch.long), lineToTensor(n))
    for i, c in enumerate(all_categories)
    for n in data[c]
]
optimizer = torch.optim.SGD(rnn.parameters(), lr=0.15)
criterion = nn.NLLLoss()
for it in range(1, 4):
    rnn.zero_grad()
    random.shuffle(pairs)
    for b in range(0, len(pairs), 4):
        batch_loss = 0
        for label, text in pairs[b : b + 4]:
            output = rnn.forward(text)
            loss = criterion(output, label)
            batch_loss += loss
        batch_loss.backward()
        nn.utils.clip_grad_norm_(rnn.parameters(), 3)
        optimizer.step()
        optimizer.zero_grad()
    print(f"{it}: {batch_loss.item() / 4:.4f}")
confusion = torch.zeros(3, 3)
rnn.eval()
with torch.no_grad():
    for label, text in pairs:
        g, gi = label_from_output(rnn(text), all_categories)
        confusion[label.item()][gi] += 1
for i in range(3):
    denom = confusion[i].sum()
    if denom > 0:
        confusion[i] = confusion[i] / denom
print(confusion)


class RNN(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super(RNN, self).__init__()
        self.hidden_size = hidden_size
        self.i2h = nn.Linear(3 + input_size + hidden_size, hidden_size)
        self.i2o = nn.Linear(3 + input_size + hidden_size, output_size)
        self.o2o = nn.Linear(hidden_size + output_size, output_size)
        self.dropout = nn.Dropout(0.1)
        self.softmax = nn.LogSoftmax(dim=1)

    def forward(self, category, input, hidden):
        input_combined = torch.cat((category, input, hidden), 1)
        hidden = self.i2h(input_combined)
        output = self.i2o(input_combined)
        output_combined = torch.cat((hidden, output), 1)
        output = self.o2o(output_combined)
        output = self.dropout(output)
        return (self.softmax(output), hidden)

    def initHidden(self):
        return torch.zeros(1, self.hidden_size)


def targetTensor(line):
    letter_indexes = [allowed_characters.find(line[li]) for li in range(1, len(line))]
    letter_indexes.append(n_letters - 1)
    return torch.LongTensor(letter_indexes)


rnn = RNN(n_letters, 12, n_letters)
for it in range(6):
    cat = random.randint(0, 2)
    line = random.choice(data[all_categories[cat]])
    c = torch.zeros(1, 3)
    c[0][cat] = 1
    inp, tgt = (lineToTensor(line), targetTensor(line))
    tgt.unsqueeze_(-1)
    hidden = rnn.initHidden()
    rnn.zero_grad()
    loss = torch.Tensor([0])
    for i in range(inp.size(0)):
        output, hidden = rnn(c, inp[i], hidden)
        l = criterion(output, tgt[i])
        loss += l
    loss.backward()
    for p in rnn.parameters():
        p.data.add_(p.grad.data, alpha=-0.0005)
    print("%d %.4f" % (it, loss.item() / inp.size(0)))
