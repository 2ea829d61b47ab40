"""Sequence to sequence with attention: a GRU decoder step by step, and greedy words."""

import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

torch.manual_seed(2)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SOS, EOS, MAX_LENGTH = 0, 1, 5


class EncoderRNN(nn.Module):
    def __init__(self, input_size, hidden_size, dropout_p=0.1):
        super().__init__()
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, input):
        return self.gru(self.dropout(self.embedding(input)))


class BahdanauAttention(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.Wa = nn.Linear(hidden_size, hidden_size)
        self.Ua = nn.Linear(hidden_size, hidden_size)
        self.Va = nn.Linear(hidden_size, 1)

    def forward(self, query, keys):
        scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys))).squeeze(2).unsqueeze(1)
        weights = F.softmax(scores, dim=-1)
        return torch.bmm(weights, keys), weights


class AttnDecoderRNN(nn.Module):
    def __init__(self, hidden_size, output_size, dropout_p=0.1):
        super().__init__()
        self.embedding = nn.Embedding(output_size, hidden_size)
        self.attention = BahdanauAttention(hidden_size)
        self.gru = nn.GRU(2 * hidden_size, hidden_size, batch_first=True)
        self.out = nn.Linear(hidden_size, output_size)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, encoder_outputs, encoder_hidden, target_tensor=None):
        batch_size = encoder_outputs.size(0)
        decoder_input = torch.empty(batch_size, 1, dtype=torch.long, device=device).fill_(SOS)
        decoder_hidden, outputs, attentions = encoder_hidden, [], []
        for i in range(MAX_LENGTH):
            decoder_output, decoder_hidden, weights = self.forward_step(
                decoder_input, decoder_hidden, encoder_outputs
            )
            outputs.append(decoder_output)
            attentions.append(weights)
            if target_tensor is not None:
                decoder_input = target_tensor[:, i].unsqueeze(1)
            else:
                _, topi = decoder_output.topk(1)
                decoder_input = topi.squeeze(-1).detach()
        outputs = F.log_softmax(torch.cat(outputs, dim=1), dim=-1)
        return outputs, decoder_hidden, torch.cat(attentions, dim=1)

    def forward_step(self, input, hidden, encoder_outputs):
        embedded = self.dropout(self.embedding(input))
        query = hidden.permute(1, 0, 2)
        context, weights = self.attention(query, encoder_outputs)
        output, hidden = self.gru(torch.cat((embedded, context), dim=2), hidden)
        return self.out(output), hidden, weights


rng = np.random.default_rng(0)
input_ids = np.zeros((20, MAX_LENGTH), dtype=np.int32)
target_ids = np.zeros((20, MAX_LENGTH), dtype=np.int32)
for row in range(20):
    words = rng.integers(2, 9, rng.integers(2, 5))
    input_ids[row, : len(words)] = words
    input_ids[row, len(words)] = EOS
    target_ids[row, : len(words)] = words[::-1]
    target_ids[row, len(words)] = EOS
train_data = TensorDataset(
    torch.LongTensor(input_ids).to(device), torch.LongTensor(target_ids).to(device)
)
loader = DataLoader(train_data, sampler=RandomSampler(train_data), batch_size=8)
encoder, decoder = EncoderRNN(9, 12).to(device), AttnDecoderRNN(12, 9).to(device)
enc_opt, dec_opt = (
    optim.Adam(encoder.parameters(), lr=0.01),
    optim.Adam(decoder.parameters(), lr=0.01),
)
criterion = nn.NLLLoss()
start = time.time()
for epoch in range(1, 4):
    total_loss = 0
    for input_tensor, target_tensor in loader:
        enc_opt.zero_grad()
        dec_opt.zero_grad()
        encoder_outputs, encoder_hidden = encoder(input_tensor)
        decoder_outputs, _, _ = decoder(encoder_outputs, encoder_hidden, target_tensor)
        loss = criterion(decoder_outputs.view(-1, decoder_outputs.size(-1)), target_tensor.view(-1))
        loss.backward()
        enc_opt.step()
        dec_opt.step()
        total_loss += loss.item()
    print(f"{epoch}: {total_loss / len(loader):.4f}")
encoder.eval()
decoder.eval()
with torch.no_grad():
    for row in range(3):
        outs, hidden, attention = decoder(*encoder(train_data[row][0].unsqueeze(0)))
        _, topi = outs.topk(1)
        print(train_data[row][0].tolist(), topi.squeeze().tolist(), attention.shape)
