"""A network that turns its images upright before it reads them: affine_grid and grid_sample."""

import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F

warnings.simplefilter("ignore")
torch.manual_seed(4)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, kernel_size=3)
        self.conv2_drop = nn.Dropout2d()
        self.fc = nn.Linear(4 * 3 * 3, 10)
        self.localization = nn.Sequential(
            nn.Conv2d(1, 3, kernel_size=3), nn.MaxPool2d(2, stride=2), nn.ReLU(True)
        )
        self.fc_loc = nn.Sequential(nn.Linear(3 * 3 * 3, 8), nn.ReLU(True), nn.Linear(8, 3 * 2))
        self.fc_loc[2].weight.data.zero_()
        self.fc_loc[2].bias.data.copy_(torch.tensor([1, 0, 0, 0, 1, 0], dtype=torch.float))

    def stn(self, x):
        xs = self.localization(x)
        xs = xs.view(-1, 3 * 3 * 3)
        theta = self.fc_loc(xs).view(-1, 2, 3)
        grid = F.affine_grid(theta, x.size())
        return F.grid_sample(x, grid)

    def forward(self, x):
        x = self.stn(x)
        x = F.relu(F.max_pool2d(self.conv2_drop(self.conv1(x)), 2))
        return F.log_softmax(self.fc(x.view(-1, 36)), dim=1)


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
images, labels = torch.rand(12, 1, 8, 8), torch.randint(0, 10, (12,))
for epoch in range(4):
    optimizer.zero_grad()
    loss = F.nll_loss(model(images), labels)
    loss.backward()
    optimizer.step()
    print(epoch, f"{loss.item():.4f}")
model.eval()
test_loss = F.nll_loss(model(images), labels, size_average=False).item()
pred = model(images).max(1, keepdim=True)[1]
print(round(test_loss, 3), pred.eq(labels.view_as(pred)).sum().item())
angle = torch.tensor(0.3)
theta = torch.stack(
    [
        torch.stack([angle.cos(), -angle.sin(), angle * 0]),
        torch.stack([angle.sin(), angle.cos(), angle * 0 + 0.2]),
    ]
)[None].requires_grad_()
ramp = torch.arange(16.0).view(1, 1, 4, 4)
for mode in ("bilinear", "nearest"):
    for padding in ("zeros", "border", "reflection"):
        for corners in (False, True):
            grid = F.affine_grid(theta, (1, 1, 3, 5), align_corners=corners)
            out = F.grid_sample(ramp, grid, mode, padding, align_corners=corners)
            theta.grad = None
            if mode == "bilinear":
                out.sum().backward()
                print(theta.grad)
            print(mode, padding, corners, out)
shuffled = F.pixel_shuffle(torch.arange(16.0).view(1, 4, 2, 2), 2)
print(shuffled, F.pixel_unshuffle(shuffled, 2).shape, nn.PixelShuffle(2))
print(F.unfold(ramp, 2, stride=2), F.fold(F.unfold(ramp, 2), (4, 4), 2), nn.Unfold((2, 2)))
print(
    nn.ZeroPad2d(1)(ramp).shape,
    nn.ReflectionPad2d((1, 0, 1, 0))(ramp),
    nn.ReplicationPad2d(1),
    nn.ConstantPad2d(1, 3.5)(ramp)[0, 0, 0],
)
print(
    F.interpolate(ramp, scale_factor=2, mode="bilinear", align_corners=False)[0, 0, 1],
    nn.Upsample(scale_factor=2),
    nn.UpsamplingNearest2d(2)(ramp).shape,
)
