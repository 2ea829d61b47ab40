"""Newton's method, least squares, principal components, and a differential equation in the loss."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd.functional import hessian, jacobian

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
try:
    # logistic regression by Newton's method
    X = torch.cat([torch.randn(20, 2) + 1, torch.randn(20, 2) - 1])
    X = torch.cat([X, torch.ones(40, 1)], 1)
    y = torch.cat([torch.ones(20), torch.zeros(20)])

    def loss_of(w):
        return F.binary_cross_entropy_with_logits(X @ w, y) + 0.01 * w @ w

    w = torch.zeros(3)
    for step in range(4):
        gradient = jacobian(loss_of, w, vectorize=True)
        H = hessian(loss_of, w, vectorize=True)
        w = w - torch.linalg.solve(H, gradient)
        print(step, f"{loss_of(w):.6f} {gradient.norm():.6f}")
    print(torch.linalg.eigvalsh(H).numpy().round(4), torch.linalg.matrix_rank(X).item())

    # least squares, three times
    weights = torch.tensor([2.0, -3.4, 4.2])
    target = X @ weights + 0.01 * torch.randn(40)
    by_lstsq = torch.linalg.lstsq(X, target).solution
    by_pinv = torch.linalg.pinv(X) @ target
    by_normal = torch.linalg.solve(X.T @ X, X.T @ target)
    print(by_lstsq.numpy().round(3), torch.allclose(by_lstsq, by_pinv))
    print(torch.allclose(by_lstsq, by_normal), torch.dist(by_lstsq, weights).item() < 0.02)

    # principal components, by eigenvalues and by singular values
    centered = X[:, :2] - X[:, :2].mean(0)
    values, vectors = torch.linalg.eigh(centered.T @ centered / 39)
    singular = torch.linalg.svdvals(centered)
    print(values.flip(0).numpy().round(4), torch.allclose(values.flip(0), singular**2 / 39))
    projected = centered @ vectors[:, -1]
    print(f"{projected.var().item():.4f}")

    # a rotation as the exponential of a matrix, learned
    angle = torch.tensor(0.1, requires_grad=True)
    turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]])
    start, end = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])
    for _ in range(20):
        error = (torch.matrix_exp(angle * turn) @ start - end).pow(2).sum()
        (slope,) = torch.autograd.grad(error, angle)
        angle = (angle - 0.3 * slope).detach().requires_grad_()
    print(f"{angle.item():.3f}, {torch.pi / 2:.3f}")

    # u'' = -u with u(0) = 1, u'(0) = 0, by a network
    net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-2)
    t = torch.linspace(0, 2, 20).view(-1, 1).requires_grad_(True)
    for step in range(30):
        u = net(t)
        du = torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]
        ddu = torch.autograd.grad(du, t, torch.ones_like(du), create_graph=True)[0]
        loss = (ddu + u).pow(2).mean() + (u[0] - 1).pow(2).sum() + du[0].pow(2).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 10 == 9:
            print(step, f"{loss.item():.5f}")
finally:
    torch.set_default_dtype(torch.float32)
