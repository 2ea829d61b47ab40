"""Short programs with one thing in each that a learner may meet: both packages do the same."""

import pytest

from tests.parity import require_torch
from tests.same_as_torch.outcomes import run, run_both

torch = require_torch()
pytestmark = pytest.mark.parity

PROGRAMS = {
    "functions of nn, and methods, at the top": """
        x = torch.arange(6.0).view(2, 3)
        print(torch.conv1d(x[None], torch.ones(1, 2, 2)), torch.cosine_similarity(x, x.flip(1)))
        print(torch.layer_norm(x, (3,)), torch.max_pool1d(x, 2), torch.pairwise_distance(x, x))
        print(torch.zero_(x.clone()), torch.fill_(x.clone(), 3), torch.clip_(x.clone(), 1, 2))
        print(torch.is_inference(x), torch.detach_(x * 1), torch.get_device(x))
    """,
    "memory of a GPU that is not there": """
        cuda = torch.cuda
        print(cuda.memory_allocated(), cuda.max_memory_allocated(), cuda.memory_reserved())
        print(cuda.is_bf16_supported(), cuda.is_initialized(), cuda.max_memory_reserved("cuda"))
    """,
    "an embedding says how its gradients are wanted": """
        print(torch.nn.Embedding(3, 2, sparse=True), torch.nn.Embedding(3, 2, 1, None, 2.0, True))
        print(torch.nn.Embedding.from_pretrained(torch.ones(3, 2), sparse=True))
    """,
    "a module keeps more than tensors in its state": """
        class Counter(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.linear, self.count = torch.nn.Linear(1, 1), 0
            def get_extra_state(self):
                return {"count": self.count}
            def set_extra_state(self, state):
                self.count = state["count"]
        model, other = torch.nn.Sequential(Counter(), torch.nn.Linear(1, 1)), Counter()
        model[0].count = 7
        state = model.state_dict()
        print(list(state), state["0._extra_state"], list(other.state_dict(prefix="x.")))
        print(other.load_state_dict(model[0].state_dict()), other.count)
        rest = {name: value for name, value in state.items() if "extra" not in name}
        print(model.load_state_dict(rest, strict=False))
        for there, given in ((model, rest), (torch.nn.ReLU(), {"_extra_state": 3})):
            try:
                there.load_state_dict(given)
            except RuntimeError as raised:
                print(raised.args[0].split("->")[0].splitlines()[:2])
        torch.nn.ReLU().get_extra_state()
    """,
    "a handle has a type": """
        handle = torch.ones(2, requires_grad=True).register_hook(print)
        print(isinstance(handle, torch.utils.hooks.RemovableHandle))
    """,
    "triplets with a distance of one's own": """
        torch.manual_seed(0)
        a, b, c = torch.randn(3, 4, 5)
        far = lambda x, y: 1.0 - torch.cosine_similarity(x, y)
        print(torch.nn.TripletMarginWithDistanceLoss(distance_function=far)(a, b, c))
        print(torch.nn.TripletMarginWithDistanceLoss(distance_function=far, reduction="none"))
        try:
            torch.nn.functional.triplet_margin_with_distance_loss(a, b[0], c)
        except RuntimeError as raised:
            print(str(raised).splitlines()[0])
        torch.nn.TripletMarginWithDistanceLoss(margin=0)
    """,
    "an orthogonal matrix is written twice": """
        w = torch.nn.Parameter(torch.empty(2, 3))
        print(torch.nn.init.orthogonal_(w, gain=2.0) is w, w._version, w.norm().item().__round__(3))
    """,
    "a device is named before it is used": """
        names = "cuda", "cuda:1", "mps", "cpu:0", "meta", "cpu", torch.device("cuda", 2)
        print(*[torch.device(name) for name in names], repr(torch.device("cuda", 1)))
        print(torch.device("cpu:0") == torch.device("cpu"), torch.device("cuda:0").index)
        print(len({torch.device("cuda"), torch.device("cuda"), torch.device("cuda:0")}))
        print(torch.ones(2).to("cpu:0").device, torch.ones(2, device="cpu:1").device)
        gpu = torch.device("cuda:1")
        uses = [
            lambda: torch.ones(2, device=gpu), lambda: torch.ones(2).to(gpu),
            lambda: torch.nn.Linear(1, 1).to(gpu), lambda: torch.randperm(3, device="cuda"),
            lambda: torch.tril_indices(2, 2, device="cuda"), lambda: torch.ones(2).to("mps"),
            lambda: torch.device("cuda:x"), lambda: torch.device("cuda:01"),
            lambda: torch.device(0), lambda: torch.ones(2).to(0),
        ]
        for use in uses:
            try:
                use()
            except Exception as raised:
                print(type(raised).__name__, str(raised).splitlines()[0])
    """,
    "what was saved on a GPU is loaded": """
        import io
        places = None, "cpu", torch.device("cpu"), lambda storage, loc: storage, {"cuda:0": "cpu"}
        for place in places:
            file = io.BytesIO()
            torch.save({"x": torch.arange(3)}, file)
            file.seek(0)
            print(torch.load(file, map_location=place))
    """,
    "what a model has under several names": """
        nn = torch.nn
        shared = nn.Linear(2, 2)
        model = nn.Sequential(shared, nn.BatchNorm1d(2), shared)
        for once in (True, False):
            print([name for name, _ in model.named_parameters(remove_duplicate=once)])
            print([name for name, _ in model.named_buffers("net", True, once)])
            print([name for name, _ in model.named_modules(remove_duplicate=once)])
        memo = {shared}
        print([name for name, _ in model.named_modules(memo, "net")], len(memo))
    """,
    "a Jacobian that need not be fast": """
        jacobian, hessian = torch.autograd.functional.jacobian, torch.autograd.functional.hessian
        x = torch.tensor([1.0, 2.0])
        square = lambda x: x**2 * x.sum()
        forward = {"vectorize": True, "strategy": "forward-mode"}
        print(jacobian(square, x, vectorize=True))
        print(hessian(lambda x: square(x).sum(), x, vectorize=True))
        refused = [
            {"strategy": "x"}, {"strategy": "forward-mode"}, {"strict": True, "vectorize": True},
            {**forward, "create_graph": True}, {**forward, "strict": True},
        ]
        for options in refused:
            try:
                jacobian(square, x, **options)
            except Exception as raised:
                print(type(raised).__name__, str(raised).splitlines()[0])
        print(torch.func.jacrev(square, chunk_size=1)(x))
        torch.func.jacrev(square, chunk_size=0)
    """,
    "a check of gradients with all its options": """
        x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
        off = {"check_batched_grad": False, "check_grad_dtypes": False, "nondet_tol": 1e-8}
        print(torch.autograd.gradcheck(torch.sin, x, check_undefined_grad=False, **off))
        print(torch.autograd.gradgradcheck(torch.sin, x, gen_non_contig_grad_outputs=False, **off))
    """,
    "sequences come back with their lengths": """
        rnn = torch.nn.utils.rnn
        sequences = [torch.arange(3.0), torch.arange(2.0), torch.arange(1.0)]
        padded, lengths = rnn.pad_sequence(sequences), torch.tensor([3, 2, 1])
        print(rnn.unpad_sequence(padded, lengths))
        print(padded.shape, rnn.unpad_sequence(padded, lengths, batch_first=True))
        packed = rnn.pack_sequence(sequences)
        print(rnn.unpack_sequence(packed), packed.to(torch.float64).data.dtype, packed.is_cuda)
        print(packed.to("cpu") is packed, packed.cpu() is packed, packed.double().data)
    """,
    "a transposed convolution makes the size that was": """
        torch.manual_seed(0)
        down = torch.nn.Conv2d(2, 2, 3, stride=2, padding=1)
        up, x = torch.nn.ConvTranspose2d(2, 2, 3, stride=2, padding=1), torch.randn(1, 2, 8, 7)
        print(up(down(x), output_size=x.size()).shape, up(down(x)[0], output_size=(7, 8)).shape)
        print(torch.nn.ConvTranspose1d(2, 2, 3, stride=2)(x[0, :, 0], output_size=[16]).shape)
        for size in (torch.Size([9, 9]), [1, 2, 9, 9], (8,)):
            try:
                up(down(x), output_size=size)
            except Exception as raised:
                print(type(raised).__name__, str(raised).splitlines()[0])
    """,
    "rows of an embedding are shortened": """
        torch.manual_seed(0)
        table = torch.nn.Embedding(4, 3, max_norm=1.0)
        print(table, table(torch.tensor([0, 2, 2])), table.weight, table.weight._version)
        print(torch.nn.Embedding(4, 3, 0, 2.0, 1.0))
        fixed = torch.nn.Embedding.from_pretrained(torch.ones(3, 2) * 3, max_norm=1.0)
        print(fixed(torch.tensor([1])))
        w = torch.randn(4, 3)
        print(torch.nn.functional.embedding(torch.tensor([1]), w, max_norm=1.0, norm_type=1.0), w)
    """,
    "hooks get and change keywords": """
        class Scale(torch.nn.Module):
            def forward(self, x, scale=1):
                return x * scale
        model, x = Scale(), torch.ones(2)
        model.register_forward_pre_hook(lambda m, a, k: (a, {**k, "scale": 5}), with_kwargs=True)
        handle = model.register_forward_hook(lambda m, a, k, o: o + k["scale"], with_kwargs=True)
        print(model(x), model(x, scale=2))
        handle.remove()
        print(model(x))
        model.register_forward_pre_hook(lambda m, a, k: 3, with_kwargs=True)
        model(x)
    """,
    "a hook is put before others": """
        model, log = torch.nn.Linear(2, 2), []
        model.register_forward_hook(lambda *_: log.append(1))
        model.register_forward_hook(lambda *_: log.append(2), prepend=True)
        model.register_full_backward_hook(lambda *_: log.append(3))
        model.register_full_backward_hook(lambda *_: log.append(4), prepend=True)
        model(torch.ones(1, 2, requires_grad=True)).sum().backward()
        print(log)
    """,
    "a hook before backward changes the gradient": """
        model, x = torch.nn.Linear(2, 2), torch.ones(1, 2, requires_grad=True)
        torch.nn.init.ones_(model.weight)
        handle = model.register_full_backward_pre_hook(lambda m, g: (g[0] * 2,))
        model.register_full_backward_hook(lambda m, i, o: print("through", i, o))
        model(x).sum().backward()
        print(x.grad, model.weight.grad, model.bias.grad)
        handle.remove()
        model.register_full_backward_pre_hook(lambda m, g: g * 2)
        model(x).sum().backward()
    """,
    "an inverse that is not there": "torch.linalg.inv(torch.zeros(2, 2))",
    "an inverse that is not there, of several": """
        torch.inverse(torch.stack([torch.eye(2), torch.ones(2, 2)]))
    """,
    "the place where elimination fails": """
        torch.inverse(torch.tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 1.0, 1.0]]))
    """,
    "a system without a solution": """
        torch.linalg.solve(torch.stack([torch.eye(2), torch.ones(2, 2)]), torch.ones(2, 2, 1))
    """,
    "the class of such errors": """
        try:
            torch.inverse(torch.ones(2, 2))
        except torch.linalg.LinAlgError as raised:
            print(type(raised).__name__, isinstance(raised, RuntimeError))
    """,
    "a cycle": "(torch.ones(2, requires_grad=True) ** 2).sum().backward(create_graph=True)",
    "T of three dimensions": "print(torch.ones(2, 3, 4).T.shape)",
    "T of no dimensions": "print(torch.ones(()).T.shape, torch.ones(2).T.shape)",
    "an instance of a Function": """
        class Same(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x
        Same()
    """,
    "an old mask": "print(torch.arange(2)[torch.tensor([1, 0], dtype=torch.uint8)])",
    "attributes of the learner's own": """
        import copy, pickle
        x = torch.ones(2, requires_grad=True)
        x.label = "w"
        print(x.label, copy.deepcopy(x).label, pickle.loads(pickle.dumps(x)).label, x.__dict__)
        print(hasattr(x + 1, "label"), hasattr(x.detach(), "label"), hasattr(x.clone(), "label"))
        y = x * 2
        y.label = "y"
        print(y.label, y.grad_fn is not None)
    """,
    "a loss with its early arguments": """
        a, b = torch.ones(3), torch.zeros(3)
        print(torch.nn.MSELoss(size_average=False)(a, b), torch.nn.L1Loss(reduce=False)(a, b))
        print(torch.nn.functional.mse_loss(a, b, "sum"), torch.nn.functional.l1_loss(a, b, 0))
        print(torch.nn.functional.mse_loss(a, b, None, reduction="sum"))
        print(torch.sum(a, None, True), a.mean(dim=None, keepdim=True))
        print(torch.nn.CrossEntropyLoss(None, False)(torch.ones(2, 3), torch.tensor([0, 1])))
    """,
    "losses by their long names": """
        loss = torch.nn.modules.loss
        print(issubclass(loss.MSELoss, loss._Loss), issubclass(loss.NLLLoss, loss._WeightedLoss))
        class Mine(loss._Loss):
            def forward(self, x, y):
                return torch.nn.functional.mse_loss(x, y, reduction=self.reduction)
        print(Mine(reduction="sum")(torch.ones(2), torch.zeros(2)))
        print(torch.nn.modules.Module is torch.nn.Module)
        print(torch.nn.modules.linear.Linear is torch.nn.Linear)
        print(torch.nn.modules.batchnorm._BatchNorm.__name__, torch.nn.modules.LSTM.__name__)
    """,
    "a third argument of softmax": """
        F = torch.nn.functional
        x = torch.zeros(2, 2)
        print(F.softmax(x, 1, 2), F.log_softmax(x, 1, 3, torch.double))
    """,
    "no such device": "torch.ones(2).to('gpu')",
    "no such device, by number": "torch.device('gpu:1')",
    "no device": "torch.ones(2, device='cpu:x')",
    "text after a tensor": "torch.ones(2) + 'a'",
    "text before a tensor": "'a' + torch.ones(2)",
    "a list before a tensor": "[1] + torch.ones(2)",
    "None before a tensor": "None - torch.ones(2)",
    "an array before a tensor of bits": "np.array([1, 2]) << torch.tensor([1, 2])",
    "text before a tensor of bits": "'a' >> torch.tensor([1, 2])",
    "results are written into tensors": """
        x, z, empty = torch.ones(2, 2), torch.zeros(2, 2), torch.empty(0)
        r = torch.mul(x, x * 3, out=z)
        print(z, r is z, z._version, torch.matmul(x, x, out=z), torch.exp(x, out=z))
        print(torch.add(x, x, out=empty), torch.cat([x, x], out=empty), torch.pow(x, 2, out=z))
        print(torch.mean(z, 0, out=torch.zeros(2)), torch.clamp(z, min=2, out=torch.zeros(3)))
        values, places = torch.empty(0), torch.empty(0, dtype=torch.long)
        torch.max(torch.tensor([[1.0, 2.0], [4.0, 3.0]]), 1, out=(values, places))
        print(values, places)
        w = torch.ones(2, requires_grad=True)
        with torch.no_grad():
            print(torch.sub(w, 1, out=w))
        torch.add(w, 1, out=torch.zeros(2))
    """,
    "a result does not fit": "torch.add(torch.ones(2), 1, out=torch.zeros(2, dtype=torch.long))",
    "the outputs of recurrent layers by batches": """
        for layer in (torch.nn.RNN, torch.nn.GRU, torch.nn.LSTM):
            torch.manual_seed(0)
            model = layer(2, 3, batch_first=True)
            out, state = model(torch.ones(2, 4, 2))
            print(out.grad_fn.name(), out._version, out._base is None, out.stride())
            out.sum().backward()
            print(model.weight_ih_l0.grad)
    """,
    "singular values": """
        torch.manual_seed(0)
        for shape in ((2, 3), (4, 2), (3, 3), (2, 3, 4)):
            A = torch.randn(shape, dtype=torch.double, requires_grad=True)
            weights = torch.arange(A.numel()).reshape(shape)
            for full in (False, True):
                U, S, Vh = torch.linalg.svd(A, full_matrices=full)  # up to signs
                k = S.shape[-1]
                print(U.detach().abs(), U.stride(), S, Vh.detach().abs(), Vh.stride())
                B = (U[..., :k] * S[..., None, :]) @ Vh[..., :k, :]
                g, = torch.autograd.grad((B * weights).sum() + S.prod(), A, create_graph=True)
                print(g, torch.autograd.grad((g * g).sum(), A))
            print(torch.autograd.grad((U[..., 0] ** 3).abs().sum(), A, retain_graph=True))
            print(torch.autograd.grad((Vh[..., 0, :] ** 3).abs().sum(), A))
            print(torch.linalg.svdvals(A), torch.linalg.cond(A), torch.linalg.cond(A, -2))
        for order in (2, -2, "nuc"):
            print(torch.linalg.norm(A[0], order), torch.linalg.matrix_norm(A, order, (0, 2)))
            print(torch.linalg.matrix_norm(A, order, (2, 0), keepdim=True))
        print(type(torch.linalg.svd(torch.eye(2)).S), torch.linalg.cond(torch.eye(2) * 3, 1))
        A = torch.stack([torch.eye(2) * 2, torch.ones(2, 2), torch.zeros(2, 2)])
        for order in ("fro", "nuc", 1, -1, float("inf"), -float("inf")):
            print(torch.linalg.cond(A, order), torch.linalg.cond(A[1], order))
        print(torch.linalg.cond(torch.ones(0, 0)), torch.linalg.cond(torch.ones(2, 0, 0), 1))
        torch.linalg.svdvals(torch.full((2, 2), float("nan")))
    """,
    "a lazy layer before it knows its size": """
        torch.manual_seed(0)
        layer = torch.nn.LazyLinear(1)
        layer.weight.data.normal_(0, 0.01)
        layer.bias.data.fill_(0)
        print(layer.weight.data, layer.weight.device, layer.weight.grad_fn, layer.weight.ndim)
        print(type(layer.weight.data), layer(torch.ones(1, 3)), type(layer.weight))
        torch.nn.LazyLinear(1).requires_grad_(False)
    """,
    "hooks of all modules": """
        mod, log = torch.nn.modules.module, []
        handles = [
            mod.register_module_forward_pre_hook(lambda m, a: log.append(["pre", m._get_name()])),
            mod.register_module_forward_hook(lambda m, a, o: log.append(["post", m._get_name()])),
            mod.register_module_full_backward_hook(lambda m, i, o: log.append(m._get_name())),
            mod.register_module_full_backward_pre_hook(lambda m, o: log.append(len(o))),
        ]
        net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh())
        net[0].register_forward_hook(lambda m, a, o: log.append("own"))
        net(torch.ones(1, 2, requires_grad=True)).sum().backward()
        for handle in handles:
            handle.remove()
        net(torch.ones(1, 2))
        print(log)
    """,
    "hooks of all modules change what goes in and comes out": """
        mod, same = torch.nn.modules.module, torch.nn.Identity()
        before = mod.register_module_forward_pre_hook(lambda m, args: (args[0] + 1,))
        after = mod.register_module_forward_hook(lambda m, args, out: out * 3)
        print(same(torch.ones(2)))
        before.remove()
        print(same(torch.ones(2)))
        after.remove()
        print(same(torch.ones(2)))
    """,
    "numbers that are tensors": """
        x, two = torch.ones(2), torch.tensor(2)
        print(x.add(x, alpha=torch.tensor(2.0)), x.expand(two, 2), x.repeat(two), x.view(1, two))
    """,
    "a number out of a graph": """
        x = torch.ones(1, requires_grad=True) * 2
        with torch.no_grad():
            print(float(x), torch.tensor([x]))
        float(x)
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_short_program_does_the_same(name: str) -> None:
    lines = PROGRAMS[name].split("\n")
    indent = min(len(line) - len(line.lstrip()) for line in lines if line.strip())

    run_both(torch, "\n".join(line[indent:] for line in lines))


def test_a_list_of_arrays_is_warned_of() -> None:
    program = "print(torch.tensor([np.ones(2), np.zeros(2)]))"

    expected, outcome = run(torch, program), run(__import__("autodiff_kit"), program)

    assert outcome.printed == expected.printed
    assert outcome.warned == expected.warned[:1]  # PyTorch's says so twice


def test_bits_are_shifted_by_an_array() -> None:
    program = "print(torch.tensor([1, 2]) << np.array([1, 2]), torch.tensor([4]) >> np.array([1]))"

    expected, outcome = run(torch, program), run(__import__("autodiff_kit"), program)

    assert outcome.printed == expected.printed  # PyTorch's use of NumPy warns besides
