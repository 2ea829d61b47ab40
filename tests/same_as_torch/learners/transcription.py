import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

torch.manual_seed(0)
lengths = torch.tensor([4, 2, 3])
x = torch.randn(3, 4, 5)
rnn, head = nn.GRU(5, 6, batch_first=True, bidirectional=True), nn.Linear(12, 4)
packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
out, h = rnn(packed)
out, out_lengths = pad_packed_sequence(out, batch_first=True)
print(out.shape, out_lengths, h.shape, packed.batch_sizes)
ctc = nn.CTCLoss(blank=0, zero_infinity=True)
opt = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.5)
targets, target_lengths = torch.tensor([1, 2, 3, 1, 1]), torch.tensor([2, 1, 2])
for step in range(5):
    out, _ = pad_packed_sequence(rnn(packed)[0])
    log_probs = head(out).log_softmax(2)
    loss = ctc(log_probs, targets, lengths, target_lengths)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, f"{loss.item():.4f}")
print(
    log_probs.argmax(2).T, F.ctc_loss(log_probs, targets, lengths, target_lengths, reduction="none")
)
print(sum(p.grad.norm() ** 2 for p in rnn.parameters()).sqrt())
del packed, h, out
