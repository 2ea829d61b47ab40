import torch
from torch import autograd, nn, optim

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2, inplace=True), nn.Linear(8, 2))
D = nn.Sequential(nn.utils.spectral_norm(nn.Linear(2, 8)), nn.LeakyReLU(0.2), nn.Linear(8, 1))
gopt, dopt = (
    optim.Adam(G.parameters(), lr=1e-2, betas=(0.5, 0.9)),
    optim.RMSprop(D.parameters(), lr=1e-2),
)
real = torch.randn(16, 2) * 0.3 + torch.tensor([1.0, -1.0])


def gradient_penalty(D, real, fake):
    alpha = torch.rand(real.size(0), 1).expand_as(real)
    mid = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    out = D(mid)
    (g,) = autograd.grad(
        outputs=out,
        inputs=mid,
        grad_outputs=torch.ones_like(out),
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )
    return ((g.norm(2, dim=1) - 1) ** 2).mean()


for step in range(4):
    for p in D.parameters():
        p.requires_grad_(True)
    fake = G(torch.randn(16, 2)).detach()
    gp = gradient_penalty(D, real, fake)
    d_loss = D(fake).mean() - D(real).mean() + 10 * gp
    dopt.zero_grad(set_to_none=True)
    d_loss.backward()
    dopt.step()
    for p in D.parameters():
        p.requires_grad_(False)
    gopt.zero_grad()
    g_loss = -D(G(torch.randn(16, 2))).mean()
    g_loss.backward()
    gopt.step()
    print(step, f"{d_loss.item():.4f} {gp.item():.4f} {g_loss.item():.4f}")
w = torch.zeros(2, requires_grad=True)
meta = optim.SGD([w], lr=0.1)


def task_loss(params, x, y):
    return ((x * params[0] + params[1] - y) ** 2).mean()


for step in range(3):
    meta.zero_grad()
    total = 0.0
    for slope in (1.0, 2.0):
        x = torch.randn(8)
        y = slope * x + 1
        inner = task_loss(w, x, y)
        (grad,) = autograd.grad(inner, w, create_graph=True)
        adapted = w - 0.1 * grad
        total = total + task_loss(adapted, x, y)
    total.backward()
    meta.step()
    print(f"{total.item():.4f}", w.data)


def pinn(x, net):
    x = x.requires_grad_(True)
    u = net(x)
    du = autograd.grad(u.sum(), x, create_graph=True)[0]
    ddu = autograd.grad(du.sum(), x, create_graph=True)[0]
    return u, du, ddu


net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1)).double()
opt = optim.LBFGS(net.parameters(), lr=0.5, max_iter=5, line_search_fn="strong_wolfe")
x = torch.linspace(0, 1, 9, dtype=torch.float64)[:, None]


def closure():
    opt.zero_grad()
    u, du, ddu = pinn(x.clone(), net)
    loss = ((ddu + u) ** 2).mean() + (u[0] - 1).pow(2).sum() + du[0].pow(2).sum()
    loss.backward()
    return loss


for _ in range(3):
    print(f"{opt.step(closure).item():.5f}")
print(
    torch.autograd.functional.hessian(lambda v: (v**3).sum(), torch.tensor([1.0, 2.0])),
    autograd.functional.vhp(lambda v: (v**3).sum(), torch.tensor([1.0, 2.0]), torch.ones(2))[1],
)
print(autograd.functional.jacobian(lambda a, b: a * b.sum(), (torch.ones(2), torch.ones(3))))


class ODE(nn.Module):
    def __init__(self):
        super().__init__()
        self.A = nn.Parameter(torch.tensor([[-0.1, -1.0], [1.0, -0.1]]))

    def forward(self, y, steps=20, h=0.1):
        path = [y]
        for _ in range(steps):
            k1 = y @ self.A
            k2 = (y + h / 2 * k1) @ self.A
            y = y + h * k2
            path.append(y)
        return torch.stack(path)


ode = ODE()
path = ode(torch.tensor([1.0, 0.0]))
path[-1].pow(2).sum().backward()
print(path[::10], ode.A.grad)
with torch.enable_grad(), torch.inference_mode(False):
    print((torch.ones(1, requires_grad=True) * 2).requires_grad, torch.is_grad_enabled())
x = torch.ones(2, 2, requires_grad=True)
y = x.detach().requires_grad_()
z = torch.utils.checkpoint.checkpoint(lambda t: (t.sin() * t).sum(), y, use_reentrant=False)
z.backward()
print(y.grad, x.grad, x.data_ptr() == y.data_ptr())
net.zero_grad()
