"""Words to words with masks: a loss that ignores padding, clipping by hand, and BLEU."""

import collections
import math

import torch
from torch import nn

torch.manual_seed(3)


def sequence_mask(X, valid_len, value=0):
    maxlen = X.size(1)
    mask = (
        torch.arange((maxlen), dtype=torch.float32, device=X.device)[None, :] < valid_len[:, None]
    )
    X[~mask] = value
    return X


X = torch.tensor([[1, 2, 3], [4, 5, 6]])
print(sequence_mask(X, torch.tensor([1, 2])))
print(sequence_mask(torch.ones(2, 3, 4), torch.tensor([1, 2]), value=-1)[0])


class MaskedSoftmaxCELoss(nn.CrossEntropyLoss):
    def forward(self, pred, label, valid_len):
        weights = torch.ones_like(label)
        weights = sequence_mask(weights, valid_len)
        self.reduction = "none"
        unweighted_loss = super(MaskedSoftmaxCELoss, self).forward(pred.permute(0, 2, 1), label)
        return (unweighted_loss * weights).mean(dim=1)


print(
    MaskedSoftmaxCELoss()(
        torch.ones(3, 4, 10), torch.ones((3, 4), dtype=torch.long), torch.tensor([4, 2, 0])
    )
)


class Encoder(nn.Module):
    def __init__(self, vocab, embed, hid, layers, dropout=0.0, **kwargs):
        super(Encoder, self).__init__(**kwargs)
        self.embedding = nn.Embedding(vocab, embed)
        self.rnn = nn.GRU(embed, hid, layers, dropout=dropout)

    def forward(self, X, *args):
        return self.rnn(self.embedding(X).permute(1, 0, 2))


class Decoder(nn.Module):
    def __init__(self, vocab, embed, hid, layers, dropout=0.0):
        super().__init__()
        self.embedding = nn.Embedding(vocab, embed)
        self.rnn = nn.GRU(embed + hid, hid, layers, dropout=dropout)
        self.dense = nn.Linear(hid, vocab)

    def init_state(self, enc_outputs, *args):
        return enc_outputs[1]

    def forward(self, X, state):
        X = self.embedding(X).permute(1, 0, 2)
        context = state[-1].repeat(X.shape[0], 1, 1)
        output, state = self.rnn(torch.cat((X, context), 2), state)
        return self.dense(output).permute(1, 0, 2), state


class EncoderDecoder(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def forward(self, enc_X, dec_X, *args):
        return self.decoder(dec_X, self.decoder.init_state(self.encoder(enc_X, *args), *args))


enc = Encoder(10, 8, 16, 2)
enc.eval()
out, state = enc(torch.zeros((4, 7), dtype=torch.long))
print(out.shape, state.shape)


def xavier_init_weights(m):
    if type(m) == nn.Linear:
        nn.init.xavier_uniform_(m.weight)
    if type(m) == nn.GRU:
        for param in m._flat_weights_names:
            if "weight" in param:
                nn.init.xavier_uniform_(m._parameters[param])


def grad_clipping(net, theta):
    params = (
        [p for p in net.parameters() if p.requires_grad]
        if isinstance(net, nn.Module)
        else net.params
    )
    norm = torch.sqrt(sum(torch.sum((p.grad**2)) for p in params))
    if norm > theta:
        for param in params:
            param.grad[:] *= theta / norm
    return norm


class Vocab:
    def __init__(self, tokens, reserved):
        counter = collections.Counter(tokens)
        self.idx_to_token = (
            ["<unk>"]
            + reserved
            + [t for t, _ in sorted(counter.items(), key=lambda x: (-x[1], x[0]))]
        )
        self.token_to_idx = {t: i for i, t in enumerate(self.idx_to_token)}

    def __len__(self):
        return len(self.idx_to_token)

    def __getitem__(self, tokens):
        if not isinstance(tokens, (list, tuple)):
            return self.token_to_idx.get(tokens, 0)
        return [self[t] for t in tokens]


lines = [
    ("go .", "va !"),
    ("i lost .", "j'ai perdu ."),
    ("he's calm .", "il est calme ."),
    ("i'm home .", "je suis chez moi ."),
]
src = [a.split() for a, _ in lines]
tgt = [b.split() for _, b in lines]
R = ["<pad>", "<bos>", "<eos>"]
sv, tv = Vocab([t for l in src for t in l], R), Vocab([t for l in tgt for t in l], R)


def build(lines, vocab, steps):
    arr = torch.tensor(
        [(vocab[l] + [vocab["<eos>"]] + [vocab["<pad>"]] * steps)[:steps] for l in lines]
    )
    return arr, (arr != vocab["<pad>"]).type(torch.int32).sum(1)


sx, sl = build(src, sv, 6)
tx, tl = build(tgt, tv, 6)
print(sx, sl, tl)
net = EncoderDecoder(Encoder(len(sv), 8, 16, 2, 0.1), Decoder(len(tv), 8, 16, 2, 0.1))
net.apply(xavier_init_weights)
net.to(torch.device("cpu"))
opt = torch.optim.Adam(net.parameters(), lr=0.02)
lossf = MaskedSoftmaxCELoss()
net.train()
for epoch in range(12):
    opt.zero_grad()
    bos = torch.tensor([tv["<bos>"]] * tx.shape[0]).reshape(-1, 1)
    dec_input = torch.cat([bos, tx[:, :-1]], 1)
    Y_hat, _ = net(sx, dec_input, sl)
    l = lossf(Y_hat, tx, tl)
    l.sum().backward()
    norm = grad_clipping(net, 1)
    num_tokens = tl.sum()
    opt.step()
    if epoch % 4 == 3:
        with torch.no_grad():
            print(epoch, f"{(l.sum() / num_tokens).item():.3f}", norm > 1)


def predict(sentence):
    net.eval()
    toks = sv[sentence.split()] + [sv["<eos>"]]
    X = torch.unsqueeze(torch.tensor((toks + [1] * 6)[:6], dtype=torch.long), dim=0)
    state = net.decoder.init_state(net.encoder(X, None), None)
    dec_X = torch.unsqueeze(torch.tensor([tv["<bos>"]], dtype=torch.long), dim=0)
    res = []
    for _ in range(6):
        Y, state = net.decoder(dec_X, state)
        dec_X = Y.argmax(dim=2)
        pred = dec_X.squeeze(dim=0).type(torch.int32).item()
        if pred == tv["<eos>"]:
            break
        res.append(pred)
    return " ".join(tv.idx_to_token[i] for i in res)


def bleu(pred, label, k):
    p, l = pred.split(" "), label.split(" ")
    score = math.exp(min(0, 1 - len(l) / len(p)))
    for n in range(1, min(k, len(p)) + 1):
        m, subs = 0, collections.defaultdict(int)
        for i in range(len(l) - n + 1):
            subs[" ".join(l[i : i + n])] += 1
        for i in range(len(p) - n + 1):
            if subs[" ".join(p[i : i + n])] > 0:
                m += 1
                subs[" ".join(p[i : i + n])] -= 1
        score *= math.pow(m / (len(p) - n + 1), math.pow(0.5, n))
    return score


for a, b in lines:
    t = predict(a)
    print(f"{a} => {t}, bleu {bleu(t, b, k=2):.3f}")
