"""Parameters are called as a learner would reach them, and said to be a layer's."""

import copy

import pytest

from autodiff_kit.record import Recording, RecordingError
from autodiff_kit.view import to_text
from autodiff_kit.view.scene import build
from tests.record.cells import run

SETUP = """\
nn = torch.nn
X = torch.ones(4, 2)
model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(2, 3)
        self.scale = nn.Parameter(torch.ones(3))
    def forward(self, x):
        return (self.fc1(x) * self.scale).sum() + self.fc1.weight.sum()
net = Net()
"""


def leaves(source: str) -> list[str]:
    return [n["name"] for n in run(SETUP, source).nodes if n["kind"] == "leaf" and n["name"]]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("y = model[0](X)", ["model.0.weight", "X", "model.0.bias"]),
        ("y = net(X)", ["net.fc1.weight", "X", "net.fc1.bias", "net.scale"]),
        ("layer = model[0]\ny = layer(X)", ["model.0.weight", "X", "model.0.bias"]),
        ("line = nn.Linear(2, 1)\ny = line(X)", ["line.weight", "X", "line.bias"]),
        ("y = nn.Linear(2, 1)(X)", ["Linear.weight", "X", "Linear.bias"]),
        ("y = Net()(X)", ["self.scale", "self.fc1.weight", "X", "self.fc1.bias"]),
        ("def f(m): return m(X)\ny = f(model[0])", ["model.0.weight", "X", "model.0.bias"]),
        ("for p in model[2].parameters(): y = p * 2", ["model.2.weight", "model.2.bias"]),
        ("mine = Net()\ny = mine.scale * 2", ["mine.scale"]),  # made while recording
        ("models = [nn.Linear(2, 1) for _ in range(2)]\ny = [m(X) for m in models]",
         ["models[0].weight", "X", "models[0].bias", "models[1].weight", "models[1].bias"]),
        ("by = {k: nn.Linear(2, 1) for k in ['a', 'b']}\nfor m in by.values(): y = m(X)",
         ['by["a"].weight', "X", 'by["a"].bias', 'by["b"].weight', 'by["b"].bias']),
        ("m = nn.Linear(2, 1)\nall = [m]\ny = all[0](X)", ["m.weight", "X", "m.bias"]),
        ("w = nn.Parameter(X)\ny = w * 2", ["w"]),  # of no module
    ],
)  # fmt: skip
def test_a_parameter_is_called_by_the_variable_that_holds_its_model(
    source: str, expected: list[str]
) -> None:
    assert leaves(source) == expected


def test_a_buffer_is_called_so_too() -> None:
    assert "model.1.running_mean" in leaves("y = model[1].running_mean * 2")


def test_an_optimizer_changes_what_the_learner_calls_so() -> None:
    rec = run(
        SETUP + "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nnet(X).backward()", "opt.step()"
    )

    changed = [rec.nodes[e["node"]]["name"] for e in rec.events if e["kind"] == "modified"]
    assert changed == ["net.scale", "net.fc1.weight", "net.fc1.bias"]


def test_it_is_said_to_be_a_parameter_and_of_which_layer() -> None:
    rec = run(SETUP, "y = model[0](X)")
    words = to_text(build(rec))

    assert rec.nodes[0]["part"] == "parameter of Linear"
    assert "model.0.weight, a (3, 2) tensor, is a leaf: a parameter of Linear, and it" in words
    assert "part" not in next(node for node in rec.nodes if node["name"] == "X")


def test_a_part_that_is_no_text_is_damage() -> None:
    data = copy.deepcopy(run(SETUP, "y = net.scale * 2").to_dict())
    data["nodes"][0]["part"] = 3

    with pytest.raises(RecordingError, match="node 0 has a wrong 'part': 3"):
        Recording.from_dict(data)


def test_the_name_of_a_deep_parameter_stands_whole_in_its_box() -> None:
    setup = "nn = torch.nn\nclassifier = nn.Sequential(nn.Sequential(nn.Sequential(nn.Tanh(),\n"
    setup += "    nn.Linear(1, 1))))"
    picture = build(run(setup, "y = classifier(torch.ones(1, 1))"))

    assert "classifier.0.0.1.weight" in [text["name"] for text in picture.texts]
