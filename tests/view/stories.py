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
    "number": (X + "total = 0.\ntotal += (x * 3).item()\ntotal.backward()", [3, 4],
               X + "total = 0.\ntotal += x * 3\ntotal.backward()"),
    "update that makes a result": (
        "w = torch.tensor(0.5, requires_grad=True)\nfor step in range(3):\n"
        "    loss = (w * 2 - 1) ** 2\n    loss.backward()\n    w = w - 0.1 * w.grad", [5, 5],
        "w = torch.tensor(0.5, requires_grad=True)\nfor step in range(3):\n"
        "    loss = (w * 2 - 1) ** 2\n    loss.backward()\n    with torch.no_grad():\n"
        "        w -= 0.1 * w.grad\n    w.grad = None"),
    "update that is recorded": (
        V + "loss = (v * v).sum()\nloss.backward()\nv -= 0.1 * v.grad", [1, 4],
        V + "loss = (v * v).sum()\nloss.backward()\nwith torch.no_grad():\n"
        "    v -= 0.1 * v.grad"),
    "zero_ before backward": (
        X + "x.grad.zero_()\ny = x * x\ny.backward()", [1, 4, 2],
        X + "y = x * x\ny.backward()\nx.grad.zero_()"),
    "gradient of a result": (X + "h = x * 3\ny = h ** 2\ny.backward()\nstep = h.grad * 2", [2, 5],
                             X + "h = x * 3\nh.retain_grad()\ny = h ** 2\ny.backward()\n"
                             "step = h.grad * 2"),
    "argmax": (V + "hit = (v.argmax() == 1).float()\nhit.backward()", [2, 3],
               V + "hit = torch.softmax(v, 0)[1]\nhit.backward()"),
    "several leaves": (
        "x = torch.tensor(2.)\nw = torch.tensor(3.)\ny = w * x\ny.backward()", [1, 2, 4],
        "x = torch.tensor(2.)\nw = torch.tensor(3., requires_grad=True)\ny = w * x\n"
        "y.backward()"),
    "list of losses": (
        X + "losses = []\nfor k in range(3):\n    losses.append((x * k - 1) ** 2)\n"
        "loss = torch.tensor(losses).mean()\nloss.backward()", [5, 6],
        X + "losses = []\nfor k in range(3):\n    losses.append((x * k - 1) ** 2)\n"
        "loss = torch.stack(losses).mean()\nloss.backward()"),
    "list of numbers": (
        X + "loss = torch.tensor([(x * 2).item(), 3.]).sum()\nloss.backward()", [2, 3],
        X + "loss = torch.stack([x * 2, torch.tensor(3.0)]).sum()\nloss.backward()"),
    "through numpy": (
        V + "h = v * 2\na = h.detach().numpy() ** 2\nloss = torch.from_numpy(a).sum()\n"
        "loss.backward()", [3, 5],
        V + "h = v * 2\na = h ** 2\nloss = a.sum()\nloss.backward()"),
    "second derivative": (
        X + "y = x ** 3\n(g,) = torch.autograd.grad(y, x)\ntorch.autograd.grad(g, x)", [3, 4],
        X + "y = x ** 3\n(g,) = torch.autograd.grad(y, x, create_graph=True)\n"
        "torch.autograd.grad(g, x)"),
    "made of a product": (
        "w = torch.ones(3, requires_grad=True) * 0.1\ntorch.optim.SGD([w], lr=.1)", [1, 2],
        "w = torch.ones(3, requires_grad=True) * 0.1\n"
        "torch.optim.SGD([w.detach().requires_grad_()], lr=.1)"),
    "one loss for two": (
        "G, D = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)\nfake = G(torch.ones(4, 2))\n"
        "loss_D = D(fake).exp().mean()\nloss_D.backward()\nloss_G = -D(fake).mean()\n"
        "loss_G.backward()", [2, 4, 6],
        "G, D = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)\nfake = G(torch.ones(4, 2))\n"
        "loss_D = D(fake).exp().mean()\nloss_G = -D(fake).mean()\n(loss_D + loss_G).backward()"),
    "residual in place": (
        "class Block(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.fc = torch.nn.Linear(2, 2)\n\n    def forward(self, x):\n"
        "        h = torch.sigmoid(self.fc(x))\n        h += x\n        return h\n\n"
        "out = Block()(torch.ones(1, 2))\nout.sum().backward()", [7, 8, 12],
        "class Block(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.fc = torch.nn.Linear(2, 2)\n\n    def forward(self, x):\n"
        "        h = torch.sigmoid(self.fc(x))\n        h = h + x\n        return h\n\n"
        "out = Block()(torch.ones(1, 2))\nout.sum().backward()"),
    "state of a cell": (
        "cell = torch.nn.RNNCell(2, 3)\nh = torch.zeros(1, 3)\nfor step in range(3):\n"
        "    h = cell(torch.ones(1, 2), h)\n    loss = h.pow(2).sum()\n    loss.backward()",
        [4, 6, 6],
        "cell = torch.nn.RNNCell(2, 3)\nh = torch.zeros(1, 3)\nfor step in range(3):\n"
        "    h = cell(torch.ones(1, 2), h)\n    loss = h.pow(2).sum()\n    loss.backward()\n"
        "    h = h.detach()"),
    "masked": (V + "p = torch.softmax(v, 0)\np[0] = 0.\n(p * 2).sum().backward()", [2, 3, 4],
               V + "p = torch.softmax(v, 0)\np = p.clone()\np[0] = 0.\n"
               "(p * 2).sum().backward()"),
    "matrix product": ("a, b = torch.ones(3, 2), torch.ones(3, 2)\ny = a @ b", [1, 1, 2],
                       "a, b = torch.ones(3, 2), torch.ones(3, 2)\ny = a @ b.T"),
    "two dtypes": ("net = torch.nn.Linear(2, 1)\nx = torch.ones(3, 2, dtype=torch.float64)\n"
                   "y = net(x)", [1, 2, 3],
                   "net = torch.nn.Linear(2, 1)\nx = torch.ones(3, 2, dtype=torch.float64)\n"
                   "y = net(x.float())"),
    "target of floats": (
        "logits = torch.ones(1, 2, requires_grad=True)\ntarget = torch.tensor([1.])\n"
        "torch.nn.functional.cross_entropy(logits, target)", [2, 3],
        "logits = torch.ones(1, 2, requires_grad=True)\ntarget = torch.tensor([1.])\n"
        "torch.nn.functional.cross_entropy(logits, target.long())"),
    "nothing saved": (
        "class Square(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        "        return x * x\n\n    @staticmethod\n    def backward(ctx, g):\n"
        "        (x,) = ctx.saved_tensors\n        return 2 * x * g\n\n" + X
        + "y = Square.apply(x)\ny.backward()", [12, 8],
        "class Square(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        "        ctx.save_for_backward(x)\n        return x * x\n\n    @staticmethod\n"
        "    def backward(ctx, g):\n        (x,) = ctx.saved_tensors\n        return 2 * x * g\n\n"
        + X + "y = Square.apply(x)\ny.backward()"),
}  # fmt: skip


def recorded(source: str) -> Recording:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)  # the layers of two runs are the same
        try:
            with record() as rec:
                cell(source, {"torch": torch})
        except Exception:
            pass
    return rec
