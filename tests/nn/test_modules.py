"""Modules beside PyTorch's: the same programs print the same and fail with the same words."""

import inspect

import pytest

import autodiff_kit
from tests.parity import torch_if_there
from tests.same_as_torch.outcomes import run, run_as_pytorch

torch = torch_if_there()

GIVEN = """
import copy, pickle, warnings
from collections import OrderedDict
nn = torch.nn
F = torch.nn.functional

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 3), nn.Tanh())
        self.out = nn.Linear(3, 1, bias=False)
        self.scale = nn.Parameter(torch.tensor([0.5]))
        self.register_buffer("mean", torch.tensor([1.0, 2.0]))
        self.nothing, self.number = None, 3

    def forward(self, x):
        return self.out(self.layers(x - self.mean)) * self.scale

torch.manual_seed(0)
net = Net()
line = nn.Linear(2, 1)
pair = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
x = torch.tensor([[1.0, -1.0], [0.5, 2.0], [3.0, 0.0]])
"""

BELONGING = {
    "attributes are sorted by what they are": """
        print(list(net._parameters), list(net._buffers), list(net._modules))
        print([n for n, _ in net.named_parameters()], [n for n, _ in net.named_buffers()])
        print([n for n, _ in net.named_modules()], [n for n, _ in net.named_children()])
        print([type(m).__name__ for m in net.modules()], len(list(net.children())))
        print([tuple(p.shape) for p in net.parameters()], [b for b in net.buffers()])
        print([n for n, _ in net.named_parameters("net", recurse=False)])
        print([n for n, _ in net.named_modules(prefix="net")])
    """,
    "what is owned twice is told once": """
        both = nn.ModuleList([line, line])
        print([n for n, _ in both.named_parameters()], len(list(both.children())))
        print([n for n, _ in both.named_modules()])
        print(list(both.state_dict()))
        net.again = net.scale
        print([n for n, _ in net.named_parameters()])
    """,
    "assigning to a name again": """
        net.mean = torch.zeros(2)
        print(net.mean, list(net._buffers))
        net.mean = None
        print(net.mean, list(net.named_buffers()), list(net.state_dict()))
        net.mean = nn.Parameter(torch.ones(1))
        print(list(net._buffers), [n for n, _ in net.named_parameters()])
        net.out = None
        print(net.out, list(net._modules), [n for n, _ in net.named_modules()])
        net.scale = None
        print(net.scale, [n for n, _ in net.named_parameters()])
        net.number = line
        print(list(net._modules))
        net.number = nn.ReLU()
        net.plain = torch.ones(2)
        print(net.plain, list(net._buffers), net)
    """,
    "deleting": """
        del net.scale, net.mean, net.out, net.number
        print([hasattr(net, n) for n in ("scale", "mean", "out", "number", "layers")], net)
    """,
    "apply visits the smallest first": """
        net.apply(lambda m: print(type(m).__name__))
    """,
    "train and eval reach every module": """
        print(net.training, net.eval() is net, [m.training for m in net.modules()])
        net.layers.train()
        print([m.training for m in net.modules()])
    """,
    "requires_grad_ and zero_grad": """
        net(x).sum().backward()
        kept = net.scale.grad
        net.zero_grad(set_to_none=False)
        print(net.scale.grad, net.scale.grad is kept, kept._version)
        net.zero_grad()
        print(net.scale.grad)
        print(net.requires_grad_(False) is net, net(x).requires_grad)
    """,
    "conversion keeps the parameters themselves": """
        norm = nn.BatchNorm1d(2)
        norm(x).sum().backward()
        weight = norm.weight
        print(norm.double() is norm, norm.weight is weight, weight.dtype, weight.grad.dtype)
        print({n: b.dtype for n, b in norm.named_buffers()})
        print(norm.to(torch.float32).weight.dtype, norm.to("cpu").weight.dtype)
        print(norm.to(torch.float16).weight.dtype, norm.float().weight.dtype)
        print(norm.to(x.double()).bias.dtype)
        line.double()
        print(line(x.double()).dtype)
    """,
    "parameters": """
        print(repr(nn.Parameter(torch.tensor(3.0))), nn.Parameter(torch.ones(2, 2)))
        data = torch.ones(2)
        p = nn.Parameter(data, requires_grad=False)
        data[0] = 5
        print(p, p._version, p.is_leaf, isinstance(p, torch.Tensor), nn.Parameter())
        with torch.no_grad():
            print(nn.Parameter(torch.ones(1)), torch.zeros(1))
        q = nn.Parameter(torch.ones(2))
        print(type(q * 2).__name__, type(q.detach()).__name__, type(q.requires_grad_()).__name__)
        print(line.weight._version, line.bias._version, nn.LayerNorm(2).weight._version)
    """,
    "copies and pickles": """
        line(x).sum().backward()
        twin = copy.deepcopy(line)
        print(twin.weight, twin.weight is line.weight, twin.weight.grad, type(twin.weight))
        with torch.no_grad():
            twin.weight.zero_()
        print(line.weight)
        shared = copy.deepcopy(nn.ModuleList([line, line]))
        print(shared[0] is shared[1], type(copy.copy(line.weight)).__name__)
        again = pickle.loads(pickle.dumps(pair))
        print(again, again[0].weight, again[0].weight.requires_grad)
    """,
}

STATE = {
    "state_dict": """
        print(net.state_dict())
        print(list(net.layers.state_dict()))
        state = line.state_dict()
        print(type(state).__name__, state["weight"].requires_grad, type(state["weight"]).__name__)
        with torch.no_grad():
            line.weight.zero_()
        print(state["weight"])
    """,
    "load_state_dict copies": """
        other = Net()
        print(other.load_state_dict(net.state_dict()))
        print(torch.equal(other(x), net(x)), other.scale is net.scale)
        print(other.load_state_dict({"scale": torch.tensor([7.0], dtype=torch.float64)}, False))
        print(other.scale, net.scale, other.load_state_dict(net.state_dict(), strict=False))
        print(net.load_state_dict({"0.a": 3, "z": 4, "layers.0.bias": torch.ones(3),
                                   "layers.x": 1}, strict=False))
        print(net.layers[0].bias, net.layers[0].bias._version)
    """,
    "batch statistics are part of the state": """
        norm = nn.BatchNorm1d(2)
        norm(x)
        norm(x * 2)
        print(norm.state_dict())
        print(norm.eval()(x), norm.num_batches_tracked)
        plain = nn.BatchNorm1d(2, affine=False)
        print(plain(x), plain.eval()(x), plain.state_dict())
    """,
    "a state has the versions of its classes": """
        import io
        net = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.BatchNorm1d(2)))
        state = net.state_dict(prefix="m.")
        print(dict(state._metadata), list(state))
        file = io.BytesIO()
        torch.save({"net": net.state_dict()}, file)
        file.seek(0)
        print(dict(torch.load(file)["net"]._metadata))
        net.state_dict(destination=state, prefix="other.")
        print(dict(state._metadata), len(state))
    """,
    "a dictionary without versions may lack the count of batches": """
        norm = nn.BatchNorm1d(2)
        norm(x)
        state = {k: v for k, v in norm.state_dict().items() if k != "num_batches_tracked"}
        print(nn.BatchNorm1d(2).load_state_dict(state))
        print(norm.load_state_dict(state), norm.num_batches_tracked)
        state["num_batches_tracked"] = torch.tensor([7])
        print(norm.load_state_dict(state), norm.num_batches_tracked)
        instance = nn.InstanceNorm1d(2)
        print(instance.load_state_dict({}))
        print(instance.load_state_dict({"a.b": 1, "_extra_state": 2}, strict=False))
    """,
    "a class may load older states": """
        class Scale(nn.Module):
            _version = 3

            def __init__(self):
                super().__init__()
                self.scale = nn.Parameter(torch.ones(2))

            def _load_from_state_dict(self, state_dict, prefix, local_metadata, *lists):
                print(local_metadata, list(state_dict))
                old = state_dict.pop(prefix + "factor", None)
                if old is not None:
                    state_dict[prefix + "scale"] = old
                super()._load_from_state_dict(state_dict, prefix, local_metadata, *lists)

            def _save_to_state_dict(self, destination, prefix, keep_vars):
                super()._save_to_state_dict(destination, prefix, keep_vars)
                destination[prefix + "note"] = "saved"

        net = nn.Sequential(Scale(), nn.Linear(1, 1))
        print(net.state_dict())
        state = net.state_dict()
        state["0.factor"] = torch.tensor([3.0, 4.0])
        state.pop("0.scale")
        print(net.load_state_dict(state, strict=False, assign=True), net[0].scale)
    """,
}

CALLING = {
    "models compute": """
        print(net(x), pair(x))
        y = net(x)
        y.sum().backward()
        print([p.grad for p in net.parameters()])
    """,
    "forward hooks see and replace": """
        first = pair.register_forward_pre_hook(lambda m, args: print("in", type(m).__name__, args))
        second = pair.register_forward_hook(lambda m, args, out: out * 0 + 5)
        print(pair(x))
        second.remove(), second.remove(), first.remove()
        print(pair(x))
        with line.register_forward_pre_hook(lambda m, args: args[0] * 0):
            print(line(x))
        with line.register_forward_pre_hook(lambda m, args: (args[0] + 1,)):
            print(line(x))
        print(line(x))
    """,
    "full backward hooks": """
        x.requires_grad_()
        line.register_full_backward_hook(lambda m, gi, go: print(m, gi, go))
        y = line(x)
        print(y.grad_fn.name(), [n.name() for n, _ in y.grad_fn.next_functions])
        y.sum().backward()
        print(x.grad, line.weight.grad)
        x.grad = None
        pair.register_full_backward_hook(lambda m, gi, go: (gi[0] * 0 + 2,))
        pair(x).sum().backward()
        print(x.grad)
        with torch.no_grad():
            print(line(x))
    """,
    "full backward hooks without a gradient of the input": """
        line.register_full_backward_hook(lambda m, gi, go: print(gi, go))
        line(x).sum().backward()
        print(line.weight.grad)
    """,
    "full backward hooks of modules with several inputs and outputs": """
        class Two(nn.Module):
            def forward(self, a, k, b):
                return a * k, b + 1
        x.requires_grad_()
        two = Two()
        two.register_full_backward_hook(lambda m, gi, go: print(gi, go))
        a, b = two(x, 2, x.detach())
        a.sum().backward()
        print(x.grad, b.requires_grad)
        two.forward = lambda x: {"a": x}
        print(two(x))
    """,
}

CONTAINERS = {
    "Sequential": """
        seq = nn.Sequential(OrderedDict(a=line, b=nn.ReLU()))
        print(seq, seq[0] is line, seq.a is line, len(seq), seq[-1], seq[1:], list(seq))
        print(pair.append(nn.Tanh()), pair[:2], [type(m).__name__ for m in pair])
        pair[1] = nn.Sigmoid()
        print(pair, nn.Sequential(), pair.extend(nn.Sequential(nn.ReLU())))
    """,
    "ModuleList": """
        layers = nn.ModuleList(nn.Linear(2, 2) for _ in range(3))
        layers += [nn.ReLU()]
        print(layers, len(layers), layers[1:], layers[-1], nn.ModuleList())
        layers[0] = nn.Sigmoid()
        print(layers.append(pair), [n for n, _ in layers.named_parameters()])
    """,
    "ModuleDict": """
        table = nn.ModuleDict({"a": line, "b": nn.ReLU()})
        table["c"] = nn.Tanh()
        table["d"] = nn.Identity()
        print(table, list(table), len(table), "a" in table, table["a"] is line, list(table.keys()))
        del table["a"]
        print([(k, v) for k, v in table.items()], list(table.values()), nn.ModuleDict())
    """,
    "ParameterList": """
        many = nn.ParameterList([torch.ones(2), nn.Parameter(torch.zeros(1, 3))])
        many.append(torch.tensor(1.0))
        print(many, len(many), many[-1], many[1], [n for n, _ in many.named_parameters()])
        many[0] = torch.zeros(1)
        print([type(p).__name__ for p in many], nn.ParameterList(), list(many.state_dict()))
    """,
    "repr is nested": """
        class Custom(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner, self.blocks = net, nn.ModuleList([pair, pair, line])
            def extra_repr(self):
                return "width=3"
        class Bare(nn.Module):
            def extra_repr(self):
                return "one\\ntwo"
        print(net, Custom(), Bare(), nn.Sequential(Bare()), nn.Module(), sep="\\n")
    """,
    "first values": """
        init, w, b = nn.init, torch.ones(2, 3), torch.empty(2)
        print(init.constant_(w, 3.0), init.zeros_(w), init.ones_(w), init.eye_(w))
        print(init.eye_(w) is w)
        for name in "linear conv1d conv2d sigmoid tanh relu leaky_relu".split():
            print(init.calculate_gain(name))
        print(init.calculate_gain("leaky_relu", 0.2))
        print(init.uniform_(w, -1, 1), init.normal_(w), init.xavier_uniform_(w, 2.0))
        print(init.xavier_normal_(w), init.kaiming_uniform_(w, 0.1), init.uniform_(b))
        print(init.kaiming_normal_(w, mode="fan_out", nonlinearity="relu"), w._version)
        init.kaiming_uniform_(line.weight)
        print(line.weight, init.xavier_uniform_(torch.ones(2, 3, 2, 2)), nn.Linear(0, 2))
        print(nn.Linear(0, 2).bias, torch.rand(2))
        print(init.normal_(w, generator=torch.Generator().manual_seed(3)))
    """,
    "gradients are clipped": """
        utils = nn.utils
        a, b, c = (nn.Parameter(torch.ones(2)) for _ in range(3))
        print(utils.clip_grad_norm_([a, b], 1.0))
        a.grad, b.grad = torch.tensor([3.0, 4.0]), torch.tensor([0.0, 12.0])
        print(utils.clip_grad_norm_([a, b, c], 2.0), a.grad, b.grad, a.grad._version)
        print(utils.clip_grad_norm_(a, 10), a.grad, utils.clip_grad_norm_(a, 0.5, norm_type="inf"))
        print(a.grad, utils.clip_grad_norm_([a, b], 1.0, 1.0), a.grad, b.grad)
        a.grad[0] = float("nan")
        print(utils.clip_grad_norm_([a], 1.0), a.grad)
    """,
}

PROGRAMS = BELONGING | STATE | CALLING | CONTAINERS


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_print_the_same(name: str) -> None:
    program = GIVEN + inspect.cleandoc(PROGRAMS[name])
    assert run_as_pytorch(program).raised is None


# Each line makes a layer or loss; then it is printed, and called with the inputs behind the ";".
LAYERS = """
nn.Linear(2, 3, bias=False); x
nn.Linear(2, 3, dtype=torch.float64); x.double()
nn.Flatten(); image
nn.Flatten(0, 1); image
nn.Identity(3, a=2); x
nn.ReLU(); x
nn.ReLU(True); x * 1
nn.Tanh(); x
nn.Sigmoid(); x
nn.GELU(); x * 0.7
nn.GELU('tanh'); x
nn.Softmax(1); x
nn.Softmax(dim=-1); x
nn.LogSoftmax(0); x
nn.Softmax(); x
nn.Dropout(); x
nn.Dropout(0.2, True); x * 1
nn.Dropout(0.2).eval(); x
nn.LayerNorm(2); x
nn.LayerNorm([3, 2], eps=0.1, elementwise_affine=False); x
nn.LayerNorm((2,), bias=False); x
nn.BatchNorm1d(2, 1e-2, 0.5); x
nn.Embedding(4, 2); i
nn.Embedding(4, 2, padding_idx=-1); i
nn.Conv2d(2, 4, 2); image
nn.Conv2d(2, 4, (3, 2), 2, 1, 2, 2, False); image
nn.Conv2d(2, 3, 3, padding='same'); image
nn.Conv2d(2, 3, 2, padding='valid', dtype=torch.float64); image.double()
nn.MaxPool2d(2); image
nn.MaxPool2d((2, 1), 1, (1, 0)); image
nn.MSELoss(); x, x * 2
nn.MSELoss(reduction='sum'); x, x * 2
nn.L1Loss(reduction='none'); x, x * 2
nn.HuberLoss(delta=0.5); x, x * 2
nn.HuberLoss('sum', 2.0); x, x * 2
nn.CrossEntropyLoss(); x, i[:3] % 2
nn.CrossEntropyLoss(torch.tensor([1.0, 3.0]), label_smoothing=0.1); x, i[:3] % 2
nn.NLLLoss(ignore_index=1); x, i[:3] % 2
nn.BCELoss(); x.sigmoid(), x.sigmoid()
nn.BCEWithLogitsLoss(pos_weight=torch.tensor([1.0, 3.0])); x, x.sigmoid()
""".strip().split("\n")


@pytest.mark.parametrize("case", LAYERS)
def test_a_layer_looks_and_computes_as_pytorchs(case: str) -> None:
    layer, inputs = case.split(";")
    program = f"""{GIVEN}
image = torch.arange(32.0).reshape(2, 2, 4, 2).sin()
i = torch.tensor([0, 1, 3, 2])
layer = {layer}
print(layer, list(layer.state_dict()), [k for k, v in vars(layer).items() if k == 'weight'])
print(layer.state_dict())
print(layer({inputs}), layer.eval()({inputs}))
print(isinstance(layer, nn.LayerNorm), isinstance(layer, nn.BatchNorm1d))
"""
    assert run_as_pytorch(program).raised is None


ERRORS = """
Late(nn.Linear(1, 1))
Late(nn.Parameter(torch.ones(1)))
Late(0).register_buffer("b", torch.ones(1))
Late(0).register_parameter("b", nn.Parameter(torch.ones(1)))
Late(0)(1)
line.foo
del line.foo
line.weight = torch.ones(2)
line.weight = 3
net.out = 3
net.out = torch.ones(2)
net.mean = 3
net.register_buffer("b.c", torch.ones(1))
net.register_buffer("", torch.ones(1))
net.register_buffer(3, torch.ones(1))
net.register_buffer("number", torch.ones(1))
net.register_buffer("b", 3)
net.register_parameter("number", nn.Parameter(torch.ones(1)))
net.register_parameter("a.b", nn.Parameter(torch.ones(1)))
net.register_parameter("", nn.Parameter(torch.ones(1)))
net.register_parameter(3, nn.Parameter(torch.ones(1)))
net.register_parameter("q", torch.ones(1))
net.register_parameter("q", 3)
net.add_module("number", line)
net.add_module("a.b", line)
net.add_module("", line)
net.add_module(3, line)
net.add_module("q", 3)
nn.Module()(3)
nn.Module(3)
line.train(3)
line.to(torch.int64)
line.load_state_dict(3)
line.load_state_dict({})
line.load_state_dict({"_extra_state": 1, "weight": 2})
nn.InstanceNorm1d(2).load_state_dict({"running_mean": torch.ones(2)})
nn.BatchNorm1d(2).load_state_dict(nn.BatchNorm1d(2, track_running_stats=False).state_dict())
line.load_state_dict({"weight": torch.ones(3, 2), "bias": torch.ones(1), "x": 1, "y.z": 2})
pair.load_state_dict({"0.x": 1, "weight": 1, "0.bias": torch.ones(3), "1.weight": 2})
pair.load_state_dict({"0.bias": torch.ones(3), "0.weight": 3.0}, strict=False)
pair[3]
pair["0"]
nn.Sequential(3)
nn.Sequential({"a": line})
nn.ModuleList([3])
nn.ModuleList([line])[4]
nn.ModuleList([line])(3)
nn.ModuleDict({"a": line})["b"]
nn.ModuleDict([(3, line)])
nn.ParameterList([torch.ones(2)])[3]
nn.ParameterList(torch.ones(2))
nn.Parameter(3)
nn.Parameter([1.0, 2.0])
nn.Parameter(torch.tensor([1]))
nn.Dropout(2)
nn.GELU(foo=1)
nn.Linear(2, 3, foo=1)
nn.LayerNorm(3, foo=1)
nn.Softmax(1, 2)
nn.Conv2d(3, 4, 3, groups=2)
nn.Conv2d(4, 3, 3, groups=2)
nn.Embedding(3, 2, padding_idx=5)
nn.Embedding(3, 2, padding_idx=-5)
nn.Linear(-1, 3)
nn.Linear('a', 3)
nn.Linear(2, 3)(torch.ones(4, 5))
nn.Linear(2, 3)(torch.ones(4, 2).double())
nn.BatchNorm1d(3)(torch.ones(3))
nn.MSELoss(reduction='foo')(x, x)
nn.init.xavier_uniform_(torch.ones(3))
nn.init.kaiming_normal_(torch.ones(3))
nn.init.eye_(torch.ones(3))
nn.init.calculate_gain('foo')
nn.init.kaiming_uniform_(torch.ones(3, 2), mode='foo')
nn.init.xavier_uniform_(torch.ones(3, 2), -1)
nn.init.uniform_(torch.ones(2), 2, 1)
nn.init.normal_(torch.ones(2), 0, -1)
nn.init.uniform_(torch.ones(2).long())
nn.utils.clip_grad_norm_([lost], 1, error_if_nonfinite=True)
line.register_full_backward_hook(lambda m, gi, go: (1, 2)) and line(y).sum().backward()
line.register_full_backward_hook(lambda m, i, o: (o[0],)) and quiet() and line(x).sum().backward()
""".strip().split("\n")

# Python's own words, or the words of another part of the kit: nothing to teach here.
NO_ADVICE = (
    ".foo",
    "nn.Module(3)",
    "foo=1",
    "nn.Softmax(1, 2)",
    '["0"]',
    '["b"]',
)


@pytest.mark.parity
@pytest.mark.parametrize("line", ERRORS)
def test_the_kit_fails_as_pytorch_does_and_says_what_to_do(line: str) -> None:
    program = f"""{GIVEN}
class Late(nn.Module):
    def __init__(self, part):
        self.part = part

def quiet():
    warnings.simplefilter("ignore")
    return True

lost, y = nn.Parameter(torch.ones(1)), x.clone().requires_grad_()
lost.grad = torch.tensor([float("nan")])
try:
    {line}
except KeyError as problem:  # shown as a repr: in one line
    raise type("KeyError", (Exception,), {{}})(problem.args[0]) from None
"""
    expected = run(torch, program)

    outcome = run(autodiff_kit, program)

    assert expected.raised is not None, "PyTorch does not fail here"
    assert outcome.raised == expected.raised
    if "load_state_dict" in line:  # several lines of words
        assert outcome.advice.startswith(expected.advice.rstrip())
    if not any(part in line for part in NO_ADVICE):
        assert outcome.advice.split("\n")[-1].startswith("-> ")


@pytest.mark.parity
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("expression", ["Linear(3, 2)", "Linear(20, 30)", "Conv2d(2, 3, 3)"])
def test_layers_begin_with_the_numbers_that_pytorch_draws(expression: str, dtype: str) -> None:
    drawn = []
    for package in (torch, autodiff_kit):
        package.manual_seed(0)
        layer = eval(f"nn.{expression}", {"nn": package.nn}).to(getattr(package, dtype))
        drawn.append([p.detach().numpy().tolist() for p in layer.parameters()])

    assert drawn[1] == drawn[0]


@pytest.mark.parity
def test_a_network_with_everything_trains_as_in_pytorch() -> None:
    losses = []
    for package in (torch, autodiff_kit):
        package.manual_seed(1)
        nn = package.nn
        model = nn.Sequential(
            nn.Conv2d(1, 2, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
            nn.BatchNorm1d(8), nn.LayerNorm(8), nn.Linear(8, 5), nn.GELU(), nn.Dropout(0.2),
            nn.Linear(5, 3),
        ).double()  # fmt: skip
        images = package.arange(96, dtype=package.float64).reshape(6, 1, 4, 4).sin()
        classes = package.tensor([0, 1, 2, 0, 1, 2])
        optimizer = package.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        run_losses = []
        for _ in range(20):
            optimizer.zero_grad()
            loss = nn.CrossEntropyLoss()(model(images), classes)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            run_losses.append(loss.item())
        losses.append(run_losses)

    assert losses[1] == pytest.approx(losses[0], rel=1e-9)
