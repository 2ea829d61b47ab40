"""Programs that autograd refuses, or that get no gradient: each is told as a story."""

import warnings

import autodiff_kit as torch
from autodiff_kit.record import Recording, record
from tests.record.cells import cell

X = "x = torch.tensor(3., requires_grad=True)\n"
V = "v = torch.tensor([1., 2.], requires_grad=True)\n"

# name: (program, lines of the places, mended program)
STORIES = {
    "freed": (X + "y = x * x\ny.backward()\ny.backward()", [2, 3, 4],
              X + "y = x * x\ny.backward(retain_graph=True)\ny.backward()"),
    "shared": (X + "h = x.exp()\na = h * 2\nb = h * h\na.backward()\nb.backward()", [2, 5, 6],
               X + "h = x.exp()\na = h * 2\nb = h * h\n(a + b).backward()"),
    "carried": (X + "h = torch.tensor(1.)\nfor i in range(3):\n    h = (h * x).tanh()\n"
                "    h.backward()", [4, 5, 5],
                X + "h = torch.tensor(1.)\nfor i in range(3):\n    h = (h.detach() * x).tanh()\n"
                "    h.backward()"),
    "changed": (X + "y = x.exp()\ny += 1\ny.backward()", [2, 3, 4],
                X + "y = x.exp()\ny = y + 1\ny.backward()"),
    "changed twice": (V + "h = v * 2\ny = h * h\nh[0] = 0.\nh.mul_(2)\ny.sum().backward()",
                      [3, 4, 5, 6],
                      V + "h = v * 2\ny = h * h\nh = h.clone()\nh[0] = 0.\nh.mul_(2)\n"
                      "y.sum().backward()"),
    "changed by a view": (V + "h = v * 2\ny = h.exp()\nfirst = y[0]\nfirst.mul_(2)\n"
                          "y.sum().backward()", [3, 5, 6],
                          V + "h = v * 2\ny = h.exp()\nfirst = y[0]\nfirst = first.mul(2)\n"
                          "y.sum().backward()"),
    "updated": (V + "opt = torch.optim.SGD([v], lr=.1)\nloss = (v * v).sum()\n"
                "loss.backward(retain_graph=True)\nopt.step()\nloss.backward()", [3, 5, 6],
                V + "opt = torch.optim.SGD([v], lr=.1)\nloss = (v * v).sum()\n"
                "loss.backward()\nopt.step()\nloss = (v * v).sum()\nloss.backward()"),
    "freed after a retained one": (
        X + "y = x ** 2\nz = y * x\nz.backward(retain_graph=True)\nz.backward()\nz.backward()",
        [3, 5, 6],
        X + "y = x ** 2\nz = y * x\nz.backward(retain_graph=True)\n"
        "z.backward(retain_graph=True)\nz.backward()"),
    "no scalar": (V + "y = 2 * v\ny.backward()", [2, 3], V + "y = 2 * v\ny.sum().backward()"),
    "no_grad": (X + "with torch.no_grad():\n    h = x * 2\ny = h + 1\ny.backward()", [2, 3, 5],
                X + "h = x * 2\ny = h + 1\ny.backward()"),
    "decorated": ("@torch.no_grad()\ndef f(x):\n    return x * 2\n\n" + X + "y = f(x)\n"
                  "y.backward()", [1, 3, 7],
                  "def f(x):\n    return x * 2\n\n" + X + "y = f(x)\ny.backward()"),
    "detach": (X + "h = (x * 2).detach()\ny = h + 1\ny.backward()", [2, 4],
               X + "h = x * 2\ny = h + 1\ny.backward()"),
    "item": (X + "y = torch.tensor((x * 2).item())\ny.backward()", [2, 3],
             X + "y = x * 2\ny.backward()"),
    "no leaf": ("x = torch.tensor([1.])\ny = x * 2\ny.backward()", [1, 3],
                "x = torch.tensor([1.], requires_grad=True)\ny = x * 2\ny.backward()"),
    "no slope": (X + "hit = (x > 1).float()\nhit.backward()", [2, 3],
                 X + "hit = torch.sigmoid(x - 1)\nhit.backward()"),
    "unused leaf updated": (X + "b = torch.tensor(1., requires_grad=True)\ny = x * 3\n"
                            "y.backward()\nb.data -= 0.1 * b.grad", [2, 4, 5],
                            X + "b = torch.tensor(1., requires_grad=True)\ny = x * 3 * b\n"
                            "y.backward()\nb.data -= 0.1 * b.grad"),
    "leaf in place": (X + "x -= .1", [1, 2], X + "with torch.no_grad():\n    x -= .1"),
    "view of a leaf": (V + "first = v[0]\nfirst.mul_(2)", [1, 2, 3],
                       V + "first = v[0]\nwith torch.no_grad():\n    first.mul_(2)"),
    "item of a leaf": (V + "v[0] = 5.", [1, 2], V + "with torch.no_grad():\n    v[0] = 5."),
    "unused": (X + "w = torch.tensor(2., requires_grad=True)\ny = x * x\n"
               "torch.autograd.grad(y, [x, w])", [2, 3, 4],
               X + "w = torch.tensor(2., requires_grad=True)\ny = x * x\n"
               "torch.autograd.grad(y, [x, w], allow_unused=True)"),
    "not wanted": (X + "w = torch.tensor(2.)\ny = x * w\ntorch.autograd.grad(y, w)", [2, 4],
                   X + "w = torch.tensor(2., requires_grad=True)\ny = x * w\n"
                   "torch.autograd.grad(y, w)"),
    "numpy": (V + "y = v * 2\ny.numpy()", [2, 3], V + "y = v * 2\ny.detach().numpy()"),
    "flag": (V + "y = v * 2\ny.requires_grad_(False)", [2, 3], V + "y = v * 2\ny = y.detach()"),
    "optimizer": (V + "y = v * 2\ntorch.optim.SGD([y], lr=.1)", [2, 3],
                  V + "y = v * 2\ntorch.optim.SGD([y.detach().requires_grad_()], lr=.1)"),
    "copy": ("import copy\n" + V + "y = v * 2\ncopy.deepcopy(y)", [3, 4],
             V + "y = v * 2\ny.detach().clone()"),
    "whole numbers": ("n = torch.tensor([1, 2])\nn.requires_grad_()", [1, 2],
                      "n = torch.tensor([1., 2.])\nn.requires_grad_()"),
    "made of whole numbers": ("n = torch.tensor([1, 2], requires_grad=True)", [1],
                              "n = torch.tensor([1., 2.], requires_grad=True)"),
    "shape of the gradient": (V + "y = v * 2\ny.backward(torch.tensor([1.]))", [2, 3],
                              V + "y = v * 2\ny.backward(torch.ones_like(y))"),
    "hook": ("x = torch.tensor([1.])\ny = x * 2\ny.register_hook(print)", [1, 3],
             "x = torch.tensor([1.], requires_grad=True)\ny = x * 2\ny.register_hook(print)"),
    "hook of a result": (V + "y = v * 2\ny.register_post_accumulate_grad_hook(print)", [2, 3],
                         V + "y = v * 2\ny.register_hook(print)"),
    "retain_grad": ("x = torch.tensor([1.])\ny = x * 2\ny.retain_grad()", [1, 3],
                    "x = torch.tensor([1.], requires_grad=True)\ny = x * 2\ny.retain_grad()"),
    "inference": (V + "with torch.inference_mode():\n    a = torch.ones(2) * 3\ny = a * v",
                  [2, 3, 4],
                  V + "with torch.no_grad():\n    a = torch.ones(2) * 3\ny = a * v"),
    "Function": ("class Times(torch.autograd.Function):\n    @staticmethod\n"
                 "    def forward(ctx, x, y):\n        return x * y\n\n    @staticmethod\n"
                 "    def backward(ctx, g):\n        return g\n\n" + V
                 + "y = Times.apply(v, v)\ny.sum().backward()", [11, 12], ""),
    "nan": (V + "y = ((v - 1).sqrt() * 0).sum()\nwith torch.autograd.detect_anomaly():\n"
            "    y.backward()", [2, 4],
            V + "y = ((v - 1 + 1e-6).sqrt() * 0).sum()\nwith torch.autograd.detect_anomaly():\n"
            "    y.backward()"),
}  # fmt: skip


def recorded(source: str) -> Recording:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with record() as rec:
                cell(source, {"torch": torch})
        except Exception:
            pass
    return rec
