import torch
import torch.nn as nn

torch.manual_seed(0)
activations, gradients = {}, {}


def get_activation(name):
    def hook(model, input, output):
        activations[name] = output.detach()

    return hook


def get_grad(name):
    def hook(module, grad_input, grad_output):
        gradients[name] = (
            [None if g is None else tuple(g.shape) for g in grad_input],
            grad_output[0].norm().item(),
        )

    return hook


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.fc1 = nn.Linear(2 * 6 * 6, 5)
        self.fc2 = nn.Linear(5, 3)

    def forward(self, x):
        x = torch.relu(self.conv(x))
        x = torch.flatten(x, 1)
        return self.fc2(torch.sigmoid(self.fc1(x)))


net = Net()
handles = []
for name, layer in net.named_children():
    handles.append(layer.register_forward_hook(get_activation(name)))
    handles.append(layer.register_full_backward_hook(get_grad(name)))
handles.append(net.fc1.register_forward_pre_hook(lambda module, inputs: (inputs[0] * 2,)))
handles.append(
    net.register_forward_pre_hook(
        lambda m, args, kwargs: print("called with", len(args), sorted(kwargs)), with_kwargs=True
    )
)
out = net(torch.randn(2, 1, 8, 8, requires_grad=True))
out.sum().backward()
print({k: (v.shape, round(v.mean().item(), 4)) for k, v in activations.items()})
print({k: (s, round(n, 4)) for k, (s, n) in gradients.items()})
for h in handles:
    h.remove()
activations.clear()
net(x=torch.randn(1, 1, 8, 8))
print(activations, len(net.conv._forward_hooks))
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x * 2
y.register_hook(lambda g: print("grad of y", g))
h = y.register_hook(lambda g: g * 10)
z = (y**2).sum()
z.backward()
print(x.grad)
x.grad = None
x.register_post_accumulate_grad_hook(lambda p: print("accumulated", p.grad))
(x * 3).sum().backward()
y = x.exp()
y.retain_grad()
y.sum().backward()
print(y.grad, y.is_leaf, x.is_leaf)
param = nn.Parameter(torch.ones(2))
opt = torch.optim.SGD([param], lr=0.1)
opt.register_step_pre_hook(lambda o, args, kwargs: print("before", param.grad))
opt.register_step_post_hook(lambda o, args, kwargs: print("after", param.data))
(param * torch.tensor([1.0, 2.0])).sum().backward()
opt.step()


class Timer:
    def __init__(self, module):
        self.calls = 0
        module.register_forward_hook(self)

    def __call__(self, module, args, output):
        self.calls += 1
        return output.clamp(min=0)


layer = nn.Linear(2, 2)
timer = Timer(layer)
print((layer(-torch.ones(3, 2)) >= 0).all(), timer.calls)
with torch.autograd.graph.saved_tensors_hooks(
    lambda t: (print("pack", t.shape), t)[1], lambda t: (print("unpack", t.shape), t)[1]
):
    a = torch.ones(2, requires_grad=True)
    b = (a * a).exp()
b.sum().backward()
print(a.grad, b.grad_fn.name(), b.grad_fn.next_functions[0][0].name())
g = b.grad_fn.next_functions[0][0]
try:
    g._saved_self.sum()
except RuntimeError as e:
    print(str(e).split("(")[0])
node = (a * 3).sum().grad_fn
print(node.name(), node.metadata, [n[0].name() for n in node.next_functions])
print(torch.nn.Module.__call__ is net.__call__.__func__, net._get_name(), net.extra_repr() == "")
