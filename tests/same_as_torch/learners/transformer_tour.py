"""nn.Transformer and MultiheadAttention with all kinds of masks, and a language model of them."""

import math
import warnings

import torch
from torch import Tensor, nn
from torch.nn import Transformer, TransformerEncoder, TransformerEncoderLayer

warnings.simplefilter("ignore")
torch.manual_seed(11)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, dropout: float = 0.1, max_len: int = 50):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2] = torch.sin(position * div_term)
        pe[:, 0, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x: Tensor) -> Tensor:
        return self.dropout(x + self.pe[: x.size(0)])


class TransformerModel(nn.Module):
    def __init__(self, ntoken, d_model, nhead, d_hid, nlayers, dropout=0.2):
        super().__init__()
        self.model_type = "Transformer"
        self.pos_encoder = PositionalEncoding(d_model, dropout)
        self.transformer_encoder = TransformerEncoder(
            TransformerEncoderLayer(d_model, nhead, d_hid, dropout), nlayers
        )
        self.embedding = nn.Embedding(ntoken, d_model)
        self.d_model = d_model
        self.linear = nn.Linear(d_model, ntoken)
        self.embedding.weight.data.uniform_(-0.1, 0.1)

    def forward(self, src, src_mask=None):
        src = self.pos_encoder(self.embedding(src) * math.sqrt(self.d_model))
        if src_mask is None:
            src_mask = nn.Transformer.generate_square_subsequent_mask(len(src))
        return self.linear(self.transformer_encoder(src, src_mask))


data = torch.randint(0, 13, (60,))
batches = data.view(4, 15).t().contiguous()
model = TransformerModel(13, 8, 2, 10, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1.0, gamma=0.95)
for i in range(0, 14, 5):
    seq_len = min(5, len(batches) - 1 - i)
    output = model(batches[i : i + seq_len])
    loss = nn.functional.cross_entropy(
        output.view(-1, 13), batches[i + 1 : i + 1 + seq_len].reshape(-1)
    )
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    scheduler.step()
    print(f"{loss.item():.4f} ppl {math.exp(loss.item()):.3f}")


class Seq2SeqTransformer(nn.Module):
    def __init__(self, vocab=11, size=8):
        super().__init__()
        self.transformer = Transformer(size, 2, 1, 1, 12, dropout=0.1, batch_first=True)
        self.embedding = nn.Embedding(vocab, size)
        self.generator = nn.Linear(size, vocab)

    def forward(self, src, tgt, tgt_mask, src_padding_mask, tgt_padding_mask):
        outs = self.transformer(
            self.embedding(src),
            self.embedding(tgt),
            None,
            tgt_mask,
            None,
            src_padding_mask,
            tgt_padding_mask,
            src_padding_mask,
        )
        return self.generator(outs)


translate = Seq2SeqTransformer()
for p in translate.parameters():
    if p.dim() > 1:
        nn.init.xavier_uniform_(p)
src, tgt = torch.randint(1, 11, (3, 5)), torch.randint(1, 11, (3, 4))
src[0, 3:] = 0
tgt_mask = (torch.triu(torch.ones((3, 3))) == 1).transpose(0, 1)
tgt_mask = (
    tgt_mask.float().masked_fill(tgt_mask == 0, float("-inf")).masked_fill(tgt_mask == 1, 0.0)
)
adam = torch.optim.SGD(translate.parameters(), lr=0.1)
for step in range(4):
    logits = translate(
        src,
        tgt[:, :-1],
        tgt_mask,
        src == 0,
        (tgt == 0)[:, :-1].float().masked_fill(tgt[:, :-1] == 0, float("-inf")),
    )
    loss = nn.functional.cross_entropy(
        logits.flatten(0, 1), tgt[:, 1:].flatten(), ignore_index=0, label_smoothing=0.1
    )
    adam.zero_grad()
    loss.backward()
    adam.step()
    print(step, f"{loss.item():.4f}")
mha = nn.MultiheadAttention(8, 2, batch_first=True)
q, k = torch.randn(2, 3, 8), torch.randn(2, 4, 8)
out, w = mha(q, k, k, key_padding_mask=torch.tensor([[0, 0, 0, 1], [0, 0, 1, 1]], dtype=torch.bool))
print(out.shape, w)
out, w = mha(
    q, q, q, attn_mask=torch.triu(torch.ones(3, 3, dtype=torch.bool), 1), average_attn_weights=False
)
print(w.shape, w[0, 0])
print(mha(q, q, q, need_weights=False)[1], mha)
other = nn.MultiheadAttention(8, 4, kdim=5, vdim=6, bias=False)
print(
    other(torch.randn(3, 1, 8), torch.randn(2, 1, 5), torch.randn(2, 1, 6))[1].shape,
    [n for n, _ in other.named_parameters()],
)
model.eval()
with torch.no_grad():
    print(model(batches[:2]).argmax(-1), translate.eval()(src, tgt, None, None, None).argmax(-1))
print(nn.TransformerEncoderLayer(8, 2, 4, activation="gelu", norm_first=True, batch_first=True))
