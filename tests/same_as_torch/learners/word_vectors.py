import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

torch.manual_seed(1)
test_sentence = """
when forty winters shall besiege thy brow and dig deep trenches in thy beauty's field thy
youth's proud livery so gazed on now will be a tattered weed of small worth held
""".split()
ngrams = [
    ([test_sentence[i - j - 1] for j in range(2)], test_sentence[i])
    for i in range(2, len(test_sentence))
]
vocab = sorted(set(test_sentence))
word_to_ix = {word: i for i, word in enumerate(vocab)}


class NGramLanguageModeler(nn.Module):
    def __init__(self, vocab_size, embedding_dim, context_size):
        super(NGramLanguageModeler, self).__init__()
        self.embeddings = nn.Embedding(vocab_size, embedding_dim)
        self.linear1 = nn.Linear(context_size * embedding_dim, 16)
        self.linear2 = nn.Linear(16, vocab_size)

    def forward(self, inputs):
        embeds = self.embeddings(inputs).view((1, -1))
        return F.log_softmax(self.linear2(F.relu(self.linear1(embeds))), dim=1)


losses, loss_function = [], nn.NLLLoss()
model = NGramLanguageModeler(len(vocab), 6, 2)
optimizer = optim.SGD(model.parameters(), lr=0.05)
for epoch in range(3):
    total_loss = 0
    for context, target in ngrams:
        context_idxs = torch.tensor([word_to_ix[w] for w in context], dtype=torch.long)
        model.zero_grad()
        log_probs = model(context_idxs)
        loss = loss_function(log_probs, torch.tensor([word_to_ix[target]], dtype=torch.long))
        loss.backward()
        optimizer.step()
        total_loss += loss.item()
    losses.append(total_loss)
print([f"{v:.3f}" for v in losses])
print(model.embeddings.weight[word_to_ix["thy"]])


class CBOW(nn.Module):
    def __init__(self, vocab_size, dim):
        super().__init__()
        self.emb = nn.EmbeddingBag(vocab_size, dim, mode="mean")
        self.out = nn.Linear(dim, vocab_size, bias=False)
        self.out.weight = self.emb.weight

    def forward(self, ids, offsets):
        return self.out(self.emb(ids, offsets))


pairs = [([i - 2, i - 1, i + 1, i + 2], i) for i in range(2, len(test_sentence) - 2)]
ids = torch.tensor([word_to_ix[test_sentence[j]] for c, _ in pairs for j in c])
offsets = torch.arange(0, len(ids), 4)
y = torch.tensor([word_to_ix[test_sentence[i]] for _, i in pairs])
cbow = CBOW(len(vocab), 5)
opt = optim.Adagrad(cbow.parameters(), lr=0.5)
for epoch in range(4):
    opt.zero_grad()
    loss = F.cross_entropy(cbow(ids, offsets), y)
    loss.backward()
    opt.step()
    print(epoch, f"{loss:.4f}")
vectors = F.normalize(cbow.emb.weight.detach(), dim=1)
similar = (vectors @ vectors[word_to_ix["thy"]]).topk(4)
print([vocab[i] for i in similar.indices], similar.values)


def skipgram(center, contexts_and_negatives, embed_v, embed_u):
    v = embed_v(center)
    u = embed_u(contexts_and_negatives)
    return torch.bmm(v, u.permute(0, 2, 1))


class SigmoidBCELoss(nn.Module):
    def forward(self, inputs, target, mask=None):
        out = nn.functional.binary_cross_entropy_with_logits(
            inputs, target, weight=mask, reduction="none"
        )
        return out.mean(dim=1)


embed = nn.Embedding(num_embeddings=20, embedding_dim=4, padding_idx=0)
print(
    f"Parameter embedding_weight ({embed.weight.shape}, dtype={embed.weight.dtype})",
    embed(torch.tensor([[1, 2, 3], [0, 5, 6]]))[1, 0],
)
print(
    skipgram(
        torch.ones((2, 1), dtype=torch.long), torch.ones((2, 4), dtype=torch.long), embed, embed
    ).shape
)
pred = torch.tensor([[1.1, -2.2, 3.3, -4.4]] * 2)
label = torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
mask = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]])
print(SigmoidBCELoss()(pred, label, mask) * mask.shape[1] / mask.sum(axis=1))
pretrained = nn.Embedding.from_pretrained(torch.eye(3), freeze=True)
print(pretrained.weight.requires_grad, pretrained(torch.tensor([2, 0])))
tag_to_ix = {"DET": 0, "NN": 1, "V": 2}
lstm, emb, hidden2tag = nn.LSTM(4, 5), nn.Embedding(9, 4), nn.Linear(5, 3)
params = [*lstm.parameters(), *emb.parameters(), *hidden2tag.parameters()]
opt = optim.SGD(params, lr=0.5, momentum=0.5, dampening=0.1)
sent, tags = torch.tensor([0, 1, 2, 3, 4]), torch.tensor([0, 1, 2, 0, 1])
for epoch in range(5):
    opt.zero_grad()
    lstm_out, _ = lstm(emb(sent).view(len(sent), 1, -1))
    tag_scores = F.log_softmax(hidden2tag(lstm_out.view(len(sent), -1)), dim=1)
    loss = F.nll_loss(tag_scores, tags)
    loss.backward()
    opt.step()
print(f"{loss:.4f}", tag_scores.argmax(1), tag_scores.exp()[0])
del lstm_out
