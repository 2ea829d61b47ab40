import warnings
from functools import partial
from typing import Optional

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint_sequential

torch.manual_seed(0)
np.random.seed(0)
torch.backends.cudnn.deterministic = True
torch.backends.cudnn.benchmark = False
torch.use_deterministic_algorithms(True)
torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
print(torch.ones(2).dtype, torch.tensor(1.5), nn.Linear(2, 2).weight.dtype)
torch.set_default_dtype(torch.float32)


class Block(nn.Module):
    factor: float = 2.0

    def __init__(self, dim: int, act: Optional[nn.Module] = None) -> None:
        super().__init__()
        self.fc = nn.Linear(dim, dim)
        self.act = act or nn.Identity()
        self.alpha = nn.Parameter(torch.tensor(0.5))
        self.history: list[float] = []

    def extra_repr(self) -> str:
        return f"factor={self.factor}"

    def forward(self, x: Tensor, scale: Optional[Tensor] = None) -> Tensor:
        out = torch.lerp(x, self.act(self.fc(x)), self.alpha)
        self.history.append(out.detach().mean().item())
        return out if scale is None else out * scale


net = nn.Sequential(*(Block(4, act=nn.Tanh()) for _ in range(2)), nn.Dropout(0.5))
print(net)
x = torch.randn(3, 4)
net.train()
a, b = net(x), net(x)
print(torch.equal(a, b), net.training, net[0].training)
net.eval()
print(torch.equal(net(x), net(x)), len(net[0].history))
with torch.inference_mode():
    y = net(x)
print(y.is_inference(), y.requires_grad)
try:
    y.requires_grad_()
except RuntimeError as e:
    print(str(e).splitlines()[0])
for name, module in net.named_modules():
    print(repr(name), type(module).__name__, module.training)


def freeze(m, kinds=(nn.Linear,)):
    if isinstance(m, kinds):
        for p in m.parameters(recurse=False):
            p.requires_grad_(False)


net.apply(partial(freeze, kinds=(nn.Linear,)))
print(
    sum(p.numel() for p in net.parameters() if p.requires_grad),
    [n for n, p in net.named_parameters() if p.requires_grad],
)
out = checkpoint_sequential(net, 2, x.clone().requires_grad_(), use_reentrant=False)
out.sum().backward()
print(net[0].alpha.grad, net[0].fc.weight.grad)
net[1] = nn.Identity()
del net[2]
net.append(nn.Linear(4, 1))
print(len(net), net[-1], isinstance(net, nn.Module), list(net._modules))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    nn.MSELoss()(torch.ones(3, 1), torch.ones(3))
    nn.Softmax()(torch.ones(2, 2))
    torch.tensor(torch.ones(1))
    torch.optim.lr_scheduler.StepLR(torch.optim.SGD(net.parameters(), 0.1), 1).step()
    print([(w.category.__name__, str(w.message).split(".")[0][:60]) for w in caught])
amp = torch.autocast(device_type="cpu", enabled=False)
with amp:
    print(net(x).dtype)
scaler = torch.amp.GradScaler("cuda", enabled=False)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
loss = net(x).mean()
scaler.scale(loss).backward()
scaler.step(opt)
scaler.update()
accum = 2
opt.zero_grad()
for i, xb in enumerate(torch.randn(4, 3, 4)):
    loss = net(xb).pow(2).mean() / accum
    loss.backward()
    if (i + 1) % accum == 0:
        opt.step()
        opt.zero_grad(set_to_none=True)
print(f"{loss.item():.4f}", all(p.grad is None for p in net.parameters()))
state = torch.random.get_rng_state()
first = torch.rand(2)
torch.random.set_rng_state(state)
print(
    torch.equal(first, torch.rand(2)),
    torch.initial_seed(),
    torch.rand(2, generator=torch.Generator().manual_seed(7)),
)
with torch.random.fork_rng():
    torch.manual_seed(99)
    inner = torch.rand(1)
print(inner, torch.rand(1))
print(
    np.allclose(net(x).detach().numpy(), net(torch.from_numpy(x.numpy())).detach().cpu().numpy()),
    torch.as_tensor(np.float64(2.5)),
    torch.tensor(np.arange(3)),
)
params = dict(net.named_parameters())
theta = {k: v.detach().clone() for k, v in params.items()}
print(torch.func.functional_call(net, theta, (x,)).shape, sorted(theta))
print(
    isinstance(torch.__version__, str),
    torch.cuda.device_count(),
    torch.device("cpu"),
    torch.device("cpu") == x.device,
    str(x.device),
)
flat = torch.cat([p.flatten() for p in net.parameters()])
print(flat.shape, torch.nn.utils.parameters_to_vector(net.parameters()).equal(flat))
p = nn.Parameter(torch.zeros(2), requires_grad=False)
print(
    p,
    nn.ParameterList([p, nn.Parameter(torch.ones(1))]),
    nn.ParameterDict({"w": p}),
    nn.ModuleDict({"a": nn.ReLU(), "b": nn.Tanh()}),
)
print(net.state_dict().keys(), nn.Linear(2, 2, bias=False).bias, hasattr(net, "missing"))
nn.Module.greet = lambda self: type(self).__name__
print(net.greet())
del nn.Module.greet
del state
