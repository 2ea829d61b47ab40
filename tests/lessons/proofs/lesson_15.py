from typing import Any

from tests.lessons.proofs import proves
from tests.lessons.small_gpt import program_with


def model_of(torch: Any, seed: int = 0) -> tuple[Any, Any, list[int]]:
    gpt = program_with(torch)
    letters = gpt.Letters(gpt.names())
    torch.manual_seed(seed)
    return gpt, gpt.GPT(len(letters), features=8, heads=2), letters.encode("ada")


@proves("15.losses")
def _(torch: Any) -> str:
    gpt, model, tokens = model_of(torch)
    outputs: list[Any] = []
    model.head.register_forward_hook(lambda *call: outputs.append(call))
    gpt.loss_of(model, tokens)
    assert tokens == [0, 1, 4, 1, 0]
    return str(len(outputs))


@proves("15.contributions")
def _(torch: Any) -> str:
    # How often the graph leads to the leaf: one edge for each use.
    gpt, model, tokens = model_of(torch)
    nodes, waiting, edges = set(), [gpt.loss_of(model, tokens).grad_fn], 0
    while waiting:
        node = waiting.pop()
        if node is None or node in nodes:
            continue
        nodes.add(node)
        for following, _ in node.next_functions:
            edges += getattr(following, "variable", None) is model.head.weight
            waiting.append(following)
    # A layer may transpose its weights first: then the node of that is used once.
    return str(edges)


@proves("15.rows")
def _(torch: Any) -> str:
    gpt, model, tokens = model_of(torch)
    gpt.loss_of(model, tokens).backward()
    return str(int((model.token.weight.grad.abs().sum(1) > 0).sum()))


@proves("15.reach")
def _(torch: Any) -> str:
    _, model, tokens = model_of(torch)
    memory = model.memory()
    for position in range(4):
        logits = model(torch.tensor(tokens[position]), torch.tensor(position), memory)
    torch.nn.functional.cross_entropy(logits, torch.tensor(tokens[4])).backward()
    return str(int((model.position.weight.grad.abs().sum(1) > 0).sum()))


@proves("15.attention")
def _(torch: Any) -> str:
    # What is left to chance for one who sees a letter and its position: more than the first one?
    gpt = program_with(torch)
    letters = gpt.Letters(gpt.names())
    unlearnable = []
    for pair in (("ada", "bob"), ("ava", "eve")):
        following: dict[tuple[int, int], set[int]] = {}
        for tokens in map(letters.encode, pair):
            for position in range(4):
                place = position, tokens[position]
                following.setdefault(place, set()).add(tokens[position + 1])
        if any(len(nexts) > 1 for (position, _), nexts in following.items() if position):
            unlearnable.append(pair)
    (pair,) = unlearnable
    return f"`{pair[0]}` and `{pair[1]}`"


@proves("15.task")
def _(torch: Any) -> str:
    x, w1, w2 = torch.tensor(3.0, requires_grad=True), torch.tensor(0.0), torch.tensor(0.0)
    h = x + w1 * x
    (h + w2 * h).backward()
    return str(x.grad.item())
