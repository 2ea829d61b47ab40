"""Every way in which nn.init fills a tensor."""

import warnings

import torch
import torch.nn as nn
from torch.nn import init

warnings.simplefilter("ignore")
torch.manual_seed(6)
w = torch.empty(4, 6)
print(
    init.uniform_(w).mean(),
    init.normal_(w, 1, 0.1).std(),
    init.constant_(w, 0.3)[0],
    init.ones_(w).sum(),
    init.zeros_(w).sum(),
    init.eye_(w)[1],
)
print(init.xavier_uniform_(w, gain=init.calculate_gain("relu"))[0])
print(init.xavier_normal_(w)[0])
print(
    init.kaiming_uniform_(w, mode="fan_in", nonlinearity="relu")[0],
    init.kaiming_uniform_(w, a=5**0.5)[1],
)
print(init.kaiming_normal_(w, mode="fan_out", nonlinearity="leaky_relu")[0])
print(init.trunc_normal_(w, mean=0.5, std=0.2, a=0.0, b=1.0)[0], init.trunc_normal_(w, std=0.02)[1])
print(
    (init.orthogonal_(w) @ w.T).round(decimals=4).abs(),
    init.orthogonal_(torch.empty(5, 3), gain=2).T.norm(dim=1),
)
print(init.sparse_(w, sparsity=0.5, std=0.1))
print(init.dirac_(torch.empty(3, 2, 3)), init.dirac_(torch.empty(4, 2, 3, 3), groups=2).sum())
for name in ("linear", "conv2d", "sigmoid", "tanh", "relu", "selu"):
    print(name, init.calculate_gain(name), end=" ")
print(init.calculate_gain("leaky_relu", 0.2))
for fan in ((3, 4), (2, 3, 5, 5)):
    print(init._calculate_fan_in_and_fan_out(torch.empty(fan)))


def init_weights(m):
    if type(m) == nn.Linear or type(m) == nn.Conv2d:
        nn.init.xavier_uniform_(m.weight)
    if isinstance(m, nn.Linear):
        m.bias.data.fill_(0.01)
    classname = m.__class__.__name__
    if classname.find("BatchNorm") != -1:
        nn.init.normal_(m.weight.data, 1.0, 0.02)
        nn.init.constant_(m.bias.data, 0)


net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.LazyLinear(3))
net(torch.zeros(2, 1, 4, 4))
print(net.apply(init_weights))
for name, param in net.named_parameters():
    print(name, param.shape, f"{param.mean():.4f} {param.std():.4f}")


class MyInit:
    def __call__(self, m):
        if hasattr(m, "weight") and m.weight.dim() > 1:
            print("Init", *[(name, param.shape) for name, param in m.named_parameters()][0])
            nn.init.uniform_(m.weight, -10, 10)
            m.weight.data *= m.weight.data.abs() >= 5


net.apply(MyInit())
net[3].weight.data[:] += 1
net[3].weight.data[0, 0] = 42
print(net[3].weight.data[0])
shared = nn.Linear(3, 3)
tied = nn.Sequential(shared, nn.ReLU(), shared, nn.ReLU())
print(
    tied[0].weight.data[0] == tied[2].weight.data[0],
    len(list(tied.parameters())),
    list(tied.state_dict()),
)
