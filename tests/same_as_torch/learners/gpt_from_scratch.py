"""A GPT of heads, blocks and sampling; a second one with tied weights and weight decay groups."""

import torch
import torch.nn as nn
from torch.nn import functional as F

batch_size, block_size, max_iters, eval_interval, learning_rate = 8, 16, 12, 4, 1e-3
device = "cuda" if torch.cuda.is_available() else "cpu"
eval_iters, n_embd, n_head, n_layer, dropout = 2, 32, 4, 2, 0.1
torch.manual_seed(1337)
text = "the quick brown fox jumps over the lazy dog. " * 20
chars = sorted(list(set(text)))
vocab_size = len(chars)
stoi = {ch: i for i, ch in enumerate(chars)}
itos = {i: ch for i, ch in enumerate(chars)}
encode = lambda s: [stoi[c] for c in s]
decode = lambda l: "".join([itos[i] for i in l])
data = torch.tensor(encode(text), dtype=torch.long)
n = int(0.9 * len(data))
train_data, val_data = data[:n], data[n:]
print(data.shape, data.dtype, data[:20])


def get_batch(split):
    data = train_data if split == "train" else val_data
    ix = torch.randint(len(data) - block_size, (batch_size,))
    x = torch.stack([data[i : i + block_size] for i in ix])
    y = torch.stack([data[i + 1 : i + block_size + 1] for i in ix])
    x, y = x.to(device), y.to(device)
    return x, y


@torch.no_grad()
def estimate_loss():
    out = {}
    model.eval()
    for split in ["train", "val"]:
        losses = torch.zeros(eval_iters)
        for k in range(eval_iters):
            X, Y = get_batch(split)
            logits, loss = model(X, Y)
            losses[k] = loss.item()
        out[split] = losses.mean()
    model.train()
    return out


class Head(nn.Module):
    def __init__(self, head_size):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        B, T, C = x.shape
        k, q = self.key(x), self.query(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        wei = F.softmax(wei, dim=-1)
        wei = self.dropout(wei)
        return wei @ self.value(x)


class MultiHeadAttention(nn.Module):
    def __init__(self, num_heads, head_size):
        super().__init__()
        self.heads = nn.ModuleList([Head(head_size) for _ in range(num_heads)])
        self.proj = nn.Linear(head_size * num_heads, n_embd)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.dropout(self.proj(torch.cat([h(x) for h in self.heads], dim=-1)))


class FeedFoward(nn.Module):
    def __init__(self, n_embd):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_embd, 4 * n_embd),
            nn.ReLU(),
            nn.Linear(4 * n_embd, n_embd),
            nn.Dropout(dropout),
        )

    def forward(self, x):
        return self.net(x)


class Block(nn.Module):
    def __init__(self, n_embd, n_head):
        super().__init__()
        self.sa = MultiHeadAttention(n_head, n_embd // n_head)
        self.ffwd = FeedFoward(n_embd)
        self.ln1, self.ln2 = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd)

    def forward(self, x):
        x = x + self.sa(self.ln1(x))
        return x + self.ffwd(self.ln2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.token_embedding_table = nn.Embedding(vocab_size, n_embd)
        self.position_embedding_table = nn.Embedding(block_size, n_embd)
        self.blocks = nn.Sequential(*[Block(n_embd, n_head=n_head) for _ in range(n_layer)])
        self.ln_f = nn.LayerNorm(n_embd)
        self.lm_head = nn.Linear(n_embd, vocab_size)
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, nn.Linear):
            torch.nn.init.normal_(module.weight, mean=0.0, std=0.02)
            if module.bias is not None:
                torch.nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            torch.nn.init.normal_(module.weight, mean=0.0, std=0.02)

    def forward(self, idx, targets=None):
        B, T = idx.shape
        x = self.token_embedding_table(idx) + self.position_embedding_table(
            torch.arange(T, device=device)
        )
        logits = self.lm_head(self.ln_f(self.blocks(x)))
        if targets is None:
            loss = None
        else:
            B, T, C = logits.shape
            loss = F.cross_entropy(logits.view(B * T, C), targets.view(B * T))
        return logits, loss

    @torch.no_grad()
    def generate(self, idx, max_new_tokens, temperature=1.0, top_k=None):
        for _ in range(max_new_tokens):
            idx_cond = idx[:, -block_size:]
            logits, loss = self(idx_cond)
            logits = logits[:, -1, :] / temperature
            if top_k is not None:
                v, _ = torch.topk(logits, min(top_k, logits.size(-1)))
                logits[logits < v[:, [-1]]] = -float("Inf")
            probs = F.softmax(logits, dim=-1)
            idx_next = torch.multinomial(probs, num_samples=1)
            idx = torch.cat((idx, idx_next), dim=1)
        return idx


model = GPT()
m = model.to(device)
print(sum(p.numel() for p in m.parameters()) / 1e6, "M parameters")
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)
for iter in range(max_iters):
    if iter % eval_interval == 0 or iter == max_iters - 1:
        losses = estimate_loss()
        print(f"step {iter}: train loss {losses['train']:.4f}, val loss {losses['val']:.4f}")
    xb, yb = get_batch("train")
    logits, loss = model(xb, yb)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
context = torch.zeros((1, 1), dtype=torch.long, device=device)
print(decode(m.generate(context, max_new_tokens=30)[0].tolist()))
print(decode(m.generate(context, 10, top_k=3)[0].tolist()))


# version 2: fused qkv, flash, weight decay groups, scheduler, clipping, accumulation
class CSA(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        assert d % h == 0
        self.c_attn = nn.Linear(d, 3 * d)
        self.c_proj = nn.Linear(d, d)
        self.c_proj.NANOGPT_SCALE_INIT = 1
        self.h = h
        self.flash = hasattr(torch.nn.functional, "scaled_dot_product_attention")

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(C, dim=2)
        k, q, v = [t.view(B, T, self.h, C // self.h).transpose(1, 2) for t in (k, q, v)]
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True) if self.flash else None
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


net = nn.ModuleDict(
    dict(
        wte=nn.Embedding(vocab_size, 16),
        wpe=nn.Embedding(block_size, 16),
        h=nn.ModuleList([CSA(16, 2) for _ in range(2)]),
        ln=nn.LayerNorm(16),
    )
)
head = nn.Linear(16, vocab_size, bias=False)
net.wte.weight = head.weight
print(net.wte.weight is head.weight, net)
decay = [p for n, p in net.named_parameters() if p.dim() >= 2]
nodecay = [p for n, p in net.named_parameters() if p.dim() < 2]
opt = torch.optim.AdamW(
    [{"params": decay, "weight_decay": 0.1}, {"params": nodecay, "weight_decay": 0.0}],
    lr=3e-3,
    betas=(0.9, 0.95),
    eps=1e-8,
)
print(f"{len(decay)} {sum(p.numel() for p in decay):,} {len(nodecay)}")
torch.set_float32_matmul_precision("high")
for step in range(4):
    opt.zero_grad()
    loss_accum = 0.0
    for micro in range(2):
        xb, yb = get_batch("train")
        with torch.autocast(device_type=device, enabled=False):
            x = net.wte(xb) + net.wpe(torch.arange(0, block_size, dtype=torch.long, device=device))
            for blk in net.h:
                x = x + blk(x)
            loss = F.cross_entropy(
                head(net.ln(x)).view(-1, vocab_size), yb.view(-1), ignore_index=-1
            )
        loss = loss / 2
        loss_accum += loss.detach()
        loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    for group in opt.param_groups:
        group["lr"] = 3e-3 * (step + 1) / 4
    opt.step()
    print(
        f"step {step:5d} | loss: {loss_accum.item():.6f} | norm: {norm:.4f} | "
        f"lr {opt.param_groups[0]['lr']:.4e}"
    )
tokens = torch.tensor(encode("the"), dtype=torch.long).unsqueeze(0).repeat(2, 1)
gen = torch.Generator(device=device)
gen.manual_seed(42)
while tokens.size(1) < 8:
    with torch.no_grad():
        x = net.wte(tokens) + net.wpe(torch.arange(tokens.size(1)))
        for blk in net.h:
            x = x + blk(x)
        probs = F.softmax(head(net.ln(x))[:, -1, :], dim=-1)
        tp, ti = torch.topk(probs, 5, dim=-1)
        ix = torch.multinomial(tp, 1, generator=gen)
        xcol = torch.gather(ti, -1, ix)
        tokens = torch.cat((tokens, xcol), dim=1)
for i in range(2):
    print(">", decode(tokens[i].tolist()))
