"""A small GPT, token by token: a transformer that learns to write names, one letter at a time.

Nothing is hidden in a layer made for it: attention is the few lines that compute it, and a loop
over the letters of a name takes the place of the mask. With ``import torch`` and ``from torch
import nn`` instead of the kit's two imports, the same program runs with PyTorch and prints the
same numbers.

``python -m autodiff_kit.lessons.programs.small_gpt`` trains it, and prints names that it makes up.

The architecture is the one of A. Radford et al., "Language models are unsupervised multitask
learners" (2019), with layer norm before each part and without dropout.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import autodiff_kit as torch
from autodiff_kit import nn

__all__ = ["GPT", "MLP", "Attention", "Block", "Letters", "loss_of", "names", "train", "write"]

FILE = Path(__file__).parents[1] / "data" / "names.txt"


def names() -> list[str]:
    """Return the names to learn from, in lower case."""
    return FILE.read_text(encoding="utf-8").split()


class Letters:
    """Which token stands for which letter; token 0 begins and ends each name.

    Examples
    --------
    >>> letters = Letters(["ada", "bob"])
    >>> letters.encode("ad"), letters.decode([1, 3])
    ([0, 1, 3, 0], 'ad')
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.alphabet = "." + "".join(sorted(set("".join(texts))))

    def __len__(self) -> int:
        return len(self.alphabet)

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a name, with token 0 before and after it."""
        return [self.alphabet.index(letter) for letter in f".{text}."]

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens."""
        return "".join(self.alphabet[token] for token in tokens)


class Attention(nn.Module):
    """Causal self-attention with several heads: each token looks at itself and those before it.

    ``softmax(query keys^T / sqrt(size)) values``, for each head: A. Vaswani et al., "Attention is
    all you need" (2017), equation 1.
    """

    def __init__(self, features: int, heads: int) -> None:
        super().__init__()
        self.shape = (heads, 1, features // heads)
        self.query = nn.Linear(features, features, bias=False)
        self.key = nn.Linear(features, features, bias=False)
        self.value = nn.Linear(features, features, bias=False)
        self.out = nn.Linear(features, features, bias=False)

    def forward(
        self, x: torch.Tensor, keys: list[torch.Tensor], values: list[torch.Tensor]
    ) -> torch.Tensor:
        """Return what the token of ``x``, of shape (features,), takes from the tokens so far.

        ``keys`` and ``values`` hold one tensor for each earlier token; this token's are appended.
        """
        query = self.query(x).view(self.shape)
        keys.append(self.key(x).view(self.shape))
        values.append(self.value(x).view(self.shape))
        scores = query @ torch.cat(keys, dim=1).transpose(1, 2)  # (heads, 1, tokens so far)
        weights = torch.softmax(scores / math.sqrt(self.shape[-1]), dim=-1)
        return self.out((weights @ torch.cat(values, dim=1)).flatten())


class MLP(nn.Module):
    """Two linear layers around a GELU, four times as wide inside."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.up = nn.Linear(features, 4 * features)
        self.down = nn.Linear(4 * features, features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return a tensor of the shape of ``x``."""
        return self.down(nn.functional.gelu(self.up(x)))


class Block(nn.Module):
    """Attention, then an MLP; each reads a normalized copy and is added to the stream past it."""

    def __init__(self, features: int, heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(features)
        self.attention = Attention(features, heads)
        self.norm2 = nn.LayerNorm(features)
        self.mlp = MLP(features)

    def forward(
        self, x: torch.Tensor, keys: list[torch.Tensor], values: list[torch.Tensor]
    ) -> torch.Tensor:
        """Return a tensor of the shape of ``x``; see `Attention.forward`."""
        x = x + self.attention(self.norm1(x), keys, values)
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    """Predict the next token of a text from all tokens so far.

    Parameters
    ----------
    tokens : int
        How many different tokens there are.
    context : int
        The longest text.
    features, heads, layers : int
        The length of the vector of a token, the heads that share it, and the number of blocks.
    """

    def __init__(
        self, tokens: int, context: int = 16, features: int = 16, heads: int = 4, layers: int = 1
    ) -> None:
        super().__init__()
        self.token = nn.Embedding(tokens, features)
        self.position = nn.Embedding(context, features)
        self.blocks = nn.ModuleList(Block(features, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(features)
        self.head = nn.Linear(features, tokens, bias=False)

    def memory(self) -> list[tuple[list[torch.Tensor], list[torch.Tensor]]]:
        """Return empty keys and values, one pair of lists for each block: a text begins."""
        return [([], []) for _ in self.blocks]

    def forward(
        self,
        token: torch.Tensor,
        position: torch.Tensor,
        memory: list[tuple[list[torch.Tensor], list[torch.Tensor]]],
    ) -> torch.Tensor:
        """Return one score (logit) for each possible next token, of shape (tokens,)."""
        x = self.token(token) + self.position(position)
        for block, (keys, values) in zip(self.blocks, memory, strict=True):
            x = block(x, keys, values)
        return self.head(self.norm(x))


def loss_of(model: GPT, tokens: Sequence[int]) -> torch.Tensor:
    """Return the mean cross-entropy of each token, predicted from the tokens before it."""
    memory = model.memory()
    losses = []
    for position, (token, target) in enumerate(pairwise(tokens)):
        logits = model(torch.tensor(token), torch.tensor(position), memory)
        losses.append(nn.functional.cross_entropy(logits, torch.tensor(target)))
    return torch.stack(losses).mean()


def train(
    model: GPT, texts: Sequence[Sequence[int]], steps: int, lr: float = 0.01
) -> Iterator[float]:
    """Train on one text a step, in their order, with Adam; yield the loss of each step.

    The learning rate falls linearly, from ``lr`` to 0.
    """
    optimizer = torch.optim.Adam(model.parameters(), lr=lr, betas=(0.85, 0.99))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    for step in range(steps):
        loss = loss_of(model, texts[step % len(texts)])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        yield loss.item()


def write(model: GPT, longest: int = 15, temperature: float = 0.5) -> list[int]:
    """Return the tokens of a new text: each is drawn from what the model predicts."""
    memory = model.memory()
    tokens = [0]
    with torch.no_grad():
        while len(tokens) <= longest:
            position = torch.tensor(len(tokens) - 1)
            logits = model(torch.tensor(tokens[-1]), position, memory)
            tokens.append(int(torch.multinomial(torch.softmax(logits / temperature, 0), 1)))
            if tokens[-1] == 0:
                break
    return [token for token in tokens if token]


def main() -> None:
    """Train a model, saying how it goes, and print twenty names that it makes up."""
    torch.manual_seed(0)
    everyone = names()
    letters = Letters(everyone)
    texts = [letters.encode(everyone[i]) for i in torch.randperm(len(everyone)).tolist()]
    model = GPT(len(letters))
    print(f"{len(everyone)} names, {sum(p.numel() for p in model.parameters())} parameters")
    losses: list[float] = []
    for loss in train(model, texts, steps=1000):
        losses.append(loss)
        if len(losses) % 100 == 0:
            print(
                f"{len(losses):4} steps, mean loss of the last 100: {sum(losses[-100:]) / 100:.4f}"
            )
    print(*(letters.decode(write(model)) for _ in range(20)), sep="\n")


if __name__ == "__main__":
    main()
