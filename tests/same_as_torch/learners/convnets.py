"""Convolution by hand and as layers; LeNet, VGG, NiN, GoogLeNet, ResNet and DenseNet, all small."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)


def corr2d(X, K):
    h, w = K.shape
    Y = torch.zeros((X.shape[0] - h + 1, X.shape[1] - w + 1))
    for i in range(Y.shape[0]):
        for j in range(Y.shape[1]):
            Y[i, j] = (X[i : i + h, j : j + w] * K).sum()
    return Y


X = torch.ones((6, 8))
X[:, 2:6] = 0
K = torch.tensor([[1.0, -1.0]])
Y = corr2d(X, K)
print(Y)
conv2d = nn.LazyConv2d(1, kernel_size=(1, 2), bias=False)
X, Y = X.reshape((1, 1, 6, 8)), Y.reshape((1, 1, 6, 7))
for i in range(10):
    l = (conv2d(X) - Y) ** 2
    conv2d.zero_grad()
    l.sum().backward()
    conv2d.weight.data[:] -= 3e-2 * conv2d.weight.grad
    if (i + 1) % 5 == 0:
        print(f"epoch {i + 1}, loss {l.sum():.3f}")
print(conv2d.weight.data.reshape((1, 2)))


def comp_conv2d(conv2d, X):
    X = X.reshape((1, 1) + X.shape)
    return conv2d(X).reshape(-1)


print(
    comp_conv2d(
        nn.LazyConv2d(1, kernel_size=(3, 5), padding=(0, 1), stride=(3, 4)), torch.rand(8, 8)
    ).shape
)
X = torch.arange(16, dtype=torch.float32).reshape((1, 1, 4, 4))
print(
    nn.MaxPool2d(3)(X),
    nn.MaxPool2d((2, 3), stride=(2, 3), padding=(0, 1))(X),
    nn.AvgPool2d(2)(torch.cat((X, X + 1), 1)),
)


def init_cnn(module):
    if type(module) == nn.Linear or type(module) == nn.Conv2d:
        nn.init.xavier_uniform_(module.weight)


def batch_norm(X, gamma, beta, moving_mean, moving_var, eps, momentum):
    if not torch.is_grad_enabled():
        X_hat = (X - moving_mean) / torch.sqrt(moving_var + eps)
    else:
        mean = X.mean(dim=(0, 2, 3), keepdim=True)
        var = ((X - mean) ** 2).mean(dim=(0, 2, 3), keepdim=True)
        X_hat = (X - mean) / torch.sqrt(var + eps)
        moving_mean = (1.0 - momentum) * moving_mean + momentum * mean
        moving_var = (1.0 - momentum) * moving_var + momentum * var
    return gamma * X_hat + beta, moving_mean.data, moving_var.data


class BatchNorm(nn.Module):
    def __init__(self, num_features):
        super().__init__()
        shape = (1, num_features, 1, 1)
        self.gamma, self.beta = nn.Parameter(torch.ones(shape)), nn.Parameter(torch.zeros(shape))
        self.moving_mean, self.moving_var = torch.zeros(shape), torch.ones(shape)

    def forward(self, X):
        if self.moving_mean.device != X.device:
            self.moving_mean = self.moving_mean.to(X.device)
        Y, self.moving_mean, self.moving_var = batch_norm(
            X, self.gamma, self.beta, self.moving_mean, self.moving_var, eps=1e-5, momentum=0.1
        )
        return Y


def lenet():
    return nn.Sequential(
        nn.LazyConv2d(3, kernel_size=5, padding=2),
        BatchNorm(3),
        nn.Sigmoid(),
        nn.AvgPool2d(2, 2),
        nn.LazyConv2d(4, kernel_size=3),
        nn.LazyBatchNorm2d(),
        nn.Sigmoid(),
        nn.Flatten(),
        nn.LazyLinear(10),
    )


def vgg_block(num_convs, out_channels):
    layers = []
    for _ in range(num_convs):
        layers += [nn.LazyConv2d(out_channels, kernel_size=3, padding=1), nn.ReLU()]
    return nn.Sequential(*layers, nn.MaxPool2d(kernel_size=2, stride=2))


def vgg(arch=((1, 2), (2, 3))):
    blocks = [vgg_block(*a) for a in arch]
    return nn.Sequential(
        *blocks, nn.Flatten(), nn.LazyLinear(8), nn.ReLU(), nn.Dropout(0.5), nn.LazyLinear(10)
    )


def nin_block(out_channels, kernel_size, strides, padding):
    return nn.Sequential(
        nn.LazyConv2d(out_channels, kernel_size, strides, padding),
        nn.ReLU(),
        nn.LazyConv2d(out_channels, kernel_size=1),
        nn.ReLU(),
        nn.LazyConv2d(out_channels, kernel_size=1),
        nn.ReLU(),
    )


def nin():
    return nn.Sequential(
        nin_block(3, 3, 1, 1),
        nn.MaxPool2d(3, stride=2),
        nn.Dropout(0.5),
        nin_block(10, 3, 1, 1),
        nn.AdaptiveAvgPool2d((1, 1)),
        nn.Flatten(),
    )


class Inception(nn.Module):
    def __init__(self, c1, c2, c3, c4):
        super().__init__()
        self.b1_1 = nn.LazyConv2d(c1, kernel_size=1)
        self.b2_1, self.b2_2 = (
            nn.LazyConv2d(c2[0], kernel_size=1),
            nn.LazyConv2d(c2[1], kernel_size=3, padding=1),
        )
        self.b3_1, self.b3_2 = (
            nn.LazyConv2d(c3[0], kernel_size=1),
            nn.LazyConv2d(c3[1], kernel_size=5, padding=2),
        )
        self.b4_1, self.b4_2 = (
            nn.MaxPool2d(kernel_size=3, stride=1, padding=1),
            nn.LazyConv2d(c4, kernel_size=1),
        )

    def forward(self, x):
        b1 = F.relu(self.b1_1(x))
        b2 = F.relu(self.b2_2(F.relu(self.b2_1(x))))
        b3 = F.relu(self.b3_2(F.relu(self.b3_1(x))))
        b4 = F.relu(self.b4_2(self.b4_1(x)))
        return torch.cat((b1, b2, b3, b4), dim=1)


def googlenet():
    return nn.Sequential(
        Inception(2, (1, 2), (1, 2), 1),
        nn.AdaptiveAvgPool2d((1, 1)),
        nn.Flatten(),
        nn.LazyLinear(10),
    )


class Residual(nn.Module):
    def __init__(self, num_channels, use_1x1conv=False, strides=1):
        super().__init__()
        self.conv1 = nn.LazyConv2d(num_channels, kernel_size=3, padding=1, stride=strides)
        self.conv2 = nn.LazyConv2d(num_channels, kernel_size=3, padding=1)
        self.conv3 = (
            nn.LazyConv2d(num_channels, kernel_size=1, stride=strides) if use_1x1conv else None
        )
        self.bn1, self.bn2 = nn.LazyBatchNorm2d(), nn.LazyBatchNorm2d()

    def forward(self, X):
        Y = F.relu(self.bn1(self.conv1(X)))
        Y = self.bn2(self.conv2(Y))
        if self.conv3:
            X = self.conv3(X)
        Y += X
        return F.relu(Y)


class ResNeXtBlock(nn.Module):
    def __init__(self, num_channels, groups, bot_mul):
        super().__init__()
        bot = int(round(num_channels * bot_mul))
        self.conv1 = nn.LazyConv2d(bot, kernel_size=1)
        self.conv2 = nn.LazyConv2d(bot, kernel_size=3, padding=1, groups=bot // groups)
        self.conv3 = nn.LazyConv2d(num_channels, kernel_size=1)

    def forward(self, X):
        return F.relu(self.conv3(F.relu(self.conv2(F.relu(self.conv1(X))))) + X)


def resnet():
    net = nn.Sequential(nn.LazyConv2d(2, kernel_size=3), nn.LazyBatchNorm2d(), nn.ReLU())
    net.add_module("b1", nn.Sequential(Residual(2), Residual(4, True, 2), ResNeXtBlock(4, 2, 1)))
    net.add_module(
        "last", nn.Sequential(nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(), nn.LazyLinear(10))
    )
    return net


def conv_block(num_channels):
    return nn.Sequential(
        nn.LazyBatchNorm2d(), nn.ReLU(), nn.LazyConv2d(num_channels, kernel_size=3, padding=1)
    )


class DenseBlock(nn.Module):
    def __init__(self, num_convs, num_channels):
        super().__init__()
        self.net = nn.Sequential(*[conv_block(num_channels) for i in range(num_convs)])

    def forward(self, X):
        for blk in self.net:
            X = torch.cat((X, blk(X)), dim=1)
        return X


def densenet():
    transition = nn.Sequential(
        nn.LazyBatchNorm2d(), nn.ReLU(), nn.LazyConv2d(3, kernel_size=1), nn.AvgPool2d(2, 2)
    )
    return nn.Sequential(
        DenseBlock(2, 2), transition, nn.AdaptiveMaxPool2d((1, 1)), nn.Flatten(), nn.LazyLinear(10)
    )


images, labels = torch.randn(10, 1, 8, 8), torch.randint(0, 10, (10,))
nets = {
    "lenet": lenet(),
    "vgg": vgg(),
    "nin": nin(),
    "googlenet": googlenet(),
    "resnet": resnet(),
    "densenet": densenet(),
}
for name, net in nets.items():
    net(images)
    net.apply(init_cnn)
    trainer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(2):
        trainer.zero_grad()
        l = F.cross_entropy(net(images), labels)
        l.backward()
        trainer.step()
    print(name, f"{l.item():.4f}", sum(p.numel() for p in net.parameters()))
    with torch.no_grad():
        net.eval()
        X = images[:2]
        for layer in net:
            X = layer(X)
            print(layer.__class__.__name__, "output shape:\t", X.shape)
print(nets["resnet"])
