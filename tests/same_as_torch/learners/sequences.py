"""Recurrent networks from scratch and by layers, an encoder with a decoder, beam search."""

import collections
import math
import re

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(3)
text = "one day a small crab found a red shell on the sand and took it home to sleep in it "
text += "until the tide came"
tokens = list(re.sub("[^A-Za-z]+", " ", text).lower())
counter = collections.Counter(tokens)
vocab = ["<unk>"] + sorted(counter)
corpus = torch.tensor([vocab.index(t) for t in tokens])
X, Y = (torch.stack([corpus[i + o : i + o + 8] for i in range(0, 88, 8)]) for o in (0, 1))
print(len(vocab), X.shape, counter.most_common(2))


class RNNScratch(nn.Module):
    def __init__(self, num_inputs, num_hiddens, sigma=0.01):
        super().__init__()
        self.num_hiddens = num_hiddens
        self.W_xh = nn.Parameter(torch.randn(num_inputs, num_hiddens) * sigma)
        self.W_hh = nn.Parameter(torch.randn(num_hiddens, num_hiddens) * sigma)
        self.b_h = nn.Parameter(torch.zeros(num_hiddens))

    def forward(self, inputs, state=None):
        if state is None:
            state = torch.zeros((inputs.shape[1], self.num_hiddens), device=inputs.device)
        outputs = []
        for x in inputs:
            state = torch.tanh(
                torch.matmul(x, self.W_xh) + torch.matmul(state, self.W_hh) + self.b_h
            )
            outputs.append(state)
        return torch.stack(outputs), state


class LSTMScratch(nn.Module):
    def __init__(self, num_inputs, num_hiddens, sigma=0.01):
        super().__init__()
        init_weight = lambda *shape: nn.Parameter(torch.randn(*shape) * sigma)
        triple = lambda: (
            init_weight(num_inputs, num_hiddens),
            init_weight(num_hiddens, num_hiddens),
            nn.Parameter(torch.zeros(num_hiddens)),
        )
        self.W_xi, self.W_hi, self.b_i = triple()
        self.W_xf, self.W_hf, self.b_f = triple()
        self.W_xo, self.W_ho, self.b_o = triple()
        self.W_xc, self.W_hc, self.b_c = triple()
        self.num_hiddens = num_hiddens

    def forward(self, inputs, H_C=None):
        if H_C is None:
            H, C = (torch.zeros((inputs.shape[1], self.num_hiddens)) for _ in range(2))
        else:
            H, C = H_C
        outputs = []
        for x in inputs:
            I = torch.sigmoid(torch.matmul(x, self.W_xi) + torch.matmul(H, self.W_hi) + self.b_i)
            Fo = torch.sigmoid(torch.matmul(x, self.W_xf) + torch.matmul(H, self.W_hf) + self.b_f)
            O = torch.sigmoid(torch.matmul(x, self.W_xo) + torch.matmul(H, self.W_ho) + self.b_o)
            C = Fo * C + I * torch.tanh(
                torch.matmul(x, self.W_xc) + torch.matmul(H, self.W_hc) + self.b_c
            )
            H = O * torch.tanh(C)
            outputs.append(H)
        return torch.stack(outputs, 0), (H, C)


class LanguageModel(nn.Module):
    def __init__(self, rnn, num_hiddens):
        super().__init__()
        self.rnn = rnn
        self.linear = nn.LazyLinear(len(vocab))

    def forward(self, X, state=None):
        outputs, _ = self.rnn(F.one_hot(X.T, len(vocab)).type(torch.float32), state)
        return self.linear(outputs).swapaxes(0, 1)

    def predict(self, prefix, num_preds):
        state, outputs = None, [vocab.index(prefix[0])]
        for i in range(len(prefix) + num_preds - 1):
            x = torch.tensor([[outputs[-1]]])
            out, state = self.rnn(F.one_hot(x.T, len(vocab)).float(), state)
            if i < len(prefix) - 1:
                outputs.append(vocab.index(prefix[i + 1]))
            else:
                outputs.append(int(self.linear(out).argmax(axis=2).reshape(1)))
        return "".join(vocab[i] for i in outputs)


def clip_gradients(grad_clip_val, model):
    params = [p for p in model.parameters() if p.requires_grad]
    norm = torch.sqrt(sum(torch.sum((p.grad**2)) for p in params))
    if norm > grad_clip_val:
        for param in params:
            param.grad[:] *= grad_clip_val / norm


n = len(vocab)
models = {
    "rnn": RNNScratch(n, 8),
    "lstm": LSTMScratch(n, 8),
    "gru": nn.GRU(n, 8),
    "deep": nn.LSTM(n, 8, num_layers=2, dropout=0.1),
    "relu": nn.RNN(n, 8, nonlinearity="relu"),
    "both": nn.LSTM(n, 8, bidirectional=True),
}
for name, rnn in models.items():
    model = LanguageModel(rnn, 8)
    model(X)
    trainer = torch.optim.SGD(model.parameters(), lr=1)
    for epoch in range(3):
        output = model(X)
        l = F.cross_entropy(output.reshape((-1, output.shape[-1])), Y.reshape((-1,)))
        trainer.zero_grad()
        l.backward()
        with torch.no_grad():
            clip_gradients(1, model)
            trainer.step()
    model.eval()
    print(
        name,
        f"perplexity {torch.exp(l).item():.1f}",
        "-" if name == "both" else model.predict("it ", 5),
    )


class Seq2Seq(nn.Module):
    def __init__(self, size=10, hidden=8):
        super().__init__()
        self.e1, self.e2 = nn.Embedding(size, 6), nn.Embedding(size, 6)
        self.encoder, self.decoder = nn.GRU(6, hidden, 2), nn.GRU(6 + hidden, hidden, 2)
        self.dense = nn.Linear(hidden, size)

    def encode(self, src):
        return self.encoder(self.e1(src.t().type(torch.int64)))

    def decode(self, tgt, enc_output, state):
        embs = self.e2(tgt.t().type(torch.int32))
        context = enc_output[-1].repeat(embs.shape[0], 1, 1)
        out, state = self.decoder(torch.cat((embs, context), -1), state)
        return self.dense(out).swapaxes(0, 1), state

    def forward(self, src, tgt):
        enc_output, state = self.encode(src)
        return self.decode(tgt, enc_output, state)[0]


def init_seq2seq(module):
    if type(module) == nn.Linear:
        nn.init.xavier_uniform_(module.weight)
    if type(module) == nn.GRU:
        for param in module._flat_weights_names:
            if "weight" in param:
                nn.init.xavier_uniform_(module._parameters[param])


def beam_search(model, src, k, steps):
    enc_output, state = model.encode(src)
    beams = [([1], 0.0, state)]
    for _ in range(steps):
        grown = []
        for words, score, state in beams:
            logits, new = model.decode(torch.tensor([[words[-1]]]), enc_output, state)
            logprobs, ids = F.log_softmax(logits[0, -1], -1).topk(k)
            grown += [(words + [i.item()], score + p.item(), new) for p, i in zip(logprobs, ids)]
        beams = sorted(grown, key=lambda b: -b[1])[:k]
    return [(words, round(score / len(words) ** 0.75, 3)) for words, score, _ in beams]


model = Seq2Seq()
model.apply(init_seq2seq)
src, tgt, mask = torch.randint(2, 10, (6, 4)), torch.randint(1, 10, (6, 5)), torch.rand(6, 4) > 0.2
trainer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(4):
    Y_hat = model(src, tgt[:, :-1])
    l = F.cross_entropy(Y_hat.permute(0, 2, 1), tgt[:, 1:], reduction="none")
    l = (l * mask).sum() / mask.sum()
    trainer.zero_grad()
    l.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1)
    trainer.step()
    print(f"{l.item():.4f}")
with torch.no_grad():
    print(beam_search(model, src[:1], 2, 4))


def bleu(pred_seq, label_seq, k):
    pred_tokens, label_tokens = pred_seq.split(" "), label_seq.split(" ")
    score = math.exp(min(0, 1 - len(label_tokens) / len(pred_tokens)))
    for n in range(1, min(k, len(pred_tokens)) + 1):
        label_subs = collections.Counter(
            " ".join(label_tokens[i : i + n]) for i in range(len(label_tokens) - n + 1)
        )
        matches = 0
        for i in range(len(pred_tokens) - n + 1):
            part = " ".join(pred_tokens[i : i + n])
            if label_subs[part] > 0:
                matches, label_subs[part] = matches + 1, label_subs[part] - 1
        score *= math.pow(matches / (len(pred_tokens) - n + 1), math.pow(0.5, n))
    return score


print(f"{bleu('a b c d', 'a b d c', 2):.3f}")
